// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Krylov methods made of the products of Kokkos Kernels and of KokkosBlas, with the diagonal as preconditioner. They are
// what the methods of this library are compared with.
#pragma once

#include <cmath>
#include <filigree/diagonal.hpp>
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_mult.hpp>
#include <KokkosBlas1_reciprocal.hpp>
#include <KokkosSparse_spmv.hpp>
#if __has_include(<KokkosSparse_gmres.hpp>)
#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_gmres.hpp>
#define FILIGREE_PERF_HAS_KOKKOS_GMRES 1
#else
#define FILIGREE_PERF_HAS_KOKKOS_GMRES 0
#endif

namespace FiligreePerf {

/// z = D^-1 r with KokkosBlas.
template <class Crs>
class KokkosJacobi {
 public:
  using vector_type = Kokkos::View<double*, typename Crs::device_type>;

  explicit KokkosJacobi(const Crs& A) : m_inverse("inverse", static_cast<std::size_t>(A.numRows())) {
    KokkosBlas::reciprocal(m_inverse, Filigree::diagonal(A));
  }
  template <class R, class Z>
  void apply(const R& r, const Z& z, double alpha = 1, double beta = 0) const {
    KokkosBlas::mult(beta, z, alpha, m_inverse, r);
  }

 private:
  vector_type m_inverse;
};

/// BiCGStab for A x = b, beginning with x = 0. Returns the number of iterations. The operations are those of
/// Filigree::BiCgStab.
template <class Crs, class Vector>
int solve_by_kokkos_bicgstab(const Crs& A, const KokkosJacobi<Crs>& jacobi, const Vector& b, const Vector& x,
                             double tolerance, int most_iterations) {
  const auto vector = [&](const char* name) { return Vector(std::string(name), b.extent(0)); };
  const Vector r = vector("r"), r0 = vector("r0"), p = vector("p"), v = vector("v"), t = vector("t"),
               y = vector("y"), z = vector("z");
  Kokkos::deep_copy(x, 0.0);
  Kokkos::deep_copy(r, b);
  Kokkos::deep_copy(r0, b);
  Kokkos::deep_copy(p, b);
  const double limit = tolerance * std::sqrt(KokkosBlas::dot(b, b));
  double rho = KokkosBlas::dot(r0, r);
  int iterations = 0;
  while (iterations < most_iterations) {
    jacobi.apply(p, y);
    KokkosSparse::spmv("N", 1.0, A, y, 0.0, v);
    const double alpha = rho / KokkosBlas::dot(r0, v);
    KokkosBlas::axpy(-alpha, v, r);
    jacobi.apply(r, z);
    KokkosSparse::spmv("N", 1.0, A, z, 0.0, t);
    const double omega = KokkosBlas::dot(t, r) / KokkosBlas::dot(t, t);
    KokkosBlas::axpy(alpha, y, x);
    KokkosBlas::axpy(omega, z, x);
    KokkosBlas::axpy(-omega, t, r);
    ++iterations;
    if (!(std::sqrt(KokkosBlas::dot(r, r)) > limit)) break;
    const double next = KokkosBlas::dot(r0, r);
    const double beta = next / rho * (alpha / omega);
    KokkosBlas::axpy(-omega, v, p);
    KokkosBlas::axpby(1.0, r, beta, p);
    rho = next;
  }
  return iterations;
}

#if FILIGREE_PERF_HAS_KOKKOS_GMRES
/// KokkosJacobi as their GMRES wants it.
template <class Crs>
class KokkosJacobiForGmres : public KokkosSparse::Experimental::Preconditioner<Crs> {
 public:
  using device_type = Kokkos::Device<typename Crs::execution_space, typename Crs::memory_space>;

  explicit KokkosJacobiForGmres(const Crs& A) : m_jacobi(A) {}
  void apply(const Kokkos::View<const double*, device_type>& x, const Kokkos::View<double*, device_type>& y,
             const char[], double alpha, double beta) const override {
    m_jacobi.apply(x, y, alpha, beta);
  }
  void setParameters() override {}
  void initialize() override {}
  bool isInitialized() const override { return true; }
  void compute() override {}
  bool isComputed() const override { return true; }

 private:
  KokkosJacobi<Crs> m_jacobi;
};

/// GMRES of Kokkos Kernels with `restart` vectors, beginning with x = 0. Returns the number of iterations.
template <class Crs, class Vector>
int solve_by_kokkos_gmres(const Crs& A, KokkosJacobiForGmres<Crs>& jacobi, const Vector& b, const Vector& x,
                          double tolerance, int most_iterations, int restart) {
  KokkosKernels::Experimental::KokkosKernelsHandle<
      typename Crs::const_size_type, typename Crs::const_ordinal_type, const double,
      typename Crs::execution_space, typename Crs::memory_space, typename Crs::memory_space>
      handle;
  handle.create_gmres_handle(restart, tolerance, most_iterations / restart + 1);
  Kokkos::deep_copy(x, 0.0);
  Crs matrix = A;
  Vector right = b, solution = x;
  KokkosSparse::Experimental::gmres(&handle, matrix, right, solution, &jacobi);
  const int iterations = static_cast<int>(handle.get_gmres_handle()->get_num_iters());
  handle.destroy_gmres_handle();
  return iterations;
}
#endif

}  // namespace FiligreePerf
