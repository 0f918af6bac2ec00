// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree::Impl {

/// Casts the values of a CRS matrix, and finds the first finite one that the cast makes infinite.
template <class To, class From>
struct CastValues {
  const From* from;
  To* to;
  real_t<From> most_from = std::numeric_limits<real_t<From>>::max();
  real_t<To> most_to = std::numeric_limits<real_t<To>>::max();

  template <class Real>
  static KOKKOS_FORCEINLINE_FUNCTION bool is_finite(const Real& value, const Real& most) {
    return value >= -most && value <= most;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool overflows(const real_t<From>& value) const {
    return is_finite(value, most_from) && !is_finite(static_cast<real_t<To>>(value), most_to);
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& first_bad) const {
    const From value = from[i];
    to[i] = convert_scalar<To>(value);
    bool bad;
    if constexpr (is_complex_v<From>)
      bad = overflows(value.real()) || overflows(value.imag());
    else
      bad = overflows(value);
    if (bad && i < first_bad) first_bad = i;
  }
};

/// The matrix itself if its scalar type is Scalar. Otherwise a matrix with the same pattern, which it shares,
/// and with new values of type Scalar. It takes sizeof(Scalar) bytes per entry, and exec is fenced. Each
/// value is rounded. Throws std::overflow_error for a finite value that would become infinite. The message
/// begins with `function`. crs must be valid.
template <class Scalar, class ExecutionSpace, class S, class O, class D, class M, class Z>
decltype(auto) with_scalar(const ExecutionSpace& exec, const char* function, const char* format,
                           const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs) {
  using From = std::remove_const_t<S>;
  if constexpr (std::is_same_v<From, Scalar>) {
    return (crs);
  } else {
    using Result = KokkosSparse::CrsMatrix<Scalar, O, D, void, Z>;
    const auto nnz = static_cast<std::int64_t>(crs.nnz());
    const auto values = allocate_view<typename Result::values_type>(exec, "cast_values", format, nnz);
    using Cast = CastValues<Scalar, From>;
    const std::int64_t bad =
        find_first<void>(exec, "cast", format, nnz, Cast{crs.values.data(), values.data()});
    if (bad != none_found)
      fail<std::overflow_error>(function, ": the entry in row ", row_of_entry(exec, crs, bad), " and column ",
                                read_element(exec, crs.graph.entries, static_cast<std::size_t>(bad)),
                                " of the CRS matrix has the value ",
                                read_element(exec, crs.values, static_cast<std::size_t>(bad)),
                                ", which the scalar type of the result cannot hold; its largest number is ",
                                std::numeric_limits<real_t<Scalar>>::max(), ".");
    return Result(label("cast", format), crs.numRows(), crs.numCols(), crs.nnz(), values, crs.graph.row_map,
                  crs.graph.entries);
  }
}

}  // namespace Filigree::Impl
