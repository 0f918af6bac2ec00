// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "filigree/core/allocate_view.hpp"
#include "filigree/core/launch.hpp"

namespace Filigree::Impl {

/// One pass of a binary radix sort: moves the elements whose key has a 0 at `bit` before the elements whose
/// key has a 1 there, and keeps the order within both groups.
template <class Index>
struct SplitByBit {
  using value_type = std::int64_t;
  struct CountZeros {};
  struct Move {};

  const std::uint64_t* keys;
  const Index* order;
  std::uint64_t* new_keys;
  Index* new_order;
  const std::int64_t* zero_count;
  int bit;

  KOKKOS_FORCEINLINE_FUNCTION bool is_zero(std::int64_t i) const { return ((keys[i] >> bit) & 1u) == 0; }

  KOKKOS_INLINE_FUNCTION void operator()(CountZeros, const std::int64_t i, std::int64_t& zeros) const {
    if (is_zero(i)) ++zeros;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Move, const std::int64_t i, std::int64_t& zeros,
                                         const bool final) const {
    const bool zero = is_zero(i);
    if (final) {
      const std::int64_t target = zero ? zeros : *zero_count + i - zeros;
      new_keys[target] = keys[i];
      new_order[target] = order[i];
    }
    if (zero) ++zeros;
  }
};

/// Writes 0, 1, 2, ... to order.
template <class Index>
struct CountUp {
  Index* order;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { order[i] = static_cast<Index>(i); }
};

/// Finds the bits in which a key differs from the first one, as a bitwise or.
struct DifferingBits {
  const std::uint64_t* keys;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::uint64_t& bits) const {
    bits |= keys[i] ^ keys[0];
  }
};

/// Sorts keys and returns their order: element i of the result is the index that the i-th smallest key had.
/// Equal keys keep their order. On return `keys` is another View, which holds the sorted keys. Runs one
/// kernel, and two for each bit in which the keys differ, and fences exec. While it runs, the keys, the
/// result and its buffers take 16 + 2 * sizeof(Index) bytes per key.
///
/// Not Kokkos' sort_by_key, which promises no stable order, takes no second array before Kokkos 4.3, and
/// sorts by all bits of a key, also by those that are equal in all keys.
template <class Index, class ExecutionSpace, class KeyView>
auto stable_order(const ExecutionSpace& exec, const char* format, KeyView& keys) {
  using device_type = typename KeyView::device_type;
  using order_type = Kokkos::View<Index*, device_type>;
  using Split = SplitByBit<Index>;
  const std::int64_t count = static_cast<std::int64_t>(keys.extent(0));
  auto order = allocate_view<order_type>(exec, "order", format, count);
  auto new_order = allocate_view<order_type>(exec, "order", format, count);
  auto new_keys = allocate_view<KeyView>(exec, "keys", format, count);
  const Kokkos::View<std::int64_t, device_type> zero_count(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("zero_count", format)));
  Kokkos::parallel_for(label("order", format), row_range<void>(exec, count), CountUp<Index>{order.data()});
  std::uint64_t differing = 0;
  Kokkos::parallel_reduce(label("differing_bits", format), row_range<void>(exec, count),
                          DifferingBits{keys.data()}, Kokkos::BOr<std::uint64_t>(differing));
  exec.fence();
  for (int bit = 0; bit < 64; ++bit) {
    if ((differing >> bit & 1) == 0) continue;
    const Split split{keys.data(), order.data(), new_keys.data(), new_order.data(), zero_count.data(), bit};
    Kokkos::parallel_reduce(label("count_zeros", format), row_range<typename Split::CountZeros>(exec, count),
                            split, zero_count);
    Kokkos::parallel_scan(label("split", format), row_range<typename Split::Move>(exec, count), split);
    std::swap(keys, new_keys);
    std::swap(order, new_order);
  }
  // The kernels must end before the buffers are freed on return.
  exec.fence();
  return order;
}

}  // namespace Filigree::Impl
