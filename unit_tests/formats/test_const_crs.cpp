// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CRS matrices whose Views are const, unmanaged or both, for every format.
#include "../support/formats.hpp"

namespace FiligreeTest {

using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
using Plain = Crs<double>;

/// The kinds of CRS matrices with the types of Plain. The last is the one that Kokkos Kernels uses inside.
using KindsOfCrs = std::tuple<
    Plain, KokkosSparse::CrsMatrix<const double, const int, Device, void, int>,
    KokkosSparse::CrsMatrix<double, int, Device, Unmanaged, int>,
    KokkosSparse::CrsMatrix<const double, int, Device, void, const int>,
    KokkosSparse::CrsMatrix<double, const int, ExecutionSpace, Unmanaged, int>,
    KokkosSparse::CrsMatrix<const double, const int, Device,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged | Kokkos::RandomAccess>, const int>>;

/// The plain matrix as another kind. It shares the Views.
template <class Kind>
Kind as_kind(const Plain& crs) {
  return Kind("kind", crs.numRows(), crs.numCols(), crs.nnz(), crs.values, crs.graph.row_map,
              crs.graph.entries);
}

/// Calls visit(crs) with the plain matrix as each kind.
template <class Visit>
void for_each_kind(const Plain& crs, const Visit& visit) {
  const auto call = [&](auto... kinds) { (visit(as_kind<decltype(kinds)>(crs)), ...); };
  std::apply(call, KindsOfCrs());
}

template <class Case>
class ConstCrs : public testing::Test {};
TYPED_TEST_SUITE(ConstCrs, AllFormatsOf<double>, CaseName);

TYPED_TEST(ConstCrs, IsConvertedMultipliedAndRefilled) {
  const auto host = suited<TypeParam>(scattered<double>(37, 29, 7));
  const auto new_host = suited<TypeParam>(with_new_values(host, 3));
  const auto options = any_padding<typename TypeParam::Options>();
  for_each_kind(device_crs(host), [&](const auto& crs) {
    SCOPED_TRACE(typeid(crs).name());
    const typename TypeParam::Matrix A = TypeParam::convert_kind(crs, options);
    EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host));
    EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(A, host, {Mode::NoTranspose, 1.5, 0.5, 0}));
  });
  const auto A = converted<TypeParam>(host);
  for_each_kind(device_crs(new_host), [&](const auto& crs) {
    SCOPED_TRACE(typeid(crs).name());
    Filigree::refill(A, device_crs(host));
    Filigree::refill(A, crs);
    EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(new_host));
  });
}

TYPED_TEST(ConstCrs, KeepsItsValuesIfTheResultIsRefilled) {
  const auto host = suited<TypeParam>(scattered<double>(37, 29, 7));
  const auto crs = device_crs(host);
  const auto options = any_padding<typename TypeParam::Options>();
  const auto A = TypeParam::convert_kind(
      as_kind<KokkosSparse::CrsMatrix<const double, const int, Device, void, int>>(crs), options);
  Filigree::refill(A, device_crs(suited<TypeParam>(with_new_values(host, 3))));
  EXPECT_EQ(host_matrix(crs), host);
}

TEST(ConstCrsMatrix, IsMultipliedAndReturned) {
  const auto host = scattered<double>(37, 29, 7);
  for_each_kind(device_crs(host), [&](const auto& crs) {
    SCOPED_TRACE(typeid(crs).name());
    for (const Mode mode : all_modes)
      for (const int columns : {0, 3})
        EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(crs, host, {mode, 1.5, 0.5, columns}));
    const auto again = Filigree::to_crs(crs);
    EXPECT_EQ(again.values.data(), crs.values.data());
    EXPECT_EQ(host_matrix(again), host);
  });
}

/// CrsMatrix and WrappedCrsMatrix share what they may write to and copy what is const.
template <template <class, class, class, class, class> class Format>
void expect_shared_views(const Plain& crs) {
  const auto share_values = [&](const auto& kind) {
    const auto again = Filigree::to_crs(Filigree::convert<Format>(kind));
    EXPECT_EQ(again.graph.row_map.data(), crs.graph.row_map.data());
    EXPECT_EQ(again.values.data() == crs.values.data(),
              (!std::is_const_v<typename decltype(kind.values)::value_type>));
    EXPECT_EQ(again.graph.entries.data() == crs.graph.entries.data(),
              (!std::is_const_v<typename decltype(kind.graph.entries)::value_type>));
  };
  for_each_kind(crs, share_values);
}

TEST(ConstCrsMatrix, IsSharedUnlessConst) {
  const auto crs = device_crs(scattered<double>(37, 29, 7));
  expect_shared_views<Filigree::CrsMatrix>(crs);
  expect_shared_views<Filigree::WrappedCrsMatrix>(crs);
}

}  // namespace FiligreeTest
