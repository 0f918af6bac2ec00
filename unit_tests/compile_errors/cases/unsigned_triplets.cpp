// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// expect: the type of row and column indices, must be signed
#include "types.hpp"

#ifdef MISTAKE
using Index = unsigned;
#else
using Index = int;
#endif

auto use(const Kokkos::View<Index*, Device>& rows, const Kokkos::View<Index*, Device>& columns,
         const Vector& values) {
  return Filigree::make_coo(Index(4), Index(4), rows, columns, values);
}
