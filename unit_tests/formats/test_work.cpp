// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work of conversions, of checked refills and of products: twice the matrix may take little more than
// twice the work. Indices that count how often they are read measure it.
#include <algorithm>

#include "../support/formats.hpp"

namespace FiligreeTest {

/// An index that counts how often it is read.
struct CountedIndex {
  std::int64_t index = 0;
  std::int64_t* reads = nullptr;

  KOKKOS_INLINE_FUNCTION operator std::int64_t() const {
    if (reads != nullptr) Kokkos::atomic_add(reads, std::int64_t(1));
    return index;
  }
};

using Counter = Kokkos::View<std::int64_t*, Device>;
using CountedIndices = Kokkos::View<CountedIndex*, Device>;

CountedIndices counted(const std::vector<std::int64_t>& list, const Counter& reads) {
  const CountedIndices view("counted", list.size());
  const auto mirror = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < list.size(); ++i)
    mirror(i) = {list[i], reads.data()};
  Kokkos::deep_copy(view, mirror);
  return view;
}

/// A CRS matrix that counts how often its column indices are read.
struct CountedCrs {
  using non_const_value_type = double;
  using non_const_ordinal_type = CountedIndex;
  using non_const_size_type = int;
  using device_type = Device;

  Counter reads;
  Crs<double> crs;
  Crs<double>::values_type values;
  struct {
    CountedIndices entries;
    Crs<double>::row_map_type row_map;
  } graph;

  explicit CountedCrs(const HostMatrix<double>& host)
      : reads("reads", 1), crs(device_crs(host)), values(crs.values) {
    std::vector<std::int64_t> columns;
    for (const auto& row : host.rows)
      for (const auto& entry : row)
        columns.push_back(entry.column);
    graph.entries = counted(columns, reads);
    graph.row_map = crs.graph.row_map;
  }
  int numRows() const { return crs.numRows(); }
  int numCols() const { return crs.numCols(); }
  int nnz() const { return static_cast<int>(crs.nnz()); }
};

/// An arrow: the first row and the first column are full. No long row ascends.
HostMatrix<double> arrow(std::int64_t n) {
  HostMatrix<double> host(n, n);
  for (std::int64_t i = n - 1; i >= 0; --i)
    host.rows[0].push_back({i, 1.0});
  for (std::int64_t i = 1; i < n; ++i)
    host.rows[static_cast<std::size_t>(i)] = {{i, 2.0}, {0, 1.0}};
  return host;
}

/// Eight full rows with descending columns, in which every seventh column has a duplicate.
HostMatrix<double> descending(std::int64_t columns) {
  HostMatrix<double> host(8, columns);
  for (auto& row : host.rows)
    for (std::int64_t i = columns - 1; i >= 0; --i)
      row.insert(row.end(), i % 7 == 0 ? 2 : 1, {i, 1.0});
  return host;
}

/// Eight rows of random entries in random order, in all columns.
HostMatrix<double> random_order(std::int64_t columns) {
  HostMatrix<double> host(8, columns);
  Random random(4);
  for (auto& row : host.rows)
    for (std::int64_t i = 0; i < columns; ++i)
      row.push_back({random.below(columns), 1.0});
  return host;
}

/// Expects that work(n) for n = 4000 is little more than twice that for n = 2000. Sorting makes it somewhat
/// more. Quadratic work would be four times as much.
template <class Work>
void expect_no_quadratic_work(const std::string& name, const Work& work) {
  const auto small = static_cast<double>(work(2000));
  const auto large = static_cast<double>(work(4000));
  EXPECT_GT(small, 0) << name;
  EXPECT_LT(large, 3 * small) << name;
}

template <class Case>
class Work : public testing::Test {};

template <template <class, class, class, class, class> class Format>
using CaseOf = FormatCase<Filigree::Format<Format>, double>;
using DenseFormats = testing::Types<
#if FILIGREE_HAS_BSR
    CaseOf<Filigree::BsrMatrix>,
#endif
    CaseOf<Filigree::DiaMatrix>, CaseOf<Filigree::CdsMatrix>, CaseOf<Filigree::BellMatrix>>;
TYPED_TEST_SUITE(Work, DenseFormats, CaseName);

TYPED_TEST(Work, OfABlockConversionIsNotQuadratic) {
  using Options = typename TypeParam::Options;
  if constexpr (std::is_same_v<Options, Filigree::DiaOptions> ||
                std::is_same_v<Options, Filigree::CdsOptions>) {
    GTEST_SKIP() << TypeParam::Traits::name() << " looks for diagonals and not for blocks.";
  } else {
    for (auto* make : {arrow, descending, random_order})
      expect_no_quadratic_work("matrix", [&](std::int64_t n) {
        const CountedCrs crs(make(n));
        typename TypeParam::Matrix A;
        try {
          Filigree::Impl::convert_from_crs(ExecutionSpace(), crs, any_padding<Options>(4), A);
        } catch (const std::length_error&) {
          // An arrow has too much padding. Also to find this out must not take quadratic work.
        }
        return host_list(crs.reads)[0];
      });
  }
}

