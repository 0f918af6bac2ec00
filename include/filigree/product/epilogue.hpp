// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a product does with the sum of a row: it updates y, or it calls a function. All kernels hand finished sums
// to ProductOperands, whose member y is a MultiVector in the first case and an Epilogue in the second.
#pragma once

#include "filigree/core/scalar.hpp"
#include "filigree/product/multi_vector.hpp"

namespace Filigree::Impl {

template <class Partial>
class Reduction;

/// Stands for y in a product whose row sums go to a function. Sums have at least the precision of Scalar. If
/// Partial is void, the product calls function(row, column, sum), else function(row, column, sum, partial), where
/// `partial` collects what the rows of this lane add to a reduction (see reduce_product.hpp).
template <class Function, class Scalar, class Partial = void>
struct Epilogue {
  using value_type = Scalar;
  using partial_type = Partial;
  static constexpr bool reduces = !std::is_void_v<Partial>;

  Function function;
  int first_column = 0;                     ///< the column of x that a kernel calls column 0
  Reduction<Partial>* reduction = nullptr;  ///< on the host
  Partial* partial = nullptr;               ///< of this lane; set inside of the kernel

  template <class Sum>
  KOKKOS_FORCEINLINE_FUNCTION void finish(std::int64_t row, int column, const Sum& sum) const {
    if constexpr (reduces)
      function(row, first_column + column, sum, *partial);
    else
      function(row, first_column + column, sum);
  }
  KOKKOS_FORCEINLINE_FUNCTION Epilogue from_column(std::int64_t column) const {
    return {function, first_column + static_cast<int>(column), reduction, partial};
  }
};

/// What the type parameter Y of a product stands for. Y is the scalar type of y or an Epilogue.
template <class Y>
struct ProductTarget {
  using vector_type = MultiVector<Y>;  ///< of the member y
  using scalar_type = Y;               ///< sums have at least its precision
  static constexpr bool is_in_memory = true;
};
template <class Function, class Scalar, class Partial>
struct ProductTarget<Epilogue<Function, Scalar, Partial>> {
  using vector_type = Epilogue<Function, Scalar, Partial>;
  using scalar_type = Scalar;
  static constexpr bool is_in_memory = false;
};

/// Whether the member y of the operands of a product is an Epilogue that reduces.
template <class Target>
constexpr bool target_reduces = false;
template <class Function, class Scalar, class Partial>
constexpr bool target_reduces<Epilogue<Function, Scalar, Partial>> =
    Epilogue<Function, Scalar, Partial>::reduces;

/// An Epilogue has no elements in memory that would have to be neighbours.
template <int Count, class Function, class Scalar, class Partial>
bool is_row_major(const Epilogue<Function, Scalar, Partial>&) {
  return true;
}

}  // namespace Filigree::Impl
