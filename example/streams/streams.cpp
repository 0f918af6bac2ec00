// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several products of one matrix at once, on several instances of the execution space. On a GPU each instance
// is a stream. A product of a small matrix uses only a part of a GPU, so that products on several streams
// overlap.
//
//     streams [cells per axis] [number of products]
#include <filigree/convert.hpp>
#include <filigree/grid/stencil_problem.hpp>
#include <filigree/spmv.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <vector>

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Vector = Kokkos::View<double*, Device>;
using Sell = Filigree::SellMatrix<double, int, Device, void, int>;

/// Up to `most` instances that work side by side. A host has at most one per thread, and Serial has one.
std::vector<ExecutionSpace> make_instances(int most) {
  const ExecutionSpace whole;
  const int count = std::min(most, static_cast<int>(whole.concurrency()));
#if KOKKOS_VERSION >= 40000
  return Kokkos::Experimental::partition_space(whole,
                                               std::vector<double>(static_cast<std::size_t>(count), 1.0));
#else
  // Kokkos 3.4 has no partition_space. Copies of one instance run one after another.
  return std::vector<ExecutionSpace>(static_cast<std::size_t>(count), whole);
#endif
}

/// Seconds of one product per vector. Product k runs on instance k modulo their number.
double multiply_all(const std::vector<ExecutionSpace>& instances, const Sell& A, const std::vector<Vector>& x,
                    const std::vector<Vector>& y) {
  Kokkos::fence();
  Kokkos::Timer timer;
  for (std::size_t k = 0; k < x.size(); ++k)
    Filigree::spmv(instances[k % instances.size()], "N", 1.0, A, x[k], 0.0, y[k]);
  for (const ExecutionSpace& instance : instances)
    instance.fence();
  return timer.seconds();
}

/// The number of elements in which a and b do not have the same bits.
int count_differences(const Vector& a, const Vector& b) {
  int differences = 0;
  Kokkos::parallel_reduce(
      "streams::compare", Kokkos::RangePolicy<ExecutionSpace>(0, a.extent(0)),
      KOKKOS_LAMBDA(const int i, int& part) { part += a(i) != b(i) ? 1 : 0; }, differences);
  return differences;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const int cells = argc > 1 ? std::atoi(argv[1]) : 20;
  const int count = argc > 2 ? std::atoi(argv[2]) : 64;
  if (cells < 2 || cells > 400 || count < 1) {
    std::cerr << "usage: streams [cells per axis, 2 to 400] [number of products, 1 or more]\n";
    return EXIT_FAILURE;
  }
  const auto products = static_cast<std::size_t>(count);
  const Filigree::StencilProblem<> problem({cells, cells, cells}, Filigree::Stencil::seven_point(), 2);
  const Crs crs = problem.crs<Crs>();
  const Sell A = Filigree::convert<Filigree::SellMatrix>(crs);
  std::cout << A.numRows() << " rows, " << A.nnz() << " entries, " << products << " products\n";

  std::vector<Vector> x, one_by_one, at_once;
  for (std::size_t k = 0; k < products; ++k) {
    const Vector vector("x", A.numCols());
    Kokkos::parallel_for(
        "streams::fill_x", Kokkos::RangePolicy<ExecutionSpace>(0, A.numCols()),
        KOKKOS_LAMBDA(const int i) { vector(i) = 1.0 + 0.01 * ((i + static_cast<int>(k)) % 100); });
    x.push_back(vector);
    one_by_one.emplace_back("one_by_one", A.numRows());
    at_once.emplace_back("at_once", A.numRows());
  }
  Kokkos::fence();  // the vectors are filled on the default instance, and other instances do not wait for it

  const std::vector<ExecutionSpace> one = make_instances(1), several = make_instances(4);
  multiply_all(one, A, x, one_by_one);  // the first product on an instance may set up memory
  multiply_all(several, A, x, at_once);
  const double one_time = multiply_all(one, A, x, one_by_one);
  const double several_time = multiply_all(several, A, x, at_once);
  std::cout << "instances: " << one.size() << ", " << 1e3 * one_time << " ms\n"
            << "instances: " << several.size() << ", " << 1e3 * several_time << " ms\n";

  // Each product has the same bits, whichever instance computes it and whatever else runs.
  int differences = 0;
  for (std::size_t k = 0; k < products; ++k)
    differences += count_differences(one_by_one[k], at_once[k]);
  std::cout << differences << " of " << products * static_cast<std::size_t>(A.numRows())
            << " numbers differ\n";
  return differences == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
