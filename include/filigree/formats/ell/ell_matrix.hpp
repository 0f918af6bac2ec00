// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_ELL_ELL_MATRIX_HPP
#define FILIGREE_FORMATS_ELL_ELL_MATRIX_HPP

#include <cstddef>
#include <type_traits>

#include "filigree/core/convert_options.hpp"
#include "filigree/core/kokkos_versions.hpp"

namespace Filigree {

/// Options of a conversion to EllMatrix: those that every format has.
struct EllOptions : ConvertOptions {};

/// ELLPACK-R: every row padded to the length of the longest, stored column by column, with the true row
/// lengths.
///
/// For matrices whose rows have about the same length: a product reads the values and columns of 32
/// neighbouring rows as whole cache lines, and nothing is lost to a row map. One long row makes every row
/// long: the conversion refuses a matrix that padding would make larger than
/// ConvertOptions::max_storage_ratio times its CRS.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        width = 3, stride = 4 rows rounded up to 16, `.` is padding (value 0, column -1)
///     0 0 0 0
///     0 2 4 1        values       3 . 2 1 ...12 more... | 1 . 4 1 ... | . . 1 . ...
///     1 0 0 1        entries      0 . 1 0 ...           | 2 . 2 3 ... | . . 3 . ...
///                    row_lengths  2 0 3 2
///
/// Entry k of row i is at k * stride + i, in the order that the CRS has; duplicates stay apart.
/// Bytes: width * stride * (sizeof(Scalar) + sizeof(Ordinal)) + rows * sizeof(Ordinal).
///
/// Sources: ELLPACK by padding and transposition, Kirk and Hwu, chapter 10, section 10.3; ELLPACK-R with its
/// row lengths and rows padded to a multiple of 16, Vazquez, Fernandez and Garzon 2011, sections 3.1 and 3.2.
///
/// The parameters are those of KokkosSparse::CrsMatrix. SizeType counts the padded entries; places are
/// computed in 64 bits.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class EllMatrix {
  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::EllMatrix: Ordinal must be signed, as padding has column -1.");

 public:
  using value_type = Scalar;
  using ordinal_type = Ordinal;
  using size_type = SizeType;
  using memory_traits = MemoryTraits;
  using execution_space = typename Device::execution_space;
  using memory_space = typename Device::memory_space;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using options_type = EllOptions;

  using values_type = Kokkos::View<Scalar*, device_type, MemoryTraits>;
  using entries_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;
  using row_lengths_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;

  /// Rows are padded to a multiple of this, so that every column of the storage starts on a 64-byte boundary.
  static constexpr int row_alignment = 16;

  static constexpr const char* name() { return "ell"; }

  /// A matrix without rows.
  EllMatrix() = default;
  /// Wraps Views that already hold a matrix as the class comment describes it; nothing is checked or copied.
  EllMatrix(Ordinal rows, Ordinal columns, SizeType entry_count, Ordinal width, SizeType stride,
            values_type values_, entries_type entries_, row_lengths_type row_lengths_)
      : values(values_),
        entries(entries_),
        row_lengths(row_lengths_),
        m_rows(rows),
        m_columns(columns),
        m_nnz(entry_count),
        m_width(width),
        m_stride(stride) {}

  KOKKOS_INLINE_FUNCTION Ordinal numRows() const { return m_rows; }
  KOKKOS_INLINE_FUNCTION Ordinal numCols() const { return m_columns; }
  /// Entries of the CRS matrix that this one was converted from, duplicates and explicit zeros included.
  KOKKOS_INLINE_FUNCTION SizeType nnz() const { return m_nnz; }
  /// Length of the longest row.
  KOKKOS_INLINE_FUNCTION Ordinal width() const { return m_width; }
  /// Distance in elements from an entry of a row to the next.
  KOKKOS_INLINE_FUNCTION SizeType stride() const { return m_stride; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return values.extent(0) * sizeof(Scalar) + entries.extent(0) * sizeof(Ordinal) +
           row_lengths.extent(0) * sizeof(Ordinal);
  }

  values_type values;            ///< width * stride
  entries_type entries;          ///< width * stride column indices, -1 where padded
  row_lengths_type row_lengths;  ///< one a row

 private:
  Ordinal m_rows = 0;
  Ordinal m_columns = 0;
  SizeType m_nnz = 0;
  Ordinal m_width = 0;
  SizeType m_stride = 0;
};

}  // namespace Filigree

#endif
