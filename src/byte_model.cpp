// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "filigree/tune/byte_model.hpp"

#include <algorithm>
#include <cmath>

#include "filigree/core/integer.hpp"
#include "filigree/formats/hybrid/hybrid_width.hpp"
#include "filigree/product/balanced_product.hpp"

namespace Filigree {

/// What a kernel costs a multiprocessor, in nanoseconds.
struct ByteModel::Kernel {
  double warp;        ///< that a warp begins, finds its rows and stores their sums
  double step;        ///< of a warp: an entry for each lane
  double wait = 137;  ///< for an entry of the row that ends last: a load takes 600 to 700, six
                      ///< are under way, then those of x
  double cache_bytes_per_second = 48e9;  ///< of sectors that reach a multiprocessor
  /// On a host, the time of its bytes is multiplied by this: rows stored by columns keep fewer loads in
  /// flight. One core, bcsstk33 and qh1484 repeated to 20M entries: ELL 2.4 and 1.6 times Kokkos Kernels'
  /// CRS, SELL 1.9 and 1.1; a 27-point grid 1.2 to 1.3.
  double host = 1;
};

/// Fitted on an H200 at 1.755 GHz to products of double with cold caches, one set of figures a kernel and
/// none a matrix: to half of a folder of 213 real matrices repeated to 20M entries and to 12 generated ones
/// (filigree_select --all FOLDER), crs_one_lane, sell_sorted, jds, jds_ell and blocks then to all of them,
/// bsr to the 25 of all that have blocks; crs_balanced and coo, since they are faster, to every second of all
/// and the generated ones. Other types and other GPUs use them as they are.
struct ByteModel::Kernels {
  /// Kokkos Kernels' CRS, T lanes a row by the mean row.
  static constexpr Kernel kokkos_kernels = {63, 3.5, 191, 20e9};
  static constexpr Kernel crs_one_lane = {55, 6};
  /// Rows begin and end inside of sectors, which are loaded for the part that is wanted.
  static constexpr Kernel crs_lanes = {65, 7.1, 116, 24e9};
  /// Shares of the entries: a step multiplies and adds 32 of them.
  static constexpr Kernel crs_balanced = {21.1, 16.7, 0, 41.5e9};
  static constexpr Kernel coo = {6.6, 27.6, 0, 41.7e9};
  static constexpr Kernel ell = {42, 9, 137, 48e9, 1.5};
  static constexpr Kernel ell_lanes = {66, 8.1, 163, 48e9, 1.5};
  /// Asks for no lengths.
  static constexpr Kernel ellpack = {48, 3, 137, 54e9, 1.5};
  static constexpr Kernel sell = {57, 6.5, 137, 48e9, 1.5};
  /// Loads a permutation, and stores sums where that says.
  static constexpr Kernel sell_sorted = {63, 6.5, 137, 48e9, 1.5};
  static constexpr Kernel sell_lanes = {80, 8.1, 163, 48e9, 1.5};
  static constexpr Kernel jds = {30, 4, 250, 48e9, 1.5};
  /// JDS with slices to look up.
  static constexpr Kernel jds_ell = {71, 5.3, 230, 48e9, 1.5};
  /// Loads of all diagonals are independent: few instructions a step.
  static constexpr Kernel diagonals = {32, 0.6, 100};
  /// On hosts 0.9 to 1.9 times as long for its bytes as CRS (7-point 64^3 of blocks of 4, a Xeon and an
  /// EPYC).
  static constexpr Kernel blocks = {35, 6.2, 302, 29e9, 1.5};
  /// Kokkos Kernels' BSR: a step is a line that the lanes of a warp touch, and a wait is for a block.
  /// (That of 4.2 and newer.) On a host blocks of 2 to 8 took 1.8 to 1.1 times as long for their bytes as
  /// CRS.
  static constexpr Kernel bsr = {14, 0.354, 553, 42e9, 1.5};
};

namespace {

/// Of a launch and the end of a kernel.
constexpr double launch_seconds = 2.5e-6;
/// Of rows that are far from each other lanes load permutation, lengths and x, and store y, in sectors of
/// their own.
constexpr double sector_bytes_of_moved_row = 244;
constexpr double warp_size = 32;
constexpr double line_bytes = 128;

double rounded_up(double value, double multiple) {
  return std::ceil(value / multiple) * multiple;
}

/// The largest of three times, and up to 20 % more where they are near to each other: kernels hide most, but
/// not all, of what takes less.
double longest_of(double a, double b, double c) {
  const double most = std::max({a, b, c});
  if (most == 0) return 0;
  const auto power = [&](double time) { return std::pow(time / most, 6); };
  return most * std::pow(power(a) + power(b) + power(c), 1.0 / 6);
}

}  // namespace

/// The ELL part of a hybrid format, and what is beyond it.
struct ByteModel::EllPart {
  double width = 0;
  double excess = 0;       ///< entries beyond the width
  double excess_rows = 0;  ///< rows that have such
  double storage_bytes = 0;
};

/// What slices of sorted rows are like.
struct ByteModel::SortedRows {
  double padding = 1;      ///< entries that they have room for, over those of the matrix
  double short_part = 0;   ///< of the slices
  double moved_bytes = 0;  ///< of sectors for rows that are far from each other
};

ByteModel::ByteModel(const MatrixStatistics& statistics, const DeviceSpeed& speed, int scalar_bytes,
                     int ordinal_bytes, int offset_bytes)
    : m_statistics(statistics),
      m_speed(speed),
      m_scalar(scalar_bytes),
      m_ordinal(ordinal_bytes),
      m_offset(offset_bytes),
      m_rows(static_cast<double>(statistics.rows)),
      m_entries(static_cast<double>(statistics.entries)) {}

/// x comes from memory once, or where the last cache does not keep it once for each million entries.
double ByteModel::x_bytes() const {
  const double once = static_cast<double>(m_statistics.columns) * m_scalar;
  return std::max(once, 32 * m_statistics.far_sectors_per_entry * m_entries);
}

/// Of x to the multiprocessors.
double ByteModel::x_sector_bytes() const {
  return 32 * m_statistics.sectors_per_entry * m_entries;
}

/// Bytes of the sectors that rows stored by columns, with so many lanes a row, have an entry in.
double ByteModel::sector_bytes(double element_bytes, int log2_lanes) const {
  const double elements = 32 / element_bytes;
  const int w = std::clamp(static_cast<int>(std::lround(std::log2(elements))) - 2, 0, 3);
  const auto t = static_cast<std::size_t>(std::min(log2_lanes, w + 2));
  // The table ends at sectors of four elements, where a complex<double> has two.
  return 32 * std::max(1.0, 4 / elements) *
         static_cast<double>(m_statistics.group_steps[static_cast<std::size_t>(w)][t]);
}

/// Steps of all warps whose rows are as they are in the matrix.
double ByteModel::steps(int log2_lanes) const {
  return static_cast<double>(m_statistics.group_steps[3][static_cast<std::size_t>(log2_lanes)]);
}

double ByteModel::seconds(const Kernel& kernel, const Work& work, bool with_vectors) const {
  const double memory =
      (work.bytes + (with_vectors ? x_bytes() + m_rows * m_scalar : 0)) / m_speed.read_bandwidth;
  if (m_speed.gpu.multiprocessors == 0) return memory * kernel.host;
  const double all = m_speed.gpu.multiprocessors;
  const double busy = longest_of(memory, work.cache_bytes / (kernel.cache_bytes_per_second * all),
                                 1e-9 * (kernel.warp * work.warps + kernel.step * work.steps) / all);
  const double wait = 1e-9 * kernel.wait * work.longest_wait;
  return (work.longest_begins ? std::hypot(busy, wait) : busy + wait) + launch_seconds;
}

/// A conversion, as reads of the CRS matrix and writes of the result; kernels that copy run at a third of the
/// bandwidth, and allocations take a part of a millisecond.
double ByteModel::conversion(double reads, double storage_bytes) const {
  return (reads * crs_bytes() + 3 * storage_bytes) / m_speed.read_bandwidth + 100e-6;
}

/// A product by shares. Rows without entries are scaled by a second kernel, but for small matrices, which
/// reads a list of them; it and the first one write the sectors of y that have rows of both in parts.
Prediction ByteModel::by_chunks(const Kernel& kernel, double matrix_bytes, double conversion_reads) const {
  const double empty_rows = static_cast<double>(m_statistics.empty_rows);
  const double parts = 64 * std::min(empty_rows, m_rows * m_scalar / 32);
  Work work;
  work.cache_bytes = matrix_bytes + x_sector_bytes();
  work.bytes = matrix_bytes + parts;
  work.warps = m_rows / warp_size;
  work.steps = m_entries / warp_size;
  Prediction result = prediction(kernel, work, matrix_bytes, conversion_reads);
  constexpr std::int64_t small = Impl::ChunkLaunch<Kokkos::DefaultExecutionSpace>::most_aligned;
  if (empty_rows > 0 && m_statistics.entries > small) {
    if (m_speed.gpu.multiprocessors > 0) result.seconds += launch_seconds;
    result.seconds += (empty_rows * m_ordinal + parts) / m_speed.read_bandwidth;
  }
  return result;
}

Prediction ByteModel::prediction(const Kernel& kernel, const Work& work, double storage_bytes,
                                 double conversion_reads) const {
  if (m_entries == 0) return {storage_bytes, 0, conversion(conversion_reads, storage_bytes)};
  return {storage_bytes, seconds(kernel, work), conversion(conversion_reads, storage_bytes)};
}

/// Kokkos Kernels' product, the lanes of a row chosen by the mean row. It is not converted.
Prediction ByteModel::predict(const CrsOptions&) const {
  int log2_lanes = 0;
  while (log2_lanes < 5 && 6 * (1 << log2_lanes) < m_statistics.mean_row())
    ++log2_lanes;
  Work work;
  work.bytes = crs_bytes();
  work.cache_bytes = work.bytes + x_sector_bytes();
  work.warps = m_rows / warp_size * (1 << log2_lanes);
  work.steps = steps(log2_lanes);
  work.longest_wait = std::ceil(static_cast<double>(m_statistics.longest_row) / (1 << log2_lanes));
  Prediction result = prediction(Kernels::kokkos_kernels, work, crs_bytes(), 0);
  result.conversion_seconds = 0;
  return result;
}

Prediction ByteModel::predict(const WrappedCrsOptions& options) const {
  if (options.kernel == CrsKernel::balanced) {
    Prediction result = by_chunks(Kernels::crs_balanced, crs_bytes(), 0);
    // Its shares are found, nothing is copied.
    result.conversion_seconds = conversion(0.3, 0);
    return result;
  }
  Impl::check_lanes_per_row("Filigree::ByteModel::predict", options.lanes_per_row);
  const int log2_lanes = Impl::log2_of(options.lanes_per_row);
  Work work;
  work.bytes = crs_bytes();
  work.warps = m_rows / warp_size * (1 << log2_lanes);
  work.steps = steps(log2_lanes);
  work.longest_wait = std::ceil(static_cast<double>(m_statistics.longest_row) / options.lanes_per_row);
  Prediction result;
  if (log2_lanes == 0) {
    // A lane takes one entry of a sector at a time, and the longer the rows are the less of them the caches
    // keep till the next.
    work.cache_bytes = work.bytes * std::clamp(m_statistics.mean_row() / 3.3, 1.0, 4.6) + x_sector_bytes();
    result = prediction(Kernels::crs_one_lane, work, crs_bytes(), 0);
  } else {
    work.cache_bytes = work.bytes + x_sector_bytes();
    result = prediction(Kernels::crs_lanes, work, crs_bytes(), 0);
  }
  result.conversion_seconds = 0;
  return result;
}

Prediction ByteModel::predict(const CooOptions&) const {
  return by_chunks(Kernels::coo, (entry_bytes() + m_ordinal) * m_entries, 2);
}

Prediction ByteModel::predict(const EllOptions& options) const {
  Impl::check_lanes_per_row("Filigree::ByteModel::predict", options.lanes_per_row);
  const int log2_lanes = Impl::log2_of(options.lanes_per_row);
  const double longest = static_cast<double>(m_statistics.longest_row);
  const double width = rounded_up(longest, options.lanes_per_row);
  const double all = width * rounded_up(m_rows, 16) * entry_bytes();
  Work work;
  work.warps = m_rows / warp_size * (1 << log2_lanes);
  work.longest_wait = std::ceil(longest / options.lanes_per_row);
  if (options.row_lengths) {
    const double lengths = m_rows * m_ordinal;
    work.bytes =
        std::min(all, sector_bytes(m_scalar, log2_lanes) + sector_bytes(m_ordinal, log2_lanes)) + lengths;
    work.steps = steps(log2_lanes);
    work.cache_bytes = work.bytes + x_sector_bytes();
    return prediction(log2_lanes == 0 ? Kernels::ell : Kernels::ell_lanes, work, all + lengths, 2);
  }
  // ELLPACK reads its padding.
  work.bytes = all;
  work.steps = work.warps * work.longest_wait;
  work.cache_bytes = work.bytes + x_sector_bytes();
  return prediction(Kernels::ellpack, work, all, 2);
}

Prediction ByteModel::predict(const SellOptions& options) const {
  Impl::check_sell_options("Filigree::ByteModel::predict", options);
  if (options.one_length_per_slice) return of_sorted_rows(Kernels::jds_ell);
  const int log2_lanes = Impl::log2_of(options.lanes_per_row);
  const bool sorted = options.sorting_window != 1;
  const double slices = std::ceil(m_rows / options.slice_height);
  const SortedRows rows = sorted_rows(options.sorting_window, log2_lanes);
  const double room = rows.padding * m_entries;
  const double column_bytes =
      options.short_columns ? m_ordinal - rows.short_part * (m_ordinal - 2) : m_ordinal;
  Work work;
  work.bytes = room * (m_scalar + column_bytes) + (sorted ? m_rows * m_ordinal : 0) +
               slices * (8 + m_ordinal + (options.short_columns ? 8 + m_ordinal : 0));
  work.cache_bytes = work.bytes + x_sector_bytes() + rows.moved_bytes;
  work.warps = m_rows / warp_size * (1 << log2_lanes);
  work.steps = room / warp_size;
  work.longest_wait = std::ceil(static_cast<double>(m_statistics.longest_row) / options.lanes_per_row);
  const double reads = (options.short_columns ? 3 : 2) + (sorted ? 1 : 0);
  const Kernel& row = sorted ? Kernels::sell_sorted : Kernels::sell;
  return prediction(log2_lanes == 0 ? row : Kernels::sell_lanes, work, work.bytes, reads);
}

/// The part of the rows that sorting as a whole takes from the neighbours of their sectors. Some have a
/// sector to themselves anyway.
double ByteModel::moved_rows() const {
  return std::max(0.0, m_statistics.moved_rows - m_scalar / 32);
}

/// Slices of 32 rows sorted in windows, of which the model knows those of 1, of 64 to 4096 and of all rows,
/// whose lengths were counted.
ByteModel::SortedRows ByteModel::sorted_rows(std::int64_t window, int log2_lanes) const {
  if (m_entries == 0) return {};
  const auto t = static_cast<std::size_t>(log2_lanes);
  // The width of a slice is rounded up to the lanes, about as in the smallest windows.
  const auto& smallest = m_statistics.sorted_padding[0];
  const SortedRows unsorted = {m_statistics.sell_padding() + smallest[t] - smallest[0],
                               m_statistics.short_slices, 0};
  const auto of_samples = [&](int w) {
    const double part = (w + 1.0) / MatrixStatistics::sorted_windows;
    return SortedRows{m_statistics.sorted_padding[static_cast<std::size_t>(w)][t],
                      unsorted.short_part + part * (m_statistics.sorted_short_slices - unsorted.short_part),
                      0};
  };
  constexpr int last = MatrixStatistics::sorted_windows - 1;
  const auto of_all = [&]() {
    const std::vector<std::int64_t>& reaching = m_statistics.rows_reaching;
    const double lanes = 1 << log2_lanes;
    double room = 0;
    double uncounted = m_entries;
    for (std::size_t k = 1; k + 1 < reaching.size(); ++k) {
      const double rows = static_cast<double>(reaching[k]);
      if ((k - 1) % (std::size_t(1) << t) == 0) room += lanes * rounded_up(rows, warp_size);
      uncounted -= rows;
    }
    // Of the rows past the last length that was counted only the longest is known, which widens its slice.
    const double past = rounded_up(static_cast<double>(m_statistics.longest_row), lanes) -
                        rounded_up(static_cast<double>(reaching.size() - 2), lanes);
    return SortedRows{
        (room + std::max(uncounted, warp_size * past)) / m_entries,
        m_statistics.columns <= 65535 ? 1 : m_statistics.sorted_short_slices * (1 - moved_rows()),
        sector_bytes_of_moved_row * moved_rows() * m_rows};
  };
  const auto between = [](const SortedRows& p, const SortedRows& q, double part) {
    return SortedRows{p.padding + part * (q.padding - p.padding),
                      p.short_part + part * (q.short_part - p.short_part),
                      p.moved_bytes + part * (q.moved_bytes - p.moved_bytes)};
  };
  const bool all_rows = window == 0 || static_cast<double>(window) >= m_rows;
  // One window of samples has them all.
  if (all_rows) return m_rows <= SellOptions::sorted_window ? of_samples(last) : of_all();
  // Windows of 64 << w rows are at w + 1, as those of 32 are a slice, which sorting changes nothing about.
  const double at = std::log2(std::max(static_cast<double>(window), warp_size) / warp_size);
  if (at == 0) return unsorted;
  if (at > last + 1) {
    const double all = std::log2(m_rows / warp_size);
    return between(of_samples(last), of_all(), (at - last - 1) / (all - last - 1));
  }
  const int larger = static_cast<int>(std::ceil(at)) - 1;
  return between(larger == 0 ? unsorted : of_samples(larger - 1), of_samples(larger), at - larger);
}

/// Rows sorted as a whole: those of one length are neighbours, from all over the matrix.
Prediction ByteModel::of_sorted_rows(const Kernel& kernel) const {
  const std::vector<std::int64_t>& reaching = m_statistics.rows_reaching;
  double counted = 0;
  double steps = 0;
  for (std::size_t k = 1; k + 1 < reaching.size(); ++k) {
    counted += static_cast<double>(reaching[k]);
    steps += std::ceil(static_cast<double>(reaching[k]) / warp_size);
  }
  Work work;
  work.bytes = entry_bytes() * m_entries + m_rows * m_ordinal;
  work.cache_bytes = work.bytes + x_sector_bytes() + (61 + sector_bytes_of_moved_row * moved_rows()) * m_rows;
  work.warps = m_rows / warp_size;
  work.steps = steps + std::max(0.0, m_entries - counted) / warp_size;
  work.longest_wait = static_cast<double>(m_statistics.longest_row);
  work.longest_begins = true;
  return prediction(kernel, work, work.bytes, 9);
}

Prediction ByteModel::predict(const JdsOptions&) const {
  return of_sorted_rows(Kernels::jds);
}

/// The ELL part that a rule gives; bytes(width, entries beyond, rows beyond) is what the matrix takes.
template <class Bytes>
ByteModel::EllPart ByteModel::ell_part(HybridWidth rule, std::int64_t width, const Bytes& bytes) const {
  Impl::check_hybrid_width("Filigree::ByteModel::predict", rule, width);
  const std::vector<std::int64_t>& reaching = m_statistics.rows_reaching;
  std::vector<double> beyond(reaching.size() - 1);
  beyond[0] = m_entries;
  for (std::size_t k = 1; k < beyond.size(); ++k)
    beyond[k] = beyond[k - 1] - static_cast<double>(reaching[k]);
  const auto part = [&](std::int64_t k) {
    const auto at = static_cast<std::size_t>(k);
    EllPart result;
    result.width = static_cast<double>(k);
    result.excess = beyond[at];
    // Of the rows past the last length that was counted all but this is known.
    const bool is_last = at + 2 == reaching.size() && k < m_statistics.longest_row;
    result.excess_rows = static_cast<double>(reaching[is_last ? at : at + 1]);
    result.storage_bytes = result.width * rounded_up(m_rows, 16) * entry_bytes() + m_rows * m_ordinal;
    return result;
  };
  const EllPart best = part(Impl::hybrid_width(
      rule, width, reaching, [&](std::int64_t k) { return bytes(part(k)); },
      [&](std::int64_t k) { return part(k).storage_bytes; }));
  // Of the widths past the last length that was counted only that of the longest row is tried.
  EllPart whole = part(0);
  whole.width = static_cast<double>(m_statistics.longest_row);
  whole.excess = whole.excess_rows = 0;
  whole.storage_bytes += whole.width * rounded_up(m_rows, 16) * entry_bytes();
  return rule == HybridWidth::least_bytes && bytes(whole) < bytes(best) ? whole : best;
}

/// Of the ELL part, as of ELL.
ByteModel::Work ByteModel::work_of(const EllPart& part) const {
  Work work;
  work.bytes = std::min(sector_bytes(m_scalar, 0) + sector_bytes(m_ordinal, 0) + m_rows * m_ordinal,
                        part.storage_bytes);
  work.cache_bytes = work.bytes + x_sector_bytes() * (1 - part.excess / m_entries);
  work.warps = m_rows / warp_size;
  work.steps = std::min(steps(0), part.width * work.warps);
  work.longest_wait = std::min(part.width, static_cast<double>(m_statistics.longest_row));
  return work;
}

Prediction ByteModel::predict(const HybOptions& options) const {
  const double coo_entry = entry_bytes() + m_ordinal;
  const EllPart part = ell_part(options.width_rule, options.width, [&](const EllPart& one) {
    return one.storage_bytes + one.excess * coo_entry;
  });
  Prediction result =
      prediction(Kernels::ell, work_of(part), part.storage_bytes + part.excess * coo_entry, 5);
  if (part.excess > 0) {
    Work coo;
    coo.bytes = part.excess * coo_entry;
    coo.cache_bytes = coo.bytes + x_sector_bytes() * part.excess / m_entries;
    coo.warps = part.excess_rows / warp_size;
    coo.steps = part.excess / warp_size;
    // The rows that are cut are joined by a launch of their own.
    if (m_speed.gpu.multiprocessors > 0) result.seconds += launch_seconds;
    result.seconds += seconds(Kernels::coo, coo, false);
  }
  return result;
}

Prediction ByteModel::predict(const HecOptions& options) const {
  const double rest_row = m_ordinal + m_offset;
  const auto bytes = [&](const EllPart& one) {
    return one.storage_bytes + one.excess * entry_bytes() + one.excess_rows * rest_row;
  };
  const EllPart part = ell_part(options.width_rule, options.width, bytes);
  Prediction result = prediction(Kernels::ell, work_of(part), bytes(part), 5);
  if (part.excess > 0) {
    // Rows that excess are lanes of warps of their own, which read both parts an entry at a time: where
    // they are far from each other a sector has one entry of the ELL part, and the rest begins and ends
    // inside of sectors.
    const double mean_rest = part.excess / part.excess_rows;
    const double apart = std::clamp(m_rows / part.excess_rows, 1.0, 4.0);
    Work rest;
    rest.bytes = part.excess * entry_bytes();
    rest.cache_bytes = rest.bytes * std::clamp(mean_rest / 3.3, 1.0, 4.6) +
                       part.excess_rows * (96 + part.width * entry_bytes() * apart) +
                       x_sector_bytes() * part.excess / m_entries;
    rest.warps = part.excess_rows / warp_size;
    // The longest of 32 rows is a few times the mean.
    rest.steps = rest.warps * (part.width + 3 * mean_rest);
    rest.longest_wait = std::min(static_cast<double>(m_statistics.longest_row) - part.width,
                                 static_cast<double>(options.long_row));
    result.seconds += seconds(Kernels::crs_one_lane, rest, false);
  }
  return result;
}

/// A lane goes through all diagonals of its row. Without a number of these there is no prediction.
Prediction ByteModel::of_diagonals(int block_size) const {
  if (block_size < 1 || block_size > MatrixStatistics::largest_block) return {};
  const auto b = static_cast<std::size_t>(block_size);
  if (m_statistics.diagonals[b] == 0 && m_entries > 0) return {};
  const double diagonals = static_cast<double>(m_statistics.diagonals[b]) * block_size;
  Work work;
  work.bytes = diagonals * m_rows * m_scalar;
  work.cache_bytes = work.bytes;
  work.warps = m_rows / warp_size;
  work.steps = diagonals * work.warps;
  work.longest_wait = diagonals;
  return prediction(Kernels::diagonals, work, work.bytes, 2);
}

Prediction ByteModel::predict(const DiaOptions&) const {
  return of_diagonals(1);
}

Prediction ByteModel::predict(const CdsOptions& options) const {
  return of_diagonals(options.block_size);
}

Prediction ByteModel::predict(const BellOptions& options) const {
  if (options.block_size < 1 || options.block_size > Impl::largest_compiled_block_size) return {};
  const auto size = static_cast<std::size_t>(options.block_size);
  const double b = options.block_size;
  const double fill = m_statistics.block_fill[size];
  // As many blocks a row as the longest row has, if its blocks fill like the others.
  const double width = fill > 0 ? std::ceil(static_cast<double>(m_statistics.longest_row) / (b * fill)) : 0;
  const double block_rows = std::ceil(m_rows / b);
  Work work;
  work.bytes = width * (b * m_rows * m_scalar + block_rows * m_ordinal);
  work.cache_bytes = work.bytes + x_sector_bytes() / b;
  work.warps = m_rows / warp_size;
  work.steps = work.warps * width * b;
  work.longest_wait = width;
  return prediction(Kernels::blocks, work, work.bytes, 12);
}

/// Kokkos Kernels' product, a lane a row, which loads the values of its blocks one after the other: what a
/// load of a warp takes is a turn of the cache for each 128-byte line that its lanes touch. Blocks of 1 are
/// multiplied as CRS.
Prediction ByteModel::predict(const BsrOptions& options) const {
  const std::int64_t b = options.block_size;
  if (b < 1 || b > MatrixStatistics::largest_block || m_statistics.rows % b != 0 ||
      m_statistics.columns % b != 0)
    return {};
  if (b == 1) {
    Prediction result = predict(CrsOptions());
    result.conversion_seconds = conversion(6, result.storage_bytes);
    return result;
  }
  const double size = static_cast<double>(b);
  const double fill = m_statistics.block_fill[static_cast<std::size_t>(b)];
  const double blocks = fill > 0 ? m_entries / (size * size * fill) : 0;
  const double block_bytes = size * size * m_scalar;
  const double block_lines = block_bytes / line_bytes;
  const bool is_aligned = std::fmod(block_bytes, line_bytes) == 0 || std::fmod(line_bytes, block_bytes) == 0;
  // Of the values of a block, of x for it and of its column.
  const double lines =
      std::min(size, is_aligned ? std::max(1.0, block_lines) : 1 + block_lines) + 1 + 1 / size;
  Work work;
  work.bytes = blocks * (block_bytes + m_ordinal) + (m_rows / size + 1) * m_offset;
  work.cache_bytes = work.bytes + x_sector_bytes();
  work.warps = m_rows / warp_size;
  work.steps = blocks * size * lines;
  work.longest_wait = fill > 0 ? static_cast<double>(m_statistics.longest_row) / (size * fill) : 0;
  return prediction(Kernels::bsr, work, work.bytes, 6);
}

}  // namespace Filigree
