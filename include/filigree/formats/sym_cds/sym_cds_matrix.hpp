// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/block_size.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/matrix_base.hpp"

namespace Filigree {

/// Which entry the mirror image of an entry of a symmetric matrix is. Without complex numbers both are the
/// same.
enum class Symmetry {
  hermitian,  ///< the entry (j, i) is the complex conjugate of the entry (i, j)
  symmetric   ///< the entry (j, i) is equal to the entry (i, j)
};

/// Options of a conversion to SymCdsMatrix.
struct SymCdsOptions : ConvertOptions {
  /// b, the number of rows and columns of a block, as in CdsOptions.
  int block_size = 1;
  /// Which entry the mirror image of an entry is.
  Symmetry symmetry = Symmetry::hermitian;
  /// If true, the conversion and refill() compare each entry with its mirror image, and throw
  /// std::invalid_argument for the first pair that differs. If false, the entries below the main diagonal are
  /// ignored.
  bool check_symmetry = true;
  /// The largest difference of an entry from its mirror image that is accepted, relative to the larger
  /// absolute value of the two. At least 0. The entry above the main diagonal is stored.
  double symmetry_tolerance = 0;

  /// The largest block size that optimize() tries. A conversion takes larger ones too.
  static constexpr int largest_block_size = 16;
  /// Whether block_size must divide the extents of the matrix.
  static constexpr bool block_size_must_divide = false;
  /// Whether a product multiplies the padding of its blocks like entries.
  static constexpr bool multiplies_padding = false;
};

/// The block diagonal of a SymCdsMatrix along which products on a GPU march. The kernel takes the block rows
/// R, R + offset, R + 2 * offset, ... one after the other in the same lane. What a block of this diagonal
/// adds to the next of them stays in registers, so that the block is read only once.
struct MarchDiagonal {
  int index = -1;           ///< its number among the stored offsets, or -1 for no march
  std::int64_t offset = 0;  ///< its offset in block rows
};

/// Column Diagonal Storage of a symmetric or Hermitian matrix: only the blocks on and above the main
/// diagonal.
///
/// It suits symmetric matrices of structured grids with b unknowns per cell. It has about four sevenths of
/// the values of a CdsMatrix for a 7-point stencil. A product multiplies each stored block twice: for its own
/// block row, and transposed for the block row of its mirror image. It uses no atomics and gives the same
/// bits on every run.
///
/// Storage, for a matrix of 2 x 2 blocks, with the layout CdsLayout::components (`.` is padding, value 0)
///
///     a b|e f|         block_size = 2, offsets = 1, m = 2 block rows
///     b d|g h|
///     ---+---+         values   a k | b l | d n | e . | f . | g . | h .
///     e g|k l|                  main diagonal   | offset 1
///     f h|l n|         row      0     0     1     0     0     1     1
///                      column   0     1     1     0     1     0     1
///
/// The main diagonal comes first, even if it has no entry. Element (i, j) of its blocks with i <= j is
/// component j * (j + 1) / 2 + i. After its b * (b + 1) / 2 components, diagonal d of the k diagonals above
/// it has b * b components: element (i, j) is component i * b + j. The component c of block row R is at
/// position c * m + R of its diagonal, where m is the number of block rows. There are
/// (b * (b + 1) / 2 + k * b * b) * m values. If b does not divide the rows, the rows that the last block lacks
/// are padding.
///
/// A stored zero cannot be told from padding, as in CdsMatrix. The conversion sums duplicates.
///
/// Source: the diagonals are those of Godwin, Holewinski and Sadayappan 2012, section 3.1. The symmetric
/// storage and its product come from no paper.
///
/// The template parameters are those of KokkosSparse::CrsMatrix. SizeType must be able to count the values;
/// positions are computed in 64 bits.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class SymCdsMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::SymCdsMatrix: Ordinal must be signed, as in Filigree::CdsMatrix.");

 public:
  using typename base_type::device_type;
  using options_type = SymCdsOptions;           ///< options of the conversion
  static constexpr bool keeps_entries = false;  ///< see MatrixTraits::keeps_entries
  static constexpr bool is_symmetric = true;    ///< see MatrixTraits::is_symmetric

