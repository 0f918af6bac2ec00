// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x, y, alpha and beta of a product, as its kernels see them, and which columns of x and y a lane has.
#pragma once

#include "filigree/core/load_once.hpp"
#include "filigree/core/mode.hpp"
#include "filigree/product/epilogue.hpp"
#include "filigree/product/scale.hpp"
#include "filigree/product/scaling.hpp"
#include "filigree/product/store_sums.hpp"

namespace Filigree::Impl {

/// The most columns of x that one launch multiplies, reading A once.
constexpr int multi_vector_columns = 16;

/// What a kernel knows about the columns of x and y when it is compiled.
enum class ColumnAccess {
  any,        ///< up to Columns columns with any strides
  exact,      ///< exactly Columns columns with any strides. If x is in memory, rows_are_near() holds for it
  row_major,  ///< for a GPU: Columns columns per lane, which are neighbours in memory. Other lanes have the
              ///< other columns, see ProductOperands::of_column_lane(). packs_are_near<Columns>() holds for x
  row_major_alternating  ///< as row_major, but some lanes load the second half of their columns first, see
                         ///< ProductOperands::with_alternating_halves()
};

/// x, y, alpha and beta of y = beta*y + alpha*op(A)*x, for Columns columns of x and y as ColumnAccess says.
/// spmv() makes them and hands them to the kernels of every format. Scalar is the scalar type of A. Y is that of
/// y, or an Epilogue that gets the sums instead of y. Scaling is NoScaling or PowerScaling. docs/performance.md,
/// "Several columns of x on a GPU", compares the kinds of access.
template <class Scalar, class X, class Y, int Columns, class Scaling = NoScaling,
          ColumnAccess Access = ColumnAccess::any>
struct ProductOperands : Scaling {
  using y_vector = typename ProductTarget<Y>::vector_type;
  using y_type = typename ProductTarget<Y>::scalar_type;
  /// Whether sums update a y in memory, and do not go to an Epilogue.
  static constexpr bool y_is_in_memory = ProductTarget<Y>::is_in_memory;
  using accumulator_type = wider_t<Scalar, X, y_type>;
  using x_vector = typename Scaling::template x_vector<X, accumulator_type>;
  using x_type = typename x_vector::value_type;
  /// A pointer to an element of x, or what stands for it.
  using x_pointer = typename x_vector::pointer_type;
  /// Whether kernels may load several elements of x at once from memory.
  static constexpr bool x_is_in_memory = std::is_same_v<Scaling, NoScaling>;
  static constexpr int most_columns = Columns;
  /// Whether the operands come from with_alternating_halves().
  static constexpr bool alternates_halves = Access == ColumnAccess::row_major_alternating;
  /// Whether several lanes multiply the columns of x of one row.
  static constexpr bool has_column_lanes = Access == ColumnAccess::row_major || alternates_halves;
  /// Whether the kernel, or one lane if has_column_lanes, has exactly Columns columns.
  static constexpr bool is_exact = Access != ColumnAccess::any || Columns == 1;
  /// Whether kernels find elements of x by near_offset(). Then rows_are_near() holds for x.
  static constexpr bool has_exact_offsets = Access == ColumnAccess::exact && x_is_in_memory;
  /// The sums of one row, one per column of x.
  using sums_type = accumulator_type[Columns];

  x_vector x;
  y_vector y;
  int columns;
  accumulator_type alpha;
  accumulator_type beta;
  /// Of a column lane: the column of its first sum, counted from the first of the launch, see column_of_sum().
  int first_column_of_lane = 0;

  /// with_mode() for the modes that the product can have: with an Epilogue N and C, else all.
  template <class Visit>
  static void with_mode(Mode mode, const Visit& visit) {
    if constexpr (y_is_in_memory)
      Impl::with_mode<Scalar>(mode, visit);
    else
      with_conjugate<Scalar>(mode, [&](auto conjugate) { visit(std::false_type(), conjugate); });
  }

  /// Whether this launch has the given column of x. If is_exact, that is known at compile time.
  KOKKOS_FORCEINLINE_FUNCTION bool has(int column) const { return is_exact || column < columns; }

  /// The same operands. If UnitStride is true, x must have unit stride, and the compiler knows it. An address
  /// with a stride that the compiler does not know takes a host more instructions.
  template <bool UnitStride>
  KOKKOS_FORCEINLINE_FUNCTION ProductOperands with_stride() const {
    ProductOperands result = *this;
    if (UnitStride) result.x.row_bytes = static_cast<int>(sizeof(X));
    return result;
  }

