// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/cast_values.hpp"
#include "filigree/conversion/dense_copy.hpp"
#include "filigree/conversion/row_copy.hpp"
#include "filigree/core/initialized.hpp"
#include "filigree/core/matrix_traits.hpp"
#include "filigree/formats.hpp"

namespace Filigree {
namespace Impl {

/// The kernels that copy between a CRS matrix and a layout, or the elements of a dense format.
template <class ExecutionSpace, class Layout, class Crs>
using CrsCopy = std::conditional_t<Layout::is_dense, DenseCopy<Layout, crs_views_t<Crs>>,
                                   RowCopy<ExecutionSpace, Layout, typename Crs::non_const_size_type>>;

/// A row in which the patterns of A and of a CRS matrix differ: the first row of a different length, or else
/// the first row with other columns. If the patterns agree, a number that is not less than the number of
/// rows. Fences exec. Formats with a shorter way, such as CRS, overload this function and the next two.
template <class ExecutionSpace, class Matrix, class Crs>
std::int64_t first_different_row(const ExecutionSpace& exec, const Matrix& A, const Crs& crs) {
  return with_layout(exec, A, [&](const auto& layout) {
    using Layout = std::decay_t<decltype(layout)>;
    const char* const format = MatrixTraits<Matrix>::name();
    if constexpr (Layout::is_dense) {
      return first_different_dense_row(exec, format, A, layout, crs);
    } else {
      using Copy = RowCopy<ExecutionSpace, Layout, typename Crs::non_const_size_type>;
      const std::int64_t rows = MatrixTraits<Matrix>::num_rows(A);
      const Copy copy(layout, crs);
      const std::int64_t row = find_first<typename Copy::CompareLengths>(exec, "compare_pattern", format,
                                                                         copy.count_calls(rows), copy);
      return row < rows ? row
                        : find_first<typename Copy::CompareColumns>(exec, "compare_pattern", format,
                                                                    copy.extract_calls(rows), copy);
    }
  });
}

/// Throws std::invalid_argument if the extents or the numbers of entries of A and a CRS matrix differ.
template <class Matrix, class Crs>
void check_extents_of_refill(const char* function, const Matrix& A, const Crs& crs) {
  using Traits = MatrixTraits<Matrix>;
  if (Traits::num_rows(A) != static_cast<std::int64_t>(crs.numRows()) ||
      Traits::num_cols(A) != static_cast<std::int64_t>(crs.numCols()) ||
      (Traits::counts_nnz && Traits::nnz(A) != static_cast<std::int64_t>(crs.nnz())))
    fail<std::invalid_argument>(function, ": A is ", Traits::num_rows(A), " x ", Traits::num_cols(A),
                                " with ", Traits::nnz(A), " entries, and the CRS matrix is ", crs.numRows(),
                                " x ", crs.numCols(), " with ", crs.nnz(),
                                "; it must have the pattern of the matrix that A was converted from.");
}

/// Copies the values of a CRS matrix with the pattern of A to A. One kernel, no fence.
template <class ExecutionSpace, class Matrix, class Crs>
void refill_from_crs(const ExecutionSpace& exec, const Matrix& A, const Crs& crs) {
  with_layout(exec, A, [&](const auto& layout) {
    constexpr const char* format = MatrixTraits<Matrix>::name();
    using Layout = std::decay_t<decltype(layout)>;
    using Copy = RowCopy<ExecutionSpace, Layout, typename Crs::non_const_size_type>;
    if constexpr (Layout::is_dense)
      fill_dense(exec, "refill", format, layout, crs);
    else
      for_each_strip<typename Copy::Refill>(exec, "refill", format, layout.slots(), Copy(layout, crs));
  });
}

/// The entries of A as a new CRS matrix. A dense format leaves out zeros. In other formats the entries of
/// each row have the order of the CRS matrix that was converted. Fences exec.
template <class Crs, class ExecutionSpace, class Matrix>
Crs convert_to_crs(const ExecutionSpace& exec, const Matrix& A) {
  using Traits = MatrixTraits<Matrix>;
  using ordinal_type = typename Crs::non_const_ordinal_type;
  return with_layout(exec, A, [&](const auto& layout) {
    using Layout = std::decay_t<decltype(layout)>;
    using Copy = CrsCopy<ExecutionSpace, Layout, Crs>;
    const std::int64_t rows = Traits::num_rows(A);
    const Copy copy(layout, Crs());
    return build_crs<Crs, typename Copy::Count, typename Copy::Extract>(
        exec, Traits::name(), static_cast<ordinal_type>(rows), static_cast<ordinal_type>(Traits::num_cols(A)),
        copy, copy.count_calls(rows), copy.extract_calls(rows));
  });
}

/// The copies between a Matrix and a CRS matrix. They are not inline, so that they can be precompiled (see
/// core/precompiled.hpp).
template <class ExecutionSpace, class Matrix, class Crs>
struct Conversion {
  using options_type = typename MatrixTraits<Matrix>::options_type;

