// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_lanes.hpp"
#include "filigree/core/column_stride.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/matrix_base.hpp"

namespace Filigree {

/// Options of a conversion to EllMatrix. They select ELLPACK, ELLPACK-R or ELLR-T.
struct EllOptions : ConvertOptions {
  /// Whether the length of each row is stored (ELLPACK-R). A product on a GPU then reads the lengths and no
  /// padding, but with 4, 8 or 16 columns of x that of the first 8 entries of a row. Otherwise (ELLPACK) it reads
  /// no lengths but all padding. On a host, a product with one column of x and T = 1 reads some padding in both
  /// cases: where other rows of the same 32 have entries.
  bool row_lengths = true;
  /// T, the lanes of a GPU that multiply one row together: 1, 2, 4, 8, 16 or 32. ELLR-T if larger than 1.
  int lanes_per_row = 1;
  /// BS, the lanes per team on a GPU: a power of two from 32 to 1024. It affects the launch and not the
  /// storage; see EllMatrix::set_lanes_per_team. With T = 1, BS = 256 and 16 columns of x a team may have 128.
  int lanes_per_team = 256;

  /// The variants: ELLPACK-R, ELLPACK, and ELLR-T for each T above 1.
  static std::vector<NamedOptions<EllOptions>> variants() {
    std::vector<NamedOptions<EllOptions>> result(2);
    result[1].name = "ellpack";
    result[1].options.row_lengths = false;
    for (const int lanes : {2, 4, 8, 16, 32}) {
      result.push_back({"ellr_t" + std::to_string(lanes)});
      result.back().options.lanes_per_row = lanes;
    }
    return result;
  }
};

namespace Impl {

/// See EllMatrix::row_alignment.
constexpr int ell_row_alignment = 16;

/// The stride of an ELL matrix that a conversion makes, for column indices of ordinal_bytes bytes.
inline std::int64_t ell_stride(std::int64_t rows, std::size_t ordinal_bytes) {
  return column_stride(round_up(rows, ell_row_alignment), ordinal_bytes);
}

}  // namespace Impl

/// The ELLPACK formats: every row is padded to the length of the longest row, and the entries are stored
/// column by column. By default the row lengths are stored too (ELLPACK-R). The entries of a row can be
/// interleaved for T lanes (ELLR-T).
///
/// It suits matrices whose rows have about the same length. A product reads the values and columns of 32
/// neighbouring rows as whole cache lines, and needs no row map. One long row pads every other row to its
/// length: the conversion refuses a matrix if padding would make it larger than
/// ConvertOptions::max_storage_ratio times its CRS matrix. Several lanes per row suit long rows, and matrices
/// that have too few rows to fill a GPU.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        width = 3, stride = 4 rows rounded up to 16, `.` is padding (value 0, column -1)
///     0 0 0 0
///     0 2 4 1        values       3 . 2 1 ...12 more... | 1 . 4 1 ... | . . 1 . ...
///     1 0 0 1        entries      0 . 1 0 ...           | 2 . 2 3 ... | . . 3 . ...
///                    row_lengths  2 0 3 2
///     with T = 2, width = 4
///                    values       3 1 . . 2 4 1 1 ...24 more... | . . . . 1 . . . ...
///
/// Entry k of row i is at (k / T) * (stride * T) + i * T + k % T. The entries of a row keep the order of the
/// CRS matrix. Duplicates stay separate entries. The width is the length of the longest row, rounded up to a
/// multiple of T. row_lengths is empty if EllOptions::row_lengths is false.
///
/// The stride is the number of rows, rounded up to a multiple of 16. If a column of `entries` has at least 8 KiB,
/// a conversion rounds it up further, to an odd multiple of 256 bytes of it. With T = 1, fewer columns then compete
/// for the same lines of a host's cache.
///
/// Bytes: width * stride * (sizeof(Scalar) + sizeof(Ordinal)), and rows * sizeof(Ordinal) for the row
/// lengths.
///
/// Sources: ELLPACK, Kirk and Hwu, chapter 10, section 10.3; ELLPACK-R, and ELLR-T with rows padded to a
/// multiple of 16, Vazquez, Fernandez and Garzon 2011, sections 3.1 and 3.2.
///
/// The template parameters are those of KokkosSparse::CrsMatrix. SizeType must be able to count width *
/// stride elements. Positions are computed in 64 bits.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class EllMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::EllMatrix: Ordinal must be signed, as padding has column -1.");

 public:
  using options_type = EllOptions;             ///< options of the conversion
  static constexpr bool keeps_entries = true;  ///< see MatrixTraits::keeps_entries
  using typename base_type::entries_type;
  using typename base_type::values_type;
  using row_lengths_type = entries_type;  ///< View type of the row lengths

  /// The stride is a multiple of this. So each column of the storage begins on a 64-byte boundary.
  static constexpr int row_alignment = Impl::ell_row_alignment;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "ell"; }

  /// A matrix without rows.
  EllMatrix() = default;
  /// Wraps Views that already hold a matrix as the class comment describes it. They are not copied, and only
  /// check() checks them.
  EllMatrix(Ordinal rows, Ordinal columns, SizeType nnz, Ordinal width, SizeType stride, values_type values_,
            entries_type entries_, row_lengths_type row_lengths_, int lanes_per_row = 1)
      : base_type(rows, columns, nnz),
        values(values_),
        entries(entries_),
        row_lengths(row_lengths_),
        m_width(width),
        m_stride(stride),
        m_lanes_per_row(lanes_per_row) {}

  /// Length of the longest row, rounded up to a multiple of lanes_per_row().
  KOKKOS_INLINE_FUNCTION Ordinal width() const { return m_width; }
  /// Rows from one column of the storage to the next; see the class comment.
  KOKKOS_INLINE_FUNCTION SizeType stride() const { return m_stride; }
  /// T: the lanes for which the entries of a row are interleaved.
  KOKKOS_INLINE_FUNCTION int lanes_per_row() const { return m_lanes_per_row; }
  /// BS: the lanes per team on a GPU.
  int lanes_per_team() const { return m_lanes_per_team; }
  /// Sets BS for later products of this object. Throws std::invalid_argument unless it is a power of two from
  /// 32 to 1024.
  void set_lanes_per_team(int lanes) {
    Impl::check_power_of_two("Filigree::EllMatrix::set_lanes_per_team", "lanes", lanes, 32, 1024);
    m_lanes_per_team = lanes;
  }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return Impl::bytes_of(values, entries, row_lengths); }

  values_type values;            ///< width * stride values, 0 for padding
  entries_type entries;          ///< width * stride column indices, -1 for padding
  row_lengths_type row_lengths;  ///< one per row, or empty

 private:
  Ordinal m_width = 0;
  SizeType m_stride = 0;
  int m_lanes_per_row = 1;
  int m_lanes_per_team = 256;
};

}  // namespace Filigree
