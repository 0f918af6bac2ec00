// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "filigree/tune/selection.hpp"

namespace Filigree {
namespace {

constexpr std::size_t rows_of_summary = 5;

/// For times that are neither predicted nor measured.
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// A number with a fixed number of digits; "-" if it is not known.
std::string fixed(double value, int digits) {
  if (std::isnan(value)) return "-";
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string products_text(double products) {
  std::ostringstream text;
  text << std::setprecision(6) << products << (products == 1 ? " product" : " products");
  return text.str();
}

/// The variants that are one row of the table, because they have one kernel.
struct Row {
  const FormatPrediction* shown;
  std::vector<std::string> others;  ///< names
};

/// Writes the explanation of a selection.
class Explanation {
 public:
  explicit Explanation(const Selection& selection) : m_selection(selection) {
    for (const FormatPrediction& one : selection.formats)
      if (one.name == "crs") m_crs = &one;
  }

  std::string text(Detail detail) {
    const bool all = detail == Detail::all || m_selection.picked.empty();
    write_decision();
    write_device();
    const std::vector<Row> rows = find_rows();
    write_table(shown_rows(rows, all));
    if (std::isfinite(m_selection.products) && !m_selection.picked.empty())
      m_out << "total: the conversion and " << products_text(m_selection.products) << '\n';
    if (all)
      write_refusals(rows);
    else
      m_out << "explain(Filigree::Detail::all) shows all formats (" << rows.size()
            << " rows) and why some are refused.\n";
    return m_out.str();
  }

 private:
  // The times without a model are measured, all others predicted.
  double seconds(const FormatPrediction& one) const {
    if (m_selection.has_model) return one.prediction.seconds;
    return one.measured_seconds > 0 ? one.measured_seconds : unknown;
  }
  double conversion_seconds(const FormatPrediction& one) const {
    if (m_selection.has_model) return one.prediction.conversion_seconds;
    return one.measured_seconds > 0 ? one.measured_conversion_seconds : unknown;
  }
  double crs_seconds() const { return m_crs ? seconds(*m_crs) : unknown; }
  double speed_up(const FormatPrediction& one) const {
    // Without entries both times are 0.
    const double ratio = crs_seconds() / seconds(one);
    return std::isfinite(ratio) ? ratio : unknown;
  }
  /// The number of products after which the conversion pays; infinite if the format is not faster than CRS.
  double pays_after(const FormatPrediction& one) const {
    const double saved = crs_seconds() - seconds(one);
    if (std::isnan(saved)) return unknown;
    return saved > 0 ? std::ceil(conversion_seconds(one) / saved) : std::numeric_limits<double>::infinity();
  }

  static std::string name(const FormatPrediction& one) {
    return one.name + (one.block_size > 1 ? " b=" + std::to_string(one.block_size) : "");
  }

  void write_decision() {
    if (m_selection.picked.empty()) {
      m_out << "No format was picked, because all are refused.\n";
      return;
    }
    const FormatPrediction& best = m_selection.pick();
    const bool measured = best.measured_seconds > 0;
    m_out << "Picked " << best.name << (best.block_size > 1 ? ", blocks of " : "")
          << (best.block_size > 1 ? std::to_string(best.block_size) : "") << ": ";
    if (std::isfinite(m_selection.products))
      m_out << "the conversion and " << products_text(m_selection.products)
            << (measured ? " took the least time of all timed formats, "
                         : " are predicted to take the least time, ");
    else
      m_out << (measured ? "the fastest of all timed formats, " : "predicted to be the fastest format, ");
    m_out << fixed(1e3 * (measured ? best.measured_seconds : best.prediction.seconds), 4)
          << " ms per product.\n";
    write_gain(best);
    if (best.is_symmetric) m_out << "It stores one half of the symmetric matrix.\n";
    if (best.has_dictionary)
      m_out << "It stores equal blocks once. refill() refuses a matrix with more distinct blocks.\n";
    if (!m_selection.stored.empty()) write_rounding();
    const bool is_narrow = !m_selection.stored.empty();
    if (best.shares_crs && !is_narrow)
      m_out << "It shares the CRS matrix, and refill() writes the new values there.\n";
    if (best.copies_crs && !is_narrow)
      m_out << "It is a copy of the CRS matrix and takes " << fixed(1e-6 * best.prediction.storage_bytes, 2)
            << " MB more. With options.share_crs it would share the CRS matrix.\n";
  }

  /// What the narrower type of the values costs.
  void write_rounding() {
    const Rounding& rounding = m_selection.rounding;
    m_out << "All values are stored in " << m_selection.stored << ", also those of CRS. ";
    if (rounding.largest == 0)
      m_out << "No entry was rounded.\n";
    else
      m_out << "Entries were rounded by up to " << std::scientific << std::setprecision(1) << rounding.largest
            << std::defaultfloat << " of their value"
            << (rounding.zeros > 0 ? ", and " + std::to_string(rounding.zeros) + " of them became 0" : "")
            << ".\n";
  }

  /// What the picked format gains over the CRS matrix that the caller has.
  void write_gain(const FormatPrediction& best) {
    if (&best == m_crs || std::isnan(speed_up(best))) return;
    m_out << "A product is " << (m_selection.has_model ? "predicted to be " : "") << fixed(speed_up(best), 2)
          << " times as fast as that of CRS by Kokkos Kernels"
          << (m_selection.stored.empty() ? "" : " with values of " + m_selection.stored) << ". ";
    if (std::isfinite(pays_after(best)))
      m_out << "The conversion takes " << fixed(1e3 * conversion_seconds(best), 4) << " ms and pays after "
            << products_text(pays_after(best)) << ".\n";
    else
      m_out << "The conversion never pays.\n";
  }

  void write_device() {
    m_out << "Device: " << m_selection.device;
    if (!m_selection.has_model)
      m_out << ". The byte model is not fitted to this device. All formats were timed instead.\n";
    else
      m_out << ", " << fixed(1e-9 * m_selection.read_bandwidth, 0) << " GB/s"
            << (m_selection.assumes_bandwidth ? " as assumed for all hosts: times, also of conversions, are "
                                                "rough; speed-ups do not depend on it"
                                              : "")
            << ".\n";
  }

  /// Variants with one kernel are one row, which shows the picked variant or else the first.
  std::vector<Row> find_rows() const {
    std::vector<Row> rows;
    const auto kernel = [](const FormatPrediction& one) {
      return one.same_as.empty() ? one.name : one.same_as;
    };
    for (const FormatPrediction& one : m_selection.formats) {
      const auto row = std::find_if(rows.begin(), rows.end(),
                                    [&](const Row& r) { return kernel(*r.shown) == kernel(one); });
      if (row == rows.end()) {
        rows.push_back({&one, {}});
      } else if (one.name == m_selection.picked) {
        row->others.insert(row->others.begin(), row->shown->name);
        row->shown = &one;
      } else {
        row->others.push_back(one.name);
      }
    }
    return rows;
  }

  /// The rows that are not refused: all, or the best five. CRS and the picked variant are always among them.
  std::vector<Row> shown_rows(const std::vector<Row>& rows, bool all) const {
    const auto is_shown = [](const Row& row) { return row.shown->refusal.empty(); };
    const auto is_needed = [&](const Row& row) {
      return is_shown(row) && (row.shown == m_crs || row.shown->name == m_selection.picked);
    };
    auto pending = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_needed));
    std::vector<Row> shown;
    for (const Row& row : rows) {
      const bool needed = is_needed(row);
      if (needed) --pending;
      if (is_shown(row) && (all || needed || shown.size() + pending < rows_of_summary)) shown.push_back(row);
    }
    return shown;
  }