  /// The same operands. Requires that y is in memory and has unit stride, which the compiler then knows. If the stride
  /// of y is known at run time only, GCC stores neighbouring rows with scatter instructions.
  KOKKOS_FORCEINLINE_FUNCTION ProductOperands with_unit_stride_of_y() const {
    ProductOperands result = *this;
    result.y.row_bytes = static_cast<int>(sizeof(y_type));
    return result;
  }

  /// The same operands with ColumnAccess::any. For kernels that would not gain by another access, so that
  /// fewer of them are compiled.
  ProductOperands<Scalar, X, Y, Columns == 1 ? 1 : multi_vector_columns, Scaling> with_any_count() const {
    return {static_cast<const Scaling&>(*this), x, y, columns, alpha, beta};
  }

  /// The columns of x and y from `first` on, at most Most of them. If is_exact, `first` is a multiple of
  /// Most.
  template <int Most>
  KOKKOS_FORCEINLINE_FUNCTION auto from_column(int first) const {
    static_assert(!has_column_lanes, "A column lane has all of its columns in of_column_lane().");
    constexpr bool exact = is_exact && Columns % Most == 0;
    using Result =
        ProductOperands<Scalar, X, Y, Most, Scaling, exact ? ColumnAccess::exact : ColumnAccess::any>;
    return Result{static_cast<const Scaling&>(*this),
                  x.from_column(first),
                  y.from_column(first),
                  columns - first < Most ? columns - first : Most,
                  alpha,
                  beta};
  }

  /// The operands of a launch, for lanes with Count columns each instead of Columns. Requires packs_are_near<Count>()
  /// of x.
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION auto with_columns_per_lane() const {
    static_assert(has_column_lanes && Columns % Count == 0,
                  "Count must divide Columns, so that packs stay aligned.");
    static_assert(!alternates_halves, "The halves would have another size.");
    return ProductOperands<Scalar, X, Y, Count, Scaling, Access>{
        static_cast<const Scaling&>(*this), x, y, columns, alpha, beta};
  }

  /// The operands of a launch whose lanes may begin with the second half of their columns, see of_column_lane(). A lane
  /// loads its columns of a row of x in two halves, of 16 bytes each. With 16 columns of 8 bytes, eight neighbouring
  /// lanes have two rows. If all of them load the first half first, they all need the same banks of the first-level
  /// cache, which then delivers one row after the other. If four of the lanes begin with the second half, it delivers
  /// both rows at once (see docs/performance.md, "Halves of columns in turns"). With 8 columns the lanes have four rows of half the size. If a half does not have 16 bytes, the
  /// operands stay as they are. Requires packs_are_near<Columns / 2>() of x.
  KOKKOS_FORCEINLINE_FUNCTION auto with_alternating_halves() const {
    if constexpr (Access == ColumnAccess::row_major && Columns * sizeof(X) == 32 && x_is_in_memory &&
                  y_is_in_memory)
      return ProductOperands<Scalar, X, Y, Columns, Scaling, ColumnAccess::row_major_alternating>{
          static_cast<const Scaling&>(*this), x, y, columns, alpha, beta};
    else
      return *this;
  }

