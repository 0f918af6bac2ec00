// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_matrix.hpp"

namespace Filigree {

/// Options of a conversion to DiaMatrix. There are none besides ConvertOptions.
struct DiaOptions : ConvertOptions {};

/// Dense diagonals without column indices: a CdsMatrix with block size 1.
///
/// It suits matrices whose entries lie on a few diagonals, for example those of structured grids with one
/// unknown per cell. A diagonal is stored completely, even if it has few entries. The conversion therefore
/// refuses a matrix with many such diagonals (ConvertOptions::max_storage_ratio).
///
/// Storage, for the 4 x 4 example (`.` is padding, value 0)
///
///     3 0 1 0        offsets = -3 -1 0 1 2
///     0 0 0 0        values   . . . 1 | . . 2 . | 3 . 4 1 | . . 1 . | 1 . . .
///     0 2 4 1        offset     -3        -1         0         1         2
///     1 0 0 1
///
/// The value of row i and column i + offsets[d] is at position d * s + i, where s is column_stride(): the
/// number of rows, or a little more for long columns (see CdsMatrix). With k diagonals, the Views have
/// k * s * sizeof(Scalar) + k * sizeof(Ordinal) bytes. As in CdsMatrix, a stored zero counts as padding and
/// the conversion sums duplicates.
///
/// Source: Godwin, Holewinski and Sadayappan 2012, section 2.3.2.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class DiaMatrix : public CdsMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
 public:
  /// The CDS matrix that this class is derived from.
  using cds_type = CdsMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using options_type = DiaOptions;  ///< options of the conversion

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "dia"; }

  /// A matrix without rows.
  DiaMatrix() = default;
  /// Shares the Views of a CDS matrix. Its block size must be 1, which only check() checks.
  explicit DiaMatrix(const cds_type& diagonals) : cds_type(diagonals) {}
};

}  // namespace Filigree
