// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace FiligreeTest {

/// The text of the exception that a call throws, or "nothing" if it throws none. An exception of a type other
/// than Exception passes through and fails the test.
template <class Exception, class Call>
std::string message(const Call& call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing";
}

/// Whether a text contains all of the parts.
inline testing::AssertionResult holds(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    if (text.find(part) == std::string::npos)
      return testing::AssertionFailure() << "\"" << text << "\" does not contain \"" << part << "\"";
  return testing::AssertionSuccess();
}

}  // namespace FiligreeTest
