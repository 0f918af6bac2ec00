// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests of DictCdsMatrix, besides those that all formats pass.
#include <filigree/grid/stencil_problem.hpp>
#include <limits>

#include "../support/errors.hpp"
#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

using DictCds = Filigree::DictCdsMatrix<double, int, Device, void, int>;
using Doubles = std::vector<double>;

DictCds dict_cds(const HostMatrix<double>& host, int block_size,
                 int max_blocks = Filigree::DictCdsOptions::most_blocks) {
  auto options = any_padding<Filigree::DictCdsOptions>(block_size);
  options.max_blocks = max_blocks;
  return Filigree::convert<Filigree::DictCdsMatrix>(device_crs(host), options);
}

/// The 4 x 4 matrix of the drawing in the class comment.
HostMatrix<double> drawing() {
  HostMatrix<double> host(4, 4);
  const double a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
  host.rows = {{{0, a}, {1, b}, {2, e}, {3, f}},
               {{0, c}, {1, d}, {2, g}, {3, h}},
               {{0, e}, {1, f}, {2, a}, {3, b}},
               {{0, g}, {1, h}, {2, c}, {3, d}}};
  return host;
}

/// A diagonal matrix whose element i is values[i].
HostMatrix<double> diagonal_matrix(const Doubles& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  HostMatrix<double> host(size, size);
  for (std::int64_t row = 0; row < size; ++row)
    host.rows[static_cast<std::size_t>(row)].push_back({row, values[static_cast<std::size_t>(row)]});
  return host;
}

/// The numbers 1 to distinct, again and again.
Doubles repeated_numbers(int count, int distinct) {
  Doubles result;
  for (int i = 0; i < count; ++i)
    result.push_back(i % distinct + 1);
  return result;
}

TEST(DictCdsLayout, MatchesTheDrawing) {
  const DictCds A = dict_cds(drawing(), 2);
  EXPECT_EQ(A.block_size(), 2);
  EXPECT_EQ(A.numBlocks(), 3);
  EXPECT_EQ(A.nnz(), 16);
  EXPECT_TRUE(A.has_short_indices());
  EXPECT_EQ(host_list(A.offsets), (std::vector<int>{-1, 0, 1}));
  EXPECT_EQ(host_list(A.values), (Doubles{0, 0, 0, 0, 5, 6, 7, 8, 1, 2, 3, 4}));
  EXPECT_EQ(host_list(A.short_indices), (std::vector<std::uint8_t>{0, 1, 2, 2, 1, 0}));
  EXPECT_EQ(A.indices.extent(0), 0u);
  EXPECT_EQ(A.storage_bytes(), 12 * sizeof(double) + 6 + 3 * sizeof(int));
}

TEST(DictCdsLayout, HasIndicesOfTwoBytesForMoreThan256Blocks) {
  for (const int distinct : {256, 257, 1000}) {
    const auto host = diagonal_matrix(repeated_numbers(1500, distinct));
    const DictCds A = dict_cds(host, 1);
    EXPECT_EQ(A.numBlocks(), distinct);
    EXPECT_EQ(A.has_short_indices(), distinct <= 256);
    EXPECT_EQ(A.short_indices.extent(0), distinct <= 256 ? 1500u : 0u);
    EXPECT_EQ(A.indices.extent(0), distinct <= 256 ? 0u : 1500u);
    Filigree::check(A);
    for (const Mode mode : all_modes)
      EXPECT_TRUE((multiplies<Kokkos::LayoutLeft>(A, host, Product<double>{mode, 2.5, -0.5, 0})));
  }
}

/// A GPU copies the dictionary to shared memory if several teams per multiprocessor have room for it. Their number
/// depends on the block size and the room on the GPU, so that one of these dictionaries needs a little too much.
TEST(DictCds, MultipliesWithSmallAndLargeDictionaries) {
  for (int distinct = 500; distinct <= 5500; distinct += 250) {
    const auto host = diagonal_matrix(repeated_numbers(distinct + 10, distinct));
    const DictCds A = dict_cds(host, 1);
    EXPECT_EQ(A.numBlocks(), distinct);
    EXPECT_TRUE((multiplies<Kokkos::LayoutLeft>(A, host, Product<double>{Mode::NoTranspose, 2.5, -0.5, 0})));
    EXPECT_TRUE((multiplies<Kokkos::LayoutLeft>(A, host, Product<double>{Mode::Transpose, 2.5, -0.5, 0})));
  }
  for (const int block_size : {2, 3, 4})
    for (int bytes = 20000; bytes <= 42000; bytes += 2000) {
      const int distinct = bytes / (8 * block_size * block_size);
      HostMatrix<double> host(distinct * block_size, distinct * block_size);
      for (int row = 0; row < distinct * block_size; ++row) {
        const int block = row / block_size;
        for (int i = 0; i < block_size; ++i)
          host.rows[static_cast<std::size_t>(row)].push_back({block * block_size + i, block + 0.5});
      }
      const DictCds A = dict_cds(host, block_size);
      EXPECT_EQ(A.numBlocks(), distinct);
      EXPECT_TRUE(
          (multiplies<Kokkos::LayoutLeft>(A, host, Product<double>{Mode::NoTranspose, 2.5, -0.5, 0})));
    }
}

