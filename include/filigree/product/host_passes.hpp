// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a host thread multiplies block rows of CDS and blocked ELL. Both store dense blocks in layers. A layer is a
// diagonal of CDS, or the blocks k of all block rows of blocked ELL.
#pragma once

#include "filigree/core/launch.hpp"
#include "filigree/product/operands.hpp"

namespace Filigree::Impl {

/// Multiplies block rows with one column of x of unit stride.
///
/// The values in one column of the blocks of a layer are a stream of memory. A core reads at full speed with about
/// eight streams. So one pass over the block rows adds up to Kernel::most_of_pass layers. Within a pass the rows are
/// taken in groups of about 32 rows, whose sums stay in registers. Between two passes the sums stay in the caches of
/// the core. The last pass stores each group in y. A separate loop that stores would stop the streams (see
/// docs/performance.md, "Passes of a host over dense blocks").
///
/// Kernel is the product of the format. It has `operands`, and
///
///   most_of_pass                        (constexpr) the most layers of a pass
///   add_layers<Count, Blocks>(sums, layer, block)
///                                       adds the products of the layers `layer` to layer + Count - 1 of the block rows
///                                       block to block + Blocks - 1 to sums[0] to sums[Blocks * BlockSize - 1],
///                                       including those of values 0
///   multiply_without_zeros(sums, first, count)
///                                       multiplies the rows first to first + count - 1, skips values 0, and stores the
///                                       results. `sums` are `count` sums that are 0
template <class Launch, class Operands, int BlockSize, class Kernel>
class HostPasses {
 public:
  using sums_type = typename Operands::sums_type;

  /// Multiplies the block rows begin to end - 1 with the layers first_layer to end_layer - 1, at least one.
  static KOKKOS_INLINE_FUNCTION void multiply(const Kernel& kernel, const std::int64_t begin,
                                              const std::int64_t end, const std::int64_t first_layer,
                                              const std::int64_t end_layer) {
    std::int64_t passes = (end_layer - first_layer + Kernel::most_of_pass - 1) / Kernel::most_of_pass;
    const std::int64_t rows = (end - begin) * BlockSize;
    HostSums<Launch, sums_type> memory(passes > 1 || assumes_finite_math ? rows : 0);
    if (assumes_finite_math) return kernel.multiply_without_zeros(memory.sums(), begin * BlockSize, rows);
    for (std::int64_t layer = first_layer; layer < end_layer; --passes) {
      // The numbers of layers of two passes differ by at most one.
      const std::int64_t count = (end_layer - layer + passes - 1) / passes;
      add_pass<Kernel::most_of_pass>(
          kernel, {begin, end, layer, layer == first_layer, passes == 1, memory.sums()}, count);
      layer += count;
    }
  }

 private:
  using accumulator_type = typename Operands::accumulator_type;
  static constexpr int blocks_of_group = 32 / BlockSize;

  struct Pass {
    std::int64_t begin;  ///< block rows
    std::int64_t end;
    std::int64_t layer;  ///< the first layer of the pass
    bool is_first;
    bool is_last;
    sums_type* sums;  ///< kept between passes; the first one is that of the first row of block row `begin`
  };

  /// Adds `count` layers, at most Most. It calls itself until Most is `count`, so that the compiler knows it.
  template <int Most>
  static KOKKOS_INLINE_FUNCTION void add_pass(const Kernel& kernel, const Pass& pass,
                                              const std::int64_t count) {
    if constexpr (Most > 1)
      if (count < Most) return add_pass<Most - 1>(kernel, pass, count);
    std::int64_t block = pass.begin;
    for (; block + blocks_of_group <= pass.end; block += blocks_of_group)
      add_group<Most, blocks_of_group>(kernel, pass, block);
    for (; block < pass.end; ++block)
      add_group<Most, 1>(kernel, pass, block);
  }

  template <int Count, int Blocks>
  static KOKKOS_FORCEINLINE_FUNCTION void add_group(const Kernel& kernel, const Pass& pass,
                                                    const std::int64_t block) {
    constexpr int rows = Blocks * BlockSize;
    sums_type* const between = pass.sums + (block - pass.begin) * BlockSize;
    sums_type sums[rows];
    FILIGREE_UNROLL(32)
    for (int r = 0; r < rows; ++r)
      sums[r][0] = pass.is_first ? accumulator_type(0) : between[r][0];
    kernel.template add_layers<Count, Blocks>(sums, pass.layer, block);
    if (pass.is_last) {
      store_or_repeat<rows>(kernel, sums, block * BlockSize);
    } else {
      for (int r = 0; r < rows; ++r)
        between[r][0] = sums[r][0];
    }
  }

  /// Stores the sums of the rows from `first` on. If one of them is NaN, a value 0 may have been multiplied with Inf or
  /// NaN. Then the rows are multiplied again without values 0 (see ProductOperands::has_nan()).
  template <int Rows>
  static KOKKOS_FORCEINLINE_FUNCTION void store_or_repeat(const Kernel& kernel, const sums_type (&sums)[Rows],
                                                          const std::int64_t first) {
    bool has_nan = false;
    for (int r = 0; r < Rows; ++r)
      has_nan |= Operands::has_nan(sums[r]);
    if (has_nan) {
      sums_type again[Rows] = {};
      kernel.multiply_without_zeros(again, first, Rows);
    } else {
      store_neighbours(kernel.operands, sums, first, Rows);
    }
  }
};

}  // namespace Filigree::Impl
