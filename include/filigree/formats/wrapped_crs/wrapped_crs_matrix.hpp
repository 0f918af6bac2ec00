// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_WRAPPED_CRS_WRAPPED_CRS_MATRIX_HPP
#define FILIGREE_FORMATS_WRAPPED_CRS_WRAPPED_CRS_MATRIX_HPP

#include <cstddef>
#include <cstdint>
#include <KokkosSparse_CrsMatrix.hpp>
#include <string>
#include <vector>

#include "filigree/core/convert_options.hpp"
#include "filigree/core/matrix_base.hpp"
#include "filigree/product/balanced_product.hpp"

namespace Filigree {

/// How a CRS matrix is multiplied.
enum class CrsKernel {
  lanes,    ///< T lanes of a GPU a row: T = 1 is the scalar kernel, 32 the vector kernel (a warp a row)
  balanced  ///< the same number of entries for every team, whatever the lengths of the rows
};

/// Options of WrappedCrsMatrix.
struct WrappedCrsOptions : ConvertOptions {
  CrsKernel kernel = CrsKernel::balanced;
  /// T of CrsKernel::lanes: 1, 2, 4, 8, 16 or 32.
  int lanes_per_row = 1;

  /// The kernels that the papers compare: scalar and vector CRS, and SpMV4GPU with its half warp.
  static std::vector<NamedOptions<WrappedCrsOptions>> variants() {
    std::vector<NamedOptions<WrappedCrsOptions>> result(1);
    result[0].name = "crs_balanced";
    for (const int lanes : {1, 2, 4, 8, 16, 32}) {
      NamedOptions<WrappedCrsOptions> variant;
      variant.name = "crs_lanes" + std::to_string(lanes);
      variant.options.kernel = CrsKernel::lanes;
      variant.options.lanes_per_row = lanes;
      result.push_back(variant);
    }
    return result;
  }
};

/// A CRS matrix that is multiplied by a kernel of this library, chosen by the caller, and not by Kokkos
/// Kernels': for those who must not convert. It chunks the Views of the KokkosSparse::CrsMatrix that it is
/// made of, so new values there are new values here.
///
/// CrsKernel::lanes is for rows of about the same length: few lanes for short rows, 32 for long ones.
/// CrsKernel::balanced is for any lengths, and the one for matrices with a few very long rows.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        row_map     0 2 2 5 7          shared with the CRS matrix
///     0 0 0 0        entries     0 2 1 2 3 0 3      shared
///     0 2 4 1        values      3 1 2 4 1 1 1      shared
///     1 0 0 1        first_rows  0                  balanced: row of the first entry of each chunk
///                    chunk_begins  0 7              balanced: see CooMatrix
///                    empty_rows  1                  balanced: rows without entries
///                    cut_rows                       balanced: see CooMatrix
///                    carry                          balanced: see CooMatrix
///
/// On a GPU, above 2^20 entries, the two chunks of a row that is cut once leave their sums to each other, in
/// words of the carry; those of the long_row_count rows that are cut more often a second kernel joins.
///
/// Products of one object of CrsKernel::balanced on several execution space instances at once would mix their
/// partial sums: each wants a copy from with_own_carry().
/// The Views that are not of the CRS matrix are managed, whatever MemoryTraits are.
/// Bytes: those of the CRS matrix; balanced as many more as CooMatrix has for chunks, and sizeof(Ordinal) for
/// each chunk and each empty row.
///
/// Sources: scalar and vector CRS and the half warp a row, Vazquez, Fernandez and Garzon 2011, section 3.1;
/// CRS, Kirk and Hwu, chapter 10, section 10.2.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class WrappedCrsMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

 public:
  using crs_type = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using typename base_type::device_type;
  using options_type = WrappedCrsOptions;
  static constexpr bool keeps_entries = true;
  static constexpr bool shares_crs = true;

  using values_type = typename crs_type::values_type;
  using row_list_type = Kokkos::View<Ordinal*, device_type>;
  using carry_type = Impl::carry_t<device_type>;
  using chunk_offsets_type = Kokkos::View<std::int64_t*, device_type>;

  static constexpr const char* name() { return "wrapped_crs"; }

  /// A matrix without rows.
  WrappedCrsMatrix() = default;
  /// Wraps Views that already are as the class comment describes them; nothing is checked or copied.
  WrappedCrsMatrix(const crs_type& crs_, const WrappedCrsOptions& options, row_list_type first_rows_ = {},
                   row_list_type empty_rows_ = {}, chunk_offsets_type chunk_begins_ = {},
                   chunk_offsets_type cut_rows_ = {}, std::int64_t cut_row_count_ = 0, carry_type carry_ = {},
                   std::int64_t long_row_count_ = 0)
      : base_type(crs_.numRows(), crs_.numCols(), crs_.nnz()),
        crs(crs_),
        values(crs_.values),
        first_rows(first_rows_),
        empty_rows(empty_rows_),
        chunk_begins(chunk_begins_),
        cut_rows(cut_rows_),
        cut_row_count(cut_row_count_),
        long_row_count(long_row_count_),
        carry(carry_),
        m_kernel(options.kernel),
        m_lanes_per_row(options.lanes_per_row) {}

  CrsKernel kernel() const { return m_kernel; }
  int lanes_per_row() const { return m_lanes_per_row; }
  /// Bytes of all Views, shared ones included.
  std::size_t storage_bytes() const {
    return Impl::bytes_of(crs.values, crs.graph.row_map, crs.graph.entries, first_rows, empty_rows,
                          chunk_begins, cut_rows, carry);
  }
  /// The same matrix with a carry of its own, for products at the same time as those of this object.
  WrappedCrsMatrix with_own_carry() const {
    WrappedCrsMatrix result(*this);
    result.carry = carry_type(Impl::label("carry", name()), carry.extent(0));
    return result;
  }

  crs_type crs;                     ///< the matrix, shared
  values_type values;               ///< its values
  row_list_type first_rows;         ///< row of the first entry of each chunk
  row_list_type empty_rows;         ///< rows without entries, ascending
  chunk_offsets_type chunk_begins;  ///< first entry of each chunk, and the number of entries; or none
  chunk_offsets_type
      cut_rows;  ///< rows of several chunks, first and last chunk of each; room for one a chunk
  std::int64_t cut_row_count = 0;   ///< how many there are
  std::int64_t long_row_count = 0;  ///< how many of them, which come first, are in more than two chunks
  carry_type carry;                 ///< see CooMatrix

 private:
  CrsKernel m_kernel = CrsKernel::balanced;
  int m_lanes_per_row = 1;
};

}  // namespace Filigree

#endif
