// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_JDS_JDS_MATRIX_HPP
#define FILIGREE_FORMATS_JDS_JDS_MATRIX_HPP

#include <cstddef>
#include <cstdint>

#include "filigree/core/convert_options.hpp"
#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/matrix_base.hpp"

namespace Filigree {

/// Options of a conversion to JdsMatrix: those that every format has.
struct JdsOptions : ConvertOptions {};

/// Jagged Diagonal Storage: rows sorted by length, longest first, and stored column by column without
/// padding.
///
/// For matrices whose row lengths vary, but not by much: nothing is padded, and neighbouring lanes, which
/// have rows of the same length, read neighbouring entries. Rows of one length keep their order, yet x and y
/// are used in the order of the sorted rows, which are far apart in the matrix; and one lane multiplies the
/// longest row alone.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        permutation       2 0 3 1
///     0 0 0 0        diagonal_offsets  0 3 6 7
///     0 2 4 1        values            2 3 1 | 4 1 1 | 1
///     1 0 0 1        entries           1 0 0 | 2 2 3 | 3
///
/// Entry k of sorted row i, row permutation[i] of the matrix, is at diagonal_offsets[k] + i; jagged diagonal
/// k has an entry of each row that is longer than k. Entries keep the order of the CRS; duplicates stay
/// apart. Bytes: entries * (sizeof(Scalar) + sizeof(Ordinal)), rows * sizeof(Ordinal), 8 * (longest row + 1).
///
/// Source: Kirk and Hwu, chapter 10, section 10.5, transposed.
///
/// The parameters are those of KokkosSparse::CrsMatrix; offsets have 64 bits whatever they are.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class JdsMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

 public:
  using typename base_type::device_type;
  using options_type = JdsOptions;
  static constexpr bool keeps_entries = true;

  using typename base_type::entries_type;
  using typename base_type::values_type;
  using offsets_type = Kokkos::View<std::int64_t*, device_type, MemoryTraits>;

  static constexpr const char* name() { return "jds"; }

  /// A matrix without rows.
  JdsMatrix() = default;
  /// Wraps Views that already hold a matrix as the class comment describes it; nothing is checked or copied.
  JdsMatrix(Ordinal rows, Ordinal columns, values_type values_, entries_type entries_,
            entries_type permutation_, offsets_type diagonal_offsets_)
      : base_type(rows, columns, static_cast<SizeType>(values_.extent(0))),
        values(values_),
        entries(entries_),
        permutation(permutation_),
        diagonal_offsets(diagonal_offsets_) {}

  /// Length of the longest row.
  KOKKOS_INLINE_FUNCTION Ordinal numDiagonals() const {
    return diagonal_offsets.extent(0) == 0 ? 0 : static_cast<Ordinal>(diagonal_offsets.extent(0) - 1);
  }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return Impl::bytes_of(values, entries, permutation, diagonal_offsets); }

  values_type values;             ///< jagged diagonal after jagged diagonal
  entries_type entries;           ///< column of each value
  entries_type permutation;       ///< row of the matrix for each sorted row
  offsets_type diagonal_offsets;  ///< first entry of each jagged diagonal, and the number of entries
};

}  // namespace Filigree

#endif
