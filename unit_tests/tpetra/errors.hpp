// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <Tpetra_Core.hpp>

#include <filigree/tpetra/collective.hpp>

namespace FiligreeTest {

inline Teuchos::RCP<const Teuchos::Comm<int>> world() {
  return Tpetra::getDefaultComm();
}

/// The text of the exception that all ranks must throw.
template <class Exception, class Work>
std::string text_on_all_ranks(const Work& work) {
  std::string text = "no exception";
  try {
    work();
  } catch (const Exception& error) {
    text = error.what();
  }
  std::string of_root = text;
  Filigree::Impl::broadcast_text(*world(), 0, of_root);
  EXPECT_EQ(text, of_root);
  return text;
}

}  // namespace FiligreeTest

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
