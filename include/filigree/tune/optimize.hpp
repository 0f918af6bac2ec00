// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_TUNE_OPTIMIZE_HPP
#define FILIGREE_TUNE_OPTIMIZE_HPP

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "filigree/tune/any_matrix.hpp"

namespace Filigree {
namespace Impl {

/// The AnyMatrix of a CRS matrix.
template <class Crs>
using any_matrix_t = AnyMatrix<typename Crs::non_const_value_type, typename Crs::non_const_ordinal_type,
                               typename Crs::device_type, void, typename Crs::non_const_size_type>;

/// The matrix in the format, or the member of a family, of that name.
template <class ExecutionSpace, class Crs>
typename any_matrix_t<Crs>::variant_type convert_by_name(const ExecutionSpace& exec, const Crs& crs,
                                                         const std::string& name, int block_size,
                                                         double max_storage_ratio) {
  typename any_matrix_t<Crs>::variant_type result;
  for_each_format(AllFormats(), [&](auto format) {
    using FormatTag = decltype(format);
    for (auto& variant : named_variants<converted_t<FormatTag::template matrix, Crs>>()) {
      if (variant.name != name) continue;
      set_block_size(variant.options, block_size);
      // Whoever asks has checked the input.
      variant.options.check_input = false;
      variant.options.max_storage_ratio = max_storage_ratio;
      result = convert<FormatTag::template matrix>(exec, crs, variant.options);
    }
  });
  return result;
}

/// The seconds of a product, the least of some.
template <class ExecutionSpace, class Any, class Vector>
double time_product(const ExecutionSpace& exec, const Any& A, const Vector& x, const Vector& y) {
  using scalar = typename Any::value_type;
  double seconds = std::numeric_limits<double>::max();
  for (int i = 0; i < 6; ++i) {
    exec.fence();
    Kokkos::Timer timer;
    spmv(exec, "N", scalar(1), A, x, scalar(0), y);
    exec.fence();
    // The first warms up.
    if (i > 0) seconds = std::min(seconds, timer.seconds());
  }
  return seconds;
}

/// Why BSR is no pick where its blocks are not full: it multiplies what fills them like entries, so that an
/// Inf in x shows in rows whose pattern does not name its column.
constexpr const char* multiplies_zeros = "it would multiply zeros that fill its blocks";

/// Whether a matrix stores, and multiplies, more than the entries that it was made from.
template <class Any>
bool stores_zeros(const Any& A) {
  return A.visit([&](const auto& matrix) {
    using Traits = MatrixTraits<std::decay_t<decltype(matrix)>>;
    return !Traits::counts_nnz && Traits::nnz(matrix) != static_cast<std::int64_t>(A.nnz());
  });
}

}  // namespace Impl

/// What the byte model says of each format of AllFormats and each member of its family for a CRS matrix on
/// the device of exec: the first is the one that optimize() would take, if no conversion or time shows
/// otherwise. Costs matrix_statistics(), with check_input a read of the matrix, and once in a process
/// device_speed(). Fences. Throws as optimize() does.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, Selection> predict_formats(
    const ExecutionSpace& exec, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
    const OptimizeOptions& options = {}) {
  using Crs = KokkosSparse::CrsMatrix<S, O, D, M, Z>;
  static_assert(
      std::is_same<Crs,
                   KokkosSparse::CrsMatrix<std::remove_const_t<S>, std::remove_const_t<O>, D, M, Z>>::value &&
          !Crs::values_type::traits::memory_traits::is_unmanaged,
      "Filigree::optimize: the CRS matrix must own its Views, and its scalars and ordinals must not be "
      "const, as the result may share it; convert<Format> takes others.");
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
      if constexpr (Impl::HasBlockSize<decltype(variant.options)>::value) {
        constexpr bool is_bell = std::is_same<decltype(variant.options), BellOptions>::value;
        constexpr bool is_bsr = std::is_same<decltype(variant.options), BsrOptions>::value;
        const MatrixStatistics& statistics = model.statistics();
        one.block_size =
            options.block_size > 0
                ? options.block_size
                : statistics.best_block_size(
                      is_bell ? Impl::largest_compiled_block_size : MatrixStatistics::largest_block,
                      is_bsr ? std::gcd(statistics.rows, statistics.columns) : 0);
        variant.options.block_size = one.block_size;
        if (is_bsr && statistics.block_fill[static_cast<std::size_t>(one.block_size)] < 0.9999)
          one.refusal = Impl::multiplies_zeros;
      }
      one.prediction = model.predict(variant.options);
      result.formats.push_back(one);
    }
  });
  Impl::rank_formats(options, result);
  return result;
}

/// The same on the default instance of the execution space of the CRS matrix.
template <class S, class O, class D, class M, class Z>
Selection predict_formats(const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
                          const OptimizeOptions& options = {}) {
  return predict_formats(typename KokkosSparse::CrsMatrix<S, O, D, M, Z>::execution_space(), crs, options);
}

/// A CRS matrix in the format that makes the products planned, and its conversion, take the least, as the
/// byte model predicts it from what the matrix is like: best = optimize(crs); spmv("N", 1.0, best, x, 0.0,
/// y). The selection fences exec; its cost is that of predict_formats. A format that turns out larger than
/// options allow, than predicted by so much that another is better, or than there is memory for, gives way to
/// the next. CRS, which is shared and not copied, is always one of them.
///
/// Throws std::invalid_argument for a CRS matrix that is none and for options that make no sense.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value,
                 Impl::any_matrix_t<KokkosSparse::CrsMatrix<S, O, D, M, Z>>>
optimize(const ExecutionSpace& exec, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
         const OptimizeOptions& options = {}) {
  using Any = Impl::any_matrix_t<KokkosSparse::CrsMatrix<S, O, D, M, Z>>;
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
    // On a host numbers of lanes are one and the same kernel, and the balanced one is none of its own: what
    // is predicted alike is timed once.
    const bool is_tried = std::any_of(tried.begin(), tried.end(), [&](const Prediction& other) {
      return other.seconds == one.prediction.seconds && other.storage_bytes == one.prediction.storage_bytes;
    });
    if (is_tried || !one.refusal.empty()) continue;
    typename Any::variant_type matrix;
    try {
      matrix = Impl::convert_by_name(
          exec, crs, one.name, one.block_size,
          std::min(options.max_storage_ratio, options.most_bytes / selection.crs_bytes));
    } catch (const std::exception& refusal) {  // it is too large, or there is no memory for it
      one.refusal = refusal.what();
      continue;
    }
    Any candidate({}, std::move(matrix), crs.nnz());
    if (Impl::stores_zeros(candidate)) {
      one.refusal = Impl::multiplies_zeros;
      exec.fence();
      continue;
    }
    if (Impl::is_refused(options, static_cast<double>(candidate.storage_bytes()), one, selection)) {
      // The last kernel of the conversion may still write what is freed here.
      exec.fence();
      continue;
    }
    tried.push_back(one.prediction);
    double seconds = 0;
    if (options.time_best) {
      one.measured_seconds = Impl::time_product(exec, candidate, x, y);
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

/// The same on the default instance of the execution space of the CRS matrix.
template <class S, class O, class D, class M, class Z>
auto optimize(const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs, const OptimizeOptions& options = {}) {
  return optimize(typename KokkosSparse::CrsMatrix<S, O, D, M, Z>::execution_space(), crs, options);
}

}  // namespace Filigree

#endif
