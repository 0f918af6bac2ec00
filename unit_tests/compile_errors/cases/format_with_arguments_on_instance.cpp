// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: Filigree::convert: name the format without template arguments
#include "types.hpp"

Ell use(const ExecutionSpace& exec, const Crs& crs) {
#ifdef MISTAKE
  return Filigree::convert<Filigree::EllMatrix<double, int, Device, void, int>>(exec, crs,
                                                                                Filigree::EllOptions());
#else
  return Filigree::convert<Filigree::EllMatrix>(exec, crs, Filigree::EllOptions());
#endif
}
