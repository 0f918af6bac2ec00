// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filigree/core/error.hpp>
#include <filigree/io/matrix_market.hpp>
#include <stdexcept>
#include <string>

namespace FiligreePerf {

/// Runs `work` and returns why it was refused: a file cannot be read, a function refuses the matrix, or memory
/// is not enough. Returns an empty text if it was not refused. Other errors, such as a wrong product, reach
/// the caller.
template <class Work>
std::string refusal_of(const Work& work) {
  try {
    work();
  } catch (const Filigree::MatrixMarketError& error) {
    return error.what();
  } catch (const std::logic_error& error) {  // invalid_argument or length_error
    return error.what();
  } catch (const std::exception& error) {
    if (!Filigree::Impl::is_out_of_memory(error)) throw;
    return error.what();
  }
  return "";
}

}  // namespace FiligreePerf
