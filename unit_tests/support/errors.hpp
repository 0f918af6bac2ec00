// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_TEST_ERRORS_HPP
#define FILIGREE_TEST_ERRORS_HPP

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace FiligreeTest {

/// What a call throws, its type checked; "nothing" if it throws nothing.
template <class Exception, class Call>
std::string message(const Call& call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing";
}

/// Whether a text has all of the parts.
inline testing::AssertionResult holds(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    if (text.find(part) == std::string::npos)
      return testing::AssertionFailure() << "\"" << text << "\" does not have \"" << part << "\"";
  return testing::AssertionSuccess();
}

}  // namespace FiligreeTest

#endif
