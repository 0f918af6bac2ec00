// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_CORE_MATRIX_BASE_HPP
#define FILIGREE_CORE_MATRIX_BASE_HPP

#include <cstddef>
#include <cstdint>

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree {

/// The types and the extents that the class of every format has. The parameters are those of
/// KokkosSparse::CrsMatrix.
template <class Scalar, class Ordinal, class Device, class MemoryTraits, class SizeType>
class MatrixBase {
 public:
  using value_type = Scalar;
  using ordinal_type = Ordinal;
  using size_type = SizeType;
  using memory_traits = MemoryTraits;
  using execution_space = typename Device::execution_space;
  using memory_space = typename Device::memory_space;
  using device_type = Kokkos::Device<execution_space, memory_space>;

  /// Values.
  using values_type = Kokkos::View<Scalar*, device_type, MemoryTraits>;
  /// Column indices, and other numbers of rows or columns.
  using entries_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;

  KOKKOS_INLINE_FUNCTION Ordinal numRows() const { return m_num_rows; }
  KOKKOS_INLINE_FUNCTION Ordinal numCols() const { return m_num_cols; }
  /// Entries of the CRS matrix, triplets or grid that the matrix was made from, duplicates and explicit zeros
  /// included.
  KOKKOS_INLINE_FUNCTION SizeType nnz() const { return m_nnz; }

 protected:
  /// A matrix without rows and columns.
  MatrixBase() = default;
  MatrixBase(Ordinal num_rows, Ordinal num_cols, SizeType nnz)
      : m_num_rows(num_rows), m_num_cols(num_cols), m_nnz(nnz) {}

 private:
  Ordinal m_num_rows = 0;
  Ordinal m_num_cols = 0;
  SizeType m_nnz = 0;
};

namespace Impl {

/// Bytes of the elements of some Views of rank 1.
template <class... Views>
std::size_t bytes_of(const Views&... views) {
  return ((views.extent(0) * sizeof(typename Views::value_type)) + ... + std::size_t(0));
}

}  // namespace Impl

}  // namespace Filigree

#endif
