// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/require_cxx17.hpp"

#include <Teuchos_ParameterList.hpp>

#include <sstream>
#include <string>

#include "filigree/distributed/optimize_to.hpp"
#include "filigree/tpetra/collective.hpp"

namespace Filigree {

/// Whether the ranks multiply their owned and their remote columns one after the other. All ranks do the same,
/// because one that waits for the exchange at once would wait for the products of the others (see
/// docs/performance.md, "Splitting the columns").
enum class TpetraSplit {
  if_faster,  ///< if few rows have remote columns, or if it is predicted to be faster
  always,     ///< so that the product of the owned columns overlaps with the exchange
  never       ///< all columns in one format, after the exchange
};

/// Options of TpetraOperator. All ranks must give the same.
struct TpetraOptions {
  /// The format of the owned columns, or of all columns if they are not split: a name of a variant, as
  /// filigree_spmv prints it, such as "cds" or "sell". If it is empty, optimize() picks a format on each rank.
  std::string format;
  /// The same for the remote columns.
  std::string remote_format;
  /// Whether the ranks split their columns. If a format is named, if_faster splits them.
  TpetraSplit split = TpetraSplit::if_faster;
  /// The options of optimize(). If a format is named, its limits and block size hold for that format.
  OptimizeOptions optimize;
};

namespace Impl {

/// Parameters of an exchange whose sends return at once. A blocking send, Tpetra's default, may wait until the
/// receiver calls MPI, which it does not do while it multiplies (see docs/performance.md, "Sends that return
/// at once").
inline Teuchos::RCP<Teuchos::ParameterList> exchange_parameters() {
  const auto parameters = Teuchos::parameterList();
  parameters->set("Send type", "Isend");
  return parameters;
}

/// The options that must be the same on all ranks, in one line. The others may differ: the label, the rounding and the
/// speed of the device. share_crs has no effect.
inline std::string options_text(const TpetraOptions& options) {
  const OptimizeOptions& one = options.optimize;
  std::ostringstream text;
  text << "format \"" << options.format << "\", remote_format \"" << options.remote_format << "\", split "
       << static_cast<int>(options.split) << ", products " << one.products << ", block_size "
       << one.block_size << ", time_best " << one.time_best << ", most_bytes " << one.most_bytes
       << ", max_storage_ratio " << one.max_storage_ratio << ", check_input " << one.check_input
       << ", symmetric " << one.symmetric << ", symmetry_tolerance " << one.symmetry_tolerance
       << ", repeated_blocks " << one.repeated_blocks;
  return text.str();
}

/// All ranks throw std::runtime_error if their options differ.
inline void check_same_options(const Teuchos::Comm<int>& comm, const char* function,
                               const TpetraOptions& options) {
  const std::string own_options = options_text(options);
  std::string options_of_root = own_options;
  broadcast_text(comm, 0, options_of_root);
  on_all_ranks(comm, function, [&]() {
    if (own_options != options_of_root)
      fail<std::invalid_argument>("the options are ", own_options, ", but on rank 0 ", options_of_root,
                                  "; give the same options on all ranks.");
  });
}

}  // namespace Impl

}  // namespace Filigree
