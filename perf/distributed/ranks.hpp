// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times and sums over all ranks.
#pragma once

#include <Teuchos_CommHelpers.hpp>

#include <functional>
#include <Kokkos_Timer.hpp>
#include <vector>

#include "measure/recommendation.hpp"

namespace FiligreePerf {

using Comm = Teuchos::RCP<const Teuchos::Comm<int>>;

inline double largest(const Comm& comm, double value) {
  double result = 0;
  Teuchos::reduceAll(*comm, Teuchos::REDUCE_MAX, value, Teuchos::outArg(result));
  return result;
}
inline double sum(const Comm& comm, double value) {
  double result = 0;
  Teuchos::reduceAll(*comm, Teuchos::REDUCE_SUM, value, Teuchos::outArg(result));
  return result;
}

/// Seconds of the slowest rank. All ranks begin at the same time, and all get the same result.
inline double slowest_seconds(const Comm& comm, const std::function<void()>& work) {
  Kokkos::fence();
  comm->barrier();
  const Kokkos::Timer timer;
  work();
  Kokkos::fence();
  return largest(comm, timer.seconds());
}

/// The median of `samples` times, after one that does not count.
inline double median_slowest_seconds(const Comm& comm, int samples, const std::function<void()>& work) {
  std::vector<double> times;
  slowest_seconds(comm, work);
  for (int i = 0; i < samples; ++i)
    times.push_back(slowest_seconds(comm, work));
  return quantile(times, 0.5);
}

}  // namespace FiligreePerf
