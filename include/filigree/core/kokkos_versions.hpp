// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Differences between the versions of Kokkos and Kokkos Kernels. Supported are 3.4 (Debian 12 and 13) to 5.x.
// Other files must not test a version: each difference has a feature macro in this file. KOKKOS_VERSION stands
// for both: Kokkos Kernels needs a Kokkos of about its own version, and older ones do not define theirs.
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <Kokkos_Core.hpp>

#if KOKKOS_VERSION < 30400
#error "Filigree needs Kokkos 3.4 or newer."
#endif

namespace Filigree::Impl {
/// The lanes of a team: its threads times their vector lanes. Kokkos has no public function for the latter.
template <class Policy>
int lanes_of_team(const Policy& policy) {
  return policy.team_size() * policy.impl_vector_length();
}
/// The square root, which older versions have in another namespace.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real square_root(const Real& value) {
#if KOKKOS_VERSION >= 30700
  return Kokkos::sqrt(value);
#else
  return Kokkos::Experimental::sqrt(value);
#endif
}
}  // namespace Filigree::Impl

/// 1 if Kokkos Kernels has BsrMatrix and a product for it (3.6 and newer), else 0.
#define FILIGREE_HAS_BSR (KOKKOS_VERSION >= 30600)

/// 1 if KokkosSparse::spmv takes an execution space instance and an SPMVHandle (4.3 and newer), else 0.
#define FILIGREE_KOKKOS_KERNELS_TAKES_HANDLE (KOKKOS_VERSION >= 40300)

/// 1 if the host kernels of KokkosSparse::spmv conjugate A in mode C (3.7 and newer), else 0.
#define FILIGREE_KOKKOS_KERNELS_CONJUGATES (KOKKOS_VERSION >= 30700)

/// 1 if Kokkos Kernels has KokkosSparse::CooMatrix (4.1 and newer), else 0.
#if __has_include(<KokkosSparse_CooMatrix.hpp>)
#define FILIGREE_HAS_KOKKOS_COO 1
#else
#define FILIGREE_HAS_KOKKOS_COO 0
#endif

/// 1 if Kokkos has a sort for teams (4.0 and newer), 0 if it is in Kokkos Kernels.
#if __has_include(<Kokkos_NestedSort.hpp>)
#define FILIGREE_KOKKOS_SORTS_IN_TEAMS 1
#else
#define FILIGREE_KOKKOS_SORTS_IN_TEAMS 0
#endif

/// 1 if Kokkos Kernels declares its Matrix Market reader in KokkosSparse_IOUtils.hpp, 0 if it does so in
/// KokkosKernels_IOUtils.hpp.
#if __has_include(<KokkosSparse_IOUtils.hpp>)
#define FILIGREE_KOKKOS_KERNELS_HAS_SPARSE_IO 1
#else
#define FILIGREE_KOKKOS_KERNELS_HAS_SPARSE_IO 0
#endif

/// 1 if half_t of Kokkos has 16 bits, 0 if it is another name of float or missing. Depends on the backend.
#if defined(KOKKOS_HALF_T_IS_FLOAT)
#define FILIGREE_KOKKOS_HAS_HALF (KOKKOS_VERSION >= 40000 && !(KOKKOS_HALF_T_IS_FLOAT))
#else
#define FILIGREE_KOKKOS_HAS_HALF 0
#endif

/// 1 if bhalf_t of Kokkos has 16 bits, 0 if it is another name of float or missing. Depends on the backend.
#if defined(KOKKOS_BHALF_T_IS_FLOAT)
#define FILIGREE_KOKKOS_HAS_BHALF (KOKKOS_VERSION >= 40000 && !(KOKKOS_BHALF_T_IS_FLOAT))
#else
#define FILIGREE_KOKKOS_HAS_BHALF 0
#endif
