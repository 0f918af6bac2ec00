// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices of every format with 64-bit ordinals and offsets.
#include "../support/formats.hpp"

namespace FiligreeTest {

template <class Case>
class WideTypes : public testing::Test {};

using WideCases = AllFormatsOf<double, std::int64_t, std::size_t>;
TYPED_TEST_SUITE(WideTypes, WideCases, CaseName);

TYPED_TEST(WideTypes, ConvertMultiplyRefillAndReturn) {
  const auto host = scattered<double>(37, 29, 7);
  const auto new_host = with_new_values(host, 3);
  for_each_variant<TypeParam>(host, 1, [&](const std::string& name, const auto& A) {
    SCOPED_TRACE(name);
    for (const Mode mode : all_modes)
      for (const int columns : {0, 3})
        EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(A, host, {mode, 1.5, 0.5, columns}));
    EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host));
    Filigree::refill(A, device_crs<typename TypeParam::Crs>(new_host));
    EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(A, new_host, {Mode::NoTranspose, 1.5, 0.5, 0}));
    Filigree::refill(A, device_crs<typename TypeParam::Crs>(host));
  });
}

}  // namespace FiligreeTest
