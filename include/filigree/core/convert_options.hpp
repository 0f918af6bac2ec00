// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "filigree/core/error.hpp"

namespace Filigree {

/// What a conversion to a narrower scalar type, for example from double to float, has done to the entries of
/// the CRS matrix.
///
/// If no entry is too small for the full precision of the new type, `largest` is at most the unit roundoff u
/// of that type: 2^-24 for float, 2^-11 for half_t and 2^-8 for bhalf_t. Then an element of the product A*x
/// changes by at most u times the element of |A|*|x|, besides the rounding of sums.
struct Rounding {
  /// The largest |rounded - value| / |value| of an entry that is finite and not 0. It is 1 if such an entry
  /// became 0. The size |z| of a complex number is the larger of the sizes of its parts.
  double largest = 0;
  /// The number of entries that were not 0 and became 0.
  std::int64_t zeros = 0;
};

/// The options of every conversion from CRS. The options of each format derive from it.
struct ConvertOptions {
  /// If true, the CRS matrix is checked first: the row map must start at 0, must not decrease and must end at
  /// the number of entries, and all column indices must lie in the matrix. If a check fails, the conversion
  /// throws std::invalid_argument. The text names the wrong end of the row map, or else the first row with
  /// wrong offsets, or else the first row with a wrong column index. Cost: one read of the row map and the
  /// entries, and a fence. If false, an invalid matrix is undefined behaviour.
  bool check_input = true;
  /// The largest size of the result, as a multiple of the bytes of the CRS matrix (values, entries and row
  /// map). If the result would be larger, the conversion throws std::length_error before it allocates values
  /// and columns. A result of at most never_refused_bytes is always accepted. At least 0; infinity means no
  /// limit. A conversion throws std::invalid_argument for other values.
  double max_storage_ratio = 3.0;
  /// A result of at most this size is accepted whatever the ratio. The padding of a tiny matrix to whole
  /// slices can exceed every ratio, but it wastes little memory.
  static constexpr double never_refused_bytes = 65536;
  /// A label for the matrix, so that Kokkos Tools show several matrices apart. It appears in the names of the
  /// Views of the result, and of the kernels and regions of the conversion and of later calls with the
  /// result: "Filigree::spmv[ell:pressure]" for the label "pressure". Products of CrsMatrix and BsrMatrix do
  /// not show it, because these classes of Kokkos Kernels cannot keep it. The names of each label are kept
  /// until the process ends, so do not count in it.
  std::string label;
  /// If not null, the conversion writes here how it has rounded the entries. It writes nothing if it throws.
  Rounding* rounding = nullptr;
};

/// A variant of a format: options and a name for them.
template <class Options>
struct NamedOptions {
  /// The name. If it is empty, the variant has the name of the format.
  std::string name;
  Options options = {};  ///< the options of the conversion
};

namespace Impl {
/// Throws std::invalid_argument if an option that all conversions have is out of range. The message begins
/// with `function`.
inline void check_convert_options(const char* function, const ConvertOptions& options) {
  if (!(options.max_storage_ratio >= 0))  // also true for NaN
    fail<std::invalid_argument>(function, ": options.max_storage_ratio is ", options.max_storage_ratio,
                                "; it must be at least 0.");
}

/// Whether Options has the static function variants().
template <class Options, class = void>
constexpr bool lists_variants_v = false;
template <class Options>
constexpr bool lists_variants_v<Options, std::void_t<decltype(Options::variants())>> = true;
}  // namespace Impl

/// The variants of a format that are worth comparing: the result of Options::variants(). The first has the
/// default options. If Options does not have this static function, the list has only the default options.
template <class Options>
std::vector<NamedOptions<Options>> variants_of() {
  if constexpr (Impl::lists_variants_v<Options>)
    return Options::variants();
  else
    return std::vector<NamedOptions<Options>>(1);
}

/// The options of refill().
struct RefillOptions {
  /// If true, refill() first checks that the CRS matrix is valid and that the matrix has its pattern. A dense
  /// format must have an element for each entry. If a check fails, refill() throws std::invalid_argument and
  /// changes nothing. If the patterns differ, the text names the first row of a different length, or else the
  /// first row with other columns. Cost: one read of both patterns and fences of exec, several times the cost
  /// of the refill (see docs/performance.md, "Check of the pattern in refill"), and for a dense format (CDS,
  /// also symmetric, DIA, blocked ELL, BSR) one byte per value while it runs.
  ///
  /// If false, refill() is one kernel without a fence, and a CRS matrix with another pattern leaves wrong
  /// values. Use it in a loop that never changes the pattern. (For DictCdsMatrix and SplitCdsMatrix, which
  /// can refuse values, it is several kernels and fences.)
  bool check_pattern = true;
  /// If not null, refill() writes here how it has rounded the entries. It writes nothing if it throws.
  Rounding* rounding = nullptr;
};

}  // namespace Filigree
