// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <CLI/CLI.hpp>
#include <filigree/core/error.hpp>
#include <iostream>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>

namespace FiligreePerf {

namespace {

/// Prints flags as --flag=VALUE, with the default after the description.
struct HelpFormatter : CLI::Formatter {
  HelpFormatter() { column_width(26); }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional()) return "";
    // CLI11 joins the name of the type and the descriptions of all checks by colons. Only the first is
    // printed.
    std::string type = option->get_type_name();
    type.erase(0, type.find_first_not_of(':'));
    return type.empty() ? "" : "=" + type.substr(0, type.find(':'));
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string value = option->get_default_str();
    return option->get_description() + (value.empty() ? "" : " (default: " + value + ")");
  }
};

/// The arguments that the program itself does not know.
std::vector<std::string> parse(CLI::App& app, int argc, char** argv) {
  const bool passes_all_on = app.get_allow_extras();
  app.allow_extras();
  app.set_help_flag("--help", "print this text");
  app.formatter(std::make_shared<HelpFormatter>());
  for (CLI::Option* option : app.get_options())
    if (option->get_expected_max() == 1) option->take_last();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    throw std::invalid_argument(text.substr(0, text.find(':')) + ": needs a value; --help says which.");
  }
  std::vector<std::string> others = app.remaining();
  for (const std::string& argument : others) {
    if (passes_all_on && argument.rfind("--", 0) != 0)
      Filigree::Impl::fail<std::invalid_argument>(
          "\"", argument, "\" is not a flag",
          app.get_option_no_throw("--matrix") ? "; a file is given as --matrix=" + argument : "",
          ". --help lists all flags.");
    if (!passes_all_on && argument.rfind("--kokkos", 0) != 0)
      Filigree::Impl::fail<std::invalid_argument>(
          "\"", argument, "\" is not an argument of this program; --help lists all arguments.");
  }
  return others;
}

}  // namespace

int run_program(CLI::App& app, int argc, char** argv, const std::function<int(int&, char**)>& run) {
  try {
    std::vector<std::string> others = parse(app, argc, argv);
    std::vector<char*> arguments = {argv[0]};
    for (std::string& argument : others)
      arguments.push_back(argument.data());
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    Kokkos::ScopeGuard kokkos(count, arguments.data());
    return run(count, arguments.data());
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << std::endl;
    return 1;
  }
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  if (!text.empty() && text.back() == separator) parts.emplace_back();
  return parts;
}

void check_word(const std::string& flag, const std::string& word, const std::vector<std::string>& known) {
  const std::string error = CLI::IsMember(known)(word);
  if (!error.empty()) throw CLI::ValidationError(flag, error);
}

std::vector<std::filesystem::path> matrix_files(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() == ".mtx" || (file.extension() == ".gz" && file.stem().extension() == ".mtx"))
      files.push_back(file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string matrix_name(const std::filesystem::path& file) {
  return (file.extension() == ".gz" ? file.stem() : file).stem().string();
}

namespace {

struct NamedStencil {
  std::string name;
  int dimensions;
  Filigree::Stencil (*points)();
};

// The first stencil of each number of dimensions is the default.
const NamedStencil stencils[] = {{"3pt", 1, Filigree::Stencil::three_point},
                                 {"5pt", 2, Filigree::Stencil::five_point},
                                 {"9pt", 2, Filigree::Stencil::nine_point},
                                 {"7pt", 3, Filigree::Stencil::seven_point},
                                 {"27pt", 3, Filigree::Stencil::twenty_seven_point}};

double boundary_value(const std::string& text) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  double value = 0;
  if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof())
    Filigree::Impl::fail<std::invalid_argument>("--boundary: \"", text, "\" is not a number.");
  return value;
}

/// The rule of one axis.
Filigree::Boundary boundary_of(const std::string& text) {
  const auto parts = split(text, ':');
  const std::string rule = parts.empty() ? "" : parts.front();
  check_word("--boundary", rule, {"drop", "wrap", "clamp", "constant"});
  if (rule != "constant" && parts.size() > 1)
    Filigree::Impl::fail<std::invalid_argument>("--boundary: \"", text,
                                                "\" has values, but only constant takes values.");
  if (rule == "drop") return Filigree::Boundary::drop();
  if (rule == "wrap") return Filigree::Boundary::wrap();
  if (rule == "clamp") return Filigree::Boundary::clamp();
  if (parts.size() != 3)
    Filigree::Impl::fail<std::invalid_argument>(
        "--boundary: \"", text, "\" must give the values at both ends of the axis, as in constant:0:1.");
  return Filigree::Boundary::constant(boundary_value(parts[1]), boundary_value(parts[2]));
}

}  // namespace

