// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_lanes.hpp"
#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_lengths.hpp"
#include "filigree/conversion/sort_rows.hpp"
#include "filigree/formats/sell/sell_sections.hpp"

namespace Filigree::Impl {

/// Computes slice_widths, the sizes of the slices and column_offsets, with one lane per slice.
template <class Layout, class Views>
struct SellSlices {
  using ordinal_type = typename Layout::ordinal_type;
  struct Widths {};
  struct Sizes {};
  struct ShortOffsets {};

  Layout layout;
  Views crs;
  ordinal_type* slice_widths;
  std::int64_t* slice_offsets;
  std::int64_t* column_offsets = nullptr;

  KOKKOS_INLINE_FUNCTION void operator()(Widths, const std::int64_t slice) const {
    const std::int64_t first = slice << layout.log2_height;
    std::int64_t width = 0;
    for (std::int64_t i = first; i < first + (std::int64_t(1) << layout.log2_height); ++i) {
      const std::int64_t row = layout.matrix_row(i);
      const std::int64_t length = row < 0 ? 0 : crs.length(row);
      width = length > width ? length : width;
    }
    slice_widths[slice] = static_cast<ordinal_type>(round_up(width, layout.lanes()));
  }
  KOKKOS_INLINE_FUNCTION void operator()(Sizes, const std::int64_t slice) const {
    slice_offsets[slice] = static_cast<std::int64_t>(slice_widths[slice]) * layout.height(slice);
  }
  /// A scan over the slices that sums the elements with short columns, and writes column_offsets.
  KOKKOS_INLINE_FUNCTION void operator()(ShortOffsets, const std::int64_t slice, std::int64_t& short_size,
                                         const bool final) const {
    const bool is_short = layout.column_bases[slice] >= 0;
    // The slices before this one have slice_offsets[slice] elements, short_size of them with short columns.
    if (final) column_offsets[slice] = is_short ? short_size : slice_offsets[slice] - short_size;
    if (is_short) short_size += slice_offsets[slice + 1] - slice_offsets[slice];
  }
};

/// Stores the smallest column of each slice as the base of the slice, or -1 if the largest column is too far
/// from it for short columns. If rows are short, a warp processes one slice. If they are long, a team does.
/// lanes_per_row lanes of a warp process one row together.
template <class ExecutionSpace, class Layout, class Views>
struct SellBases {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = gpu ? 32 : 1;
  static constexpr int most_warps = gpu ? 32 : 1;
  using ordinal_type = typename Layout::ordinal_type;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<most_warps * lanes, 1>>;
  using member_type = typename policy_type::member_type;
  using columns_type = Kokkos::MinMaxScalar<ordinal_type>;
  using reducer_type = Kokkos::MinMax<ordinal_type>;

  Layout layout;
  Views crs;
  std::int64_t slices;
  ordinal_type* column_bases;
  int slices_per_team;
  int lanes_per_row = 1;

  SellBases(const Layout& layout_, const Views& crs_, std::int64_t slices_, double entries_per_row,
            ordinal_type* column_bases_)
      : layout(layout_),
        crs(crs_),
        slices(slices_),
        column_bases(column_bases_),
        slices_per_team(gpu && entries_per_row < 128 ? 8 : 1) {
    // A lane then reads about four entries of a row of mean length.
    while (lanes_per_row < lanes && entries_per_row > 4 * lanes_per_row)
      lanes_per_row *= 2;
  }

