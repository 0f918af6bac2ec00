// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_check.hpp"
#include "filigree/formats/split_cds/split_cds_layout.hpp"

namespace Filigree::Impl {

/// check() of a SplitCdsMatrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const SplitCdsMatrix<S, O, D, M, Z>& A) {
  if (A.leading.layout() != CdsLayout::columns)
    checker.refuse("leading.layout()", " is CdsLayout::components; it must be CdsLayout::columns");
  check_matrix(checker.part("leading"), A.leading);
  checker.size("trailing", A.trailing, static_cast<std::int64_t>(A.leading.values.extent(0)),
               "one per value of leading");
  const auto leading = checker.elements(A.leading.values);
  const auto trailing = checker.elements(A.trailing);
  for (std::size_t p = 0; p < trailing.extent(0); ++p)
    if (leading(p) == 0 && trailing(p) != 0)
      checker.refuse("trailing", "(", p, ") is ", trailing(p), " and leading.values(", p,
                     ") is 0; it must be 0, because padding and zeros are 0 in both halves");
}

}  // namespace Filigree::Impl
