// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of kernels, Views and regions that profilers see, and a check that spmv only launches kernels.
#include "../support/formats.hpp"
#include "../support/instances.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {

template <class Case>
class Tools : public testing::Test {};

TYPED_TEST_SUITE(Tools, AllFormatsOf<double>, CaseName);

/// The names that are not allowed for a format. Allowed are names of Filigree for this format, for the CRS
/// input or for vectors, and names of Kokkos itself, which begin with "Kokkos::".
std::vector<std::string> foreign(const std::vector<std::string>& names, const std::string& format) {
  std::vector<std::string> result;
  for (const auto& name : names) {
    const bool is_filigree = name.find("Filigree::") == 0 && (name.find(format) != std::string::npos ||
                                                              name.find("[crs]") != std::string::npos ||
                                                              name.find("[vector]") != std::string::npos);
    if (!is_filigree && name.find("Kokkos::") != 0) result.push_back(name);
  }
  return result;
}

using Strings = std::vector<std::string>;

TYPED_TEST(Tools, EveryNameBeginsWithFiligree) {
  if (is_kokkos_kernels_v<TypeParam>) GTEST_SKIP() << "Kokkos Kernels names its own kernels.";
  using Layout = Kokkos::LayoutLeft;
  const auto host = suited<TypeParam>(scattered<double>(20, 20, 4));
  const auto crs = device_crs(host);
  const auto new_values = device_crs(suited<TypeParam>(with_new_values(host, 1)));
  View2<double, Layout> x("x", 20, 3);
  View2<double, Layout> y("y", 20, 3);
  for (const auto& variant : all_variants<TypeParam>()) {
    SCOPED_TRACE(variant.name);
    // The first product keeps its workspace for later ones.
    Filigree::spmv("N", 2.0, TypeParam::convert_with(crs, any_padding(1, variant.options)), x, 0.5, y);
    Kokkos::fence();
    const KokkosRecorder recorder;
    {
      const auto A = TypeParam::convert_with(crs, any_padding(1, variant.options));
      for (const Mode mode : all_modes)
        Filigree::spmv(mode, 2.0, A, x, 0.5, y);
      Filigree::spmv("N", 0.0, A, x, 0.5, y);
      Filigree::refill(A, new_values);
      const auto again = Filigree::to_crs(A);
    }
    const KokkosEvents& events = recorder.events();
    const std::string format = "[" + std::string(TypeParam::Traits::name()) + "]";
    EXPECT_EQ(foreign(events.kernels, format), Strings());
    EXPECT_EQ(foreign(events.regions, format), Strings());
    EXPECT_EQ(foreign(events.allocations, format), Strings());
    EXPECT_GE(events.kernels.size(), 8u);
    EXPECT_EQ(events.regions.size(), 8u) << "expected one region per call";
    EXPECT_EQ(events.open_regions, 0);
    EXPECT_EQ(events.live_allocations, 0);
    EXPECT_EQ(events.regions.front(), "Filigree::convert" + format);
    EXPECT_EQ(events.regions[1], "Filigree::spmv" + format);
    EXPECT_EQ(events.regions[6], "Filigree::refill" + format);
    EXPECT_EQ(events.regions.back(), "Filigree::to_crs" + format);
  }
}

TYPED_TEST(Tools, SpmvOnlyLaunchesKernels) {
  if (is_kokkos_kernels_v<TypeParam>) GTEST_SKIP() << "Kokkos Kernels may fence and allocate.";
  View2<double, Kokkos::LayoutLeft> x("x", 20, 18);
  View2<double, Kokkos::LayoutLeft> y("y", 20, 18);
  for_each_variant<TypeParam>(suited<TypeParam>(scattered<double>(20, 20, 4)), 1,
                              [&](const std::string& name, const auto& A) {
                                const auto products = [&]() {
                                  for (const Mode mode : all_modes)
                                    Filigree::spmv(ExecutionSpace(), mode, 2.0, A, x, 0.5, y);
                                  Filigree::spmv(ExecutionSpace(), "N", 0.0, A, x, 0.5, y);
                                };
                                // On its first launches Kokkos may allocate scratch memory of its own.
                                products();
                                Kokkos::fence();
                                const KokkosRecorder recorder;
                                products();
                                EXPECT_EQ(recorder.events().allocations, Strings()) << name;
                                EXPECT_EQ(recorder.events().fences, Strings()) << name;
                                // Each product of 18 columns needs two launches. The product with alpha == 0
                                // needs one.
                                EXPECT_GE(recorder.events().kernels.size(), 9u) << name;
                              });
}

