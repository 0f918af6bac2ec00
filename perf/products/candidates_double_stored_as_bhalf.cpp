// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "products/candidates_impl.hpp"

#if FILIGREE_HAS_BHALF
namespace FiligreePerf {
template void for_each_stored_candidate<double, Filigree::bhalf_t>(
    const std::shared_ptr<SpmvProblem<double>>&, const Wanted&, const std::function<void(const Candidate&)>&);
}  // namespace FiligreePerf
#endif
