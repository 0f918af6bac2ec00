// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with dense block diagonals that are stored by components: for each element of the blocks of a
// diagonal, the values of all block rows. CdsMatrix with CdsLayout::components and SymCdsMatrix use them.
#pragma once

#include "filigree/core/integer.hpp"
#include "filigree/product/operands.hpp"

namespace Filigree::Impl {

/// How the block that a block row multiplies is stored.
enum class BlockPlace {
  own,       ///< at this block row
  mirrored,  ///< transposed, at the block row whose elements of x it multiplies
  packed     ///< at this block row, but only the elements (i, j) with i <= j; the others are mirrored
};

/// The component of a b x b block that holds element (i, j). Packed blocks have the order of LAPACK's packed
/// upper triangles.
KOKKOS_FORCEINLINE_FUNCTION constexpr int block_component(BlockPlace place, int i, int j, int b) {
  if (place == BlockPlace::packed) return i <= j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j;
  return place == BlockPlace::own ? i * b + j : j * b + i;
}

/// Whether element (i, j) of a block is the mirror image of a stored element.
KOKKOS_FORCEINLINE_FUNCTION constexpr bool is_mirror_image(BlockPlace place, int i, int j) {
  return place == BlockPlace::mirrored || (place == BlockPlace::packed && i > j);
}

/// One block diagonal of a product. Block row R multiplies block R + shift of x.
template <class Scalar>
struct BlockTerm {
  const Scalar* values;  ///< component 0 of block row 0
  std::int64_t shift;
  BlockPlace place;

  /// The first of the values of element (i, j), so that the block of block row R has it at position R.
  KOKKOS_FORCEINLINE_FUNCTION const Scalar* element(int i, int j, int b, std::int64_t stride) const {
    return values + block_component(place, i, j, b) * stride +
           (place == BlockPlace::mirrored ? shift : std::int64_t(0));
  }
};

/// The block diagonals of a product with a full matrix: A, or its transpose if Transpose is true.
template <class Scalar_, class Ordinal_, bool Transpose, bool Conjugate>
struct FullBlockTerms {
  using Scalar = Scalar_;
  using Ordinal = Ordinal_;
  const Scalar* values;
  const Ordinal* offsets;
  std::int64_t diagonals;
  int block_size;
  std::int64_t stride;    ///< block rows of A: positions from one component to the next
  std::int64_t y_blocks;  ///< blocks of y
  std::int64_t x_blocks;  ///< blocks of x
  std::int64_t y_rows;    ///< rows of y. The last block may have more rows than that
  std::int64_t x_rows;    ///< rows of x

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return diagonals; }
  /// The values of the diagonal of term k. Terms ascend by their block of x.
  KOKKOS_FORCEINLINE_FUNCTION const Scalar* diagonal_of_term(std::int64_t k) const {
    return values + (Transpose ? diagonals - 1 - k : k) * block_size * block_size * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION BlockTerm<Scalar> term(std::int64_t k) const {
    const auto shift = static_cast<std::int64_t>(offsets[Transpose ? diagonals - 1 - k : k]);
    return {diagonal_of_term(k), Transpose ? -shift : shift,
            Transpose ? BlockPlace::mirrored : BlockPlace::own};
  }
  /// The value of element (i, j) of a term whose stored value is `value`.
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(BlockPlace, int, int, const Scalar& value) const {
    return conjugate_if<Conjugate>(value);
  }
};

/// The block diagonals of a product with a symmetric matrix of which only the upper part is stored: a packed
/// main diagonal, then the diagonals above it. ConjugateMirrored is whether the mirror image of an element is
/// its complex conjugate.
template <class Scalar_, class Ordinal_, bool Conjugate, bool ConjugateMirrored>
struct SymmetricBlockTerms {
  using Scalar = Scalar_;
  using Ordinal = Ordinal_;
  const Scalar* values;
  const Ordinal* offsets;  ///< offsets of the diagonals above the main one, ascending
  std::int64_t diagonals;  ///< their number
  int block_size;
  std::int64_t stride;
  std::int64_t y_blocks;
  std::int64_t x_blocks;
  std::int64_t y_rows;
  std::int64_t x_rows;

