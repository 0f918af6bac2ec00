// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_SELL_SELL_CONVERT_HPP
#define FILIGREE_FORMATS_SELL_SELL_CONVERT_HPP

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "filigree/conversion/build_crs.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/row_copy.hpp"
#include "filigree/conversion/row_lengths.hpp"
#include "filigree/conversion/sort_rows.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/formats/sell/sell_layout.hpp"
#include "filigree/formats/sell/sell_matrix.hpp"

namespace Filigree {
namespace Impl {

/// Where slices of one length begin: at the first row of each length, and then each slice_height rows.
template <class ExecutionSpace, class Views, class Ordinal>
struct SellSections {
  using execution_space = ExecutionSpace;
  using value_type = std::int64_t;
  struct FindFirst {};
  struct Count {};
  struct List {};

  Views crs;
  const Ordinal* permutation;
  std::int64_t rows;
  std::int64_t slice_height;
  /// The first sorted row of each length.
  Ordinal* first_of_length;
  Ordinal* slice_rows;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length(std::int64_t i) const {
    const std::int64_t row = static_cast<std::int64_t>(permutation[i]);
    return crs.end(row) - crs.begin(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(FindFirst, const std::int64_t i) const {
    if (i == 0 || length(i - 1) != length(i)) first_of_length[length(i)] = static_cast<Ordinal>(i);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool begins(std::int64_t i) const {
    return (i - static_cast<std::int64_t>(first_of_length[length(i)])) % slice_height == 0;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t i, std::int64_t& count) const {
    if (begins(i)) ++count;
  }
  KOKKOS_INLINE_FUNCTION void operator()(List, const std::int64_t i, std::int64_t& count,
                                         const bool final) const {
    if (final && begins(i)) slice_rows[count] = static_cast<Ordinal>(i);
    if (begins(i)) ++count;
    if (final && i == rows - 1) slice_rows[count] = static_cast<Ordinal>(rows);
  }
};

/// The width of each slice, the elements that it takes, and where its columns are, one lane a slice.
template <class ExecutionSpace, class Sell, class Views>
struct SellSlices {
  using execution_space = ExecutionSpace;
  using ordinal_type = typename Sell::ordinal_type;
  using Rows = SellLayout<typename Sell::value_type, ordinal_type, false>;
  struct Widths {};
  struct Sizes {};
  struct ShortOffsets {};

  Rows rows;
  Views crs;
  ordinal_type* slice_widths;
  std::int64_t* slice_offsets;
  ordinal_type* column_bases;
  std::int64_t* column_offsets;

  SellSlices(const Sell& sell, const Views& crs_)
      : rows(sell),
        crs(crs_),
        slice_widths(sell.slice_widths.data()),
        slice_offsets(sell.slice_offsets.data()),
        column_bases(sell.column_bases.data()),
        column_offsets(sell.column_offsets.data()) {}

  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_row(std::int64_t slice, const Visit& visit) const {
    const std::int64_t first = slice << rows.log2_height;
    for (std::int64_t i = first; i < first + (std::int64_t(1) << rows.log2_height); ++i)
      if (rows.matrix_row(i) >= 0) visit(rows.matrix_row(i));
  }

  KOKKOS_INLINE_FUNCTION void operator()(Widths, const std::int64_t slice) const {
    std::int64_t width = 0;
    for_each_row(slice, [&](std::int64_t row) {
      const std::int64_t length = crs.end(row) - crs.begin(row);
      width = length > width ? length : width;
    });
    width = round_up(width, rows.lanes());
    slice_widths[slice] = static_cast<ordinal_type>(width);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Sizes, const std::int64_t slice) const {
    slice_offsets[slice] = static_cast<std::int64_t>(slice_widths[slice]) * rows.height(slice);
  }
  /// Elements of the slice where all slices before it have the kind of its columns, for a scan.
  KOKKOS_INLINE_FUNCTION void operator()(ShortOffsets, const std::int64_t slice, std::int64_t& short_size,
                                         const bool final) const {
    const std::int64_t size = slice_offsets[slice + 1] - slice_offsets[slice];
    const bool is_short = column_bases[slice] >= 0;
    // All slices before this one take slice_offsets[slice] elements, of which short_size are short.
    if (final) column_offsets[slice] = is_short ? short_size : slice_offsets[slice] - short_size;
    if (is_short) short_size += size;
  }
};

/// The smallest column of each slice, or -1 where the largest is too far from it: a warp a slice, or where
/// rows are long a team. Some lanes of a warp share a row.
template <class ExecutionSpace, class Rows, class Views>
struct SellBases {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int lanes = gpu ? 32 : 1;
  static constexpr int most_warps = gpu ? 32 : 1;
  using ordinal_type = typename Rows::ordinal_type;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<most_warps * lanes, 1>>;
  using member_type = typename policy_type::member_type;
  using columns_type = Kokkos::MinMaxScalar<ordinal_type>;
  using reducer_type = Kokkos::MinMax<ordinal_type>;

  Rows rows;
  Views crs;
  std::int64_t slices;
  ordinal_type* column_bases;
  int slices_per_team;
  int lanes_per_row = 1;

  SellBases(const Rows& rows_, const Views& crs_, std::int64_t slices_, double entries_per_row,
            ordinal_type* column_bases_)
      : rows(rows_),
        crs(crs_),
        slices(slices_),
        column_bases(column_bases_),
        slices_per_team(gpu && entries_per_row < 128 ? 8 : 1) {
    // A lane takes about four entries of a mean row.
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
  /// The smallest and the largest column of the rows of a slice that one of some warps looks at.
  KOKKOS_FORCEINLINE_FUNCTION columns_type columns_of(const member_type& team, const std::int64_t slice,
                                                      const int warp, const int warps) const {
    const std::int64_t place = slice << rows.log2_height;
    const int rows_of_warp = lanes / lanes_per_row;
    columns_type columns;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, lanes),
        [&](const int lane, columns_type& mine) {
          for (int i = warp * rows_of_warp + lane / lanes_per_row; i < 1 << rows.log2_height;
               i += warps * rows_of_warp) {
            const std::int64_t row = rows.matrix_row(place + i);
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
    const bool far = !is_empty && columns.max_val - columns.min_val >= short_padding;
    column_bases[slice] = far ? ordinal_type(-1) : is_empty ? ordinal_type(0) : columns.min_val;
  }
};

inline void check_sell_options(const char* function, const SellOptions& options) {
  const int height = options.slice_height;
  if (height < 1 || height > 1024 || (height & (height - 1)) != 0)
    fail<std::invalid_argument>(function, ": options.slice_height is ", height,
                                "; it must be a power of two from 1 to 1024.");
  if (options.sorting_window < 0)
    fail<std::invalid_argument>(function, ": options.sorting_window is ", options.sorting_window,
                                "; it must be a number of rows, 1 for no sorting or 0 for all rows.");
  check_lanes_per_row(function, options.lanes_per_row);
  if (options.one_length_per_slice && (options.sorting_window != 0 || options.lanes_per_row != 1))
    fail<std::invalid_argument>(function, ": options.one_length_per_slice goes with sorting_window = 0 and ",
                                "lanes_per_row = 1; they are ", options.sorting_window, " and ",
                                options.lanes_per_row, ".");
}

/// convert<SellMatrix>, its input checked. Fences exec to learn the number of padded entries, and, where rows
/// are sorted or columns short, some more times. Sorting in windows of more than 4096 rows takes 24 bytes a
/// row, 32 with 64-bit ordinals, while it runs.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const SellOptions& options,
                      SellMatrix<S, O, D, M, Z>& result) {
  using Sell = SellMatrix<S, O, D, M, Z>;
  using Views = CrsViews<S, O, Z>;
  using Slices = SellSlices<ExecutionSpace, Sell, Views>;
  using Sections = SellSections<ExecutionSpace, Views, O>;
  using entries_type = typename Sell::entries_type;
  using offsets_type = typename Sell::offsets_type;
  const char* name = Sell::name();
  check_sell_options("Filigree::convert<SellMatrix>", options);
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const std::int64_t height = options.slice_height;
  const std::int64_t longest = longest_row(exec, name, crs);
  Sell sell(crs.numRows(), crs.numCols(), static_cast<Z>(crs.nnz()), options.slice_height,
            options.lanes_per_row);

  if (options.sorting_window != 1 && rows > 0) {
    const std::int64_t window =
        options.sorting_window == 0 || options.sorting_window > rows ? rows : options.sorting_window;
    sell.permutation = rows_by_length<entries_type>(exec, name, crs, window, longest);
  }

  std::int64_t slices = (rows + height - 1) / height;
  if (options.one_length_per_slice && rows > 0) {
    const auto first_of_length = allocate_view<entries_type>(exec, "first_of_length", name, longest + 1);
    Sections sections{Views(crs), sell.permutation.data(), rows, height, first_of_length.data(), nullptr};
    Kokkos::parallel_for(label("sections", name), row_range<typename Sections::FindFirst>(exec, rows),
                         sections);
    Kokkos::parallel_reduce(label("count_slices", name), row_range<typename Sections::Count>(exec, rows),
                            sections, slices);
    exec.fence();
    sell.slice_rows = allocate_view<entries_type>(exec, "slice_rows", name, slices + 1);
    sections.slice_rows = sell.slice_rows.data();
    Kokkos::parallel_scan(label("slice_rows", name), row_range<typename Sections::List>(exec, rows),
                          sections);
    exec.fence();
  }

  sell.slice_widths = allocate_view<entries_type>(exec, "slice_widths", name, slices);
  sell.slice_offsets = offsets_type(Kokkos::view_alloc(exec, label("slice_offsets", name)),
                                    static_cast<std::size_t>(slices) + 1);
  {
    const Slices work(sell, Views(crs));
    Kokkos::parallel_for(label("slice_widths", name), row_range<typename Slices::Widths>(exec, slices), work);
    Kokkos::parallel_for(label("slice_sizes", name), row_range<typename Slices::Sizes>(exec, slices), work);
    Kokkos::parallel_scan(label("slice_offsets", name), row_range<void>(exec, slices + 1),
                          ExclusiveSum<ExecutionSpace, std::int64_t>{sell.slice_offsets.data()});
  }
  exec.fence();
  const std::int64_t size = read_element(sell.slice_offsets, static_cast<std::size_t>(slices));
  std::int64_t short_size = 0;
  if (options.short_columns) {
    if (slices > std::numeric_limits<int>::max())
      fail<std::length_error>("Filigree::convert<SellMatrix>: the matrix has ", slices, " slices of ", height,
                              " rows; with short columns there must be at most ",
                              std::numeric_limits<int>::max(), ": make options.slice_height larger.");
    sell.column_bases = allocate_view<entries_type>(exec, "column_bases", name, slices);
    sell.column_offsets = allocate_view<offsets_type>(exec, "column_offsets", name, slices);
    const Slices work(sell, Views(crs));
    using Rows = SellLayout<S, O, false>;
    using Bases = SellBases<ExecutionSpace, Rows, Views>;
    const Bases bases(Rows(sell), Views(crs), slices,
                      static_cast<double>(crs.nnz()) / static_cast<double>(std::max<std::int64_t>(rows, 1)),
                      sell.column_bases.data());
    Kokkos::parallel_for(label("column_bases", name), bases.policy(exec), bases);
    Kokkos::parallel_scan(label("column_offsets", name),
                          row_range<typename Slices::ShortOffsets>(exec, slices), work, short_size);
    exec.fence();
  }

  const double bytes = static_cast<double>(sell.storage_bytes()) + static_cast<double>(size) * sizeof(S) +
                       static_cast<double>(size - short_size) * sizeof(O) +
                       static_cast<double>(short_size) * sizeof(std::uint16_t);
  check_storage<std::int64_t>("Filigree::convert<SellMatrix>", static_cast<double>(size), bytes, crs, options,
                              [&](std::ostream& why) {
                                explain_longest_row(why, crs, longest);
                                why << ", and slices of " << height << " rows are as wide as their longest";
                              });
  sell.values = allocate_view<typename Sell::values_type>(exec, "values", name, size);
  sell.entries = allocate_view<entries_type>(exec, "entries", name, size - short_size);
  sell.short_entries =
      allocate_view<typename Sell::short_entries_type>(exec, "short_entries", name, short_size);
  result = sell;
  with_layout(exec, result, [&](const auto& stored) { fill_rows(exec, name, stored, crs); });
}

}  // namespace Impl
}  // namespace Filigree

#endif
