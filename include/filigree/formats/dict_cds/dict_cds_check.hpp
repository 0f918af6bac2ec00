// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/scalar.hpp"
#include "filigree/core/view_checker.hpp"
#include "filigree/formats/dict_cds/dict_cds_layout.hpp"

namespace Filigree::Impl {

/// check() of a DictCdsMatrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const DictCdsMatrix<S, O, D, M, Z>& A) {
  const auto rows = static_cast<std::int64_t>(A.numRows());
  const auto columns = static_cast<std::int64_t>(A.numCols());
  const std::int64_t b = A.block_size();
  checker.extents(A);
  if (b < 1) checker.refuse("block_size()", " is ", b, "; it must be at least 1");
  const std::int64_t block_rows = (rows + b - 1) / b;
  const auto offsets = checker.elements(A.offsets);
  const std::size_t diagonals = offsets.extent(0);
  checker.range("offsets", offsets, 1 - block_rows, (columns + b - 1) / b - 1);
  checker.ascending("offsets", offsets, 0, diagonals, true);
  const auto blocks = static_cast<std::int64_t>(A.values.extent(0)) / (b * b);
  checker.number("the number of distinct blocks in values", blocks, diagonals > 0 && rows > 0 ? 1 : 0,
                 DictCdsOptions::most_blocks, "an index of two bytes counts them");
  checker.size("values", A.values, blocks * b * b, "distinct blocks * block size * block size");
  const std::int64_t places = static_cast<std::int64_t>(diagonals) * block_rows;
  const char* const why = "block diagonals * block rows with up to 256 distinct blocks, or else 0";
  const char* const why_wide = "block diagonals * block rows with more than 256 distinct blocks, or else 0";
  checker.size("short_indices", A.short_indices, A.has_short_indices() ? places : 0, why);
  checker.size("indices", A.indices, A.has_short_indices() ? 0 : places, why_wide);

  const auto values = checker.elements(A.values);
  const auto check_elements = [&](const char* name, const auto& indices) {
    checker.range(name, indices, 0, blocks - 1);
    using Index = typename std::decay_t<decltype(indices)>::non_const_value_type;
    DictCdsElements<S, O, Index> elements(A, indices.data());
    elements.offsets = offsets.data();
    elements.block_values = values.data();
    std::int64_t nonzeros = 0;
    for (std::int64_t row = 0; row < block_rows * b; ++row)
      elements.for_each_element(
          row, 0, elements.element_count(row), [&](std::int64_t column, std::int64_t position) {
            const S value = elements.value(position);
            if (value == S(0)) return;
            if (row >= rows || column < 0 || column >= columns)
              checker.refuse("values", " has ", printable(value), " for row ", row, " and column ", column,
                             " of a matrix of ", rows, " rows and ", columns,
                             " columns; that is padding and must be 0");
            ++nonzeros;
          });
    if (static_cast<std::int64_t>(A.nnz()) < nonzeros)
      checker.refuse("nnz()", " is ", A.nnz(), "; it must be at least ", nonzeros,
                     ", the number of values of all blocks that are not 0");
  };
  if (A.has_short_indices())
    check_elements("short_indices", checker.elements(A.short_indices));
  else
    check_elements("indices", checker.elements(A.indices));
}

}  // namespace Filigree::Impl
