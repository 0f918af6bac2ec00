// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of the cases.
#pragma once

#include <Filigree.hpp>

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Ell = Filigree::EllMatrix<double, int, Device, void, int>;
using Vector = Kokkos::View<double*, Device>;
