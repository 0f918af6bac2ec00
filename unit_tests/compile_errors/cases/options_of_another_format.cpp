// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: the options must have the type of the options of this format, for example
#include "types.hpp"

// Options may be of a class that is derived from those of the format.
struct MyOptions : Filigree::EllOptions {};

Ell use(const Crs& crs) {
#ifdef MISTAKE
  return Filigree::convert<Filigree::EllMatrix>(crs, Filigree::CdsOptions());
#else
  return Filigree::convert<Filigree::EllMatrix>(crs, MyOptions());
#endif
}
