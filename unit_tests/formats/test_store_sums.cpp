// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the functions that store the sums of rows. Some of them are used in kernels for GPUs only, but they run on a
// host, too. A host does not notice loads and stores that are not aligned, unless -fsanitize=undefined checks them.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <filigree/product/epilogue.hpp>
#include <filigree/product/operands.hpp>
#include <filigree/product/store_sums.hpp>

namespace {

using Filigree::Impl::ColumnAccess;

/// Where y lies in memory: element (r, c) is element offset + r * row_stride + c * column_stride of the memory.
struct Layout {
  const char* name;
  int offset, row_stride, column_stride;
};
constexpr Layout by_rows = {"rows of 20 elements", 0, 20, 1};
constexpr Layout aligned_columns = {"columns of 32 elements", 0, 1, 32};
constexpr Layout shifted_columns = {"columns of 32 elements from element 1 on", 1, 1, 32};
constexpr Layout odd_columns = {"columns of 33 elements", 0, 1, 33};
constexpr Layout scattered = {"every second element", 0, 2, 40};

/// Integers, and complex numbers of integers. All sums and products of the tests are exact.
template <class T>
T number(int value) {
  if constexpr (Filigree::Impl::is_complex_v<T>)
    return T(static_cast<float>(value), static_cast<float>(5 - value));
  else
    return static_cast<T>(value);
}

/// Memory for a y of 16 rows and 16 columns.
template <class Y>
class Memory {
 public:
  Memory() : m_packs(320) {
    for (int i = 0; i < size(); ++i)
      (*this)[i] = number<Y>(i + 1);
  }
  int size() const { return 4 * static_cast<int>(m_packs.size()); }
  Y& operator[](int i) { return m_packs[static_cast<std::size_t>(i / 4)].values[i % 4]; }
  Filigree::Impl::MultiVector<Y> y(const Layout& layout) {
    return {&(*this)[layout.offset], layout.row_stride * static_cast<int>(sizeof(Y)), layout.column_stride};
  }

 private:
  std::vector<Filigree::Impl::Pack<Y, 4>> m_packs;
};

/// The columns of a column lane. Other operands have no lanes.
struct Lane {
  int index = 0;
  bool begins_with_second_half = false;
};

/// Stores Rows rows from row 4 on. Rows from `end` on do not exist.
template <class Scalar, class Y, int Columns, ColumnAccess Access, int Rows>
void expect_rows_stored(const Layout& layout, int columns, int end, bool beta_is_0, Lane lane) {
  using Operands =
      Filigree::Impl::ProductOperands<Scalar, Scalar, Y, Columns, Filigree::Impl::NoScaling, Access>;
  using Sum = typename Operands::accumulator_type;
  const Sum alpha = number<Sum>(2), beta = beta_is_0 ? Sum(0) : number<Sum>(3);
  constexpr int first = 4;

  Memory<Y> memory;
  Operands operands = {{}, {nullptr, 0, 0}, memory.y(layout), columns, alpha, beta};
  if constexpr (Operands::has_column_lanes)
    operands = operands.of_column_lane(lane.index, lane.begins_with_second_half);

  Memory<Y> expected;
  typename Operands::sums_type sums[Rows];
  for (int r = 0; r < Rows; ++r)
    for (int c = 0; c < Columns; ++c) {
      sums[r][c] = number<Sum>(100 * r + c);
      if (first + r >= end || c >= columns) continue;
      const int position =
          layout.offset + (first + r) * layout.row_stride + operands.column_of_sum(c) * layout.column_stride;
      expected[position] =
          static_cast<Y>(beta_is_0 ? alpha * sums[r][c] : alpha * sums[r][c] + beta * Sum(memory[position]));
      // If beta is 0, y is not read.
      if (beta_is_0) memory[position] = Y(std::numeric_limits<float>::quiet_NaN());
    }

  Filigree::Impl::store_rows(operands, sums, first, end);
  for (int i = 0; i < memory.size(); ++i)
    EXPECT_EQ(memory[i], expected[i])
        << "element " << i << " with " << Rows << " rows up to row " << end << ", " << columns
        << " columns, lane " << lane.index << ", " << layout.name << (beta_is_0 ? ", beta = 0" : "");
}

template <class Scalar, class Y, int Columns, ColumnAccess Access, int Rows = 8>
void expect_stored(const Layout& layout, int columns, Lane lane = {}) {
  for (const bool beta_is_0 : {false, true})
    for (int end = 5; end <= 4 + Rows; ++end)
      expect_rows_stored<Scalar, Y, Columns, Access, Rows>(layout, columns, end, beta_is_0, lane);
  if constexpr (Rows > 1) expect_stored<Scalar, Y, Columns, Access, Rows - 1>(layout, columns, lane);
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
  for (const int lane : {0, 1, 3})
    expect_stored<A, Y, 4, ColumnAccess::row_major>(by_rows, 4, {lane, false});
  for (const int lane : {0, 1, 3})
    for (const bool begins_with_second_half : {false, true})
      expect_stored<A, Y, 4, ColumnAccess::row_major_alternating>(by_rows, 4,
                                                                  {lane, begins_with_second_half});
}

/// If all columns of y are the same memory, what is stored shows whether all loads came before the first store.
TYPED_TEST(StoreSums, LoadBeforeTheyStore) {
  using A = typename TypeParam::scalar_type;
  using Y = typename TypeParam::y_type;
  using Operands =
      Filigree::Impl::ProductOperands<A, A, Y, 16, Filigree::Impl::NoScaling, ColumnAccess::exact>;
  using Sum = typename Operands::accumulator_type;
  Memory<Y> memory;
  const Y before = memory[4];
  const Operands operands = {{}, {nullptr, 0, 0}, memory.y({"", 0, 1, 0}), 16, Sum(2), Sum(3)};
  typename Operands::sums_type sums;
  for (int c = 0; c < 16; ++c)
    sums[c] = number<Sum>(c);
  operands.store(sums, 4);
  EXPECT_EQ(memory[4], static_cast<Y>(Sum(2) * sums[15] + Sum(3) * Sum(before)));
}

/// The same for the rows of a column lane.
TYPED_TEST(StoreSums, LoadRowsBeforeTheyStore) {
  using A = typename TypeParam::scalar_type;
  using Y = typename TypeParam::y_type;
  using Operands =
      Filigree::Impl::ProductOperands<A, A, Y, 4, Filigree::Impl::NoScaling, ColumnAccess::row_major>;
  using Sum = typename Operands::accumulator_type;
  Memory<Y> memory;
  const Y before = memory[1];
  const Operands operands = {{}, {nullptr, 0, 0}, memory.y({"", 0, 0, 1}), 4, Sum(2), Sum(3)};
  typename Operands::sums_type sums[2] = {};
  sums[1][1] = number<Sum>(7);
  Filigree::Impl::store_rows(operands.of_column_lane(0), sums, 4);
  EXPECT_EQ(memory[1], static_cast<Y>(Sum(2) * sums[1][1] + Sum(3) * Sum(before)));
}

/// A function that is called with the sums instead of y. It writes them to a matrix of 16 columns, and counts its
/// calls.
template <class Sum>
struct Recorder {
  Sum* sums;
  int* calls;

