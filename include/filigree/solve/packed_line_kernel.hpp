// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/solve/line_kernels.hpp"

namespace Filigree::Impl {

/// SolveLines for lines along x of a grid with one unknown per cell, so that the elements of a line are neighbours in r
/// and z. Neighbouring lanes have different lines of the grid, so a load of one element per lane touches one cache line
/// per lane. Therefore a lane loads and stores packs of 16 bytes (see docs/performance.md, "Lines along x").
template <class ExecutionSpace, class Sum, class R, class Z>
struct SolvePackedLines {
  using launch = typename SolveLines<ExecutionSpace, Sum, R, Z, 1>::launch;
  /// Places whose numbers are loaded before the first of them is used, because each place waits for the one before.
  static constexpr int batch = 8;
  /// Elements of a pack.
  template <class T>
  static constexpr int per_pack = sizeof(T) < 16 ? static_cast<int>(16 / sizeof(T)) : 1;
  /// A batch begins with a row that is a multiple of this number, so that its packs are aligned.
  static constexpr int alignment = per_pack<R> > per_pack<Z> ? per_pack<R> : per_pack<Z>;
  static_assert(batch % alignment == 0, "A batch must consist of whole packs.");
  /// Whether the kernel exists: on a GPU, if packs have several elements. On a host it is slower than SolveLines.
  static constexpr bool exists = runs_on_gpu_v<ExecutionSpace> && per_pack<R> > 1 && per_pack<Z> > 1;

  GridLines lines;
  const Sum* inverse;  ///< D, see SolveLines
  const Sum* lower;    ///< L
  const Sum* upper;    ///< W
  const R* r;
  Z* z;

  /// Whether this kernel can solve for these lines and vectors, and is faster than SolveLines. That solves for short
  /// lines in one batch.
  static bool fits(const GridLines& lines, const MultiVector<const R>& r, const MultiVector<Z>& z) {
    return lines.block_size == 1 && lines.distance == 1 && lines.length >= 2 * batch && r.has_unit_stride() &&
           z.has_unit_stride() && is_aligned_to_pack<per_pack<R>>(r.data) &&
           is_aligned_to_pack<per_pack<Z>>(z.data);
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static void load(const T* from, Sum (&to)[batch]) {
    using pack_type = Pack<T, per_pack<T>>;
    FILIGREE_UNROLL(8)
    for (int k = 0; k < batch; k += per_pack<T>) {
      const pack_type pack = *reinterpret_cast<const pack_type*>(from + k);
      for (int i = 0; i < per_pack<T>; ++i)
        to[k + i] = Sum(widen<Sum>(pack.values[i]));
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static void store(const Sum (&from)[batch], Z* to) {
    using pack_type = Pack<Z, per_pack<Z>>;
    FILIGREE_UNROLL(8)
    for (int k = 0; k < batch; k += per_pack<Z>) {
      pack_type pack = {};
      for (int i = 0; i < per_pack<Z>; ++i)
        pack.values[i] = convert_scalar<Z>(from[k + i]);
      *reinterpret_cast<pack_type*>(to + k) = pack;
    }
  }

  /// One place of a pass. `before` is the element of the place before it in the pass, and then that of this place.
  template <bool Ascending>
  KOKKOS_FORCEINLINE_FUNCTION void one_place(const std::int64_t line, const std::int64_t place,
                                             Sum& before) const {
    const std::int64_t at = place * lines.count + line;
    const std::int64_t row = line * lines.length + place;
    const Sum term = Ascending ? Sum(inverse[at] * Sum(widen<Sum>(r[row]))) : Sum(widen<Sum>(z[row]));
    before = term - (Ascending ? lower : upper)[at] * before;
    z[row] = convert_scalar<Z>(before);
  }
  /// The places from `first` to first + batch - 1.
  template <bool Ascending>
  KOKKOS_FORCEINLINE_FUNCTION void one_batch(const std::int64_t line, const std::int64_t first,
                                             Sum& before) const {
    const std::int64_t row = line * lines.length + first;
    Sum terms[batch], factors[batch];
    if constexpr (Ascending)
      load(r + row, terms);
    else
      load(z + row, terms);
    FILIGREE_UNROLL(8)
    for (int k = 0; k < batch; ++k) {
      const std::int64_t at = (first + k) * lines.count + line;
      if (Ascending) terms[k] = inverse[at] * terms[k];
      factors[k] = (Ascending ? lower : upper)[at];
    }
    FILIGREE_UNROLL(8)
    for (int step = 0; step < batch; ++step) {
      const int k = Ascending ? step : batch - 1 - step;
      terms[k] -= factors[k] * before;
      before = terms[k];
    }
    store(terms, z + row);
  }

  template <bool Ascending>
  KOKKOS_FORCEINLINE_FUNCTION void pass(const std::int64_t line) const {
    const std::int64_t length = lines.length;
    Sum before(0);
    std::int64_t done = 0;
    const auto next_place = [&]() {
      one_place<Ascending>(line, Ascending ? done : length - 1 - done, before);
      ++done;
    };
    // Ascending, the next batch begins with place `done`. Descending, it ends just before place length - done.
    while (done < length && (line * length + (Ascending ? done : length - done)) % alignment != 0)
      next_place();
    for (; done + batch <= length; done += batch)
      one_batch<Ascending>(line, Ascending ? done : length - done - batch, before);
    while (done < length)
      next_place();
  }
  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, lines.count, [&](const std::int64_t line) {
      pass<true>(line);
      pass<false>(line);
    });
  }
};

}  // namespace Filigree::Impl
