// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of GMRES. The basis has few columns, which are orthonormal, and many rows.
#pragma once

#include <cmath>

#include "filigree/core/launch.hpp"
#include "filigree/core/sums.hpp"
#include "filigree/product/multi_vector.hpp"
#include "filigree/solve/real_part.hpp"
#include "filigree/solve/row_kernel.hpp"

namespace Filigree::Impl {

/// A linear combination of the first `count` columns of the basis.
template <class T, class V>
struct ColumnCombination {
  const V* basis;
  std::int64_t stride;  ///< elements from a column to the next
  const T* factors;     ///< one per column
  int count;

  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t row) const {
    T sum(0);
    for (int i = 0; i < count; ++i)
      sum += factors[i] * T(widen<T>(basis[i * stride + row]));
    return sum;
  }
};

/// The dot products of the columns 0 to `count` of the basis with column `count`, for the rows of each team. If
/// Subtracts is true, the combination of the columns before is subtracted from that column first. Then the second
/// read of the rows of a team comes from a cache.
template <class ExecutionSpace, class T, class V, bool Subtracts>
struct GmresDots {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int team_size = gpu ? 256 : 1;
  /// If Subtracts is true, the rows of all teams that run at once should fit a cache, for most of the columns.
  static constexpr int rows_per_team = gpu && Subtracts ? team_size : 1024;
  /// Columns whose dot products a team computes at once.
  static constexpr int group = 4;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 1>>;
  using member_type = typename policy_type::member_type;

  V* basis;
  std::int64_t stride;
  std::int64_t rows;
  int count;
  ColumnCombination<T, V> subtracted;  ///< used if Subtracts is true
  T* partials;                         ///< one per column and team, those of a column together

  static int teams(std::int64_t rows) { return static_cast<int>((rows + rows_per_team - 1) / rows_per_team); }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * rows_per_team;
    const int own_rows = rows - first < rows_per_team ? static_cast<int>(rows - first) : rows_per_team;
    V* const last = basis + count * stride + first;
    if constexpr (Subtracts) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, own_rows), [&](const int i) {
        last[i] = convert_scalar<V>(T(T(widen<T>(last[i])) - subtracted(first + i)));
      });
      team.team_barrier();
    }
    for (int begin = 0; begin <= count; begin += group) {
      Sums<T, group> dots;
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team, own_rows),
          [&](const int i, Sums<T, group>& sums) {
            const T factor = T(widen<T>(last[i]));
            FILIGREE_UNROLL(4)
            for (int g = 0; g < group; ++g) {
              // If there is no such column, the last one is read instead. That sum is not stored.
              const int column = begin + g < count ? begin + g : count;
              sums[g] += conjugate_if<true>(T(widen<T>(basis[column * stride + first + i]))) * factor;
            }
          },
          dots);
      Kokkos::single(Kokkos::PerTeam(team), [&]() {
        for (int g = 0; g < group && begin + g <= count; ++g)
          partials[static_cast<std::int64_t>(begin + g) * team.league_size() + team.league_rank()] = dots[g];
      });
    }
  }
};

/// Adds up the partial dot products of GmresDots, one team per column, and writes the factors of the projection on the
/// columns to results[0] to results[count - 1], the square of the norm of the last column to results[count], and the
/// reciprocal of that norm to results[count + 1]. A reciprocal that is not finite or not positive becomes 0.
template <class ExecutionSpace, class T>
struct GmresProjection {
  static constexpr int team_size = runs_on_gpu_v<ExecutionSpace> ? 256 : 1;
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 1>>;
  using member_type = typename policy_type::member_type;

  const T* partials;
  int partials_per_column;
  int count;
  T* results;

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const int column = team.league_rank();
    const T* const first = partials + static_cast<std::int64_t>(column) * partials_per_column;
    Sums<T, 1> dot;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, partials_per_column),
        [&](const int i, Sums<T, 1>& sum) { sum[0] += first[i]; }, dot);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      results[column] = dot[0];
      if (column == count) {
        // This sqrt is the one of the device compiler. Kokkos has none before 3.7.
        const real_t<T> reciprocal = real_t<T>(1) / ::sqrt(real_part(dot[0]));
        // The comparisons are false for NaN.
        results[count + 1] =
            T(reciprocal > 0 && reciprocal <= RealTraits<real_t<T>>::largest ? reciprocal : 0);
      }
    });
  }
};

/// u = scale (u - combination), and z = M^-1 u. If scale is 0, u = 0.
template <class T, class V, class Inverse>
struct GmresNextVector {
  V* u;
  ColumnCombination<T, V> subtracted;
  T scale;
  const T* device_scale;  ///< if it is not nullptr, it stands for `scale`
  V* z;                   ///< nullptr if z is not needed
  Inverse inverse;

  struct Loaded {
    V u;
    T combination;
    typename Inverse::factor_type factor;
  };
  KOKKOS_FORCEINLINE_FUNCTION T common() const { return device_scale != nullptr ? *device_scale : scale; }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const {
    return {u[row], subtracted(row), inverse.factor(row)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(const T& factor, const std::int64_t row, const Loaded& loaded,
                                          NoPartial&) const {
    V stored(0);
    if (factor != T(0)) stored = convert_scalar<V>(T(factor * T(T(widen<T>(loaded.u)) - loaded.combination)));
    u[row] = stored;
    if (z != nullptr) z[row] = convert_scalar<V>(inverse.apply(loaded.factor, T(widen<T>(stored))));
  }
};

/// out = combination
template <class T, class V>
struct GmresCombine {
  ColumnCombination<T, V> combination;
  V* out;

  KOKKOS_FORCEINLINE_FUNCTION NoPartial common() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION T load(const std::int64_t row) const { return combination(row); }
  KOKKOS_FORCEINLINE_FUNCTION void finish(NoPartial, const std::int64_t row, const T& loaded,
                                          NoPartial&) const {
    out[row] = convert_scalar<V>(loaded);
  }
};

/// x = x + M^-1 combination. If z is not nullptr, it is M^-1 combination.
template <class T, class V, class X, class Inverse>
struct GmresUpdate {
  MultiVector<X> x;
  ColumnCombination<T, V> combination;
  const V* z;
  Inverse inverse;

  struct Loaded {
    X x;
    T change;
  };
  KOKKOS_FORCEINLINE_FUNCTION NoPartial common() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const {
    return {x(row, 0),
            z != nullptr ? T(widen<T>(z[row])) : inverse.apply(inverse.factor(row), combination(row))};
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(NoPartial, const std::int64_t row, const Loaded& loaded,
                                          NoPartial&) const {
    x(row, 0) = convert_scalar<X>(T(T(widen<T>(loaded.x)) + loaded.change));
  }
};

}  // namespace Filigree::Impl
