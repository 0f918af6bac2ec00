// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <optional>

#include "filigree/tune/any_matrix.hpp"

namespace Filigree {
namespace Impl {

/// Converts to the variant of that name. The input must have been checked before.
template <class ExecutionSpace, class Crs>
typename converted_t<AnyMatrix, Crs>::variant_type convert_by_name(const ExecutionSpace& exec, const Crs& crs,
                                                                   const std::string& name, int block_size,
                                                                   double max_storage_ratio) {
  typename converted_t<AnyMatrix, Crs>::variant_type result;
  for_each_format(AllFormats(), [&](auto format) {
    using FormatTag = decltype(format);
    for (auto& variant : named_variants<converted_t<FormatTag::template matrix, Crs>>()) {
      if (variant.name != name) continue;
      set_block_size(variant.options, block_size);
      variant.options.check_input = false;
      variant.options.max_storage_ratio = max_storage_ratio;
      result = convert<FormatTag::template matrix>(exec, crs, variant.options);
    }
  });
  return result;
}

/// Seconds of the fastest of five products, after one that is not timed.
template <class ExecutionSpace, class Any, class Vector>
double time_product(const ExecutionSpace& exec, const Any& A, const Vector& x, const Vector& y) {
  using scalar = typename Any::value_type;
  double seconds = std::numeric_limits<double>::max();
  for (int i = 0; i < 6; ++i) {
    exec.fence();
    Kokkos::Timer timer;
    spmv(exec, "N", scalar(1), A, x, scalar(0), y);
    exec.fence();
    if (i > 0) seconds = std::min(seconds, timer.seconds());
  }
  return seconds;
}

/// Why BSR is refused if its blocks are not full. It multiplies the padding of its blocks like entries. An
/// Inf in x would then appear in rows that have no entry in its column.
constexpr const char* padding_refusal = "would multiply the padding of its blocks like entries";

/// Converts to the predicted format. If it stores too much or padding would be multiplied, it sets the
/// refusal and returns nothing.
template <class ExecutionSpace, class Crs>
std::optional<converted_t<AnyMatrix, Crs>> try_format(const ExecutionSpace& exec, const Crs& crs,
                                                      const OptimizeOptions& options,
                                                      const Selection& selection, FormatPrediction& one) {
  typename converted_t<AnyMatrix, Crs>::variant_type matrix;
  try {
    matrix = convert_by_name(exec, crs, one.name, one.block_size,
                             std::min(options.max_storage_ratio, options.most_bytes / selection.crs_bytes));
  } catch (const std::exception& refusal) {  // too large, or out of memory
    one.refusal = refusal.what();
    return std::nullopt;
  }
  converted_t<AnyMatrix, Crs> candidate({}, std::move(matrix), crs.nnz());
  const bool multiplies_padding = candidate.visit([&](const auto& A) {
    using Traits = MatrixTraits<std::decay_t<decltype(A)>>;
    return !Traits::counts_nnz && Traits::nnz(A) != static_cast<std::int64_t>(crs.nnz());
  });
  if (multiplies_padding)
    one.refusal = padding_refusal;
  else if (!is_refused(options, static_cast<double>(candidate.storage_bytes()), one, selection))
    return candidate;
  // The last kernel of the conversion may still write to the matrix, which is freed on return.
  exec.fence();
  return std::nullopt;
}

}  // namespace Impl

/// The predictions of the byte model for all variants of all formats, for a CRS matrix on the device of exec.
/// optimize() converts to the first of them unless its conversion or a measurement shows that another is
/// better.
///
/// Cost: matrix_statistics(), one read of the matrix if options.check_input is set, and device_speed() once
/// per process. Fences. Throws like optimize().
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, Selection> predict_formats(
    const ExecutionSpace& exec, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
    const OptimizeOptions& options = {}) {
  using Crs = KokkosSparse::CrsMatrix<S, O, D, M, Z>;
  static_assert(
      !std::is_const_v<S> && !std::is_const_v<O> && !Crs::values_type::traits::memory_traits::is_unmanaged,
      "Filigree::optimize: the CRS matrix must own its Views and its scalars and ordinals must not be const, "
      "because the result may share the Views. convert<Format>() takes other matrices.");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, typename Crs::memory_space>::accessible,
      "Filigree::optimize: the execution space must be able to access the memory of the CRS matrix.");
  Impl::ScopedRegion region(Impl::label("predict_formats", "any"));
  Impl::check_optimize_options(options);
  Impl::check_crs(exec, "Filigree::optimize", crs, options.check_input);
  DeviceSpeed speed = options.speed.read_bandwidth > 0 ? options.speed : device_speed(exec);
  if constexpr (Impl::runs_on_gpu_v<ExecutionSpace>)
    if (speed.gpu.multiprocessors == 0) speed.gpu = gpu_shape(exec);
  const ByteModel model(matrix_statistics(exec, crs, speed.gpu.cache_bytes, options.block_size, false), speed,
                        sizeof(typename Crs::non_const_value_type),
                        sizeof(typename Crs::non_const_ordinal_type),
                        sizeof(typename Crs::non_const_size_type));
  Selection result;
  result.crs_bytes = Impl::crs_bytes(crs);
  result.products = options.products;
  for_each_format(AllFormats(), [&](auto format) {
    using Matrix = converted_t<decltype(format)::template matrix, Crs>;
    for (auto& variant : named_variants<Matrix>()) {
      FormatPrediction one;
      one.name = variant.name;
      one.shares_crs = MatrixTraits<Matrix>::shares_crs;
      if constexpr (Impl::HasBlockSize<decltype(variant.options)>::value) {
        using Variant = decltype(variant.options);
        const MatrixStatistics& statistics = model.statistics();
        const std::int64_t multiple =
            Variant::block_size_must_divide ? std::gcd(statistics.rows, statistics.columns) : 0;
        one.block_size = options.block_size;
        if (one.block_size == 0)
          one.block_size = statistics.best_block_size(Variant::largest_block_size, multiple);
        variant.options.block_size = one.block_size;
        if (Variant::multiplies_padding &&
            statistics.block_fill[static_cast<std::size_t>(one.block_size)] < 0.9999)
          one.refusal = Impl::padding_refusal;
      }
      one.prediction = model.predict(variant.options);
      result.formats.push_back(one);
    }
  });
  Impl::rank_formats(options, result);
  return result;
}

