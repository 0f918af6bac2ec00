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
  /// the matrix stays CRS. At least 0.
  double products = 1000;
  /// Converts to the best three by the model, times a product of each, and keeps the fastest. Takes their
  /// memory at once, two vectors and some products.
  bool time_best = false;
  /// The most bytes that the result may store, if it does not share the CRS matrix.
  double most_bytes = std::numeric_limits<double>::infinity();
  /// That of CDS and blocked ELL, 1 to 16; 0 for the one that the matrix shows.
  int block_size = 0;
  /// The speed of the device; where its bandwidth is 0, device_speed() tells, which measures it once.
  DeviceSpeed speed = {};
};

/// A format, or a member of its family, as optimize() sees it.
struct FormatPrediction {
  std::string name;  ///< as filigree_spmv has it
  Prediction prediction;
  /// The conversion and all products.
  double total_seconds = 0;
  /// Median of a product; 0 if it was not timed.
  double measured_seconds = 0;
  /// Why it is out of question, or empty.
  std::string refusal;
};

/// What optimize() found.
struct Selection {
  /// Ascending in total_seconds, those out of question last.
  std::vector<FormatPrediction> formats;
  std::string picked;
  int block_size = 1;
  double crs_bytes = 0;
  double products = 0;
  bool timed = false;

  /// The format that was picked.
  const FormatPrediction& pick() const;
  /// A table of all formats and the sentence that decided.
  std::string explain() const;
};

namespace Impl {
/// Throws std::invalid_argument for options that make no sense.
void check_optimize_options(const OptimizeOptions& options);
/// Says which formats are out of question, and sorts them.
void rank_formats(const OptimizeOptions& options, Selection& selection);
}  // namespace Impl

}  // namespace Filigree

#endif
