// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/tune/byte_model.hpp"

namespace Filigree {

/// Options of optimize().
struct OptimizeOptions : ConvertOptions {
  OptimizeOptions() { max_storage_ratio = 1.5; }

  /// The number of products that the application will make with the matrix, at least 0. The picked format
  /// takes the least time for the conversion and these products together. With few products that is CRS.
  /// Infinity ignores the time of the conversion.
  double products = 1000;
  /// Converts to the five formats with the best predictions, times products of each, and keeps the one
  /// with the least total of predicted conversion time and measured product time. It needs memory for two of
  /// these matrices and for two vectors at the same time.
  bool time_best = false;
  /// Whether CRS and the kernels for CRS share the Views of the CRS matrix. If false, the result is a copy if
  /// one of them is picked. The copy takes the bytes of the CRS matrix, which count like those of any format,
  /// and time, which counts as the time of the conversion. If true, nothing is copied, and refill() of the
  /// result writes to the CRS matrix. The CRS matrix must then own its Views, and its values and columns must
  /// not be const.
  bool share_crs = false;
  /// The most bytes that the result may store. Formats that share the CRS matrix are always allowed.
  double most_bytes = std::numeric_limits<double>::infinity();
  /// The block size of CDS and BSR (1 to 16) and blocked ELL (1 to 8); 0 derives it from the matrix.
  int block_size = 0;
  /// Whether formats of symmetric matrices are candidates too. The conversion to one of them compares each
  /// entry with its mirror image; in a complex matrix that is the complex conjugate. If two differ, the
  /// format is refused, and the reason names them.
  bool symmetric = false;
  /// See SymCdsOptions::symmetry_tolerance.
  double symmetry_tolerance = 0;
  /// Whether a format that stores equal blocks once is a candidate too (DictCdsMatrix). It is refused if
  /// there are more than 256 distinct blocks. If it is picked, refill() throws std::invalid_argument for a
  /// matrix with more distinct blocks than this one, so allow it only if later values repeat in the same way.
  bool repeated_blocks = false;
  /// The speed of the device. If its bandwidth is 0, bandwidth and shape come from device_speed(). If only the shape
  /// of the GPU is missing, it is that of the execution space. If the vendor of a host's processor is unknown, it is
  /// that of this host. If has_model is false, all variants are timed.
  DeviceSpeed speed = {};
};

/// What optimize() found about a variant of a format.
struct FormatPrediction {
  std::string name;  ///< of the variant, as filigree_spmv prints it
  /// Name of another variant with the same storage and kernel, which explain() shows instead: on a host
  /// WrappedCrsMatrix ignores the lanes per row. Empty if there is none.
  std::string same_as;
  int block_size = 1;  ///< of formats with blocks, else 1
  /// Whether it shares the Views of the CRS matrix and stores nothing of their size.
  bool shares_crs = false;
  /// Whether it can hold symmetric matrices only.
  bool is_symmetric = false;
  /// Whether it stores equal blocks once.
  bool has_dictionary = false;
  /// Whether refill() takes any new values. A format that stores half of the entries, or equal blocks once, may refuse
  /// them.
  bool takes_any_values() const { return !is_symmetric && !has_dictionary; }
  /// Whether it is a copy of the CRS matrix, because OptimizeOptions::share_crs is false.
  bool copies_crs = false;
  Prediction prediction;     ///< of the byte model
  double total_seconds = 0;  ///< of the conversion and all products
  /// Measured seconds of the conversion on a device without a model; 0 elsewhere.
  double measured_conversion_seconds = 0;
  /// Seconds of a product: the smallest of five measurements, each the mean of up to 20 products; 0 if they were not
  /// timed. They run one after the other, so a small matrix stays in the caches.
  double measured_seconds = 0;
  std::string refusal;  ///< why it was refused; empty if it was not
};

/// How much Selection::explain prints.
enum class Detail {
  summary,  ///< the decision and five rows
  all       ///< the decision, every variant, and the reason of each refusal
};

/// What optimize() found about all formats.
struct Selection {
  /// In ascending order of the predicted total_seconds; variants that were refused by their prediction come
  /// last. A variant that is refused after its conversion keeps its position. On a device without a model:
  /// in ascending order of the measured total_seconds, all refused variants last.
  std::vector<FormatPrediction> formats;
  /// The name of the picked variant: the first of `formats`, or the one to which optimize() converted. Empty
  /// if all are refused.
  std::string picked;
  double crs_bytes = 0;  ///< bytes of the CRS matrix
  double products = 0;   ///< OptimizeOptions::products
  bool timed = false;    ///< whether products were timed
  /// DeviceSpeed::has_model. If false, all predicted seconds are NaN.
  bool has_model = true;
  std::string device;         ///< name of the GPU, or backend and threads of the host
  double read_bandwidth = 0;  ///< bytes per second that the predictions assume; 0 without a model
  /// The narrower type that optimize<Scalar>() was asked for, for example "float"; empty if there is none.
  /// All formats, CRS too, then have values of this type.
  std::string stored;
  Rounding rounding;  ///< how much the entries were rounded to that type
  /// Whether read_bandwidth is the one that all hosts are assumed to have (see DeviceSpeed).
  bool assumes_bandwidth = false;

  /// The variant that was picked. Throws std::logic_error if there is none.
  const FormatPrediction& pick() const;
  /// The picked variant and what it gains, the device and its bandwidth, and a table in the order of
  /// `formats`. Variants with one kernel (FormatPrediction::same_as) are one row. The columns:
  ///
  ///   speed-up    the time of a product of CRS by Kokkos Kernels, divided by the time of the format
  ///   product     predicted milliseconds, and measured ones if products were timed
  ///   conversion  milliseconds
  ///   pays after  the number of products after which the conversion has paid for itself, if the caller
  ///               otherwise multiplies the CRS matrix by Kokkos Kernels
  ///   total       milliseconds of the conversion and all planned products
  ///   storage     megabytes (10^6 bytes)
  ///
  /// The speed-up and "pays after" use predicted times, on a device without a model measured ones. The
  /// summary has the best five rows. CRS and the picked variant are always among them. Detail::all has every
  /// row, and below the table the reason of each refusal.
  std::string explain(Detail detail = Detail::summary) const;
};

namespace Impl {
/// Throws std::invalid_argument if a number in the options is out of range, or if options.share_crs is set
/// and can_share is not.
void check_optimize_options(const OptimizeOptions& options, bool can_share);
/// Seconds of the conversion and all products, each of which takes product_seconds.
double total_seconds(const OptimizeOptions& options, double conversion_seconds, double product_seconds);
/// Whether a converted matrix stores more than options allow, or so much more than predicted that another
/// format is better. Corrects the prediction and sets the refusal.
bool is_refused(const OptimizeOptions& options, double storage_bytes, FormatPrediction& format,
                const Selection& selection);
/// Sets total_seconds and the refusals that follow from predictions, sorts the variants and picks the first.
/// Without a model it then sets all predicted seconds to NaN; the order is that of the bytes.
void rank_formats(const OptimizeOptions& options, Selection& selection);
/// Sorts the variants by total_seconds, the refused ones last, and picks the first.
void sort_formats(Selection& selection);
/// Throws std::length_error with the reason for which a copy of the CRS matrix was refused.
[[noreturn]] void fail_without_format(const OptimizeOptions& options, const Selection& selection);
}  // namespace Impl

}  // namespace Filigree