  using typename base_type::values_type;
  /// The View type of the offsets of block diagonals.
  using offsets_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "sym_cds"; }

  /// A matrix without rows.
  SymCdsMatrix() = default;
  /// Wraps Views that already hold a matrix in the storage of the class comment. They are not copied, and
  /// only check() checks them. options.block_size, symmetry, check_symmetry and symmetry_tolerance are kept
  /// for products and refill(). `march` changes only the speed; see march_diagonal().
  SymCdsMatrix(Ordinal rows, SizeType nnz, const SymCdsOptions& options, values_type values_,
               offsets_type offsets_, MarchDiagonal march = {})
      : base_type(rows, rows, nnz),
        values(values_),
        offsets(offsets_),
        m_block_size(options.block_size),
        m_symmetry(options.symmetry),
        m_check_symmetry(options.check_symmetry),
        m_symmetry_tolerance(options.symmetry_tolerance),
        m_march(march) {}

  /// b, the number of rows and columns of a block.
  KOKKOS_INLINE_FUNCTION int block_size() const { return m_block_size; }
  /// Which entry the mirror image of an entry is.
  KOKKOS_INLINE_FUNCTION Symmetry symmetry() const { return m_symmetry; }
  /// Whether refill() compares each entry with its mirror image.
  bool checks_symmetry() const { return m_check_symmetry; }
  /// The relative difference of mirror images that refill() accepts.
  double symmetry_tolerance() const { return m_symmetry_tolerance; }
  /// k, the number of block diagonals above the main one.
  KOKKOS_INLINE_FUNCTION Ordinal numDiagonals() const { return static_cast<Ordinal>(offsets.extent(0)); }
  /// The diagonal along which products on a GPU march.
  MarchDiagonal march() const { return m_march; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return Impl::bytes_of(values, offsets); }

  values_type values;    ///< (b * (b + 1) / 2 + k * b * b) * m values
  offsets_type offsets;  ///< block column minus block row of the k diagonals above the main one, ascending

 private:
  int m_block_size = 1;
  Symmetry m_symmetry = Symmetry::hermitian;
  bool m_check_symmetry = true;
  double m_symmetry_tolerance = 0;
  MarchDiagonal m_march;
};

/// The diagonal along which products with a SymCdsMatrix should march: the largest offset with which a march
/// is at least four block rows long and leaves few lanes of a team without work. For a grid it is the number
/// of cells of a plane.
/// @param offsets    the stored offsets, ascending
/// @param block_rows the number of block rows
template <class Offsets>
MarchDiagonal march_diagonal(const Offsets& offsets, std::int64_t block_rows) {
  MarchDiagonal march;
  for (std::size_t d = 0; d < offsets.size(); ++d) {
    const auto offset = static_cast<std::int64_t>(offsets[d]);
    const std::int64_t lanes = (offset + 127) / 128 * 128;
    if (offset * 4 <= block_rows && offset * 5 >= lanes * 4) march = {static_cast<int>(d), offset};
  }
  return march;
}

namespace Impl {

/// Throws std::invalid_argument for options of SymCdsMatrix that are out of range.
inline void check_sym_cds_options(const char* function, const SymCdsOptions& options) {
  check_block_size(function, options.block_size);
  if (options.symmetry != Symmetry::hermitian && options.symmetry != Symmetry::symmetric)
    fail<std::invalid_argument>(function, ": options.symmetry is ", static_cast<int>(options.symmetry),
                                "; it must be Symmetry::hermitian or Symmetry::symmetric.");
  if (!(options.symmetry_tolerance >= 0))  // also true for NaN
    fail<std::invalid_argument>(function, ": options.symmetry_tolerance is ", options.symmetry_tolerance,
                                "; it must be at least 0.");
}

/// The values per block row of a SymCdsMatrix with that number of diagonals above the main one.
KOKKOS_INLINE_FUNCTION std::int64_t sym_cds_components(std::int64_t block_size, std::int64_t diagonals) {
  return block_size * (block_size + 1) / 2 + diagonals * block_size * block_size;
}

/// Allocates a SymCdsMatrix with the given offsets and copies them. The caller writes its values. Rows that
/// the last block row lacks are zeros. Fences exec.
template <class Matrix, class ExecutionSpace, class Offsets>
Matrix allocate_sym_cds(const ExecutionSpace& exec, typename Matrix::ordinal_type rows,
                        typename Matrix::size_type nnz, const SymCdsOptions& options,
                        const Offsets& host_offsets) {
  const std::int64_t b = options.block_size;
  const std::int64_t block_rows = (static_cast<std::int64_t>(rows) + b - 1) / b;
  const auto diagonals = static_cast<std::int64_t>(host_offsets.size());
  const char* const format = Matrix::name();
  const Matrix result(rows, nnz, options,
                      allocate_aligned_view<typename Matrix::values_type>(
                          exec, "values", format, sym_cds_components(b, diagonals) * block_rows),
                      allocate_view<typename Matrix::offsets_type>(exec, "offsets", format, diagonals),
                      march_diagonal(host_offsets, block_rows));
  copy_numbers(exec, host_offsets, result.offsets);
  if (block_rows * b > static_cast<std::int64_t>(rows))
    Kokkos::deep_copy(exec, result.values, typename Matrix::value_type(0));
  return result;
}

}  // namespace Impl

}  // namespace Filigree
