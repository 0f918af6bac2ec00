// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "products/candidates_impl.hpp"

namespace FiligreePerf {
using scalar = Kokkos::complex<float>;
template class SpmvProblem<scalar>;
template std::vector<std::string> candidate_names<scalar>();
template void for_each_candidate<scalar>(const std::shared_ptr<SpmvProblem<scalar>>&, const Wanted&,
                                         const std::function<void(const Candidate&)>&);
}  // namespace FiligreePerf
