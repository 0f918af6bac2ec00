// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/column_stride.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/launch.hpp"
#include "filigree/core/matrix_base.hpp"

namespace Filigree {

/// The order of the values in a CdsMatrix; see its class comment. With block size 1 both are the same, except that
/// only `columns` can have padding.
enum class CdsLayout {
  columns,    ///< for each column of the blocks, all rows of the matrix: the layout of the source
  components  ///< for each element of the blocks, all block rows
};

/// Options of a conversion to CdsMatrix.
struct CdsOptions : ConvertOptions {
  /// b, the number of rows and columns of a block: the unknowns per cell of a grid. At least 1. If it does
  /// not divide an extent of the matrix, the last block row or block column is smaller.
  int block_size = 1;
  /// The order of the values. It changes the speed, not the result of a product (see docs/formats/cds.md).
  CdsLayout layout = CdsLayout::columns;

  /// The variants that are worth comparing: both layouts.
  static std::vector<NamedOptions<CdsOptions>> variants() {
    std::vector<NamedOptions<CdsOptions>> result(2);
    result[1].name = "cds_components";
    result[1].options.layout = CdsLayout::components;
    return result;
  }

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
/// The value of row i and column (i / b + offsets[d]) * b + c is at position (d * b + c) * s + i, where s is
/// column_stride(). There are k * b * s values and k offsets. s is n, the number of rows, as in the formula of
/// the source. Only if a column has at least 8 KiB, a conversion rounds s up to an odd multiple of 256 bytes.
/// Then fewer columns compete for the same lines of a host's cache, and one load of a GPU can bring values of
/// several rows. The additional values are 0. With b = 1, CDS is DIA.
///
/// With CdsLayout::components, the values of one element of all blocks of a diagonal are neighbours. The first
/// matrix above is then
///
///     values   . i | . k | . j | . l | a m | b n | c o | d p | e . | f . | g . | h .
///              offset -1             offset 0            offset 1
///     row      0           1         0         1         0         1
///     column   0     1     0     1   0    1    0    1    0    1    0    1
///
/// The value of row R * b + i and column (R + offsets[d]) * b + c is at position ((d * b + i) * b + c) * m + R,
/// where m is the number of block rows. There are k * b * b * m values. If b does not divide n, the rows that
/// the last block row lacks are padding.
///
/// A stored zero cannot be told from padding. A product adds nothing for it, even if x has an Inf there, and
/// to_crs leaves it out. The conversion sums duplicates.
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
            offsets_type offsets_, CdsLayout layout = CdsLayout::columns)
      : base_type(rows, columns, nnz),
        values(values_),
        offsets(offsets_),
        m_block_size(block_size),
        m_layout(layout) {}

  /// b, the number of rows and columns of a block.
  KOKKOS_INLINE_FUNCTION int block_size() const { return m_block_size; }
  /// The order of the values.
  KOKKOS_INLINE_FUNCTION CdsLayout layout() const { return m_layout; }
  /// k, the number of block diagonals.
  KOKKOS_INLINE_FUNCTION Ordinal numDiagonals() const { return static_cast<Ordinal>(offsets.extent(0)); }
  /// Positions from a value to the value of the same row in the next column of a block. It follows from the
  /// number of values.
  KOKKOS_INLINE_FUNCTION std::int64_t column_stride() const {
    const std::int64_t b = m_block_size;
    const std::int64_t columns =
        static_cast<std::int64_t>(offsets.extent(0)) * b * (m_layout == CdsLayout::columns ? 1 : b);
    return columns > 0 ? static_cast<std::int64_t>(values.extent(0)) / columns : 0;
  }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return Impl::bytes_of(values, offsets); }

  values_type values;    ///< k * b * s values, or k * b * b * m with CdsLayout::components
  offsets_type offsets;  ///< block column minus block row of each of the k diagonals, ascending

 private:
  int m_block_size = 1;
  CdsLayout m_layout = CdsLayout::columns;
};

namespace Impl {

/// The rows for which a conversion to CDS stores values of value_bytes bytes; see the class comment.
inline std::int64_t stored_cds_rows(CdsLayout layout, std::int64_t rows, std::int64_t block_size,
                                    std::size_t value_bytes) {
  return layout == CdsLayout::components ? round_up(rows, block_size) : column_stride(rows, value_bytes);
}

/// Writes zeros to the values of rows that the matrix does not have.
template <class Scalar>
struct ClearCdsPadding {
  Scalar* values;
  std::int64_t rows;
  std::int64_t stride;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t column) const {
    for (std::int64_t row = rows; row < stride; ++row)
      values[column * stride + row] = Scalar(0);
  }
};

/// Clears the padding of the columns of a CDS matrix, which are `stride` apart and have `rows` values each.
template <class ExecutionSpace, class Values>
void clear_cds_padding(const ExecutionSpace& exec, const char* format, const Values& values,
                       std::int64_t rows, std::int64_t stride) {
  const auto size = static_cast<std::int64_t>(values.extent(0));
  if (stride <= rows || size == 0) return;
  Kokkos::parallel_for(label("clear_padding", format), row_range<void>(exec, size / stride),
                       ClearCdsPadding<typename Values::non_const_value_type>{values.data(), rows, stride});
}

/// Allocates a CDS matrix with the given number of block diagonals. The caller writes its values and offsets.
/// Values of stored rows that the matrix does not have are zeros.
template <class Cds, class ExecutionSpace>
Cds allocate_cds(const ExecutionSpace& exec, const char* format, typename Cds::ordinal_type rows,
                 typename Cds::ordinal_type columns, typename Cds::size_type nnz, int block_size,
                 std::int64_t diagonals, CdsLayout layout) {
  using scalar_type = typename Cds::value_type;
  const std::int64_t stored_rows =
      stored_cds_rows(layout, static_cast<std::int64_t>(rows), block_size, sizeof(scalar_type));
  const Cds result(rows, columns, nnz, block_size,
                   allocate_aligned_view<typename Cds::values_type>(exec, "values", format,
                                                                    diagonals * block_size * stored_rows),
                   allocate_view<typename Cds::offsets_type>(exec, "offsets", format, diagonals), layout);
  if (layout == CdsLayout::columns)
    clear_cds_padding(exec, format, result.values, static_cast<std::int64_t>(rows), stored_rows);
  else if (stored_rows > static_cast<std::int64_t>(rows))
    Kokkos::deep_copy(exec, result.values, scalar_type(0));
  return result;
}

}  // namespace Impl

}  // namespace Filigree
