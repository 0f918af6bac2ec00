// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spmv/measure_impl.hpp"

template std::vector<FiligreePerf::Row> FiligreePerf::measure<float>(const Options&);
