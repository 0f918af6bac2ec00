// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The peers, that is products of other libraries: Kokkos Kernels' merge kernel and, if the build has it,
// cuSPARSE. Kokkos Kernels' CRS and BSR products are measured as the formats crs and bsr.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "products/cusparse.hpp"
#include "products/problem.hpp"

namespace FiligreePerf {

/// The product of a peer, ready to run. It keeps the matrix of the peer alive.
struct PeerProduct {
  std::function<void()> product;
  double storage_bytes = 0;
};

/// A peer and the function that prepares its product.
template <class Problem>
struct Peer {
  std::string name;
  /// Throws a std::logic_error if the peer cannot multiply this matrix.
  std::function<PeerProduct(const std::shared_ptr<Problem>&)> make;
};

template <class Crs>
double crs_bytes(const Crs& crs) {
  return static_cast<double>(Filigree::MatrixTraits<Crs>::storage_bytes(crs));
}

/// The peers of this build. The merge kernel of Kokkos Kernels has one column of x.
template <class Problem>
std::vector<Peer<Problem>> peers() {
  std::vector<Peer<Problem>> result;
#if FILIGREE_KOKKOS_KERNELS_TAKES_HANDLE
  if constexpr (!Problem::has_several_columns)
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
  if constexpr (Problem::has_several_columns) add("cusparse_csr_alg3", CusparseKind::csr_alg3);
  add("cusparse_sell", CusparseKind::sell);
  add("cusparse_bsr", CusparseKind::bsr);
#endif
  return result;
}

}  // namespace FiligreePerf