  void write_table(const std::vector<Row>& rows) {
    if (rows.empty()) return;
    std::vector<std::vector<std::string>> cells = {{"format", "speed-up"}, {"", "over CRS"}};
    const auto add_column = [&](const char* title, const char* unit) {
      cells[0].push_back(title);
      cells[1].push_back(unit);
    };
    if (m_selection.has_model) add_column("product", "predicted ms");
    if (m_selection.timed) add_column("product", "measured ms");
    add_column("conversion", "ms");
    add_column("pays after", "products");
    add_column("total", "ms");
    add_column("storage", "MB");
    for (const Row& row : rows) {
      const FormatPrediction& one = *row.shown;
      std::vector<std::string> line = {name(one), fixed(speed_up(one), 2)};
      if (m_selection.has_model) line.push_back(fixed(1e3 * one.prediction.seconds, 4));
      if (m_selection.timed)
        line.push_back(one.measured_seconds > 0 ? fixed(1e3 * one.measured_seconds, 4) : "-");
      line.push_back(fixed(1e3 * conversion_seconds(one), 4));
      const double products = pays_after(one);
      line.push_back(&one == m_crs ? "-" : std::isinf(products) ? "never" : fixed(products, 0));
      line.push_back(std::isinf(m_selection.products) ? "-" : fixed(1e3 * one.total_seconds, 2));
      line.push_back(fixed(1e-6 * one.prediction.storage_bytes, 2));
      line.push_back(note(row));
      cells.push_back(line);
    }
    write_cells(cells);
  }

  static std::string note(const Row& row) {
    std::string text;
    if (row.shown->shares_crs) text = "  shares the CRS matrix";
    if (row.shown->copies_crs) text = "  copies the CRS matrix";
    if (!row.others.empty()) text += (text.empty() ? "  " : "; ") + same_kernel(row);
    return text;
  }
  static std::string same_kernel(const Row& row) {
    std::string text = "one kernel with ";
    for (const std::string& other : row.others)
      text += (&other == &row.others.front() ? "" : ", ") + other;
    return text;
  }

  /// The first column is aligned to the left and as wide as its longest text. Notes follow the last column.
  void write_cells(const std::vector<std::vector<std::string>>& cells) {
    std::size_t width = 0;
    for (const auto& line : cells)
      width = std::max(width, line.front().size());
    const std::size_t columns = cells.front().size();
    for (const auto& line : cells) {
      m_out << std::left << std::setw(static_cast<int>(width)) << line.front() << std::right;
      for (std::size_t column = 1; column < columns; ++column)
        m_out << std::setw(13) << line[column];
      m_out << (line.size() > columns ? line.back() : "") << '\n';
    }
  }

  void write_refusals(const std::vector<Row>& rows) {
    for (const Row& row : rows)
      if (!row.shown->refusal.empty())
        m_out << "refused " << name(*row.shown) << ": " << row.shown->refusal
              << (row.others.empty() ? "" : "; " + same_kernel(row)) << '\n';
  }

  const Selection& m_selection;
  const FormatPrediction* m_crs = nullptr;
  std::ostringstream m_out;
};

}  // namespace

std::string Selection::explain(Detail detail) const {
  return Explanation(*this).text(detail);
}

}  // namespace Filigree
