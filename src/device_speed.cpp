// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "filigree/tune/device_speed.hpp"

namespace Filigree::Impl {

ProcessorVendor processor_vendor() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_is("intel") ? ProcessorVendor::intel : ProcessorVendor::other;
#else
  return ProcessorVendor::other;
#endif
}

}  // namespace Filigree::Impl