  KOKKOS_FORCEINLINE_FUNCTION const Scalar* diagonal(std::int64_t d) const {
    const int packed = block_size * (block_size + 1) / 2;
    return values + (packed + d * block_size * block_size) * stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return 2 * diagonals + 1; }
  KOKKOS_FORCEINLINE_FUNCTION BlockTerm<Scalar> term(std::int64_t k) const {
    if (k == diagonals) return {values, 0, BlockPlace::packed};
    const bool below = k < diagonals;
    const std::int64_t d = below ? diagonals - 1 - k : k - diagonals - 1;
    const auto shift = static_cast<std::int64_t>(offsets[d]);
    return {diagonal(d), below ? -shift : shift, below ? BlockPlace::mirrored : BlockPlace::own};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(BlockPlace place, int i, int j, const Scalar& value) const {
    return is_mirror_image(place, i, j) ? conjugate_if<Conjugate != ConjugateMirrored>(value)
                                        : conjugate_if<Conjugate>(value);
  }
};

/// The product on a host: one thread per team. It multiplies row i of the blocks of a tile of block rows,
/// for one i after the other, so that the values of each element of the blocks are a stream of memory and the
/// sums of the tile stay in the caches of the core.
template <class ExecutionSpace, class Terms, class Operands>
struct BlockTermsHostSpmv {
  using launch = ProductLaunch<ExecutionSpace, Operands>;
  using sums_type = typename Operands::sums_type;
  using accumulator_type = typename Operands::accumulator_type;
  using scalar_type = typename Terms::Scalar;
  /// Block rows of a tile. Their elements of x stay in the caches for all rows of the blocks.
  static constexpr int tile = 512;

  Terms terms;
  Operands operands;

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    Kokkos::parallel_for(name, launch::policy(exec, terms.y_blocks), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    const auto rows = launch::rows_of_team(team, terms.y_blocks);
    for (int i = 0; i < rows.count; i += tile)
      tile_product(rows.first + i, rows.count - i < tile ? rows.count - i : tile);
  }

  /// The product of the block rows first to first + count - 1.
  KOKKOS_INLINE_FUNCTION void tile_product(const std::int64_t first, const int count) const {
    const int b = terms.block_size;
    sums_type sums[tile];
    for (int i = 0; i < b; ++i) {
      for (int r = 0; r < count; ++r)
        for (int c = 0; c < Operands::most_columns; ++c)
          sums[r][c] = accumulator_type(0);
      for (std::int64_t k = 0; k < terms.count(); ++k)
        add_term(sums, first, count, terms.term(k), i);
      for (int r = 0; r < count && (first + r) * b + i < terms.y_rows; ++r)
        operands.store(sums[r], (first + r) * b + i);
    }
  }

  /// Adds row i of the blocks of one term.
  KOKKOS_INLINE_FUNCTION void add_term(sums_type* sums, const std::int64_t first, const int count,
                                       const BlockTerm<scalar_type>& term, const int i) const {
    const int b = terms.block_size;
    for (int j = 0; j < b; ++j) {
      // The block rows of the tile for which x has an element.
      const std::int64_t x_blocks = (terms.x_rows - j + b - 1) / b;
      const std::int64_t begin = first > -term.shift ? first : -term.shift;
      const std::int64_t end = first + count < x_blocks - term.shift ? first + count : x_blocks - term.shift;
      if (begin >= end) continue;
      const scalar_type* const value = term.element(i, j, b, terms.stride) + begin;
      const std::int64_t x_row = (begin + term.shift) * b + j;
      const auto is_mirrored = is_mirror_image(term.place, i, j);
      for (int c = 0; operands.has(c) && c < Operands::most_columns; ++c) {
        const auto* const x = &operands.x(x_row, c);
        if (b == 1 && operands.x.row_stride() == 1)
          add_element<true>(sums + (begin - first), value, x, end - begin, c, is_mirrored);
        else
          add_element<false>(sums + (begin - first), value, x, end - begin, c, is_mirrored);
      }
    }
  }

