// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Preconditioners M of the solvers. A preconditioner is any class with
//
//   template <class ExecutionSpace, class RView, class ZView>
//   void apply(const ExecutionSpace& exec, const RView& r, const ZView& z) const;
//
// that queues z = M^-1 r on exec, for Views of rank 1 with any stride, without waiting. If the class has a constant
// is_elementwise that is true, and a function element_inverse(), solvers compute z within their own kernels: its result
// has a factor(row) that is loaded and an apply(factor, r) that returns the element of z. If the class has a function
// rows(), solvers compare its result with the rows of A.
#pragma once

#include "filigree/solve/inverse_diagonal.hpp"
#include "filigree/solve/residual.hpp"
#include "filigree/solve/row_kernel.hpp"

namespace Filigree {
namespace Impl {

template <class Preconditioner, class = void>
constexpr bool is_elementwise_v = false;
template <class Preconditioner>
constexpr bool is_elementwise_v<Preconditioner, std::void_t<decltype(Preconditioner::is_elementwise)>> =
    Preconditioner::is_elementwise;

/// z = r
struct IdentityInverse {
  using factor_type = NoPartial;
  KOKKOS_FORCEINLINE_FUNCTION factor_type factor(std::int64_t) const { return {}; }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T apply(factor_type, const T& r) const {
    return r;
  }
};

/// z = scale * inverse * r
template <class Scalar>
struct DiagonalInverse {
  using factor_type = Scalar;
  MultiVector<const Scalar> inverse;
  double scale = 1;
  KOKKOS_FORCEINLINE_FUNCTION factor_type factor(std::int64_t row) const { return inverse(row, 0); }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T apply(const factor_type& factor, const T& r) const {
    return T(static_cast<real_t<T>>(scale) * widen<T>(factor) * r);
  }
};

/// z = M^-1 r for each row.
template <class Inverse, class R, class Z>
struct ApplyElementwise {
  Inverse inverse;
  MultiVector<const R> r;
  MultiVector<Z> z;

  struct Loaded {
    R r;
    typename Inverse::factor_type factor;
  };
  KOKKOS_FORCEINLINE_FUNCTION NoPartial common() const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION Loaded load(const std::int64_t row) const {
    return {r(row, 0), inverse.factor(row)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void finish(NoPartial, const std::int64_t row, const Loaded& loaded,
                                          NoPartial&) const {
    using Sum = wider_t<R, Z>;
    z(row, 0) = convert_scalar<Z>(inverse.apply(loaded.factor, Sum(widen<Sum>(loaded.r))));
  }
};

/// The checks of apply() or smooth() of a preconditioner for a matrix with `rows` rows. The second vector is the one
/// that changes.
template <class ExecutionSpace, class RView, class ZView>
void check_apply(const char* function, const char* name_of_r, const RView& r, const char* name_of_z,
                 const ZView& z, std::int64_t rows) {
  static_assert(Kokkos::is_view<RView>::value && Kokkos::is_view<ZView>::value,
                "Filigree: the vectors of a preconditioner must be Kokkos::Views.");
  static_assert(static_cast<int>(RView::rank) == 1 && static_cast<int>(ZView::rank) == 1,
                "Filigree: the vectors of a preconditioner must have rank 1.");
  static_assert(
      Kokkos::SpaceAccessibility<ExecutionSpace, typename RView::memory_space>::accessible &&
          Kokkos::SpaceAccessibility<ExecutionSpace, typename ZView::memory_space>::accessible,
      "Filigree: the vectors of a preconditioner must be in memory that the execution space can access.");
  check_extents_of_vector(function, name_of_r, r, rows, 1);
  check_extents_of_vector(function, name_of_z, z, rows, 1);
}

/// z = M^-1 r. The arguments are checked.
template <class ExecutionSpace, class Inverse, class RView, class ZView>
void apply_elementwise(const ExecutionSpace& exec, const Inverse& inverse, const RView& r, const ZView& z) {
  static const std::string name = "Filigree::precondition[vector]";
  using R = typename RView::non_const_value_type;
  using Z = typename ZView::value_type;
  for_rows(exec, name, static_cast<std::int64_t>(z.extent(0)),
           ApplyElementwise<Inverse, R, Z>{inverse, multi_vector<RView, const R>(r), multi_vector(z)});
}

template <class Preconditioner, class = void>
constexpr bool has_rows_v = false;
template <class Preconditioner>
constexpr bool
    has_rows_v<Preconditioner, std::void_t<decltype(std::declval<const Preconditioner&>().rows())>> = true;

/// Throws std::invalid_argument if the preconditioner has a function rows() that returns another number.
template <class Preconditioner>
void check_preconditioner(const char* function, const Preconditioner& preconditioner, std::int64_t rows) {
  if constexpr (has_rows_v<Preconditioner>)
    if (static_cast<std::int64_t>(preconditioner.rows()) != rows)
      fail<std::invalid_argument>(function, ": the preconditioner is that of a matrix with ",
                                  preconditioner.rows(), " rows, but A has ", rows, "; make it of A.");
}

/// Throws std::invalid_argument unless A is square and has `rows` rows.
template <class Matrix, class Rows>
void check_rows(const char* function, const Matrix& A, Rows rows) {
  check_square(function, A);
  if (MatrixTraits<Matrix>::num_rows(A) != static_cast<std::int64_t>(rows))
    fail<std::invalid_argument>(function, ": A has ", MatrixTraits<Matrix>::num_rows(A),
                                " rows; it must have ", rows, ", as when the preconditioner was made.");
}

}  // namespace Impl

/// No preconditioner: z = r.
struct NoPreconditioner {
  static constexpr bool is_elementwise = true;  ///< see the top of this file
  /// See the top of this file.
  Impl::IdentityInverse element_inverse() const { return {}; }

