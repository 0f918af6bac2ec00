// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace FiligreePerf {

/// What this rank has sent from point to point since the program began.
struct SentMessages {
  double bytes = 0;
  double messages = 0;
};

/// Counts by the profiling interface of MPI, so that it sees what Tpetra really sends.
SentMessages sent_messages();

}  // namespace FiligreePerf
