// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Labels of matrices in the names that profilers see.
#include <filigree/grid/stencil_problem.hpp>
#include <filigree/tune/optimize.hpp>
#include <limits>
#include <thread>

#include "../support/formats.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {

using Strings = std::vector<std::string>;

/// The names of Filigree without `ending`. Names of vectors and of workspaces, which matrices share, do not
/// count.
Strings without(const Strings& names, const std::string& ending) {
  Strings result;
  for (const auto& name : names)
    if (name.find("Filigree::") != std::string::npos && name.find("[vector]") == std::string::npos &&
        name.find("[all]") == std::string::npos && name.find(ending) == std::string::npos)
      result.push_back(name);
  return result;
}

template <class Case>
class Labels : public testing::Test {};
TYPED_TEST_SUITE(Labels, AllFormatsOf<double>, CaseName);

TYPED_TEST(Labels, AreInAllNames) {
  const auto host = suited<TypeParam>(scattered<double>(20, 20, 4));
  const auto crs = device_crs(host);
  const auto new_values = device_crs(suited<TypeParam>(with_new_values(host, 1)));
  Kokkos::View<double*, Device> x("x", 20), y("y", 20);
  for (const auto& variant : all_variants<TypeParam>()) {
    SCOPED_TRACE(variant.name);
    auto options = any_padding(1, variant.options);
    const auto plain = TypeParam::convert_with(crs, options);
    Kokkos::fence();
    options.label = "pressure, level 2";
    const KokkosRecorder recorder;
    const KokkosEvents& events = recorder.events();
    const std::string label = ":pressure, level 2]";
    const std::string convert = "Filigree::convert[" + std::string(TypeParam::Traits::name()) + label;
    {
      const auto A = TypeParam::convert_with(crs, options);
      EXPECT_EQ(events.regions.front(), convert);
      Filigree::refill(A, new_values);
      const auto again = Filigree::to_crs(A);
      Filigree::check(A);
      const auto diagonal = Filigree::diagonal(A);
      if constexpr (!is_kokkos_kernels_v<TypeParam>) {
        EXPECT_EQ(A.label(), options.label);
        // A copy has the label too.
        std::decay_t<decltype(A)> copy;
        copy = A;
        for (const Mode mode : all_modes)
          Filigree::spmv(mode, 2.0, copy, x, 0.5, y);
        EXPECT_EQ(without(events.regions, label), Strings());
        EXPECT_EQ(without(events.kernels, label), Strings());
        EXPECT_EQ(without(events.allocations, label), Strings());
        EXPECT_GE(events.regions.size(), 9u);
        EXPECT_GE(events.kernels.size(), 7u);
      } else {
        // The classes of Kokkos Kernels cannot keep the label: only the conversion has it.
        EXPECT_EQ(events.regions.size(), 5u);
      }
    }
    // A matrix without a label has the usual names, also after one with a label.
    const std::size_t regions = events.regions.size();
    const std::size_t kernels = events.kernels.size();
    Filigree::refill(plain, new_values);
    Filigree::spmv("N", 2.0, plain, x, 0.5, y);
    // Kokkos Kernels may open a region of its own within that of the product.
    ASSERT_GE(events.regions.size(), regions + 2);
    EXPECT_GE(events.kernels.size(), kernels + 2);
    const std::string format = "[" + std::string(TypeParam::Traits::name()) + "]";
    EXPECT_EQ(events.regions[regions], "Filigree::refill" + format);
    EXPECT_EQ(events.regions[regions + 1], "Filigree::spmv" + format);
    if constexpr (!is_kokkos_kernels_v<TypeParam>) {
      EXPECT_EQ(plain.label(), "");
      for (std::size_t i = kernels; i < events.kernels.size(); ++i)
        EXPECT_EQ(events.kernels[i].find(label), std::string::npos) << events.kernels[i];
    }
  }
}

TYPED_TEST(Labels, EndWithAnException) {
  auto wrong_column = suited<TypeParam>(scattered<double>(20, 20, 4));
  wrong_column.rows[12].front().column = 20;
  auto options = any_padding<typename TypeParam::Options>();
  options.label = "wrong";
  EXPECT_THROW(TypeParam::convert_with(device_crs(wrong_column), options), std::invalid_argument);
  EXPECT_EQ(Filigree::Impl::label("what", "format"), "Filigree::what[format]");
}

TEST(LabelOfAnyMatrix, IsThatOfTheOptions) {
  // The first matrix suits DIA, the second CRS.
  const auto grid =
      Filigree::StencilProblem({40, 40, 1}, Filigree::Stencil::five_point(), 1).crs<Crs<double>>();
  const auto scattered_entries = device_crs(scattered<double>(1600, 1600, 9));
  Kokkos::View<double*, Device> x("x", 1600), y("y", 1600);
  Filigree::OptimizeOptions options;
  options.products = std::numeric_limits<double>::infinity();
  options.label = "flow";
  bool found_label = false;
  for (const auto& crs : {grid, scattered_entries})
    for (const bool time_best : {false, true}) {
      options.time_best = time_best;
      const KokkosRecorder recorder;
      const KokkosEvents& events = recorder.events();
      const auto A = Filigree::optimize(crs, options);
      EXPECT_EQ(A.label(), "flow");
      EXPECT_EQ(events.regions.front(), "Filigree::optimize[any:flow]");
      const bool has_label = A.visit(
          [](const auto& matrix) { return Filigree::Impl::has_label_v<std::decay_t<decltype(matrix)>>; });
      const std::size_t regions = events.regions.size();
      Filigree::spmv("N", 1.0, A, x, 0.0, y);
      ASSERT_GT(events.regions.size(), regions);
      EXPECT_EQ(events.regions[regions].find(":flow]") != std::string::npos, has_label);
      found_label = found_label || has_label;
    }
  EXPECT_TRUE(found_label);
}

TEST(LabelsOfThreads, DoNotMix) {
  Strings found(2);
  const auto work = [&](std::size_t i) {
    Filigree::Impl::LabelScope scope(i == 0 ? "first" : "second");
    found[i] = Filigree::Impl::label("what", "format");
  };
  std::thread first(work, 0), second(work, 1);
  first.join();
  second.join();
  EXPECT_EQ(found, (Strings{"Filigree::what[format:first]", "Filigree::what[format:second]"}));
}

}  // namespace FiligreeTest
