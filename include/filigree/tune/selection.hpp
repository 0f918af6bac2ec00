// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_TUNE_SELECTION_HPP
#define FILIGREE_TUNE_SELECTION_HPP

#include <limits>
#include <string>
#include <vector>

#include "filigree/core/convert_options.hpp"
#include "filigree/tune/byte_model.hpp"

namespace Filigree {

/// What optimize() is asked for.
struct OptimizeOptions : ConvertOptions {
  OptimizeOptions() { max_storage_ratio = 1.5; }

  /// Products that the application will make with the matrix: a conversion must pay in that many, so with few
  /// the matrix stays CRS. At least 0; infinity leaves the conversion out.
  double products = 1000;
  /// Converts to the best three by the model, times a product of each, and keeps the one with which products
  /// and conversion take the least. Takes the memory of two of them at once, two vectors and some products.
  bool time_best = false;
  /// The most bytes that the result may store, if it does not share the CRS matrix.
  double most_bytes = std::numeric_limits<double>::infinity();
  /// That of CDS and BSR, 1 to 16, and of blocked ELL, 1 to 8; 0 for what the matrix shows.
  int block_size = 0;
  /// The speed of the device; where its bandwidth is 0, device_speed() tells, which measures it once. A GPU
  /// without multiprocessors is that of the execution space.
  DeviceSpeed speed = {};
};

/// A format, or a member of its family, as optimize() sees it.
struct FormatPrediction {
  std::string name;    ///< as filigree_spmv has it
  int block_size = 1;  ///< of CDS, BSR and blocked ELL
  Prediction prediction;
  /// The conversion and all products.
  double total_seconds = 0;
  /// Of a product, the least of five, one after the other, so that a small matrix is in the caches where the
  /// prediction is for cold ones; 0 if it was not timed.
  double measured_seconds = 0;
  /// Why it is out of question, or empty.
  std::string refusal;
};

/// What optimize() found.
struct Selection {
  /// Ascending in total_seconds as predicted, those out of question by their prediction last. One that turned
  /// out to store more keeps its place.
  std::vector<FormatPrediction> formats;
  /// The name of the first, or of the one that was converted.
  std::string picked;
  double crs_bytes = 0;
  double products = 0;
  bool timed = false;

  /// The format that was picked.
  const FormatPrediction& pick() const;
  /// A table of all formats, in the order of what the conversion and all products take ("all ms"), and the
  /// sentence that decided.
  std::string explain() const;
};

namespace Impl {
/// Throws std::invalid_argument for options that make no sense.
void check_optimize_options(const OptimizeOptions& options);
/// Whether a matrix of that format shares the Views of the CRS matrix, and stores nothing else of its size.
bool shares_crs(const std::string& format);
/// The conversion and all products, each of which takes product_seconds.
double total_seconds(const OptimizeOptions& options, const Prediction& prediction, double product_seconds);
/// Whether a matrix that was converted stores more than allowed, or so much more than predicted that another
/// format is better. Corrects the prediction and says why.
bool is_refused(const OptimizeOptions& options, double storage_bytes, FormatPrediction& format,
                const Selection& selection);
/// Says which other formats are out of question, sorts them and picks the first.
void rank_formats(const OptimizeOptions& options, Selection& selection);
}  // namespace Impl

}  // namespace Filigree

#endif
