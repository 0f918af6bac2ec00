// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a host thread multiplies whole block rows of a format that stores dense blocks part by part: a part is a diagonal
// of CDS, or the blocks k of all block rows of blocked ELL.
#pragma once

#include "filigree/core/launch.hpp"

namespace Filigree::Impl {

/// Multiplies block rows with one column of x of unit stride.
///
/// The values in one column of the blocks of a part are a stream of memory. A core needs about eight streams at a time
/// to read at full speed, so that several parts are added in one pass over the block rows, Kernel::most_of_pass of them
/// at most. Within a pass the rows are taken in chunks of about 32 rows, whose sums stay in registers. Between two passes
/// the sums stay in the caches of the core. The last pass stores each chunk in y at once: if the streams had to wait for
/// a loop that stores, the product would be slower (see docs/performance.md, "Passes of a host over dense blocks").
///
/// Kernel is the product of the format. It has `operands`, and
///
///   most_of_pass                        (constexpr) the most parts of a pass
///   add_parts<Count, Blocks>(sums, part, block)
///                                       adds the products of the parts `part` to part + Count - 1 of the block rows
///                                       block to block + Blocks - 1 to sums[0] to sums[Blocks * BlockSize - 1], those
///                                       of values 0 too
///   multiply_without_zeros(first, count)
///                                       multiplies the rows first to first + count - 1 without values 0, and stores
///                                       the sums
template <class Launch, class Operands, int BlockSize, class Kernel>
class HostPasses {
 public:
  using sums_type = typename Operands::sums_type;

  /// Multiplies the block rows begin to end - 1 with the parts first to end_part - 1.
  static KOKKOS_INLINE_FUNCTION void multiply(const Kernel& kernel, const std::int64_t begin,
                                              const std::int64_t end, const std::int64_t first,
                                              const std::int64_t end_part) {
    std::int64_t passes = (end_part - first + Kernel::most_of_pass - 1) / Kernel::most_of_pass;
    HostSums<Launch, sums_type> memory(passes > 1 ? (end - begin) * BlockSize : 0);
    for (std::int64_t part = first; part < end_part; --passes) {
      // The numbers of parts of two passes differ by at most one.
      const std::int64_t count = (end_part - part + passes - 1) / passes;
      add_pass<Kernel::most_of_pass>(kernel, {begin, end, part, part == first, passes == 1, memory.sums()},
                                     count);
      part += count;
    }
  }

 private:
  using accumulator_type = typename Operands::accumulator_type;
  static constexpr int blocks_of_chunk = BlockSize > 32 ? 1 : 32 / BlockSize;

  struct Pass {
    std::int64_t begin;  ///< block rows
    std::int64_t end;
    std::int64_t part;  ///< the first one
    bool is_first;
    bool is_last;
    sums_type* sums;  ///< between two passes, from block row `begin` on
  };

  /// Adds `count` parts, at most Most. It calls itself until the compiler knows their number.
  template <int Most>
  static KOKKOS_INLINE_FUNCTION void add_pass(const Kernel& kernel, const Pass& pass,
                                              const std::int64_t count) {
    if constexpr (Most > 1)
      if (count < Most) return add_pass<Most - 1>(kernel, pass, count);
    std::int64_t block = pass.begin;
    for (; block + blocks_of_chunk <= pass.end; block += blocks_of_chunk)
      add_chunk<Most, blocks_of_chunk>(kernel, pass, block);
    for (; block < pass.end; ++block)
      add_chunk<Most, 1>(kernel, pass, block);
  }

  template <int Count, int Blocks>
  static KOKKOS_FORCEINLINE_FUNCTION void add_chunk(const Kernel& kernel, const Pass& pass,
                                                    const std::int64_t block) {
    constexpr int rows = Blocks * BlockSize;
    sums_type* const between = pass.sums + (block - pass.begin) * BlockSize;
    accumulator_type sums[rows];
    FILIGREE_UNROLL(32)
    for (int r = 0; r < rows; ++r)
      sums[r] = pass.is_first ? accumulator_type(0) : between[r][0];
    kernel.template add_parts<Count, Blocks>(sums, pass.part, block);
    if (pass.is_last) {
      store_or_repeat<rows>(kernel, sums, block * BlockSize);
    } else {
      for (int r = 0; r < rows; ++r)
        between[r][0] = sums[r];
    }
  }

  /// Stores the sums of the rows from `first` on. If one of them is NaN, a value 0 may have been multiplied with Inf or
  /// NaN. Then the rows are multiplied again without values 0 (see ProductOperands::has_nan()).
  template <int Rows>
  static KOKKOS_FORCEINLINE_FUNCTION void store_or_repeat(const Kernel& kernel,
                                                          const accumulator_type (&sums)[Rows],
                                                          const std::int64_t first) {
    bool has_nan = false;
    for (int r = 0; r < Rows; ++r)
      has_nan |= sums[r] != sums[r];
    if (has_nan) return kernel.multiply_without_zeros(first, Rows);
    const auto store_with = [&](const Operands& operands) {
      for (int r = 0; r < Rows; ++r)
        operands.store(sums[r], first + r, 0);
    };
    if (kernel.operands.have_unit_stride())
      store_with(kernel.operands.with_unit_strides());
    else
      store_with(kernel.operands);
  }
};

}  // namespace Filigree::Impl