  void operator()(std::int64_t row, int column, const Sum& sum) const {
    sums[16 * row + column] = sum;
    ++calls[16 * row + column];
  }
};

/// The function gets alpha times each sum. It is not called for rows that do not exist, nor for columns that are not
/// asked for.
template <class Scalar, int Columns, ColumnAccess Access>
void expect_called(int columns, int first_column) {
  using Target = Filigree::Impl::Epilogue<Recorder<Scalar>, Scalar>;
  using Operands =
      Filigree::Impl::ProductOperands<Scalar, Scalar, Target, Columns, Filigree::Impl::NoScaling, Access>;
  static_assert(std::is_same_v<typename Operands::accumulator_type, Scalar>);
  constexpr int rows = 5, first = 4;
  for (int end = first + 1; end <= first + rows; ++end) {
    std::vector<Scalar> recorded(16 * 16, Scalar(-1)), expected = recorded;
    std::vector<int> calls(16 * 16, 0), expected_calls = calls;
    const Target target = {{recorded.data(), calls.data()}};
    const Operands operands = {{},      {nullptr, 0, 0}, target.from_column(first_column),
                               columns, Scalar(2),       Scalar(3)};
    typename Operands::sums_type sums[rows];
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < Columns; ++c) {
        sums[r][c] = number<Scalar>(100 * r + c);
        if (first + r >= end || c >= columns) continue;
        const auto position = static_cast<std::size_t>(16 * (first + r) + first_column + c);
        expected[position] = Scalar(2) * sums[r][c];
        expected_calls[position] = 1;
      }
    Filigree::Impl::store_rows(operands, sums, first, end);
    EXPECT_EQ(recorded, expected) << columns << " columns up to row " << end;
    EXPECT_EQ(calls, expected_calls) << columns << " columns up to row " << end;
  }
}

TEST(StoreSumsOfEpilogue, CallTheFunctionOncePerRowAndColumn) {
  expect_called<double, 1, ColumnAccess::any>(1, 0);
  expect_called<double, 1, ColumnAccess::any>(1, 15);
  expect_called<double, 4, ColumnAccess::exact>(4, 4);
  expect_called<Kokkos::complex<double>, 16, ColumnAccess::any>(11, 3);
  expect_called<double, 16, ColumnAccess::exact>(16, 0);
}

/// Sums of a scaled matrix are of double.
TEST(StoreSumsOfScaledMatrix, HaveTheExponentOfTheirRow) {
  using Operands = Filigree::Impl::ProductOperands<double, double, double, 4, Filigree::Impl::PowerScaling,
                                                   ColumnAccess::exact>;
  std::vector<std::int16_t> exponents(16);
  for (int row = 0; row < 16; ++row)
    exponents[static_cast<std::size_t>(row)] = static_cast<std::int16_t>(row % 3);
  Memory<double> memory;
  const Operands operands = {{exponents.data(), exponents.data()},
                             {{nullptr, 0, 0}, exponents.data()},
                             memory.y(aligned_columns),
                             4,
                             2.0,
                             3.0};
  Operands::sums_type sums[3] = {};
  for (int r = 0; r < 3; ++r)
    sums[r][1] = number<double>(r + 7);
  Memory<double> before;
  Filigree::Impl::store_rows(operands, sums, 4);
  for (int r = 0; r < 3; ++r) {
    const int position = 4 + r + aligned_columns.column_stride;
    const double scale = 1 << ((4 + r) % 3);
    EXPECT_EQ(memory[position], 2 * sums[r][1] * scale + 3 * before[position]);
  }
}

}  // namespace
