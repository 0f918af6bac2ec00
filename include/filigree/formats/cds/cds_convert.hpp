// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/block_diagonals.hpp"
#include "filigree/conversion/check_crs.hpp"
#include "filigree/conversion/dense_copy.hpp"
#include "filigree/core/block_size.hpp"
#include "filigree/formats/cds/cds_layout.hpp"

namespace Filigree::Impl {

/// The block diagonals that a checked CRS matrix needs, whose values the caller writes. Error messages name
/// `function`, labels name `format`. A value takes value_bytes bytes. Fences exec. Takes the memory of
/// find_diagonals() besides the result.
template <class Cds, class ExecutionSpace, class Crs>
Cds empty_diagonals_of_crs(const ExecutionSpace& exec, const char* function, const char* format,
                           const Crs& crs, const ConvertOptions& options, int block_size, CdsLayout layout,
                           std::size_t value_bytes) {
  using O = typename Cds::ordinal_type;
  using Z = typename Cds::size_type;
  const std::int64_t rows = static_cast<std::int64_t>(crs.numRows());
  const auto found = find_diagonals(exec, format, crs, block_size);
  const std::int64_t diagonals = found.count;
  check_count<O>(function, diagonals, "block diagonals");

  const double elements =
      static_cast<double>(diagonals) * static_cast<double>(block_size) *
      static_cast<double>(stored_cds_rows(layout, rows, block_size, sizeof(typename Cds::value_type)));
  const double bytes =
      elements * static_cast<double>(value_bytes) + static_cast<double>(diagonals) * sizeof(O);
  check_storage<Z>(function, elements, bytes, crs, options, [&](std::ostream& why) {
    why << diagonals << " diagonals of " << block_size << " x " << block_size << " blocks for "
        << static_cast<double>(crs.nnz()) / static_cast<double>(rows) << " entries per row";
  });

  const Cds result = allocate_cds<Cds>(exec, format, crs.numRows(), crs.numCols(), static_cast<Z>(crs.nnz()),
                                       block_size, diagonals, layout);
  list_offsets(exec, format, found, result.offsets);
  // The flags or keys are freed on return, and the kernel must have read them by then.
  exec.fence();
  return result;
}

/// A checked CRS matrix as dense block diagonals; see empty_diagonals_of_crs(). The last kernel may still run
/// on return.
template <class Cds, class ExecutionSpace, class Crs>
Cds diagonals_of_crs(const ExecutionSpace& exec, const char* function, const char* format, const Crs& crs,
                     const ConvertOptions& options, int block_size, CdsLayout layout) {
  using S = typename Cds::value_type;
  const Cds result =
      empty_diagonals_of_crs<Cds>(exec, function, format, crs, options, block_size, layout, sizeof(S));
  fill_dense(exec, "convert", format, CdsElements<S, typename Cds::ordinal_type>(result), crs);
  return result;
}

/// Throws std::invalid_argument for options of CDS that are out of range.
inline void check_cds_options(const char* function, const CdsOptions& options) {
  check_block_size(function, options.block_size);
  if (options.layout != CdsLayout::columns && options.layout != CdsLayout::components)
    fail<std::invalid_argument>(function, ": options.layout is ", static_cast<int>(options.layout),
                                "; it must be CdsLayout::columns or CdsLayout::components.");
}

/// convert<CdsMatrix> of a checked CRS matrix. Fences exec. Takes 4 bytes per block row and per block column
/// besides the result, but at most 32 per entry.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const CdsOptions& options,
                      CdsMatrix<S, O, D, M, Z>& result) {
  const char* function = "Filigree::convert<CdsMatrix>";
  check_cds_options(function, options);
  check_count<O>(function, options.block_size, "rows per block");
  result = diagonals_of_crs<CdsMatrix<S, O, D, M, Z>>(exec, function, "cds", crs, options, options.block_size,
                                                      options.layout);
}

}  // namespace Filigree::Impl
