// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_BELL_BELL_MATRIX_HPP
#define FILIGREE_FORMATS_BELL_BELL_MATRIX_HPP

#include <cstddef>
#include <type_traits>

#include "filigree/core/convert_options.hpp"
#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/matrix_base.hpp"

namespace Filigree {

/// Options of a conversion to BellMatrix.
struct BellOptions : ConvertOptions {
  /// b: rows and columns are cut into blocks of this many, 1 to 8. It need not divide the extents of the
  /// matrix, whose last block is then smaller.
  int block_size = 1;
  /// The largest block size that optimize() tries.
  static constexpr int largest_block_size = 8;
  /// Whether the block size must divide the number of rows and of columns.
  static constexpr bool block_size_must_divide = false;
  /// Whether a product multiplies the padding of blocks like entries.
  static constexpr bool multiplies_padding = false;
};

/// Blocked ELL (BELLPACK): ELL of dense b x b blocks, every row of blocks padded to the length of the
/// longest.
///
/// For matrices whose entries come in small dense blocks anywhere, as several unknowns a node of an
/// unstructured mesh give: one column index serves b * b values, and neighbouring lanes read neighbouring
/// values. Blocks that are mostly empty and a long row of blocks are what the conversion refuses by
/// ConvertOptions::max_storage_ratio.
///
/// Storage, for the 4 x 4 example and b = 2 (`.` is padding, value 0)
///
///     3 0|1 0        block_width = 2, n = 4 rows, 2 rows of blocks
///     0 0|0 0
///     ---+---        block_entries  0 0 | 1 1
///     0 2|4 1        values         3 . . 1 | . . 2 . | 1 . 4 . | . . 1 1
///     1 0|0 1                       block 0            block 1
///                                   column 0   1       column 0   1
///
/// Block k of block row I has block column block_entries[k * block_rows + I], ascending in k, -1 where
/// padded. Its value in row i of the matrix and column c of the block is at (k * b + c) * n + i, where n is
/// the number of rows. Bytes: block_width * (b * n * sizeof(Scalar) + block_rows * sizeof(Ordinal)).
///
/// A stored zero cannot be told from padding, so it counts as none: it does not read x (an Inf in x meets no
/// 0 * Inf), and to_crs leaves it out. Duplicates of the CRS are summed.
///
/// Source: BELLPACK, as Godwin, Holewinski and Sadayappan 2012, section 5, and Vazquez, Fernandez and Garzon
/// 2011, section 1, have it; values by columns of the blocks as in section 3.1 of the former.
///
/// The parameters are those of KokkosSparse::CrsMatrix. SizeType counts the values; places are computed in
/// 64 bits.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class BellMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::BellMatrix: Ordinal must be signed, as padding has block column -1.");

 public:
  using typename base_type::device_type;
  using options_type = BellOptions;
  static constexpr bool keeps_entries = false;

  using typename base_type::entries_type;
  using typename base_type::values_type;

  static constexpr const char* name() { return "bell"; }

  /// A matrix without rows.
  BellMatrix() = default;
  /// Wraps Views that already hold a matrix as the class comment describes it; nothing is checked or copied.
  BellMatrix(Ordinal rows, Ordinal columns, SizeType nnz, int block_size, Ordinal block_width,
             values_type values_, entries_type block_entries_)
      : base_type(rows, columns, nnz),
        values(values_),
        block_entries(block_entries_),
        m_block_size(block_size),
        m_block_width(block_width) {}

  /// b.
  KOKKOS_INLINE_FUNCTION int block_size() const { return m_block_size; }
  /// Blocks of the longest row of blocks.
  KOKKOS_INLINE_FUNCTION Ordinal block_width() const { return m_block_width; }
  /// Rows of blocks, the last one included where it is smaller.
  KOKKOS_INLINE_FUNCTION Ordinal numBlockRows() const {
    return static_cast<Ordinal>((static_cast<std::int64_t>(this->numRows()) + m_block_size - 1) /
                                m_block_size);
  }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return Impl::bytes_of(values, block_entries); }

  values_type values;          ///< block_width * b * n
  entries_type block_entries;  ///< block_width * block rows block columns, -1 where padded

 private:
  int m_block_size = 1;
  Ordinal m_block_width = 0;
};

}  // namespace Filigree

#endif
