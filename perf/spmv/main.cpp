// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_spmv: measures which format multiplies a matrix fastest on this machine.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <Kokkos_Core.hpp>

#include "spmv/measure.hpp"

namespace {

void measure(const FiligreePerf::Options& options, bool is_console) {
  // With --benchmark_format=json or csv, stdout belongs to Google Benchmark and the table goes to stderr.
  std::ostream& out = is_console ? std::cout : std::cerr;
  if (options.scalar == "float") return FiligreePerf::measure<float>(options, is_console, out);
  if (options.scalar == "double") return FiligreePerf::measure<double>(options, is_console, out);
  if (options.scalar == "complex_float")
    return FiligreePerf::measure<Kokkos::complex<float>>(options, is_console, out);
  return FiligreePerf::measure<Kokkos::complex<double>>(options, is_console, out);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times y = A*x in every format, next to Kokkos Kernels' CRS.", "filigree_spmv");
  FiligreePerf::Options options;
  options.add_to(app);
  app.footer(
      "Other flags go to Google Benchmark, such as --benchmark_out=FILE, and to Kokkos (--kokkos...).");
  app.allow_extras();

  // Without arguments the program prints its help.
  char help[] = "--help";
  char* only_help[] = {argv[0], help, nullptr};
  if (argc < 2) {
    argc = 2;
    argv = only_help;
  }
  return FiligreePerf::run_program(app, argc, argv, [&](int& count, char** arguments) {
    bool is_console = true;
    for (int i = 1; i < count; ++i) {
      const std::string flag = arguments[i];
      if (flag.rfind("--benchmark_format=", 0) == 0) is_console = flag == "--benchmark_format=console";
    }
    benchmark::Initialize(&count, arguments);
    if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
    measure(options, is_console);
    return 0;
  });
}
