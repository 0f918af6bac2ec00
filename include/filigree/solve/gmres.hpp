// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GMRES with restarts. An iteration has six kernels. u(0) to u(k - 1) are the basis, z = M^-1 u(k - 1), and w becomes
// u(k), which is its memory from the beginning:
//
//   1. w = A z                                                              reads A, z; writes w
//   2. the dot products of the basis with w                                 reads the basis, w
//   3. w = w - the projection on the basis; the dot products again          reads the basis, w; writes w
//   4. u(k) = (w - the projection on the basis) / norm; z                   reads the basis, w; writes u(k), z
//
// The kernels 2 and 3 leave one number per team and dot product, which a small kernel after each of them adds up.
// These are two passes of classical Gram-Schmidt. The norm in kernel 4 is that of w after kernel 3. The second
// projection changes it by a small part of itself, unless almost nothing of w is left. Then the basis is complete.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "filigree/solve/gmres_kernels.hpp"
#include "filigree/solve/hessenberg.hpp"
#include "filigree/solve/krylov_method.hpp"
#include "filigree/solve/real_part.hpp"

namespace Filigree {

/// When GMRES ends, and how often it begins anew.
struct GmresOptions : SolverOptions {
  /// The most iterations of a cycle. After a cycle the basis is dropped, and the method begins anew with the x that it
  /// has. The basis takes restart + 1 vectors.
  int restart = 30;
};

/// The generalized minimal residual method with restarts, GMRES(m), for A x = b with any square matrix of any format,
/// and with a preconditioner on the right side: it solves A M^-1 u = b and x = M^-1 u. So the residual is that of
/// A x = b, and it never grows within a cycle.
///
/// Cost of iteration k of a cycle, k = 1 to m: one product with A, and one application of M^-1. Besides A and what a
/// product reads, 3 k + 3 vectors are read and 3 are written, one more with a preconditioner. If k is more than 32 on a
/// GPU (16 for complex numbers), k - 32 (k - 16) vectors are read once more. A cycle also costs a residual, and k vectors
/// to update x.
///
/// Memory: the constructor allocates m + 1 vectors for the basis, one more if there is a preconditioner, and for
/// numbers at most a sixteenth of that, unless A is small. m is at most the number of rows of A, and at most
/// most_iterations. solve() allocates nothing on the device but the workspaces of the first call on an instance (see
/// spmv()). An object and its copies share their vectors, so only one of them may solve at a time. Every run gives the
/// same bits; on a host that needs the same number of threads.
///
/// The host solves the least-squares problem of a cycle. It waits for the device once per cycle for the norm of the
/// residual, and then once per iterations_per_check iterations for their dot products. Iterations after the one with
/// a small enough residual cost time, but x does not change by them. In each wait at most
/// 2 (m + 2) iterations_per_check numbers are copied.
///
/// If the basis cannot grow, the residual of the cycle is 0 unless A is singular. If it turns out not to be small
/// enough, the method goes on as long as each such cycle at least halves it. Else SolverResult::end is breakdown. The
/// same holds for a cycle whose least-squares problem has a small enough residual while b - A x has not; then the end
/// is stagnation: the tolerance is below what rounding allows.
///
/// Source: Saad and Schultz 1986, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear
/// systems", SIAM J. Sci. Stat. Comput. 7(3); with a preconditioner on the right side: Saad 2003, "Iterative methods
/// for sparse linear systems", algorithm 9.5. Two passes of Gram-Schmidt: Giraud, Langou and Rozloznik 2005, "The loss
/// of orthogonality in the Gram-Schmidt orthogonalization process", Comput. Math. Appl. 50.
template <class ExecutionSpace, class Matrix, class Preconditioner = NoPreconditioner>
class Gmres : public Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, GmresOptions> {
  using base = Impl::KrylovMethod<ExecutionSpace, Matrix, Preconditioner, GmresOptions>;

 public:
  using typename base::device_type;
  using typename base::number_type;
  using typename base::vector_scalar;
  using typename base::vector_type;
  /// The vectors of a cycle, one per column.
  using basis_type = Kokkos::View<vector_scalar**, Kokkos::LayoutLeft, device_type>;

