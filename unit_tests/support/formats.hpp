// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed tests over Filigree::AllFormats: the lists of types, the conversion that tests use, and in what
// formats differ.
#ifndef FILIGREE_TEST_FORMATS_HPP
#define FILIGREE_TEST_FORMATS_HPP

#include <gtest/gtest.h>

#include <filigree/convert.hpp>
#include <filigree/formats.hpp>
#include <filigree/spmv.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "host_matrix.hpp"
#include "product.hpp"

namespace FiligreeTest {

/// One type of a typed test: a format with the types of its matrix and the layout of x and y.
template <class Format, class Scalar_, class Layout_ = Kokkos::LayoutLeft, class Ordinal = int,
          class SizeType = int>
struct FormatCase {
  using Scalar = Scalar_;
  using Layout = Layout_;
  using Crs = FiligreeTest::Crs<Scalar, Ordinal, SizeType>;
  using Matrix = typename Format::template matrix<Scalar, Ordinal, Device, void, SizeType>;
  using Options = typename Filigree::MatrixTraits<Matrix>::options_type;
  using Traits = Filigree::MatrixTraits<Matrix>;

  /// Filigree::convert to this format with the given options, on the default instance or on another.
  static Matrix convert_with(const Crs& crs, const Options& options) {
    return Filigree::convert<Format::template matrix>(crs, options);
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

/// All formats with a scalar type, for x and y of both layouts or of LayoutLeft alone.
template <class Scalar>
using AllCases = typename CasesOf<Filigree::AllFormats, Scalar>::both_layouts;
template <class Scalar, class Ordinal = int, class SizeType = int>
using AllFormatsOf = typename CasesOf<Filigree::AllFormats, Scalar, Ordinal, SizeType>::one_layout;

/// Gives typed tests the name of their format.
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

/// Options that refuse no amount of padding; block_size is for the formats that have one.
template <class Options>
Options any_padding(int block_size = 1, Options options = {}) {
  options.max_storage_ratio = 1e9;
  if constexpr (has_block_size_v<Options>) options.block_size = block_size;
  return options;
}

/// Options that make a small matrix of several slices, parts or teams, which those of users do not.
template <class Options>
std::vector<Filigree::NamedOptions<Options>> small_variants(const Options&) {
  return {};
}
inline std::vector<Filigree::NamedOptions<Filigree::EllOptions>> small_variants(const Filigree::EllOptions&) {
  std::vector<Filigree::NamedOptions<Filigree::EllOptions>> result(3);
  result[0].name = "ell of small teams";
  result[0].options.lanes_per_team = 32;
  result[1].name = "ell of large teams";
  result[1].options.lanes_per_team = 1024;
  result[2].name = "ellpack of four lanes a row, large teams";
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
  result[0].name = "sell of 4 rows";
  result[1].name = "sell of 4 rows, windows of 8";
  result[1].options.sorting_window = 8;
  result[2].name = "sell of 4 rows, all sorted, 2 lanes, short";
  result[2].options.sorting_window = 0;
  result[2].options.lanes_per_row = 2;
  result[2].options.short_columns = true;
  result[3].name = "jds_ell of up to 4 rows, short";
  result[3].options.sorting_window = 0;
  result[3].options.one_length_per_slice = true;
  result[3].options.short_columns = true;
  result[4].name = "sell of single rows";
  result[4].options.slice_height = 1;
  return result;
}
inline std::vector<Filigree::NamedOptions<Filigree::HybOptions>> small_variants(const Filigree::HybOptions&) {
  std::vector<Filigree::NamedOptions<Filigree::HybOptions>> result(3);
  for (int width = 1; width <= 3; ++width) {
    result[width - 1].name = "hyb of width " + std::to_string(width);
    result[width - 1].options.width_rule = Filigree::HybridWidth::given;
    result[width - 1].options.width = width;
  }
  return result;
}
inline std::vector<Filigree::NamedOptions<Filigree::HecOptions>> small_variants(const Filigree::HecOptions&) {
  std::vector<Filigree::NamedOptions<Filigree::HecOptions>> result(4);
  for (int width = 0; width <= 3; ++width) {
    result[width].name = "hec of width " + std::to_string(width);
    result[width].options.width_rule = Filigree::HybridWidth::given;
    result[width].options.width = width;
    result[width].options.long_row = width == 1 ? 0 : 2;
  }
  return result;
}

/// Every way to make a matrix of this format that is worth a test.
template <class Case>
std::vector<Filigree::NamedOptions<typename Case::Options>> all_variants() {
  using Options = typename Case::Options;
  auto result = Filigree::variants_of<Options>();
  for (const auto& variant : small_variants(Options()))
    result.push_back(variant);
  return result;
}

template <class Case>
typename Case::Matrix converted(const HostMatrix<typename Case::Scalar>& host, int block_size = 1) {
  return Case::convert_with(device_crs<typename Case::Crs>(host),
                            any_padding<typename Case::Options>(block_size));
}

/// Calls visit(name, matrix) for the matrix in all variants of the format.
template <class Case, class Visit>
void for_each_variant(const HostMatrix<typename Case::Scalar>& host, int block_size, const Visit& visit) {
  const auto crs = device_crs<typename Case::Crs>(host);
  for (const auto& variant : all_variants<Case>())
    visit(variant.name, Case::convert_with(crs, any_padding(block_size, variant.options)));
}

/// Whether the blocks of a format are multiplied whole and must divide the matrix: BSR.
template <class Case>
constexpr bool dense_blocks_v = has_block_size_v<typename Case::Options> && !Case::Traits::counts_nnz;

/// The largest block size of a format that has blocks.
template <class Case>
int largest_block_size() {
  return std::is_same<typename Case::Options, Filigree::BellOptions>::value ? 8 : 20;
}

/// Whether the format keeps rows, duplicates and zeros as they came.
template <class Case>
constexpr bool keeps_entries_v = Case::Traits::keeps_entries;

/// The View of values of a matrix; for a hybrid format, of its ELL part.
template <class Matrix, class = void>
constexpr bool has_ell_part_v = false;
template <class Matrix>
constexpr bool has_ell_part_v<Matrix, std::void_t<typename Matrix::ell_type>> = true;
template <class Matrix>
auto stored_values(const Matrix& A) {
  if constexpr (has_ell_part_v<Matrix>)
    return A.ell.values;
  else
    return A.values;
}

/// Whether one long row makes every row long: the conversion then refuses the matrix.
template <class Case>
bool pads_all_rows() {
  const std::string name = Case::Traits::name();
  return name == "ell" || name == "dia" || name == "cds" || name == "bell";
}

/// Whether the format is a class of Kokkos Kernels, whose product is KokkosSparse::spmv behind the front
/// door.
template <class Case>
constexpr bool is_kokkos_kernels_v = Filigree::Impl::is_kokkos_kernels_matrix_v<typename Case::Matrix>;

}  // namespace FiligreeTest

#endif