/// Kernels of other instances need not end before a conversion on one instance can go on.
TYPED_TEST(Tools, ConversionsFenceTheirInstanceAlone) {
  const ExecutionSpace exec = another_instance();
  const auto host = suited<TypeParam>(scattered<double>(20, 20, 4));
  const auto crs = device_crs(host);
  const auto new_values = device_crs(suited<TypeParam>(with_new_values(host, 1)));
  {
    // This recorder can see global fences, if Kokkos reports fences at all.
    const KokkosRecorder recorder;
    Kokkos::fence();
    if (recorder.events().global_fences.empty()) GTEST_SKIP() << "This Kokkos does not report fences.";
  }
  for (const auto& variant : all_variants<TypeParam>()) {
    SCOPED_TRACE(variant.name);
    const auto options = any_padding(1, variant.options);
    const auto A = TypeParam::convert_with(exec, crs, options);
    exec.fence();
    const KokkosRecorder recorder;
    const auto again = TypeParam::convert_with(exec, crs, options);
    Filigree::refill(exec, again, new_values);
    if constexpr (!is_kokkos_kernels_v<TypeParam>) Filigree::to_crs(exec, again);
    EXPECT_EQ(recorder.events().global_fences, Strings());
  }
}

TYPED_TEST(Tools, UncheckedRefillIsOneKernel) {
  if (has_dictionary_v<TypeParam> || has_halves_v<typename TypeParam::Matrix>)
    GTEST_SKIP() << "It may refuse the new values, so it writes other Views first.";
  const auto host = suited<TypeParam>(scattered<double>(20, 20, 4));
  const auto A = converted<TypeParam>(host);
  const auto crs = device_crs(host);
  Filigree::RefillOptions options;
  options.check_pattern = false;
  Kokkos::fence();
  const KokkosRecorder recorder;
  Filigree::refill(A, crs, options);
  EXPECT_EQ(recorder.events().allocations, Strings());
  EXPECT_EQ(recorder.events().fences, Strings());
  EXPECT_EQ(recorder.events().kernels.size(), 1u);
}

TYPED_TEST(Tools, ExceptionsCloseRegionsAndFreeMemory) {
  const auto host = suited<TypeParam>(scattered<double>(20, 20, 4));
  const auto A = converted<TypeParam>(host);
  const auto other_pattern = device_crs(suited<TypeParam>(scattered<double>(20, 20, 5)));
  auto wrong_column = host;
  wrong_column.rows[12].front().column = 20;
  const auto bad = device_crs(wrong_column);
  auto options = any_padding<typename TypeParam::Options>(8);
  options.max_storage_ratio = 1e-3;
  const auto large = device_crs(suited<TypeParam>(block_banded<double>(3000, 3000, 1)));
  View1<double, Kokkos::LayoutLeft> x("x", 19);
  View1<double, Kokkos::LayoutLeft> y("y", 20);

  const KokkosRecorder recorder;
  EXPECT_THROW(TypeParam::convert_with(bad, any_padding<typename TypeParam::Options>()),
               std::invalid_argument);
  EXPECT_THROW(Filigree::refill(A, other_pattern), std::invalid_argument);
  EXPECT_THROW(Filigree::spmv("N", 1.0, A, x, 0.0, y), std::invalid_argument);
  if (!is_kokkos_kernels_v<TypeParam>) {
    EXPECT_THROW(TypeParam::convert_with(large, options), std::length_error);
  }
  EXPECT_GE(recorder.events().regions.size(), 2u);
  EXPECT_EQ(recorder.events().open_regions, 0);
  EXPECT_EQ(recorder.events().live_allocations, 0);
}

}  // namespace FiligreeTest