  /// The columns of x are spread over 2^log2_column_lanes() lanes. It is 0 unless has_column_lanes.
  KOKKOS_FORCEINLINE_FUNCTION int log2_column_lanes() const {
    static_assert(!has_column_lanes || multi_vector_columns <= 4 * Columns, "Four lanes have all columns.");
    if (!has_column_lanes) return 0;
    return columns > 2 * Columns ? 2 : columns > Columns ? 1 : 0;
  }
  /// The operands of one of these lanes, which has the columns from lane * Columns on. Its y begins with the first
  /// of them, but its x is that of the launch: for_each_column() and load_row_of_lane() find the columns. A lane can
  /// begin with the second half of its columns only if alternates_halves.
  KOKKOS_FORCEINLINE_FUNCTION ProductOperands of_column_lane(int lane,
                                                             bool begins_with_second_half = false) const {
    static_assert(has_column_lanes, "Other kernels take first_column_of_lane as 0.");
    ProductOperands result = *this;
    result.first_column_of_lane =
        lane * Columns + (alternates_halves && begins_with_second_half ? Columns / 2 : 0);
    result.y = y.from_column(lane * Columns);
    result.columns = Columns;
    return result;
  }
  /// The elements of a row of x in the columns of such a lane. Requires packs_are_near() of x.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION Pack<x_type, Columns> load_row_of_lane(Row row) const {
    static_assert(!alternates_halves, "load_row_pair_of_lane() loads halves.");
    return reinterpret_cast<const Pack<x_type, Columns>*>(x.data)[pack_of_lane<Columns>(row)];
  }
  /// The elements of two rows of x, rows[0] and rows[1], in the columns of such a lane, if alternates_halves.
  /// loaded[r].values[c] is for sums[c]. If exists(r) is false, rows[r] may be any number, and x is not read for it: 0
  /// stands for its elements. A lane loads its first half of both rows. Then it changes both addresses to those of the
  /// other halves, and loads these. That takes fewer registers than four addresses (see
  /// docs/performance.md, "Halves of columns in turns").
  template <class Row, class Exists>
  KOKKOS_FORCEINLINE_FUNCTION void load_row_pair_of_lane(Pack<x_type, Columns>* const loaded,
                                                         const Row* const rows, const Exists& exists) const {
    static_assert(alternates_halves, "load_row_of_lane() loads whole packs.");
    constexpr int size = Columns / 2;
    using half_type = Pack<x_type, size>;
    std::uintptr_t addresses[2];
    for (int r = 0; r < 2; ++r)
      addresses[r] = reinterpret_cast<std::uintptr_t>(x.data) +
                     static_cast<std::uintptr_t>(pack_of_lane<size>(rows[r])) * sizeof(half_type);
    FILIGREE_UNROLL(2)
    for (int h = 0; h < 2; ++h)
      for (int r = 0; r < 2; ++r) {
        half_type half = {};
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an integer can be changed in place.
        if (exists(r)) half = *reinterpret_cast<const half_type*>(addresses[r]);
        for (int c = 0; c < size; ++c)
          loaded[r].values[h * size + c] = half.values[c];
        // Two halves together are aligned to their bytes, see is_row_major(). So their addresses differ in one bit.
        addresses[r] ^= sizeof(half_type);
      }
  }

  /// The column of x of sums[c], counted from the first column of the launch. Without column lanes the compiler knows
  /// it, so that kernels have less code.
  KOKKOS_FORCEINLINE_FUNCTION int column_of_sum(int c) const {
    return alternates_halves ? first_column_of_lane ^ c : (has_column_lanes ? first_column_of_lane : 0) + c;
  }
  /// The sum of column c, counted from the first column of a column lane. It returns a value: with a reference the
  /// compiler keeps the sums in memory instead of registers (see docs/performance.md, "Halves of columns in turns").
  KOKKOS_FORCEINLINE_FUNCTION accumulator_type sum_of_lane_column(const sums_type& sums, int c) const {
    const bool begins_with_second_half = alternates_halves && first_column_of_lane % Columns != 0;
    return begins_with_second_half ? sums[c ^ (Columns / 2)] : sums[c];
  }

  /// Columns of x whose loads are in flight together.
  static constexpr int column_group = 4;

  /// Calls visit(c, column) for c = 0 to Columns - 1, where c is the index of a sum and column the column of
  /// x to load. If there is no column c, the last column is loaded instead, so that no load waits for a
  /// branch. That sum is never stored. Groups without any column are left out.
  template <int First = 0, class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_column(const Visit& visit) const {
    if constexpr (First < Columns) {
      if (First > 0 && !has(First)) return;
      FILIGREE_UNROLL(4)
      for (int c = First; c < Columns && c < First + column_group; ++c)
        visit(c, has(c) ? column_of_sum(c) : columns - 1);
      for_each_column<First + column_group>(visit);
    }
  }

  /// sums += a * x(row, :)
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void add(sums_type& sums, const Scalar& a, Row row) const {
    const auto wide_a = widen<accumulator_type>(a);
    for_each_column([&](int c, int column) { sums[c] += wide_a * widen<accumulator_type>(x(row, column)); });
  }

