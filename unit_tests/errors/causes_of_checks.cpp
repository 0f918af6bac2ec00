// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/check.hpp>
#include <filigree/convert.hpp>
#include <filigree/scaled.hpp>

#include "../support/host_matrix.hpp"
#include "causes.hpp"

namespace FiligreeTest {
namespace {

using namespace Filigree;

template <template <class, class, class, class, class> class Format>
using Of = Format<double, int, Device, void, int>;

/// A View with the given elements.
template <class View>
void set(View& view, const std::vector<std::int64_t>& list) {
  view = device_list<View>(list);
}

/// The 4 x 4 matrix of the class comments.
Crs<double> example() {
  HostMatrix<double> host(4, 4);
  host.rows = {{{0, 3}, {2, 1}}, {}, {{1, 2}, {2, 4}, {3, 1}}, {{0, 1}, {3, 1}}};
  return device_crs(host);
}

/// Adds a cause: check() of the example in a format, after `spoil` has changed it.
template <template <class, class, class, class, class> class Format, class Spoil>
void add(Causes& causes, const char* row, const convert_options_t<Format, Crs<double>>& options,
         const Spoil& spoil) {
  causes.push_back({row, [=]() {
                      auto A = convert<Format>(example(), options);
                      check(A);
                      spoil(A);
                      check(A);
                    }});
}

void add_ell(Causes& causes) {
  using Ell = Of<EllMatrix>;
  const auto spoil = [&](const char* row, auto change) { add<EllMatrix>(causes, row, {}, change); };
  spoil("check-extents", [](Ell& A) { A = Ell(-4, 4, 7, 3, 16, A.values, A.entries, A.row_lengths); });
  spoil("check-number", [](Ell& A) { A = Ell(4, 4, 8, 3, 16, A.values, A.entries, A.row_lengths); });
  spoil("check-power-of-two", [](Ell& A) { A = Ell(4, 4, 7, 3, 16, A.values, A.entries, A.row_lengths, 3); });
  spoil("check-ell-width", [](Ell& A) { A = Ell(4, 4, 7, 3, 16, A.values, A.entries, A.row_lengths, 2); });
  spoil("check-ell-stride", [](Ell& A) { A = Ell(4, 4, 7, 3, 8, A.values, A.entries, A.row_lengths); });
  spoil("check-size", [](Ell& A) { A.values = shorter(A.values); });
  spoil("check-element", [](Ell& A) { A.row_lengths = changed(A.row_lengths, 1, 4); });
  spoil("check-column", [](Ell& A) { A.entries = changed(A.entries, 18, 4); });
  spoil("check-column", [](Ell& A) { A.row_lengths = changed(A.row_lengths, 0, 3); });
  spoil("check-padding", [](Ell& A) { A.entries = changed(A.entries, 1, 2); });
  spoil("check-padding-value", [](Ell& A) { A.values = changed(A.values, 1, 5); });
}

void add_sell(Causes& causes) {
  using Sell = Of<SellMatrix>;
  SellOptions options;
  options.slice_height = 2;
  const auto spoil = [&](const char* row, auto change) { add<SellMatrix>(causes, row, options, change); };
  spoil("check-power-of-two", [](Sell& A) { A = Sell(4, 4, 7, 3, 1); });
  spoil("check-element", [](Sell& A) { A.slice_offsets = changed(A.slice_offsets, 0, 1); });
  spoil("check-element", [](Sell& A) { A.slice_offsets = changed(A.slice_offsets, 2, 11); });
  spoil("check-not-decreasing", [](Sell& A) { A.slice_offsets = changed(A.slice_offsets, 1, 11); });
  spoil("check-sell-offsets", [](Sell& A) { A.slice_offsets = changed(A.slice_offsets, 1, 5); });
  spoil("check-sell-width", [](Sell& A) {
    Sell two_lanes(4, 4, 7, 2, 2);
    two_lanes.values = A.values;
    two_lanes.entries = A.entries;
    two_lanes.slice_offsets = A.slice_offsets;
    two_lanes.slice_widths = A.slice_widths;
    A = two_lanes;
  });
  options.short_columns = true;
  spoil("check-sell-base", [](Sell& A) { A.column_bases = changed(A.column_bases, 1, -2); });
  spoil("check-sell-start", [](Sell& A) { A.column_offsets = changed(A.column_offsets, 1, 5); });
  spoil("check-sell-start", [](Sell& A) { A.column_bases = changed(A.column_bases, 1, -1); });
  options.short_columns = false;
  options.sorting_window = 0;
  spoil("check-permutation", [](Sell& A) { A.permutation = changed(A.permutation, 1, 2); });
  options.one_length_per_slice = true;
  spoil("check-sell-rows", [](Sell& A) { A.slice_rows = changed(A.slice_rows, 1, 0); });
}

void add_jds(Causes& causes) {
  using Jds = Of<JdsMatrix>;
  const auto spoil = [&](const char* row, auto change) { add<JdsMatrix>(causes, row, {}, change); };
  spoil("check-permutation", [](Jds& A) { set(A.permutation, {2, 0, 3, 3}); });
  spoil("check-jds-empty", [](Jds& A) { set(A.diagonal_offsets, {}); });
  spoil("check-jds-first", [](Jds& A) { set(A.diagonal_offsets, {0, 5, 6, 7}); });
  spoil("check-jds-longer", [](Jds& A) { set(A.diagonal_offsets, {0, 2, 6, 7}); });
}

void add_hybrids(Causes& causes) {
  using Hyb = Of<HybMatrix>;
  using Hec = Of<HecMatrix>;
  HybOptions hyb_options;
  HecOptions hec_options;
  hyb_options.width_rule = hec_options.width_rule = HybridWidth::given;
  hyb_options.width = hec_options.width = 2;
  const auto spoil_hyb = [&](const char* row, auto change) {
    add<HybMatrix>(causes, row, hyb_options, change);
  };
  const auto spoil_hec = [&](const char* row, auto change) {
    add<HecMatrix>(causes, row, hec_options, change);
  };
  spoil_hyb("check-column", [](Hyb& A) { A.ell.entries = changed(A.ell.entries, 0, 9); });
  spoil_hyb("check-number", [](Hyb& A) { A = Hyb(7, 4, A.ell, A.coo); });
  spoil_hyb("check-hyb-excess", [](Hyb& A) { set(A.coo.rows, {3}); });
  spoil_hyb("check-part", [](Hyb& A) {
    A.coo = Of<CooMatrix>(5, 4, A.coo.values, A.coo.entries, A.coo.rows, A.coo.empty_rows, A.coo.chunks);
  });
  spoil_hec("check-hec-excess", [](Hec& A) { set(A.excess_rows, {0}); });
  hec_options.width = 1;
  hec_options.long_row = 100;
  spoil_hec("check-ascending", [](Hec& A) { set(A.excess_rows, {0, 3, 2}); });
  // One row both as a long row and as another.
  spoil_hec("check-hec-twice", [](Hec& A) {
    A = Hec(7, 1, A.ell, A.excess_values, A.excess_entries, A.excess_rows, A.excess_row_map);
    set(A.excess_rows, {2, 0, 2});
    set(A.excess_row_map, {0, 2, 3, 5});
    A.excess_values = device_list<std::decay_t<decltype(A.excess_values)>>(std::vector<double>(5, 1.0));
    set(A.excess_entries, {0, 1, 2, 3, 0});
  });
}

void add_balanced(Causes& causes) {
  using Coo = Of<CooMatrix>;
  using Wrapped = Of<WrappedCrsMatrix>;
  const auto spoil_coo = [&](const char* row, auto change) { add<CooMatrix>(causes, row, {}, change); };
  spoil_coo("check-size", [](Coo& A) { set(A.empty_rows, {}); });
  spoil_coo("check-listed-element", [](Coo& A) { set(A.empty_rows, {2}); });
  spoil_coo("check-not-decreasing", [](Coo& A) { A.rows = changed(A.rows, 4, 1); });
  add<WrappedCrsMatrix>(causes, "check-wrapped", {}, [](Wrapped& A) { A.crs = {}; });
  add<WrappedCrsMatrix>(causes, "check-number", {}, [](Wrapped& A) { A.chunks.cut_row_count = 1; });
  // A row of several chunks.
  HostMatrix<double> host(2, 5000);
  for (std::int64_t column = 0; column < 5000; ++column)
    host.rows[1].push_back({column, 1.0});
  const auto spoil_long = [&](const char* row, auto change) {
    causes.push_back({row, [=]() {
                        auto A = convert<CooMatrix>(device_crs(host));
                        check(A);
                        change(A);
                        check(A);
                      }});
  };
  spoil_long("check-size-at-least", [](Coo& A) { set(A.chunks.cut_rows, {}); });
  spoil_long("check-chunk", [](Coo& A) {
    A.chunks.chunk_begins =
        changed(A.chunks.chunk_begins, 1, static_cast<double>(host_list(A.chunks.chunk_begins)[2]));
  });
}

void add_dense(Causes& causes) {
  using Cds = Of<CdsMatrix>;
  using Bell = Of<BellMatrix>;
  CdsOptions cds_options;
  BellOptions bell_options;
  cds_options.block_size = bell_options.block_size = 2;
  const auto spoil_cds = [&](const char* row, auto change) {
    add<CdsMatrix>(causes, row, cds_options, change);
  };
  const auto spoil_bell = [&](const char* row, auto change) {
    add<BellMatrix>(causes, row, bell_options, change);
  };
  spoil_cds("check-block-size", [](Cds& A) { A = Cds(4, 4, 7, 0, A.values, A.offsets); });
  spoil_cds("check-nonzeros", [](Cds& A) { A = Cds(4, 4, 6, 2, A.values, A.offsets); });
  spoil_cds("check-cds-value", [](Cds& A) { A.values = changed(A.values, 0, 5); });
  spoil_cds("check-ascending", [](Cds& A) { set(A.offsets, {-1, 1, 0}); });
  SymCdsOptions sym_options;
  const auto spoil_sym = [&](const char* row, auto change) {
    causes.push_back({row, [=]() {
                        HostMatrix<Kokkos::complex<double>> host(3, 3);
                        host.rows = {{{0, 1.0}, {1, 2.0}}, {{0, 2.0}, {1, 1.0}}, {{2, 1.0}}};
                        auto A = convert<SymCdsMatrix>(device_crs(host), sym_options);
                        change(A);
                        check(A);
                      }});
  };
  spoil_sym("check-hermitian-value",
            [](auto& A) { Kokkos::deep_copy(Kokkos::subview(A.values, 0), Kokkos::complex<double>(1, 1)); });
  spoil_sym("check-symmetric-nonzeros",
            [=](auto& A) { A = std::decay_t<decltype(A)>(3, 4, sym_options, A.values, A.offsets); });
  SplitCdsOptions split_options;
  split_options.block_size = 2;
  using Split = Of<SplitCdsMatrix>;
  const auto spoil_split = [&](const char* row, auto change) {
    add<SplitCdsMatrix>(causes, row, split_options, change);
  };
  spoil_split("check-split-layout", [](Split& A) {
    const auto& leading = A.leading;
    A.leading =
        typename Split::leading_type(4, 4, 7, 2, leading.values, leading.offsets, CdsLayout::components);
  });
  spoil_split("check-split-zero", [](Split& A) { Kokkos::deep_copy(Kokkos::subview(A.trailing, 0), 3); });
  causes.push_back({"check-scaled-symmetric", []() {
                      HostMatrix<double> host(2, 2);
                      host.rows = {{{0, 3}, {1, 1}}, {{0, 1}, {1, 3}}};
                      auto A = convert_scaled<SymCdsMatrix, float>(device_crs(host));
                      A.column_exponents = decltype(A.column_exponents)("exponents", 2);
                      Kokkos::deep_copy(A.column_exponents, std::int16_t(9));
                      check(A);
                    }});
  DictCdsOptions dict_options;
  dict_options.block_size = 2;
  using Dict = Of<DictCdsMatrix>;
  const auto spoil_dict = [&](const char* row, auto change) {
    add<DictCdsMatrix>(causes, row, dict_options, change);
  };
  spoil_dict("check-block-size",
             [](Dict& A) { A = Dict(4, 4, 7, 0, A.values, A.short_indices, A.indices, A.offsets); });
  spoil_dict("check-dictionary-nonzeros",
             [](Dict& A) { A = Dict(4, 4, 6, 2, A.values, A.short_indices, A.indices, A.offsets); });
  // The block of row 0 on the diagonal below the main one lies outside of the matrix.
  spoil_dict("check-dictionary-value",
             [](Dict& A) { Kokkos::deep_copy(Kokkos::subview(A.short_indices, 0), std::uint8_t(1)); });
  spoil_bell("check-bell-width", [](Bell& A) { A = Bell(4, 4, 7, 2, -1, A.values, A.block_entries); });
  spoil_bell("check-bell-ascending", [](Bell& A) { set(A.block_entries, {1, 0, 0, 1}); });
  spoil_bell("check-bell-padding", [](Bell& A) { set(A.block_entries, {0, -1, 1, 1}); });
  spoil_bell("check-bell-value", [](Bell& A) { A.block_entries = changed(A.block_entries, 3, -1); });
  spoil_bell("check-nonzeros", [](Bell& A) { A = Bell(4, 4, 6, 2, 2, A.values, A.block_entries); });
#if FILIGREE_HAS_BSR
  BsrOptions bsr_options;
  bsr_options.block_size = 2;
  add<BsrMatrix>(causes, "check-bsr-twice", bsr_options,
                 [](Of<BsrMatrix>& A) { Kokkos::deep_copy(A.graph.entries, 0); });
#else
  causes.push_back({"check-bsr-twice", []() { throw NotHere{"these Kokkos Kernels have no BsrMatrix"}; }});
#endif
}

}  // namespace

Causes causes_of_checks() {
  Causes causes;
  add_ell(causes);
  add_sell(causes);
  add_jds(causes);
  add_hybrids(causes);
  add_balanced(causes);
  add_dense(causes);
  return causes;
}

}  // namespace FiligreeTest
