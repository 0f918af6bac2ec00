// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A class with an AnyMatrix as a member. This header names the type but calls no template of Filigree, so
// that files which include it compile in seconds. Only link_matrix.cpp compiles the products of all formats.
#pragma once

#include <filigree/tune/any_matrix.hpp>

#include <string>

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Vector = Kokkos::View<double*, Device>;

/// The links between the pages of a small web. Copies share the matrix.
class LinkMatrix {
 public:
  /// @param crs       row i, column j: the probability that a reader of page j goes on to page i
  /// @param products  the planned products, by which optimize() weighs the time of a conversion
  LinkMatrix(const Crs& crs, double products);

  /// y = alpha A x + beta y on the given instance, which does not wait.
  void multiply(const ExecutionSpace& exec, double alpha, const Vector& x, double beta,
                const Vector& y) const;

  /// Takes the values of a matrix with the same pattern. Throws std::invalid_argument for another pattern.
  void update(const ExecutionSpace& exec, const Crs& crs);

  int pages() const { return m_matrix.numRows(); }
  /// The format that optimize() picked.
  std::string format() const { return m_matrix.selection().picked; }

 private:
  Filigree::AnyMatrix<double, int, Device, void, int> m_matrix;
};