  /// Adds one element of the blocks of `count` block rows. It selects the factor and not the sum, because a
  /// compiler would branch to select the sum and use no vector registers.
  template <bool UnitStride, class X>
  KOKKOS_FORCEINLINE_FUNCTION void add_element(sums_type* KOKKOS_RESTRICT sums,
                                               const scalar_type* KOKKOS_RESTRICT value,
                                               const X* KOKKOS_RESTRICT x, const std::int64_t count,
                                               const int column, const bool is_mirrored) const {
    const BlockPlace place = is_mirrored ? BlockPlace::mirrored : BlockPlace::own;
    const std::int64_t x_stride = UnitStride ? 1 : operands.x.row_stride() * terms.block_size;
    for (std::int64_t r = 0; r < count; ++r) {
      const scalar_type a = terms.value(place, 0, 0, value[r]);
      const auto factor = widen<accumulator_type>(x[r * x_stride]);
      sums[r][column] += widen<accumulator_type>(a) * (a == scalar_type(0) ? decltype(factor)(0) : factor);
    }
  }
};

/// The product on a GPU for block sizes that are not compiled and for several columns of x: one lane per row.
/// Neighbouring lanes have the same row of neighbouring blocks.
template <class ExecutionSpace, class Terms, class Operands>
struct BlockTermsRowSpmv {
  using launch = ProductLaunch<ExecutionSpace, Operands>;
  using sums_type = typename Operands::sums_type;
  using scalar_type = typename Terms::Scalar;
  /// Elements of a block whose loads are in flight together.
  static constexpr int batch = 4;

  Terms terms;
  Operands operands;

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    Kokkos::parallel_for(name, launch::policy(exec, terms.y_blocks * terms.block_size), *this);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename launch::member_type& team) const {
    launch::for_each_row(team, terms.y_blocks * terms.block_size, [&](const std::int64_t item) {
      const auto i = static_cast<int>(item / terms.y_blocks);
      row_product(item - i * terms.y_blocks, i);
    });
  }

  KOKKOS_FORCEINLINE_FUNCTION void row_product(const std::int64_t block_row, const int i) const {
    const int b = terms.block_size;
    if (block_row * b + i >= terms.y_rows) return;
    sums_type sums = {};
    for (std::int64_t k = 0; k < terms.count(); ++k) {
      const BlockTerm<scalar_type> term = terms.term(k);
      const std::int64_t x_block = block_row + term.shift;
      if (x_block < 0 || x_block >= terms.x_blocks) continue;
      for (int first = 0; first < b; first += batch) {
        scalar_type values[batch];
        std::int64_t columns[batch];
        FILIGREE_UNROLL(4)
        for (int u = 0; u < batch; ++u) {
          const int j = first + u;
          const std::int64_t column = x_block * b + j;
          const bool exists = j < b && column < terms.x_rows;
          values[u] = exists ? terms.value(term.place, i, j, term.element(i, j, b, terms.stride)[block_row])
                             : scalar_type(0);
          columns[u] = exists ? column : terms.x_rows - 1;
        }
        operands.add_batch_unless_zero(sums, values, columns);
      }
    }
    operands.store(sums, block_row * b + i);
  }
};

/// What kernels with one lane per block row have in common. They have a compiled block size, and keep the b
/// sums of the block row in registers, so that each element of x is loaded once for b values.
template <class Terms_, class Operands_, int BlockSize>
struct BlockRowProduct {
  using Terms = Terms_;
  using Operands = Operands_;
  using scalar_type = typename Terms::Scalar;
  using ordinal_type = typename Terms::Ordinal;
  using x_type = typename Operands::x_type;
  using accumulator_type = typename Operands::accumulator_type;
  using block_sums_type = accumulator_type[BlockSize];
  using factors_type = x_type[BlockSize];

  Terms terms;
  Operands operands;

  /// The elements of a block of x. Elements after the end of x are any elements of x; their values are 0.
  KOKKOS_FORCEINLINE_FUNCTION void load_x(factors_type& factors, ordinal_type block) const {
    if constexpr (BlockSize == 1) {
      factors[0] = operands.x(block, 0);
      return;
    }
    // Unsigned, because a row after the last one can exceed the largest ordinal.
    using row_type = stored_row_t<ordinal_type>;
    const auto first = static_cast<row_type>(block) * BlockSize;
    const auto last = static_cast<row_type>(terms.x_rows - 1);
    FILIGREE_UNROLL(8)
    for (int j = 0; j < BlockSize; ++j)
      factors[j] = operands.x(static_cast<ordinal_type>(first + j < last ? first + j : last), 0);
  }

