// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>
#include <variant>

#include "filigree/check.hpp"
#include "filigree/convert.hpp"
#include "filigree/diagonal.hpp"
#include "filigree/spmv.hpp"
#include "filigree/tune/selection.hpp"

namespace Filigree {
namespace Impl {

/// A copy of a CRS matrix, which may be const or unmanaged. The copies are queued on exec.
template <class Copy, class ExecutionSpace, class Crs>
Copy copy_of_crs(const ExecutionSpace& exec, const Crs& crs) {
  return Copy(
      label("copy", "crs"), crs.numRows(), crs.numCols(), crs.nnz(),
      copy_view<typename Copy::values_type::non_const_type>(exec, "values", "crs", crs.values),
      copy_view<typename Copy::row_map_type::non_const_type>(exec, "row_map", "crs", crs.graph.row_map),
      copy_view<typename Copy::index_type::non_const_type>(exec, "entries", "crs", crs.graph.entries));
}

/// The std::variant of the matrices of a list of formats.
template <class S, class O, class D, class M, class Z, class... Formats>
auto variant_of(FormatList<Formats...>) -> std::variant<typename Formats::template matrix<S, O, D, M, Z>...>;

}  // namespace Impl

/// A matrix of the format that optimize() picked. spmv, refill and to_crs take it like any other matrix.
/// Copies share the Views.
///
/// It shares no memory with the CRS matrix that it was made from, whatever format was picked. Exception: if
/// OptimizeOptions::share_crs was set and the picked format is CRS or WrappedCrsMatrix, new values of the CRS
/// matrix are new values of this matrix, and refill writes to the CRS matrix.
///
/// The template parameters are those of KokkosSparse::CrsMatrix.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class AnyMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

 public:
  using options_type = OptimizeOptions;  ///< options of optimize()
  /// A std::variant of the matrices of all formats.
  using variant_type =
      decltype(Impl::variant_of<Scalar, Ordinal, Device, MemoryTraits, SizeType>(AllFormats()));
  static constexpr bool keeps_entries = false;  ///< see MatrixTraits::keeps_entries

  /// The name in labels. selection().picked is that of the format.
  static constexpr const char* name() { return "any"; }

  /// A matrix without rows and columns.
  AnyMatrix() = default;

  /// selection.picked names the variant of `matrix`. nnz is the number of entries of the CRS matrix from
  /// which it was converted.
  AnyMatrix(Selection selection, variant_type matrix, SizeType nnz)
      : base_type(extents(matrix).first, extents(matrix).second, nnz),
        m_selection(std::move(selection)),
        m_matrix(std::move(matrix)) {}

  /// Bytes of all Views of the matrix, including those that it shares with the CRS matrix.
  std::size_t storage_bytes() const {
    return visit([](const auto& A) { return MatrixTraits<std::decay_t<decltype(A)>>::storage_bytes(A); });
  }

  /// The same matrix with another selection.
  AnyMatrix with_selection(Selection selection) const {
    return {std::move(selection), m_matrix, this->nnz()};
  }
  /// What optimize() found about all formats, and which one it picked.
  const Selection& selection() const { return m_selection; }
  /// Which format was picked and why, and a table of the predictions (see Selection::explain).
  std::string explain(Detail detail = Detail::summary) const { return m_selection.explain(detail); }

  /// Calls visit(matrix) with the matrix in the picked format and returns the result.
  template <class Visit>
  decltype(auto) visit(Visit&& visit) const {
    return std::visit(std::forward<Visit>(visit), m_matrix);
  }

 private:
  /// The numbers of rows and columns.
  static std::pair<Ordinal, Ordinal> extents(const variant_type& matrix) {
    return std::visit(
        [](const auto& A) {
          using Traits = MatrixTraits<std::decay_t<decltype(A)>>;
          return std::pair(static_cast<Ordinal>(Traits::num_rows(A)),
                           static_cast<Ordinal>(Traits::num_cols(A)));
        },
        matrix);
  }

  Selection m_selection;
  variant_type m_matrix;
};

