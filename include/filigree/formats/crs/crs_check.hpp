// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/view_checker.hpp"
#include "filigree/formats/crs/crs_matrix.hpp"

namespace Filigree::Impl {

/// check() of a CRS matrix, on the device.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
void check_matrix(const ViewChecker<ExecutionSpace>& checker,
                  const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs) {
  check_crs(checker.exec, "Filigree::check", crs, true);
}

}  // namespace Filigree::Impl
