// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_matrix.hpp"

namespace Filigree {

/// Options of a conversion to SplitCdsMatrix.
struct SplitCdsOptions : ConvertOptions {
  /// b, the number of rows and columns of a block, as in CdsOptions.
  int block_size = 1;
};

/// Column Diagonal Storage of doubles that are split into two halves of 4 bytes. The leading halves alone are
/// a CdsMatrix of float. Both together are the doubles exactly.
///
/// It suits solvers that multiply with the double matrix sometimes and with the float matrix often. Both take
/// as many bytes as a CdsMatrix of double:
///
///     auto A = convert<SplitCdsMatrix>(crs, options);
///     spmv("N", 1.0, A, x, 0.0, y);          // reads both halves
///     spmv("N", 1.0, A.leading, x, 0.0, y);  // reads the leading halves; x and y may be double or float
///
/// Storage: `leading` has the values rounded to float, in the storage of CdsMatrix with CdsLayout::columns.
/// trailing(p) is the difference of the bits of the double and of leading.values(p) as a double, where bits
/// are read as integers of 64 bits. This difference has at most 30 bits, because float keeps 24 of the 53
/// significant bits of a double.
///
/// Values must be 0, infinite, NaN or have an absolute value from 1.2e-38 to 3.4e38, the range of float.
/// Smaller values are accepted if float holds enough of their bits. The conversion and refill() throw
/// std::range_error for other values. A stored NaN may become another NaN.
///
/// Source: none of the papers has it.
///
/// The template parameters are those of KokkosSparse::CrsMatrix. Scalar must be double.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class SplitCdsMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

  static_assert(std::is_same<Scalar, double>::value,
                "Filigree::SplitCdsMatrix: Scalar must be double; its halves are a float and an int.");

 public:
  using typename base_type::device_type;
  using options_type = SplitCdsOptions;         ///< options of the conversion
  static constexpr bool keeps_entries = false;  ///< see MatrixTraits::keeps_entries

  /// The type of the leading halves.
  using leading_type = CdsMatrix<float, Ordinal, Device, MemoryTraits, SizeType>;
  /// The View type of the trailing halves.
  using trailing_type = Kokkos::View<int*, device_type, MemoryTraits>;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "split_cds"; }

  /// A matrix without rows.
  SplitCdsMatrix() = default;
  /// Wraps a matrix of leading halves and a View of trailing halves, one per value of `leading`. They are not
  /// copied, and only check() checks them.
  SplitCdsMatrix(const leading_type& leading_, const trailing_type& trailing_)
      : base_type(leading_.numRows(), leading_.numCols(), leading_.nnz()),
        leading(leading_),
        trailing(trailing_) {}

  /// b, the number of rows and columns of a block.
  KOKKOS_INLINE_FUNCTION int block_size() const { return leading.block_size(); }
  /// k, the number of block diagonals.
  KOKKOS_INLINE_FUNCTION Ordinal numDiagonals() const { return leading.numDiagonals(); }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return leading.storage_bytes() + Impl::bytes_of(trailing); }

  leading_type leading;    ///< the values rounded to float
  trailing_type trailing;  ///< one trailing half per value of leading
};

}  // namespace Filigree
