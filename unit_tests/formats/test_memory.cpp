// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that conversions and make_coo take while they run: Views and the heap of the host together.
#include <malloc.h>  // mallinfo2

#include <algorithm>
#include <set>

#include "../support/errors.hpp"
#include "../support/formats.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {

/// Records allocations of Views, and at each kernel launch how much of the heap of the host is in use. The
/// heap has what no View holds, such as vectors, and on a host also the Views.
class MemoryRecorder : public KokkosRecorder {
 public:
  MemoryRecorder() : m_heap_before(heap_bytes()) {
    heap_peak() = m_heap_before;
    namespace Hooks = Kokkos::Tools::Experimental;
    Hooks::set_begin_parallel_for_callback(begin_kernel);
    Hooks::set_begin_parallel_reduce_callback(begin_kernel);
    Hooks::set_begin_parallel_scan_callback(begin_kernel);
  }

  /// The larger of the peaks of Views and heap, without what is added to each View: a header of 128 bytes and
  /// rounding by Kokkos, and pages of 4096 bytes by the heap.
  std::int64_t peak_bytes() const {
    const auto allocations = static_cast<std::int64_t>(events().allocations.size());
    return std::max(events().peak_bytes - 136 * allocations,
                    heap_peak() - m_heap_before - (4096 + 256) * allocations);
  }

 private:
  static std::int64_t heap_bytes() {
    const auto heap = mallinfo2();
    return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
  }
  static std::int64_t& heap_peak() {
    static std::int64_t bytes = 0;
    return bytes;
  }
  static void begin_kernel(const char*, const std::uint32_t, std::uint64_t*) {
    heap_peak() = std::max(heap_peak(), heap_bytes());
  }

  std::int64_t m_heap_before;
};

/// The numbers on which the documented memory of a conversion depends.
struct Sizes {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nnz = 0;
  std::int64_t longest = 0;
  bool is_sorted = true;

  explicit Sizes(const HostMatrix<double>& host)
      : rows(host.row_count()), columns(host.columns), nnz(host.nnz()) {
    for (const auto& row : host.rows) {
      longest = std::max(longest, static_cast<std::int64_t>(row.size()));
      for (std::size_t k = 1; k < row.size(); ++k)
        is_sorted = is_sorted && row[k - 1].column <= row[k].column;
    }
  }
};

constexpr std::int64_t ordinal_bytes = sizeof(int);

/// The bytes that a conversion allocates at most before it allocates the values and columns, and the bytes
/// besides the result that it takes at most afterwards, as the comments of convert_from_crs document them.
struct Documented {
  std::int64_t before;
  std::int64_t besides;
};
template <class Options, class Matrix>
Documented documented(const Options&, const Sizes&, const HostMatrix<double>&, const Matrix&) {
  return {0, 0};
}
std::int64_t sort_bytes(std::int64_t window, const Sizes& sizes) {
  return std::min(window, sizes.rows) > 4096 ? (16 + 2 * ordinal_bytes) * sizes.rows : 0;
}
template <class Matrix>
Documented documented(const Filigree::SellOptions& options, const Sizes& sizes, const HostMatrix<double>&,
                      const Matrix&) {
  return {sort_bytes(options.sorting_window == 0 ? sizes.rows : options.sorting_window, sizes), 0};
}
template <class Matrix>
Documented documented(const Filigree::JdsOptions&, const Sizes& sizes, const HostMatrix<double>&,
                      const Matrix&) {
  return {sort_bytes(sizes.rows, sizes), 0};
}
template <class Matrix>
Documented documented(const Filigree::HecOptions&, const Sizes& sizes, const HostMatrix<double>&,
                      const Matrix&) {
  return {8 * (sizes.longest + 2), 0};
}
template <class Matrix>
Documented documented(const Filigree::HybOptions&, const Sizes& sizes, const HostMatrix<double>& host,
                      const Matrix& hyb) {
  const auto width = static_cast<std::size_t>(hyb.ell.width());
  const auto rows =
      std::count_if(host.rows.begin(), host.rows.end(), [&](const auto& row) { return row.size() > width; });
  return {8 * (sizes.longest + 2), (8 + ordinal_bytes) * static_cast<std::int64_t>(rows) + 8};
}
std::int64_t diagonal_bytes(std::int64_t b, const Sizes& sizes) {
  return std::min(4 * ((sizes.rows + b - 1) / b + (sizes.columns + b - 1) / b), 32 * sizes.nnz) + 8;
}
template <class Matrix>
Documented documented(const Filigree::DiaOptions&, const Sizes& sizes, const HostMatrix<double>&,
                      const Matrix&) {
  return {0, diagonal_bytes(1, sizes)};
}
template <class Matrix>
Documented documented(const Filigree::CdsOptions& options, const Sizes& sizes, const HostMatrix<double>&,
                      const Matrix&) {
  return {0, diagonal_bytes(options.block_size, sizes)};
}
template <class Matrix>
Documented documented(const Filigree::SplitCdsOptions& options, const Sizes& sizes, const HostMatrix<double>&,
                      const Matrix&) {
  return {0, diagonal_bytes(options.block_size, sizes)};
}
template <class Matrix>
Documented documented(const Filigree::SymCdsOptions& options, const Sizes& sizes, const HostMatrix<double>&,
                      const Matrix& A) {
  return {0, diagonal_bytes(options.block_size, sizes) + 2 * ordinal_bytes * A.numDiagonals()};
}
template <class Matrix>
Documented documented(const Filigree::DictCdsOptions& options, const Sizes& sizes, const HostMatrix<double>&,
                      const Matrix& A) {
  const std::int64_t blocks = A.numDiagonals() * ((sizes.rows + options.block_size - 1) / options.block_size);
  return {0, diagonal_bytes(options.block_size, sizes) + 8 * blocks +
                 std::min<std::int64_t>(10000000, 4 * 40 * (blocks + 1))};
}
template <class Matrix>
Documented documented(const Filigree::BellOptions&, const Sizes& sizes, const HostMatrix<double>&,
                      const Matrix&) {
  return {0, sizes.is_sorted ? 0 : ordinal_bytes * sizes.nnz};
}
#if FILIGREE_HAS_BSR
template <class Matrix>
Documented documented(const Filigree::BsrOptions&, const Sizes& sizes, const HostMatrix<double>&,
                      const Matrix&) {
  return {0, sizes.is_sorted ? 0 : ordinal_bytes * sizes.nnz};
}
#endif

