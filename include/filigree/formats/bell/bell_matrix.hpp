// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/block_size.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/matrix_base.hpp"

namespace Filigree {

/// Options of a conversion to BellMatrix.
struct BellOptions : ConvertOptions {
  /// b, the number of rows and columns of a block, 1 to largest_block_size. If it does not divide an extent
  /// of the matrix, the last block row or block column is smaller.
  int block_size = 1;

  /// The largest block size that a conversion takes, and that optimize() tries.
  static constexpr int largest_block_size = Impl::largest_compiled_block_size;
  /// Whether block_size must divide both extents of the matrix.
  static constexpr bool block_size_must_divide = false;
  /// Whether a product multiplies the padding of its blocks like entries.
  static constexpr bool multiplies_padding = false;
};

/// Blocked ELL (BELLPACK): ELL of dense b x b blocks. Every block row is padded to the length of the longest
/// one.
///
/// It suits matrices whose entries form small dense blocks, for example those of unstructured meshes with
/// several unknowns per node. One column index serves b * b values, and neighbouring lanes read neighbouring
/// values. Blocks with few entries, or one long block row, need much padding; the conversion then refuses the
/// matrix (ConvertOptions::max_storage_ratio).
///
/// Storage, for the 4 x 4 example and b = 2 (`.` is padding, value 0)
///
///     3 0|1 0        block_width = 2, n = 4 rows, 2 block rows
///     0 0|0 0
///     ---+---        block_entries  0 0 | 1 1
///     0 2|4 1        values         3 . . 1 | . . 2 . | 1 . 4 . | . . 1 1
///     1 0|0 1                       block 0            block 1
///                                   column 0   1       column 0   1
///
/// Block k of block row I has block column block_entries[k * block_rows + I]. Block columns ascend with k,
/// and padding has block column -1. The value in matrix row i and column c of block k is at position (k * b +
/// c) * n + i, where n is the number of rows. The Views have block_width * (b * n * sizeof(Scalar) +
/// block_rows * sizeof(Ordinal)) bytes.
///
/// A stored zero cannot be told from padding. A product adds nothing for it, even if x has an Inf there, and
/// to_crs leaves it out. The conversion sums duplicates.
///
/// Source: BELLPACK, as in Godwin, Holewinski and Sadayappan 2012, section 5, and in Vazquez, Fernandez and
/// Garzon 2011, section 3.1. The order of the values, by columns of the blocks, is from section 3.1 of the
/// former.
///
/// The template parameters are those of KokkosSparse::CrsMatrix. SizeType must be able to count the values;
/// positions are computed in 64 bits.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class BellMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::BellMatrix: Ordinal must be signed, because padding has block column -1.");

 public:
  using typename base_type::device_type;
  using options_type = BellOptions;             ///< options of the conversion
  static constexpr bool keeps_entries = false;  ///< see MatrixTraits::keeps_entries

  using typename base_type::entries_type;
  using typename base_type::values_type;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "bell"; }

  /// A matrix without rows.
  BellMatrix() = default;
  /// Wraps Views that already hold a matrix in the storage of the class comment. They are not copied, and
  /// only check() checks them. Throws std::invalid_argument if block_size is not 1 to
  /// BellOptions::largest_block_size.
  BellMatrix(Ordinal rows, Ordinal columns, SizeType nnz, int block_size, Ordinal block_width,
             values_type values_, entries_type block_entries_)
      : base_type(rows, columns, nnz),
        values(values_),
        block_entries(block_entries_),
        m_block_size(block_size),
        m_block_width(block_width) {
    if (block_size < 1 || block_size > BellOptions::largest_block_size)
      Impl::fail<std::invalid_argument>("Filigree::BellMatrix: block_size is ", block_size,
                                        "; it must be 1 to ", BellOptions::largest_block_size, ".");
  }

  /// b, the number of rows and columns of a block.
  KOKKOS_INLINE_FUNCTION int block_size() const { return m_block_size; }
  /// The number of blocks of the longest block row.
  KOKKOS_INLINE_FUNCTION Ordinal block_width() const { return m_block_width; }
  /// The number of block rows, including a smaller one at the end.
  KOKKOS_INLINE_FUNCTION Ordinal numBlockRows() const {
    return static_cast<Ordinal>((static_cast<std::int64_t>(this->numRows()) + m_block_size - 1) /
                                m_block_size);
  }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return Impl::bytes_of(values, block_entries); }

  values_type values;          ///< block_width * b * n values
  entries_type block_entries;  ///< block_width * block_rows block columns, -1 for padding

 private:
  int m_block_size = 1;
  Ordinal m_block_width = 0;
};

}  // namespace Filigree
