// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_TUNE_BYTE_MODEL_HPP
#define FILIGREE_TUNE_BYTE_MODEL_HPP

#include <limits>

#include "filigree/formats.hpp"
#include "filigree/tune/device_speed.hpp"
#include "filigree/tune/matrix_statistics.hpp"

namespace Filigree {

/// What the byte model says of a format with certain options.
struct Prediction {
  /// What the matrix would store.
  double storage_bytes = 0;
  /// One product with cold caches; infinite where the format cannot hold the matrix.
  double seconds = std::numeric_limits<double>::infinity();
  /// The conversion from CRS without its checks.
  double conversion_seconds = 0;
};

/// Predicts the time of a product y = A*x of each format from what the matrix is like and how fast the device
/// is. On a GPU it is the largest of three times, and a little more where two are near, as each hides the
/// others:
///
///   memory         the bytes that the format reads of A, those of x and y, over the measured bandwidth
///   cache          the 32-byte sectors of A and of x that reach the multiprocessors, over a rate each
///   instructions   so many nanoseconds for each warp and for each step of it, a step being an entry for each
///                  of its lanes, spread over the multiprocessors
///
/// and to these come the launch and what the longest row takes its lane: nothing hides that at the end, but
/// for JDS, which begins with it. What the bytes, sectors, warps and steps of each format are stands with it
/// in src/byte_model.cpp, beside the nanoseconds, which were fitted to products on an H200. On a host it is
/// the first of the three, times a figure of the kernel.
///
/// SELL is predicted as it pads in slices of 32 rows, whatever their height; sorted in windows that the
/// statistics do not have, between the next smaller and larger one by the logarithm. Teams are those of
/// conversions by default: ellr_t_model.hpp has a model of their size. Lanes, widths and windows that no
/// conversion takes throw std::invalid_argument; block sizes without statistics have no prediction, which is
/// infinite. The nanoseconds are those of products of double.
///
/// Source: bytes as in the papers' effective bandwidth (Vazquez, Fernandez and Garzon 2011, section 4;
/// Godwin, Holewinski and Sadayappan 2012, section 4); the other terms are ours.
class ByteModel {
 public:
  /// For a matrix of elements of so many bytes.
  ByteModel(const MatrixStatistics& statistics, const DeviceSpeed& speed, int scalar_bytes, int ordinal_bytes,
            int offset_bytes);

  Prediction predict(const CrsOptions&) const;
  Prediction predict(const WrappedCrsOptions& options) const;
  Prediction predict(const CooOptions&) const;
  Prediction predict(const EllOptions& options) const;
  Prediction predict(const SellOptions& options) const;
  Prediction predict(const HybOptions& options) const;
  Prediction predict(const HecOptions& options) const;
  Prediction predict(const JdsOptions&) const;
  Prediction predict(const DiaOptions&) const;
  Prediction predict(const CdsOptions& options) const;
  Prediction predict(const BellOptions& options) const;
  Prediction predict(const BsrOptions& options) const;

  double crs_bytes() const { return entry_bytes() * m_entries + m_offset * (m_rows + 1); }
  const MatrixStatistics& statistics() const { return m_statistics; }

 private:
  struct Kernel;
  struct Kernels;
  /// What a product reads of A, and what it does for that.
  struct Work {
    double bytes = 0;
    double cache_bytes = 0;
    double warps = 0;
    double steps = 0;
    double longest_wait = 0;  ///< entries that one lane takes one after the other
    /// Those rows come first, so that the others hide part of it.
    bool longest_begins = false;
  };
  struct EllPart;
  struct SortedRows;

  double entry_bytes() const { return m_scalar + m_ordinal; }
  double x_bytes() const;
  double x_sector_bytes() const;
  double sector_bytes(double element_bytes, int log2_lanes) const;
  double steps(int log2_lanes) const;
  double seconds(const Kernel& kernel, const Work& work, bool with_vectors = true) const;
  Prediction prediction(const Kernel& kernel, const Work& work, double storage_bytes,
                        double conversion_reads) const;
  double conversion(double reads, double storage_bytes) const;
  template <class Bytes>
  EllPart ell_part(HybridWidth rule, std::int64_t width, const Bytes& bytes) const;
  Work work_of(const EllPart& part) const;
  Prediction by_chunks(const Kernel& kernel, double matrix_bytes, double conversion_reads) const;
  double moved_rows() const;
  SortedRows sorted_rows(std::int64_t window, int log2_lanes) const;
  Prediction of_diagonals(int block_size) const;
  Prediction of_sorted_rows(const Kernel& kernel) const;

  MatrixStatistics m_statistics;
  DeviceSpeed m_speed;
  double m_scalar;
  double m_ordinal;
  double m_offset;
  double m_rows;
  double m_entries;
};

}  // namespace Filigree

#endif
