// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <memory>

#include "filigree/solve/preconditioner.hpp"
#include "filigree/solve/solver.hpp"

namespace Filigree {

/// Options of ChebyshevPreconditioner.
struct ChebyshevOptions {
  int degree = 3;  ///< steps of one application; each but the first of apply() is one product
  /// The largest eigenvalue of D^-1 A; 0 means that it is estimated.
  double largest_eigenvalue = 0;
  int power_iterations = 20;  ///< products for the estimate
  double safety = 1.1;        ///< the estimate is multiplied by this, because it is too small
  /// The steps reduce the parts of the error that belong to the eigenvalues between the largest one and this part of
  /// it: about 1/30 for a smoother, less for a preconditioner.
  double smallest_over_largest = 1.0 / 30;
};

namespace Impl {

/// v = different numbers between -1 and 1, the same in every run.
template <class V>
struct StartVector {
  V* v;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t row) const {
    // The multiplier of Knuth's hash. A vector with a pattern could be orthogonal to the eigenvector.
    const auto hash = static_cast<std::uint32_t>(row + 1) * 2654435761u;
    v[row] = V(static_cast<real_t<V>>(static_cast<double>(hash) / 2147483648.0 - 1.0));
  }
};

/// v = factor * w
template <class V>
struct ScaledCopy {
  V* v;
  const V* w;
  real_t<V> factor;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t row) const { v[row] = factor * w[row]; }
};

}  // namespace Impl

/// A polynomial of D^-1 A as preconditioner or smoother, for a Hermitian positive definite A and D. One step is
/// x' = (1 + c) x - c x'' + f D^-1 (b - A x) with the factors of the Chebyshev polynomials, which relaxation_step()
/// computes in one pass over A.
///
/// Inverse is the type of D^-1: that of inverse_diagonal() or of inverse_diagonal_blocks().
///
/// Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm 12.1.
template <class ExecutionSpace, class Matrix, class Inverse>
class ChebyshevPreconditioner {
 public:
  /// The type of the entries of A.
  using scalar_type = typename MatrixTraits<Matrix>::entry_type;
  using vector_scalar = Impl::wider_t<scalar_type>;  ///< of the vector of the class
  /// Where the vectors are.
  using device_type = Kokkos::Device<ExecutionSpace, typename MatrixTraits<Matrix>::memory_space>;
  /// A vector of the method.
  using vector_type = Kokkos::View<vector_scalar*, device_type>;

  /// Keeps copies of A and of the inverse, which share their Views with the originals. Allocates a vector. If the
  /// largest eigenvalue is not given, it is estimated by the power method: power_iterations steps, after each of which
  /// the host waits, with two more vectors.
  ///
  /// Throws std::invalid_argument if A is not square, the inverse is that of a matrix of another size, or an option is
  /// out of range, and std::runtime_error if the estimate is not a positive finite number.
  ChebyshevPreconditioner(const ExecutionSpace& exec, const Matrix& A, const Inverse& inverse,
                          const ChebyshevOptions& options = {})
      : m_A(A), m_inverse(inverse), m_options(options) {
    constexpr const char* function = "Filigree::ChebyshevPreconditioner";
    Impl::check_initialized(function);
    Impl::check_square(function, A);
    if (options.degree < 1 || options.power_iterations < 1)
      Impl::fail<std::invalid_argument>(function, ": degree is ", options.degree, " and power_iterations ",
                                        options.power_iterations, "; they must be at least 1.");
    if (!(options.safety >= 1 && std::isfinite(options.safety)) ||
        !(options.largest_eigenvalue >= 0 && std::isfinite(options.largest_eigenvalue)) ||
        !(options.smallest_over_largest > 0 && options.smallest_over_largest < 1))
      Impl::fail<std::invalid_argument>(
          function, ": safety is ", options.safety, ", largest_eigenvalue ", options.largest_eigenvalue,
          " and smallest_over_largest ", options.smallest_over_largest,
          "; they must be at least 1, at least 0, and between 0 and 1, and finite.");
    check_inverse(function);
    m_work = vector_type(Kokkos::view_alloc(exec, Impl::label("work", "chebyshev", "")),
                         static_cast<std::size_t>(MatrixTraits<Matrix>::num_rows(A)));
    estimate(exec);
  }

