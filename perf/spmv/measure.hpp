// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PERF_SPMV_MEASURE_HPP
#define FILIGREE_PERF_SPMV_MEASURE_HPP

#include <vector>

#include "spmv/options.hpp"
#include "spmv/report.hpp"

namespace FiligreePerf {

/// Makes the problem, checks every format's product, and runs one benchmark a format. Throws
/// std::runtime_error where a product is wrong. One explicit instantiation a scalar, each in a source file of
/// its own so that they compile side by side.
template <class Scalar>
std::vector<Row> measure(const Options& options);

}  // namespace FiligreePerf

#endif
