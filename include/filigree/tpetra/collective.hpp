// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <Teuchos_CommHelpers.hpp>

#include <string>

#include "filigree/core/error.hpp"

namespace Filigree::Impl {

/// Sends the text of rank `root` to all ranks.
inline void broadcast_text(const Teuchos::Comm<int>& comm, int root, std::string& text) {
  int length = static_cast<int>(text.size());
  Teuchos::broadcast(comm, root, &length);
  text.resize(static_cast<std::size_t>(length));
  if (length > 0) Teuchos::broadcast(comm, root, length, text.data());
}

/// Runs `work`, which must not communicate, on each rank. If it throws on some ranks, all ranks throw
/// std::runtime_error with the text of the lowest of these ranks. All ranks must call it.
template <class Work>
void on_all_ranks(const Teuchos::Comm<int>& comm, const char* function, const Work& work) {
  std::string error;
  int rank_with_error = comm.getSize();
  try {
    work();
  } catch (const std::exception& caught) {
    error = caught.what();
    rank_with_error = comm.getRank();
  } catch (...) {
    error = "an exception that is not a std::exception.";
    rank_with_error = comm.getRank();
  }
  int first = comm.getSize();
  Teuchos::reduceAll(comm, Teuchos::REDUCE_MIN, rank_with_error, Teuchos::outArg(first));
  if (first == comm.getSize()) return;
  broadcast_text(comm, first, error);
  fail<std::runtime_error>(function, ": error on rank ", first, ": ", error);
}

}  // namespace Filigree::Impl
