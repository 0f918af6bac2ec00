// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typed tests over Filigree::AllFormats: the lists of types, the conversion that tests use, and what CRS and
// BSR, which are Kokkos Kernels' own, cannot do.
#ifndef FILIGREE_TEST_FORMATS_HPP
#define FILIGREE_TEST_FORMATS_HPP

#include <gtest/gtest.h>

#include <filigree/convert.hpp>
#include <filigree/formats.hpp>
#include <filigree/spmv.hpp>
#include <string>
#include <type_traits>

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
Options any_padding(int block_size = 1) {
  Options options;
  options.max_storage_ratio = 1e9;
  if constexpr (has_block_size_v<Options>) options.block_size = block_size;
  return options;
}

template <class Case>
typename Case::Matrix converted(const HostMatrix<typename Case::Scalar>& host, int block_size = 1) {
  return Case::convert_with(device_crs<typename Case::Crs>(host),
                            any_padding<typename Case::Options>(block_size));
}

/// Whether the blocks of a format are multiplied whole and must divide the matrix: BSR.
template <class Case>
constexpr bool dense_blocks_v = has_block_size_v<typename Case::Options> && !Case::Traits::counts_entries;

/// Whether the format keeps rows, duplicates and zeros as they came.
template <class Case>
constexpr bool keeps_entries_v = !has_block_size_v<typename Case::Options>;

/// Whether the format is a class of Kokkos Kernels, whose product is KokkosSparse::spmv behind the front
/// door.
template <class Case>
constexpr bool is_kokkos_kernels_v = Filigree::Impl::is_kokkos_kernels_matrix_v<typename Case::Matrix>;

/// The exceptions of BSR from the contract of spmv, all in one place: its product is KokkosSparse::spmv's
/// alone, which takes one scalar type for A, x and y and, with Kokkos Kernels 4.7, no LayoutStride.
template <class Case>
constexpr bool mixes_scalars_v = !dense_blocks_v<Case>;
template <class Case>
constexpr bool takes_layout_stride_v = !dense_blocks_v<Case>;

}  // namespace FiligreeTest

#endif
