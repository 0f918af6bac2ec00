// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <set>
#include <string>
#include <vector>

#include "filigree/tune/optimize.hpp"

namespace Filigree::Impl {

/// The matrix in the named variant, or in the one that optimize() picks if the name is empty. Throws the
/// exceptions of optimize(), std::invalid_argument if there is no such variant, and std::length_error if the
/// options refuse it. `function` is named if Kokkos is not initialized; the caller puts it before the other texts.
template <class ExecutionSpace, class Crs>
converted_t<AnyMatrix, Crs> optimize_to(const char* function, const ExecutionSpace& exec, const Crs& crs,
                                        const std::string& name, const OptimizeOptions& options) {
  if (name.empty()) return optimize(exec, crs, options);
  check_initialized(function);
  const LabelScope scope(options.label);
  using CrsOptimization = Optimization<typename Crs::non_const_value_type, ExecutionSpace, Crs>;
  Selection selection = CrsOptimization::predict_all(exec, crs, options);
  std::vector<FormatPrediction> named;
  std::set<std::string> names;
  for (const FormatPrediction& one : selection.formats) {
    names.insert(one.name);
    if (one.name == name) named.push_back(one);
  }
  std::string known;
  for (const std::string& one : names)
    known += (known.empty() ? "" : ", ") + one;
  if (named.empty())
    fail<std::invalid_argument>("there is no format \"", name, "\"; the formats are ", known, ".");
  selection.formats = std::move(named);
  const auto matrix = CrsOptimization::convert_to_best(exec, crs, options, selection);
  if (!matrix)
    fail<std::length_error>("the format ", name, " is refused: ", selection.formats.front().refusal);
  auto result = matrix->with_selection(std::move(selection));
  set_label(result, options.label);
  return result;
}

}  // namespace Filigree::Impl
