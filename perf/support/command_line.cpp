// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <filigree/core/error.hpp>
#include <locale>
#include <sstream>
#include <stdexcept>

namespace FiligreePerf {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  if (!text.empty() && text.back() == separator) parts.emplace_back();
  return parts;
}

std::int64_t positive(const std::string& flag, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", text, "\" is no whole number of at least 1.");
  return value;
}

void check_word(const std::string& flag, const std::string& word, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  std::string list;
  for (const std::string& name : known)
    list += (list.empty() ? "" : ", ") + name;
  Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", word, "\" is none of ", list, ".");
}

namespace {

struct NamedStencil {
  const char* name;
  int dimensions;
  Filigree::Stencil (*points)();
};

// The first of each number of dimensions is the default.
const NamedStencil stencils[] = {{"3pt", 1, Filigree::Stencil::three_point},
                                 {"5pt", 2, Filigree::Stencil::five_point},
                                 {"9pt", 2, Filigree::Stencil::nine_point},
                                 {"7pt", 3, Filigree::Stencil::seven_point},
                                 {"27pt", 3, Filigree::Stencil::twenty_seven_point}};

double number(const std::string& flag, const std::string& text) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  double value = 0;
  if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof())
    Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", text, "\" is no number.");
  return value;
}

Filigree::Boundary boundary_of(const std::string& flag, const std::string& text) {
  const auto parts = split(text, ':');
  const std::string rule = parts.empty() ? "" : parts.front();
  check_word(flag, rule, {"drop", "wrap", "clamp", "constant"});
  if (rule != "constant" && parts.size() > 1)
    Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", text, "\": only constant takes values.");
  if (rule == "drop") return Filigree::Boundary::drop();
  if (rule == "wrap") return Filigree::Boundary::wrap();
  if (rule == "clamp") return Filigree::Boundary::clamp();
  if (parts.size() != 3)
    Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", text,
                                                "\" must have the values at both ends, as constant:0:1.");
  return Filigree::Boundary::constant(number(flag, parts[1]), number(flag, parts[2]));
}

}  // namespace

std::string GridOptions::usage() {
  return "  --grid=64x64x64         cells of a structured grid in x, y and z; without z it is 2-D, without y "
         "1-D\n"
         "  --stencil=7pt           3pt (1-D), 5pt or 9pt (2-D), 7pt or 27pt (3-D); by default the smaller\n"
         "  --dof=1                 unknowns a cell\n"
         "  --boundary=drop         what lies outside: drop, wrap, clamp or constant:LOW:HIGH; or one for "
         "each\n"
         "                          axis, as wrap,drop,clamp\n";
}

bool GridOptions::take(const std::string& flag, const std::string& value) {
  if (flag == "--grid") {
    const auto extents = split(value, 'x');
    if (extents.empty() || extents.size() > 3)
      Filigree::Impl::fail<std::invalid_argument>("--grid: \"", value,
                                                  "\" must be like 64x64x64, 64x64 or 64.");
    cells = {1, 1, 1};
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      cells[axis] = positive(flag, extents[axis]);
    dimensions = static_cast<int>(extents.size());
    given = true;
  } else if (flag == "--stencil") {
    std::vector<std::string> names;
    for (const auto& known : stencils)
      names.emplace_back(known.name);
    check_word(flag, value, names);
    stencil = value;
    given = true;
  } else if (flag == "--dof") {
    const std::int64_t unknowns = positive(flag, value);
    if (unknowns > 1000)
      Filigree::Impl::fail<std::invalid_argument>("--dof: ", unknowns, " is more than 1000.");
    dof = static_cast<int>(unknowns);
  } else if (flag == "--boundary") {
    const auto rules = split(value, ',');
    if (rules.size() > 3)
      Filigree::Impl::fail<std::invalid_argument>("--boundary: \"", value, "\" has more than three axes.");
    boundary_axes = static_cast<int>(rules.size());
    if (rules.empty()) check_word(flag, value, {"drop", "wrap", "clamp", "constant"});
    for (std::size_t axis = 0; axis < 3; ++axis)
      boundaries[axis] = boundary_of(flag, rules[rules.size() == 1 ? 0 : std::min(axis, rules.size() - 1)]);
    boundary = value;
    given = true;
  } else {
    return false;
  }
  return true;
}

void GridOptions::finish() {
  for (const auto& known : stencils)
    if (stencil.empty() && known.dimensions == dimensions) stencil = known.name;
  for (const auto& known : stencils)
    if (stencil == known.name && known.dimensions != dimensions)
      Filigree::Impl::fail<std::invalid_argument>("--stencil: ", stencil, " does not fit a ", dimensions,
                                                  "-D grid; it is ", known.dimensions, "-D.");
  if (boundary_axes > 1 && boundary_axes != dimensions)
    Filigree::Impl::fail<std::invalid_argument>("--boundary: \"", boundary, "\" has ", boundary_axes,
                                                " axes, the grid ", dimensions,
                                                "; give one rule, or one an axis.");
  // An axis that the grid does not have has nothing outside.
  for (auto axis = static_cast<std::size_t>(dimensions); axis < 3; ++axis)
    boundaries[axis] = Filigree::Boundary::drop();
}

Filigree::Stencil GridOptions::points() const {
  for (const auto& known : stencils)
    if (stencil == known.name) return known.points();
  throw std::logic_error("GridOptions: finish() was not called");
}

std::string GridOptions::name() const {
  std::string text = stencil + '_' + std::to_string(cells[0]);
  for (std::size_t axis = 1; axis < static_cast<std::size_t>(dimensions); ++axis)
    text += 'x' + std::to_string(cells[axis]);
  text += "_dof" + std::to_string(dof);
  if (boundary != "drop") text += '_' + boundary;
  return text;
}

}  // namespace FiligreePerf
