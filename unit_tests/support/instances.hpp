// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <Kokkos_Core.hpp>

#include "host_matrix.hpp"

namespace Kokkos {
namespace Experimental {}
}  // namespace Kokkos

namespace FiligreeTest {

namespace WithoutPartition {
/// Replaces Kokkos::Experimental::partition_space on a Kokkos that lacks it. If Kokkos has the function,
/// overload resolution chooses that of Kokkos, because an ellipsis ranks last.
template <class Space>
std::array<Space, 1> partition_space(const Space& space, ...) {
  return {space};
}
}  // namespace WithoutPartition

/// An execution space instance other than the default one, or the default one if this Kokkos cannot make
/// another.
inline ExecutionSpace another_instance() {
  using namespace Kokkos::Experimental;
  using namespace WithoutPartition;
  return partition_space(ExecutionSpace(), 1)[0];
}

}  // namespace FiligreeTest
