// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/kokkos_versions.hpp"

namespace Filigree {

/// Base class of all formats but CRS and BSR, which are classes of Kokkos Kernels: member types and extents.
/// It has the template parameters of KokkosSparse::CrsMatrix.
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

  /// The View type of values.
  using values_type = Kokkos::View<Scalar*, device_type, MemoryTraits>;
  /// The View type of column indices and other row or column indices.
  using entries_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;

  KOKKOS_INLINE_FUNCTION Ordinal numRows() const { return m_num_rows; }
  KOKKOS_INLINE_FUNCTION Ordinal numCols() const { return m_num_cols; }
  /// The number of entries of the CRS matrix, triplets or grid from which the matrix was built, including
  /// duplicates and explicit zeros.
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
/// The total size in bytes of Views of rank 1.
template <class... Views>
std::size_t bytes_of(const Views&... views) {
  return ((views.extent(0) * sizeof(typename Views::value_type)) + ... + std::size_t(0));
}
}  // namespace Impl
}  // namespace Filigree
