// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_CONVERT_OPTIONS_HPP
#define FILIGREE_CORE_CONVERT_OPTIONS_HPP

namespace Filigree {

/// What every conversion from CRS takes; each format's options derive from it.
struct ConvertOptions {
  /// Checks the input first (row map starts at 0, does not fall and ends at the number of entries; columns
  /// lie in the matrix) and throws std::invalid_argument with the first row that breaks a rule. Costs one
  /// read of the row map and the entries. Without it such a matrix is undefined behaviour.
  bool check_input = true;
  /// The most that the result may store, as a multiple of the bytes of the CRS matrix (values, entries, row
  /// map). A result that would need more is refused with std::length_error before it is allocated.
  double max_storage_ratio = 3.0;
};

/// What refill takes.
struct RefillOptions {
  /// Checks first that the matrix can hold the CRS matrix in the places that it has, and throws
  /// std::invalid_argument with the first row that differs, the matrix untouched. Costs one read of both
  /// patterns and a fence. Without it refill is one kernel and no fence, and a CRS of another pattern leaves
  /// a matrix that is neither of both.
  bool check_pattern = true;
};

}  // namespace Filigree

#endif
