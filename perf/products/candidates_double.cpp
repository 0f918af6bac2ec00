// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "products/candidates_impl.hpp"

namespace FiligreePerf {
template class SpmvProblem<double>;
template std::vector<std::string> candidate_names<double>();
template void for_each_candidate<double>(const std::shared_ptr<SpmvProblem<double>>&, const Wanted&,
                                         const std::function<void(const Candidate&)>&);
}  // namespace FiligreePerf
