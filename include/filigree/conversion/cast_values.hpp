// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/allocate_view.hpp"
#include "filigree/core/scalar.hpp"

namespace Filigree::Impl {

/// Casts the values of a CRS matrix and finds the first finite one that the cast makes infinite (Cast), or finds
/// out how much the others were rounded (LargestRounding, CountZeros).
template <class To, class From>
struct CastValues {
  struct Cast {};
  struct LargestRounding {};
  struct CountZeros {};
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

  KOKKOS_INLINE_FUNCTION void operator()(Cast, const std::int64_t i, std::int64_t& first_bad) const {
    to[i] = convert_scalar<To>(from[i]);
    if (i < first_bad && is_finite(convert_scalar<wide_type>(from[i]), most_from) &&
        !is_finite(convert_scalar<wide_type>(to[i]), most_to))
      first_bad = i;
  }
  KOKKOS_INLINE_FUNCTION void operator()(LargestRounding, const std::int64_t i, double& largest) const {
    const auto value = convert_scalar<wide_type>(from[i]);
    if (!is_finite(value, most_from) || value == wide_type(0)) return;
    const auto rounding = static_cast<double>(size(convert_scalar<wide_type>(to[i]) - value) / size(value));
    if (rounding > largest) largest = rounding;
  }
  KOKKOS_INLINE_FUNCTION void operator()(CountZeros, const std::int64_t i, std::int64_t& zeros) const {
    if (from[i] != From(0) && to[i] == To(0)) ++zeros;
  }
};

/// The matrix itself if its scalar type is Scalar. Otherwise a matrix with the same pattern, which it shares,
/// and with new values of type Scalar. It takes sizeof(Scalar) bytes per entry, and exec is fenced. Each
/// value is rounded; two more kernels find out how, unless `rounding` is null. Throws std::overflow_error for a
/// finite value that would become infinite. The message begins with `function`. crs must be valid.
template <class Scalar, class ExecutionSpace, class S, class O, class D, class M, class Z>
decltype(auto) with_scalar(const ExecutionSpace& exec, const char* function, const char* format,
                           const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs, Rounding* rounding) {
  using From = std::remove_const_t<S>;
  if constexpr (std::is_same_v<From, Scalar>) {
    if (rounding != nullptr) *rounding = {};
    return (crs);
  } else {
    using Result = KokkosSparse::CrsMatrix<Scalar, O, D, void, Z>;
    const auto nnz = static_cast<std::int64_t>(crs.nnz());
    const auto values = allocate_view<typename Result::values_type>(exec, "cast_values", format, nnz);
    using Work = CastValues<Scalar, From>;
    const Work work{crs.values.data(), values.data()};
    const std::int64_t bad = find_first<typename Work::Cast>(exec, "cast", format, nnz, work);
    if (bad != none_found)
      fail<std::overflow_error>(function, ": the entry in row ", row_of_entry(exec, crs, bad), " and column ",
                                read_element(exec, crs.graph.entries, static_cast<std::size_t>(bad)),
                                " of the CRS matrix has the value ",
                                printable(read_element(exec, crs.values, static_cast<std::size_t>(bad))),
                                ", which the scalar type of the result cannot hold; its largest number is ",
                                RealTraits<real_t<Scalar>>::largest, ".");
    if (rounding != nullptr) {
      *rounding = {};
      Kokkos::parallel_reduce(label("largest_rounding", format),
                              row_range<typename Work::LargestRounding>(exec, nnz), work,
                              Kokkos::Max<double>(rounding->largest));
      Kokkos::parallel_reduce(label("count_zeros", format), row_range<typename Work::CountZeros>(exec, nnz),
                              work, rounding->zeros);
      exec.fence();
      // The maximum of no numbers.
      if (rounding->largest < 0) rounding->largest = 0;
    }
    return Result(label("cast", format), crs.numRows(), crs.numCols(), crs.nnz(), values, crs.graph.row_map,
                  crs.graph.entries);
  }
}

}  // namespace Filigree::Impl
