// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HEC_HEC_MATRIX_HPP
#define FILIGREE_FORMATS_HEC_HEC_MATRIX_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "filigree/core/matrix_base.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"
#include "filigree/formats/hybrid/hybrid_width.hpp"

namespace Filigree {

/// Options of a conversion to HecMatrix.
struct HecOptions : ConvertOptions {
  /// How the width of the ELL part is chosen.
  HybridWidth width_rule = HybridWidth::least_bytes;
  /// The width for HybridWidth::given.
  std::int64_t width = 0;
  /// A row with more entries than this beyond the width is multiplied by a whole team, not by one lane. At
  /// least 0.
  std::int64_t long_row = 256;

  /// The rules that are worth a comparison.
  static std::vector<NamedOptions<HecOptions>> variants() {
    std::vector<NamedOptions<HecOptions>> result(2);
    result[1].name = "hec_third_of_rows";
    result[1].options.width_rule = HybridWidth::third_of_rows;
    return result;
  }
};

/// ELL and CRS: the first entries of each row as ELL, those beyond its width as CRS of the rows that have
/// such.
///
/// For matrices with some rows longer than most: the regular part is multiplied as ELL, and a row that
/// excesss is a run of entries like in CRS, which also makes the format fit for preconditioners, that go
/// through a matrix row by row. One launch multiplies both parts; the result of a row is rounded once.
///
/// Storage, for the 4 x 4 example and width 2 (`.` is padding)
///
///     3 0 1 0        ell  values 3 . 2 1 ...12 more... | 1 . 4 1 ...    excess_rows     2
///     0 0 0 0             entries 0 . 1 0 ...          | 2 . 2 3 ...    excess_row_map  0 1
///     0 2 4 1             row_lengths 2 0 3 2                           excess_entries  3
///     1 0 0 1                                                           excess_values   1
///
/// The ELL part is that of EllMatrix but for its row lengths, which are those of the whole rows. Entries
/// excess_row_map[i] to excess_row_map[i + 1] are those of row excess_rows[i] beyond the width: first
/// the numLongRows() rows with more than HecOptions::long_row of them, then the others, both ascending.
/// The row map is managed, whatever MemoryTraits are. Bytes: those of the ELL part; excessing entries *
/// (sizeof(Scalar) + sizeof(Ordinal)); excessing rows * (sizeof(Ordinal) + sizeof(SizeType)) +
/// sizeof(SizeType).
///
/// Source: Liu, Yu, Chen, Hsieh and Shao 2012, section 2.1. Teams for long rows are ours.
///
/// The parameters are those of KokkosSparse::CrsMatrix.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class HecMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

 public:
  using ell_type = EllMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using typename base_type::device_type;
  using options_type = HecOptions;
  static constexpr bool keeps_entries = true;

  using typename base_type::entries_type;
  using typename base_type::values_type;
  using row_map_type = Kokkos::View<SizeType*, device_type>;

  static constexpr const char* name() { return "hec"; }

  /// A matrix without rows.
  HecMatrix() = default;
  /// Wraps parts that already hold a matrix as the class comment describes it; nothing is checked or copied.
  HecMatrix(SizeType nnz, Ordinal long_rows, const ell_type& ell_, values_type excess_values_,
            entries_type excess_entries_, entries_type excess_rows_, row_map_type excess_row_map_)
      : base_type(ell_.numRows(), ell_.numCols(), nnz),
        ell(ell_),
        values(ell_.values),
        excess_values(excess_values_),
        excess_entries(excess_entries_),
        excess_rows(excess_rows_),
        excess_row_map(excess_row_map_),
        m_long_rows(long_rows) {}

  /// Entries of a row that the ELL part holds.
  KOKKOS_INLINE_FUNCTION Ordinal width() const { return ell.width(); }
  /// Rows that a whole team multiplies.
  KOKKOS_INLINE_FUNCTION Ordinal numLongRows() const { return m_long_rows; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return ell.storage_bytes() + Impl::bytes_of(excess_values, excess_entries, excess_rows, excess_row_map);
  }

  ell_type ell;                 ///< the first entries of each row
  values_type values;           ///< those of the ELL part
  values_type excess_values;    ///< the other entries, row by row
  entries_type excess_entries;  ///< their columns
  entries_type excess_rows;     ///< the rows that have such
  row_map_type excess_row_map;  ///< first entry of each of these rows, and the number of entries

 private:
  Ordinal m_long_rows = 0;
};

}  // namespace Filigree

#endif
