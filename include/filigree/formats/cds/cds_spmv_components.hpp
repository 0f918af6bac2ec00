// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/block_size.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"
#include "filigree/product/block_row_product.hpp"

namespace Filigree::Impl {

/// The block diagonals of a product with a CDS matrix with CdsLayout::components, or with its transpose if
/// Transpose is true (see product/block_terms.hpp).
template <class Scalar_, class Ordinal_, bool Transpose, bool Conjugate>
struct CdsTerms : BlockTerms<Scalar_, Ordinal_> {
  using Scalar = Scalar_;
  using BlockTerms<Scalar_, Ordinal_>::diagonals;

  template <class Matrix>
  explicit CdsTerms(const Matrix& A) : BlockTerms<Scalar_, Ordinal_>(A, Transpose) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return diagonals; }
  /// The values of the diagonal of term k. Terms ascend by their block of x.
  KOKKOS_FORCEINLINE_FUNCTION const Scalar* diagonal_of_term(std::int64_t k) const {
    const std::int64_t d = Transpose ? diagonals - 1 - k : k;
    return this->values + d * this->block_size * this->block_size * this->stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION BlockTerm<Scalar> term(std::int64_t k) const {
    const auto shift = static_cast<std::int64_t>(this->offsets[Transpose ? diagonals - 1 - k : k]);
    return {diagonal_of_term(k), Transpose ? -shift : shift,
            Transpose ? BlockPlace::mirrored : BlockPlace::own};
  }
  /// The value of element (i, j) of a term whose stored value is `value`.
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(BlockPlace, int, int, const Scalar& value) const {
    return conjugate_if<Conjugate>(value);
  }
};

/// The product on a GPU for one column of x: one lane per block of y.
template <class ExecutionSpace, class Terms, class Operands, int BlockSize, BlockPlace Place>
struct CdsBlockRowSpmv : BlockRowProduct<Terms, Operands, BlockSize> {
  using base = BlockRowProduct<Terms, Operands, BlockSize>;
  using typename base::block_sums_type;
  using typename base::factors_type;
  using typename base::ordinal_type;
  using typename base::scalar_type;
  /// Lanes that a multiprocessor must be able to run. More lanes would leave too few registers per lane for
  /// the sums and for the loads that keep the memory busy.
  static constexpr int lanes = BlockSize <= 2 ? 1024 : 512;
  using launch = RowLaunch<ExecutionSpace, 256, lanes / 256>;
  /// Diagonals whose loads are in flight together: about eight values.
  static constexpr int batch = BlockSize < 4 ? 8 / BlockSize : 1;
  static constexpr bool is_mirrored = Place == BlockPlace::mirrored;

  const scalar_type* first_term;  ///< values of term 0, see CdsTerms::term
  std::int64_t term_step;         ///< positions from the values of a term to those of the next
  const ordinal_type* first_offset;
  int count;  ///< number of terms
  ordinal_type x_blocks;

  CdsBlockRowSpmv(const Terms& terms, const Operands& operands)
      : base{terms, operands},
        first_term(terms.diagonal_of_term(0)),
        term_step(terms.diagonal_of_term(1) - terms.diagonal_of_term(0)),
        first_offset(terms.offsets + (is_mirrored ? terms.diagonals - 1 : 0)),
        count(static_cast<int>(terms.diagonals)),
        x_blocks(static_cast<ordinal_type>(terms.x_blocks)) {}

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    launch_product(exec, name, launch::policy(exec, this->terms.y_blocks), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, this->terms.y_blocks, [&](const std::int64_t block_row) {
      block_row_product(static_cast<ordinal_type>(block_row));
    });
  }

  KOKKOS_FORCEINLINE_FUNCTION void block_row_product(const ordinal_type block_row) const {
    block_sums_type sums;
    FILIGREE_UNROLL(8)
    for (int i = 0; i < BlockSize; ++i)
      sums[i] = typename base::accumulator_type(0);
    int k = 0;
    FILIGREE_UNROLL(1)
    for (; k + batch <= count; k += batch)
      FILIGREE_UNROLL(8)
    for (int u = 0; u < batch; ++u)
      add_term(sums, block_row, k + u);
    FILIGREE_UNROLL(1)
    for (; k < count; ++k)
      add_term(sums, block_row, k);
    this->store(sums, block_row);
  }

  /// Adds term k. A block outside of the matrix holds only zeros: it is not mirrored, and its factors are any.
  KOKKOS_FORCEINLINE_FUNCTION void add_term(block_sums_type& sums, const ordinal_type block_row,
                                            const int k) const {
    const scalar_type* const values = first_term + k * term_step;
    const ordinal_type offset = is_mirrored ? -first_offset[-k] : first_offset[k];
    const bool is_inside = offset >= -block_row && offset < x_blocks - block_row;
    if (is_mirrored && !is_inside) return;
    const ordinal_type x_block = is_inside ? block_row + offset : 0;
    factors_type factors;
    this->load_x(factors, x_block);
    this->template add_block<Place, true>(sums, values + (is_mirrored ? x_block : block_row), factors);
  }
};

/// The product of a matrix with CdsLayout::components. The arguments are checked, and A has entries.
template <bool Transpose, bool Conjugate, class ExecutionSpace, class S, class O, class D, class M, class Z,
          class Operands>
void component_spmv(const ExecutionSpace& exec, const std::string& name, const CdsMatrix<S, O, D, M, Z>& cds,
                    const Operands& operands) {
  using Terms = CdsTerms<S, O, Transpose, Conjugate>;
  const Terms terms(cds);
  constexpr bool has_block_row_kernel = runs_on_gpu_v<ExecutionSpace> && Operands::most_columns == 1;
  with_block_size<has_block_row_kernel ? largest_compiled_block_size : 0>(
      cds.block_size(), [&](auto block_size) {
        constexpr int size = decltype(block_size)::value;
        constexpr BlockPlace place = Transpose ? BlockPlace::mirrored : BlockPlace::own;
        if constexpr (size > 1)
          CdsBlockRowSpmv<ExecutionSpace, Terms, Operands, size, place>(terms, operands)
              .launch_on(exec, name);
        else
          block_terms_spmv(exec, name, terms, operands);
      });
}

}  // namespace Filigree::Impl
