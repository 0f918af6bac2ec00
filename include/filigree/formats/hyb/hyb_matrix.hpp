// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/coo/coo_matrix.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"
#include "filigree/formats/hybrid/hybrid_width.hpp"

namespace Filigree {

/// Options of a conversion to HybMatrix.
struct HybOptions : ConvertOptions {
  /// How the width of the ELL part is chosen. With the default, the width is 0 if the matrix has fewer than
  /// 4096 rows: all entries are then in the COO part.
  HybridWidth width_rule = HybridWidth::third_of_rows;
  /// The width for HybridWidth::given.
  std::int64_t width = 0;

  /// The variants: one for each rule but HybridWidth::given.
  static std::vector<NamedOptions<HybOptions>> variants() {
    std::vector<NamedOptions<HybOptions>> result(2);
    result[1].name = "hyb_least_bytes";
    result[1].options.width_rule = HybridWidth::least_bytes;
    return result;
  }
};

/// Hybrid of ELL and COO: the first entries of each row, up to the width, are stored as ELL, and the excess
/// entries as COO.
///
/// It suits matrices in which few rows are much longer than the others. Nearly all entries are in the regular
/// ELL part. A long row adds no padding to other rows, and many lanes multiply its excess entries.
///
/// Storage, for the 4 x 4 example and width 2 (`.` is padding)
///
///     3 0 1 0        ell  values 3 . 2 1 ...12 more... | 1 . 4 1 ...     coo  values  1
///     0 0 0 0             entries 0 . 1 0 ...          | 2 . 2 3 ...          entries 3
///     0 2 4 1             row_lengths 2 0 3 2                                 rows    2
///     1 0 0 1
///
/// The ELL part is an EllMatrix, except that row_lengths holds the lengths of the rows of the whole matrix.
/// The COO part is a CooMatrix whose list of empty rows is empty.
///
/// Bytes: the sum of both parts.
///
/// Sources: Kirk and Hwu, chapter 10, section 10.4; HYB of Bell and Garland, as described in Liu, Yu, Chen,
/// Hsieh and Shao 2012 and in Vazquez, Fernandez and Garzon 2011.
///
/// The template parameters are those of KokkosSparse::CrsMatrix.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class HybMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

 public:
  /// The type of the ELL part.
  using ell_type = EllMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  /// The type of the COO part.
  using coo_type = CooMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using options_type = HybOptions;             ///< options of the conversion
  static constexpr bool keeps_entries = true;  ///< see MatrixTraits::keeps_entries

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "hyb"; }

  /// A matrix without rows.
  HybMatrix() = default;
  /// Wraps parts that already hold a matrix as the class comment describes it. They are not copied, and only
  /// check() checks them. wrap_coo() makes the COO part; its list of empty rows is dropped.
  /// longest_row_length is that of the whole matrix. It only affects how hosts multiply.
  HybMatrix(SizeType nnz, Ordinal longest_row_length, const ell_type& ell_, const coo_type& coo_)
      : base_type(ell_.numRows(), ell_.numCols(), nnz),
        ell(ell_),
        coo(coo_),
        m_longest_row(longest_row_length) {
    coo.empty_rows = typename coo_type::entries_type();
  }

  /// The width of the ELL part: the entries that it holds per row.
  KOKKOS_INLINE_FUNCTION Ordinal width() const { return ell.width(); }
  /// Length of the longest row of the whole matrix.
  KOKKOS_INLINE_FUNCTION Ordinal longestRow() const { return m_longest_row; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return ell.storage_bytes() + coo.storage_bytes(); }

  ell_type ell;  ///< the first entries of each row
  coo_type coo;  ///< the excess entries

 private:
  Ordinal m_longest_row = 0;
};

}  // namespace Filigree
