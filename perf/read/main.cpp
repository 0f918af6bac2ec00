// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_read: how fast is a Matrix Market file read into a CRS matrix, beside Kokkos Kernels' reader?
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <Filigree.hpp>
#include <iostream>
#include <random>

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

const char* const usage =
    "filigree_read: times reading a Matrix Market file into a CRS matrix on the host\n"
    "  --matrix=FILE       a plain .mtx file, or a .mtx.gz, which Kokkos Kernels cannot read\n"
    "  --entries=5000000   without a file: entries of a random matrix that is written first, about 35 bytes "
    "each\n"
    "and the flags of Google Benchmark, such as --benchmark_repetitions=5, and of Kokkos.\n";

/// Writes a square matrix with 16 entries a row in random columns and values of all their digits.
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

/// A file that is removed when it goes out of scope.
struct TemporaryFile {
  std::string path;
  ~TemporaryFile() {
    if (!path.empty()) std::remove(path.c_str());
  }
};

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
    // Theirs keeps duplicates apart, so the numbers of entries may differ.
    if (ours.crs.numRows() != theirs.crs.numRows() || ours.crs.nnz() > theirs.crs.nnz())
      Filigree::Impl::fail<std::runtime_error>("the two readers disagree: ", ours.crs.numRows(), " rows and ",
                                               ours.crs.nnz(), " entries, Kokkos Kernels ",
                                               theirs.crs.numRows(), " and ", theirs.crs.nnz());
    std::cout << "filigree reads " << megabytes / ours.seconds << " MB/s, " << theirs.seconds / ours.seconds
              << " times as fast as Kokkos Kernels" << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string path;
  std::int64_t entries = 5000000;
  int kept = 1;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      if (argument == "--help") {
        std::cout << usage;
        return 0;
      }
      if (argument.rfind("--matrix=", 0) == 0) {
        path = argument.substr(9);
      } else if (argument.rfind("--entries=", 0) == 0) {
        const char* end = argument.data() + argument.size();
        const auto parsed = std::from_chars(argument.data() + 10, end, entries);
        if (parsed.ec != std::errc() || parsed.ptr != end || entries < 1 || entries > 100000000)
          Filigree::Impl::fail<std::invalid_argument>("--entries: \"", argument.substr(10),
                                                      "\" is no whole number from 1 to 100000000.");
      } else {
        argv[kept++] = argv[i];
      }
    }
    argc = kept;
    Kokkos::ScopeGuard kokkos(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    run(path, entries);
  } catch (const std::exception& error) {
    std::cerr << "filigree_read: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
