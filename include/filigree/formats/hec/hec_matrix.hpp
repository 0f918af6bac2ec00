// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/ell/ell_matrix.hpp"
#include "filigree/formats/hybrid/hybrid_width.hpp"

namespace Filigree {

/// Options of a conversion to HecMatrix.
struct HecOptions : ConvertOptions {
  /// How the width of the ELL part is chosen.
  HybridWidth width_rule = HybridWidth::least_bytes;
  /// The width for HybridWidth::given.
  std::int64_t width = 0;
  /// A row with more than this number of excess entries is a long row: on a GPU a whole team multiplies it, instead
  /// of HecMatrix::lanes_per_excess_row() lanes. At least 0.
  std::int64_t long_row = 256;

  /// The variants: one for each rule but HybridWidth::given.
  static std::vector<NamedOptions<HecOptions>> variants() {
    std::vector<NamedOptions<HecOptions>> result(2);
    result[1].name = "hec_third_of_rows";
    result[1].options.width_rule = HybridWidth::third_of_rows;
    return result;
  }
};

/// Hybrid of ELL and CRS: the first entries of each row, up to the width, are stored as ELL, and the excess
/// entries as CRS. The CRS part has only the rows that have excess entries.
///
/// It suits matrices in which some rows are longer than the others. The excess entries of a row are
/// contiguous. So the format also suits preconditioners, which process a matrix row by row. One kernel launch
/// multiplies both parts, and the result of a row is rounded once.
///
/// Storage, for the 4 x 4 example and width 2 (`.` is padding)
///
///     3 0 1 0        ell  values 3 . 2 1 ...12 more... | 1 . 4 1 ...    excess_rows     2
///     0 0 0 0             entries 0 . 1 0 ...          | 2 . 2 3 ...    excess_row_map  0 1
///     0 2 4 1             row_lengths 2 0 3 2                           excess_entries  3
///     1 0 0 1                                                           excess_values   1
///
/// The ELL part is an EllMatrix, except that row_lengths holds the lengths of the rows of the whole matrix.
/// The excess entries of row excess_rows[i] are at excess_row_map[i] to excess_row_map[i + 1] - 1.
/// excess_rows begins with the numLongRows() long rows, which have more than HecOptions::long_row excess
/// entries. The other rows with excess entries follow. Both groups are ascending. excess_row_map is a managed
/// View, whatever MemoryTraits are.
///
/// Bytes: the ELL part, excess entries * (sizeof(Scalar) + sizeof(Ordinal)), rows with excess entries *
/// (sizeof(Ordinal) + sizeof(SizeType)), and sizeof(SizeType).
///
/// Source: Liu, Yu, Chen, Hsieh and Shao 2012, sections 1 and 2. The teams for long rows and several lanes per row
/// are additions.
///
/// The template parameters are those of KokkosSparse::CrsMatrix.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class HecMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

 public:
  /// The type of the ELL part.
  using ell_type = EllMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using typename base_type::device_type;
  using options_type = HecOptions;             ///< options of the conversion
  static constexpr bool keeps_entries = true;  ///< see MatrixTraits::keeps_entries
  using typename base_type::entries_type;
  using typename base_type::values_type;
  /// The View type of the offsets of rows with excess entries.
  using row_map_type = Kokkos::View<SizeType*, device_type>;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "hec"; }

  /// A matrix without rows.
  HecMatrix() = default;
  /// Wraps parts that already hold a matrix as the class comment describes it. They are not copied, and only
  /// check() checks them. See lanes_per_excess_row() for the last argument.
  HecMatrix(SizeType nnz, Ordinal long_row_count, const ell_type& ell_, values_type excess_values_,
            entries_type excess_entries_, entries_type excess_rows_, row_map_type excess_row_map_,
            int lanes_per_excess_row = 1)
      : base_type(ell_.numRows(), ell_.numCols(), nnz),
        ell(ell_),
        excess_values(excess_values_),
        excess_entries(excess_entries_),
        excess_rows(excess_rows_),
        excess_row_map(excess_row_map_),
        m_long_rows(long_row_count),
        m_lanes_per_excess_row(lanes_per_excess_row) {}

  /// The width of the ELL part: the entries that it holds per row.
  KOKKOS_INLINE_FUNCTION Ordinal width() const { return ell.width(); }
  /// The number of long rows. On a GPU a whole team multiplies each of them.
  KOKKOS_INLINE_FUNCTION Ordinal numLongRows() const { return m_long_rows; }
  /// The lanes of an NVIDIA GPU that multiply a row with excess entries, unless it is long, if x has one column. A
  /// power of two from 1 to 32. Other devices and products with several columns use one lane. A conversion chooses 1,
  /// 2, 4 or 8, by the mean number of excess entries of the rows that are not long.
  int lanes_per_excess_row() const { return m_lanes_per_excess_row; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return ell.storage_bytes() + Impl::bytes_of(excess_values, excess_entries, excess_rows, excess_row_map);
  }

  ell_type ell;                 ///< the first entries of each row
  values_type excess_values;    ///< values of the excess entries, row by row
  entries_type excess_entries;  ///< columns of the excess entries
  entries_type excess_rows;     ///< the rows that have excess entries, long rows first
  row_map_type excess_row_map;  ///< offset of the excess entries of each of these rows, then their number

 private:
  Ordinal m_long_rows = 0;
  int m_lanes_per_excess_row = 1;
};

}  // namespace Filigree
