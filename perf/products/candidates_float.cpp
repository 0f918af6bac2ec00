// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "products/candidates_impl.hpp"

namespace FiligreePerf {
template class SpmvProblem<float>;
template std::vector<std::string> candidate_names<float>();
template void for_each_candidate<float>(const std::shared_ptr<SpmvProblem<float>>&, const Wanted&,
                                        const std::function<void(const Candidate&)>&);
}  // namespace FiligreePerf
