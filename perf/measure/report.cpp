// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace FiligreePerf {
namespace {

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

/// A column of the table: two lines of header, and the text of a result. `group` makes the first line.
struct Column {
  int width;
  const char* title;
  const char* unit;
  std::string (*text)(const Report&, const Result&);
};

bool is_reference(const Result& result) {
  return result.format == reference_name;
}

/// "-" for the reference.
std::string conversion_text(const Result& result, const char* format, double value) {
  return is_reference(result) ? "-" : number(format, value);
}
/// "-" for products of other libraries, too.
std::string refill_text(const Result& result, const char* format, double value) {
  return result.is_peer ? "-" : conversion_text(result, format, value);
}

std::string fraction_text(const Report& report, const Result& result) {
  if (result.fits_cache) return "in cache";
  const double fraction = result.bytes / result.seconds() / report.read_bandwidth;
  // Above 1 caches must have helped. If their size is not known, the fraction says nothing.
  if (report.machine.cache_bytes == 0 && fraction > 1) return "in cache?";
  return number("%.2f", fraction);
}

/// How much the entries were rounded.
std::string rounding_text(const Result& result) {
  double rounding = 0;
  for (const auto& [name, value] : result.facts)
    if (name == "largest_rounding") rounding = value;
  return rounding == 0 ? "no entry was rounded"
                       : "entries were rounded by up to " + number("%.1e", rounding) + " of their value";
}

const Column columns[] = {
    {10, "product", "ms", [](const Report&, const Result& r) { return number("%.4f", 1e3 * r.seconds()); }},
    {10, "speed-up", "over CRS",
     [](const Report&, const Result& r) { return number("%.2f", r.contender().speed_up.median); }},
    {12, "quartiles", "",
     [](const Report&, const Result& r) {
       const SpeedUp found = r.contender().speed_up;
       return number("%.2f", found.lower_quartile) + "-" + number("%.2f", found.upper_quartile);
     }},
    {9, "speed", "GFLOP/s",
     [](const Report& report, const Result& r) {
       return number("%.2f",
                     1e-9 * report.operations_per_entry * static_cast<double>(report.entries) / r.seconds());
     }},
    {9, "memory", "GB/s",
     [](const Report&, const Result& r) { return number("%.2f", 1e-9 * r.bytes / r.seconds()); }},
    {10, "of read", "bandwidth", fraction_text},
    {10, "storage", "MB",
     [](const Report&, const Result& r) { return number("%.3f", 1e-6 * r.storage_bytes); }},
    {12, "conversion", "ms",
     [](const Report&, const Result& r) { return conversion_text(r, "%.3f", 1e3 * r.conversion_seconds); }},
    {9, "", "products",
     [](const Report&, const Result& r) {
       return conversion_text(r, "%.1f", r.in_products(r.conversion_seconds));
     }},
    {10, "refill", "ms",
     [](const Report&, const Result& r) { return refill_text(r, "%.3f", 1e3 * r.refill_seconds); }},
    {9, "", "products",
     [](const Report&, const Result& r) { return refill_text(r, "%.1f", r.in_products(r.refill_seconds)); }},
    {11, "pays after", "products",
     [](const Report& report, const Result& r) {
       const Contender one = r.contender();
       if (!wins(one, report.noise())) return std::string("-");
       return conversion_text(r, "%.0f", break_even_products(one));
     }},
    {9, "error", "", [](const Report&, const Result& r) { return number("%.1e", r.max_rel_error); }}};

constexpr const char* legend =
    "\n"
    "product      median time of y = A*x\n"
    "speed-up     time of Kokkos Kernels' CRS divided by that of the format. The two are timed in turns:\n"
    "             median and quartiles of the ratios of all pairs\n"
    "of read      bytes per second as a fraction of the read bandwidth; \"in cache\" if the matrix, x and y\n"
    "             fit into the last-level cache\n"
    "conversion   from CRS, with the checks of the input, or the preparation of another library's product;\n"
    "             refill: new values for the same pattern; both also in products of Kokkos Kernels' CRS\n"
    "pays after   number of products that save the time of the conversion; \"-\" if the format is not faster "
    "by\n"
    "             more than the noise\n"
    "error        largest error of y, relative to the sum of magnitudes in its row\n";

void print_header(std::ostream& out, const Report& report) {
  const auto megabytes = [](double bytes) { return number("%.2f", 1e-6 * bytes) + " MB"; };
  out << report.problem << " in " << report.scalar << ": " << report.rows << " rows, " << report.columns
      << " columns, " << report.entries << " entries; CRS takes " << megabytes(report.crs_bytes) << '\n'
      << report.machine.device << ", backend " << report.machine.backend << ", host threads "
      << report.machine.threads << "; reads " << number("%.1f", 1e-9 * report.read_bandwidth)
      << " GB/s (measured); last-level cache "
      << (report.machine.cache_bytes > 0 ? megabytes(report.machine.cache_bytes) : "of unknown size") << '\n';
  const char* names[] = {"Filigree ", "Kokkos ", "Kokkos Kernels ", "", "CUDA "};
  std::size_t at = 0;
  for (const auto& [key, version] : versions()) {
    out << (at == 0 ? "" : ", ") << names[at] << version;
    ++at;
  }
  out << "\n\n";
}

void print_table(std::ostream& out, const Report& report, const std::vector<const Result*>& rows) {
  std::size_t width = 6;
  for (const Result* row : rows)
    width = std::max(width, row->format.size());
  const auto first = [&](const std::string& text) -> std::ostream& {
    return out << std::left << std::setw(static_cast<int>(width)) << text << std::right;
  };
  first("format");
  for (const Column& column : columns)
    out << std::setw(column.width) << column.title;
  first("\n");
  out << ' ';
  for (const Column& column : columns)
    out << std::setw(column.width) << column.unit;
  out << '\n';
  for (const Result* row : rows) {
    first(row->format);
    for (const Column& column : columns)
      out << std::setw(column.width) << column.text(report, *row);
    out << '\n';
  }
}

}  // namespace