  /// sums += a * x(row, :), unless a is 0. For dense formats, in which a zero may be padding, which must not
  /// read x.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void add_unless_zero(sums_type& sums, const Scalar& a, Row row) const {
    for_each_column([&](int c, int column) { add_unless_zero(sums[c], a, x(row, column)); });
  }

  /// sum += a * factor, unless a is 0. It selects one of two sums and does not branch, so that the load of x
  /// does not wait for the load of a.
  KOKKOS_FORCEINLINE_FUNCTION static void add_unless_zero(accumulator_type& sum, const Scalar& a,
                                                          const x_type& factor) {
    accumulator_type with_product = sum;
    with_product += widen<accumulator_type>(a) * widen<accumulator_type>(factor);
    sum = a == Scalar(0) ? sum : with_product;
  }

  /// sum += a * factor. Unless AddsPadding is true, an `a` of 0, which may be padding, adds nothing. A kernel that adds
  /// padding must check its sums with has_nan().
  template <bool AddsPadding>
  KOKKOS_FORCEINLINE_FUNCTION static void add_product(accumulator_type& sum, const Scalar& a,
                                                      const x_type& factor) {
    if constexpr (AddsPadding)
      sum += widen<accumulator_type>(a) * widen<accumulator_type>(factor);
    else
      add_unless_zero(sum, a, factor);
  }

  /// add_unless_zero() for a host. It selects the factor and not the sum. To select the sum, a compiler would
  /// branch and use no vector registers, because a product that is not needed could trap.
  template <class Factor>
  KOKKOS_FORCEINLINE_FUNCTION static void add_unless_zero_on_host(accumulator_type& sum, const Scalar& a,
                                                                  const Factor& factor) {
    sum += widen<accumulator_type>(a) * (a == Scalar(0) ? Factor(0) : factor);
  }

  /// Whether a sum is NaN. A kernel that adds the products of padding, which are 0 * x, checks its sums with this.
  /// Without a NaN they are right: 0 * x changes more than the sign of a zero only if x is Inf or NaN. With a NaN the
  /// kernel must multiply the row again without padding. Mostly that is rare, and the additions need no test of their
  /// own (see docs/performance.md, "Padding that is added"). A compiler must not assume that there is no NaN.
  KOKKOS_FORCEINLINE_FUNCTION static bool has_nan(const sums_type& sums) {
    bool result = false;
    for (const accumulator_type& sum : sums)
      result = result || sum != sum;
    return result;
  }

  /// a * x(row, column)
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION accumulator_type product(const Scalar& a, Row row, int column) const {
    static_assert(!has_column_lanes, "x of a column lane begins with the first column of the launch.");
    return accumulator_type(widen<accumulator_type>(a) * widen<accumulator_type>(x(row, column)));
  }

  /// y(column, :) += alpha * a * x(row, :) with atomics, for modes T and H. y must have been scaled before.
  KOKKOS_FORCEINLINE_FUNCTION void scatter(std::int64_t row, const Scalar& a, std::int64_t column) const {
    static_assert(y_is_in_memory, "An Epilogue gets whole sums only.");
    static_assert(!has_column_lanes, "x of a column lane begins with the first column of the launch.");
    const auto wide_a = widen<accumulator_type>(a);
    for (int c = 0; c < columns; ++c)
      atomic_add(&y(column, c),
                 convert_scalar<Y>(this->scaled_sum(
                     times(alpha, accumulator_type(wide_a * widen<accumulator_type>(x(row, c)))), column)));
  }

  /// y = beta * y for all `rows` rows of y, in a kernel of its own.
  template <class ExecutionSpace>
  void scale(const ExecutionSpace& exec, std::int64_t rows) const {
    if constexpr (y_is_in_memory) Impl::scale(exec, beta, y, rows, columns);
  }

  /// y(row, column) = beta * y(row, column) + alpha * sum, or the call of the Epilogue with alpha * sum.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void store(const accumulator_type& sum, Row row, int column) const {
    if constexpr (y_is_in_memory)
      update(y(row, column), beta, times(alpha, this->scaled_sum(sum, row)));
    else
      y.finish(static_cast<std::int64_t>(row), column, times(alpha, this->scaled_sum(sum, row)));
  }

  /// y(row, :) = beta * y(row, :) + alpha * sums
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void store(const sums_type& sums, Row row) const {
    store_row(*this, sums, row);
  }

 private:
  /// Of a column lane: the number of the pack of x with its first Count columns of a row. The address of a pack is a base
  /// that all lanes share and this number of 32 bits, because an address per lane takes more registers and
  /// instructions.
  template <int Count, class Row>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t pack_of_lane(Row row) const {
    const auto packs_per_row =
        static_cast<std::uint32_t>(x.row_bytes) / std::uint32_t(sizeof(Pack<x_type, Count>));
    return static_cast<std::uint32_t>(row) * packs_per_row +
           static_cast<std::uint32_t>(first_column_of_lane) / Count;
  }
};

/// Whether a product has these properties, which some kernels need:
/// - several columns of x, a number of them that is compiled, and not ColumnAccess::row_major
/// - A, x and y of Scalar, and ordinals of int
/// - y in memory
///
/// Other types were not measured.
template <class Matrix, class Operands, class Scalar>
constexpr bool has_exact_columns() {
  return std::is_same_v<typename Matrix::ordinal_type, int> &&
         std::is_same_v<typename Matrix::value_type, Scalar> &&
         std::is_same_v<typename Operands::x_type, Scalar> &&
         std::is_same_v<typename Operands::y_type, Scalar> && Operands::most_columns > 1 &&
         Operands::is_exact && !Operands::has_column_lanes && Operands::x_is_in_memory &&
         Operands::y_is_in_memory;
}

}  // namespace Filigree::Impl
