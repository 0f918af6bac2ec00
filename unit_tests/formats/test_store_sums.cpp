// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the functions that store the sums of rows. Some of them are used in kernels for GPUs only, but they run on a
// host, too.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <filigree/product/operands.hpp>

namespace {

using Filigree::Impl::ColumnAccess;

/// The elements of y in memory. Element (r, c) is at offset + r * row_stride + c * column_stride. A part of the memory
/// is not in y.
struct Layout {
  const char* name;
  int offset, row_stride, column_stride;
};
// The memory has 16 rows of at most 16 columns. All strides of y are in one of them.
constexpr Layout by_rows = {"rows of 20 elements", 0, 20, 1};
constexpr Layout aligned_columns = {"columns of 32 elements", 0, 1, 32};
constexpr Layout shifted_columns = {"columns of 32 elements that begin with an odd one", 1, 1, 32};
constexpr Layout odd_columns = {"columns of 33 elements", 0, 1, 33};
constexpr Layout scattered = {"every second element", 0, 2, 40};

template <class Y>
class Memory {
 public:
  explicit Memory(const Layout& layout) : m_layout(layout), m_packs(320) {}
  Y* data() { return m_packs.data()->values; }
  Filigree::Impl::MultiVector<Y> y() {
    return {data() + m_layout.offset, m_layout.row_stride * static_cast<int>(sizeof(Y)),
            m_layout.column_stride};
  }
  std::size_t position(int row, int column) const {
    return static_cast<std::size_t>(m_layout.offset + row * m_layout.row_stride +
                                    column * m_layout.column_stride);
  }
  std::size_t size() const { return 4 * m_packs.size(); }

 private:
  Layout m_layout;
  std::vector<Filigree::Impl::Pack<Y, 4>> m_packs;
};

/// Numbers that float has exactly, and sums of them.
template <class Y>
Y number(int value) {
  if constexpr (Filigree::Impl::is_complex_v<Y>)
    return Y(static_cast<float>(value), static_cast<float>(5 - value));
  else
    return static_cast<Y>(value);
}

/// Stores Rows rows from row 4 on. Rows from `end` on do not exist.
template <class Scalar, class Y, int Columns, ColumnAccess Access, int Rows>
void expect_rows_stored(const Layout& layout, int columns, int end, bool beta_is_0) {
  using Operands =
      Filigree::Impl::ProductOperands<Scalar, Scalar, Y, Columns, Filigree::Impl::NoScaling, Access>;
  using Sum = typename Operands::accumulator_type;
  const Sum alpha(2), beta(beta_is_0 ? 0 : 3);
  constexpr int first = 4;

  Memory<Y> memory(layout);
  std::vector<Y> expected(memory.size());
  for (std::size_t i = 0; i < memory.size(); ++i)
    memory.data()[i] = expected[i] = number<Y>(static_cast<int>(i) + 1);
  typename Operands::sums_type sums[Rows];
  for (int r = 0; r < Rows; ++r)
    for (int c = 0; c < Columns; ++c) {
      sums[r][c] = number<Sum>(100 * r + c);
      if (first + r >= end || c >= columns) continue;
      Y& before = memory.data()[memory.position(first + r, c)];
      // If beta is 0, y is not read.
      if (beta_is_0) before = Y(std::numeric_limits<float>::quiet_NaN());
      Y& after = expected[memory.position(first + r, c)];
      after = static_cast<Y>(beta_is_0 ? alpha * sums[r][c] : alpha * sums[r][c] + beta * Sum(after));
    }

  Operands operands = {{}, {nullptr, 0, 0}, memory.y(), columns, alpha, beta};
  if constexpr (Operands::has_column_lanes) operands = operands.of_column_lane(0);
  Filigree::Impl::store_rows(operands, sums, first, end);
  for (std::size_t i = 0; i < memory.size(); ++i)
    EXPECT_EQ(memory.data()[i], expected[i])
        << "element " << i << " with " << Rows << " rows up to row " << end << ", " << columns << " columns, "
        << layout.name << (beta_is_0 ? ", beta = 0" : "");
}

template <class Scalar, class Y, int Columns, ColumnAccess Access>
void expect_stored(const Layout& layout, int columns) {
  for (const bool beta_is_0 : {false, true}) {
    expect_rows_stored<Scalar, Y, Columns, Access, 1>(layout, columns, 5, beta_is_0);
    for (int end = 4; end <= 6; ++end)
      expect_rows_stored<Scalar, Y, Columns, Access, 2>(layout, columns, end, beta_is_0);
    for (int end = 4; end <= 7; ++end)
      expect_rows_stored<Scalar, Y, Columns, Access, 3>(layout, columns, end, beta_is_0);
    for (int end = 4; end <= 8; ++end)
      expect_rows_stored<Scalar, Y, Columns, Access, 4>(layout, columns, end, beta_is_0);
  }
}

/// The types of A and x, and of y. Sums of the last have more precision than y.
template <class ScalarOfA, class ScalarOfY>
struct Types {
  using scalar_type = ScalarOfA;
  using y_type = ScalarOfY;
};
template <class T>
struct StoreSums : testing::Test {};
using TypesOfProducts =
    testing::Types<Types<float, float>, Types<double, double>,
                   Types<Kokkos::complex<float>, Kokkos::complex<float>>, Types<double, float>>;
TYPED_TEST_SUITE(StoreSums, TypesOfProducts);

TYPED_TEST(StoreSums, OfOneColumn) {
  using A = typename TypeParam::scalar_type;
  using Y = typename TypeParam::y_type;
  for (const Layout& layout : {by_rows, aligned_columns, shifted_columns, scattered})
    expect_stored<A, Y, 1, ColumnAccess::any>(layout, 1);
}

TYPED_TEST(StoreSums, OfExactColumns) {
  using A = typename TypeParam::scalar_type;
  using Y = typename TypeParam::y_type;
  for (const Layout& layout : {by_rows, aligned_columns, shifted_columns, odd_columns, scattered}) {
    expect_stored<A, Y, 4, ColumnAccess::exact>(layout, 4);
    expect_stored<A, Y, 16, ColumnAccess::exact>(layout, 16);
  }
}

TYPED_TEST(StoreSums, OfCountedColumns) {
  using A = typename TypeParam::scalar_type;
  using Y = typename TypeParam::y_type;
  for (const Layout& layout : {by_rows, aligned_columns, shifted_columns, odd_columns, scattered})
    for (const int columns : {1, 3, 4, 11, 16})
      expect_stored<A, Y, 16, ColumnAccess::any>(layout, columns);
}

TYPED_TEST(StoreSums, OfColumnLanes) {
  using A = typename TypeParam::scalar_type;
  using Y = typename TypeParam::y_type;
  expect_stored<A, Y, 4, ColumnAccess::row_major>(by_rows, 4);
}

}  // namespace
