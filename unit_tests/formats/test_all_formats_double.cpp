// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_all_formats.hpp"

namespace FiligreeTest {
INSTANTIATE_TYPED_TEST_SUITE_P(Double, AllFormats, AllCases<double>, CaseName);
using SplitCases = typename CasesOf<Filigree::SplitFormats, double>::both_layouts;
INSTANTIATE_TYPED_TEST_SUITE_P(SplitDouble, AllFormats, SplitCases, CaseName);
}  // namespace FiligreeTest