  /// Queues z = r. z may be r. Throws std::invalid_argument if the extents differ, or if z overlaps r in another way.
  template <class ExecutionSpace, class RView, class ZView>
  void apply(const ExecutionSpace& exec, const RView& r, const ZView& z) const {
    constexpr const char* function = "Filigree::NoPreconditioner::apply";
    Impl::check_apply<ExecutionSpace>(function, "r", r, "z", z, static_cast<std::int64_t>(z.extent(0)));
    Impl::check_same_or_apart(function, "r", r, "z", z);
    Impl::apply_elementwise(exec, element_inverse(), r, z);
  }
};

/// The diagonal of a matrix as preconditioner (Jacobi): z = D^-1 r.
///
/// Stored is the type in which D^-1 is kept. float instead of double halves what a solver reads of it.
template <class Matrix, class Stored = typename MatrixTraits<Matrix>::entry_type>
class JacobiPreconditioner {
 public:
  static constexpr bool is_elementwise = true;  ///< see the top of this file

  /// Computes the inverse of the diagonal of A. Cost and errors: see inverse_diagonal().
  template <class ExecutionSpace>
  JacobiPreconditioner(const ExecutionSpace& exec, const Matrix& A)
      : m_inverse(inverse_diagonal<Stored>(exec, A)) {}

  /// Computes the inverse again, for a matrix of the same size. It allocates as inverse_diagonal() if Stored is not the
  /// type of the entries. Errors: see there. After one of them the inverse has any values.
  template <class ExecutionSpace>
  void refill(const ExecutionSpace& exec, const Matrix& A) {
    constexpr const char* function = "Filigree::JacobiPreconditioner::refill";
    Impl::check_rows(function, A, m_inverse.extent(0));
    Impl::invert_diagonal<ExecutionSpace, Matrix, Stored>(exec, function, A, m_inverse);
  }

  /// The inverse of the diagonal.
  const inverse_diagonal_t<Matrix, Stored>& inverse() const { return m_inverse; }
  /// See the top of this file.
  Impl::DiagonalInverse<Stored> element_inverse() const {
    return {Impl::multi_vector<inverse_diagonal_t<Matrix, Stored>, const Stored>(m_inverse)};
  }

  /// The number of rows of the matrix.
  std::int64_t rows() const { return static_cast<std::int64_t>(m_inverse.extent(0)); }

  /// Queues z = D^-1 r. z may be r. Throws std::invalid_argument if one of them has not rows() elements, or if z overlaps
  /// r in another way.
  template <class ExecutionSpace, class RView, class ZView>
  void apply(const ExecutionSpace& exec, const RView& r, const ZView& z) const {
    constexpr const char* function = "Filigree::JacobiPreconditioner::apply";
    Impl::check_apply<ExecutionSpace>(function, "r", r, "z", z, rows());
    Impl::check_same_or_apart(function, "r", r, "z", z);
    Impl::apply_elementwise(exec, element_inverse(), r, z);
  }

 private:
  inverse_diagonal_t<Matrix, Stored> m_inverse;
};

/// The blocks on the diagonal of a matrix as preconditioner (block Jacobi): z = D^-1 r.
///
/// Stored is the type in which D^-1 is kept. With float instead of double an application moves little more than half of
/// the bytes.
template <class Matrix, class Stored = typename MatrixTraits<Matrix>::entry_type>
class BlockJacobiPreconditioner {
 public:
  /// Computes the inverse of the b x b blocks on the diagonal of A. Cost and errors: see inverse_diagonal_blocks().
  template <class ExecutionSpace>
  BlockJacobiPreconditioner(const ExecutionSpace& exec, const Matrix& A, int block_size)
      : m_inverse(inverse_diagonal_blocks<Stored>(exec, A, block_size)) {}

  /// Computes the inverse again, for a matrix of the same size. It allocates as inverse_diagonal_blocks() if Stored
  /// is not the type of the entries. Errors: see there. After one of them the inverse has any values.
  template <class ExecutionSpace>
  void refill(const ExecutionSpace& exec, const Matrix& A) {
    constexpr const char* function = "Filigree::BlockJacobiPreconditioner::refill";
    Impl::check_rows(function, A, m_inverse.numRows());
    Impl::invert_diagonal_blocks<ExecutionSpace, Matrix, Stored>(exec, function, A, m_inverse);
  }

  /// The inverse of the blocks, as a matrix with one diagonal of blocks.
  const inverse_blocks_t<Matrix, Stored>& inverse() const { return m_inverse; }

  /// The number of rows of the matrix.
  std::int64_t rows() const { return static_cast<std::int64_t>(m_inverse.numRows()); }

  /// Queues z = D^-1 r. Throws std::invalid_argument if one of them has not rows() elements, or if they overlap.
  template <class ExecutionSpace, class RView, class ZView>
  void apply(const ExecutionSpace& exec, const RView& r, const ZView& z) const {
    constexpr const char* function = "Filigree::BlockJacobiPreconditioner::apply";
    Impl::check_apply<ExecutionSpace>(function, "r", r, "z", z, rows());
    Impl::check_no_overlap(function, "r", r, "z", z);
    spmv(exec, "N", 1.0, m_inverse, r, 0.0, z);
  }

 private:
  inverse_blocks_t<Matrix, Stored> m_inverse;
};

}  // namespace Filigree
