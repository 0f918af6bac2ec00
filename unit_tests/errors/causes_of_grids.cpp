// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/grid/stencil_problem.hpp>

#include "../support/host_matrix.hpp"
#include "causes.hpp"

namespace FiligreeTest {

namespace {
/// Coefficients that are different on each call.
struct Changing {
  Kokkos::View<int*, Device> calls;
  KOKKOS_FUNCTION double operator()(std::int64_t, std::int64_t, int, int) const {
    return Kokkos::atomic_fetch_add(&calls(0), 1);
  }
};
}  // namespace

Causes causes_of_grids() {
  using namespace Filigree;
  using Cells = std::array<std::int64_t, 3>;
  constexpr int lowest = std::numeric_limits<int>::lowest();
  const auto problem = [](const Cells& cells, const Stencil& stencil, int dof = 1,
                          const Boundaries& boundaries = {}) {
    return [=]() { StencilProblem<>(cells, stencil, dof, boundaries); };
  };
  const auto five = Stencil::five_point();
  const std::int64_t large = std::int64_t(1) << 31;
  return {
      {"stencil-box", []() { Stencil::box(4); }},
      {"stencil-box", []() { Stencil::box(2, -1); }},
      {"stencil-box-points", []() { Stencil::box(3, 1000); }},
      {"grid-cells", problem({4, 0, 1}, five)},
      {"grid-dof", problem({4, 4, 1}, five, 0)},
      {"grid-rule", problem({4, 4, 1}, five, 1, {Boundary{static_cast<BoundaryRule>(9)}, {}, {}})},
      {"grid-wrap", problem({2, 4, 1}, five, 1, {Boundary::wrap(), {}, {}})},
      {"grid-point-twice", problem({4, 4, 1}, Stencil{{{0, 0, 0}, {1, -1, 0}, {1, -1, 0}}})},
      {"grid-point-distance", problem({4, 4, 1}, Stencil{{{0, lowest, 0}}})},
      {"grid-points", []() { throw NotHere{"2^31 points take 26 GB"}; }},
      {"grid-rows", problem({large, large, 2}, five)},
      {"grid-entries", problem({large, large, 1}, five)},
      {"grid-types",
       [=]() {
         StencilProblem<>({40000, 1, 1}, five, 1).crs<Crs<double, short>>();
       }},
      {"grid-types",
       [=]() {
         StencilProblem<>({4000, 4, 1}, five, 8).cds<CdsMatrix<double, int, Device, void, short>>();
       }},
      {"grid-parts",
       []() {
         GridParts::slabs({4, 4, 4}, 0);
       }},
      {"grid-parts",
       []() {
         GridParts::blocks({4, 0, 4}, 2);
       }},
      {"grid-changes",
       []() {
         const Changing changing{Kokkos::View<int*, Device>("calls", 1)};
         StencilProblem<Changing>({4, 4, 1}, Stencil::five_point(), 1, changing)
             .dict_cds<DictCdsMatrix<double, int, Device, void, int>>();
       }},
      {"grid-one-sided",
       []() {
         StencilProblem<>({4, 4, 1}, Stencil{{{0, 0, 0}, {1, 0, 0}}}, 1)
             .sym_cds<SymCdsMatrix<double, int, Device, void, int>>();
       }},
      {"grid-bytes",
       [=]() {
         StencilProblem<>({large, large / 4, 1}, Stencil{{{0, 0, 0}}}, 1)
             .right_hand_side<Kokkos::View<double*, Device>>();
       }},
  };
}

}  // namespace FiligreeTest
