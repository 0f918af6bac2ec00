// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/integer.hpp"
#include "filigree/core/load_once.hpp"
#include "filigree/formats/cds/cds_spmv_common.hpp"

namespace Filigree::Impl {

/// The elements of a row of a CDS matrix with b = 1: one per diagonal. Product is its CdsProduct.
template <class Product>
struct DiagonalEntries {
  using ordinal_type = typename Product::ordinal_type;

  const Product& product;
  ordinal_type row;
  int count;

  KOKKOS_FORCEINLINE_FUNCTION auto value_once(int k) const {
    return load_once(product.values + (k * product.value_stride() + row));
  }
  /// The column of element k, or that of the last element if there is no element k.
  KOKKOS_FORCEINLINE_FUNCTION ordinal_type column(int k) const {
    return product.template block_column<true>(row, k < count ? k : count - 1);
  }
};

/// The layout of a CDS matrix with b = 1 for SharedEntriesProduct.
template <class Product>
struct DiagonalRows {
  using scalar_type = typename Product::scalar_type;
  using ordinal_type = typename Product::ordinal_type;
  using stored_row_type = stored_row_t<ordinal_type>;
  static constexpr bool stores_columns = false;

  Product product;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t stored_row_count() const { return product.rows; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t matrix_row(std::int64_t i) const { return i; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }

  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_row_of_group(stored_row_type i, const Visit& visit) const {
    visit(DiagonalEntries<Product>{product, static_cast<ordinal_type>(i),
                                   static_cast<int>(product.block_count())});
  }
  KOKKOS_FORCEINLINE_FUNCTION int length_of_row(stored_row_type, int count) const { return count; }
};

}  // namespace Filigree::Impl
