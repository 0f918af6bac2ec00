// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conjugate gradients for several right-hand sides. The residuals of all columns are R = Q S with Q^H M^-1 Q = I and a
// small square matrix S, so that columns that are nearly dependent do no harm. An iteration has these kernels over the
// rows:
//
//   1. W = A P                                                       reads A, P; writes W
//   2. P^H W                                                         reads P, W
//   3. X = X + P alpha S; Q = Q - W alpha; norms of Q S; Q^H M^-1 Q   reads X, P, Q, W; writes X, Q
//   4. Q = Q rho^-1; P = M^-1 Q + P rho^H                            reads Q, P; writes Q, P
//
// and two kernels of one lane: after 2, alpha = (P^H W)^-1; after 3, rho with Q^H M^-1 Q = rho^H rho, and S = rho S. If
// M^-1 does not work element by element, Z = M^-1 Q and Q^H Z come after 3.
#pragma once

#include <array>
#include <cmath>

#include "filigree/solve/block_cg_kernels.hpp"
#include "filigree/solve/krylov_method.hpp"

namespace Filigree {

/// What a solver for several right-hand sides reports: one result per column.
template <int Columns>
using BlockSolverResult = std::array<SolverResult, Columns>;

/// Block conjugate gradients for A X = B with several right-hand sides, which are the columns of B: A is read once per
/// iteration for all of them, and each column uses the directions of all. So it needs fewer iterations than
/// ConjugateGradients for each column. A and the preconditioner must be Hermitian positive definite.
///
/// It iterates until the residuals of all columns are small enough. Columns that are dependent, or become so, are found
/// by their dot products, and share their directions. A number in B that is not finite ends the method for all columns
/// that have not converged.
///
/// The constructor allocates three vectors per column, a fourth one if the preconditioner is not elementwise, and some
/// numbers. solve() allocates nothing on the device but the workspaces of the first call on an instance (see spmv()).
/// An object and its copies share their vectors, so only one of them may solve at a time. Every run gives the same bits;
/// on a host that needs the same number of threads. Besides A, an iteration reads nine
/// vectors per column and writes five. A diagonal preconditioner is read twice.
///
/// Source: O'Leary 1980, "The block conjugate gradient algorithm and related methods", Linear Algebra Appl. 29; with
/// orthonormal residuals: Dubrulle 2001, "Retooling the method of block conjugate gradients", ETNA 12, algorithm BCGrQ.
///
/// @tparam Columns number of right-hand sides, 1 to 8
template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner = NoPreconditioner>
class BlockConjugateGradients
    : public Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, SolverOptions> {
  using base = Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, SolverOptions>;
  static_assert(
      Columns >= 1 && Columns <= 8,
      "Filigree::BlockConjugateGradients: Columns must be 1 to 8; solve for more in several calls.");

 public:
  using typename base::device_type;
  using typename base::number_type;
  using typename base::vector_scalar;
  /// The results of all columns.
  using result_type = BlockSolverResult<Columns>;

  /// See ConjugateGradients.
  BlockConjugateGradients(const ExecutionSpace& exec, const Matrix& A,
                          const Preconditioner& preconditioner = {}, const SolverOptions& options = {})
      : base("Filigree::BlockConjugateGradients", "block_cg", exec, A, preconditioner, options) {
    const auto rows = static_cast<std::size_t>(this->rows());
    m_q = rows_type(this->uninitialized("q"), rows);
    m_p = rows_type(this->uninitialized("p"), rows);
    m_w = rows_type(this->uninitialized("w"), rows);
    if (!is_elementwise) m_z = rows_type(this->uninitialized("z"), rows);
    m_state = state_type(this->initialized("state"));
    m_norms_of_columns = norms_type(this->initialized("norms_of_columns"));
    m_numbers = numbers_type(this->initialized("numbers"), this->ring());
    m_host_numbers = Kokkos::create_mirror(m_numbers);
    m_host_norms_of_columns = Kokkos::create_mirror(m_norms_of_columns);
  }

  /// Solves A X = B, beginning with the given X. Fences the instance once per iterations_per_check iterations.
  ///
  /// @param b View of rank 2 with one row per row of A and Columns columns, any layout
  /// @param x View of the same extents
  ///
  /// The members of the results are those of ConjugateGradients, for each column. All have the same number of
  /// iterations.
  ///
  /// Throws std::invalid_argument if b or x has other extents, or if they overlap.
  template <class BView, class XView>
  BlockSolverResult<Columns> solve(const BView& b, const XView& x) const;

 private:
  using base::is_elementwise;
  using base::m_A;
  using base::m_exec;
  using base::m_options;
  using base::m_preconditioner;
  using typename base::real_type;
  using Numbers = Impl::BlockNumbers<number_type, Columns>;
  using State = Impl::BlockState<number_type, Columns>;
  using Row = Impl::BlockRow<vector_scalar, Columns>;
  using Limits = Sums<real_type, Columns>;
  using rows_type = Kokkos::View<Row*, device_type>;
  using state_type = Kokkos::View<State, device_type>;
  using numbers_type = Kokkos::View<Numbers*, device_type>;
  using norms_type = Kokkos::View<Sums<number_type, Columns>, device_type>;
  template <class View>
  using mirror_type = typename base::template mirror_type<View>;
  using columns_type = Kokkos::View<vector_scalar**, Kokkos::LayoutRight, device_type,
                                    Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr real_type rounding = Impl::gram_rounding<number_type, vector_scalar, Columns>;

  static columns_type columns_of(const rows_type& rows) {
    return columns_type(reinterpret_cast<vector_scalar*>(rows.data()), rows.extent(0), Columns);
  }
  Numbers* numbers(int iteration) const { return m_numbers.data() + this->ring_index(iteration); }
  template <class Kernel>
  void run_one_lane(const std::string& name, const Kernel& kernel) const {
    Kokkos::parallel_for(name, Impl::row_range<void>(m_exec, 1), kernel);
  }
  template <class XView>
  void queue_step(const XView& x, const Numbers* now, Numbers* next, const Limits& limits) const;
  template <class XView>
  void queue_iteration(const XView& x, Numbers* now, Numbers* next, const Limits& limits) const;
  template <class XView>
  SolverEnd run_cycle(const XView& x, const Limits& limits, result_type& results) const;
  /// Stores Q = B - A X, and the norms in the results.
  template <class BView, class XView>
  void begin(const BView& b, const XView& x, result_type& results) const;

  rows_type m_q, m_p, m_w, m_z;
  state_type m_state;
  norms_type m_norms_of_columns;
  numbers_type m_numbers;
  mirror_type<numbers_type> m_host_numbers;
  mirror_type<norms_type> m_host_norms_of_columns;
};

/// Kernels 3 and 4, with what follows them.
template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner>
template <class XView>
void BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>::queue_step(
    const XView& x, const Numbers* now, Numbers* next, const Limits& limits) const {
  static const std::string step_name = "Filigree::block_cg_step[vector]";
  static const std::string gram_name = "Filigree::block_cg_gram[vector]";
  static const std::string rho_name = "Filigree::block_cg_rho[vector]";
  static const std::string direction_name = "Filigree::block_cg_direction[vector]";
  using T = number_type;
  using V = vector_scalar;
  using X = typename XView::value_type;
  using Inverse = decltype(this->inverse());
  const std::int64_t rows = this->rows();
  Impl::reduce_rows(
      m_exec, step_name, rows,
      Impl::BlockStep<T, V, X, Columns, Inverse>{Impl::multi_vector(x), m_q.data(), m_p.data(), m_w.data(),
                                                 m_state.data(), now, this->inverse()},
      &next->residual);
  if constexpr (!is_elementwise) {
    for (int column = 0; column < Columns; ++column)
      m_preconditioner.apply(m_exec, Kokkos::subview(columns_of(m_q), Kokkos::ALL(), column),
                             Kokkos::subview(columns_of(m_z), Kokkos::ALL(), column));
    Impl::reduce_rows(m_exec, gram_name, rows, Impl::BlockGram<T, V, Columns>{m_q.data(), m_z.data()},
                      &next->gram);
  }
  run_one_lane(rho_name,
               Impl::BlockRho<T, V, Columns>{m_state.data(), now, next, limits, rounding, is_elementwise});
  Impl::for_rows(
      m_exec, direction_name, rows,
      Impl::BlockDirection<T, V, Columns, Inverse>{m_q.data(), m_p.data(), m_z.data(), m_state.data(), next,
                                                   now == nullptr, this->inverse()});
}

template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner>
template <class XView>
void BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>::queue_iteration(
    const XView& x, Numbers* now, Numbers* next, const Limits& limits) const {
  static const std::string gram_name = "Filigree::block_cg_gram[vector]";
  static const std::string alpha_name = "Filigree::block_cg_alpha[vector]";
  spmv(m_exec, "N", vector_scalar(1), m_A, columns_of(m_p), vector_scalar(0), columns_of(m_w));
  Impl::reduce_rows(m_exec, gram_name, this->rows(),
                    Impl::BlockGram<number_type, vector_scalar, Columns>{m_p.data(), m_w.data()},
                    &now->curvature);
  run_one_lane(alpha_name,
               Impl::BlockAlpha<number_type, vector_scalar, Columns>{m_state.data(), now, rounding});
  queue_step(x, now, next, limits);
}

template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner>
template <class XView>
SolverEnd BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>::run_cycle(
    const XView& x, const Limits& limits, result_type& results) const {
  const int most = m_options.most_iterations - results[0].iterations;
  queue_step(x, nullptr, numbers(0), limits);
  for (int queued = 0, done = 0;;) {
    // The first check comes before the first iteration.
    Kokkos::deep_copy(m_exec, m_host_numbers, m_numbers);
    m_exec.fence();
    for (;;) {
      const Numbers& now = m_host_numbers(this->ring_index(done));
      if (now.end != Impl::no_end) return now.end;
      if (done == most) return SolverEnd::most_iterations;
      if (done == queued) break;
      if (now.step_end != Impl::no_end) return now.step_end;
      ++done;
      for (int column = 0; column < Columns; ++column)
        base::count_iteration(Impl::real_part(m_host_numbers(this->ring_index(done)).residual[column]),
                              results[static_cast<std::size_t>(column)]);
    }
    for (const int end = this->end_of_queue(queued, most); queued < end; ++queued)
      queue_iteration(x, numbers(queued), numbers(queued + 1), limits);
  }
}

template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner>
template <class BView, class XView>
void BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>::begin(
    const BView& b, const XView& x, result_type& results) const {
  static const std::string name = "Filigree::block_cg_norms[vector]";
  using B = typename BView::non_const_value_type;
  residual(m_exec, "N", m_A, x, b, columns_of(m_q));
  Impl::reduce_rows(m_exec, name, this->rows(),
                    Impl::BlockNorms<number_type, B, Columns>{Impl::multi_vector<BView, const B>(b)},
                    m_norms_of_columns.data());
  Kokkos::deep_copy(m_exec, m_host_norms_of_columns, m_norms_of_columns);
  m_exec.fence();
  const Sums<number_type, Columns> of_b = m_host_norms_of_columns();
  using Norms = Impl::BlockNorms<number_type, vector_scalar, Columns>;
  Impl::reduce_rows(m_exec, name, this->rows(),
                    Norms{Impl::multi_vector<columns_type, const vector_scalar>(columns_of(m_q))},
                    m_norms_of_columns.data());
  Kokkos::deep_copy(m_exec, m_host_norms_of_columns, m_norms_of_columns);
  m_exec.fence();
  for (int column = 0; column < Columns; ++column) {
    SolverResult& result = results[static_cast<std::size_t>(column)];
    result.norm_of_b = std::sqrt(Impl::real_part(of_b[column]));
    result.residual = std::sqrt(Impl::real_part(m_host_norms_of_columns()[column]));
    if (result.history.empty()) result.history.push_back(0);
    result.history.back() = result.residual;
  }
}

template <class ExecutionSpace, class Matrix, int Columns, class Preconditioner>
template <class BView, class XView>
BlockSolverResult<Columns> BlockConjugateGradients<ExecutionSpace, Matrix, Columns, Preconditioner>::solve(
    const BView& b, const XView& x) const {
  constexpr const char* function = "Filigree::BlockConjugateGradients::solve";
  Impl::check_types_of_solve<ExecutionSpace, BView, XView, 2>();
  Impl::check_extents_of_vector(function, "b", b, this->rows(), Columns);
  Impl::check_extents_of_vector(function, "x", x, this->rows(), Columns);
  Impl::check_no_overlap(function, "b", b, "x", x);
  result_type results;
  if (this->rows() == 0) {
    for (SolverResult& result : results)
      result.end = SolverEnd::converged;
    return results;
  }
  Limits limits;
  double before = 0;
  SolverEnd end_of_cycle = Impl::no_end;
  for (;;) {
    begin(b, x, results);
    bool is_finite = true, is_small = true;
    double largest = 0;  // residual of a column, as a part of its b
    for (std::size_t column = 0; column < Columns; ++column) {
      SolverResult& result = results[column];
      const double limit = Impl::largest_residual(m_options, result.norm_of_b);
      limits[static_cast<int>(column)] = static_cast<real_type>(limit * limit);
      const bool column_is_finite = std::isfinite(result.residual) && std::isfinite(result.norm_of_b);
      const bool column_is_small = column_is_finite && result.residual <= limit;
      is_finite = is_finite && column_is_finite;
      is_small = is_small && column_is_small;
      result.end = column_is_small ? SolverEnd::converged : Impl::no_end;
      if (!column_is_small)
        largest = std::max(largest, result.residual / (result.norm_of_b > 0 ? result.norm_of_b : 1));
    }
    const auto end = Impl::end_between_cycles({is_finite, is_small, largest <= before / 2, end_of_cycle,
                                               results[0].iterations < m_options.most_iterations});
    if (end) {
      for (SolverResult& result : results)
        if (!result.has_converged()) result.end = *end;
      return results;
    }
    before = largest;
    end_of_cycle = run_cycle(x, limits, results);
  }
}

}  // namespace Filigree