/// Matrices with many rows, with rows that are much longer than the others, and with many more rows or
/// columns than entries. Symmetric ones are square, so that they have no more columns than rows.
template <class Case>
std::vector<NamedMatrix<double>> matrices_of_many_extents() {
  std::vector<NamedMatrix<double>> result;
  result.push_back({"banded", block_banded<double>(40000, 40000, 1)});
  result.push_back({"scattered", scattered<double>(9000, 500, 20)});
  const auto with_long_row = [](std::int64_t rows, std::int64_t length) {
    HostMatrix<double> host(rows, length);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = i == rows / 2 ? length : 2; k > 0; --k)
        host.rows[static_cast<std::size_t>(i)].push_back({length - k, 1.0});
    return host;
  };
  result.push_back({"one long row", with_long_row(5000, 60000)});
  result.push_back({"few rows, one of them long", with_long_row(10, 200000)});
  const auto few_entries = [](std::int64_t rows, std::int64_t columns) {
    HostMatrix<double> host(rows, columns);
    Random random(6);
    for (int i = 0; i < 50; ++i)
      host.rows[static_cast<std::size_t>(random.below(rows))].push_back({random.below(columns), 1.0});
    return host;
  };
  result.push_back({"very wide", few_entries(10, 2000000000)});
  result.push_back({"very tall", few_entries(300000, 10)});
  result.push_back({"no entries", HostMatrix<double>(10, 2000000000)});
  if (is_symmetric_v<Case>) {
    result = {{"few entries", few_entries(300000, 300000)},
              {"banded", block_banded<double>(40000, 40000, 1)},
              {"scattered", scattered<double>(900, 900, 20)},
              {"no entries", HostMatrix<double>(300000, 300000)}};
    for (auto& [name, host] : result)
      host = suited<Case>(host);
  }
  return result;
}

template <class Case>
class Memory : public testing::Test {};
TYPED_TEST_SUITE(Memory, AllFormatsOf<double>, CaseName);

TYPED_TEST(Memory, OfAConversionIsDocumented) {
  using Options = typename TypeParam::Options;
  constexpr bool shares =
      std::is_same_v<Options, Filigree::CrsOptions> || std::is_same_v<Options, Filigree::WrappedCrsOptions>;
  for (const auto& [name, host] : matrices_of_many_extents<TypeParam>()) {
    const auto crs = device_crs(host);
    const auto crs_bytes = static_cast<std::int64_t>(Filigree::Impl::crs_bytes(crs));
    const Sizes sizes(host);
    for (const auto& variant : all_variants<TypeParam>()) {
      SCOPED_TRACE(name + ", " + variant.name);
      const auto convert = [&, &host = host]() {
        const MemoryRecorder recorder;
        try {
          const auto A = TypeParam::convert_with(crs, variant.options);
          Kokkos::fence();
          const std::int64_t peak = recorder.peak_bytes();
          const Documented bytes = documented(variant.options, sizes, host, A);
          const auto result =
              static_cast<std::int64_t>(TypeParam::Traits::storage_bytes(A)) - (shares ? crs_bytes : 0);
          return peak - std::max(bytes.before, result + bytes.besides);
        } catch (const std::length_error&) {
          // The result would be too large. That is found out in less memory than the CRS matrix takes. To
          // count distinct blocks takes up to 10 MB more.
          return recorder.peak_bytes() - crs_bytes - (has_dictionary_v<TypeParam> ? 10000000 : 0);
        }
      };
      // On its first launches Kokkos may allocate memory of its own, and Filigree the workspace of products.
      convert();
      EXPECT_LE(convert(), 0);
    }
  }
}

