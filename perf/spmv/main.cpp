// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_spmv: measures which format multiplies a matrix fastest on this machine.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <Kokkos_Core.hpp>

#include "spmv/measure.hpp"

namespace {

std::vector<FiligreePerf::Result> measure(const FiligreePerf::Options& options) {
  if (options.scalar == "float") return FiligreePerf::measure<float>(options);
  if (options.scalar == "double") return FiligreePerf::measure<double>(options);
  if (options.scalar == "complex_float") return FiligreePerf::measure<Kokkos::complex<float>>(options);
  return FiligreePerf::measure<Kokkos::complex<double>>(options);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times y = A*x in every format, next to Kokkos Kernels' CRS.", "filigree_spmv");
  FiligreePerf::Options options;
  options.add_to(app);
  app.footer(
      "Other flags go to Google Benchmark, such as --benchmark_out=FILE, and to Kokkos (--kokkos...).");
  app.allow_extras();

  return FiligreePerf::run_program(app, argc, argv, [&](int& count, char** arguments) {
    // With --benchmark_format=json or csv, stdout belongs to Google Benchmark and the table goes to stderr.
    bool is_console = true;
    for (int i = 1; i < count; ++i) {
      const std::string flag = arguments[i];
      if (flag.rfind("--benchmark_format=", 0) == 0) is_console = flag == "--benchmark_format=console";
    }
    benchmark::Initialize(&count, arguments);
    if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
    const auto results = measure(options);
    FiligreePerf::print_table(is_console ? std::cout : std::cerr, results);
    return 0;
  });
}