  /// Keeps copies of A and of the preconditioner, which share their Views with the originals. So a refill of A is
  /// seen by the next solve().
  ///
  /// Throws std::invalid_argument if A is not square, the preconditioner is that of a matrix of another size, an option
  /// is negative, or iterations_per_check or restart is not positive.
  Gmres(const ExecutionSpace& exec, const Matrix& A, const Preconditioner& preconditioner = {},
        const GmresOptions& options = {});

  /// Solves A x = b, beginning with the given x.
  ///
  /// @param b View of rank 1 with one element per row of A, any stride
  /// @param x View of rank 1 with one element per row of A, any stride
  ///
  /// SolverResult::residual is the norm of b - A x as residual() computes it, for the x that is returned. The history
  /// has that norm after each cycle, and within a cycle the norm that follows from the least-squares problem.
  ///
  /// Throws std::invalid_argument if b or x has not one element per row of A, or if they overlap.
  template <class BView, class XView>
  SolverResult solve(const BView& b, const XView& x);

 private:
  using base::has_preconditioner;
  using base::is_elementwise;
  using base::m_A;
  using base::m_exec;
  using base::m_options;
  using base::m_preconditioner;
  template <class View>
  using mirror_type = typename base::template mirror_type<View>;
  using numbers_type = Kokkos::View<number_type*, device_type>;
  using dots_type = Kokkos::View<number_type**, Kokkos::LayoutLeft, device_type>;
  using column_type = Kokkos::View<vector_scalar*, device_type, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Combination = Impl::ColumnCombination<number_type, vector_scalar>;

  template <bool Subtracts, int Group>
  using Dots = Impl::GmresDots<ExecutionSpace, number_type, vector_scalar, Subtracts, Group>;
  using partials_type = Kokkos::View<Sums<number_type, 1>*, device_type>;

  /// The most iterations of a cycle. Throws if `restart` is not positive.
  static int most_columns(const Matrix& A, const GmresOptions& options);
  int teams() const { return static_cast<int>((m_rows + m_rows_per_team - 1) / m_rows_per_team); }
  std::int64_t stride() const { return static_cast<std::int64_t>(m_basis.extent(0)); }
  column_type column(int k) const {
    return column_type(m_basis.data() + k * stride(), static_cast<std::size_t>(m_rows));
  }
  Combination combination(const number_type* factors, int count) const {
    return {m_basis.data(), stride(), factors, count};
  }
  /// Column k of the basis as x of a product, with the preconditioner applied.
  column_type product_factor(int k) const {
    if constexpr (has_preconditioner)
      return column_type(m_z.data(), static_cast<std::size_t>(m_rows));
    else
      return column(k);
  }
  /// The results of the two passes of Gram-Schmidt of iteration k: see Impl::GmresProjection.
  number_type* dots(int k, int pass) const {
    return m_dots.data() + static_cast<std::size_t>(2 * (k - 1) + pass) * m_dots.extent(0);
  }

  template <bool Subtracts, int Group>
  void queue_dots(int k) const;
  /// Queues the dot products of column k of the basis with all columns before it and with itself. If Subtracts is true,
  /// the projection on the columns before is subtracted from it first.
  template <bool Subtracts>
  void queue_dots(int k) const;
  void queue_next_vector(int k, double scale) const;
  /// Queues iteration k of a cycle, which makes column k of the basis.
  void queue_iteration(int k) const;
  bool add_to_least_squares(int k, SolverEnd& end);
  template <class XView>
  void update_solution(const XView& x);
  template <class XView>
  SolverEnd run_cycle(const XView& x, double largest, SolverResult& result);

