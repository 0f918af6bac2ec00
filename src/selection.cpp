// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "filigree/tune/selection.hpp"

#include <cmath>
#include <iomanip>
#include <sstream>

namespace Filigree {

const FormatPrediction& Selection::pick() const {
  for (const FormatPrediction& one : formats)
    if (one.name == picked) return one;
  throw std::logic_error(
      "Filigree::Selection::pick: no format was picked. predict_formats() and optimize() pick one unless all "
      "are refused; explain() then gives the reasons.");
}

namespace Impl {

void check_optimize_options(const OptimizeOptions& options, bool can_share) {
  const char* function = "Filigree::optimize";
  if (!(options.products >= 0))
    fail<std::invalid_argument>(function, ": options.products is ", options.products,
                                "; it must be the number of products planned, at least 0.");
  if (options.block_size < 0 || options.block_size > MatrixStatistics::largest_block)
    fail<std::invalid_argument>(function, ": options.block_size is ", options.block_size,
                                "; it must be 1 to ", MatrixStatistics::largest_block,
                                ", or 0 to derive it from the matrix.");
  const auto check_not_negative = [&](const char* name, double value) {
    if (!(value >= 0))
      fail<std::invalid_argument>(function, ": options.", name, " is ", value, "; it must be at least 0.");
  };
  check_not_negative("most_bytes", options.most_bytes);
  check_not_negative("symmetry_tolerance", options.symmetry_tolerance);
  check_not_negative("speed.read_bandwidth", options.speed.read_bandwidth);
  check_convert_options(function, options);
  if (options.share_crs && !can_share)
    fail<std::invalid_argument>(function,
                                ": options.share_crs is true, but the CRS matrix is unmanaged, or its "
                                "values or columns are const; without share_crs it is copied.");
}

double total_seconds(const OptimizeOptions& options, double conversion_seconds, double product_seconds) {
  // Not 0 * infinity if the format cannot hold the matrix.
  if (std::isinf(options.products) || std::isinf(product_seconds)) return product_seconds;
  return conversion_seconds + options.products * product_seconds;
}

namespace {
std::string bytes_text(double bytes) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << bytes << " bytes";
  return text.str();
}
}  // namespace

bool is_refused(const OptimizeOptions& options, double storage_bytes, FormatPrediction& format,
                const Selection& selection) {
  const double predicted = format.prediction.storage_bytes;
  if (format.shares_crs) return false;
  if (storage_bytes > options.most_bytes) {
    format.refusal = "stores " + bytes_text(storage_bytes) + ", more than options.most_bytes, " +
                     bytes_text(options.most_bytes);
    return true;
  }
  if (storage_bytes <= 1.1 * predicted) return false;
  const std::string stored =
      "stores " + bytes_text(storage_bytes) + ", not the predicted " + bytes_text(predicted);
  format.prediction.seconds *= storage_bytes / std::max(predicted, 1.0);
  format.prediction.storage_bytes = storage_bytes;
  format.total_seconds =
      total_seconds(options, format.prediction.conversion_seconds, format.prediction.seconds);
  const bool is_worse =
      std::any_of(selection.formats.begin(), selection.formats.end(), [&](const FormatPrediction& other) {
        return other.refusal.empty() && &other != &format && other.total_seconds < format.total_seconds;
      });
  if (is_worse) format.refusal = stored + ", and another format is better";
  return is_worse;
}

void rank_formats(const OptimizeOptions& options, Selection& selection) {
  for (FormatPrediction& one : selection.formats) {
    const double bytes = one.prediction.storage_bytes;
    one.total_seconds = total_seconds(options, one.prediction.conversion_seconds, one.prediction.seconds);
    if (one.shares_crs || !one.refusal.empty()) continue;
    std::ostringstream why;
    why << std::fixed << std::setprecision(2);
    if (!std::isfinite(one.prediction.seconds))
      why << "cannot hold this matrix" << (one.block_size > 1 ? " in blocks of this size" : "");
    else if (bytes > options.max_storage_ratio * selection.crs_bytes &&
             bytes > ConvertOptions::never_refused_bytes)
      why << "stores " << bytes / selection.crs_bytes << " times the bytes of the CRS matrix; at most "
          << options.max_storage_ratio << " are allowed";
    else if (bytes > options.most_bytes)
      why << "stores more than the " << std::setprecision(0) << options.most_bytes << " bytes allowed";
    one.refusal = why.str();
  }
  sort_formats(selection);
  if (selection.has_model) return;
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  for (FormatPrediction& one : selection.formats)
    one.total_seconds = one.prediction.seconds = one.prediction.conversion_seconds = unknown;
}

void sort_formats(Selection& selection) {
  auto& formats = selection.formats;
  const auto refused = std::stable_partition(formats.begin(), formats.end(),
                                             [](const FormatPrediction& one) { return one.refusal.empty(); });
  const auto is_faster = [](const FormatPrediction& p, const FormatPrediction& q) {
    return p.total_seconds < q.total_seconds;
  };
  std::stable_sort(formats.begin(), refused, is_faster);
  // Without a model the times of refused formats are not known.
  if (selection.has_model) std::stable_sort(refused, formats.end(), is_faster);
  selection.picked = refused == formats.begin() ? "" : formats.front().name;
}

void fail_without_format(const OptimizeOptions& options, const Selection& selection) {
  std::string why;
  for (const FormatPrediction& one : selection.formats)
    if (one.name == "crs") why = one.refusal;
  fail<std::length_error>("Filigree::optimize: all formats were refused. A copy of the CRS matrix takes ",
                          selection.crs_bytes, " bytes, options.most_bytes is ", options.most_bytes,
                          ", and options.max_storage_ratio is ", options.max_storage_ratio,
                          ". It was refused because: ", why,
                          ". With options.share_crs the result can share the CRS matrix.");
}

}  // namespace Impl
}  // namespace Filigree