  /// Estimates the largest eigenvalue again, after A and the inverse were refilled, unless it was given. Copies of the
  /// object, such as that of a solver, see the new one. Throws as the constructor; the old estimate is kept then.
  void refill(const ExecutionSpace& exec) { estimate(exec); }

  /// The number of rows of the matrix.
  std::int64_t rows() const { return static_cast<std::int64_t>(m_work.extent(0)); }

  /// The largest eigenvalue that the steps assume: the given one, or the estimate times the safety factor.
  double largest_eigenvalue() const { return *m_largest; }

  /// Queues z = p(D^-1 A) D^-1 r: the steps for A z = r that begin with z = 0. It uses the vector of the object, which
  /// copies of the object share. So applications of an object and its copies must not run at the same time.
  ///
  /// Throws std::invalid_argument if r or z has not rows() elements, or if they overlap.
  template <class RView, class ZView>
  void apply(const ExecutionSpace& exec, const RView& r, const ZView& z) const {
    constexpr const char* function = "Filigree::ChebyshevPreconditioner::apply";
    Impl::check_apply<ExecutionSpace>(function, "r", r, "z", z, rows());
    Impl::check_no_overlap(function, "r", r, "z", z);
    const int degree = m_options.degree;
    // Steps write to z and to the vector in turns. The last one must write to z.
    if (degree % 2 == 1) {
      first_step(exec, r, z);
      further_steps(exec, r, z, m_work, true);
    } else {
      first_step(exec, r, m_work);
      further_steps(exec, r, m_work, z, true);
    }
  }

  /// Queues the steps for A x = b that begin with the given x, of which the last one writes to x. See apply() for the
  /// vector of the object and for errors.
  template <class BView, class XView>
  void smooth(const ExecutionSpace& exec, const BView& b, const XView& x) const {
    constexpr const char* function = "Filigree::ChebyshevPreconditioner::smooth";
    Impl::check_apply<ExecutionSpace>(function, "b", b, "x", x, rows());
    Impl::check_no_overlap(function, "b", b, "x", x);
    const Factors factors = first_factors();
    relaxation_step(exec, m_A, x, b, m_inverse, StepFactors<vector_scalar>{real(factors.residual), 0, 1},
                    m_work);
    further_steps(exec, b, m_work, x, false);
    if (m_options.degree % 2 == 1) Kokkos::deep_copy(exec, x, m_work);
  }

 private:
  /// f of the class comment, and the numbers from which those of the next step follow.
  struct Factors {
    double residual;
    double rho;
    double sigma;
    double delta;
  };
  static vector_scalar real(double value) {
    return vector_scalar(static_cast<Impl::real_t<vector_scalar>>(value));
  }

  Factors first_factors() const {
    const double largest = *m_largest;
    const double smallest = largest * m_options.smallest_over_largest;
    const double theta = (largest + smallest) / 2;
    const double delta = (largest - smallest) / 2;
    return {1 / theta, delta / theta, theta / delta, delta};
  }

  /// x = f D^-1 r
  template <class RView, class XView>
  void first_step(const ExecutionSpace& exec, const RView& r, const XView& x) const {
    const double factor = first_factors().residual;
    if constexpr (MatrixTraits<Inverse>::is_matrix) {
      spmv(exec, "N", real(factor), m_inverse, r, real(0), x);
    } else {
      using D = typename Inverse::non_const_value_type;
      Impl::apply_elementwise(
          exec, Impl::DiagonalInverse<D>{Impl::multi_vector<Inverse, const D>(m_inverse), factor}, r, x);
    }
  }

