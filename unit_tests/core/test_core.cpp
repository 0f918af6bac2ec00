// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <filigree/core/mode.hpp>
#include <filigree/core/scalar.hpp>
#include <filigree/core/version.hpp>
#include <filigree/formats.hpp>
#include <filigree/product/multi_vector.hpp>
#include <limits>
#include <set>

namespace {

using namespace Filigree::Impl;
using Cf = Kokkos::complex<float>;
using Cd = Kokkos::complex<double>;

static_assert(std::is_same<wider_t<float>, float>::value, "");
static_assert(std::is_same<wider_t<float, double>, double>::value, "");
static_assert(std::is_same<wider_t<const double, float>, double>::value, "");
static_assert(std::is_same<wider_t<Cf, float>, Cf>::value, "");
static_assert(std::is_same<wider_t<Cf, double, float>, Cd>::value, "");
static_assert(std::is_same<wider_t<double, Cf, const Cf>, Cd>::value, "");
static_assert(is_complex_v<const Cf> && !is_complex_v<const double>, "");
static_assert(std::is_same<real_t<const Cd>, double>::value, "");
static_assert(std::is_same<decltype(widen<Cd>(1.0f)), double>::value, "a real value stays real");
static_assert(std::is_same<decltype(widen<double>(1.0f)), double>::value, "");
static_assert(std::is_same<decltype(widen<Cd>(Cf())), Cd>::value, "");
static_assert(std::is_same<decltype(convert_scalar<Cf>(1.0)), Cf>::value, "");
static_assert(std::is_same<decltype(conjugate_if<true>(1.0f)), float>::value, "");
static_assert(!is_transpose(Filigree::Mode::NoTranspose) && !is_conjugate(Filigree::Mode::NoTranspose), "");
static_assert(is_transpose(Filigree::Mode::Transpose) && !is_conjugate(Filigree::Mode::Transpose), "");
static_assert(!is_transpose(Filigree::Mode::Conjugate) && is_conjugate(Filigree::Mode::Conjugate), "");
static_assert(is_transpose(Filigree::Mode::ConjugateTranspose) &&
                  is_conjugate(Filigree::Mode::ConjugateTranspose),
              "");

TEST(Version, IsThatOfThePackage) {
  EXPECT_STREQ(FILIGREE_VERSION_STRING, FILIGREE_PACKAGE_VERSION);
  int major = 0, minor = 0, patch = 0;
  ASSERT_EQ(std::sscanf(FILIGREE_VERSION_STRING, "%d.%d.%d", &major, &minor, &patch), 3);
  EXPECT_EQ(FILIGREE_VERSION, major * 10000 + minor * 100 + patch);
}

TEST(Error, TellsMemoryErrorsFromOthers) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("cudaErrorIllegalAddress")));
  EXPECT_FALSE(is_out_of_memory(std::length_error("too long")));
  try {
    const Kokkos::View<double*> view(Kokkos::view_alloc("large", Kokkos::WithoutInitializing), std::size_t(1)
                                                                                                   << 50);
    FAIL() << "it was allocated";
  } catch (const std::exception& error) {
    EXPECT_TRUE(is_out_of_memory(error)) << error.what();
  }
}

TEST(Scalar, ConvertsAndWidens) {
  EXPECT_EQ(widen<Cd>(Cf(1.5f, -2.5f)), Cd(1.5, -2.5));
  EXPECT_EQ(convert_scalar<Cf>(Cd(1.5, -2.5)), Cf(1.5f, -2.5f));
  EXPECT_EQ(convert_scalar<Cf>(1.5), Cf(1.5f, 0.0f));
  EXPECT_EQ(convert_scalar<float>(0.1), 0.1f);
  EXPECT_EQ(conjugate_if<true>(Cd(1, 2)), Cd(1, -2));
  EXPECT_EQ(conjugate_if<false>(Cd(1, 2)), Cd(1, 2));
  EXPECT_EQ(conjugate_if<true>(-2.0), -2.0);
  const Cd product = widen<Cd>(2.0f) * Cd(std::numeric_limits<double>::infinity(), 3);
  EXPECT_EQ(product.imag(), 6.0);
}