void FileOptions::add_to(CLI::App& app) {
  app.add_option("--matrix", paths, "Matrix Market files (.mtx or .mtx.gz), or folders of them")
      ->type_name("PATHS")
      ->delimiter(',')
      ->check(CLI::ExistingPath);
  app.add_option("--entries", entries,
                 "repeats each file along the diagonal until it has about N entries (default: no repeats)")
      ->type_name("N")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
}

void GridOptions::add_to(CLI::App& app) {
  std::vector<std::string> names;
  for (const NamedStencil& known : stencils)
    names.push_back(known.name);
  app.add_option("--grid", m_grid, "cells of a structured grid: XxYxZ (3-D), XxY (2-D) or X (1-D)")
      ->type_name("XxYxZ")
      ->capture_default_str();
  app.add_option("--stencil", stencil,
                 "points that a cell depends on (default: 3pt in 1-D, 5pt in 2-D, 7pt in 3-D)")
      ->type_name("")
      ->check(CLI::IsMember(names));
  app.add_option("--dof", dof, "unknowns per cell")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--boundary", boundary,
                 "treatment of neighbours outside the grid: drop, wrap, clamp or constant:LOW:HIGH; either "
                 "one\nrule for all axes, or one rule per axis, as in wrap,drop,clamp")
      ->type_name("RULES")
      ->capture_default_str();
  app.callback([this]() {
    parse_cells();
    parse_stencil();
    parse_boundaries();
  });
}

void GridOptions::parse_cells() {
  const auto extents = split(m_grid, 'x');
  bool is_valid = !extents.empty() && extents.size() <= 3;
  cells = {1, 1, 1};
  for (std::size_t axis = 0; is_valid && axis < extents.size(); ++axis) {
    const char* end = extents[axis].data() + extents[axis].size();
    const auto parsed = std::from_chars(extents[axis].data(), end, cells[axis]);
    is_valid = parsed.ec == std::errc() && parsed.ptr == end && cells[axis] >= 1;
  }
  if (!is_valid)
    Filigree::Impl::fail<std::invalid_argument>(
        "--grid: \"", m_grid, "\" must be one to three whole numbers of at least 1, as in 64x64x64.");
  dimensions = static_cast<int>(extents.size());
}

void GridOptions::parse_stencil() {
  for (const auto& known : stencils)
    if (stencil.empty() && known.dimensions == dimensions) stencil = known.name;
  for (const auto& known : stencils)
    if (stencil == known.name && known.dimensions != dimensions)
      Filigree::Impl::fail<std::invalid_argument>("--stencil: ", stencil, " is ", known.dimensions,
                                                  "-D, but the grid ", m_grid, " is ", dimensions, "-D.");
}

void GridOptions::parse_boundaries() {
  const auto rules = split(boundary, ',');
  const auto axes = static_cast<std::size_t>(dimensions);
  if (rules.size() != 1 && rules.size() != axes)
    Filigree::Impl::fail<std::invalid_argument>("--boundary: \"", boundary, "\" has ", rules.size(),
                                                " rules; give one rule, or one for each of the ", dimensions,
                                                " axes of the grid.");
  // An axis that the grid does not have keeps the rule drop.
  for (std::size_t axis = 0; axis < axes; ++axis)
    boundaries[axis] = boundary_of(rules[rules.size() == 1 ? 0 : axis]);
}

Filigree::Stencil GridOptions::points() const {
  for (const auto& known : stencils)
    if (stencil == known.name) return known.points();
  throw std::logic_error("GridOptions::points: the command line was not parsed.");
}

std::string GridOptions::name() const {
  std::string text = stencil + '_' + std::to_string(cells[0]);
  for (std::size_t axis = 1; axis < static_cast<std::size_t>(dimensions); ++axis)
    text += 'x' + std::to_string(cells[axis]);
  text += "_dof" + std::to_string(dof);
  if (boundary != "drop") text += '_' + boundary;
  return text;
}

std::string GridOptions::flags() const {
  std::string text = "--grid=" + m_grid + " --stencil=" + stencil;
  if (boundary != "drop") text += " --boundary=" + boundary;
  return text;
}

}  // namespace FiligreePerf
