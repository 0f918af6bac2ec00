// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels for several columns of x have in common that load values of A ahead (see docs/performance.md,
// "Values loaded ahead"): CdsAheadSpmv and EllAheadProduct.
#pragma once

#include "filigree/core/launch.hpp"
#include "filigree/product/operands.hpp"

namespace Filigree::Impl {

/// The teams of 256 lanes that a multiprocessor must be able to run at once. 4, 3 and 2 teams leave 64, 80 and 128
/// registers per lane for the sums of 4, 8 and 16 columns of double. Float needs fewer, so that one team more fits.
template <class Operands>
constexpr int values_ahead_teams = (Operands::most_columns <= 4   ? 4
                                    : Operands::most_columns <= 8 ? 3
                                                                  : 2) +
                                   (sizeof(typename Operands::accumulator_type) > 4 ? 0 : 1);
template <class ExecutionSpace, class Operands>
using ValuesAheadLaunch = RowLaunch<ExecutionSpace, 256, values_ahead_teams<Operands>>;

/// Whether the batches of per_batch elements that hold `count` elements have few places left: at most an eighth of all.
/// A place costs the loads of x as an element does.
constexpr bool batches_are_full(std::int64_t count, int per_batch) {
  const std::int64_t with_fill = (count + per_batch - 1) / per_batch * per_batch;
  return 8 * (with_fill - count) <= with_fill;
}

}  // namespace Filigree::Impl