TEST(Mode, AcceptsOnlyFourLetters) {
  using Filigree::Mode;
  using Filigree::ModeArgument;
  EXPECT_EQ(Mode(ModeArgument("N")), Mode::NoTranspose);
  EXPECT_EQ(Mode(ModeArgument("T")), Mode::Transpose);
  EXPECT_EQ(Mode(ModeArgument("C")), Mode::Conjugate);
  EXPECT_EQ(Mode(ModeArgument("H")), Mode::ConjugateTranspose);
  EXPECT_EQ(Mode(ModeArgument(Mode::Transpose)), Mode::Transpose);
  EXPECT_EQ(Mode(ModeArgument('H')), Mode::ConjugateTranspose);
  EXPECT_THROW(ModeArgument('h'), std::invalid_argument);
  for (const char* text : {"X", "", "n", "NN", " N"})
    EXPECT_THROW(ModeArgument{text}, std::invalid_argument) << text;
  EXPECT_THROW(ModeArgument(static_cast<const char*>(nullptr)), std::invalid_argument);
  EXPECT_THROW(ModeArgument(static_cast<Mode>('\0')), std::invalid_argument);
}

template <class T, class Layout>
using HostView = Kokkos::View<T, Layout, Kokkos::HostSpace>;

TEST(MultiVector, ComputesAddressesForEveryLayout) {
  const auto check = [](const auto& view) {
    const auto vectors = multi_vector(view);
    for (int row = 0; row < static_cast<int>(view.extent(0)); ++row)
      for (int column = 0; column < static_cast<int>(view.extent(1)); ++column) {
        EXPECT_EQ(&vectors(row, column), &view(row, column));
        EXPECT_EQ(&vectors.from_column(1)(row, column - 1), &view(row, column));
      }
  };
  const HostView<double**, Kokkos::LayoutLeft> left("left", 5, 3);
  const HostView<double**, Kokkos::LayoutRight> right("right", 5, 3);
  const HostView<float***, Kokkos::LayoutRight> cube("cube", 5, 3, 4);
  check(left);
  check(right);
  check(Kokkos::subview(left, std::make_pair(1, 4), Kokkos::ALL));
  check(Kokkos::subview(cube, Kokkos::ALL, Kokkos::ALL, 2));
  const auto column = Kokkos::subview(right, Kokkos::ALL, 1);
  EXPECT_EQ(&multi_vector(column)(3, 0), &right(3, 1));
  EXPECT_EQ(column_count(column), 1);
  EXPECT_EQ(column_count(right), 3);
}

/// Whether two Views have an element in common, found by comparing all addresses.
template <class A, class B>
bool share_an_element(const A& a, const B& b) {
  std::set<const void*> addresses;
  for (std::size_t row = 0; row < a.extent(0); ++row)
    for (std::int64_t column = 0; column < column_count(a); ++column)
      addresses.insert(&multi_vector(a)(static_cast<std::int64_t>(row), column));
  for (std::size_t row = 0; row < b.extent(0); ++row)
    for (std::int64_t column = 0; column < column_count(b); ++column)
      if (addresses.count(&multi_vector(b)(static_cast<std::int64_t>(row), column)) > 0) return true;
  return false;
}

template <class Parent>
void expect_exact_aliasing(const Parent& parent) {
  std::vector<std::pair<int, int>> row_ranges = {{0, 2}, {1, 4}, {2, 6}, {3, 3}};
  std::vector<std::pair<int, int>> column_ranges = {{0, 1}, {1, 3}, {2, 5}, {0, 5}};
  for (const auto& rows_a : row_ranges)
    for (const auto& columns_a : column_ranges)
      for (const auto& rows_b : row_ranges)
        for (const auto& columns_b : column_ranges) {
          const auto a = Kokkos::subview(parent, rows_a, columns_a);
          const auto b = Kokkos::subview(parent, rows_b, columns_b);
          EXPECT_EQ(aliased(a, b), share_an_element(a, b))
              << rows_a.first << ":" << rows_a.second << ", " << columns_a.first << ":" << columns_a.second
              << " and " << rows_b.first << ":" << rows_b.second << ", " << columns_b.first << ":"
              << columns_b.second;
        }
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) {
      EXPECT_EQ(aliased(Kokkos::subview(parent, Kokkos::ALL, i), Kokkos::subview(parent, Kokkos::ALL, j)),
                i == j);
      EXPECT_EQ(aliased(Kokkos::subview(parent, i, Kokkos::ALL), Kokkos::subview(parent, j, Kokkos::ALL)),
                i == j);
    }
}