using IntView = Kokkos::View<int*, Device>;
using DoubleView = Kokkos::View<double*, Device>;

auto coo_of_rows(int row_count, const std::vector<int>& rows) {
  std::vector<double> values(rows.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(i);
  return Filigree::make_coo<int>(ExecutionSpace(), row_count, 1, device_list<IntView>(rows),
                                 device_list<IntView>(std::vector<int>(rows.size(), 0)),
                                 device_list<DoubleView>(values));
}

TEST(MakeCooMemory, GrowsWithTheRowsOnlyByTheirList) {
  const int row_count = 5000000;
  std::vector<int> list(20000);
  Random random(5);
  for (auto& row : list)
    row = static_cast<int>(random.below(row_count));
  const auto nnz = static_cast<std::int64_t>(list.size());
  const auto rows = device_list<IntView>(list);
  const IntView columns("columns", list.size());
  const DoubleView values("values", list.size());
  const auto make = [&]() {
    return Filigree::make_coo<int>(ExecutionSpace(), row_count, 1, rows, columns, values);
  };
  // On its first launches Kokkos may allocate memory of its own, and Filigree the workspace of products.
  make();
  const MemoryRecorder recorder;
  const auto A = make();
  EXPECT_LE(recorder.peak_bytes(),
            std::max(32 * nnz, static_cast<std::int64_t>(A.storage_bytes()) + 8 * (nnz + 1)));
}

/// The rows without entries, before, between and after those with entries.
TEST(MakeCooMemory, FindsTheRowsWithoutEntries) {
  const std::vector<std::vector<int>> lists = {
      {}, {0}, {99999}, {0, 99999}, {5, 5, 5}, {3, 1, 2}, {50000, 49999, 7, 50000}, {99999, 99998, 1, 0}};
  for (const auto& rows : lists)
    for (const int row_count : {100000, 100001}) {
      const auto A = coo_of_rows(row_count, rows);
      const std::set<int> used(rows.begin(), rows.end());
      std::vector<int> empty;
      for (int row = 0; row < row_count; ++row)
        if (used.count(row) == 0) empty.push_back(row);
      EXPECT_EQ(host_list(A.empty_rows), empty);
    }
  EXPECT_EQ(coo_of_rows(0, {}).empty_rows.extent(0), 0u);
  EXPECT_EQ(coo_of_rows(2, {1, 0, 1}).empty_rows.extent(0), 0u);
}

/// One pass of the sort is two kernels and moves one bit.
TEST(MakeCooMemory, SortsOnlyByBitsThatDiffer) {
  const auto passes = [](int row_count, const std::vector<int>& rows) {
    const KokkosRecorder recorder;
    coo_of_rows(row_count, rows);
    const auto& kernels = recorder.events().kernels;
    return std::count(kernels.begin(), kernels.end(), "Filigree::split[coo]");
  };
  EXPECT_EQ(passes(200000, {}), 0);
  EXPECT_EQ(passes(200000, {70000, 70000}), 0);
  EXPECT_EQ(passes(200000, {65536 + 2, 65536, 65536 + 3}), 2);
  EXPECT_EQ(passes(200000, {65536, 0, 65536, 1}), 2);
}

/// Diagonals are found by flags or, if these would take more memory, by sorting. Both give the same result.
TEST(DiagonalMemory, DoesNotChangeTheDiagonals) {
  Random random(8);
  for (const int b : {1, 3})
    for (const std::int64_t nnz : {1, 40, 400}) {
      for (const auto& [rows, columns] :
           {std::pair<std::int64_t, std::int64_t>(7, 100), {7, 30000}, {900, 2}, {400, 300}}) {
        HostMatrix<double> host(rows, columns);
        std::set<int> diagonals;
        for (std::int64_t i = 0; i < nnz; ++i) {
          const std::int64_t row = random.below(rows);
          const std::int64_t column = random.below(columns);
          host.rows[static_cast<std::size_t>(row)].push_back({column, random.value<double>()});
          diagonals.insert(static_cast<int>(column / b - row / b));
        }
        const auto A =
            Filigree::convert<Filigree::CdsMatrix>(device_crs(host), any_padding<Filigree::CdsOptions>(b));
        EXPECT_EQ(host_list(A.offsets), std::vector<int>(diagonals.begin(), diagonals.end()))
            << rows << " x " << columns << ", " << nnz << " entries, block size " << b;
        EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host));
      }
    }
}

}  // namespace FiligreeTest
