// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_TEST_INSTANCES_HPP
#define FILIGREE_TEST_INSTANCES_HPP

#include <array>
#include <Kokkos_Core.hpp>

#include "host_matrix.hpp"

namespace Kokkos {
namespace Experimental {}
}  // namespace Kokkos

namespace FiligreeTest {

namespace WithoutPartition {
/// Loses against Kokkos::Experimental::partition_space wherever Kokkos has that.
template <class Space>
std::array<Space, 1> partition_space(const Space& space, ...) {
  return {space};
}
}  // namespace WithoutPartition

/// An instance that is not the default one, where this Kokkos can make one.
inline ExecutionSpace another_instance() {
  using namespace Kokkos::Experimental;
  using namespace WithoutPartition;
  return partition_space(ExecutionSpace(), 1)[0];
}

}  // namespace FiligreeTest

#endif