  /// See convert_from_crs() of the formats.
  static void from_crs(const ExecutionSpace& exec, const Crs& crs, const options_type& options,
                       Matrix& result);
  /// See refill_from_crs().
  static void refill(const ExecutionSpace& exec, const Matrix& A, const Crs& crs);
  /// See first_different_row().
  static std::int64_t first_mismatch(const ExecutionSpace& exec, const Matrix& A, const Crs& crs);
  /// See convert_to_crs().
  static Crs to_crs(const ExecutionSpace& exec, const Matrix& A);
};

template <class ExecutionSpace, class Matrix, class Crs>
void Conversion<ExecutionSpace, Matrix, Crs>::from_crs(const ExecutionSpace& exec, const Crs& crs,
                                                       const options_type& options, Matrix& result) {
  convert_from_crs(exec, crs, options, result);
}
template <class ExecutionSpace, class Matrix, class Crs>
void Conversion<ExecutionSpace, Matrix, Crs>::refill(const ExecutionSpace& exec, const Matrix& A,
                                                     const Crs& crs) {
  refill_from_crs(exec, A, crs);
}
template <class ExecutionSpace, class Matrix, class Crs>
std::int64_t Conversion<ExecutionSpace, Matrix, Crs>::first_mismatch(const ExecutionSpace& exec,
                                                                     const Matrix& A, const Crs& crs) {
  return first_different_row(exec, A, crs);
}
template <class ExecutionSpace, class Matrix, class Crs>
Crs Conversion<ExecutionSpace, Matrix, Crs>::to_crs(const ExecutionSpace& exec, const Matrix& A) {
  return convert_to_crs<Crs>(exec, A);
}

}  // namespace Impl

/// The type of the result of convert<Format>. It has the ordinal, device and offset types of the CRS matrix,
/// and its scalar type unless another one is given.
template <template <class, class, class, class, class> class Format, class Crs,
          class Scalar = typename Crs::non_const_value_type>
using converted_t = Format<Scalar, typename Crs::non_const_ordinal_type, typename Crs::device_type, void,
                           typename Crs::non_const_size_type>;

/// The type of the options of convert<Format>.
template <template <class, class, class, class, class> class Format, class Crs>
using convert_options_t = typename MatrixTraits<converted_t<Format, Crs>>::options_type;

namespace Impl {

struct NoCrs {};
NoCrs crs_of(...);

/// The type of the CRS matrix from which convert() of a Matrix starts (see formats/crs/crs_convert.hpp), or
/// NoCrs if convert() does not take it. (No overload has the return type auto, so this compiles none of
/// them.)
template <class Matrix>
using crs_of_t =
    std::decay_t<decltype(crs_of(Kokkos::DefaultHostExecutionSpace(), std::declval<const Matrix&>()))>;

/// The options of convert<Format> for a matrix of the given type.
template <template <class, class, class, class, class> class Format, class Crs>
struct OptionsOfConvert {
  using type = convert_options_t<Format, Crs>;
};
template <template <class, class, class, class, class> class Format>
struct OptionsOfConvert<Format, NoCrs> {
  using type = ConvertOptions;
};
template <template <class, class, class, class, class> class Format, class Matrix>
using options_of_convert_t = typename OptionsOfConvert<Format, crs_of_t<Matrix>>::type;

/// Whether convert<Format> takes a matrix and options of these types. If not, does not compile.
template <template <class, class, class, class, class> class Format, class Matrix, class Options>
constexpr bool check_types_of_convert() {
  constexpr bool is_source = !std::is_same_v<crs_of_t<Matrix>, NoCrs>;
  constexpr bool are_options =
      std::is_convertible_v<const Options&, const options_of_convert_t<Format, Matrix>&>;
  static_assert(
      is_source,
      "Filigree::convert: A must be a CRS or COO matrix. To convert a matrix of another format, call "
      "Filigree::convert<Format>(Filigree::to_crs(A)).");
  static_assert(
      !is_source || are_options,
      "Filigree::convert<Format>: the options must have the type of the options of this format, for "
      "example Filigree::EllOptions for convert<Filigree::EllMatrix>.");
  return is_source && are_options;
}

}  // namespace Impl

/// Converts a CRS or COO matrix to another format, on the device:
///
///     auto A = convert<EllMatrix>(exec, crs);
///     auto B = convert<EllMatrix, float>(exec, crs);   // values rounded to float
///     auto C = convert<EllMatrix, half_t>(exec, crs);  // values rounded to 16 bits
///
/// @tparam Format  the class template of the format
/// @tparam Scalar  the scalar type of the result; void for that of A. A complex matrix has no real result
/// @param exec     execution space instance on which the kernels run
/// @param A        one of these; crs below is the CRS matrix that is converted
///                 - KokkosSparse::CrsMatrix
///                 - CooMatrix: crs shares its values and columns. Its row map takes rows + 1 offsets meanwhile
///                 - KokkosSparse::CooMatrix with entries in any order, if the macro FILIGREE_HAS_KOKKOS_COO is
///                   1 (Kokkos Kernels 4.1 and newer): crs is a copy, which takes the memory of make_coo()
/// @param options  options of the format, of type convert_options_t<Format, Crs>, for example EllOptions
///
/// The rows of crs need not be sorted. Duplicates stay separate entries if the format can hold them;
/// otherwise they are summed in the order of the CRS matrix. Its values, ordinals and offsets may be const,
/// and its Views may have any memory traits.
///
/// The result shares no memory with crs, except with convert<CrsMatrix> and convert<WrappedCrsMatrix>. These
/// share its Views and copy only const values and const column indices, because the result is not const. A
/// result that shares unmanaged Views must not be used after their memory is freed. With another Scalar they
/// share only the pattern.
///
/// Fences exec to check crs and to read sizes or row lengths, and no other instance. (Kokkos may wait for the
/// device when it allocates or frees memory.) The last kernel may still run on return, unless A is not a CRS
/// matrix or Scalar is another type.
///
/// Memory while it runs, besides crs and the result:
///   all          sizeof(Scalar) bytes per entry, if Scalar is another type. max_storage_ratio then counts the
///                bytes of a CRS matrix of that type
///   HYB          8 + sizeof(ordinal_type) bytes per row that is longer than the ELL part
///   CDS, DIA     4 bytes per block row and per block column, but at most 32 per entry; also symmetric CDS and
///                CDS with a dictionary
///   CDS with a dictionary  also 8 bytes per block of its block diagonals, and at most 10 MB
///   BELL, BSR    sizeof(ordinal_type) bytes per entry, if some row is not sorted by column
///   wrapped CRS  512 KB, on a host with more than 8192 rows
/// These formats also need memory that is freed before the values are allocated:
///   SELL, JDS    16 + 2 * sizeof(ordinal_type) bytes per row, if more than 4096 rows are sorted together
///   SELL         sizeof(ordinal_type) bytes per entry of the longest row, with one_length_per_slice
///   HYB, HEC     at most 8 bytes per entry of the longest row, and on a GPU as much on the host
/// COO, HYB and balanced CRS also allocate the workspace of their products, which stays.
///
/// Throws std::invalid_argument if crs is not a valid CRS matrix (see ConvertOptions::check_input) or if an
/// option is not valid. Throws std::length_error if the result would be larger than
/// ConvertOptions::max_storage_ratio allows, if size_type cannot count its elements, or if ordinal_type
/// cannot count the entries of its longest row (ELL, SELL, JDS, HYB and HEC) or its diagonals (CDS formats
/// and DIA). 32 bits count up to 2^31 - 1024. DictCdsMatrix throws it too if there are more distinct blocks
/// than DictCdsOptions::max_blocks. It throws before the values and columns are allocated. BELL and BSR also
/// throw it if some row is not sorted and some row has more than 2^30 entries. Throws std::overflow_error,
/// with the row and column, if a finite value becomes infinite in another scalar type, and std::range_error
/// if SplitCdsMatrix cannot split a value. Values that are too small become 0; ConvertOptions::rounding tells
/// how many, and the largest rounding. Throws std::logic_error if Kokkos is not initialized.
template <template <class, class, class, class, class> class Format, class Scalar = void,
          class ExecutionSpace, class Matrix, class Options = Impl::options_of_convert_t<Format, Matrix>,
          std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, int> = 0>
auto convert(const ExecutionSpace& exec, const Matrix& A, const Options& options = {}) {
  if constexpr (Impl::check_types_of_convert<Format, Matrix, Options>()) {
    using Crs = Impl::crs_of_t<Matrix>;
    using value_type = std::conditional_t<std::is_void_v<Scalar>, typename Crs::non_const_value_type, Scalar>;
    using Result = converted_t<Format, Crs, value_type>;
    static_assert(Kokkos::SpaceAccessibility<ExecutionSpace, typename Result::memory_space>::accessible,
                  "Filigree::convert: the execution space must be able to access the memory of A.");
    const char* const function = "Filigree::convert";
    const char* const name = MatrixTraits<Result>::name();
    Impl::check_initialized(function);
    const convert_options_t<Format, Crs>& format_options = options;
    const Impl::LabelScope scope(format_options.label);
    Impl::ScopedRegion region(Impl::label("convert", name));
    Impl::check_convert_options(function, format_options);
    decltype(auto) given = Impl::crs_of(exec, A);
    Impl::check_crs(exec, function, given, format_options.check_input);
    Rounding rounding;
    Rounding* const wanted = format_options.rounding != nullptr ? &rounding : nullptr;
    decltype(auto) crs = Impl::with_scalar<value_type>(exec, function, name, given, wanted);
    Result result;
    Impl::Conversion<ExecutionSpace, Result, std::decay_t<decltype(crs)>>::from_crs(exec, crs, format_options,
                                                                                    result);
    Impl::set_label(result, Impl::current_label());
    // The kernels must end before Views that only `given` or `crs` has are freed on return.
    if constexpr (!std::is_reference_v<decltype(given)> || !std::is_reference_v<decltype(crs)>) exec.fence();
    if (format_options.rounding != nullptr) *format_options.rounding = rounding;
    return result;
  }
}

/// convert<Format>(exec, A, options) on the default instance of the execution space of A.
template <template <class, class, class, class, class> class Format, class Scalar = void, class Matrix,
          class Options = Impl::options_of_convert_t<Format, Matrix>,
          std::enable_if_t<!Kokkos::is_execution_space<Matrix>::value, int> = 0>
auto convert(const Matrix& A, const Options& options = {}) {
  if constexpr (Impl::check_types_of_convert<Format, Matrix, Options>()) {
    Impl::check_initialized("Filigree::convert");
    return convert<Format, Scalar>(typename Impl::crs_of_t<Matrix>::execution_space(), A, options);
  }
}

/// Does not compile: the format is missing, or is a class instead of a template.
template <class Matrix = void, class... Arguments>
auto convert(const Arguments&...) {
  static_assert(!std::is_void_v<Matrix>,
                "Filigree::convert: the format is missing. Name it, for example "
                "Filigree::convert<Filigree::EllMatrix>(crs).");
  static_assert(std::is_void_v<Matrix>,
                "Filigree::convert: name the format without template arguments, for example "
                "Filigree::convert<Filigree::EllMatrix>(crs). The result gets the types of the CRS matrix.");
}

/// Converts a matrix of any format to CRS, on the device. For CrsMatrix and WrappedCrsMatrix the result
/// shares the Views of the CRS matrix. Otherwise it is new, and exec is fenced to read the number of entries.
/// Formats that cannot tell a stored zero from padding (CDS formats, DIA, blocked ELL, BSR) leave out zeros.
/// The last kernel may still run on return.
template <class ExecutionSpace, class S, class O, class D, class M, class Z,
          template <class, class, class, class, class> class Matrix>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value &&
                     MatrixTraits<Matrix<S, O, D, M, Z>>::is_matrix,
                 KokkosSparse::CrsMatrix<S, O, D, void, Z>>
to_crs(const ExecutionSpace& exec, const Matrix<S, O, D, M, Z>& A) {
  Impl::check_initialized("Filigree::to_crs");
  const Impl::LabelScope scope(Impl::label_of(A));
  Impl::ScopedRegion region(Impl::label("to_crs", MatrixTraits<Matrix<S, O, D, M, Z>>::name()));
  return Impl::Conversion<ExecutionSpace, Matrix<S, O, D, M, Z>,
                          KokkosSparse::CrsMatrix<S, O, D, void, Z>>::to_crs(exec, A);
}

/// to_crs(exec, A) on the default instance of the execution space of A.
template <class Matrix>
auto to_crs(const Matrix& A) {
  Impl::check_initialized("Filigree::to_crs");
  return to_crs(typename MatrixTraits<Matrix>::execution_space(), A);
}

#if FILIGREE_HAS_KOKKOS_COO
/// Converts a matrix of any format to KokkosSparse::CooMatrix (Kokkos Kernels 4.1 and newer), with the
/// entries of to_crs(), sorted by row. For a CooMatrix the result shares its Views. Otherwise it is new;
/// to_crs() and convert<CooMatrix>() then say which memory and fences it takes.
template <class ExecutionSpace, class S, class O, class D, class M, class Z,
          template <class, class, class, class, class> class Matrix,
          std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value, int> = 0>
KokkosSparse::CooMatrix<S, O, D, void, Z> to_kokkos_coo(const ExecutionSpace& exec,
                                                        const Matrix<S, O, D, M, Z>& A) {
  Impl::check_initialized("Filigree::to_kokkos_coo");
  if constexpr (std::is_same_v<Matrix<S, O, D, M, Z>, CooMatrix<S, O, D, M, Z>>) {
    return Impl::kokkos_coo_that_shares(A);
  } else {
    CooOptions options;
    options.check_input = false;
    options.max_storage_ratio = std::numeric_limits<double>::infinity();
    options.label = Impl::label_of(A);
    const auto crs = to_crs(exec, A);
    const auto coo = convert<CooMatrix>(exec, crs, options);
    // The kernels must end before `crs` is freed on return.
    exec.fence();
    return Impl::kokkos_coo_that_shares(coo);
  }
}

/// to_kokkos_coo(exec, A) on the default instance of the execution space of A.
template <class Matrix>
auto to_kokkos_coo(const Matrix& A) {
  Impl::check_initialized("Filigree::to_kokkos_coo");
  return to_kokkos_coo(typename MatrixTraits<Matrix>::execution_space(), A);
}
#endif

/// Overwrites the values of A by the values of a CRS matrix with the same pattern as the one that A was
/// converted from. One kernel on exec, which may still run on return. With RefillOptions::check_pattern,
/// other kernels compare the patterns first. A WrappedCrsMatrix shares its values with the CRS matrix that it
/// was made from, so that the values of that matrix change too. For a DictCdsMatrix or a SplitCdsMatrix it is
/// a conversion, with several kernels and fences, and the memory of a conversion and of its result.
///
/// If the scalar types differ, as after convert<EllMatrix, float> of a double matrix, the values are first
/// cast into memory that is freed on return. This takes sizeof(scalar of A) bytes per entry, one more kernel
/// and a fence.
///
/// Throws std::invalid_argument if the extents or the numbers of entries differ, or if
/// RefillOptions::check_pattern is true and the patterns differ, or if the matrix has more distinct blocks
/// than A, a DictCdsMatrix. Throws std::overflow_error if a finite value becomes infinite in the scalar type
/// of A. A is then unchanged.
template <class ExecutionSpace, class Matrix, class S, class O, class D, class M, class Z>
std::enable_if_t<Kokkos::is_execution_space<ExecutionSpace>::value> refill(
    const ExecutionSpace& exec, const Matrix& A, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& given,
    const RefillOptions& options = {}) {
  using Traits = MatrixTraits<Matrix>;
  static_assert(Kokkos::SpaceAccessibility<ExecutionSpace, typename Traits::memory_space>::accessible,
                "Filigree::refill: the execution space must be able to access the memory of A.");
  const char* const function = "Filigree::refill";
  Impl::check_initialized(function);
  const Impl::LabelScope scope(Impl::label_of(A));
  Impl::ScopedRegion region(Impl::label("refill", Traits::name()));
  Impl::check_crs(exec, function, given, options.check_pattern);
  Impl::check_extents_of_refill(function, A, given);
  const std::int64_t rows = static_cast<std::int64_t>(given.numRows());
  Rounding rounding;
  Rounding* const wanted = options.rounding != nullptr ? &rounding : nullptr;
  if (rows == 0) {
    if (options.rounding != nullptr) *options.rounding = rounding;
    return;
  }
  decltype(auto) crs =
      Impl::with_scalar<typename Traits::value_type>(exec, function, Traits::name(), given, wanted);
  using Conversion = Impl::Conversion<ExecutionSpace, Matrix, std::decay_t<decltype(crs)>>;
  if (options.check_pattern) {
    const std::int64_t row = Conversion::first_mismatch(exec, A, crs);
    if (row < rows)
      Impl::fail<std::invalid_argument>(
          function, ": row ", row, " of the CRS matrix does not have the columns of row ", row, " of A (",
          Traits::name(), "); it must have the pattern of the matrix that A was converted from.");
  }
  Conversion::refill(exec, A, crs);
  // The kernel must end before the values of `crs` are freed on return.
  if constexpr (!std::is_reference_v<decltype(crs)>) exec.fence();
  if (options.rounding != nullptr) *options.rounding = rounding;
}

/// refill(exec, A, crs, options) on the default instance of the execution space of A.
template <class Matrix, class S, class O, class D, class M, class Z>
void refill(const Matrix& A, const KokkosSparse::CrsMatrix<S, O, D, M, Z>& crs,
            const RefillOptions& options = {}) {
  Impl::check_initialized("Filigree::refill");
  refill(typename MatrixTraits<Matrix>::execution_space(), A, crs, options);
}

}  // namespace Filigree

// Instantiates or declares the conversions of all precompiled formats (see core/precompiled.hpp).
#define FILIGREE_PRECOMPILE_CONVERSION(KIND, Format, Scalar, SizeType)                                     \
  KIND struct Filigree::Impl::Conversion<                                                                  \
      Filigree::Impl::PrecompiledSpace, Filigree::Impl::precompiled_t<Filigree::Format, Scalar, SizeType>, \
      Filigree::Impl::precompiled_t<KokkosSparse::CrsMatrix, Scalar, SizeType>>;
#define FILIGREE_PRECOMPILE_CONVERSIONS(KIND, Scalar, SizeType) \
  FILIGREE_FOR_PRECOMPILED_FORMATS(FILIGREE_PRECOMPILE_CONVERSION, KIND, Scalar, SizeType)
FILIGREE_DECLARE_PRECOMPILED(FILIGREE_PRECOMPILE_CONVERSIONS)
