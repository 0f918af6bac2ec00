// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <vector>

#include "filigree/conversion/block_diagonals.hpp"
#include "filigree/conversion/check_symmetry.hpp"
#include "filigree/formats/sym_cds/sym_cds_layout.hpp"

namespace Filigree::Impl {

/// The offsets of the block diagonals above the main one that a symmetric matrix needs: the distances from
/// the main diagonal of all block diagonals with an entry. Fences exec.
template <class ExecutionSpace, class Crs>
std::vector<std::int64_t> symmetric_offsets(const ExecutionSpace& exec, const char* function,
                                            const char* format, const Crs& crs, int block_size) {
  using ordinal_type = typename Crs::non_const_ordinal_type;
  const auto found = find_diagonals(exec, format, crs, block_size);
  check_count<ordinal_type>(function, found.count, "block diagonals");
  const auto offsets = allocate_view<Kokkos::View<ordinal_type*, typename Crs::device_type>>(
      exec, "all_offsets", format, found.count);
  list_offsets(exec, format, found, offsets);
  const auto all = host_copy(exec, offsets);
  std::vector<std::int64_t> result;
  for (std::size_t d = 0; d < all.extent(0); ++d) {
    const auto offset = static_cast<std::int64_t>(all(d));
    if (offset != 0) result.push_back(offset < 0 ? -offset : offset);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// convert<SymCdsMatrix> of a checked CRS matrix. Fences exec. Takes the memory of find_diagonals() besides
/// the result.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const SymCdsOptions& options,
                      SymCdsMatrix<S, O, D, M, Z>& result) {
  using Matrix = SymCdsMatrix<S, O, D, M, Z>;
  const char* const function = "Filigree::convert<SymCdsMatrix>";
  const char* const format = Matrix::name();
  check_sym_cds_options(function, options);
  check_count<O>(function, options.block_size, "rows per block");
  const auto rows = static_cast<std::int64_t>(crs.numRows());
  if (rows != static_cast<std::int64_t>(crs.numCols()))
    fail<std::invalid_argument>(function, ": the CRS matrix is ", rows, " x ", crs.numCols(),
                                "; a symmetric matrix must be square.");
  if (options.check_symmetry)
    check_symmetry(exec, function, format, crs, options.symmetry == Symmetry::hermitian,
                   options.symmetry_tolerance);
  const auto offsets = symmetric_offsets(exec, function, format, crs, options.block_size);

  const std::int64_t b = options.block_size;
  const auto diagonals = static_cast<std::int64_t>(offsets.size());
  const double values =
      static_cast<double>(sym_cds_components(b, diagonals)) * static_cast<double>((rows + b - 1) / b);
  check_storage<Z>(function, values, values * sizeof(S) + static_cast<double>(diagonals) * sizeof(O), crs,
                   options, [&](std::ostream& why) {
                     why << diagonals << " diagonals of " << b << " x " << b
                         << " blocks above the main one for "
                         << static_cast<double>(crs.nnz()) / static_cast<double>(rows) << " entries per row";
                   });
  result = allocate_sym_cds<Matrix>(exec, crs.numRows(), static_cast<Z>(crs.nnz()), options, offsets);
  fill_dense(exec, "convert", format, SymCdsElements<S, O>(result), crs);
}

/// See convert.hpp. The new values must also be symmetric.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Crs>
std::int64_t first_different_row(const ExecutionSpace& exec, const SymCdsMatrix<S, O, D, M, Z>& A,
                                 const Crs& crs) {
  if (A.checks_symmetry())
    check_symmetry(exec, "Filigree::refill", A.name(), crs, A.symmetry() == Symmetry::hermitian,
                   A.symmetry_tolerance());
  return first_different_dense_row(exec, A.name(), A, SymCdsElements<S, O>(A), crs);
}

}  // namespace Filigree::Impl