TEST(SortedEntries, AreACopyOnlyIfARowIsUnsorted) {
  const auto sorted = [](const HostMatrix<double>& host) {
    return host_list(Filigree::Impl::sorted_entries(ExecutionSpace(), "test", "test", device_crs(host)));
  };
  EXPECT_TRUE(sorted(block_banded<double>(3000, 3000, 1)).empty());
  EXPECT_TRUE(sorted(HostMatrix<double>(5, 3)).empty());
  EXPECT_TRUE(sorted(HostMatrix<double>(0, 3)).empty());
  for (const auto& host : {scattered<double>(3000, 700, 20), arrow(3000), random_order(5000)}) {
    std::vector<int> expected;
    for (const auto& row : host.rows) {
      const auto begin = static_cast<std::ptrdiff_t>(expected.size());
      for (const auto& entry : row)
        expected.push_back(static_cast<int>(entry.column));
      std::sort(expected.begin() + begin, expected.end());
    }
    EXPECT_EQ(sorted(host), expected);
  }
}

TYPED_TEST(Work, OfACheckedRefillIsNotQuadratic) {
  for (auto* make : {descending, random_order})
    expect_no_quadratic_work("matrix", [&](std::int64_t n) {
      const auto host = make(n);
      const auto A = converted<TypeParam>(host, has_block_size_v<typename TypeParam::Options> ? 4 : 1);
      const CountedCrs crs(host);
      EXPECT_GE(Filigree::Impl::first_different_row(ExecutionSpace(), A, crs), host.row_count());
      return host_list(crs.reads)[0];
    });
}

/// A CDS matrix that counts how often its offsets are read.
struct CountedCds {
  using value_type = double;
  using ordinal_type = CountedIndex;

  Filigree::CdsMatrix<double, int, Device, void, int> cds;
  decltype(cds.values) values;
  CountedIndices offsets;

  CountedCds(const HostMatrix<double>& host, int block_size, const Counter& reads)
      : cds(Filigree::convert<Filigree::CdsMatrix>(device_crs(host),
                                                   any_padding<Filigree::CdsOptions>(block_size))),
        values(cds.values) {
    const auto list = host_list(cds.offsets);
    offsets = counted({list.begin(), list.end()}, reads);
  }
  int numRows() const { return cds.numRows(); }
  int numCols() const { return cds.numCols(); }
  int numDiagonals() const { return cds.numDiagonals(); }
  int block_size() const { return cds.block_size(); }
  std::int64_t column_stride() const { return cds.column_stride(); }
};

TEST(CdsTransposeWork, IsNotQuadraticIfThereAreFewRows) {
  using Operands = Filigree::Impl::ProductOperands<double, double, double, 1>;
  using View = View1<double, Kokkos::LayoutLeft>;
  for (const int b : {1, 4})
    expect_no_quadratic_work("block size " + std::to_string(b), [&](std::int64_t columns) {
      const auto host = descending(columns);
      const Counter reads("reads", 1);
      const CountedCds cds(host, b, reads);
      const auto x = Random(2).vectors<double>(8, 1);
      const HostVectors<double> y(columns, 1, 1.0);
      const auto x_view = device_view<View>(x);
      const auto y_view = device_view<View>(y);
      using Kernel = Filigree::Impl::CdsSpmvTranspose<ExecutionSpace, CountedCds, Operands, 0, false>;
      Kokkos::parallel_for("test", Kernel::launch::policy(ExecutionSpace(), columns),
                           Kernel(cds, Operands{{},
                                                Filigree::Impl::multi_vector<View, const double>(x_view),
                                                Filigree::Impl::multi_vector(y_view),
                                                1,
                                                1.5,
                                                0.5}));
      EXPECT_TRUE(agrees(host_vectors(y_view), reference_product(Mode::Transpose, 1.5, host, x, 0.5, y)));
      return host_list(reads)[0];
    });
}

/// Modes T and H with many more columns than rows, and so many diagonals that most do not meet a column.
TEST(CdsTranspose, IsRightForWideMatrices) {
  for (const int b : {1, 2, 3, 9})
    for (const std::int64_t rows : {1, 2, 5, 18, 31})
      for (const auto& host : {scattered<double>(rows, 400, 9), scattered<double>(rows, 401, 300)}) {
        const auto A =
            Filigree::convert<Filigree::CdsMatrix>(device_crs(host), any_padding<Filigree::CdsOptions>(b));
        for (const Mode mode : {Mode::Transpose, Mode::ConjugateTranspose})
          for (const int columns : {0, 3})
            EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(A, host, {mode, 1.5, 0.5, columns}))
                << rows << " rows, block size " << b;
      }
}

}  // namespace FiligreeTest
