// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HYB_HYB_MATRIX_HPP
#define FILIGREE_FORMATS_HYB_HYB_MATRIX_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "filigree/core/matrix_base.hpp"
#include "filigree/formats/coo/coo_matrix.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"
#include "filigree/formats/hybrid/hybrid_width.hpp"

namespace Filigree {

/// Options of a conversion to HybMatrix.
struct HybOptions : ConvertOptions {
  /// How the width of the ELL part is chosen. The default puts a matrix of under 4096 rows into COO whole.
  HybridWidth width_rule = HybridWidth::third_of_rows;
  /// The width for HybridWidth::given.
  std::int64_t width = 0;

  /// The rules that are worth a comparison.
  static std::vector<NamedOptions<HybOptions>> variants() {
    std::vector<NamedOptions<HybOptions>> result(2);
    result[1].name = "hyb_least_bytes";
    result[1].options.width_rule = HybridWidth::least_bytes;
    return result;
  }
};

/// ELL and COO: the first entries of each row as ELL, those beyond its width as COO.
///
/// For matrices with some rows much longer than most: nearly all entries have the regular layout, and a long
/// row neither pads the others nor keeps one lane busy while all wait.
///
/// Storage, for the 4 x 4 example and width 2 (`.` is padding)
///
///     3 0 1 0        ell  values 3 . 2 1 ...12 more... | 1 . 4 1 ...     coo  values  1
///     0 0 0 0             entries 0 . 1 0 ...          | 2 . 2 3 ...          entries 3
///     0 2 4 1             row_lengths 2 0 3 2                                 rows    2
///     1 0 0 1
///
/// The ELL part is that of EllMatrix but for its row lengths, which are those of the whole rows; the COO part
/// is a CooMatrix without a list of empty rows. As there, products of one object on several execution space
/// instances at once want copies from with_own_carry().
/// Bytes: those of the ELL part and those of the COO part.
///
/// Sources: Kirk and Hwu, chapter 10, section 10.4; HYB as Bell and Garland have it, in Liu, Yu, Chen, Hsieh
/// and Shao 2012 and in Vazquez, Fernandez and Garzon 2011.
///
/// The parameters are those of KokkosSparse::CrsMatrix.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class HybMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

 public:
  using ell_type = EllMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using coo_type = CooMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using typename base_type::device_type;
  using options_type = HybOptions;
  static constexpr bool keeps_entries = true;

  static constexpr const char* name() { return "hyb"; }

  /// A matrix without rows.
  HybMatrix() = default;
  /// Wraps parts that already hold a matrix as the class comment describes it; nothing is checked or copied.
  /// longest_row is the most entries of a row, those in both parts; it decides how hosts multiply, no more.
  HybMatrix(SizeType nnz, Ordinal longest_row, const ell_type& ell_, const coo_type& coo_)
      : base_type(ell_.numRows(), ell_.numCols(), nnz),
        ell(ell_),
        coo(coo_),
        values(ell_.values),
        m_longest_row(longest_row) {}

  /// Entries of a row that the ELL part holds.
  KOKKOS_INLINE_FUNCTION Ordinal width() const { return ell.width(); }
  /// Entries of the longest row, in both parts.
  KOKKOS_INLINE_FUNCTION Ordinal longestRow() const { return m_longest_row; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return ell.storage_bytes() + coo.storage_bytes(); }
  /// The same matrix with a carry of its own, for products at the same time as those of this object.
  HybMatrix with_own_carry() const {
    HybMatrix result(*this);
    result.coo.chunks = coo.chunks.with_own_carry(name());
    return result;
  }

  ell_type ell;                           ///< the first entries of each row
  coo_type coo;                           ///< the others
  typename ell_type::values_type values;  ///< those of the ELL part

 private:
  Ordinal m_longest_row = 0;
};

}  // namespace Filigree

#endif
