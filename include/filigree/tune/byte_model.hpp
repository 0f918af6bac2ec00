// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats.hpp"
#include "filigree/tune/device_speed.hpp"
#include "filigree/tune/matrix_statistics.hpp"

namespace Filigree {

/// What the byte model predicts for a format with certain options.
struct Prediction {
  /// Bytes of the matrix in this format.
  double storage_bytes = 0;
  /// Seconds of one product; infinite if the format cannot hold the matrix. Caches are cold, unless the last cache of
  /// the GPU holds the matrix and the vectors.
  double seconds = std::numeric_limits<double>::infinity();
  /// Seconds of the conversion from CRS without the check of the input.
  double conversion_seconds = 0;
};

/// Predicts the time of a product y = A*x in each format from the statistics of the matrix and the speed of
/// the device.
///
/// On a GPU the time is the largest of three times, because the GPU does these kinds of work simultaneously:
///
///   memory         the bytes of A that the format reads, and the bytes of x and y, divided by the read
///                  bandwidth
///   cache          the bytes of the 32-byte sectors of A and x that reach the multiprocessors, divided by
///                  the rate at which the kernel receives them
///   instructions   nanoseconds per warp and nanoseconds per step, divided by the number of multiprocessors;
///                  in one step each lane of a warp multiplies one entry
///
/// If two of the times are about equal, the prediction is a little more than the largest. Three times are added
/// to it: the time of a launch, what the teams of balanced CRS and COO do besides their entries, and the time that one
/// lane needs for the longest row, because at the end of a kernel no other work runs meanwhile. JDS begins with its
/// longest rows, so that they overlap with other rows.
///
/// If the last cache holds the matrix and the vectors, because the product before left them there, the three times and
/// the time of the longest row are multiplied by factors of up to 1. Instructions take less time if A, x and y have
/// values of up to 4 bytes.
///
/// src/byte_model.cpp has the bytes, sectors, warps and steps of each format and the nanoseconds of its
/// kernel. The nanoseconds and the factors were fitted to products of double and float on one GPU; other types and GPUs
/// use them unchanged. For HEC 256 lanes share the entries of a long row, and 1 to 8 lanes those of another row with
/// excess entries; the time of the longest row is that of one of its lanes.
///
/// On a host the time is the memory time multiplied by a factor that depends on the kernel and on the vendor of the
/// processor. If the processor cannot predict the row lengths (MatrixStatistics::unpredicted_rows), CRS, COO and excess
/// entries take more time per row.
///
/// Limits of the model: SELL is predicted with the padding of slices of 32 rows, whatever the slice height.
/// The padding of a sorting window is interpolated between the window sizes of the statistics by the
/// logarithm of the size. The size of teams is not modelled (see ellr_t_model.hpp). predict() throws
/// std::invalid_argument for numbers of lanes, widths, windows, lengths of long rows and enumerators that a conversion
/// refuses. For block sizes without statistics the prediction is infinite.
///
/// Sources: bytes as in the effective bandwidth of the papers (Vazquez, Fernandez and Garzon 2011, section 4;
/// Godwin, Holewinski and Sadayappan 2012, section 4). The other terms come from no paper.
class ByteModel {
 public:
  /// scalar_bytes, ordinal_bytes and offset_bytes are the sizes of one value, column index and offset, and
  /// vector_bytes that of an element of x and y; 0 stands for scalar_bytes.
  ByteModel(const MatrixStatistics& statistics, const DeviceSpeed& speed, int scalar_bytes, int ordinal_bytes,
            int offset_bytes, int vector_bytes = 0);

  /// The prediction for the format with these options. Throws std::invalid_argument for options that a
  /// conversion refuses.
  /// @{
  Prediction predict(const CrsOptions&) const;
  Prediction predict(const WrappedCrsOptions& options) const;
  Prediction predict(const CooOptions&) const;
  Prediction predict(const EllOptions& options) const;
  Prediction predict(const SellOptions& options) const;
  Prediction predict(const HybOptions& options) const;
  Prediction predict(const HecOptions& options) const;
  Prediction predict(const JdsOptions&) const;
  Prediction predict(const DiaOptions&) const { return predict(CdsOptions()); }
  Prediction predict(const CdsOptions& options) const;
  Prediction predict(const SymCdsOptions& options) const;
  /// Assumes at most 256 distinct blocks, and reads of the dictionary from a cache.
  Prediction predict(const DictCdsOptions& options) const;
  Prediction predict(const BellOptions& options) const;
  Prediction predict(const BsrOptions& options) const;
  /// @}

  /// Seconds to copy the CRS matrix.
  double crs_copy_seconds() const { return conversion_seconds(1, crs_bytes()); }
  /// Bytes of the CRS matrix.
  double crs_bytes() const { return entry_bytes() * m_nnz + m_offset * (m_rows + 1); }
  /// The statistics from which it predicts.
  const MatrixStatistics& statistics() const { return m_statistics; }

 private:
  struct HostFactors;
  struct Kernel;
  struct Kernels;
  struct EllPart;
  struct Work;

  double entry_bytes() const { return m_scalar + m_ordinal; }
  /// Bytes of the sectors of x that reach the multiprocessors.
  double x_sector_bytes() const { return 32 * m_statistics.sectors_per_entry * m_nnz; }
  /// Steps of all warps if the rows are stored in the order of the matrix.
  double steps(int log2_lanes) const {
    return static_cast<double>(m_statistics.group_steps[3][static_cast<std::size_t>(log2_lanes)]);
  }
  double sector_bytes(double element_bytes, int log2_lanes) const;
  double ell_stride() const;
  Work row_work(double bytes, double steps, int log2_lanes = 0) const;

  double seconds(const Kernel& kernel, const Work& work, bool with_vectors = true) const;
  double unpredicted_bytes(double rows) const;
  double conversion_seconds(double reads, double storage_bytes) const;
  Prediction predict_kernel(const Kernel& kernel, Work work, double storage_bytes,
                            double conversion_reads) const;
  Prediction predict_chunks(const Kernel& kernel, double matrix_bytes, double conversion_reads,
                            double listed_rows, double host_rows_bytes) const;
  Prediction predict_crs(const Kernel& kernel, int log2_lanes, double loads, double host_rows_bytes) const;
  Prediction predict_sorted_rows(const Kernel& kernel) const;
  template <class Options, class Bytes>
  Prediction predict_ell_part(const Options& options, const Bytes& bytes, EllPart& part) const;

  MatrixStatistics m_statistics;
  DeviceSpeed m_speed;
  double m_scalar;
  double m_ordinal;
  double m_offset;
  double m_vector;  ///< bytes of an element of x and y
  double m_rows;
  double m_nnz;
  double m_longest_row;
};

}  // namespace Filigree
