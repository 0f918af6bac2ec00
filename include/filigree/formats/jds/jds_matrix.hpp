// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/convert_options.hpp"
#include "filigree/core/matrix_base.hpp"

namespace Filigree {

/// Options of a conversion to JdsMatrix. There are none besides ConvertOptions.
struct JdsOptions : ConvertOptions {};

/// Jagged Diagonal Storage: rows are sorted by length, longest first, and stored column by column without
/// padding.
///
/// It suits matrices whose row lengths vary moderately. Nothing is padded. Neighbouring lanes have rows of
/// about the same length and read neighbouring entries. There are two costs. Neighbouring sorted rows may be
/// far apart in the matrix, so that a product reads x and writes y in a less regular order. And one lane
/// multiplies the whole longest row.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        permutation       2 0 3 1
///     0 0 0 0        diagonal_offsets  0 3 6 7
///     0 2 4 1        values            2 3 1 | 4 1 1 | 1
///     1 0 0 1        entries           1 0 0 | 2 2 3 | 3
///
/// Sorted row i is row permutation[i] of the matrix. Rows of one length keep their order. Jagged diagonal k
/// has one entry of each row that is longer than k; entry k of sorted row i is at diagonal_offsets[k] + i.
/// The entries of a row keep the order of the CRS matrix. Duplicates stay separate entries.
///
/// Bytes: nnz * (sizeof(Scalar) + sizeof(Ordinal)) + rows * sizeof(Ordinal) + 8 * (longest row + 1).
///
/// Source: Kirk and Hwu, chapter 10, section 10.5, in transposed form.
///
/// The template parameters are those of KokkosSparse::CrsMatrix. Offsets always have 64 bits.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class JdsMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

 public:
  using options_type = JdsOptions;             ///< options of the conversion
  static constexpr bool keeps_entries = true;  ///< see MatrixTraits::keeps_entries
  using typename base_type::device_type;
  using typename base_type::entries_type;
  using typename base_type::values_type;
  /// The View type of the offsets of jagged diagonals.
  using offsets_type = Kokkos::View<std::int64_t*, device_type, MemoryTraits>;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "jds"; }

  /// A matrix without rows.
  JdsMatrix() = default;
  /// Wraps Views that already hold a matrix as the class comment describes it. They are not copied, and only
  /// check() checks them.
  JdsMatrix(Ordinal rows, Ordinal columns, values_type values_, entries_type entries_,
            entries_type permutation_, offsets_type diagonal_offsets_)
      : base_type(rows, columns, static_cast<SizeType>(values_.extent(0))),
        values(values_),
        entries(entries_),
        permutation(permutation_),
        diagonal_offsets(diagonal_offsets_) {}

  /// The number of jagged diagonals: the length of the longest row.
  KOKKOS_INLINE_FUNCTION Ordinal numDiagonals() const {
    return diagonal_offsets.extent(0) == 0 ? 0 : static_cast<Ordinal>(diagonal_offsets.extent(0) - 1);
  }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return Impl::bytes_of(values, entries, permutation, diagonal_offsets); }

  values_type values;             ///< the jagged diagonals, one after another
  entries_type entries;           ///< column of each value
  entries_type permutation;       ///< matrix row of each sorted row
  offsets_type diagonal_offsets;  ///< position of the first entry of each jagged diagonal, then nnz
};

}  // namespace Filigree
