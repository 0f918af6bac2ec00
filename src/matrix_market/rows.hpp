// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <vector>

#include "entries.hpp"

namespace Filigree::Impl::MatrixMarket {

/// Sorts a row by column and keeps the order of entries with equal columns. It sorts indices. The columns and
/// the values are then copied one after the other, so that both copies never exist at once.
template <class Index, class Ordinal, class Scalar>
void sort_long_row(Ordinal* entries, Scalar* values, std::int64_t count) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return entries[a] < entries[b]; });
  const auto permute = [&](auto* data) {
    const std::vector copy(data, data + count);
    for (const Index from : order)
      *data++ = copy[from];
  };
  permute(entries);
  permute(values);
}

/// Sorts a row by column and keeps the order of entries with equal columns.
template <class Ordinal, class Scalar>
void sort_row(Ordinal* entries, Scalar* values, std::int64_t count) {
  if (std::is_sorted(entries, entries + count)) return;
  // Insertion sort needs no extra memory, and most rows are short.
  constexpr std::int64_t max_insertion_sort = 48;
  if (count > std::numeric_limits<std::uint32_t>::max())
    return sort_long_row<std::int64_t>(entries, values, count);
  if (count > max_insertion_sort) return sort_long_row<std::uint32_t>(entries, values, count);
  for (std::int64_t k = 1; k < count; ++k) {
    const Ordinal entry = entries[k];
    const Scalar value = values[k];
    std::int64_t to = k;
    for (; to > 0 && entries[to - 1] > entry; --to) {
      entries[to] = entries[to - 1];
      values[to] = values[to - 1];
    }
    entries[to] = entry;
    values[to] = value;
  }
}

/// Replaces the duplicates in a sorted row by their sum, which is computed in double. Returns the number of
/// entries that remain.
///
/// @param refused set to the first column whose duplicates, or whose sum, are refused; unchanged if there is
///                none
template <class Ordinal, class Scalar>
std::int64_t merge_row(Ordinal* entries, Scalar* values, std::int64_t count, bool refuse_duplicates,
                       std::int64_t& refused) {
  using Sum = Kokkos::complex<double>;
  if (std::adjacent_find(entries, entries + count) == entries + count) return count;
  std::int64_t length = 0;
  for (std::int64_t k = 0; k < count;) {
    const Ordinal col = entries[k];
    const std::int64_t first = k;
    Sum sum(values[k]);
    // A part overflows if it is the sum of finite numbers. Infinity and NaN in the file are valid.
    bool finite_real = std::isfinite(sum.real());
    bool finite_imag = std::isfinite(sum.imag());
    while (++k < count && entries[k] == col) {
      const Sum value(values[k]);
      finite_real = finite_real && std::isfinite(value.real());
      finite_imag = finite_imag && std::isfinite(value.imag());
      sum += value;
    }
    const bool duplicate = k - first > 1;
    const bool overflows = (finite_real && std::abs(sum.real()) >= overflow_threshold<Scalar>) ||
                           (finite_imag && std::abs(sum.imag()) >= overflow_threshold<Scalar>);
    if (duplicate && (refuse_duplicates || overflows) && refused < 0)
      refused = static_cast<std::int64_t>(col);
    entries[length] = col;
    values[length++] = duplicate ? make_value<Scalar>(sum.real(), sum.imag()) : values[first];
  }
  return length;
}

}  // namespace Filigree::Impl::MatrixMarket
