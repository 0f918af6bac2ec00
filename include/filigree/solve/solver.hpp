// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all Krylov methods have in common: when they end, and what they report.
#pragma once

#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "filigree/core/error.hpp"

namespace Filigree {

/// The options of all solvers: when they end.
struct SolverOptions {
  /// The residual is small enough if its norm is at most this times the norm of b, or at most absolute_tolerance.
  double relative_tolerance = 1e-8;
  /// See relative_tolerance.
  double absolute_tolerance = 0;
  /// The most iterations.
  int most_iterations = 1000;
  /// The host looks at the residual once per this many iterations, because it must wait for the device then.
  /// Iterations after the end of the solution change nothing.
  int iterations_per_check = 8;
};

/// Why a solver ended.
enum class SolverEnd {
  converged,        ///< the residual is small enough
  most_iterations,  ///< the limit was reached
  breakdown,        ///< the method cannot continue. For CG: the matrix or the preconditioner is not positive
                    ///< definite. For BiCGStab: a divisor is 0. For GMRES: the matrix is singular
  stagnation,       ///< rounding keeps the residual from becoming small enough
  not_finite        ///< a number of the iteration is NaN or infinite
};

/// The name of an end, in words.
inline const char* name_of(SolverEnd end) {
  switch (end) {
    case SolverEnd::converged:
      return "converged";
    case SolverEnd::most_iterations:
      return "reached the limit of iterations";
    case SolverEnd::breakdown:
      return "broke down";
    case SolverEnd::stagnation:
      return "stagnated";
    default:
      return "met a number that is not finite";
  }
}

/// What a solver reports. Norms are square roots of sums of squares in double: the norm of a vector below about
/// 1e-162 counts as 0, and one above about 1e154 as not finite.
struct SolverResult {
  SolverEnd end = SolverEnd::most_iterations;  ///< why it ended
  int iterations = 0;                          ///< iterations that changed x
  double norm_of_b = 0;                        ///< 2-norm of the right-hand side
  double residual = 0;                         ///< 2-norm of b - A x
  std::vector<double> history;  ///< 2-norm of the residual before each iteration, and after the last one

  /// Whether the residual is small enough.
  bool has_converged() const { return end == SolverEnd::converged; }
};

namespace Impl {
/// Where the end of a part of a method is stored: it has not ended, and the method can go on.
constexpr SolverEnd no_end = SolverEnd::most_iterations;

/// Throws std::invalid_argument if a tolerance or the number of iterations is negative or NaN, or
/// iterations_per_check is not positive.
inline void check_solver_options(const char* function, const SolverOptions& options) {
  if (!(options.relative_tolerance >= 0) || !(options.absolute_tolerance >= 0))
    fail<std::invalid_argument>(function, ": the tolerances are ", options.relative_tolerance,
                                " (relative) and ", options.absolute_tolerance,
                                " (absolute); they must not be negative.");
  if (options.most_iterations < 0 || options.iterations_per_check < 1)
    fail<std::invalid_argument>(function, ": most_iterations is ", options.most_iterations,
                                " and iterations_per_check ", options.iterations_per_check,
                                "; they must be at least 0 and at least 1.");
}

/// The largest norm of a residual that is small enough.
inline double largest_residual(const SolverOptions& options, double norm_of_b) {
  const double relative = options.relative_tolerance * norm_of_b;
  return relative > options.absolute_tolerance ? relative : options.absolute_tolerance;
}

/// What is known of x between two cycles of a method.
struct CycleOutcome {
  bool is_finite;     ///< the norms of b and of b - A x
  bool is_small;      ///< whether the norm of b - A x is small enough; false if it is not finite
  bool has_progress;  ///< whether the last cycle has at least halved that norm
  SolverEnd end;      ///< why the last cycle ended; no_end before the first one
  bool may_go_on;     ///< whether the limit of iterations is not reached
};

/// The end of the method, or nothing if another cycle follows.
inline std::optional<SolverEnd> end_between_cycles(const CycleOutcome& outcome) {
  if (!outcome.is_finite) return SolverEnd::not_finite;
  if (outcome.is_small) return SolverEnd::converged;
  if (outcome.end == SolverEnd::not_finite) return SolverEnd::not_finite;
  if (outcome.end == SolverEnd::breakdown && !outcome.has_progress) return SolverEnd::breakdown;
  if (outcome.end == SolverEnd::converged && !outcome.has_progress) return SolverEnd::stagnation;
  if (!outcome.may_go_on) return SolverEnd::most_iterations;
  return {};
}
}  // namespace Impl

}  // namespace Filigree
