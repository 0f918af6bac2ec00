// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/formats/cds/cds_check.hpp"
#include "filigree/formats/dia/dia_matrix.hpp"

namespace Filigree::Impl {

/// check() of a DIA matrix.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker, const DiaMatrix<S, O, D, M, Z>& dia) {
  checker.number("block_size()", dia.block_size(), 1, 1, "DIA has no blocks");
  check_matrix(checker, static_cast<const CdsMatrix<S, O, D, M, Z>&>(dia));
}

}  // namespace Filigree::Impl
