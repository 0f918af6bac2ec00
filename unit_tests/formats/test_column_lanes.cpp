// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of the lanes that each have some columns of x and y. Their kernels run on GPUs only, but the functions that find
// the columns of a lane run on a host, too.
#include <gtest/gtest.h>

#include <vector>

#include <filigree/product/add_batch.hpp>
#include <filigree/product/operands.hpp>

namespace {

using Filigree::Impl::ColumnAccess;

template <class Scalar>
using RowMajor = Filigree::Impl::ProductOperands<Scalar, Scalar, Scalar, 4, Filigree::Impl::NoScaling,
                                                 ColumnAccess::row_major>;

template <class Scalar>
using Alternating = decltype(RowMajor<Scalar>().with_alternating_halves());

static_assert(Alternating<double>::alternates_halves && Alternating<double>::has_column_lanes,
              "A lane loads four doubles in two halves.");
static_assert(Alternating<Kokkos::complex<float>>::alternates_halves, "So it does with complex<float>.");
static_assert(std::is_same_v<Alternating<float>, RowMajor<float>>, "A lane loads four floats at once.");
static_assert(std::is_same_v<Alternating<Kokkos::complex<double>>, RowMajor<Kokkos::complex<double>>>,
              "A lane needs four loads for four complex<double>.");

template <class Scalar>
struct ColumnLanes : testing::Test {
  // The rows are longer than the columns of a launch, as in a part of a View.
  static constexpr int rows = 3, columns = 16;
  struct alignas(Filigree::Impl::Pack<Scalar, 4>) Row {
    Scalar values[columns + 8];
  };
  Row x[rows], y[rows];

  static Scalar number(int value) {
    if constexpr (Filigree::Impl::is_complex_v<Scalar>)
      return Scalar(static_cast<float>(value), static_cast<float>(7 - value));
    else
      return static_cast<Scalar>(value);
  }
  Scalar before(int row, int column) const { return number(1000 * row + 10 * column + 1); }

  Alternating<Scalar> operands(Scalar beta) {
    for (int row = 0; row < rows; ++row)
      for (int c = 0; c < columns; ++c) {
        x[row].values[c] = number(100 * row + c);
        y[row].values[c] = before(row, c);
      }
    const RowMajor<Scalar> result = {
        {}, {x[0].values, sizeof(Row), 1}, {y[0].values, sizeof(Row), 1}, columns, Scalar(2), beta};
    return result.with_alternating_halves();
  }

  using Columns = Filigree::Impl::Pack<Scalar, 4>;

  /// The element of x that a lane multiplies for its sum c.
  Scalar expected(const Alternating<Scalar>& of_lane, int row, int c) const {
    return row < 0 ? Scalar(0) : x[row].values[of_lane.column_of_sum(c)];
  }

  /// A row of x in the columns of a lane. A lane with halves loads pairs of rows. The row is the first and the second of
  /// a pair, and the other row exists or not.
  Columns load_row(const Alternating<Scalar>& of_lane, int row) const {
    if constexpr (Alternating<Scalar>::alternates_halves) {
      Columns result[2];
      for (const int place : {0, 1})
        for (const int other : {-1, (row + 1) % rows}) {
          int pair[2] = {other, other};
          pair[place] = row;
          Columns loaded[2];
          of_lane.load_row_pair_of_lane(loaded, pair, [&](int r) { return pair[r] >= 0; });
          for (int c = 0; c < 4; ++c)
            EXPECT_EQ(loaded[1 - place].values[c], expected(of_lane, other, c)) << place << ' ' << other;
          result[place] = loaded[place];
        }
      for (int c = 0; c < 4; ++c)
        EXPECT_EQ(result[0].values[c], result[1].values[c]) << c;
      return result[1];
    } else {
      return of_lane.load_row_of_lane(row);
    }
  }
};

using Scalars = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(ColumnLanes, Scalars);

/// The lanes have all columns, whether they begin with the first or with the second half of them.
TYPED_TEST(ColumnLanes, LoadTheColumnsOfTheirSums) {
  const auto all = this->operands(TypeParam(0));
  for (const bool begins_with_second_half : {false, true}) {
    std::vector<int> found(this->columns, 0);
    for (int lane = 0; lane < 4; ++lane) {
      const auto of_lane = all.of_column_lane(lane, begins_with_second_half);
      const int first = 4 * lane + (all.alternates_halves && begins_with_second_half ? 2 : 0);
      EXPECT_EQ(of_lane.column_of_sum(0), first);
      for (int row = 0; row < this->rows; ++row) {
        const auto loaded = this->load_row(of_lane, row);
        for (int c = 0; c < 4; ++c)
          EXPECT_EQ(loaded.values[c], this->expected(of_lane, row, c)) << lane << ' ' << c;
      }
      of_lane.for_each_column([&](int c, int column) {
        EXPECT_EQ(column, of_lane.column_of_sum(c));
        ++found[static_cast<std::size_t>(column)];
      });
    }
    EXPECT_EQ(found, std::vector<int>(this->columns, 1));
  }
}

TYPED_TEST(ColumnLanes, AddBatchesOfEntriesAndPadding) {
  using Scalar = TypeParam;
  const auto all = this->operands(Scalar(0));
  const int columns_of_a[8] = {2, -1, 0, 1, -1, -1, 1, 2};
  for (const bool begins_with_second_half : {false, true})
    for (int lane = 0; lane < 4; ++lane) {
      const auto of_lane = all.of_column_lane(lane, begins_with_second_half);
      typename Alternating<Scalar>::sums_type sums = {};
      Filigree::Impl::add_batch(
          of_lane, sums, columns_of_a, [&](int i) { return columns_of_a[i] >= 0; },
          [&](Scalar& sum, int i, const Scalar& factor) { sum += this->number(i + 1) * factor; });
      for (int c = 0; c < 4; ++c) {
        Scalar sum(0);
        for (int i = 0; i < 8; ++i)
          sum += this->number(i + 1) * this->expected(of_lane, columns_of_a[i], c);
        EXPECT_EQ(sums[c], sum) << lane << ' ' << c;
      }
    }
}

TYPED_TEST(ColumnLanes, StoreSumsInTheirColumns) {
  using Scalar = TypeParam;
  for (const Scalar beta : {Scalar(0), Scalar(3)})
    for (const bool begins_with_second_half : {false, true}) {
      const auto all = this->operands(beta);
      for (int row = 0; row < this->rows; ++row)
        for (int lane = 0; lane < 4; ++lane) {
          const auto of_lane = all.of_column_lane(lane, begins_with_second_half);
          const auto loaded = this->load_row(of_lane, row);
          typename Alternating<Scalar>::sums_type sums;
          for (int c = 0; c < 4; ++c)
            sums[c] = loaded.values[c];
          of_lane.store(sums, row);
        }
      for (int row = 0; row < this->rows; ++row)
        for (int c = 0; c < this->columns; ++c)
          EXPECT_EQ(this->y[row].values[c], Scalar(2) * this->x[row].values[c] + beta * this->before(row, c))
              << row << ' ' << c;
    }
}

}  // namespace
