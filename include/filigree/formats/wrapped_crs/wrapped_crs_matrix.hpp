// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <KokkosSparse_CrsMatrix.hpp>

#include "filigree/conversion/check_lanes.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/matrix_base.hpp"
#include "filigree/product/balanced_chunks.hpp"

namespace Filigree {

/// How a CRS matrix is multiplied.
enum class CrsKernel {
  lanes,    ///< T lanes of a GPU per row; T = 1 is the scalar kernel, T = 32 (one warp) the vector kernel
  balanced  ///< about equally many entries per team, however long the rows are
};

/// Options of WrappedCrsMatrix.
struct WrappedCrsOptions : ConvertOptions {
  /// The kernel that multiplies.
  CrsKernel kernel = CrsKernel::balanced;
  /// T of CrsKernel::lanes: 1, 2, 4, 8, 16 or 32.
  int lanes_per_row = 1;

  /// The balanced kernel, and T lanes per row for each T. The papers compare T = 1, T = 32 and, in SpMV4GPU,
  /// a half warp (T = 16).
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

/// A CRS matrix that a kernel of this library multiplies. The caller chooses the kernel. It is meant for
/// callers who cannot convert their matrix: it shares the Views of the KokkosSparse::CrsMatrix that it is
/// made from. If the values of that matrix change, its values change too. Const values and const column
/// indices are copied instead.
///
/// CrsKernel::lanes suits rows of about the same length: few lanes for short rows, 32 for long rows.
/// CrsKernel::balanced suits rows of any lengths, also a few very long ones.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        row_map     0 2 2 5 7          shared with the CRS matrix
///     0 0 0 0        entries     0 2 1 2 3 0 3      shared
///     0 2 4 1        values      3 1 2 4 1 1 1      shared
///     1 0 0 1        first_rows  0                  balanced only: row of the first entry of each chunk
///                    empty_rows  none               balanced only: rows without entries of large chunks
///                    chunks                         balanced only: chunk_begins is 0 7; see EntryChunks and
///                                                   CooMatrix
///
/// The team of a chunk also scales y in rows without entries between the rows of its entries. If a chunk
/// reaches over more than 16384 rows, from the row of its first entry to the row of the first entry of the
/// next chunk, it does not: empty_rows lists its rows without entries. The rows before the first entry belong
/// to the first chunk, and those after the last entry to the last chunk.
///
/// In a matrix of more than 2^20 entries, on a GPU, the two chunks of a row that is cut once exchange their
/// partial sums through words of a workspace. A second kernel joins the chunks.long_row_count rows that are
/// cut more often (see product/balanced_product.hpp).
///
/// The Views that do not belong to the CRS matrix are managed, whatever MemoryTraits are.
/// Bytes: the bytes of the CRS matrix. CrsKernel::balanced adds the bytes that CooMatrix has for chunks and
/// sizeof(Ordinal) per chunk and per element of empty_rows.
///
/// Sources: scalar and vector CRS and one half warp per row, Vazquez, Fernandez and Garzon 2011, section 3.1;
/// CRS, Kirk and Hwu, chapter 10, section 10.2.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class WrappedCrsMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

 public:
  /// The type of the CRS matrix.
  using crs_type = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using typename base_type::device_type;
  using options_type = WrappedCrsOptions;      ///< options of the conversion
  static constexpr bool keeps_entries = true;  ///< see MatrixTraits::keeps_entries
  static constexpr bool shares_crs = true;     ///< see MatrixTraits::shares_crs

  using values_type = typename crs_type::values_type;  ///< the View type of crs.values
  /// The View type of lists of rows.
  using row_list_type = Kokkos::View<Ordinal*, device_type>;
  using chunks_type = EntryChunks<device_type>;  ///< type of `chunks`
  /// The View type of chunks.chunk_begins and chunks.cut_rows.
  using chunk_offsets_type = typename chunks_type::offsets_type;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "wrapped_crs"; }

  /// A matrix without rows.
  WrappedCrsMatrix() = default;
  /// Wraps a CRS matrix for CrsKernel::lanes. It is not copied, and only check() checks it and lanes_per_row.
  /// in_vectors is for hosts: see in_vectors().
  WrappedCrsMatrix(const crs_type& crs_, int lanes_per_row, bool in_vectors = false)
      : base_type(crs_.numRows(), crs_.numCols(), crs_.nnz()),
        crs(crs_),
        m_kernel(CrsKernel::lanes),
        m_lanes_per_row(lanes_per_row),
        m_in_vectors(in_vectors) {}
  /// Wraps a CRS matrix for CrsKernel::balanced, with lists that already are as the class comment describes
  /// them. Nothing is copied, and only check() checks them. convert<WrappedCrsMatrix> makes the lists.
  /// in_vectors is for hosts: see in_vectors().
  WrappedCrsMatrix(const crs_type& crs_, row_list_type first_rows_, row_list_type empty_rows_,
                   const chunks_type& chunks_, bool in_vectors = false)
      : base_type(crs_.numRows(), crs_.numCols(), crs_.nnz()),
        crs(crs_),
        first_rows(first_rows_),
        empty_rows(empty_rows_),
        chunks(chunks_),
        m_in_vectors(in_vectors) {}

  /// The kernel that multiplies.
  CrsKernel kernel() const { return m_kernel; }
  /// T of CrsKernel::lanes.
  int lanes_per_row() const { return m_lanes_per_row; }
  /// Whether a host multiplies rows in vectors: with vector registers of the processor, and with fewer branches.
  /// convert sets it on a host if it estimates that a processor predicts the lengths of a fifth of the rows or
  /// more wrong. It applies to modes N and C with one column of x, if A, x and the sums are all float or all
  /// double, and if GCC or Clang compiles the product. The order of the additions differs, and so may the last
  /// bits.
  bool in_vectors() const { return m_in_vectors; }
  /// Bytes of all Views, including shared ones.
  std::size_t storage_bytes() const {
    return Impl::bytes_of(crs.values, crs.graph.row_map, crs.graph.entries, first_rows, empty_rows) +
           chunks.bytes();
  }

  crs_type crs;              ///< the CRS matrix, shared
  row_list_type first_rows;  ///< row of the first entry of each chunk
  row_list_type empty_rows;  ///< rows without entries that no chunk scales, ascending
  chunks_type chunks;        ///< the chunks that teams multiply

 private:
  CrsKernel m_kernel = CrsKernel::balanced;
  int m_lanes_per_row = 1;
  bool m_in_vectors = false;
};

namespace Impl {
/// Throws std::invalid_argument if an option is out of range. The message begins with `function`.
inline void check_wrapped_crs_options(const char* function, const WrappedCrsOptions& options) {
  if (options.kernel != CrsKernel::lanes && options.kernel != CrsKernel::balanced)
    fail<std::invalid_argument>(function, ": options.kernel is CrsKernel(", static_cast<int>(options.kernel),
                                "); it must be lanes or balanced.");
  check_lanes_per_row(function, options.lanes_per_row);
}
}  // namespace Impl

}  // namespace Filigree
