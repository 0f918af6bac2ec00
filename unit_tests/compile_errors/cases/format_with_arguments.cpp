// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: name the format without template arguments, for example
#include "types.hpp"

Ell use(const Crs& crs) {
#ifdef MISTAKE
  return Filigree::convert<Ell>(crs);
#else
  return Filigree::convert<Filigree::EllMatrix>(crs);
#endif
}