TEST(DictCds, RefusesTooManyBlocks) {
  EXPECT_EQ(dict_cds(diagonal_matrix(repeated_numbers(65536, 65536)), 1).numBlocks(), 65536);
  const auto refusal = [](const HostMatrix<double>& host, int b, int max_blocks) {
    return message<std::length_error>([&]() { dict_cds(host, b, max_blocks); });
  };
  EXPECT_TRUE(holds(refusal(diagonal_matrix(repeated_numbers(65537, 65537)), 1, 65536),
                    {"convert<DictCdsMatrix>", "more than 65536 distinct blocks of 1 x 1", "CdsMatrix"}));
  EXPECT_TRUE(
      holds(refusal(drawing(), 2, 2), {"more than 2 distinct blocks of 2 x 2", "max_blocks allows 2"}));
  EXPECT_EQ(refusal(drawing(), 2, 3), "nothing");
  for (const int max_blocks : {0, 65537})
    EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { dict_cds(drawing(), 2, max_blocks); }),
                      {"options.max_blocks is " + std::to_string(max_blocks), "1 to 65536"}));
}

TEST(DictCds, StoresBlocksWithNanAndNegativeZeroOnce) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(dict_cds(diagonal_matrix({nan, 1, nan, inf, -inf, 1, nan}), 1).numBlocks(), 4);
  EXPECT_EQ(dict_cds(diagonal_matrix({0.0, -0.0, 1, 0.0}), 1).numBlocks(), 2);
}

TEST(DictCds, StoresComplexBlocksThatDifferInTheSignOfZeroOnce) {
  using Complex = Kokkos::complex<double>;
  HostMatrix<Complex> host(2, 2);
  host.rows = {{{0, Complex(1, 0.0)}}, {{1, Complex(1, -0.0)}}};
  const auto A =
      Filigree::convert<Filigree::DictCdsMatrix>(device_crs(host), any_padding<Filigree::DictCdsOptions>());
  EXPECT_EQ(A.numBlocks(), 1);
}

TEST(DictCds, RefillsUnmanagedViews) {
  using Unmanaged =
      Filigree::DictCdsMatrix<double, int, Device, Kokkos::MemoryTraits<Kokkos::Unmanaged>, int>;
  const DictCds A = dict_cds(diagonal_matrix({1, 2, 3}), 1);
  const Unmanaged view(3, 3, 3, 1, A.values, A.short_indices, A.indices, A.offsets);
  const auto host = diagonal_matrix({4, 5, 4});
  Filigree::refill(view, device_crs(host));
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host);
}

TEST(DictCdsGrid, RefusesMoreEntriesThanSizeTypeCanCount) {
  Filigree::Boundaries wrap;
  for (auto& boundary : wrap)
    boundary = Filigree::Boundary::wrap();
  const Filigree::StencilProblem<> problem({64, 64, 64}, Filigree::Stencil::seven_point(), 128, wrap);
  EXPECT_TRUE(holds(message<std::length_error>([&]() { problem.dict_cds<DictCds>(); }),
                    {"StencilProblem::dict_cds", "32-bit size_type"}));
}

/// The inverse of multiplication by an odd number, modulo 2^64, by Newton's method.
std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t result = odd;
  for (int i = 0; i < 6; ++i)
    result *= 2 - odd * result;
  return result;
}

/// The argument of random_bits() with this result.
std::uint64_t state_of_bits(std::uint64_t z) {
  z ^= z >> 31 ^ z >> 62;
  z *= inverse(0x94d049bb133111ebull);
  z ^= z >> 27 ^ z >> 54;
  z *= inverse(0xbf58476d1ce4e5b9ull);
  z ^= z >> 30 ^ z >> 60;
  return z - 0x9e3779b97f4a7c15ull;
}

