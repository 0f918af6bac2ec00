// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Support for typed tests over all formats: lists of types, conversions with test options, and
// the properties in which formats differ.
#pragma once

#include <gtest/gtest.h>

#include <filigree/check.hpp>
#include <filigree/convert.hpp>
#include <filigree/diagonal.hpp>
#include <filigree/formats.hpp>
#include <filigree/scaled.hpp>
#include <filigree/spmv.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "host_matrix.hpp"
#include "product.hpp"

namespace FiligreeTest {

/// The parameter of a typed test: a format, the types of its matrix, and the layout of x and y.
template <class Format, class Scalar_, class Layout_ = Kokkos::LayoutLeft, class Ordinal = int,
          class SizeType = int>
struct FormatCase {
  using Scalar = Scalar_;
  using Layout = Layout_;
  using Crs = FiligreeTest::Crs<Scalar, Ordinal, SizeType>;
  using Matrix = typename Format::template matrix<Scalar, Ordinal, Device, void, SizeType>;
  using Options = typename Filigree::MatrixTraits<Matrix>::options_type;
  using Traits = Filigree::MatrixTraits<Matrix>;

  /// Calls Filigree::convert to this format, on the default instance or on the given one.
  static Matrix convert_with(const Crs& crs, const Options& options) {
    return Filigree::convert<Format::template matrix>(crs, options);
  }
  /// Calls it for a CRS matrix that may differ from Crs in const and in memory traits.
  template <class Kind>
  static Matrix convert_kind(const Kind& crs, const Options& options) {
    return Filigree::convert<Format::template matrix>(crs, options);
  }
  /// Calls it for a result with another scalar type.
  template <class To, class Kind>
  static auto convert_to(const Kind& crs, const Options& options) {
    return Filigree::convert<Format::template matrix, To>(crs, options);
  }
  /// Calls Filigree::convert_scaled for a result with another scalar type.
  template <class To, class Kind>
  static auto convert_scaled_to(const Kind& crs, const Options& options) {
    return Filigree::convert_scaled<Format::template matrix, To>(crs, options);
  }
  static Matrix convert_with(const ExecutionSpace& exec, const Crs& crs, const Options& options) {
    return Filigree::convert<Format::template matrix>(exec, crs, options);
  }
};

template <class List, class Scalar, class Ordinal = int, class SizeType = int>
struct CasesOf;
template <class... Formats, class Scalar, class Ordinal, class SizeType>
struct CasesOf<Filigree::FormatList<Formats...>, Scalar, Ordinal, SizeType> {
  using both_layouts = testing::Types<FormatCase<Formats, Scalar, Kokkos::LayoutLeft, Ordinal, SizeType>...,
                                      FormatCase<Formats, Scalar, Kokkos::LayoutRight, Ordinal, SizeType>...>;
  using one_layout = testing::Types<FormatCase<Formats, Scalar, Kokkos::LayoutLeft, Ordinal, SizeType>...>;
};

/// The formats that can have a scalar type.
template <class Scalar>
using FormatsWith =
    std::conditional_t<std::is_same_v<Scalar, double>,
                       decltype(Filigree::Impl::joined(Filigree::AllFormats(), Filigree::SplitFormats())),
                       Filigree::AllFormats>;

/// All formats with a scalar type. AllCases has x and y of both layouts, AllFormatsOf only of LayoutLeft.
template <class Scalar>
using AllCases = typename CasesOf<FormatsWith<Scalar>, Scalar>::both_layouts;
template <class Scalar, class Ordinal = int, class SizeType = int>
using AllFormatsOf = typename CasesOf<FormatsWith<Scalar>, Scalar, Ordinal, SizeType>::one_layout;

/// The formats of double whose matrices need not be symmetric, with other integers.
template <class Ordinal = int, class SizeType = int>
using UnsymmetricFormatsOf = typename CasesOf<decltype(Filigree::Impl::joined(Filigree::GeneralFormats(),
                                                                              Filigree::DictionaryFormats(),
                                                                              Filigree::SplitFormats())),
                                              double, Ordinal, SizeType>::one_layout;

/// Names typed tests after their format and layout.
struct CaseName {
  template <class Case>
  static std::string GetName(int) {
    return std::string(Case::Traits::name()) +
           (std::is_same<typename Case::Layout, Kokkos::LayoutRight>::value ? "_right" : "_left");
  }
};

template <class Options, class = void>
constexpr bool has_block_size_v = false;
template <class Options>
constexpr bool has_block_size_v<Options, std::void_t<decltype(Options::block_size)>> = true;

template <class Matrix, class = void>
constexpr bool has_ell_part_v = false;
template <class Matrix>
constexpr bool has_ell_part_v<Matrix, std::void_t<decltype(Matrix::ell)>> = true;

/// Whether the values are stored as two halves.
template <class Matrix, class = void>
constexpr bool has_halves_v = false;
template <class Matrix>
constexpr bool has_halves_v<Matrix, std::void_t<decltype(Matrix::leading)>> = true;

/// Whether a format wraps a CRS matrix.
template <class Matrix, class = void>
constexpr bool has_crs_v = false;
template <class Matrix>
constexpr bool has_crs_v<Matrix, std::void_t<decltype(Matrix::crs)>> = true;

/// Options that allow any amount of padding. block_size is ignored if the format has none.
template <class Options>
Options any_padding(int block_size = 1, Options options = {}) {
  options.max_storage_ratio = 1e9;
  if constexpr (has_block_size_v<Options>) options.block_size = block_size;
  return options;
}

/// Options of a hybrid format whose ELL part has the given width.
template <class Options>
Options given_width(std::int64_t width) {
  Options options;
  options.width_rule = Filigree::HybridWidth::given;
  options.width = width;
  return options;
}

/// Options with which even a small matrix has several slices, parts or teams. With the options for users,
/// Filigree::variants_of, slices and teams are too large for that.
template <class Options>
std::vector<Filigree::NamedOptions<Options>> small_variants(const Options&) {
  return {};
}
inline std::vector<Filigree::NamedOptions<Filigree::EllOptions>> small_variants(const Filigree::EllOptions&) {
  std::vector<Filigree::NamedOptions<Filigree::EllOptions>> result(3);
  result[0].name = "ell, small teams";
  result[0].options.lanes_per_team = 32;
  result[1].name = "ell, large teams";
  result[1].options.lanes_per_team = 1024;
  result[2].name = "ellpack, four lanes per row, large teams";
  result[2].options.row_lengths = false;
  result[2].options.lanes_per_row = 4;
  result[2].options.lanes_per_team = 512;
  return result;
}
inline std::vector<Filigree::NamedOptions<Filigree::SellOptions>> small_variants(
    const Filigree::SellOptions&) {
  std::vector<Filigree::NamedOptions<Filigree::SellOptions>> result(5);
  for (auto& variant : result)
    variant.options.slice_height = 4;
  result[0].name = "sell, slices of 4 rows";
  result[1].name = "sell, slices of 4 rows, sorting window of 8";
  result[1].options.sorting_window = 8;
  result[2].name = "sell, slices of 4 rows, all rows sorted, 2 lanes per row, 16-bit columns";
  result[2].options.sorting_window = 0;
  result[2].options.lanes_per_row = 2;
  result[2].options.short_columns = true;
  result[3].name = "jds_ell, slices of up to 4 rows, 16-bit columns";
  result[3].options.sorting_window = 0;
  result[3].options.one_length_per_slice = true;
  result[3].options.short_columns = true;
  result[4].name = "sell, slices of one row";
  result[4].options.slice_height = 1;
  return result;
}
inline std::vector<Filigree::NamedOptions<Filigree::HybOptions>> small_variants(const Filigree::HybOptions&) {
  std::vector<Filigree::NamedOptions<Filigree::HybOptions>> result(3);
  for (int width = 1; width <= 3; ++width) {
    result[width - 1].name = "hyb, width " + std::to_string(width);
    result[width - 1].options = given_width<Filigree::HybOptions>(width);
  }
  return result;
}
inline std::vector<Filigree::NamedOptions<Filigree::HecOptions>> small_variants(const Filigree::HecOptions&) {
  std::vector<Filigree::NamedOptions<Filigree::HecOptions>> result(4);
  for (int width = 0; width <= 3; ++width) {
    result[width].name = "hec, width " + std::to_string(width);
    result[width].options = given_width<Filigree::HecOptions>(width);
    result[width].options.long_row = width == 1 ? 0 : 2;
  }
  return result;
}

/// The variants of the format for users, and the small ones for tests.
template <class Case>
std::vector<Filigree::NamedOptions<typename Case::Options>> all_variants() {
  using Options = typename Case::Options;
  auto result = Filigree::variants_of<Options>();
  for (const auto& variant : small_variants(Options()))
    result.push_back(variant);
  return result;
}

/// Whether the format can hold only symmetric and Hermitian matrices.
template <class Case>
constexpr bool is_symmetric_v = Case::Traits::is_symmetric;

/// Whether the format stores equal blocks once. refill() then refuses values that repeat less than before.
template <class Case>
constexpr bool has_dictionary_v = Case::Traits::has_dictionary;

/// A matrix that the format can hold: the given one, or for a symmetric format the Hermitian matrix that has
/// its entries on and above the diagonal.
template <class Case, class Scalar>
HostMatrix<Scalar> suited(const HostMatrix<Scalar>& host) {
  return is_symmetric_v<Case> ? mirrored(host, true) : host;
}

/// The matrix with other values that the format can hold and refill() accepts. For a dictionary, values that
/// were equal stay equal.
template <class Case, class Scalar>
HostMatrix<Scalar> suited_new_values(const HostMatrix<Scalar>& host, unsigned seed) {
  if (!has_dictionary_v<Case>) return suited<Case>(with_new_values(host, seed));
  HostMatrix<Scalar> result = host;
  for (auto& row : result.rows)
    for (auto& entry : row)
      entry.value *= Scalar(static_cast<float>(seed));
  return result;
}

/// A host matrix in the format, with default options apart from the block size and any amount of padding.
template <class Case>
typename Case::Matrix converted(const HostMatrix<typename Case::Scalar>& host, int block_size = 1) {
  return Case::convert_with(device_crs<typename Case::Crs>(host),
                            any_padding<typename Case::Options>(block_size));
}

/// The View of values of a matrix. For a hybrid that of its ELL part, for a wrapped CRS matrix that of this, for
/// split values that of their leading halves.
template <class Matrix>
auto values_of(const Matrix& A) {
  if constexpr (has_ell_part_v<Matrix>)
    return A.ell.values;
  else if constexpr (has_crs_v<Matrix>)
    return A.crs.values;
  else if constexpr (has_halves_v<Matrix>)
    return A.leading.values;
  else
    return A.values;
}

/// Converts the matrix to each variant of the format and calls visit(name, matrix).
template <class Case, class Visit>
void for_each_variant(const HostMatrix<typename Case::Scalar>& host, int block_size, const Visit& visit) {
  const auto crs = device_crs<typename Case::Crs>(host);
  for (const auto& variant : all_variants<Case>())
    visit(variant.name, Case::convert_with(crs, any_padding(block_size, variant.options)));
}

/// Whether a format multiplies whole blocks and needs a block size that divides the extents. Only BSR does.
template <class Case>
constexpr bool dense_blocks_v = has_block_size_v<typename Case::Options> && !Case::Traits::counts_nnz;

/// The largest block size to test of a format that has blocks. Blocked ELL allows no more than 8.
template <class Case>
int largest_block_size() {
  return std::is_same<typename Case::Options, Filigree::BellOptions>::value ? 8 : 20;
}

/// Whether to_crs returns the entries in their original order, with duplicates and zeros.
template <class Case>
constexpr bool keeps_entries_v = Case::Traits::keeps_entries;

/// Whether the format pads all rows to the longest one, so that a conversion refuses a matrix with one long
/// row.
template <class Case>
bool pads_all_rows() {
  const std::string name = Case::Traits::name();
  return name == "ell" || name == "dia" || name == "bell" || name.find("cds") != std::string::npos;
}

/// Whether the format is a class of Kokkos Kernels. Filigree::spmv passes these to KokkosSparse::spmv.
template <class Case>
constexpr bool is_kokkos_kernels_v = Filigree::Impl::is_kokkos_kernels_matrix_v<typename Case::Matrix>;

}  // namespace FiligreeTest
