// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include <filigree/conversion/build_crs.hpp>
#include <filigree/core/random.hpp>

namespace FiligreePerf {

/// A number in [0, 1) that depends on the seed only.
KOKKOS_INLINE_FUNCTION double random_number(std::uint64_t seed) {
  return static_cast<double>(Filigree::Impl::random_bits(seed) >> 11) / 9007199254740992.0;
}

/// Fills rows with random columns and values. The columns are divided into n equal parts for a row of length
/// n, and entry k lies at random in part k. The columns of a row are therefore sorted and distinct.
template <class ExecutionSpace, class Crs, class Length>
struct RandomRows {
  using execution_space = ExecutionSpace;
  struct Count {};
  struct Fill {};

  Length length;
  std::int64_t columns;
  // build_crs sets these.
  typename Crs::non_const_size_type* crs_row_map = nullptr;
  typename Crs::non_const_ordinal_type* crs_entries = nullptr;
  typename Crs::non_const_value_type* crs_values = nullptr;

  KOKKOS_INLINE_FUNCTION void operator()(Count, const std::int64_t row) const {
    crs_row_map[row] = static_cast<typename Crs::non_const_size_type>(length(row));
  }
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t row) const {
    const std::int64_t begin = crs_row_map[row];
    const std::int64_t count = crs_row_map[row + 1] - begin;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t low = k * columns / count;
      const std::int64_t high = (k + 1) * columns / count;
      const auto seed = static_cast<std::uint64_t>(2 * (begin + k));
      crs_entries[begin + k] = static_cast<typename Crs::non_const_ordinal_type>(
          low + static_cast<std::int64_t>(random_number(seed) * static_cast<double>(high - low)));
      crs_values[begin + k] =
          static_cast<typename Crs::non_const_value_type>(2 * random_number(seed + 1) - 1);
    }
  }
};

/// Gives all rows the same length.
struct EqualRows {
  std::int64_t count;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t) const { return count; }
};

/// Gives row lengths from `shortest` to `longest` that follow a power law: the number of rows with at least n
/// entries is proportional to n^-1.1.
struct PowerLawRows {
  double shortest;
  double longest;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    // These seeds differ from the seeds of the entries, which are smaller.
    const double u = 1.0 - random_number(static_cast<std::uint64_t>(row) + (std::uint64_t(1) << 60));
    const double length = shortest * std::pow(u, -1.0 / 1.1);
    return static_cast<std::int64_t>(length < longest ? length : longest);
  }
};

/// Gives a part of the rows, chosen at random, the lengths that `length` gives, but at least 1. The other
/// rows are empty.
template <class Length>
struct SomeRows {
  double part;  ///< fraction of the rows that have entries
  Length length;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    // These seeds differ from those of the entries and of PowerLawRows.
    if (random_number(static_cast<std::uint64_t>(row) + (std::uint64_t(1) << 61)) >= part) return 0;
    const std::int64_t count = length(row);
    return count > 1 ? count : 1;
  }
};

/// A matrix with random columns and values. Every run makes the same matrix.
template <class Crs, class Length>
Crs random_matrix(std::int64_t rows, std::int64_t columns, const Length& length) {
  using execution_space = typename Crs::execution_space;
  using ordinal = typename Crs::non_const_ordinal_type;
  using Rows = RandomRows<execution_space, Crs, Length>;
  return Filigree::Impl::build_crs<Crs, typename Rows::Count, typename Rows::Fill>(
      execution_space(), "random", static_cast<ordinal>(rows), static_cast<ordinal>(columns),
      Rows{length, columns}, rows, rows);
}

}  // namespace FiligreePerf
