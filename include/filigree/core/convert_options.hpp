// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_CONVERT_OPTIONS_HPP
#define FILIGREE_CORE_CONVERT_OPTIONS_HPP

#include <string>
#include <type_traits>
#include <vector>

namespace Filigree {

/// What every conversion from CRS takes; each format's options derive from it.
struct ConvertOptions {
  /// Checks the input first (row map starts at 0, does not fall and ends at the number of entries; columns
  /// lie in the matrix) and throws std::invalid_argument with the first row that breaks a rule, one of the
  /// row map before one of the columns. Costs one read of the row map and the entries. Without it such a
  /// matrix is undefined behaviour.
  bool check_input = true;
  /// The most that the result may store, as a multiple of the bytes of the CRS matrix (values, entries, row
  /// map). A result that would need more is refused with std::length_error before its values and columns are
  /// allocated, unless it is smaller than never_refused_bytes.
  double max_storage_ratio = 3.0;
  /// Padding to whole slices, shares and the like is large beside a matrix of ten entries, and no waste.
  static constexpr double never_refused_bytes = 65536;
};

/// Options with a name: a member of the family of formats that they select.
template <class Options>
struct NamedOptions {
  /// Empty stands for the name of the format.
  std::string name;
  Options options = {};
};

namespace Impl {
template <class Options, class = void>
struct VariantsOf {
  static std::vector<NamedOptions<Options>> list() { return std::vector<NamedOptions<Options>>(1); }
};
template <class Options>
struct VariantsOf<Options, std::void_t<decltype(Options::variants())>> {
  static std::vector<NamedOptions<Options>> list() { return Options::variants(); }
};
}  // namespace Impl

/// The members of the family of a format that are worth a comparison, the one of its default options first:
/// what the static function variants() of its options gives, where they have one.
template <class Options>
std::vector<NamedOptions<Options>> variants_of() {
  return Impl::VariantsOf<Options>::list();
}

/// What refill takes.
struct RefillOptions {
  /// Checks first that the matrix can hold the CRS matrix in the places that it has, and throws
  /// std::invalid_argument with the first row that differs, in its length before its columns, the matrix
  /// untouched. Costs one read of both patterns and fences. Without it refill is one kernel and no fence, and
  /// a CRS of another pattern leaves a matrix that is neither of both.
  bool check_pattern = true;
};

}  // namespace Filigree

#endif