/// predict_formats() on the default instance of the execution space of the CRS matrix.
template <class S, class O, class D, class M, class Z>
Selection predict_formats(const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
                          const OptimizeOptions& options = {}) {
  return predict_formats(typename KokkosSparse::CrsMatrix<S, O, D, M, Z>::execution_space(), crs, options);
}

/// Converts a CRS matrix to the format whose conversion and planned products are predicted to take the least
/// time:
///
///     auto best = Filigree::optimize(crs);
///     Filigree::spmv("N", 1.0, best, x, 0.0, y);
///
/// If a converted matrix is larger than options allow, or so much larger than predicted that another format
/// is better, or if there is no memory for it, the next format is tried. CRS is always among the formats; it
/// is shared, not copied. Costs predict_formats() and the conversions. Fences exec.
///
/// Throws std::invalid_argument if options.check_input finds an error in the CRS matrix, and if a number in
/// the options is out of range.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value,
                 converted_t<AnyMatrix, KokkosSparse::CrsMatrix<S, O, D, M, Z>>>
optimize(const ExecutionSpace& exec, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
         const OptimizeOptions& options = {}) {
  using Any = converted_t<AnyMatrix, KokkosSparse::CrsMatrix<S, O, D, M, Z>>;
  using vector_type = Kokkos::View<typename Any::value_type*, typename Any::device_type>;
  Impl::ScopedRegion region(Impl::label("optimize", "any"));
  Selection selection = predict_formats(exec, crs, options);
  selection.timed = options.time_best;
  const std::size_t wanted = options.time_best ? 3 : 1;
  vector_type x, y;
  if (options.time_best) {
    x = Impl::allocate_view<vector_type>(exec, "x", "any", static_cast<std::int64_t>(crs.numCols()));
    y = Impl::allocate_view<vector_type>(exec, "y", "any", static_cast<std::int64_t>(crs.numRows()));
    Kokkos::deep_copy(exec, x, typename Any::value_type(1));
  }
  std::optional<Any> best;
  double best_seconds = 0;
  std::vector<Prediction> tried;
  for (FormatPrediction& one : selection.formats) {
    if (tried.size() == wanted) break;
    // Variants with the same prediction are converted once: on a host all numbers of lanes per row and the
    // balanced product of CRS use the same kernel.
    const bool is_tried = std::any_of(tried.begin(), tried.end(), [&](const Prediction& other) {
      return other.seconds == one.prediction.seconds && other.storage_bytes == one.prediction.storage_bytes;
    });
    if (is_tried || !one.refusal.empty()) continue;
    std::optional<Any> candidate = Impl::try_format(exec, crs, options, selection, one);
    if (!candidate) continue;
    tried.push_back(one.prediction);
    double seconds = 0;
    if (options.time_best) {
      one.measured_seconds = Impl::time_product(exec, *candidate, x, y);
      seconds = Impl::total_seconds(options, one.prediction, one.measured_seconds);
    }
    if (best && seconds >= best_seconds) continue;
    best = std::move(candidate);
    best_seconds = seconds;
    selection.picked = one.name;
  }
  if (!best) throw std::logic_error("Filigree::optimize: no format could hold the matrix, not even CRS.");
  return best->with_selection(std::move(selection));
}

/// optimize() on the default instance of the execution space of the CRS matrix.
template <class S, class O, class D, class M, class Z>
auto optimize(const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs, const OptimizeOptions& options = {}) {
  return optimize(typename KokkosSparse::CrsMatrix<S, O, D, M, Z>::execution_space(), crs, options);
}

}  // namespace Filigree
