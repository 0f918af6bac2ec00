// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_all_formats.hpp"

namespace FiligreeTest {
INSTANTIATE_TYPED_TEST_SUITE_P(Double, AllFormats, AllCases<double>, CaseName);
}  // namespace FiligreeTest
