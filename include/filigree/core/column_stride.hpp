// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "filigree/core/integer.hpp"

namespace Filigree::Impl {

/// Rows from one column of a storage by columns to the next, for elements of element_bytes bytes each. It is the number
/// of rows if a column has less than 8 KiB, and otherwise rounded up to an odd multiple of 256 bytes. (If the size of an
/// element does not divide 256, to an odd multiple of a few bytes less.) Overflows for rows near 2^63.
///
/// A product reads the same rows of many columns at a time. If columns are a multiple of 4096 bytes apart, as on
/// a grid of 64^3 or 80^3 cells, the first-level cache of a host has to keep these rows in one set, which has
/// fewer lines than there are columns. An odd multiple of 256 bytes spreads them over 16 sets. A GPU can load
/// several rows at once, because each column begins at a multiple of 256 bytes if the first does.
constexpr std::int64_t column_stride(std::int64_t rows, std::size_t element_bytes) {
  constexpr std::int64_t smallest_padded_bytes = 8192;
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  if (rows < (smallest_padded_bytes + bytes - 1) / bytes) return rows;
  const std::int64_t unit = std::max<std::int64_t>(256 / bytes, 1);
  const std::int64_t units = round_up(rows, unit) / unit;
  return (units + 1 - units % 2) * unit;
}

}  // namespace Filigree::Impl
