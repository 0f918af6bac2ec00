// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree::Impl {

/// What CastValues finds. Its sum over all entries is that of the matrix.
struct CastResult {
  std::int64_t first_overflow = none_found;
  double largest_rounding = 0;
  std::int64_t zeros = 0;

  KOKKOS_FORCEINLINE_FUNCTION CastResult& operator+=(const CastResult& other) {
    if (other.first_overflow < first_overflow) first_overflow = other.first_overflow;
    if (other.largest_rounding > largest_rounding) largest_rounding = other.largest_rounding;
    zeros += other.zeros;
    return *this;
  }
};

/// Casts the values of a CRS matrix. Finds the first finite one that the cast makes infinite, and how much the
/// others were rounded.
template <class To, class From>
struct CastValues {
  /// Holds the real or imaginary part of every From and every To.
  using wide_real = std::common_type_t<sum_t<From>, sum_t<To>>;
  using wide_type = std::conditional_t<is_complex_v<To>, Kokkos::complex<wide_real>, wide_real>;

  const From* from;
  To* to;
  wide_real most_from = RealTraits<real_t<From>>::largest;
  wide_real most_to = RealTraits<real_t<To>>::largest;

  /// The larger absolute value of the real and the imaginary part.
  static KOKKOS_FORCEINLINE_FUNCTION wide_real size(const wide_type& value) {
    if constexpr (is_complex_v<To>)
      return magnitude(value.real()) < magnitude(value.imag()) ? magnitude(value.imag())
                                                               : magnitude(value.real());
    else
      return magnitude(value);
  }
  static KOKKOS_FORCEINLINE_FUNCTION bool is_finite(const wide_type& value, const wide_real& most) {
    if constexpr (is_complex_v<To>)
      return magnitude(value.real()) <= most && magnitude(value.imag()) <= most;
    else
      return magnitude(value) <= most;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, CastResult& result) const {
    to[i] = convert_scalar<To>(from[i]);
    const auto value = convert_scalar<wide_type>(from[i]);
    const auto rounded = convert_scalar<wide_type>(to[i]);
    if (!is_finite(value, most_from) || value == wide_type(0)) return;
    if (!is_finite(rounded, most_to)) {
      if (i < result.first_overflow) result.first_overflow = i;
      return;
    }
    if (rounded == wide_type(0)) ++result.zeros;
    const auto relative = static_cast<double>(size(rounded - value) / size(value));
    if (relative > result.largest_rounding) result.largest_rounding = relative;
  }
};

/// The matrix itself if its scalar type is Scalar. Otherwise a matrix with the same pattern, which it shares,
/// and with new values of type Scalar. It takes sizeof(Scalar) bytes per entry, and exec is fenced. Each
/// value is rounded, and `rounding` describes how. Throws std::overflow_error for a finite value that would
/// become infinite. The message begins with `function`. crs must be valid.
template <class Scalar, class ExecutionSpace, class S, class O, class D, class M, class Z>
decltype(auto) with_scalar(const ExecutionSpace& exec, const char* function, const char* format,
                           const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs, Rounding& rounding) {
  using From = std::remove_const_t<S>;
  if constexpr (std::is_same_v<From, Scalar>) {
    rounding = {};
    return (crs);
  } else {
    using Result = KokkosSparse::CrsMatrix<Scalar, O, D, void, Z>;
    const auto nnz = static_cast<std::int64_t>(crs.nnz());
    const auto values = allocate_view<typename Result::values_type>(exec, "cast_values", format, nnz);
    using Cast = CastValues<Scalar, From>;
    CastResult found;
    Kokkos::parallel_reduce(label("cast", format), row_range<void>(exec, nnz),
                            Cast{crs.values.data(), values.data()}, found);
    exec.fence();
    const std::int64_t bad = found.first_overflow;
    if (bad != none_found)
      fail<std::overflow_error>(function, ": the entry in row ", row_of_entry(exec, crs, bad), " and column ",
                                read_element(exec, crs.graph.entries, static_cast<std::size_t>(bad)),
                                " of the CRS matrix has the value ",
                                printable(read_element(exec, crs.values, static_cast<std::size_t>(bad))),
                                ", which the scalar type of the result cannot hold; its largest number is ",
                                RealTraits<real_t<Scalar>>::largest, ".");
    rounding = {found.largest_rounding, found.zeros};
    return Result(label("cast", format), crs.numRows(), crs.numCols(), crs.nnz(), values, crs.graph.row_map,
                  crs.graph.entries);
  }
}

}  // namespace Filigree::Impl

/// @cond specializations
/// Kokkos up to 4.4 starts a reduction with this.
template <>
struct Kokkos::reduction_identity<Filigree::Impl::CastResult> {
  KOKKOS_FORCEINLINE_FUNCTION static Filigree::Impl::CastResult sum() { return {}; }
};
/// @endcond