  /// Adds a block: sums += block * factors. `value` points to component 0 of the stored block. If Once is
  /// true, the kernel reads the values only here.
  template <BlockPlace Place, bool Once>
  KOKKOS_FORCEINLINE_FUNCTION void add_block(block_sums_type& sums, const scalar_type* KOKKOS_RESTRICT value,
                                             const factors_type& factors) const {
    FILIGREE_UNROLL(8)
    for (int p = 0; p < BlockSize; ++p)
      FILIGREE_UNROLL(8)
    for (int q = Place == BlockPlace::packed ? p : 0; q < BlockSize; ++q) {
      // The stored element is (p, q), apart from mirrored blocks, in which it is (q, p).
      constexpr BlockPlace stored = Place == BlockPlace::packed ? Place : BlockPlace::own;
      const scalar_type a = load<Once>(value + block_component(stored, p, q, BlockSize) * terms.stride);
      const int i = Place == BlockPlace::mirrored ? q : p;
      const int j = Place == BlockPlace::mirrored ? p : q;
      Operands::add_unless_zero(sums[i], terms.value(Place, i, j, a), factors[j]);
      if (Place == BlockPlace::packed && i != j)
        Operands::add_unless_zero(sums[j], terms.value(Place, j, i, a), factors[i]);
    }
  }

  template <bool Once>
  static KOKKOS_FORCEINLINE_FUNCTION scalar_type load(const scalar_type* value) {
    return Once ? load_once(value) : *value;
  }

  /// y = beta * y + alpha * sums for the rows of a block row.
  KOKKOS_FORCEINLINE_FUNCTION void store(const block_sums_type& sums, ordinal_type block_row) const {
    if constexpr (BlockSize == 1) {
      operands.store(sums[0], block_row, 0);
      return;
    }
    constexpr int pack = BlockSize % 2 == 0 && sizeof(typename Operands::y_type) <= 8 ? 2 : 1;
    for (int i = 0; i < BlockSize; i += pack) {
      const ordinal_type row = block_row * BlockSize + i;
      typename Operands::sums_type packed[pack];
      for (int r = 0; r < pack; ++r)
        packed[r][0] = sums[i + r];
      if (row + pack <= terms.y_rows)
        operands.store_rows(packed, row);
      else if (row < terms.y_rows)
        operands.store(packed[0], row);
    }
  }
};

/// The product with a full matrix on a GPU for one column of x: one lane per block of y.
template <class ExecutionSpace, class Terms, class Operands, int BlockSize, BlockPlace Place>
struct FullBlockRowSpmv : BlockRowProduct<Terms, Operands, BlockSize> {
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

  const scalar_type* first_term;  ///< values of term 0, see FullBlockTerms::term
  std::int64_t term_step;         ///< positions from the values of a term to those of the next
  const ordinal_type* first_offset;
  int count;  ///< number of terms
  ordinal_type x_blocks;

  FullBlockRowSpmv(const Terms& terms, const Operands& operands)
      : base{terms, operands},
        first_term(terms.diagonal_of_term(0)),
        term_step(terms.diagonal_of_term(1) - terms.diagonal_of_term(0)),
        first_offset(terms.offsets + (is_mirrored ? terms.diagonals - 1 : 0)),
        count(static_cast<int>(terms.diagonals)),
        x_blocks(static_cast<ordinal_type>(terms.x_blocks)) {}

  void launch_on(const ExecutionSpace& exec, const std::string& name) const {
    Kokkos::parallel_for(name, launch::policy(exec, this->terms.y_blocks), *this);
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

/// The product for any block size and number of columns of x: one lane per row on a GPU, a tile per thread on
/// a host.
template <class ExecutionSpace, class Terms, class Operands>
void block_terms_spmv(const ExecutionSpace& exec, const std::string& name, const Terms& terms,
                      const Operands& operands) {
  if constexpr (runs_on_gpu_v<ExecutionSpace>)
    BlockTermsRowSpmv<ExecutionSpace, Terms, Operands>{terms, operands}.launch_on(exec, name);
  else
    BlockTermsHostSpmv<ExecutionSpace, Terms, Operands>{terms, operands}.launch_on(exec, name);
}

}  // namespace Filigree::Impl