  std::int64_t m_rows;
  int m_restart;
  basis_type m_basis;
  vector_type m_z;
  int m_rows_per_team;       ///< of the kernels that compute dot products
  partials_type m_partials;  ///< of dot products
  dots_type m_dots;          ///< two columns per iteration
  numbers_type m_factors;    ///< of the basis in the solution
  mirror_type<dots_type> m_host_dots;
  mirror_type<numbers_type> m_host_factors;
  Impl::HessenbergLeastSquares<number_type> m_least_squares;
};

template <class ExecutionSpace, class Matrix, class Preconditioner>
Gmres<ExecutionSpace, Matrix, Preconditioner>::Gmres(const ExecutionSpace& exec, const Matrix& A,
                                                     const Preconditioner& preconditioner,
                                                     const GmresOptions& options)
    : base("Filigree::Gmres", "gmres", exec, A, preconditioner, options),
      m_rows(this->rows()),
      m_restart(most_columns(A, options)),
      m_rows_per_team(Impl::gmres_rows_per_team<ExecutionSpace>(m_rows)),
      m_least_squares(m_restart) {
  const auto columns = static_cast<std::size_t>(m_restart) + 1;
  // Each column begins at a multiple of 128 bytes.
  constexpr std::int64_t unit = 128 / sizeof(vector_scalar);
  m_basis = basis_type(this->uninitialized("basis"), static_cast<std::size_t>(Impl::round_up(m_rows, unit)),
                       columns);
  if (has_preconditioner) m_z = this->vector("z");
  m_partials = partials_type(this->uninitialized("partials"),
                             columns * static_cast<std::size_t>(teams() * Dots<true, 4>::groups_per_team));
  m_dots = dots_type(this->initialized("dots"), columns + 1, 2 * (columns - 1));
  m_factors = numbers_type(this->initialized("factors"), columns);
  m_host_dots = Kokkos::create_mirror(m_dots);
  m_host_factors = Kokkos::create_mirror(m_factors);
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
int Gmres<ExecutionSpace, Matrix, Preconditioner>::most_columns(const Matrix& A,
                                                                const GmresOptions& options) {
  if (options.restart < 1)
    Impl::fail<std::invalid_argument>("Filigree::Gmres: restart is ", options.restart,
                                      "; it must be at least 1.");
  const std::int64_t most = std::min(options.restart, options.most_iterations);
  return static_cast<int>(std::min<std::int64_t>(most, MatrixTraits<Matrix>::num_rows(A)));
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
template <bool Subtracts, int Group>
void Gmres<ExecutionSpace, Matrix, Preconditioner>::queue_dots(int k) const {
  static const std::string dots_name =
      Subtracts ? "Filigree::gmres_subtract_and_dots[vector]" : "Filigree::gmres_dots[vector]";
  static const std::string projection_name = "Filigree::gmres_projection[vector]";
  using Kernel = Dots<Subtracts, Group>;
  using Projection = Impl::GmresProjection<ExecutionSpace, number_type>;
  Kokkos::parallel_for(dots_name, typename Kernel::policy_type(m_exec, teams(), Kernel::team_size, 1),
                       Kernel{m_basis.data(), stride(), m_rows, m_rows_per_team, k,
                              combination(dots(k, 0), k), m_partials.data()});
  Kokkos::parallel_for(
      projection_name, typename Projection::policy_type(m_exec, k + 1, Projection::team_size, 1),
      Projection{m_partials.data(), teams() * Kernel::groups_per_team, k, dots(k, Subtracts ? 1 : 0)});
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
template <bool Subtracts>
void Gmres<ExecutionSpace, Matrix, Preconditioner>::queue_dots(int k) const {
  if constexpr (Impl::runs_on_gpu_v<ExecutionSpace>) {
    constexpr int most = Impl::most_columns_of_lane<number_type>;
    if (k <= most / 4)
      queue_dots<Subtracts, most / 4>(k);
    else
      queue_dots<Subtracts, most>(k);
  } else {
    queue_dots<Subtracts, 4>(k);
  }
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
void Gmres<ExecutionSpace, Matrix, Preconditioner>::queue_next_vector(int k, double scale) const {
  static const std::string name = "Filigree::gmres_next_vector[vector]";
  using Kernel = Impl::GmresNextVector<number_type, vector_scalar, decltype(this->inverse())>;
  const number_type* const second = k == 0 ? nullptr : dots(k, 1);
  Impl::for_rows(
      m_exec, name, m_rows,
      Kernel{column(k).data(), combination(second, k), number_type(scale), k == 0 ? nullptr : second + k + 1,
             has_preconditioner && is_elementwise ? m_z.data() : nullptr, this->inverse()});
  if constexpr (has_preconditioner && !is_elementwise)
    m_preconditioner.apply(m_exec, column(k), product_factor(k));
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
void Gmres<ExecutionSpace, Matrix, Preconditioner>::queue_iteration(int k) const {
  spmv(m_exec, "N", 1.0, m_A, product_factor(k - 1), 0.0, column(k));
  queue_dots<false>(k);
  queue_dots<true>(k);
  queue_next_vector(k, 0);
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
bool Gmres<ExecutionSpace, Matrix, Preconditioner>::add_to_least_squares(int k, SolverEnd& end) {
  const auto pass = [&](int number, int i) { return m_host_dots(i, 2 * (k - 1) + number); };
  bool is_finite = true;
  for (int i = 0; i < k; ++i) {
    const number_type element = pass(0, i) + pass(1, i);
    m_least_squares.element(i) = element;
    is_finite = is_finite && Impl::is_finite_number(element);
  }
  const double size = std::sqrt(Impl::real_part(pass(0, k)));  // of A M^-1 u(k - 1)
  const double next = std::sqrt(Impl::real_part(pass(1, k)));
  if (!is_finite || !std::isfinite(size) || !std::isfinite(next)) {
    end = SolverEnd::not_finite;
    return false;
  }
  // The rounding of the elements of A M^-1 u(k - 1) and of the subtractions leaves about that much of it.
  const double rounding = 32 * size * std::numeric_limits<Impl::real_t<vector_scalar>>::epsilon();
  const bool is_last = !(next > rounding);
  if (is_last) end = SolverEnd::breakdown;
  m_least_squares.element(k) = number_type(is_last ? 0 : next);
  return m_least_squares.add_column(rounding);
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
template <class XView>
void Gmres<ExecutionSpace, Matrix, Preconditioner>::update_solution(const XView& x) {
  static const std::string combine_name = "Filigree::gmres_combine[vector]";
  static const std::string update_name = "Filigree::gmres_update[vector]";
  using T = number_type;
  using V = vector_scalar;
  const int columns = m_least_squares.columns();
  if (columns == 0) return;
  m_least_squares.solve(m_host_factors.data());
  Kokkos::deep_copy(m_exec, m_factors, m_host_factors);
  const Combination change = combination(m_factors.data(), columns);
  const V* z = nullptr;
  if constexpr (!is_elementwise) {
    // The column after those of the solution is not needed any more.
    Impl::for_rows(m_exec, combine_name, m_rows, Impl::GmresCombine<T, V>{change, column(columns).data()});
    m_preconditioner.apply(m_exec, column(columns), product_factor(0));
    z = m_z.data();
  }
  using Kernel = Impl::GmresUpdate<T, V, typename XView::value_type, decltype(this->inverse())>;
  Impl::for_rows(m_exec, update_name, m_rows, Kernel{Impl::multi_vector(x), change, z, this->inverse()});
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
template <class XView>
SolverEnd Gmres<ExecutionSpace, Matrix, Preconditioner>::run_cycle(const XView& x, double largest,
                                                                   SolverResult& result) {
  const int length = std::min(m_restart, m_options.most_iterations - result.iterations);
  SolverEnd end = Impl::no_end;
  m_least_squares.begin(result.residual);
  queue_next_vector(0, 1 / result.residual);
  bool goes_on = true;
  for (int queued = 0; goes_on && queued < length;) {
    int k = queued + 1;
    const int last = queued + std::min(length - queued, m_options.iterations_per_check);
    while (queued < last)
      queue_iteration(++queued);
    const std::pair<int, int> new_dots(2 * (k - 1), 2 * last);
    Kokkos::deep_copy(m_exec, Kokkos::subview(m_host_dots, Kokkos::ALL(), new_dots),
                      Kokkos::subview(m_dots, Kokkos::ALL(), new_dots));
    m_exec.fence();
    for (; goes_on && k <= last; ++k) {
      goes_on = add_to_least_squares(k, end);
      if (!goes_on) break;
      ++result.iterations;
      result.residual = m_least_squares.residual();
      result.history.push_back(result.residual);
      goes_on = end == Impl::no_end && !(result.residual <= largest);
    }
  }
  if (end == Impl::no_end && result.residual <= largest) end = SolverEnd::converged;
  update_solution(x);
  return end;
}

template <class ExecutionSpace, class Matrix, class Preconditioner>
template <class BView, class XView>
SolverResult Gmres<ExecutionSpace, Matrix, Preconditioner>::solve(const BView& b, const XView& x) {
  return this->solve_in_cycles(
      "Filigree::Gmres::solve", b, x, column(0),
      [&](double largest, SolverResult& result) { return run_cycle(x, largest, result); });
}

}  // namespace Filigree
