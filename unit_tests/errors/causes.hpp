// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls that cause the exceptions of docs/errors.md.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace FiligreeTest {

/// A call that throws the exception of a row of docs/errors.md. Several causes may have the same row.
struct Cause {
  std::string row;
  std::function<void()> call;
};
using Causes = std::vector<Cause>;

/// What a cause throws that cannot run on this machine.
struct NotHere {
  std::string why;
};

/// These are called before Kokkos is initialized.
Causes causes_without_kokkos();
Causes causes_of_products();
Causes causes_of_conversions();
Causes causes_of_checks();
Causes causes_of_choices();
Causes causes_of_grids();
Causes causes_of_files();
Causes causes_of_solvers();

}  // namespace FiligreeTest
