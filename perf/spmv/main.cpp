// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_spmv: which format multiplies this matrix fastest, on this machine? See usage() in options.cpp.
#include <benchmark/benchmark.h>

#include <cstring>
#include <iostream>
#include <Kokkos_Core.hpp>
#include <stdexcept>

#include "spmv/measure.hpp"

namespace {

std::vector<FiligreePerf::Row> measure(const FiligreePerf::Options& options) {
  if (options.scalar == "float") return FiligreePerf::measure<float>(options);
  if (options.scalar == "double") return FiligreePerf::measure<double>(options);
  if (options.scalar == "complex_float") return FiligreePerf::measure<Kokkos::complex<float>>(options);
  return FiligreePerf::measure<Kokkos::complex<double>>(options);
}

}  // namespace

int main(int argc, char** argv) {
  // Where the benchmarks go to stdout as JSON or CSV, the table must not.
  bool console = true;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--help") == 0) {
      std::cout << FiligreePerf::usage();
      return 0;
    }
    const std::string flag = argv[i];
    if (flag.rfind("--benchmark_format=", 0) == 0) console = flag == "--benchmark_format=console";
  }
  try {
    const auto options = FiligreePerf::parse_options(argc, argv);
    Kokkos::ScopeGuard kokkos(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    const auto rows = measure(options);
    FiligreePerf::print_table(console ? std::cout : std::cerr, rows);
  } catch (const std::exception& error) {
    std::cerr << "filigree_spmv: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
