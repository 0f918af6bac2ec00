// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_CDS_CDS_CONVERT_HPP
#define FILIGREE_FORMATS_CDS_CDS_CONVERT_HPP

#include <cstdint>
#include <string>

#include "filigree/conversion/block_diagonals.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/dense_copy.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/core/binary_search.hpp"
#include "filigree/core/region.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"

namespace Filigree {
namespace Impl {

/// The Places (core/place_copy.hpp) of a CDS matrix.
template <class Scalar, class Ordinal>
struct CdsElements {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  static constexpr bool is_dense = true;
  static constexpr bool rows_are_contiguous = false;

  Scalar* diagonal_values;
  const Ordinal* offsets;
  std::int64_t diagonals;
  std::int64_t rows;
  std::int64_t block_size;

  template <class Cds>
  explicit CdsElements(const Cds& cds)
      : diagonal_values(cds.values.data()),
        offsets(cds.offsets.data()),
        diagonals(static_cast<std::int64_t>(cds.numDiagonals())),
        rows(static_cast<std::int64_t>(cds.numRows())),
        block_size(cds.block_size()) {}

  KOKKOS_FORCEINLINE_FUNCTION Scalar* values() const { return diagonal_values; }

  KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row, std::int64_t column) const {
    const std::int64_t block_column = quotient<Ordinal>(column, block_size);
    const std::int64_t offset = block_column - quotient<Ordinal>(row, block_size);
    const std::int64_t low = first_where(
        0, diagonals, [&](std::int64_t d) { return static_cast<std::int64_t>(offsets[d]) >= offset; });
    if (low == diagonals || static_cast<std::int64_t>(offsets[low]) != offset) return -1;
    return (low * block_size + column - block_column * block_size) * rows + row;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t element_count(std::int64_t) const {
    return diagonals * block_size;
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_each_element(const std::int64_t row, const std::int64_t first,
                                               const std::int64_t end, const Visit& visit) const {
    const std::int64_t block_row = quotient<Ordinal>(row, block_size);
    std::int64_t d = quotient<Ordinal>(first, block_size);
    std::int64_t c = first - d * block_size;
    for (std::int64_t place = first; place < end; ++place) {
      const std::int64_t column = (block_row + static_cast<std::int64_t>(offsets[d])) * block_size + c;
      visit(column, place * rows + row);
      if (++c == block_size) {
        c = 0;
        ++d;
      }
    }
  }
};

/// Calls visit(layout) with the layout of the matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Visit>
auto with_layout(const ExecutionSpace&, const CdsMatrix<S, O, D, M, Z>& cds, const Visit& visit) {
  return visit(CdsElements<S, O>(cds));
}

/// A CRS matrix, its content checked, as diagonals of blocks; function and format are those that messages and
/// labels name. Fences exec to learn the number of diagonals.
template <class Cds, class ExecutionSpace, class Crs>
Cds diagonals_of_crs(const ExecutionSpace& exec, const char* function, const char* format, const Crs& crs,
                     const ConvertOptions& options, int block_size) {
  using S = typename Cds::value_type;
  using O = typename Cds::ordinal_type;
  using Z = typename Cds::size_type;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  auto found = find_diagonals(exec, format, crs, block_size);
  const std::int64_t diagonals = found.count;

  const double elements =
      static_cast<double>(diagonals) * static_cast<double>(block_size) * static_cast<double>(rows);
  check_storage<Z>(function, elements, elements * sizeof(S) + static_cast<double>(diagonals) * sizeof(O), crs,
                   options, [&](std::ostream& why) {
                     why << diagonals << " diagonals of " << block_size << " x " << block_size
                         << " blocks for " << static_cast<double>(crs.nnz()) / static_cast<double>(rows)
                         << " entries a row";
                   });

  const Cds result = allocate_cds<Cds>(exec, format, crs.numRows(), crs.numCols(), static_cast<Z>(crs.nnz()),
                                       block_size, diagonals);
  if (diagonals == 0) return result;
  found.work.offsets = result.offsets.data();
  Kokkos::parallel_scan(label("list_diagonals", format),
                        row_range<typename decltype(found.work)::List>(exec, found.candidates), found.work);
  fill_dense(exec, "convert", format, CdsElements<S, O>(result), crs);
  // The flags are freed on return, which is no event of exec.
  exec.fence();
  return result;
}

/// convert<CdsMatrix>, its input checked. Fences exec.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const CdsOptions& options,
                      CdsMatrix<S, O, D, M, Z>& result) {
  const char* function = "Filigree::convert<CdsMatrix>";
  if (options.block_size < 1)
    fail<std::invalid_argument>(function, ": options.block_size is ", options.block_size,
                                "; it must be the unknowns a grid cell, at least 1.");
  result =
      diagonals_of_crs<CdsMatrix<S, O, D, M, Z>>(exec, function, "cds", crs, options, options.block_size);
}

}  // namespace Impl
}  // namespace Filigree

#endif
