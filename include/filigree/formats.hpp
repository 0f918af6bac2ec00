// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of formats: the typed tests, the perf executables and the selector go through it.
#ifndef FILIGREE_FORMATS_HPP
#define FILIGREE_FORMATS_HPP

#include "filigree/formats/bsr/bsr_convert.hpp"
#include "filigree/formats/bsr/bsr_matrix.hpp"
#include "filigree/formats/bsr/bsr_spmv.hpp"
#include "filigree/formats/cds/cds_convert.hpp"
#include "filigree/formats/cds/cds_matrix.hpp"
#include "filigree/formats/cds/cds_spmv.hpp"
#include "filigree/formats/crs/crs_convert.hpp"
#include "filigree/formats/crs/crs_matrix.hpp"
#include "filigree/formats/crs/crs_spmv.hpp"
#include "filigree/formats/ell/ell_convert.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"
#include "filigree/formats/ell/ell_spmv.hpp"

namespace Filigree {

/// A class template of a format as a type, so that it can stand in a list.
template <template <class, class, class, class, class> class Matrix>
struct Format {
  template <class Scalar, class Ordinal, class Device, class MemoryTraits, class SizeType>
  using matrix = Matrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
};

template <class... Formats>
struct FormatList {};

/// Every format that spmv, convert, to_crs and refill take.
using AllFormats = FormatList<Format<CrsMatrix>,
#if FILIGREE_HAS_BSR
                              Format<BsrMatrix>,
#endif
                              Format<EllMatrix>, Format<CdsMatrix>>;

/// Calls visit(Format<...>{}) for each format of a list, in its order.
template <class Visit, class... Formats>
void for_each_format(FormatList<Formats...>, Visit&& visit) {
  (visit(Formats{}), ...);
}

}  // namespace Filigree

#endif
