// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only file that compiles the conversions and products of all formats. It takes the time that they take,
// so it does nothing else.
#include "link_matrix.hpp"

#include <filigree/tune/optimize.hpp>

namespace {
Filigree::OptimizeOptions options_for(double products) {
  Filigree::OptimizeOptions options;
  options.products = products;
  return options;
}
}  // namespace

LinkMatrix::LinkMatrix(const Crs& crs, double products)
    : m_matrix(Filigree::optimize(crs, options_for(products))) {}

void LinkMatrix::multiply(const ExecutionSpace& exec, double alpha, const Vector& x, double beta,
                          const Vector& y) const {
  Filigree::spmv(exec, "N", alpha, m_matrix, x, beta, y);
}

void LinkMatrix::update(const ExecutionSpace& exec, const Crs& crs) {
  Filigree::refill(exec, m_matrix, crs);
}