/// Two different 1 x 2 blocks whose first hash is equal: {value, 0} and {0, the result}.
double value_with_the_hash_of(double value) {
  const std::uint64_t hash = Filigree::Impl::hash_of_element(value, 0, 0);
  const std::uint64_t bits = state_of_bits(hash) - Filigree::Impl::random_bits(1);
  double result = 0;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

TEST(DictCds, DistinguishesBlocksWithEqualHashes) {
  int collisions = 0;
  for (int i = 1; i < 20; ++i) {
    const double value = i;
    const double other = value_with_the_hash_of(value);
    if (std::isnan(other)) continue;
    ASSERT_EQ(Filigree::Impl::hash_of_element(value, 0, 0), Filigree::Impl::hash_of_element(other, 1, 0));
    HostMatrix<double> host(4, 4);
    host.rows[0] = {{0, value}};
    host.rows[2] = {{3, other}};
    const DictCds A = dict_cds(host, 2);
    EXPECT_EQ(A.numBlocks(), 2);
    EXPECT_EQ(host_list(A.values), (Doubles{value, 0, 0, 0, 0, other, 0, 0}));
    ++collisions;
  }
  EXPECT_GT(collisions, 10);
}

TEST(DictCds, RefillMakesANewDictionary) {
  for (const int distinct : {5, 300}) {
    const DictCds A = dict_cds(diagonal_matrix(repeated_numbers(1000, distinct)), 1);
    // Blocks that were equal become different and the other way round.
    Doubles values = repeated_numbers(1000, distinct - 1);
    for (std::size_t i = 0; i < 400; ++i)
      values[i] = -1;
    const auto host = diagonal_matrix(values);
    Filigree::refill(A, device_crs(host));
    EXPECT_EQ(A.numBlocks(), distinct);
    Filigree::check(A);
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host);
  }
}

TEST(DictCds, RefillRefusesMoreBlocksAndChangesNothing) {
  const auto host = diagonal_matrix(repeated_numbers(1000, 5));
  const DictCds A = dict_cds(host, 1);
  const auto more = device_crs(diagonal_matrix(repeated_numbers(1000, 6)));
  for (const bool check : {true, false}) {
    Filigree::RefillOptions options;
    options.check_pattern = check;
    EXPECT_TRUE(holds(message<std::invalid_argument>([&]() { Filigree::refill(A, more, options); }),
                      {"Filigree::refill", "more than 5 distinct blocks of 1 x 1", "room for 5"}));
    EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host);
  }
}

/// The coefficients of a grid whose blocks repeat every three cells.
struct Repeating {
  /// If it has an element, each call adds 1 to it and gives another value.
  Kokkos::View<int*, Device> calls;

  KOKKOS_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    const double value = static_cast<double>(cell % 3 + 10 * i + 100 * j) + (neighbour == cell ? 0.5 : 0.25);
    return calls.extent(0) == 0 ? value : value + Kokkos::atomic_fetch_add(&calls(0), 1);
  }
};

TEST(DictCdsGrid, EqualsTheConversion) {
  Filigree::Boundaries boundaries;
  for (const auto rule :
       {Filigree::BoundaryRule::drop, Filigree::BoundaryRule::wrap, Filigree::BoundaryRule::clamp})
    for (const int dof : {1, 2, 3, 9}) {
      boundaries[0].rule = rule;
      const Filigree::StencilProblem<Repeating> problem({5, 4, 3}, Filigree::Stencil::seven_point(), dof,
                                                        Repeating(), boundaries);
      const auto crs = problem.crs<Crs<double>>();
      const auto A = problem.dict_cds<DictCds>();
      auto options = any_padding<Filigree::DictCdsOptions>(dof);
      const auto expected = Filigree::convert<Filigree::DictCdsMatrix>(crs, options);
      Filigree::check(A);
      EXPECT_EQ(A.nnz(), expected.nnz());
      EXPECT_EQ(host_list(A.offsets), host_list(expected.offsets));
      EXPECT_EQ(host_list(A.values), host_list(expected.values));
      EXPECT_EQ(host_list(A.short_indices), host_list(expected.short_indices));
      EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host_matrix(Filigree::to_crs(expected)));
    }
}

TEST(DictCdsGrid, RefusesTooManyBlocksAndChangingCoefficients) {
  const Filigree::StencilProblem<Repeating> problem({5, 4, 3}, Filigree::Stencil::seven_point(), 2,
                                                    Repeating());
  Filigree::DictCdsOptions options;
  options.max_blocks = 6;
  EXPECT_TRUE(
      holds(message<std::length_error>([&]() { problem.dict_cds<DictCds>(ExecutionSpace(), options); }),
            {"StencilProblem::dict_cds", "more than 6 distinct blocks of 2 x 2"}));
  options.max_blocks = 7;
  EXPECT_EQ((problem.dict_cds<DictCds>(ExecutionSpace(), options)).numBlocks(), 7);
  const Filigree::StencilProblem<Repeating> changing({5, 4, 3}, Filigree::Stencil::seven_point(), 2,
                                                     Repeating{Kokkos::View<int*, Device>("calls", 1)});
  EXPECT_TRUE(holds(message<std::runtime_error>([&]() { changing.dict_cds<DictCds>(); }),
                    {"StencilProblem::dict_cds", "block row", "must be the same each time"}));
}

}  // namespace
}  // namespace FiligreeTest
