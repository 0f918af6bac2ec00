// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "filigree/tune/selection.hpp"

#include <cmath>
#include <iomanip>

namespace Filigree {

const FormatPrediction& Selection::pick() const {
  for (const FormatPrediction& one : formats)
    if (one.name == picked) return one;
  throw std::logic_error(
      "Filigree::Selection::pick: no format was picked; predict_formats() and optimize() pick one.");
}

std::string Selection::explain() const {
  std::ostringstream out;
  out << std::left << std::setw(28) << "format" << std::right << std::setw(12) << "stores MB" << std::setw(14)
      << "predicted ms" << std::setw(15) << "conversion ms" << std::setw(12) << "all ms"
      << (timed ? "   measured ms" : "") << '\n'
      << std::fixed;
  for (const FormatPrediction& one : formats) {
    const std::string name = one.name + (one.block_size > 1 ? " b=" + std::to_string(one.block_size) : "");
    out << std::left << std::setw(28) << name << std::right << std::setprecision(2) << std::setw(12)
        << 1e-6 * one.prediction.storage_bytes << std::setprecision(4) << std::setw(14)
        << 1e3 * one.prediction.seconds << std::setw(15) << 1e3 * one.prediction.conversion_seconds
        << std::setprecision(2) << std::setw(12) << 1e3 * one.total_seconds << std::setprecision(4);
    if (one.measured_seconds > 0) out << std::setw(14) << 1e3 * one.measured_seconds;
    if (!one.refusal.empty()) out << "  " << one.refusal;
    out << '\n';
  }
  if (picked.empty()) return out.str();
  const FormatPrediction& best = pick();
  const bool measured = best.measured_seconds > 0;
  out << "Picked " << picked << ": ";
  if (best.block_size > 1) out << "blocks of " << best.block_size << ", ";
  if (std::isfinite(products))
    out << "the conversion and " << std::defaultfloat << std::setprecision(6) << products << " products "
        << (measured ? "took the least time of all timed formats, "
                     : "are predicted to take the least time, ")
        << std::fixed;
  else
    out << (measured ? "the fastest of all timed formats, " : "predicted to be the fastest format, ");
  out << std::setprecision(4) << 1e3 * (measured ? best.measured_seconds : best.prediction.seconds)
      << " ms per product.\n";
  return out.str();
}

namespace Impl {

void check_optimize_options(const OptimizeOptions& options) {
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
  check_not_negative("max_storage_ratio", options.max_storage_ratio);
  check_not_negative("speed.read_bandwidth", options.speed.read_bandwidth);
}

double total_seconds(const OptimizeOptions& options, const Prediction& prediction, double product_seconds) {
  if (std::isinf(options.products)) return product_seconds;
  return prediction.conversion_seconds + options.products * product_seconds;
}

bool is_refused(const OptimizeOptions& options, double storage_bytes, FormatPrediction& format,
                const Selection& selection) {
  const double predicted = format.prediction.storage_bytes;
  if (format.shares_crs) return false;
  if (storage_bytes > options.most_bytes) {
    format.refusal = "stores more than options.most_bytes";
    return true;
  }
  if (storage_bytes <= 1.1 * predicted) return false;
  format.prediction.seconds *= storage_bytes / std::max(predicted, 1.0);
  format.prediction.storage_bytes = storage_bytes;
  format.total_seconds = total_seconds(options, format.prediction, format.prediction.seconds);
  const bool is_worse =
      std::any_of(selection.formats.begin(), selection.formats.end(), [&](const FormatPrediction& other) {
        return other.refusal.empty() && &other != &format && other.total_seconds < format.total_seconds;
      });
  if (is_worse) format.refusal = "stores more than predicted, and another format is better";
  return is_worse;
}

void rank_formats(const OptimizeOptions& options, Selection& selection) {
  for (FormatPrediction& one : selection.formats) {
    const double bytes = one.prediction.storage_bytes;
    one.total_seconds = total_seconds(options, one.prediction, one.prediction.seconds);
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
  std::stable_sort(selection.formats.begin(), selection.formats.end(),
                   [](const FormatPrediction& p, const FormatPrediction& q) {
                     if (p.refusal.empty() != q.refusal.empty()) return p.refusal.empty();
                     return p.total_seconds < q.total_seconds;
                   });
  selection.picked = selection.formats.front().name;
}

}  // namespace Impl
}  // namespace Filigree
