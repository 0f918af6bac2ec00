// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <numeric>
#include <optional>

#include "filigree/tune/any_matrix.hpp"

namespace Filigree {
namespace Impl {

/// Whether an AnyMatrix can share the Views of a CRS matrix: they must be managed and their scalars and
/// ordinals not const.
template <class Crs>
constexpr bool can_share_v =
    !std::is_const_v<typename Crs::value_type> && !std::is_const_v<typename Crs::ordinal_type> &&
    !Crs::values_type::traits::memory_traits::is_unmanaged;

/// Whether a View owns its memory. One that was made from a pointer does not, whatever its type is.
template <class View>
bool is_managed(const View& view) {
  return view.extent(0) == 0 || view.use_count() > 0;
}
/// Whether a CRS matrix owns its memory.
template <class Crs>
bool is_managed_crs(const Crs& crs) {
  return is_managed(crs.graph.row_map) && is_managed(crs.graph.entries) && is_managed(crs.values);
}

/// Converts to the variant of that name. The input must have been checked before. CRS and WrappedCrsMatrix
/// share the Views of crs if share_crs is true, and those of a copy if it is false.
template <class ExecutionSpace, class Crs>
typename converted_t<AnyMatrix, Crs>::variant_type convert_by_name(const ExecutionSpace& exec, const Crs& crs,
                                                                   const std::string& name, int block_size,
                                                                   double max_storage_ratio, bool share_crs,
                                                                   double symmetry_tolerance = 0) {
  typename converted_t<AnyMatrix, Crs>::variant_type result;
  for_each_format(AllFormats(), [&](auto format) {
    using FormatTag = decltype(format);
    using Matrix = converted_t<FormatTag::template matrix, Crs>;
    for (auto& variant : named_variants<Matrix>()) {
      if (variant.name != name) continue;
      set_block_size(variant.options, block_size);
      variant.options.check_input = false;
      variant.options.max_storage_ratio = max_storage_ratio;
      if constexpr (MatrixTraits<Matrix>::is_symmetric)
        variant.options.symmetry_tolerance = symmetry_tolerance;
      if constexpr (MatrixTraits<Matrix>::has_dictionary)
        variant.options.max_blocks = DictCdsOptions::most_short_blocks;
      const auto convert_from = [&](const auto& from) {
        result = convert<FormatTag::template matrix>(exec, from, variant.options);
      };
      if constexpr (!MatrixTraits<Matrix>::shares_crs)
        convert_from(crs);
      else if (!share_crs)
        convert_from(copy_of_crs<converted_t<CrsMatrix, Crs>>(exec, crs));
      else if constexpr (can_share_v<Crs>)
        convert_from(crs);
    }
  });
  return result;
}

/// How many products a sample has if one takes this time. A sample takes about 0.2 ms: one product of a large matrix, up
/// to 20 of a small one. A single small product would take less time than its launch and the wait for it, so that all
/// formats would seem equally fast.
inline int products_per_sample(double seconds_of_one) {
  constexpr double sample_seconds = 200e-6;
  constexpr int most = 20;
  if (most * seconds_of_one <= sample_seconds) return most;
  return std::max(1, static_cast<int>(sample_seconds / seconds_of_one));
}

/// Seconds of a product: the least of five samples, after a product that is not timed.
template <class ExecutionSpace, class Any, class Vector>
double time_product(const ExecutionSpace& exec, const Any& A, const Vector& x, const Vector& y) {
  using scalar = typename Vector::value_type;
  const auto seconds_of = [&](int products) {
    exec.fence();
    Kokkos::Timer timer;
    for (int i = 0; i < products; ++i)
      spmv(exec, "N", scalar(1), A, x, scalar(0), y);
    exec.fence();
    return timer.seconds() / products;
  };
  seconds_of(1);
  const double one = seconds_of(1);
  const int products = products_per_sample(one);
  double seconds = products == 1 ? one : seconds_of(products);
  for (int i = 1; i < 5; ++i)
    seconds = std::min(seconds, seconds_of(products));
  return seconds;
}

/// Why BSR is refused if its blocks are not full. It multiplies the padding of its blocks like entries. An
/// Inf in x would then appear in rows that have no entry in its column.
constexpr const char* padding_refusal = "would multiply the padding of its blocks like entries";

/// Converts to the predicted format. If the result stores too much, if there is no memory for it, if padding
/// would be multiplied, or if the matrix is not symmetric and the format needs that, it sets the refusal and
/// returns nothing. Other exceptions pass through.
template <class ExecutionSpace, class Crs>
std::optional<converted_t<AnyMatrix, Crs>> try_format(const ExecutionSpace& exec, const Crs& crs,
                                                      const OptimizeOptions& options,
                                                      const Selection& selection, FormatPrediction& one) {
  const double most = std::min(options.max_storage_ratio, options.most_bytes / selection.crs_bytes);
  typename converted_t<AnyMatrix, Crs>::variant_type matrix;
  try {
    matrix = convert_by_name(exec, crs, one.name, one.block_size,
                             one.shares_crs ? std::numeric_limits<double>::infinity() : most,
                             options.share_crs, options.symmetry_tolerance);
  } catch (const std::exception& error) {
    const bool is_too_large = dynamic_cast<const std::length_error*>(&error) != nullptr;
    const bool is_asymmetric =
        one.is_symmetric && dynamic_cast<const std::invalid_argument*>(&error) != nullptr;
    if (!is_too_large && !is_asymmetric && !is_out_of_memory(error)) throw;
    // After an error of the device, allocations fail too. The fence then reports that error.
    exec.fence();
    one.refusal = error.what();
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

/// The speed that the options give, completed by that of the device.
template <class ExecutionSpace>
DeviceSpeed speed_for_model(const ExecutionSpace& exec, const DeviceSpeed& given) {
  // Without a model, bytes stand for seconds.
  if (!given.has_model) return {1, {}, false};
  const DeviceSpeed own = device_speed(exec);
  DeviceSpeed speed = given.read_bandwidth > 0 ? given : own;
  speed.vendor = given.vendor == ProcessorVendor::unknown ? own.vendor : given.vendor;
  if (runs_on_gpu_v<ExecutionSpace> && speed.gpu.multiprocessors == 0) {
    speed.gpu = own.gpu;
    speed.has_model = own.gpu.multiprocessors > 0;
  }
  return speed.has_model ? speed : DeviceSpeed{1, {}, false};
}

/// What optimize() does with the CRS matrices of one type, for vectors of type VectorScalar. It is not inline,
/// so that it can be precompiled (see core/precompiled.hpp).
template <class VectorScalar, class ExecutionSpace, class Crs>
struct Optimization {
  /// The predictions for all variants of all formats. Checks the options and the CRS matrix first.
  static Selection predict_all(const ExecutionSpace& exec, const Crs& crs, const OptimizeOptions& options);
  /// Converts to the format that was predicted to be the best. If options or the lack of a model ask for it,
  /// times several formats or all, and keeps the best. Returns nothing if all are refused.
  static std::optional<converted_t<AnyMatrix, Crs>> convert_to_best(const ExecutionSpace& exec,
                                                                    const Crs& crs,
                                                                    const OptimizeOptions& options,
                                                                    Selection& selection);
};

template <class VectorScalar, class ExecutionSpace, class Crs>
Selection Optimization<VectorScalar, ExecutionSpace, Crs>::predict_all(const ExecutionSpace& exec,
                                                                       const Crs& crs,
                                                                       const OptimizeOptions& options) {
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, typename Crs::memory_space>::accessible,
      "Filigree::optimize: the execution space must be able to access the memory of the CRS matrix.");
  check_optimize_options(options, can_share_v<Crs> && is_managed_crs(crs));
  check_crs(exec, "Filigree::optimize", crs, options.check_input);
  const DeviceSpeed speed = speed_for_model(exec, options.speed);
  const ByteModel model(matrix_statistics(exec, crs, speed.gpu.cache_bytes, options.block_size, false), speed,
                        sizeof(typename Crs::non_const_value_type),
                        sizeof(typename Crs::non_const_ordinal_type),
                        sizeof(typename Crs::non_const_size_type), sizeof(VectorScalar));
  Selection result;
  result.crs_bytes = crs_bytes(crs);
  result.products = options.products;
  result.has_model = speed.has_model;
  result.device = device_name(exec);
  result.read_bandwidth = speed.has_model ? speed.read_bandwidth : 0;
  result.assumes_bandwidth =
      speed.has_model && !runs_on_gpu_v<ExecutionSpace> && options.speed.read_bandwidth == 0;
  for_each_format(AllFormats(), [&](auto format) {
    using Matrix = converted_t<decltype(format)::template matrix, Crs>;
    if (MatrixTraits<Matrix>::is_symmetric && !options.symmetric) return;
    if (MatrixTraits<Matrix>::has_dictionary && !options.repeated_blocks) return;
    [[maybe_unused]] std::string one_lane;  // the first variant of WrappedCrsMatrix with lanes
    for (auto& variant : named_variants<Matrix>()) {
      FormatPrediction one;
      one.name = variant.name;
      one.shares_crs = MatrixTraits<Matrix>::shares_crs && options.share_crs;
      one.copies_crs = MatrixTraits<Matrix>::shares_crs && !options.share_crs;
      one.is_symmetric = MatrixTraits<Matrix>::is_symmetric;
      one.has_dictionary = MatrixTraits<Matrix>::has_dictionary;
      if constexpr (HasBlockSize<decltype(variant.options)>::value) {
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
          one.refusal = padding_refusal;
      }
      one.prediction = model.predict(variant.options);
      if (one.copies_crs) one.prediction.conversion_seconds += model.crs_copy_seconds();
      if constexpr (std::is_same_v<decltype(variant.options), WrappedCrsOptions>) {
        // On a host a row has one lane, whatever the options say.
        const bool has_lanes = variant.options.kernel == CrsKernel::lanes;
        if (!runs_on_gpu_v<ExecutionSpace> && has_lanes) one.same_as = one_lane;
        if (has_lanes && one_lane.empty()) one_lane = one.name;
      }
      result.formats.push_back(one);
    }
  });
  rank_formats(options, result);
  return result;
}

template <class VectorScalar, class ExecutionSpace, class Crs>
std::optional<converted_t<AnyMatrix, Crs>> Optimization<VectorScalar, ExecutionSpace, Crs>::convert_to_best(
    const ExecutionSpace& exec, const Crs& crs, const OptimizeOptions& options, Selection& selection) {
  using Any = converted_t<AnyMatrix, Crs>;
  using vector_type = Kokkos::View<VectorScalar*, typename Any::device_type>;
  selection.timed = options.time_best || !selection.has_model;
  // Five formats: see docs/performance.md, "Matrices that fit the cache".
  const std::size_t wanted = !selection.has_model ? selection.formats.size() : options.time_best ? 5 : 1;
  vector_type x, y;
  if (selection.timed) {
    x = allocate_view<vector_type>(exec, "x", "any", static_cast<std::int64_t>(crs.numCols()));
    y = allocate_view<vector_type>(exec, "y", "any", static_cast<std::int64_t>(crs.numRows()));
    Kokkos::deep_copy(exec, x, VectorScalar(1));
  }
  std::optional<Any> best;
  double best_seconds = 0;
  std::vector<Prediction> tried;
  for (FormatPrediction& one : selection.formats) {
    if (tried.size() == wanted) break;
    // Of variants with the same prediction only the first is converted: on a host CRS has one kernel for all numbers of
    // lanes per row. Without a model the predictions are NaN, never equal.
    const bool is_tried = std::any_of(tried.begin(), tried.end(), [&](const Prediction& other) {
      return other.seconds == one.prediction.seconds && other.storage_bytes == one.prediction.storage_bytes;
    });
    if (is_tried || !one.refusal.empty()) continue;
    if (!selection.has_model) exec.fence();
    const Kokkos::Timer timer;
    std::optional<Any> candidate = try_format(exec, crs, options, selection, one);
    if (!candidate) continue;
    tried.push_back(one.prediction);
    double seconds = 0;
    if (selection.timed) {
      exec.fence();
      double conversion = one.prediction.conversion_seconds;
      if (!selection.has_model) conversion = one.measured_conversion_seconds = timer.seconds();
      one.measured_seconds = time_product(exec, *candidate, x, y);
      seconds = total_seconds(options, conversion, one.measured_seconds);
      if (!selection.has_model) one.total_seconds = seconds;
    }
    if (best && seconds >= best_seconds) continue;
    best = std::move(candidate);
    best_seconds = seconds;
    selection.picked = one.name;
  }
  // The first of equally fast formats stays the first, so that it is the picked one.
  if (!selection.has_model) sort_formats(selection);
  // The caller may change or free the CRS matrix on return, and gets the errors of the last kernels here.
  exec.fence();
  return best;
}

}  // namespace Impl

/// The predictions of the byte model for all variants of all formats, for a CRS matrix on the device of exec.
/// optimize() converts to the first of them unless its conversion or a measurement shows that another is
/// better. On a device without a model it times all formats, as optimize() does.
///
/// Cost: matrix_statistics(), one read of the matrix if options.check_input is set, and device_speed(). On a
/// device without a model also the conversion to each variant and six products of it, or up to 102 if one takes less
/// than 0.1 ms. Fences exec and no other instance. Throws like optimize(), except that it returns a Selection
/// without a pick if all formats are refused.
template <class ExecutionSpace, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, Selection> predict_formats(
    const ExecutionSpace& exec, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
    const OptimizeOptions& options = {}) {
  Impl::check_initialized("Filigree::predict_formats");
  const Impl::LabelScope scope(options.label);
  Impl::ScopedRegion region(Impl::label("predict_formats", "any"));
  using Optimization =
      Impl::Optimization<std::remove_const_t<S>, ExecutionSpace, KokkosSparse::CrsMatrix<S, O, D, M, Z>>;
  Selection selection = Optimization::predict_all(exec, crs, options);
  if (!selection.has_model) Optimization::convert_to_best(exec, crs, options, selection);
  return selection;
}

/// predict_formats() on the default instance of the execution space of the CRS matrix.
template <class S, class O, class D, class M, class Z>
Selection predict_formats(const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
                          const OptimizeOptions& options = {}) {
  Impl::check_initialized("Filigree::predict_formats");
  return predict_formats(typename KokkosSparse::CrsMatrix<S, O, D, M, Z>::execution_space(), crs, options);
}

/// Converts a CRS matrix to the format whose conversion and planned products are predicted to take the least
/// time:
///
///     auto best = Filigree::optimize(crs);
///     Filigree::spmv("N", 1.0, best, x, 0.0, y);
///
/// With a Scalar that is narrower than that of crs, all formats store their values in that type, which rounds
/// them (see docs/narrow_values.md). x and y keep the type of crs. options.rounding and explain() tell how
/// much the entries were rounded:
///
///     auto narrow = Filigree::optimize<float>(crs);
///
/// If a converted matrix is larger than options allow, or so much larger than predicted that another format
/// is better, or if there is no memory for it, the next format is tried. CRS is always among the formats. The
/// result shares no memory with crs unless options.share_crs is set. Costs predict_formats() and the
/// conversions. Fences exec and no other instance; nothing reads crs any more on return.
///
/// The choice depends only on the matrix, the options and device_speed(). Processes on equal devices choose
/// equally for equal matrices and options. Two things make the choice depend on measurements:
/// options.time_best, and a device without a model (DeviceSpeed::has_model). On such a device every variant
/// that the limits allow is converted, and the conversion and six products are timed, or up to 102 products if one
/// takes less than 0.1 ms. That takes about as long as some hundred products of a large matrix, or a few
/// milliseconds per variant, and memory for two of the matrices and two vectors.
///
/// With another Scalar it also takes the memory of a CRS matrix of that type while it runs, and throws
/// std::overflow_error like convert(). Limits of storage then refer to this CRS matrix.
///
/// Throws std::invalid_argument if options.check_input finds an error in the CRS matrix, if a number in the
/// options is out of range, and if options.share_crs is set for a CRS matrix that is const or unmanaged.
/// Throws std::length_error if options.share_crs is false and no format fits, not even a copy of the CRS
/// matrix. Exceptions for other reasons than size and memory, such as errors of the device, pass through. crs
/// is unchanged in every case.
template <class Scalar = void, class ExecutionSpace, class S, class O, class D, class M, class Z,
          std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, int> = 0>
auto optimize(const ExecutionSpace& exec, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
              const OptimizeOptions& options = {}) {
  const char* const function = "Filigree::optimize";
  using scalar = std::remove_const_t<S>;
  using stored = std::conditional_t<std::is_void_v<Scalar>, scalar, Scalar>;
  static_assert(
      !Impl::RealTraits<Impl::real_t<scalar>>::is_short,
      "Filigree::optimize: the CRS matrix must not have 16-bit values, because x and y of its products "
      "cannot have them. Give one of float or double, and name the type to store: "
      "Filigree::optimize<half_t>(A).");
  Impl::check_initialized(function);
  const Impl::LabelScope scope(options.label);
  Impl::ScopedRegion region(Impl::label("optimize", "any"));
  OptimizeOptions later = options;
  Rounding rounding;
  if constexpr (!std::is_same_v<stored, scalar>) {
    Impl::check_crs(exec, function, crs, options.check_input);
    later.check_input = false;
  }
  decltype(auto) given = Impl::with_scalar<stored>(exec, function, "any", crs, &rounding);
  using Optimization = Impl::Optimization<scalar, ExecutionSpace, std::decay_t<decltype(given)>>;
  Selection selection = Optimization::predict_all(exec, given, later);
  if (!std::is_same_v<stored, scalar>) selection.stored = Impl::name_of_scalar<stored>();
  selection.rounding = rounding;
  const auto best = Optimization::convert_to_best(exec, given, later, selection);
  if (!best) Impl::fail_without_format(options, selection);
  auto result = best->with_selection(std::move(selection));
  Impl::set_label(result, options.label);
  if (options.rounding != nullptr) *options.rounding = rounding;
  return result;
}

/// optimize() on the default instance of the execution space of the CRS matrix.
template <class Scalar = void, class S, class O, class D, class M, class Z>
auto optimize(const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs, const OptimizeOptions& options = {}) {
  Impl::check_initialized("Filigree::optimize");
  return optimize<Scalar>(typename KokkosSparse::CrsMatrix<S, O, D, M, Z>::execution_space(), crs, options);
}

}  // namespace Filigree

// Instantiates or declares optimize() of a precompiled CRS matrix (see core/precompiled.hpp).
#define FILIGREE_PRECOMPILE_OPTIMIZATION(KIND, Scalar, SizeType) \
  KIND struct Filigree::Impl::Optimization<                      \
      Scalar, Filigree::Impl::PrecompiledSpace,                  \
      Filigree::Impl::precompiled_t<KokkosSparse::CrsMatrix, Scalar, SizeType>>;
FILIGREE_DECLARE_PRECOMPILED(FILIGREE_PRECOMPILE_OPTIMIZATION)
