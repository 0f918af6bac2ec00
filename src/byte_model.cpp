// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "filigree/tune/byte_model.hpp"

#include <algorithm>
#include <cmath>

#include "filigree/core/integer.hpp"
#include "filigree/formats/hybrid/hybrid_width.hpp"
#include "filigree/product/balanced_product.hpp"

namespace Filigree {

/// On a host the memory time of a kernel is multiplied by one of these factors. 1 stands for the time per byte of
/// the CRS of Kokkos Kernels (see docs/performance.md, "Host factors of the byte model").
struct ByteModel::HostFactors {
  double intel = 1;  ///< if the processor is made by Intel
  double other = 1;
};

/// What a kernel costs. Times are nanoseconds of one multiprocessor.
struct ByteModel::Kernel {
  double warp;  ///< per warp: to begin, find its rows and store their sums
  double step;  ///< per step of a warp: one entry for each lane
  double wait;  ///< per entry that the lane of the longest row multiplies: the latency of its loads, of which
                ///< several are in flight
  double cache_bytes_per_second;  ///< bytes of sectors that reach one multiprocessor
  HostFactors host = {};
  /// If the last cache of a GPU holds the matrix and the vectors, the cache time, the instruction time and the wait are
  /// multiplied by this factor, because lanes then wait less for their loads.
  double cached = 1;
  double begin = 0;  ///< per product: to find rows and to join rows of two teams
};

/// The figures of all kernels, fitted to measurements (see docs/performance.md, "Figures of the byte model").
struct ByteModel::Kernels {
  /// The product of Kokkos Kernels. The mean row length decides the lanes per row.
  static constexpr Kernel kokkos_kernels = {63, 3.5, 190, 20e9, {1, 1}, 0.96};
  static constexpr Kernel crs_one_lane = {46, 6.6, 150, 62e9, {0.65, 0.7}, 0.58};
  /// Rows begin and end inside sectors. A sector is loaded whole even if a row needs only a part of it.
  static constexpr Kernel crs_lanes = {65, 7.1, 110, 24e9, {0.65, 0.7}};
  /// Chunks of equally many entries: one step multiplies and adds 32 of them.
  static constexpr Kernel crs_balanced = {16, 16, 0, 38e9, {0.75, 0.8}, 0.65, 2000};
  static constexpr Kernel coo = {13, 24, 0, 32e9, {0.75, 0.9}, 0.96, 1900};
  static constexpr Kernel ell = {46, 9.4, 125, 48e9, {1, 1.15}, 0.88};
  static constexpr Kernel ell_lanes = {65, 7.8, 145, 48e9, {1.5, 1.5}, 0.91};
  /// Reads no row lengths.
  static constexpr Kernel ellpack = {46, 3, 115, 52e9, {0.8, 1}};
  static constexpr Kernel sell = {50, 6.2, 110, 46e9, {0.75, 0.8}, 0.77};
  /// Reads the permutation and stores each sum in its matrix row.
  static constexpr Kernel sell_sorted = {58, 5.5, 140, 55e9, {0.8, 1.4}, 0.8};
  static constexpr Kernel sell_lanes = {80, 8.4, 150, 50e9, {1.5, 1.5}, 0.88};
  /// HEC with excess entries: one launch multiplies both parts.
  static constexpr Kernel hec = {99, 3.9, 168, 38e9, {0.8, 1}, 0.67};
  static constexpr Kernel jds = {30, 4, 240, 48e9, {1.2, 1.7}, 0.82};
  /// SELL with one row length per slice (JDS-ELL), whose kernel also reads the offsets of the slices.
  static constexpr Kernel jds_ell = {71, 5.3, 230, 48e9, {1.2, 1.6}, 0.77};
  /// The loads of all diagonals are independent, so that a step takes few instructions.
  static constexpr Kernel diagonals = {32, 0.6, 96, 48e9, {0.75, 0.8}, 0.56};
  static constexpr Kernel blocks = {36, 6.5, 300, 25e9, {0.85, 0.85}, 0.54};
  /// Blocks of less than four rows.
  static constexpr Kernel small_blocks = {36, 6.5, 300, 25e9, {1.2, 1.2}, 0.54};
  /// The product of Kokkos Kernels 4.2 and newer. `step` is per cache line that the lanes of a warp touch,
  /// and `wait` is per block.
  static constexpr Kernel bsr = {14, 0.354, 553, 42e9, {1.5, 1.5}, 0.5};
};

namespace {

/// Seconds of the launch and the end of a kernel.
constexpr double launch_seconds = 2.5e-6;
/// With values of up to 4 bytes in A and x, a warp or a step takes this part of its time (see docs/performance.md,
/// "Figures of the byte model").
constexpr double part_of_narrow_instructions = 0.8;
/// What short columns add to the time per warp of SELL, in nanoseconds of one multiprocessor (see docs/performance.md,
/// "Figures of the byte model").
constexpr double warp_of_short_columns = 25;
/// On hosts whose processor is not made by Intel short columns multiply the factor of SELL by this (see
/// docs/performance.md, "Host factors of the byte model").
constexpr double short_columns_on_other_processors = 1.2;
/// The time that a host loses if it predicts the length of a row wrong, in bytes from memory (see docs/performance.md,
/// "Host factors of the byte model").
constexpr double bytes_of_unpredicted_row = 100;
/// The time of each row besides that of its bytes if a host multiplies CRS in vectors, in bytes from memory.
constexpr double bytes_of_row_in_vectors = 30;
/// If the matrix and the vectors take at most this part of the last cache, the product before has left them there
/// (see docs/performance.md, "Matrices that fit the cache").
constexpr double part_of_cache = 0.8;
/// If the last cache of a GPU holds the matrix and the vectors, the memory time is multiplied by this (see
/// docs/performance.md, "Figures of the byte model").
constexpr double part_of_cached_memory = 0.62;
/// Seconds of the searches of a balanced CRS product whose chunks reach over very many rows. A search is a
/// sequence of dependent loads (see docs/performance.md, "Balanced CRS with many rows without entries").
constexpr double search_seconds = 40e-6;
/// Sorting puts the rows of SELL without entries together. The model counts this part of a warp for a warp of only such
/// rows. The figure was chosen (see docs/performance.md, "Balanced CRS with many rows without entries").
constexpr double part_of_empty_warp = 0.5;
/// Bytes of sectors per row that sorting moves away from its neighbours. The lane of the row loads the
/// permutation, the row length and x, and stores y, each in a sector that no other lane uses.
constexpr double sector_bytes_of_moved_row = 244;
constexpr double warp_size = 32;
/// Lanes of the team that multiplies a long row of HEC.
constexpr double lanes_of_long_row = 256;
constexpr double line_bytes = 128;

double rounded_up(double value, double multiple) {
  return std::ceil(value / multiple) * multiple;
}

/// The largest of three times, and up to 20 % more if they are about equal, because a kernel hides most but
/// not all of the shorter times.
double longest_of(double a, double b, double c) {
  const double most = std::max({a, b, c});
  if (most == 0) return 0;
  const auto power = [&](double time) { return std::pow(time / most, 6); };
  return most * std::pow(power(a) + power(b) + power(c), 1.0 / 6);
}

/// A CRS kernel with one lane per row loads a sector at most this often.
constexpr double most_loads_per_sector = 4.6;

/// How often a CRS kernel with one lane per row loads each sector of the matrix. A lane reads one entry of a
/// sector at a time. The longer the rows, the more sectors leave the cache before their next entry is read.
double loads_per_sector(double mean_row) {
  return std::clamp(mean_row / 3.3, 1.0, most_loads_per_sector);
}

/// The number of rows with at least `length` entries. The statistics count lengths up to a limit. Rows that reach
/// that limit count for all lengths from there to that of the longest row.
double rows_reaching(const MatrixStatistics& statistics, double length) {
  if (length > static_cast<double>(statistics.longest_row)) return 0;
  const std::vector<std::int64_t>& reaching = statistics.rows_reaching;
  const auto last = static_cast<double>(reaching.size() - 2);
  return static_cast<double>(reaching[static_cast<std::size_t>(std::min(length, last))]);
}

/// Slices of 32 rows, sorted or not.
struct SlicedRows {
  double padding = 1;      ///< stored elements per entry
  double short_part = 0;   ///< fraction of the slices with short columns
  double moved_bytes = 0;  ///< bytes of sectors for rows that lie far from their neighbours
};

/// The fraction of the rows that sorting the whole matrix separates from the row before them in their sector
/// of y. The statistics also count the first row of each sector; these rows are subtracted.
double moved_rows(const MatrixStatistics& statistics, double scalar_bytes) {
  return std::max(0.0, statistics.moved_rows - scalar_bytes / 32);
}

/// Rows sorted in windows of 64 << size rows, as the statistics sampled them; unsorted rows if size is -1.
/// The fraction of short slices is known for unsorted rows and for the largest windows, and interpolated
/// between them.
SlicedRows rows_in_sampled_windows(const MatrixStatistics& statistics, int size, std::size_t log2_lanes) {
  const double part = (size + 1.0) / MatrixStatistics::sorted_windows;
  const double unsorted = statistics.short_slices;
  const double short_part = unsorted + part * (statistics.sorted_short_slices - unsorted);
  const auto& padding = statistics.sorted_padding;
  if (size >= 0) return {padding[static_cast<std::size_t>(size)][log2_lanes], short_part, 0};
  // Slice widths are rounded up to a multiple of the lanes per row. This padding was sampled for sorted rows
  // only; here the figure of the smallest windows stands for it.
  return {statistics.sell_padding() + padding[0][log2_lanes] - padding[0][0], short_part, 0};
}

/// All rows sorted by length. Their padding follows from the row lengths, which are all counted.
SlicedRows rows_sorted_as_a_whole(const MatrixStatistics& statistics, std::size_t log2_lanes,
                                  double scalar_bytes) {
  const std::vector<std::int64_t>& reaching = statistics.rows_reaching;
  const std::size_t lanes = std::size_t(1) << log2_lanes;
  const double nnz = static_cast<double>(statistics.nnz);
  double elements = 0;
  double uncounted = nnz;
  for (std::size_t k = 1; k + 1 < reaching.size(); ++k) {
    const double rows = static_cast<double>(reaching[k]);
    if ((k - 1) % lanes == 0) elements += static_cast<double>(lanes) * rounded_up(rows, warp_size);
    uncounted -= rows;
  }
  // Of the rows beyond the last counted length only the longest is known. It widens its slice.
  const auto width = [&](auto length) {
    return rounded_up(static_cast<double>(length), static_cast<double>(lanes));
  };
  const double wider = width(statistics.longest_row) - width(reaching.size() - 2);
  const double moved = moved_rows(statistics, scalar_bytes);
  return {(elements + std::max(uncounted, warp_size * wider)) / nnz,
          statistics.columns <= 65535 ? 1 : statistics.sorted_short_slices * (1 - moved),
          sector_bytes_of_moved_row * moved * static_cast<double>(statistics.rows)};
}

/// Slices of rows that are sorted in windows. The statistics have windows of 1, of 64 to 4096 and of all
/// rows; other windows are interpolated.
SlicedRows sliced_rows(const MatrixStatistics& statistics, std::int64_t window, std::size_t log2_lanes,
                       double scalar_bytes) {
  if (statistics.nnz == 0) return {};
  const auto sampled = [&](int size) { return rows_in_sampled_windows(statistics, size, log2_lanes); };
  const auto whole = [&]() { return rows_sorted_as_a_whole(statistics, log2_lanes, scalar_bytes); };
  const auto between = [](const SlicedRows& p, const SlicedRows& q, double part) {
    return SlicedRows{p.padding + part * (q.padding - p.padding),
                      p.short_part + part * (q.short_part - p.short_part),
                      p.moved_bytes + part * (q.moved_bytes - p.moved_bytes)};
  };
  constexpr int last = MatrixStatistics::sorted_windows - 1;
  if (window == 0 || window >= statistics.rows)
    // If the matrix fits in one sampled window, that sample has all rows.
    return statistics.rows <= SellOptions::sorted_window ? sampled(last) : whole();
  // On this scale a window of 32 rows is at 0, because sorting inside a slice changes nothing, and a window
  // of 64 << size rows is at size + 1.
  const auto scale = [](std::int64_t rows) {
    return std::log2(std::max(static_cast<double>(rows), warp_size) / warp_size);
  };
  const double at = scale(window);
  if (at == 0) return sampled(-1);
  if (at > last + 1)
    return between(sampled(last), whole(), (at - last - 1) / (scale(statistics.rows) - last - 1));
  const int larger = static_cast<int>(std::ceil(at)) - 1;
  return between(sampled(larger - 1), sampled(larger), at - larger);
}

/// The warps of SELL, as a part of all warps, if a warp without entries counts as part_of_empty_warp. In each window of
/// sorted rows the warps with entries come first, and the last one of them is half full on average.
double part_of_warps(const MatrixStatistics& statistics, std::int64_t sorting_window) {
  const double rows = static_cast<double>(statistics.rows);
  const double window = sorting_window == 0 ? rows : std::min(static_cast<double>(sorting_window), rows);
  if (window <= warp_size) return 1;
  const double full = 1 - static_cast<double>(statistics.empty_rows) / rows;
  const double with_entries = std::min(1.0, full + 0.5 * warp_size / window);
  return with_entries + part_of_empty_warp * (1 - with_entries);
}

}  // namespace

/// What a kernel reads and does in one product.
struct ByteModel::Work {
  double bytes = 0;        ///< of A, from memory
  double cache_bytes = 0;  ///< of sectors of A and x that reach the multiprocessors
  double warps = 0;
  double steps = 0;               ///< of all warps
  double longest_wait = 0;        ///< entries that one lane multiplies one after the other
  bool longest_is_first = false;  ///< whether the longest rows are multiplied first
  double host_rows_bytes = 0;     ///< time of the ends of rows on a host, in bytes from memory
  double storage_bytes = 0;       ///< of A, and of what other kernels of the same product multiply
};

/// The ELL part of a hybrid format, and the excess entries.
struct ByteModel::EllPart {
  double width = 0;
  double excess = 0;       ///< entries beyond the width
  double excess_rows = 0;  ///< rows with excess entries
  double storage_bytes = 0;
  Work work = {};  ///< of the ELL part
};

ByteModel::ByteModel(const MatrixStatistics& statistics, const DeviceSpeed& speed, int scalar_bytes,
                     int ordinal_bytes, int offset_bytes, int vector_bytes)
    : m_statistics(statistics),
      m_speed(speed),
      m_scalar(scalar_bytes),
      m_ordinal(ordinal_bytes),
      m_offset(offset_bytes),
      m_vector(vector_bytes > 0 ? vector_bytes : scalar_bytes),
      m_rows(static_cast<double>(statistics.rows)),
      m_nnz(static_cast<double>(statistics.nnz)),
      m_longest_row(static_cast<double>(statistics.longest_row)) {}

/// Bytes of the sectors that contain an entry, for elements of element_bytes that are stored by columns with
/// 2^log2_lanes lanes per row.
double ByteModel::sector_bytes(double element_bytes, int log2_lanes) const {
  const double elements = 32 / element_bytes;
  const int w = std::clamp(static_cast<int>(std::lround(std::log2(elements))) - 2, 0, 3);
  const auto t = static_cast<std::size_t>(std::min(log2_lanes, w + 2));
  // The statistics begin with sectors of four elements. A sector has two elements of complex<double>.
  return 32 * std::max(1.0, 4 / elements) *
         static_cast<double>(m_statistics.group_steps[static_cast<std::size_t>(w)][t]);
}

/// The work of a kernel with 2^log2_lanes lanes per row that reads `bytes` of A.
ByteModel::Work ByteModel::row_work(double bytes, double steps, int log2_lanes) const {
  const double lanes = 1 << log2_lanes;
  return {bytes, bytes + x_sector_bytes(), m_rows / warp_size * lanes, steps,
          std::ceil(m_longest_row / lanes)};
}

double ByteModel::seconds(const Kernel& kernel, const Work& work, bool with_vectors) const {
  double bytes = work.bytes;
  const double x_bytes = static_cast<double>(m_statistics.columns) * m_vector;
  const double y_bytes = m_rows * m_vector;
  // All of x is read once. If the last cache does not hold x, every 2^20 entries read their sectors again.
  if (with_vectors) bytes += std::max(x_bytes, 32 * m_statistics.far_sectors_per_entry * m_nnz) + y_bytes;
  const double memory = bytes / m_speed.read_bandwidth;
  if (m_speed.gpu.multiprocessors == 0)
    return memory * (m_speed.vendor == ProcessorVendor::intel ? kernel.host.intel : kernel.host.other) +
           work.host_rows_bytes / m_speed.read_bandwidth;
  const double all = m_speed.gpu.multiprocessors;
  const bool is_cached = work.storage_bytes + x_bytes + y_bytes <= part_of_cache * m_speed.gpu.cache_bytes;
  const double source = is_cached ? part_of_cached_memory * memory : memory;
  const double factor = is_cached ? kernel.cached : 1;
  const double narrow = std::max(m_scalar, m_vector) <= 4 ? part_of_narrow_instructions : 1;
  const double instructions = narrow * (kernel.warp * work.warps + kernel.step * work.steps);
  const double busy = longest_of(source, factor * work.cache_bytes / (kernel.cache_bytes_per_second * all),
                                 1e-9 * factor * instructions / all);
  const double wait = 1e-9 * factor * kernel.wait * work.longest_wait;
  const double both = work.longest_is_first ? std::hypot(busy, wait) : busy + wait;
  return both + 1e-9 * kernel.begin + launch_seconds;
}

/// The time that a host loses with `rows` rows because it predicts the lengths of some of them wrong, in bytes from
/// memory.
double ByteModel::unpredicted_bytes(double rows) const {
  return bytes_of_unpredicted_row * m_statistics.unpredicted_rows * rows;
}

/// Seconds of a conversion that reads the CRS matrix `reads` times and writes the result. Writing reaches a
/// third of the bandwidth, and allocations take a constant time.
double ByteModel::conversion_seconds(double reads, double storage_bytes) const {
  return (reads * crs_bytes() + 3 * storage_bytes) / m_speed.read_bandwidth + 100e-6;
}

/// conversion_reads is the number of times that the conversion reads the CRS matrix; 0 if nothing is
/// converted.
Prediction ByteModel::predict_kernel(const Kernel& kernel, Work work, double storage_bytes,
                                     double conversion_reads) const {
  work.storage_bytes = storage_bytes;
  return {storage_bytes, m_nnz == 0 ? 0 : seconds(kernel, work),
          conversion_reads == 0 ? 0 : conversion_seconds(conversion_reads, storage_bytes)};
}

/// A product whose teams take chunks of equally many entries. y in the listed rows, which have no entries, is
/// scaled by other teams, for large matrices in a second kernel. These teams read the list. If a sector of y
/// has listed rows and others, both kinds of teams write a part of it.
Prediction ByteModel::predict_chunks(const Kernel& kernel, double matrix_bytes, double conversion_reads,
                                     double listed_rows, double host_rows_bytes) const {
  const double parts = 64 * std::min({listed_rows, m_rows - listed_rows, m_rows * m_vector / 32});
  Work work = row_work(matrix_bytes, m_nnz / warp_size);
  work.bytes += parts;
  work.host_rows_bytes = host_rows_bytes;
  const double storage = matrix_bytes + listed_rows * m_ordinal;
  Prediction result = predict_kernel(kernel, work, storage, conversion_reads);
  constexpr std::int64_t small = Impl::ChunkLaunch<Kokkos::DefaultExecutionSpace>::most_aligned;
  if (listed_rows > 0 && m_statistics.nnz > small) {
    if (m_speed.gpu.multiprocessors > 0) result.seconds += launch_seconds;
    result.seconds += (listed_rows * m_ordinal + parts) / m_speed.read_bandwidth;
  }
  return result;
}

/// A product of CRS with 2^log2_lanes lanes per row, which load each sector of A `loads` times. Nothing is
/// converted.
Prediction ByteModel::predict_crs(const Kernel& kernel, int log2_lanes, double loads,
                                  double host_rows_bytes) const {
  Work work = row_work(crs_bytes(), steps(log2_lanes), log2_lanes);
  work.host_rows_bytes = host_rows_bytes;
  work.cache_bytes = work.bytes * loads + x_sector_bytes();
  return predict_kernel(kernel, work, work.bytes, 0);
}

/// The product of Kokkos Kernels, which chooses the lanes per row by the mean row length.
Prediction ByteModel::predict(const CrsOptions&) const {
  int log2_lanes = 0;
  while (log2_lanes < 5 && 6 * (1 << log2_lanes) < m_statistics.mean_row())
    ++log2_lanes;
  return predict_crs(Kernels::kokkos_kernels, log2_lanes, 1, unpredicted_bytes(m_rows));
}

Prediction ByteModel::predict(const WrappedCrsOptions& options) const {
  Impl::check_wrapped_crs_options("Filigree::ByteModel::predict", options);
  const bool in_vectors = Impl::multiplies_in_vectors(m_statistics.unpredicted_rows);
  const double host_rows_bytes = in_vectors ? bytes_of_row_in_vectors * m_rows : 0;
  if (options.kernel == CrsKernel::balanced) {
    // If the chunks reach over very many rows, most rows without entries are listed, and each team searches
    // for its rows.
    using launch = Impl::ChunkLaunch<Kokkos::DefaultExecutionSpace>;
    const double rows_per_chunk = m_rows * static_cast<double>(launch::pitch(m_statistics.nnz)) / m_nnz;
    const bool searches = m_nnz > 0 && rows_per_chunk > launch::most_crs_rows;
    Prediction result =
        predict_chunks(Kernels::crs_balanced, crs_bytes(), 0,
                       searches ? static_cast<double>(m_statistics.empty_rows) : 0, host_rows_bytes);
    if (searches && m_speed.gpu.multiprocessors > 0) result.seconds += search_seconds;
    // The conversion finds the chunks and copies nothing.
    result.conversion_seconds = conversion_seconds(0.3, 0);
    return result;
  }
  if (options.lanes_per_row == 1)
    return predict_crs(Kernels::crs_one_lane, 0, loads_per_sector(m_statistics.mean_row()), host_rows_bytes);
  return predict_crs(Kernels::crs_lanes, Impl::log2_of(options.lanes_per_row), 1, host_rows_bytes);
}

Prediction ByteModel::predict(const CooOptions&) const {
  return predict_chunks(Kernels::coo, (entry_bytes() + m_ordinal) * m_nnz, 2,
                        static_cast<double>(m_statistics.empty_rows), unpredicted_bytes(m_rows));
}

/// The stride of an ELL matrix that a conversion makes.
double ByteModel::ell_stride() const {
  return static_cast<double>(Impl::ell_stride(m_statistics.rows, static_cast<std::size_t>(m_ordinal)));
}

Prediction ByteModel::predict(const EllOptions& options) const {
  Impl::check_lanes_per_row("Filigree::ByteModel::predict", options.lanes_per_row);
  const int log2_lanes = Impl::log2_of(options.lanes_per_row);
  const double width = rounded_up(m_longest_row, options.lanes_per_row);
  const double stored = width * ell_stride() * entry_bytes();
  // A product does not read the rows that the matrix does not have.
  const double all = width * m_rows * entry_bytes();
  if (!options.row_lengths) {
    // ELLPACK reads its padding.
    Work work = row_work(all, 0, log2_lanes);
    work.steps = work.warps * work.longest_wait;
    return predict_kernel(Kernels::ellpack, work, stored, 2);
  }
  const double lengths = m_rows * m_ordinal;
  const double bytes =
      std::min(all, sector_bytes(m_scalar, log2_lanes) + sector_bytes(m_ordinal, log2_lanes)) + lengths;
  return predict_kernel(log2_lanes == 0 ? Kernels::ell : Kernels::ell_lanes,
                        row_work(bytes, steps(log2_lanes), log2_lanes), stored + lengths, 2);
}

Prediction ByteModel::predict(const SellOptions& options) const {
  Impl::check_sell_options("Filigree::ByteModel::predict", options);
  if (options.one_length_per_slice) return predict_sorted_rows(Kernels::jds_ell);
  const int log2_lanes = Impl::log2_of(options.lanes_per_row);
  const bool sorted = options.sorting_window != 1;
  const double slices = std::ceil(m_rows / options.slice_height);
  const SlicedRows rows =
      sliced_rows(m_statistics, options.sorting_window, static_cast<std::size_t>(log2_lanes), m_scalar);
  const double elements = rows.padding * m_nnz;
  const double column_bytes =
      options.short_columns ? m_ordinal - rows.short_part * (m_ordinal - 2) : m_ordinal;
  const double bytes = elements * (m_scalar + column_bytes) + (sorted ? m_rows * m_ordinal : 0) +
                       slices * (8 + m_ordinal + (options.short_columns ? 8 + m_ordinal : 0));
  Work work = row_work(bytes, elements / warp_size, log2_lanes);
  work.cache_bytes += rows.moved_bytes;
  work.warps *= part_of_warps(m_statistics, options.sorting_window);
  const double reads = (options.short_columns ? 3 : 2) + (sorted ? 1 : 0);
  Kernel kernel = sorted ? Kernels::sell_sorted : Kernels::sell;
  if (log2_lanes > 0) kernel = Kernels::sell_lanes;
  if (options.short_columns) {
    kernel.warp += warp_of_short_columns;
    kernel.host.other *= short_columns_on_other_processors;
  }
  return predict_kernel(kernel, work, bytes, reads);
}

/// JDS and JDS-ELL: all rows are sorted by length, so that rows from all over the matrix become neighbours.
Prediction ByteModel::predict_sorted_rows(const Kernel& kernel) const {
  const std::vector<std::int64_t>& reaching = m_statistics.rows_reaching;
  double counted = 0;
  double steps = 0;
  for (std::size_t k = 1; k + 1 < reaching.size(); ++k) {
    counted += static_cast<double>(reaching[k]);
    steps += std::ceil(static_cast<double>(reaching[k]) / warp_size);
  }
  Work work = row_work(entry_bytes() * m_nnz + m_rows * m_ordinal,
                       steps + std::max(0.0, m_nnz - counted) / warp_size);
  work.cache_bytes += (61 + sector_bytes_of_moved_row * moved_rows(m_statistics, m_scalar)) * m_rows;
  work.longest_is_first = true;
  return predict_kernel(kernel, work, work.bytes, 9);
}

Prediction ByteModel::predict(const JdsOptions&) const {
  return predict_sorted_rows(Kernels::jds);
}

/// Chooses the ELL part of a hybrid format by the rule of the options, and predicts the product without the
/// time for the excess entries. bytes(part) is the size of the hybrid matrix with an ELL part.
template <class Options, class Bytes>
Prediction ByteModel::predict_ell_part(const Options& options, const Bytes& bytes, EllPart& part) const {
  const std::vector<std::int64_t>& reaching = m_statistics.rows_reaching;
  std::vector<double> beyond(reaching.size() - 1);
  beyond[0] = m_nnz;
  for (std::size_t k = 1; k < beyond.size(); ++k)
    beyond[k] = beyond[k - 1] - static_cast<double>(reaching[k]);
  const auto part_of = [&](double width, double excess, double excess_rows) {
    return EllPart{width, excess, excess_rows, width * ell_stride() * entry_bytes() + m_rows * m_ordinal};
  };
  const auto part_of_width = [&](std::int64_t k) {
    const auto width = static_cast<double>(k);
    return part_of(width, beyond[static_cast<std::size_t>(k)], rows_reaching(m_statistics, width + 1));
  };
  part = part_of_width(Impl::hybrid_width(
      "Filigree::ByteModel::predict", options.width_rule, options.width,
      static_cast<std::int64_t>(reaching.size()) - 2,
      [&](std::int64_t k) { return reaching[static_cast<std::size_t>(k)]; },
      [&](std::int64_t k) { return bytes(part_of_width(k)); },
      [&](std::int64_t k) { return part_of_width(k).storage_bytes; }));
  // Of the widths beyond the last counted length only the longest row is tried.
  const EllPart whole = part_of(m_longest_row, 0, 0);
  if (options.width_rule == HybridWidth::least_bytes && bytes(whole) < bytes(part)) part = whole;

  Work work = row_work(std::min(sector_bytes(m_scalar, 0) + sector_bytes(m_ordinal, 0) + m_rows * m_ordinal,
                                part.storage_bytes),
                       std::min(steps(0), part.width * (m_rows / warp_size)));
  work.cache_bytes = work.bytes + x_sector_bytes() * (1 - part.excess / m_nnz);
  work.longest_wait = std::min(part.width, m_longest_row);
  part.work = work;
  return predict_kernel(Kernels::ell, work, bytes(part), 5);
}

Prediction ByteModel::predict(const HybOptions& options) const {
  const double coo_entry = entry_bytes() + m_ordinal;
  const auto bytes = [&](const EllPart& one) { return one.storage_bytes + one.excess * coo_entry; };
  EllPart part;
  Prediction result = predict_ell_part(options, bytes, part);
  if (part.excess <= 0) return result;
  Work coo;
  coo.bytes = part.excess * coo_entry;
  coo.cache_bytes = coo.bytes + x_sector_bytes() * part.excess / m_nnz;
  coo.warps = part.excess_rows / warp_size;
  coo.steps = part.excess / warp_size;
  coo.storage_bytes = result.storage_bytes;
  coo.host_rows_bytes = unpredicted_bytes(part.excess_rows);
  // A separate launch adds up the cut rows.
  if (m_speed.gpu.multiprocessors > 0) result.seconds += launch_seconds;
  result.seconds += seconds(Kernels::coo, coo, false);
  return result;
}

Prediction ByteModel::predict(const HecOptions& options) const {
  Impl::check_hec_options("Filigree::ByteModel::predict", options);
  const auto bytes = [&](const EllPart& one) {
    return one.storage_bytes + one.excess * entry_bytes() + one.excess_rows * (m_ordinal + m_offset);
  };
  EllPart part;
  Prediction result = predict_ell_part(options, bytes, part);
  if (part.excess <= 0) return result;
  // A team multiplies each long row. 1 to 8 lanes multiply each other row with excess entries.
  const double most = part.width + static_cast<double>(options.long_row);
  const double long_rows = rows_reaching(m_statistics, most + 1);
  const double rows = part.excess_rows - long_rows;
  double excess = part.excess;     // of the rows that are not long
  double longest = m_longest_row;  // of these rows
  if (long_rows > 0) {
    excess = 0;
    longest = part.width;
    for (double length = part.width + 1; length <= most; ++length) {
      const double not_long = rows_reaching(m_statistics, length) - long_rows;
      if (not_long <= 0) break;
      excess += not_long;
      longest = length;
    }
  }
  const double mean = rows > 0 ? excess / rows : 0;
  const double lanes = rows > 0 ? Impl::lanes_per_excess_row(excess, rows) : 1;
  const double warps = lanes * rows / warp_size;
  // Lanes of one row read neighbouring excess entries. The more lanes a row has, the less often a sector is loaded
  // again.
  const double loads = std::max(1.0, std::min(loads_per_sector(mean), most_loads_per_sector / lanes));
  // Rows with excess entries begin and end inside sectors of the excess entries. They also read the ELL part. If they
  // lie far apart, a sector of it has an entry of only one of them.
  const double entries_apart = std::clamp(m_rows / part.excess_rows, 1.0, 4.0);
  Work work = part.work;
  work.bytes += part.excess * entry_bytes() + part.excess_rows * (m_ordinal + m_offset);
  work.cache_bytes += (part.excess + (loads - 1) * excess) * entry_bytes() +
                      part.excess_rows * (96 + part.width * entry_bytes() * entries_apart) +
                      x_sector_bytes() * part.excess / m_nnz;
  work.warps += warps + long_rows * lanes_of_long_row / warp_size;
  // The longest of 32 rows has a few times the mean number of excess entries.
  work.steps +=
      warps * (part.width + 3 * mean) / lanes + (part.excess - excess + part.width * long_rows) / warp_size;
  work.longest_wait = std::max({work.longest_wait, rows > 0 ? longest / lanes : 0,
                                long_rows > 0 ? m_longest_row / lanes_of_long_row : 0});
  work.host_rows_bytes = unpredicted_bytes(part.excess_rows);
  return predict_kernel(Kernels::hec, work, result.storage_bytes, 5);
}

/// One lane per row multiplies all diagonals of its row. If the number of diagonals is not known, the
/// prediction is infinite.
Prediction ByteModel::predict(const CdsOptions& options) const {
  if (options.block_size < 1 || options.block_size > MatrixStatistics::largest_block) return {};
  const std::int64_t count = m_statistics.diagonals[static_cast<std::size_t>(options.block_size)];
  if (count == 0 && m_nnz > 0) return {};
  const double diagonals = static_cast<double>(count) * options.block_size;
  Work work = row_work(diagonals * m_rows * m_scalar, diagonals * (m_rows / warp_size));
  work.cache_bytes = work.bytes;
  work.longest_wait = diagonals;
  // A lane multiplies two rows or more of narrow values.
  if (m_scalar < 8) work.warps /= 2;
  const auto stored_rows = static_cast<double>(Impl::stored_cds_rows(
      options.layout, m_statistics.rows, options.block_size, static_cast<std::size_t>(m_scalar)));
  Prediction result = predict_kernel(Kernels::diagonals, work, diagonals * stored_rows * m_scalar, 2);
  // Not fitted: prefers the default layout, see docs/performance.md, "CDS: block components".
  if (options.layout == CdsLayout::components)
    result.seconds *= m_speed.gpu.multiprocessors == 0 && options.block_size > 1 ? 2.5 : 1.03;
  return result;
}

/// Not fitted (see docs/performance.md, "Symmetric CDS" and "Narrow values"). On a GPU memory delivers the
/// values with a part of the bandwidth, which is smaller for narrow values. With more than four diagonals
/// above the main one the caches, which deliver most values twice, limit the product. Stored in 16 bits it is
/// about as fast as CDS, and on a host it is slower.
Prediction ByteModel::predict(const SymCdsOptions& options) const {
  CdsOptions full_options;
  full_options.block_size = options.block_size;
  Prediction full = predict(full_options);
  if (!std::isfinite(full.seconds) || m_statistics.rows != m_statistics.columns) return {};
  const double b = options.block_size;
  const auto above =
      static_cast<double>(m_statistics.diagonals[static_cast<std::size_t>(options.block_size)] / 2);
  const double values = (b * (b + 1) / 2 + above * b * b) * std::ceil(m_rows / b);
  const double storage = values * m_scalar + above * m_ordinal;
  const double conversion = conversion_seconds(m_speed.gpu.multiprocessors > 0 ? 12 : 26, storage);
  if (m_nnz == 0) return {storage, 0, conversion};
  if (m_speed.gpu.multiprocessors == 0) return {storage, 1.6 * full.seconds, conversion};
  if (m_scalar < 4) return {storage, full.seconds, conversion};
  const bool is_narrow = m_scalar < 8;
  Work work = row_work(storage / (is_narrow ? 0.72 : 0.9), 0);
  work.cache_bytes = work.bytes;
  work.storage_bytes = storage;
  const double by_memory = seconds(Kernels::diagonals, work);
  const double by_caches = above > 4 ? full.seconds / (is_narrow ? 0.8 : 1.14) : 0;
  return {storage, std::max(by_memory, by_caches), conversion};
}

/// Not fitted (see docs/performance.md, "Dictionary of blocks"). On a GPU the instructions of a product limit how
/// much faster than CDS it can be.
Prediction ByteModel::predict(const DictCdsOptions& options) const {
  CdsOptions full_options;
  full_options.block_size = options.block_size;
  const Prediction full = predict(full_options);
  if (!std::isfinite(full.seconds)) return {};
  const double b = options.block_size;
  const auto diagonals =
      static_cast<double>(m_statistics.diagonals[static_cast<std::size_t>(options.block_size)]);
  const double storage = diagonals * std::ceil(m_rows / b) + diagonals * m_ordinal;
  const double conversion = conversion_seconds(options.block_size > 1 ? 22 : 42, full.storage_bytes);
  if (m_nnz == 0) return {storage, 0, conversion};
  if (m_speed.gpu.multiprocessors == 0) return {storage, 1.2 * full.seconds, conversion};
  Work work = row_work(storage, 0);
  work.cache_bytes = work.bytes;
  work.storage_bytes = storage;
  const double largest_gain = options.block_size == 1 ? 1.1 : options.block_size == 2 ? 2.5 : 3.3;
  return {storage, std::max(seconds(Kernels::diagonals, work), full.seconds / largest_gain), conversion};
}

Prediction ByteModel::predict(const BellOptions& options) const {
  if (options.block_size < 1 || options.block_size > BellOptions::largest_block_size) return {};
  const double b = options.block_size;
  const double fill = m_statistics.block_fill[static_cast<std::size_t>(options.block_size)];
  // The width of a block row follows from the longest row, if its blocks are as full as the others.
  const double width = fill > 0 ? std::ceil(m_longest_row / (b * fill)) : 0;
  Work work = row_work(width * (b * m_rows * m_scalar + std::ceil(m_rows / b) * m_ordinal),
                       m_rows / warp_size * width * b);
  work.cache_bytes = work.bytes + x_sector_bytes() / b;
  work.longest_wait = width;
  const Kernel& kernel = options.block_size < 4 ? Kernels::small_blocks : Kernels::blocks;
  return predict_kernel(kernel, work, work.bytes, 12);
}

/// The product of Kokkos Kernels, one lane per row. A lane loads the values of its blocks one after the
/// other, so that each load of a warp takes one cache access per 128-byte line that its lanes touch. Blocks
/// of size 1 are multiplied as CRS.
Prediction ByteModel::predict(const BsrOptions& options) const {
  const std::int64_t b = options.block_size;
  if (b < 1 || b > MatrixStatistics::largest_block || m_statistics.rows % b != 0 ||
      m_statistics.columns % b != 0)
    return {};
  if (b == 1) {
    Prediction result = predict(CrsOptions());
    result.conversion_seconds = conversion_seconds(6, result.storage_bytes);
    return result;
  }
  const double size = static_cast<double>(b);
  const double fill = m_statistics.block_fill[static_cast<std::size_t>(b)];
  const double blocks = fill > 0 ? m_nnz / (size * size * fill) : 0;
  const double block_bytes = size * size * m_scalar;
  const double block_lines = block_bytes / line_bytes;
  const bool is_aligned = std::fmod(block_bytes, line_bytes) == 0 || std::fmod(line_bytes, block_bytes) == 0;
  // Cache lines of the values of a block, of x and of the block column.
  const double lines =
      std::min(size, is_aligned ? std::max(1.0, block_lines) : 1 + block_lines) + 1 + 1 / size;
  Work work =
      row_work(blocks * (block_bytes + m_ordinal) + (m_rows / size + 1) * m_offset, blocks * size * lines);
  work.longest_wait = fill > 0 ? m_longest_row / (size * fill) : 0;
  return predict_kernel(Kernels::bsr, work, work.bytes, 6);
}

}  // namespace Filigree
