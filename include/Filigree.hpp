// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Includes all public headers of Filigree.
#pragma once

#include "filigree/check.hpp"
#include "filigree/convert.hpp"
#include "filigree/core/version.hpp"
#include "filigree/diagonal.hpp"
#include "filigree/formats.hpp"
#include "filigree/grid/stencil_problem.hpp"
#include "filigree/io/matrix_market.hpp"
#include "filigree/scaled.hpp"
#include "filigree/solve/bicgstab.hpp"
#include "filigree/solve/block_conjugate_gradients.hpp"
#include "filigree/solve/chebyshev.hpp"
#include "filigree/solve/conjugate_gradients.hpp"
#include "filigree/solve/gauss_seidel.hpp"
#include "filigree/solve/gmres.hpp"
#include "filigree/solve/line_preconditioner.hpp"
#include "filigree/solve/pipelined_conjugate_gradients.hpp"
#include "filigree/spmv.hpp"
#include "filigree/tune/ellr_t_model.hpp"
#include "filigree/tune/optimize.hpp"

/// @namespace Filigree
/// Formats of sparse matrices and their products. Names in Filigree::Impl are not for users and may change.