Figures Report::counters(const Result& result) const {
  const Contender one = result.contender();
  const double seconds = one.seconds;
  const double products = break_even_products(one);
  Figures figures = {{"rows", static_cast<double>(rows)},
                     {"columns", static_cast<double>(columns)},
                     {"entries", static_cast<double>(entries)},
                     {"block_size", block_size},
                     {"storage_MB", 1e-6 * result.storage_bytes},
                     {"GFLOPs", 1e-9 * operations_per_entry * static_cast<double>(entries) / seconds},
                     {"GBps", 1e-9 * result.bytes / seconds},
                     {"fraction_of_read", result.bytes / seconds / read_bandwidth},
                     {"fits_cache", result.fits_cache ? 1.0 : 0.0},
                     {"lower_quartile_ms", 1e3 * quantile(result.samples, 0.25)},
                     {"median_ms", 1e3 * seconds},
                     {"upper_quartile_ms", 1e3 * quantile(result.samples, 0.75)},
                     {"speedup_vs_kokkos_kernels", one.speed_up.median},
                     {"speedup_lower_quartile", one.speed_up.lower_quartile},
                     {"speedup_upper_quartile", one.speed_up.upper_quartile},
                     {"pairs", static_cast<double>(result.samples.size())},
                     {"noise", noise()},
                     {"max_rel_error", result.max_rel_error},
                     {"conversion_ms", 1e3 * result.conversion_seconds},
                     {"conversion_in_products", result.in_products(result.conversion_seconds)},
                     {"refill_ms", 1e3 * result.refill_seconds},
                     {"refill_in_products", result.in_products(result.refill_seconds)},
                     // JSON has no infinity.
                     {"break_even_products", std::isfinite(products) ? products : -1.0}};
  figures.insert(figures.end(), facts.begin(), facts.end());
  figures.insert(figures.end(), result.facts.begin(), result.facts.end());
  figures.insert(figures.end(), result.further.begin(), result.further.end());
  if (!result.picked.empty()) figures.emplace_back("predicted_ms", 1e3 * result.predicted_seconds);
  return figures;
}

std::vector<std::pair<std::string, std::string>> machine_context(const Machine& machine,
                                                                 double read_bandwidth) {
  std::vector<std::pair<std::string, std::string>> result = {
      {"device", machine.device},
      {"backend", machine.backend},
      {"host_threads", std::to_string(machine.threads)},
      {"read_bandwidth_GBps", number("%.2f", 1e-9 * read_bandwidth)},
      {"last_level_cache_MB",
       machine.cache_bytes > 0 ? number("%.2f", 1e-6 * machine.cache_bytes) : "unknown"}};
  for (const auto& version : versions())
    result.push_back(version);
  return result;
}

std::vector<std::pair<std::string, std::string>> Report::context() const {
  std::vector<std::pair<std::string, std::string>> result = {{"problem", problem},
                                                             {"flags", problem_flags},
                                                             {"scalar", scalar},
                                                             {"rows", std::to_string(rows)},
                                                             {"columns", std::to_string(columns)},
                                                             {"entries", std::to_string(entries)},
                                                             {"block_size", std::to_string(block_size)},
                                                             {"crs_MB", number("%.3f", 1e-6 * crs_bytes)}};
  for (const auto& entry : machine_context(machine, read_bandwidth))
    result.push_back(entry);
  return result;
}

void Report::print(std::ostream& out) const {
  std::vector<const Result*> rows;
  for (const Result& result : results)
    if (result.is_timed()) rows.push_back(&result);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Result* a, const Result* b) { return a->seconds() < b->seconds(); });
  out << '\n';
  print_header(out, *this);
  print_table(out, *this, rows);
  out << legend;
  bool is_first = true;
  for (const Result& result : results) {
    if (result.is_timed()) continue;
    out << (is_first ? "\n" : "") << result.format << " is not measured: "
        << (result.refusal.empty() ? "--benchmark_filter excludes it" : result.refusal) << '\n';
    is_first = false;
  }
  out << '\n';
  std::vector<Contender> contenders;
  for (const Result* row : rows)
    if (row->picked.empty() && row->stored.empty() && !is_reference(*row))
      contenders.push_back(row->contender());
  for (const Result* row : rows) {
    if (row->picked.empty()) continue;
    const auto best = std::find_if(rows.begin(), rows.end(), [](const Result* other) {
      return !other->is_peer && other->picked.empty() && other->stored.empty() && !is_reference(*other);
    });
    out << "auto picked " << row->picked << ": predicted " << number("%.4f", 1e3 * row->predicted_seconds)
        << " ms, measured " << number("%.4f", 1e3 * row->seconds()) << " ms";
    if (best != rows.end())
      out << ", " << number("%.2f", (*best)->seconds() / row->seconds()) << " of the best format's speed";
    out << '\n';
  }
  const auto narrow =
      std::find_if(rows.begin(), rows.end(), [](const Result* row) { return !row->stored.empty(); });
  if (narrow != rows.end())
    out << "with values stored in " << (*narrow)->stored << ", " << (*narrow)->format << " is "
        << number("%.2f", (*narrow)->contender().speed_up.median) << " times as fast as Kokkos Kernels' CRS; "
        << rounding_text(**narrow) << '\n';
  out << recommend(contenders, noise()).text << std::endl;
}

}  // namespace FiligreePerf