  /// The other steps. `newest` has the x of the first one, and `oldest` that before it, unless it was 0.
  template <class BView, class NewView, class OldView>
  void further_steps(const ExecutionSpace& exec, const BView& b, const NewView& newest, const OldView& oldest,
                     bool began_with_zero) const {
    Factors factors = first_factors();
    for (int step = 1; step < m_options.degree; ++step) {
      const double rho = 1 / (2 * factors.sigma - factors.rho);
      const double c = rho * factors.rho;
      const StepFactors<vector_scalar> step_factors = {
          real(2 * rho / factors.delta), real(step == 1 && began_with_zero ? 0 : -c), real(1 + c)};
      if (step % 2 == 1)
        relaxation_step(exec, m_A, newest, b, m_inverse, step_factors, oldest);
      else
        relaxation_step(exec, m_A, oldest, b, m_inverse, step_factors, newest);
      factors.rho = rho;
    }
  }

  void check_inverse(const char* function) const {
    const std::int64_t rows = MatrixTraits<Matrix>::num_rows(m_A);
    if constexpr (MatrixTraits<Inverse>::is_matrix)
      Impl::check_inverse_extents(function, m_inverse, rows);
    else
      Impl::check_extents_of_vector(function, "the inverse diagonal", m_inverse, rows, 1);
  }

  void estimate(const ExecutionSpace& exec) {
    constexpr const char* function = "Filigree::ChebyshevPreconditioner";
    static const std::string name = "Filigree::chebyshev_estimate[vector]";
    const std::int64_t rows = this->rows();
    if (m_options.largest_eigenvalue > 0 || rows == 0) {
      *m_largest = m_options.largest_eigenvalue;
      return;
    }
    using Real = Impl::real_t<vector_scalar>;
    using Norm = Sums<Impl::wider_t<vector_scalar, double>, 1>;
    const vector_type v(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, Impl::label("v", "chebyshev", "")),
        static_cast<std::size_t>(rows));
    const vector_type zero(Kokkos::view_alloc(exec, Impl::label("zero", "chebyshev", "")),
                           static_cast<std::size_t>(rows));
    const Kokkos::View<Norm, device_type> squared(
        Kokkos::view_alloc(exec, Impl::label("norm", "chebyshev", "")));
    const auto norm_of = [&](const vector_type& vector) {
      Impl::reduce_rows(exec, name, rows,
                        Impl::SquaredNorm<typename Norm::value_type, vector_scalar>{
                            Impl::multi_vector<vector_type, const vector_scalar>(vector)},
                        squared.data());
      Norm result;
      Kokkos::deep_copy(exec, result, squared);
      exec.fence();
      return std::sqrt(static_cast<double>(Impl::magnitude(result[0])));
    };
    Kokkos::parallel_for(name, Impl::row_range<void>(exec, rows), Impl::StartVector<vector_scalar>{v.data()});
    double norm = norm_of(v);
    double growth = 0;
    for (int i = 0; i < m_options.power_iterations; ++i) {
      Kokkos::parallel_for(name, Impl::row_range<void>(exec, rows),
                           Impl::ScaledCopy<vector_scalar>{v.data(), i == 0 ? v.data() : m_work.data(),
                                                           static_cast<Real>(1 / norm)});
      relaxation_step(exec, m_A, v, zero, m_inverse, StepFactors<vector_scalar>{real(-1), 0, 0}, m_work);
      growth = norm = norm_of(m_work);
      if (!(norm > 0) || !std::isfinite(norm)) break;
    }
    if (!(growth > 0) || !std::isfinite(growth))
      Impl::fail<std::runtime_error>(function,
                                     ": the power method for the largest eigenvalue of D^-1 A gave ", growth,
                                     "; it must give a positive finite number. Check the matrix and D.");
    *m_largest = growth * m_options.safety;
  }

  Matrix m_A;
  Inverse m_inverse;
  ChebyshevOptions m_options;
  vector_type m_work;
  std::shared_ptr<double> m_largest = std::make_shared<double>(0);  ///< also of copies
};

}  // namespace Filigree
