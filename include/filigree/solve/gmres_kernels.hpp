// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of GMRES. The basis has few columns, which are orthonormal, and many rows.
#pragma once

#include <algorithm>
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

  /// The element of a row, of the columns from `first` on. Eight elements are loaded before the first of them is used.
  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t row, int first = 0) const {
    T sum(0);
    for (int i = first; i < count; i += 8) {
      V held[8];
      FILIGREE_UNROLL(8)
      for (int k = 0; k < 8; ++k)
        held[k] = i + k < count ? basis[(i + k) * stride + row] : V(0);
      FILIGREE_UNROLL(8)
      for (int k = 0; k < 8; ++k)
        if (i + k < count) sum += factors[i + k] * T(widen<T>(held[k]));
    }
    return sum;
  }
};

/// The most columns whose elements of a row a lane of a GPU holds in registers. It also holds as many dot products.
template <class T>
constexpr int most_columns_of_lane = 256 / sizeof(T);

/// Lanes of a team of GmresDots.
template <class ExecutionSpace>
constexpr int gmres_team_size = runs_on_gpu_v<ExecutionSpace> ? 128 : 1;

/// Rows of a team of GmresDots. On a GPU a lane has up to 16 rows, so that few partial sums are stored. It has fewer if
/// the teams would be too few for the GPU.
template <class ExecutionSpace>
int gmres_rows_per_team(std::int64_t rows) {
  if (!runs_on_gpu_v<ExecutionSpace>) return 1024;
  constexpr int lanes = gmres_team_size<ExecutionSpace>, most_rows_of_lane = 16, enough_teams = 1024;
  return lanes *
         static_cast<int>(std::clamp<std::int64_t>(rows / (lanes * enough_teams), 1, most_rows_of_lane));
}

/// The dot products of the columns 0 to `count` of the basis with column `count`, for the rows of each team. If
/// Subtracts is true, the combination of the columns before is subtracted from that column first.
///
/// On a GPU a lane holds the elements of Group columns in registers, and uses them for the combination and for the dot
/// products. So a basis of at most Group columns is read once. See docs/performance.md, "GMRES".
template <class ExecutionSpace, class T, class V, bool Subtracts, int Group>
struct GmresDots {
  static constexpr bool gpu = runs_on_gpu_v<ExecutionSpace>;
  static constexpr int team_size = gmres_team_size<ExecutionSpace>;
  /// On a GPU at least three teams run at once on a multiprocessor.
  static constexpr int teams_per_sm = 3;
  /// Partial sums per team and column.
  static constexpr int groups_per_team = groups_of_team<ExecutionSpace>(team_size);
  using policy_type = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, teams_per_sm>>;
  using member_type = typename policy_type::member_type;

  V* basis;
  std::int64_t stride;
  std::int64_t rows;
  int rows_per_team;
  int count;
  ColumnCombination<T, V> subtracted;  ///< used if Subtracts is true
  Sums<T, 1>* partials;                ///< groups_per_team for each team, those of a column together

  /// Adds the products of the rows `first`, first + team_size and so on before `end`, on a GPU. They are those of the
  /// columns from `begin` on.
  KOKKOS_FORCEINLINE_FUNCTION void add_rows_of_lane(std::int64_t first, std::int64_t end, int begin,
                                                    Sums<T, Group>& dots, Sums<T, 1>& square) const {
    constexpr int at_once = most_columns_of_lane<T> / Group;
    const V* const columns = basis + begin * stride;
    V* const last = basis + count * stride;
    for (std::int64_t row = first; row < end; row += at_once * team_size) {
      // All rows are loaded before the first of them is used.
      V held[at_once][Group], own[at_once];
      FILIGREE_UNROLL(8)
      for (int r = 0; r < at_once; ++r) {
        const std::int64_t at = row + r * team_size;
        own[r] = at < end ? last[at] : V(0);
        FILIGREE_UNROLL(32)
        for (int g = 0; g < Group; ++g)
          held[r][g] = begin + g < count && at < end ? columns[g * stride + at] : V(0);
      }
      FILIGREE_UNROLL(8)
      for (int r = 0; r < at_once; ++r) {
        const std::int64_t at = row + r * team_size;
        if (at >= end) break;
        if (Subtracts && begin == 0) {
          T change = count > Group ? subtracted(at, Group) : T(0);
          FILIGREE_UNROLL(32)
          for (int g = 0; g < Group; ++g)
            if (g < count) change += subtracted.factors[g] * T(widen<T>(held[r][g]));
          own[r] = convert_scalar<V>(T(T(widen<T>(own[r])) - change));
          last[at] = own[r];
        }
        const T factor = T(widen<T>(own[r]));
        FILIGREE_UNROLL(32)
        for (int g = 0; g < Group; ++g)
          dots[g] += conjugate_if<true>(T(widen<T>(held[r][g]))) * factor;
        square[0] += conjugate_if<true>(factor) * factor;
      }
    }
  }
  /// The same for the rows `first` to `end` - 1, on a host. It goes through the rows of a few columns at a time, because
  /// they are neighbours in memory.
  KOKKOS_FORCEINLINE_FUNCTION void add_rows_of_thread(std::int64_t first, std::int64_t end, int begin,
                                                      Sums<T, Group>& dots, Sums<T, 1>& square) const {
    V* const last = basis + count * stride;
    if (begin == 0)
      for (std::int64_t row = first; row < end; ++row) {
        if (Subtracts) last[row] = convert_scalar<V>(T(T(widen<T>(last[row])) - subtracted(row)));
        const T factor = T(widen<T>(last[row]));
        square[0] += conjugate_if<true>(factor) * factor;
      }
    for (std::int64_t row = first; row < end; ++row) {
      const T factor = T(widen<T>(last[row]));
      FILIGREE_UNROLL(4)
      for (int g = 0; g < Group; ++g) {
        // If there is no such column, the last one is read instead. That sum is not stored.
        const int column = begin + g < count ? begin + g : count;
        dots[g] += conjugate_if<true>(T(widen<T>(basis[column * stride + row]))) * factor;
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * rows_per_team;
    const std::int64_t end = first + rows_per_team < rows ? first + rows_per_team : rows;
    const std::int64_t partials_per_column = static_cast<std::int64_t>(team.league_size()) * groups_per_team;
    const auto store = [&](int column, const T& mine) {
      Sums<T, 1> sum;
      sum[0] = mine;
      store_sums_of_groups<ExecutionSpace>(team, team_size, sum, partials + column * partials_per_column, 1);
    };
    for (int begin = 0; begin < count; begin += Group) {
      // On a GPU each lane has these variables.
      Sums<T, Group> dots;
      Sums<T, 1> square;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, team_size), [&](const int lane) {
        if constexpr (gpu)
          add_rows_of_lane(first + lane, end, begin, dots, square);
        else
          add_rows_of_thread(first, end, begin, dots, square);
      });
      FILIGREE_UNROLL(32)
      for (int g = 0; g < Group; ++g)
        if (begin + g < count) store(begin + g, dots[g]);
      if (begin == 0) store(count, square[0]);
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

  const Sums<T, 1>* partials;
  int partials_per_column;
  int count;
  T* results;

  KOKKOS_INLINE_FUNCTION void operator()(const member_type& team) const {
    const int column = team.league_rank();
    const auto* const first = partials + static_cast<std::int64_t>(column) * partials_per_column;
    Sums<T, 1> dot;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, partials_per_column),
        [&](const int i, Sums<T, 1>& sum) { sum += first[i]; }, dot);
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
