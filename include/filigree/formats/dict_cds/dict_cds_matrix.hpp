// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/block_size.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/matrix_base.hpp"

namespace Filigree {

/// Options of a conversion to DictCdsMatrix.
struct DictCdsOptions : ConvertOptions {
  /// b, the number of rows and columns of a block, as in CdsOptions.
  int block_size = 1;
  /// The most distinct blocks that are accepted, 1 to 65536. With more, the conversion throws
  /// std::length_error.
  int max_blocks = most_blocks;

  /// The most distinct blocks that an index of two bytes can count.
  static constexpr int most_blocks = 65536;
  /// The most distinct blocks that an index of one byte can count.
  static constexpr int most_short_blocks = 256;
  /// The largest block size that optimize() tries. A conversion takes larger ones too.
  static constexpr int largest_block_size = 16;
  /// Whether block_size must divide both extents of the matrix.
  static constexpr bool block_size_must_divide = false;
  /// Whether a product multiplies the padding of its blocks like entries.
  static constexpr bool multiplies_padding = false;
};

/// Column Diagonal Storage with a dictionary: equal blocks are stored once.
///
/// It suits matrices of structured grids whose blocks repeat, for example because the coefficients are
/// constant or belong to a few materials. Each block of a diagonal is then an index of one or two bytes into
/// the dictionary of distinct blocks. A product reads b * b * sizeof(Scalar) times fewer bytes of the matrix
/// than one of CdsMatrix, if there are at most 256 distinct blocks.
///
/// Storage, for a matrix of 2 x 2 blocks with three block diagonals
///
///     a b|e f|         block_size = 2, offsets = -1 0 1, m = 2 block rows
///     c d|g h|
///     ---+---+         values          0 0 0 0 | e f g h | a b c d     block 0, 1, 2
///     e f|a b|         short_indices   0 1     | 2 2     | 1 0
///     g h|c d|         block row       0 1       0 1       0 1
///                      offset          -1        0         1
///
/// Element (i, j) of distinct block q is at position (q * b + i) * b + j of values. The block of block row R
/// on diagonal d is the one whose number is at position d * m + R of short_indices if there are at most 256
/// distinct blocks, or else of indices; the other View is empty. Blocks that the matrix does not have are
/// zeros, which take a place in the dictionary like any other block. If b does not divide an extent, the last
/// blocks are padded with zeros. The distinct blocks are numbered in the order in which they first occur in
/// short_indices or indices.
///
/// A stored zero cannot be told from padding, as in CdsMatrix. The conversion sums duplicates. refill() makes
/// a new dictionary in the same Views and refuses a matrix with more distinct blocks than numBlocks().
///
/// Source: the diagonals are those of Godwin, Holewinski and Sadayappan 2012, section 3.1. The dictionary
/// comes from no paper.
///
/// The template parameters are those of KokkosSparse::CrsMatrix. SizeType must be able to count the indices
/// and the values; positions are computed in 64 bits.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class DictCdsMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::DictCdsMatrix: Ordinal must be signed, as in Filigree::CdsMatrix.");

 public:
  using typename base_type::device_type;
  using options_type = DictCdsOptions;          ///< options of the conversion
  static constexpr bool keeps_entries = false;  ///< see MatrixTraits::keeps_entries
  static constexpr bool has_dictionary = true;  ///< see MatrixTraits::has_dictionary

  using typename base_type::values_type;
  /// The View type of the offsets of block diagonals.
  using offsets_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;
  /// The View type of the numbers of blocks in one byte.
  using short_indices_type = Kokkos::View<std::uint8_t*, device_type, MemoryTraits>;
  /// The View type of the numbers of blocks in two bytes.
  using indices_type = Kokkos::View<std::uint16_t*, device_type, MemoryTraits>;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "dict_cds"; }

  /// A matrix without rows.
  DictCdsMatrix() = default;
  /// Wraps Views that already hold a matrix in the storage of the class comment. They are not copied, and
  /// only check() checks them.
  DictCdsMatrix(Ordinal rows, Ordinal columns, SizeType nnz, int block_size, values_type values_,
                short_indices_type short_indices_, indices_type indices_, offsets_type offsets_)
      : base_type(rows, columns, nnz),
        values(values_),
        short_indices(short_indices_),
        indices(indices_),
        offsets(offsets_),
        m_block_size(block_size) {}

  /// b, the number of rows and columns of a block.
  KOKKOS_INLINE_FUNCTION int block_size() const { return m_block_size; }
  /// The number of distinct blocks.
  KOKKOS_INLINE_FUNCTION int numBlocks() const {
    return static_cast<int>(values.extent(0) / (static_cast<std::size_t>(m_block_size) * m_block_size));
  }
  /// Whether the numbers of blocks are in short_indices.
  KOKKOS_INLINE_FUNCTION bool has_short_indices() const {
    return numBlocks() <= DictCdsOptions::most_short_blocks;
  }
  /// k, the number of block diagonals.
  KOKKOS_INLINE_FUNCTION Ordinal numDiagonals() const { return static_cast<Ordinal>(offsets.extent(0)); }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return Impl::bytes_of(values, short_indices, indices, offsets); }

  values_type values;                ///< the distinct blocks: numBlocks() * b * b values
  short_indices_type short_indices;  ///< k * m numbers of blocks, or empty
  indices_type indices;              ///< k * m numbers of blocks, or empty
  offsets_type offsets;              ///< block column minus block row of each of the k diagonals, ascending

 private:
  int m_block_size = 1;
};

namespace Impl {

/// Throws std::invalid_argument for options of DictCdsMatrix that are out of range.
inline void check_dict_cds_options(const char* function, const DictCdsOptions& options) {
  check_block_size(function, options.block_size);
  if (options.max_blocks < 1 || options.max_blocks > DictCdsOptions::most_blocks)
    fail<std::invalid_argument>(function, ": options.max_blocks is ", options.max_blocks,
                                "; it must be 1 to ", static_cast<int>(DictCdsOptions::most_blocks), ".");
}

/// Throws std::length_error if a matrix has more distinct blocks than the options allow. `count` is -1 if
/// they were not all counted.
inline void check_distinct_blocks(const char* function, std::int64_t count, const DictCdsOptions& options) {
  if (count >= 0 && count <= options.max_blocks) return;
  fail<std::length_error>(function, ": the matrix has more than ", options.max_blocks, " distinct blocks of ",
                          options.block_size, " x ", options.block_size, "; options.max_blocks allows ",
                          options.max_blocks, ", and at most ", static_cast<int>(DictCdsOptions::most_blocks),
                          " are possible. CdsMatrix stores all blocks.");
}

/// Calls visit with a pointer to the numbers of blocks, of one or two bytes.
template <class Matrix, class Visit>
auto with_indices(const Matrix& A, const Visit& visit) {
  return A.has_short_indices() ? visit(A.short_indices.data()) : visit(A.indices.data());
}

}  // namespace Impl

}  // namespace Filigree
