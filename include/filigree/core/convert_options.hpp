// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <type_traits>
#include <vector>

namespace Filigree {

/// The options of every conversion from CRS. The options of each format derive from it.
struct ConvertOptions {
  /// If true, the CRS matrix is checked first: the row map must start at 0, must not decrease and must end at
  /// the number of entries, and all column indices must lie in the matrix. If not, the conversion throws
  /// std::invalid_argument that names the first row whose offsets are wrong, or else the first row with a
  /// wrong column index. Cost: one read of the row map and the entries. If false, an invalid matrix is
  /// undefined behaviour.
  bool check_input = true;
  /// The largest size of the result, as a multiple of the bytes of the CRS matrix (values, entries and row
  /// map). If the result would be larger, the conversion throws std::length_error before it allocates values
  /// and columns. A result of at most never_refused_bytes is always accepted.
  double max_storage_ratio = 3.0;
  /// In a tiny matrix, padding to whole slices exceeds every ratio but wastes little memory.
  static constexpr double never_refused_bytes = 65536;
};

/// A variant of a format: options and a name for them.
template <class Options>
struct NamedOptions {
  /// The name. If it is empty, the variant has the name of the format.
  std::string name;
  Options options = {};
};

namespace Impl {
template <class Options, class = void>
constexpr bool lists_variants_v = false;
template <class Options>
constexpr bool lists_variants_v<Options, std::void_t<decltype(Options::variants())>> = true;
}  // namespace Impl

/// The variants of a format that are worth comparing: the result of Options::variants(). The first has the
/// default options. If Options has no such static function, the list has only the default options.
template <class Options>
std::vector<NamedOptions<Options>> variants_of() {
  if constexpr (Impl::lists_variants_v<Options>)
    return Options::variants();
  else
    return std::vector<NamedOptions<Options>>(1);
}

/// The options of refill().
struct RefillOptions {
  /// If true, refill() first checks that the matrix has the pattern of the CRS matrix; a dense format must
  /// have an element for each entry. If the check fails, refill() throws std::invalid_argument that names the
  /// first row of a different length, or else the first row with other columns, and leaves the matrix
  /// unchanged. Cost: one read of both patterns and a fence. If false, refill() is one kernel without a
  /// fence, and a CRS matrix of another pattern leaves wrong values without an error.
  bool check_pattern = true;
};

}  // namespace Filigree
