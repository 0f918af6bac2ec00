// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For programs that run on several ranks of MPI. All functions are for MPI_COMM_WORLD.
#pragma once

#include <mpi.h>

#include <array>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <iostream>
#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

#include "measure/recommendation.hpp"
#include "measure/session.hpp"
#include "support/grid_list.hpp"

namespace FiligreePerf {

inline int number_of_ranks() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}
/// The number of this rank.
inline int this_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// The largest of the values of all ranks.
inline double largest(double value) {
  double result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}
/// The sum of the values of all ranks.
inline double sum(double value) {
  double result = 0;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return result;
}

/// Seconds of the slowest rank. All ranks begin at the same time, and all get the same result.
inline double slowest_seconds(const std::function<void()>& work) {
  Kokkos::fence();
  MPI_Barrier(MPI_COMM_WORLD);
  const Kokkos::Timer timer;
  work();
  Kokkos::fence();
  return largest(timer.seconds());
}

/// The median of `samples` times, after one that does not count.
inline double median_slowest_seconds(int samples, const std::function<void()>& work) {
  std::vector<double> times;
  slowest_seconds(work);
  for (int i = 0; i < samples; ++i)
    times.push_back(slowest_seconds(work));
  return quantile(times, 0.5);
}

/// Cells of a grid along x, y and z.
using Cells = std::array<std::int64_t, 3>;

inline std::string text_of(const Cells& cells) {
  return std::to_string(cells[0]) + "x" + std::to_string(cells[1]) + "x" + std::to_string(cells[2]);
}

/// The options of a program that multiplies by a grid that all ranks share, and by one that grows with the ranks.
struct RankOptions : SessionOptions {
  std::string strong;
  std::string weak;
  int dof = 4;

  /// Adds --strong, --weak and --dof to a command line. The object must live until the command line has been parsed.
  void add_grids_to(CLI::App& app, const std::string& text_of_weak) {
    app.add_option("--strong", strong, "cells of the grid that all ranks share")
        ->type_name("XxYxZ")
        ->capture_default_str();
    app.add_option("--weak", weak, text_of_weak)->type_name("XxYxZ")->capture_default_str();
    app.add_option("--dof", dof, "unknowns per cell")
        ->type_name("N")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
  }
  Cells strong_cells() const { return cells_of("--strong", strong); }
  Cells weak_cells() const { return cells_of("--weak", weak); }

 private:
  static Cells cells_of(const std::string& flag, const std::string& text) {
    const auto extents = numbers(flag, text, 'x', 1 << 20);
    if (extents.size() != 3)
      Filigree::Impl::fail<std::invalid_argument>(flag, ": \"", text,
                                                  "\" must have three extents, as in 64x64x64.");
    return {extents[0], extents[1], extents[2]};
  }
};

/// run_session() on all ranks, with the flags of RankOptions::add_grids_to() in `app`. It starts MPI and ends it. Only
/// rank 0 prints and writes. If a rank fails, all end. With --quick the grids are small, unless the command line names
/// others.
inline int run_session_on_ranks(CLI::App& app, int argc, char** argv, RankOptions& options,
                                const std::function<void(Session&)>& measure) {
  MPI_Init(&argc, &argv);
  if (this_rank() > 0) std::cout.setstate(std::ios::failbit);
  app.parse_complete_callback([&]() {
    if (this_rank() > 0) options.out.clear();
  });
  const int code = run_session(app, argc, argv, options, [&](Session& session) {
    if (session.quick() && app.count("--strong") == 0) options.strong = "12x12x12";
    if (session.quick() && app.count("--weak") == 0) options.weak = "8x8x8";
    measure(session);
  });
  // Other ranks may wait for one that failed.
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}

}  // namespace FiligreePerf
