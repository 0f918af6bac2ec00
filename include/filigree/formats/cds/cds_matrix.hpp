// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/matrix_base.hpp"

namespace Filigree {

/// Options of a conversion to CdsMatrix.
struct CdsOptions : ConvertOptions {
  /// b, the number of rows and columns of a block: the unknowns per cell of a grid. At least 1. If it does
  /// not divide an extent of the matrix, the last block row or block column is smaller.
  int block_size = 1;

  /// The largest block size that optimize() tries. A conversion takes larger ones too.
  static constexpr int largest_block_size = 16;
  /// Whether block_size must divide both extents of the matrix.
  static constexpr bool block_size_must_divide = false;
  /// Whether a product multiplies the padding of its blocks like entries.
  static constexpr bool multiplies_padding = false;
};

/// Column Diagonal Storage: dense diagonals of b x b blocks, without column indices.
///
/// It suits matrices of structured grids with b unknowns per cell. Per element of y and block diagonal, a
/// product reads b values, in whole cache lines. The only indices are the offsets of the k block diagonals. A
/// block diagonal is stored completely, even if few of its blocks have entries. The conversion therefore
/// refuses a matrix with many such diagonals (ConvertOptions::max_storage_ratio).
///
/// Storage, for a matrix of 2 x 2 blocks and three block diagonals (`.` is padding, value 0)
///
///     a b|e f|         block_size = 2, offsets = -1 0 1, n = 4 rows
///     c d|g h|
///     ---+---+         values   . . i k | . . j l | a c m o | b d n p | e g . . | f h . .
///     i j|m n|                  offset -1          offset 0            offset 1
///     k l|o p|                  column 0   1       0         1         0         1
///
/// and for the 4 x 4 example, in which most blocks have padding
///
///     3 0|1 0          block_size = 2, offsets = -1 0 1
///     0 0|0 0
///     ---+---          values   . . . 1 | . . 2 . | 3 . 4 . | . . 1 1 | 1 . . . | . . . .
///     0 2|4 1                   offset -1           offset 0            offset 1
///     1 0|0 1                   column 0    1       0         1         0         1
///
/// The value of row i and column (i / b + offsets[d]) * b + c is at position (d * b + c) * n + i, where n is
/// the number of rows. There are k * b * n values and k offsets, as in the formula of the source. With b = 1,
/// CDS is DIA.
///
/// A stored zero cannot be told from padding. A product does not multiply it, so an Inf in x does not produce
/// a NaN there, and to_crs leaves it out. The conversion sums duplicates.
///
/// Source: Godwin, Holewinski and Sadayappan 2012, section 3.1.
///
/// The template parameters are those of KokkosSparse::CrsMatrix. SizeType must be able to count the values;
/// positions are computed in 64 bits.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class CdsMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::CdsMatrix: Ordinal must be signed, because diagonals below the main one have "
                "negative offsets.");

 public:
  using typename base_type::device_type;
  using options_type = CdsOptions;              ///< options of the conversion
  static constexpr bool keeps_entries = false;  ///< see MatrixTraits::keeps_entries

  using typename base_type::values_type;
  /// The View type of the offsets of block diagonals.
  using offsets_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "cds"; }

  /// A matrix without rows.
  CdsMatrix() = default;
  /// Wraps Views that already hold a matrix in the storage of the class comment. They are not copied, and
  /// only check() checks them.
  CdsMatrix(Ordinal rows, Ordinal columns, SizeType nnz, int block_size, values_type values_,
            offsets_type offsets_)
      : base_type(rows, columns, nnz), values(values_), offsets(offsets_), m_block_size(block_size) {}

  /// b, the number of rows and columns of a block.
  KOKKOS_INLINE_FUNCTION int block_size() const { return m_block_size; }
  /// k, the number of block diagonals.
  KOKKOS_INLINE_FUNCTION Ordinal numDiagonals() const { return static_cast<Ordinal>(offsets.extent(0)); }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return Impl::bytes_of(values, offsets); }

  values_type values;    ///< k * b * n values
  offsets_type offsets;  ///< block column minus block row of each of the k diagonals, ascending

 private:
  int m_block_size = 1;
};

namespace Impl {

/// Allocates a CDS matrix with the given number of block diagonals. The caller writes its values and offsets.
template <class Cds, class ExecutionSpace>
Cds allocate_cds(const ExecutionSpace& exec, const char* format, typename Cds::ordinal_type rows,
                 typename Cds::ordinal_type columns, typename Cds::size_type nnz, int block_size,
                 std::int64_t diagonals) {
  const std::int64_t size = diagonals * block_size * static_cast<std::int64_t>(rows);
  return Cds(rows, columns, nnz, block_size,
             allocate_view<typename Cds::values_type>(exec, "values", format, size),
             allocate_view<typename Cds::offsets_type>(exec, "offsets", format, diagonals));
}

}  // namespace Impl

}  // namespace Filigree
