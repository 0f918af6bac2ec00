// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "filigree/tune/device_speed.hpp"

namespace Filigree::Impl {

ProcessorMaker processor_maker() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_is("intel") ? ProcessorMaker::intel : ProcessorMaker::other;
#else
  return ProcessorMaker::other;
#endif
}

}  // namespace Filigree::Impl