/// spmv of the matrix that A holds (see spmv.hpp).
template <class ExecutionSpace, class Alpha, class S, class O, class D, class M, class Z, class XView,
          class Beta, class YView>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> spmv(
    const ExecutionSpace& exec, const ModeArgument& mode, const Alpha& alpha,
    const AnyMatrix<S, O, D, M, Z>& A, const XView& x, const Beta& beta, const YView& y) {
  A.visit([&](const auto& matrix) { spmv(exec, mode, alpha, matrix, x, beta, y); });
}

/// spmv with a handle (see spmv.hpp). Only a CRS or BSR matrix whose type is that of the handle uses it.
template <class ExecutionSpace, class Handle, class Alpha, class S, class O, class D, class M, class Z,
          class XView, class Beta, class YView>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value && Impl::is_spmv_handle_v<Handle>> spmv(
    const ExecutionSpace& exec, const Handle& handle, const ModeArgument& mode, const Alpha& alpha,
    const AnyMatrix<S, O, D, M, Z>& A, const XView& x, const Beta& beta, const YView& y) {
  A.visit([&](const auto& matrix) {
    if constexpr (Impl::handle_fits_v<Handle, ExecutionSpace, std::decay_t<decltype(matrix)>, XView, YView>)
      spmv(exec, handle, mode, alpha, matrix, x, beta, y);
    else
      spmv(exec, mode, alpha, matrix, x, beta, y);
  });
}

/// check of the matrix that A holds (see check.hpp).
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> check(const ExecutionSpace& exec,
                                                                          const AnyMatrix<S, O, D, M, Z>& A) {
  A.visit([&](const auto& matrix) { check(exec, matrix); });
}

/// refill of the matrix that A holds (see convert.hpp).
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class CrsScalar,
          class CrsOrdinal, class CrsDevice, class CrsTraits, class CrsSize>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> refill(
    const ExecutionSpace& exec, const AnyMatrix<S, O, D, M, Z>& A,
    const KokkosSparse::CrsMatrix<CrsScalar, CrsOrdinal, CrsDevice, CrsTraits, CrsSize>& crs,
    const RefillOptions& options = {}) {
  if (static_cast<std::int64_t>(A.nnz()) != static_cast<std::int64_t>(crs.nnz()))
    Impl::fail<std::invalid_argument>("Filigree::refill: A was converted from ", A.nnz(),
                                      " entries, but the CRS matrix has ", crs.nnz(),
                                      " entries; it must have the pattern from which A was converted.");
  A.visit([&](const auto& matrix) { refill(exec, matrix, crs, options); });
}

/// to_crs of the matrix that A holds (see convert.hpp). For CRS and WrappedCrsMatrix it returns a copy, so
/// that the result never shares memory with A.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, KokkosSparse::CrsMatrix<S, O, D, void, Z>>
to_crs(const ExecutionSpace& exec, const AnyMatrix<S, O, D, M, Z>& A) {
  return A.visit([&](const auto& matrix) {
    auto crs = to_crs(exec, matrix);
    if constexpr (MatrixTraits<std::decay_t<decltype(matrix)>>::shares_crs)
      return Impl::copy_of_crs<decltype(crs)>(exec, crs);
    else
      return crs;
  });
}

/// diagonal of the matrix that A holds (see diagonal.hpp).
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, diagonal_t<AnyMatrix<S, O, D, M, Z>>>
diagonal(const ExecutionSpace& exec, const AnyMatrix<S, O, D, M, Z>& A) {
  return A.visit([&](const auto& matrix) { return diagonal(exec, matrix); });
}

/// diagonal_blocks of the matrix that A holds (see diagonal.hpp).
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value,
                 diagonal_blocks_t<AnyMatrix<S, O, D, M, Z>>>
diagonal_blocks(const ExecutionSpace& exec, const AnyMatrix<S, O, D, M, Z>& A, int block_size) {
  return A.visit([&](const auto& matrix) { return diagonal_blocks(exec, matrix, block_size); });
}

}  // namespace Filigree
