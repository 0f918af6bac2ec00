// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_read: measures how fast a Matrix Market file is read into a CRS matrix, next to Kokkos Kernels'
// reader.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <Filigree.hpp>
#include <iostream>
#include <random>

#include "support/command_line.hpp"
#include "support/progress.hpp"
#include "support/timer.hpp"

#if FILIGREE_KOKKOS_KERNELS_HAS_SPARSE_IO
#include <KokkosSparse_IOUtils.hpp>
namespace KokkosKernelsReader = KokkosSparse::Impl;
#else
#include <KokkosKernels_IOUtils.hpp>
namespace KokkosKernelsReader = KokkosKernels::Impl;
#endif

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Crs = KokkosSparse::CrsMatrix<double, int, Host::device_type, void, int>;

/// Writes a square matrix with 16 entries per row, in random columns. The values have all digits of a double.
void write_random(const std::string& path, std::int64_t entries) {
  constexpr int per_row = 16;
  const auto rows = static_cast<int>(std::max<std::int64_t>(1, entries / per_row));
  Crs::row_map_type::non_const_type row_map("row_map", static_cast<std::size_t>(rows) + 1);
  Crs::index_type::non_const_type columns("columns", static_cast<std::size_t>(rows) * per_row);
  Crs::values_type::non_const_type values("values", columns.extent(0));
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < columns.extent(0); ++i) {
    columns(i) = static_cast<int>(random() % static_cast<unsigned>(rows));
    values(i) = static_cast<double>(random() >> 11) / 9007199254740992.0 - 0.5;
  }
  for (int row = 0; row <= rows; ++row)
    row_map(row) = row * per_row;
  Filigree::write_matrix_market(path, Crs("random", rows, rows, rows * per_row, values, row_map, columns));
}

/// Removes a file at the end of its scope.
struct TemporaryFile {
  std::string path;
  ~TemporaryFile() {
    if (!path.empty()) std::remove(path.c_str());
  }
};

/// The time of a reader and the matrix that it read.
struct Result {
  double seconds = 0;
  Crs crs;
};

template <class Read>
void add_benchmark(const std::string& name, double megabytes, Result& result, const Read& read) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=, &result](benchmark::State& state) {
                                 std::vector<double> times;
                                 for (auto _ : state) {
                                   result.crs = Crs();
                                   Kokkos::Timer timer;
                                   result.crs = read();
                                   times.push_back(timer.seconds());
                                   state.SetIterationTime(times.back());
                                 }
                                 result.seconds = FiligreePerf::median(times);
                                 state.counters["MBps"] = megabytes / result.seconds;
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

/// Reads the file, or a random matrix if there is none, with both readers and compares them.
void run(std::string path, std::int64_t entries) {
  TemporaryFile temporary;
  if (path.empty()) {
    FiligreePerf::Progress progress("writing a matrix of " + std::to_string(entries) + " entries");
    temporary.path =
        (std::filesystem::temp_directory_path() / ("filigree_read_" + std::to_string(::getpid()) + ".mtx"))
            .string();
    path = temporary.path;
    write_random(path, entries);
  }
  const double megabytes = 1e-6 * static_cast<double>(std::filesystem::file_size(path));
  std::cerr << path << ": " << megabytes << " MB, " << Host().concurrency() << " threads" << std::endl;
  Result ours;
  Result theirs;
  struct Registered {
    ~Registered() { benchmark::ClearRegisteredBenchmarks(); }
  } registered;
  add_benchmark("read/filigree", megabytes, ours, [=] { return Filigree::read_matrix_market<Crs>(path); });
  const bool plain = std::filesystem::path(path).extension() == ".mtx";
  if (plain)
    add_benchmark("read/kokkos_kernels", megabytes, theirs,
                  [=] { return KokkosKernelsReader::read_kokkos_crst_matrix<Crs>(path.c_str()); });
  benchmark::RunSpecifiedBenchmarks();
  if (ours.seconds > 0 && theirs.seconds > 0) {
    // Kokkos Kernels' reader does not sum duplicates, so that its matrix may have more entries.
    if (ours.crs.numRows() != theirs.crs.numRows() || ours.crs.nnz() > theirs.crs.nnz())
      Filigree::Impl::fail<std::runtime_error>(
          "the two readers disagree: Filigree reads ", ours.crs.numRows(), " rows and ", ours.crs.nnz(),
          " entries, Kokkos Kernels ", theirs.crs.numRows(), " rows and ", theirs.crs.nnz(), " entries.");
    std::cout << "filigree reads " << megabytes / ours.seconds << " MB/s, " << theirs.seconds / ours.seconds
              << " times as fast as Kokkos Kernels" << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times how long it takes to read a Matrix Market file into a CRS matrix on the host.",
               "filigree_read");
  std::string path;
  std::int64_t entries = 5000000;
  app.add_option("--matrix", path, "file to read, .mtx or .mtx.gz; Kokkos Kernels reads .mtx only")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.add_option(
         "--entries", entries,
         "entries of the random matrix that is written and read if there is no --matrix; the file has\n"
         "about 35 bytes per entry")
      ->type_name("N")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  app.footer(
      "Other flags go to Google Benchmark, such as --benchmark_repetitions=5, and to Kokkos (--kokkos...).");
  app.allow_extras();

  return FiligreePerf::run_program(app, argc, argv, [&](int& count, char** arguments) {
    benchmark::Initialize(&count, arguments);
    if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
    run(path, entries);
    return 0;
  });
}
