// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The solvers of this library with a preconditioner of Kokkos Kernels, and their GMRES with the products of this
// library.
#include <filigree/solve/chebyshev.hpp>
#include <filigree/solve/conjugate_gradients.hpp>
#include <filigree/tune/optimize.hpp>
#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_gauss_seidel.hpp>
#if __has_include(<KokkosSparse_gmres.hpp>)
#include <KokkosSparse_gmres.hpp>
#define HAS_GMRES 1
#else
#define HAS_GMRES 0
#endif

#include "krylov_tests.hpp"

// They were in Experimental before Kokkos Kernels 4.
namespace KokkosSparse::Experimental {}

namespace FiligreeTest {
namespace {

using Matrix = Crs<double>;
using Vector = Kokkos::View<double*, Device>;
using Handle =
    KokkosKernels::Experimental::KokkosKernelsHandle<Matrix::const_size_type, Matrix::const_ordinal_type,
                                                     Matrix::const_value_type, ExecutionSpace,
                                                     Device::memory_space, Device::memory_space>;

/// Symmetric Gauss-Seidel of Kokkos Kernels, as a preconditioner of this library.
class KokkosGaussSeidel {
 public:
  explicit KokkosGaussSeidel(const Matrix& A) : m_A(A), m_handle(std::make_shared<Handle>()) {
    using namespace KokkosSparse;
    using namespace KokkosSparse::Experimental;
    m_handle->create_gs_handle(KokkosSparse::GS_DEFAULT);
    gauss_seidel_symbolic(m_handle.get(), A.numRows(), A.numCols(), A.graph.row_map, A.graph.entries, true);
    gauss_seidel_numeric(m_handle.get(), A.numRows(), A.numCols(), A.graph.row_map, A.graph.entries, A.values,
                         true);
  }
  ~KokkosGaussSeidel() {
    if (m_handle.use_count() == 1) m_handle->destroy_gs_handle();
  }
  KokkosGaussSeidel(const KokkosGaussSeidel&) = default;
  KokkosGaussSeidel& operator=(const KokkosGaussSeidel&) = delete;

  template <class RView, class ZView>
  void apply(const ExecutionSpace& exec, const RView& r, const ZView& z) const {
    using namespace KokkosSparse;
    using namespace KokkosSparse::Experimental;
    // The functions of older versions run on the default instance.
    exec.fence();
    symmetric_gauss_seidel_apply(m_handle.get(), m_A.numRows(), m_A.numCols(), m_A.graph.row_map,
                                 m_A.graph.entries, m_A.values, z, r, true, true, 1.0, 1);
    ExecutionSpace().fence();
  }

 private:
  Matrix m_A;
  std::shared_ptr<Handle> m_handle;
};

TEST(KokkosKernels, GivesThePreconditionerOfASolver) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(24, 20, 0));
  const auto crs = device_crs(system.matrix);
  const auto b = device_list<Vector>(system.b);
  const auto A = Filigree::convert<Filigree::SellMatrix>(crs);
  using Sell = std::decay_t<decltype(A)>;
  const Vector x("x", system.b.size()), other_x("x", system.b.size());
  const Filigree::ConjugateGradients<ExecutionSpace, Sell, KokkosGaussSeidel> solver(ExecutionSpace(), A,
                                                                                     KokkosGaussSeidel(crs));
  const auto result = solver.solve(b, x);
  EXPECT_TRUE(is_solved(system, Outcome<double>{result, host_list(x)}, 1e-8));
  const auto without =
      Filigree::ConjugateGradients<ExecutionSpace, Sell>(ExecutionSpace(), A).solve(b, other_x);
  EXPECT_LT(result.iterations, without.iterations);
}

#if HAS_GMRES
/// A preconditioner of this library, with the matrix in the format that optimize() chose, for GMRES of Kokkos Kernels.
template <class Inner>
class ForKokkosKernels : public KokkosSparse::Experimental::Preconditioner<Matrix> {
 public:
  ForKokkosKernels(const Inner& inner, std::size_t rows) : m_inner(inner), m_z("z", rows) {}

  void apply(const Kokkos::View<const double*, Device>& x, const Kokkos::View<double*, Device>& y,
             const char[], double alpha, double beta) const override {
    const ExecutionSpace exec;
    m_inner.apply(exec, x, m_z);
    Kokkos::parallel_for("add", Kokkos::RangePolicy<ExecutionSpace>(exec, 0, static_cast<int>(y.extent(0))),
                         Add{y, m_z, alpha, beta});
    ++applications;
  }
  void setParameters() override {}
  void initialize() override {}
  bool isInitialized() const override { return true; }
  void compute() override {}
  bool isComputed() const override { return true; }

  mutable int applications = 0;

 private:
  struct Add {
    Kokkos::View<double*, Device> y;
    Vector z;
    double alpha, beta;
    KOKKOS_FUNCTION void operator()(const int i) const {
      y(i) = alpha * z(i) + (beta == 0 ? 0 : beta * y(i));
    }
  };
  Inner m_inner;
  Vector m_z;
};

TEST(KokkosKernels, TakesThePreconditionerOfThisLibrary) {
  const auto system = with_random_b("diffusion", convection_diffusion<double>(24, 20, 0));
  const auto crs = device_crs(system.matrix);
  const auto b = device_list<Vector>(system.b);
  const auto A = Filigree::optimize(crs);
  using Any = std::decay_t<decltype(A)>;
  const auto inverse = Filigree::inverse_diagonal(ExecutionSpace(), A);
  using Chebyshev = Filigree::ChebyshevPreconditioner<ExecutionSpace, Any, std::decay_t<decltype(inverse)>>;
  ForKokkosKernels<Chebyshev> preconditioner(Chebyshev(ExecutionSpace(), A, inverse), system.b.size());
  const auto iterations = [&](KokkosSparse::Experimental::Preconditioner<Matrix>* used) {
    Handle handle;
    handle.create_gmres_handle(50, 1e-9, 50);
    const Vector x("x", system.b.size());
    auto matrix = crs;
    auto right = b;
    auto solution = x;
    KokkosSparse::Experimental::gmres(&handle, matrix, right, solution, used);
    const auto found = handle.get_gmres_handle()->get_num_iters();
    handle.destroy_gmres_handle();
    const auto r = dense_residual(Dense(system.matrix), wide_list(host_list(x)), wide_list(system.b));
    EXPECT_LE(norm(r), 1.01e-9L * norm(wide_list(system.b)));
    return static_cast<int>(found);
  };
  const int without = iterations(nullptr);
  const int with = iterations(&preconditioner);
  EXPECT_LT(with, without);
  EXPECT_GT(preconditioner.applications, 0);
}
#endif

}  // namespace
}  // namespace FiligreeTest
