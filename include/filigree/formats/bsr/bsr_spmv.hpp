// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_BSR_BSR_SPMV_HPP
#define FILIGREE_FORMATS_BSR_BSR_SPMV_HPP

// The product of a BSR matrix is KokkosSparse::spmv, which crs_spmv.hpp wraps for both.
#include "filigree/formats/bsr/bsr_matrix.hpp"
#include "filigree/formats/crs/crs_spmv.hpp"

#endif
