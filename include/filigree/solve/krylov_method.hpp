// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>

#include "filigree/solve/preconditioner.hpp"
#include "filigree/solve/residual_norms.hpp"
#include "filigree/solve/solver.hpp"

namespace Filigree::Impl {

/// What all Krylov methods have: the matrix, the preconditioner, the options, and the types of their vectors.
template <class ExecutionSpace, class Matrix, class Preconditioner, class Options>
class KrylovMethod {
 public:
  /// The scalar type of A.
  using scalar_type = typename MatrixTraits<Matrix>::value_type;
  using vector_scalar = wider_t<scalar_type>;        ///< of the vectors of the method
  using number_type = wider_t<scalar_type, double>;  ///< of dot products
  /// Where the vectors are.
  using device_type = Kokkos::Device<ExecutionSpace, typename MatrixTraits<Matrix>::memory_space>;
  /// A vector of the method.
  using vector_type = Kokkos::View<vector_scalar*, device_type>;

 protected:
  using real_type = real_t<number_type>;
  using norms_type = Kokkos::View<Sums<number_type, 2>, device_type>;
  template <class View>
  using mirror_type = typename decltype(Kokkos::create_mirror(View()))::non_const_type;
  static constexpr bool is_elementwise = is_elementwise_v<Preconditioner>;
  static constexpr bool has_preconditioner = !std::is_same_v<Preconditioner, NoPreconditioner>;

  /// `function` is that of error texts, and `method` that of labels. See the constructors of the methods.
  KrylovMethod(const char* function, const char* method, const ExecutionSpace& exec, const Matrix& A,
               const Preconditioner& preconditioner, const Options& options)
      : m_method(method), m_exec(exec), m_A(A), m_preconditioner(preconditioner), m_options(options) {
    check_initialized(function);
    check_square(function, A);
    check_solver_options(function, options);
    check_preconditioner(function, preconditioner, rows());
    m_norms = norms_type(initialized("norms"));
    m_host_norms = Kokkos::create_mirror(m_norms);
  }

  /// The rows of A.
  std::int64_t rows() const { return MatrixTraits<Matrix>::num_rows(m_A); }
  /// What a View needs to be allocated, with a label, and with zeros in the first case.
  auto initialized(const char* what) const { return Kokkos::view_alloc(m_exec, label(what, m_method, "")); }
  auto uninitialized(const char* what) const {
    return Kokkos::view_alloc(m_exec, Kokkos::WithoutInitializing, label(what, m_method, ""));
  }
  vector_type vector(const char* what) const {
    return vector_type(uninitialized(what), static_cast<std::size_t>(rows()));
  }
  /// M^-1 for the kernels of the method; the identity if M^-1 is not applied within kernels.
  auto inverse() const {
    if constexpr (is_elementwise)
      return m_preconditioner.element_inverse();
    else
      return IdentityInverse();
  }

  template <class BView, class XView>
  void check_arguments_of_solve(const char* function, const BView& b, const XView& x) const {
    check_types_of_solve<BView, XView>();
    check_extents_of_vector(function, "b", b, rows(), 1);
    check_extents_of_vector(function, "x", x, rows(), 1);
    check_no_overlap(function, "b", b, "x", x);
  }
  /// Queues r = b - A x, and then waits for the squares of the norms of r and of b, which m_host_norms has then.
  template <class BView, class XView, class RView>
  void residual_and_norms(const BView& b, const XView& x, const RView& r) {
    Impl::residual_and_norms(m_exec, m_A, x, b, r, m_norms);
    Kokkos::deep_copy(m_exec, m_host_norms, m_norms);
    m_exec.fence();
  }

  /// The numbers of iterations in a ring: those of the iterations since the last check, and of the next one.
  std::size_t ring() const {
    return static_cast<std::size_t>(std::min(m_options.iterations_per_check, m_options.most_iterations)) + 1;
  }
  std::size_t slot(int iteration) const { return static_cast<std::size_t>(iteration) % ring(); }
  /// The iterations that may be queued when `queued` are, up to the next check.
  int end_of_queue(int queued) const {
    return queued + std::min(m_options.iterations_per_check, m_options.most_iterations - queued);
  }

  const char* m_method;
  ExecutionSpace m_exec;
  Matrix m_A;
  Preconditioner m_preconditioner;
  Options m_options;
  norms_type m_norms;
  mirror_type<norms_type> m_host_norms;
};

}  // namespace Filigree::Impl
