// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/matrix_traits.hpp"
#include "filigree/core/region.hpp"

namespace Filigree {
namespace Impl {
template <class Matrix>
void set_label(Matrix& A, const std::string& label);
template <class Matrix>
const ProductNames& product_names(const Matrix& A);
}  // namespace Impl

/// Base class of all formats but CRS and BSR, which are classes of Kokkos Kernels: member types and extents.
/// It has the template parameters of KokkosSparse::CrsMatrix.
template <class Scalar, class Ordinal, class Device, class MemoryTraits, class SizeType>
class MatrixBase {
  static_assert(Kokkos::is_device<Device>::value,
                "Filigree: the third template parameter of a matrix must be a Kokkos::Device, as "
                "ExecutionSpace::device_type is.");

 public:
  using value_type = Scalar;                                 ///< type of a value
  using entry_type = std::remove_const_t<Scalar>;            ///< see MatrixTraits
  using ordinal_type = Ordinal;                              ///< type of a row or column index
  using size_type = SizeType;                                ///< type of an offset or count of entries
  using memory_traits = MemoryTraits;                        ///< Kokkos memory traits of the Views
  using execution_space = typename Device::execution_space;  ///< default for products
  using memory_space = typename Device::memory_space;        ///< where the Views lie
  using device_type = Kokkos::Device<execution_space, memory_space>;  ///< both together

  // As in KokkosSparse::CrsMatrix, for templates that take both.
  using const_value_type = const Scalar;                        ///< value_type, but const
  using non_const_value_type = std::remove_const_t<Scalar>;     ///< value_type, never const
  using non_const_ordinal_type = std::remove_const_t<Ordinal>;  ///< ordinal_type, never const
  using non_const_size_type = std::remove_const_t<SizeType>;    ///< size_type, never const

  /// The View type of values.
  using values_type = Kokkos::View<Scalar*, device_type, MemoryTraits>;
  /// The View type of column indices and other row or column indices.
  using entries_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;

  /// The number of rows.
  KOKKOS_INLINE_FUNCTION Ordinal numRows() const { return m_num_rows; }
  /// The number of columns.
  KOKKOS_INLINE_FUNCTION Ordinal numCols() const { return m_num_cols; }
  /// numRows() and numCols(), by the names that KokkosSparse::BsrMatrix has for them.
  KOKKOS_INLINE_FUNCTION Ordinal numPointRows() const { return m_num_rows; }
  /// See numPointRows().
  KOKKOS_INLINE_FUNCTION Ordinal numPointCols() const { return m_num_cols; }
  /// The number of entries of the CRS matrix, triplets or grid from which the matrix was built, including
  /// duplicates and explicit zeros.
  KOKKOS_INLINE_FUNCTION SizeType nnz() const { return m_nnz; }
  /// The label that Kokkos Tools show for the matrix (ConvertOptions::label), or an empty string.
  std::string label() const { return m_names == nullptr ? std::string() : m_names->label; }

 protected:
  /// A matrix without rows and columns.
  MatrixBase() = default;
  /// Only sets what numRows(), numCols() and nnz() return.
  MatrixBase(Ordinal num_rows, Ordinal num_cols, SizeType nnz)
      : m_num_rows(num_rows), m_num_cols(num_cols), m_nnz(nnz) {}

 private:
  template <class Matrix>
  friend void Impl::set_label(Matrix& A, const std::string& label);
  template <class Matrix>
  friend const Impl::ProductNames& Impl::product_names(const Matrix& A);

  Ordinal m_num_rows = 0;
  Ordinal m_num_cols = 0;
  SizeType m_nnz = 0;
  const Impl::ProductNames* m_names = nullptr;  ///< null if the matrix has no label
};

namespace Impl {
/// Whether Matrix is derived from MatrixBase and so can have a label. The classes of Kokkos Kernels are not.
template <class Matrix, class = void>
constexpr bool has_label_v = false;
template <class Matrix>
constexpr bool has_label_v<Matrix, std::void_t<decltype(std::declval<const Matrix&>().label())>> = true;

/// Sets the label, unless it is empty or the class of A cannot have one.
template <class Matrix>
void set_label([[maybe_unused]] Matrix& A, [[maybe_unused]] const std::string& label) {
  if constexpr (has_label_v<Matrix>)
    if (!label.empty()) A.m_names = labelled_names(MatrixTraits<Matrix>::name(), label);
}

/// The label of A, or an empty string.
template <class Matrix>
std::string label_of([[maybe_unused]] const Matrix& A) {
  if constexpr (is_scaled_v<Matrix>)
    return label_of(A.matrix);
  else if constexpr (has_label_v<Matrix>)
    return A.label();
  else
    return {};
}

/// The names in products of A.
template <class Matrix>
const ProductNames& product_names([[maybe_unused]] const Matrix& A) {
  static const ProductNames without_label(MatrixTraits<Matrix>::name(), "");
  if constexpr (has_label_v<Matrix>)
    if (A.m_names != nullptr) return *A.m_names;
  return without_label;
}

/// The total size in bytes of Views of rank 1.
template <class... Views>
std::size_t bytes_of(const Views&... views) {
  return ((views.extent(0) * sizeof(typename Views::value_type)) + ... + std::size_t(0));
}
}  // namespace Impl
}  // namespace Filigree