  policy_type policy(const ExecutionSpace& exec) const {
    return policy_type(exec, static_cast<int>((slices + slices_per_team - 1) / slices_per_team),
                       slices_per_team > 1 ? slices_per_team : most_warps, lanes);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * slices_per_team;
    if (slices_per_team > 1) {
      const std::int64_t count = slices - first < slices_per_team ? slices - first : slices_per_team;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(count)), [&](const int i) {
        const columns_type columns = columns_of(team, first + i, 0, 1);
        Kokkos::single(Kokkos::PerThread(team), [&]() { store(first + i, columns); });
      });
      return;
    }
    columns_type columns;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, most_warps),
        [&](const int warp, columns_type& mine) {
          const columns_type part = columns_of(team, first, warp, most_warps);
          mine.min_val = part.min_val < mine.min_val ? part.min_val : mine.min_val;
          mine.max_val = part.max_val > mine.max_val ? part.max_val : mine.max_val;
        },
        reducer_type(columns));
    Kokkos::single(Kokkos::PerTeam(team), [&]() { store(first, columns); });
  }

 private:
  /// The smallest and the largest column of the rows of a slice that warp `warp` of `warps` warps processes.
  KOKKOS_FORCEINLINE_FUNCTION columns_type columns_of(const member_type& team, const std::int64_t slice,
                                                      const int warp, const int warps) const {
    const std::int64_t first = slice << layout.log2_height;
    const int rows_of_warp = lanes / lanes_per_row;
    columns_type columns;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, lanes),
        [&](const int lane, columns_type& mine) {
          for (int i = warp * rows_of_warp + lane / lanes_per_row; i < 1 << layout.log2_height;
               i += warps * rows_of_warp) {
            const std::int64_t row = layout.matrix_row(first + i);
            if (row < 0) continue;
            const std::int64_t end = crs.end(row);
            for (std::int64_t k = crs.begin(row) + lane % lanes_per_row; k < end; k += lanes_per_row) {
              const ordinal_type column = crs.entries[k];
              mine.min_val = column < mine.min_val ? column : mine.min_val;
              mine.max_val = column > mine.max_val ? column : mine.max_val;
            }
          }
        },
        reducer_type(columns));
    return columns;
  }

  KOKKOS_FORCEINLINE_FUNCTION void store(const std::int64_t slice, const columns_type& columns) const {
    const bool is_empty = columns.min_val > columns.max_val;
    const bool too_wide = !is_empty && columns.max_val - columns.min_val >= short_padding;
    column_bases[slice] = too_wide ? ordinal_type(-1) : is_empty ? ordinal_type(0) : columns.min_val;
  }
};

/// Throws std::invalid_argument if the options are not valid. The message begins with `function`.
inline void check_sell_options(const char* function, const SellOptions& options) {
  check_power_of_two(function, "options.slice_height", options.slice_height, 1, 1024);
  if (options.sorting_window < 0)
    fail<std::invalid_argument>(function, ": options.sorting_window is ", options.sorting_window,
                                "; it must be a number of rows, 1 to sort nothing, or 0 to sort all rows.");
  check_lanes_per_row(function, options.lanes_per_row);
  if (options.one_length_per_slice && (options.sorting_window != 0 || options.lanes_per_row != 1))
    fail<std::invalid_argument>(function, ": options.one_length_per_slice requires sorting_window = 0 and ",
                                "lanes_per_row = 1; they are ", options.sorting_window, " and ",
                                options.lanes_per_row, ".");
}

/// Sets the widths and the offsets of the slices, and returns the number of stored elements. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t find_sell_offsets(const ExecutionSpace& exec, const Crs& crs, std::int64_t slices,
                               SellMatrix<S, O, D, M, Z>& sell) {
  using Sell = SellMatrix<S, O, D, M, Z>;
  using Slices = SellSlices<SellLayout<S, O, false>, CrsViews<S, O, Z>>;
  const char* name = sell.name();
  sell.slice_widths = allocate_view<typename Sell::entries_type>(exec, "slice_widths", name, slices);
  sell.slice_offsets = typename Sell::offsets_type(Kokkos::view_alloc(exec, label("slice_offsets", name)),
                                                   static_cast<std::size_t>(slices) + 1);
  const Slices work{SellLayout<S, O, false>(sell), CrsViews<S, O, Z>(crs), sell.slice_widths.data(),
                    sell.slice_offsets.data()};
  Kokkos::parallel_for(label("slice_widths", name), row_range<typename Slices::Widths>(exec, slices), work);
  Kokkos::parallel_for(label("slice_sizes", name), row_range<typename Slices::Sizes>(exec, slices), work);
  Kokkos::parallel_scan(label("slice_offsets", name), row_range<void>(exec, slices + 1),
                        ExclusiveSum<std::int64_t>{sell.slice_offsets.data()});
  return read_element(exec, sell.slice_offsets, static_cast<std::size_t>(slices));
}

