// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products of other libraries that ours are measured beside: Kokkos Kernels' merge kernel and, where the
// build has it, cuSPARSE. (Kokkos Kernels' native CRS and BSR are formats of ours: crs and bsr.)
#ifndef FILIGREE_PERF_PRODUCTS_PEERS_HPP
#define FILIGREE_PERF_PRODUCTS_PEERS_HPP

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "products/cusparse.hpp"
#include "products/problem.hpp"

namespace FiligreePerf {

/// What a peer has made of a matrix.
struct PeerProduct {
  std::function<void()> product;
  double storage_bytes = 0;
};

template <class Scalar>
struct Peer {
  std::string name;
  /// Throws a std::logic_error where the peer cannot multiply this matrix.
  std::function<PeerProduct(const std::shared_ptr<SpmvProblem<Scalar>>&)> make;
};

template <class Crs>
double crs_bytes(const Crs& crs) {
  return static_cast<double>(Filigree::MatrixTraits<Crs>::storage_bytes(crs));
}

/// The peers that this build has.
template <class Scalar>
std::vector<Peer<Scalar>> peers() {
  using Problem [[maybe_unused]] = SpmvProblem<Scalar>;
  std::vector<Peer<Scalar>> result;
#if FILIGREE_KOKKOS_KERNELS_TAKES_HANDLE
  result.push_back({"kokkos_kernels_merge", [](const std::shared_ptr<Problem>& problem) {
                      using vector_type = typename Problem::vector_type;
                      using Handle =
                          KokkosSparse::SPMVHandle<typename Problem::execution_space,
                                                   typename Problem::crs_type, vector_type, vector_type>;
                      const auto handle = std::make_shared<Handle>(KokkosSparse::SPMV_MERGE_PATH);
                      return PeerProduct{[=]() {
                                           KokkosSparse::spmv(handle.get(), "N", problem->one, problem->crs,
                                                              problem->x, problem->zero, problem->y);
                                         },
                                         crs_bytes(problem->crs)};
                    }});
#endif
#ifdef FILIGREE_PERF_HAS_CUSPARSE
  const auto add = [&](const std::string& name, CusparseKind kind) {
    result.push_back(
        {name, [kind](const std::shared_ptr<Problem>& problem) {
           const auto product = std::make_shared<CusparseProduct<Problem>>(*problem, kind);
           return PeerProduct{[problem, product]() { product->run(*problem); }, product->storage_bytes()};
         }});
  };
  add("cusparse_csr_alg1", CusparseKind::csr_alg1);
  add("cusparse_csr_alg2", CusparseKind::csr_alg2);
  add("cusparse_sell", CusparseKind::sell);
  add("cusparse_bsr", CusparseKind::bsr);
#endif
  return result;
}

}  // namespace FiligreePerf

#endif