TEST(Aliased, IsExactForSubviewsOfOneView) {
  expect_exact_aliasing(HostView<double**, Kokkos::LayoutLeft>("left", 6, 5));
  expect_exact_aliasing(HostView<double**, Kokkos::LayoutRight>("right", 6, 5));
  expect_exact_aliasing(HostView<Cf**, Kokkos::LayoutRight>("right", 6, 5));
}

TEST(Aliased, DetectsOtherOverlaps) {
  const HostView<double*, Kokkos::LayoutLeft> memory("memory", 40);
  const HostView<double*, Kokkos::LayoutLeft> other("other", 40);
  EXPECT_FALSE(aliased(memory, other));
  EXPECT_TRUE(aliased(memory, memory));
  const HostView<const double*, Kokkos::LayoutLeft> const_memory = memory;
  EXPECT_TRUE(aliased(const_memory, memory));
  // Subviews, and the same memory with another type.
  const Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> as_float(
      reinterpret_cast<float*>(memory.data() + 20), 4);
  EXPECT_TRUE(aliased(memory, as_float));
  EXPECT_FALSE(aliased(Kokkos::subview(memory, std::make_pair(0, 20)), as_float));
  EXPECT_FALSE(aliased(Kokkos::subview(memory, std::make_pair(22, 40)), as_float));
  // Adjacent ranges, and Views without elements.
  EXPECT_FALSE(aliased(Kokkos::subview(memory, std::make_pair(0, 20)),
                       Kokkos::subview(memory, std::make_pair(20, 40))));
  EXPECT_FALSE(aliased(Kokkos::subview(memory, std::make_pair(5, 5)), memory));
  // A stride of 2 and a stride of 1 over the same range.
  const HostView<double**, Kokkos::LayoutRight> pairs("pairs", 10, 2);
  const Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> all(pairs.data(),
                                                                                              20);
  EXPECT_TRUE(aliased(Kokkos::subview(pairs, Kokkos::ALL, 0), all));
}

/// Expects the entries 0, 1, ... of a row to be shared by the lanes in turns, for rows up to the longest
/// ones.
template <class Length>
void expect_turns(Length longest) {
  for (int log2_lanes = 0; log2_lanes <= 5; ++log2_lanes)
    for (int lane = 0; lane < 1 << log2_lanes; ++lane) {
      for (Length length = 0; length < 100; ++length) {
        Length expected = 0;
        for (Length entry = lane; entry < length; entry += Length(1) << log2_lanes)
          ++expected;
        EXPECT_EQ(entries_of_lane(length, lane, log2_lanes), expected) << length << " entries, lane " << lane;
      }
      for (int less = 0; less < 100; ++less) {
        const Length length = longest - less;
        const Length lanes = Length(1) << log2_lanes;
        const Length expected = length / lanes + (lane < length % lanes ? 1 : 0);
        EXPECT_EQ(entries_of_lane(length, lane, log2_lanes), expected) << length << " entries, lane " << lane;
      }
    }
}

TEST(EntriesOfLane, DoNotOverflow) {
  expect_turns(std::numeric_limits<std::int32_t>::max());
  expect_turns(std::numeric_limits<std::int64_t>::max());
  // The compiler refuses an overflow in a constant.
  static_assert(entries_of_lane(std::numeric_limits<std::int32_t>::max(), 0, 5) == 67108864, "");
  static_assert(entries_of_lane(std::numeric_limits<std::int32_t>::max(), 31, 5) == 67108863, "");
}

/// Kernels add the entries of a batch and the lanes of a team to the length of a row.
TEST(LargestCount, LeavesRoomForSumsOfKernels) {
  static_assert(largest_count<short> == 32767, "");
  static_assert(largest_count<int> == 2147482624, "");
  static_assert(largest_count<std::uint32_t> == 2147482624, "");
  static_assert(largest_count<std::int64_t> == std::numeric_limits<std::int64_t>::max() - 1023, "");
}

TEST(AllFormats, HaveDistinctNames) {
  std::set<std::string> names;
  int count = 0;
  Filigree::for_each_format(Filigree::AllFormats(), [&](auto format) {
    using Matrix =
        typename decltype(format)::template matrix<double, int, Kokkos::DefaultExecutionSpace::device_type,
                                                   void, int>;
    static_assert(Filigree::MatrixTraits<Matrix>::is_matrix, "");
    names.insert(Filigree::MatrixTraits<Matrix>::name());
    ++count;
  });
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
  EXPECT_GE(count, 3);
}

}  // namespace