/// Sets the column bases and the column offsets for SellOptions::short_columns, and returns the number of
/// stored elements with short columns. The slices must be set. Throws std::length_error for 2^31 slices or
/// more. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
std::int64_t find_sell_column_bases(const ExecutionSpace& exec, const Crs& crs,
                                    SellMatrix<S, O, D, M, Z>& sell) {
  using Sell = SellMatrix<S, O, D, M, Z>;
  using Views = CrsViews<S, O, Z>;
  using Layout = SellLayout<S, O, false>;
  using Slices = SellSlices<Layout, Views>;
  const char* name = sell.name();
  const std::int64_t slices = sell.numSlices();
  if (slices > std::numeric_limits<int>::max())
    fail<std::length_error>("Filigree::convert<SellMatrix>: the matrix has ", slices, " slices of ",
                            sell.slice_height(), " rows; with short columns there must be at most ",
                            std::numeric_limits<int>::max(), " slices. Make options.slice_height larger.");
  sell.column_bases = allocate_view<typename Sell::entries_type>(exec, "column_bases", name, slices);
  sell.column_offsets = allocate_view<typename Sell::offsets_type>(exec, "column_offsets", name, slices);
  const double rows = crs.numRows() > 0 ? static_cast<double>(crs.numRows()) : 1.0;
  const SellBases<ExecutionSpace, Layout, Views> bases(
      Layout(sell), Views(crs), slices, static_cast<double>(crs.nnz()) / rows, sell.column_bases.data());
  const Slices work{Layout(sell), Views(crs), sell.slice_widths.data(), sell.slice_offsets.data(),
                    sell.column_offsets.data()};
  std::int64_t short_size = 0;
  Kokkos::parallel_for(label("column_bases", name), bases.policy(exec), bases);
  Kokkos::parallel_scan(label("column_offsets", name), row_range<typename Slices::ShortOffsets>(exec, slices),
                        work, short_size);
  exec.fence();
  return short_size;
}

/// convert<SellMatrix> of a checked CRS matrix. Fences exec several times to read sizes. If the sorting
/// window is larger than 4096 rows, sorting takes 16 + 2 * sizeof(Ordinal) bytes per row. With
/// one_length_per_slice, finding the slices takes sizeof(Ordinal) bytes per entry of the longest row. Both is
/// freed before the values and columns are allocated.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const SellOptions& options,
                      SellMatrix<S, O, D, M, Z>& result) {
  using Sell = SellMatrix<S, O, D, M, Z>;
  using entries_type = typename Sell::entries_type;
  const char* function = "Filigree::convert<SellMatrix>";
  const char* name = Sell::name();
  check_sell_options(function, options);
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t height = options.slice_height;
  const std::int64_t longest = longest_row(exec, name, crs);
  check_count<O>(function, round_up(longest, options.lanes_per_row), "entries per row, padding included");
  Sell sell(crs.numRows(), crs.numCols(), static_cast<Z>(crs.nnz()), options.slice_height,
            options.lanes_per_row);
  if (options.sorting_window != 1 && rows > 0) {
    const std::int64_t window =
        options.sorting_window == 0 || options.sorting_window > rows ? rows : options.sorting_window;
    sell.permutation = rows_by_length<entries_type>(exec, name, crs, window, longest);
  }
  const std::int64_t slices = options.one_length_per_slice && rows > 0
                                  ? find_sell_sections(exec, crs, longest, sell)
                                  : (rows + height - 1) / height;
  const std::int64_t size = find_sell_offsets(exec, crs, slices, sell);
  const std::int64_t short_size = options.short_columns ? find_sell_column_bases(exec, crs, sell) : 0;

  const double bytes = static_cast<double>(sell.storage_bytes()) + static_cast<double>(size) * sizeof(S) +
                       static_cast<double>(size - short_size) * sizeof(O) +
                       static_cast<double>(short_size) * sizeof(std::uint16_t);
  check_storage<std::int64_t>(
      function, static_cast<double>(size), bytes, crs, options, [&](std::ostream& why) {
        explain_longest_row(why, crs, longest);
        why << ", and slices of " << height << " rows are as wide as their longest row";
      });
  sell.values = allocate_view<typename Sell::values_type>(exec, "values", name, size);
  sell.entries = allocate_view<entries_type>(exec, "entries", name, size - short_size);
  sell.short_entries =
      allocate_view<typename Sell::short_entries_type>(exec, "short_entries", name, short_size);
  result = sell;
  with_layout(exec, result, [&](const auto& layout) { fill_rows(exec, name, layout, crs); });
}

}  // namespace Filigree::Impl
