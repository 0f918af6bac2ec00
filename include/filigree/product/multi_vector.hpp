// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>

#include "filigree/core/error.hpp"
#include "filigree/core/kokkos_versions.hpp"

namespace Filigree::Impl {

/// x or y of a product as kernels see it: a pointer and two strides. All layouts, ranks and memory traits of
/// Views become this one type, so that one kernel serves them all.
template <class T>
struct MultiVector {
  using value_type = std::remove_const_t<T>;
  using pointer_type = T* KOKKOS_RESTRICT;

  T* data;
  /// Bytes from one row to the next. With a 32-bit number of bytes a GPU computes the address of a 32-bit row
  /// with one instruction. spmv() checks that 32 bits suffice.
  int row_bytes;
  /// Elements from one column to the next.
  std::int64_t column_stride;

  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION T& operator()(Row row, std::int64_t column) const {
    using byte = std::conditional_t<std::is_const<T>::value, const char, char>;
    return *reinterpret_cast<T*>(reinterpret_cast<byte*>(data + column * column_stride) +
                                 static_cast<std::int64_t>(row) * row_bytes);
  }
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION T* pointer(Row row, std::int64_t column) const {
    return &(*this)(row, column);
  }
  /// Bytes from the first row to `row`. Requires rows_are_near().
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t near_offset(Row row) const {
    return static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(row_bytes);
  }
  /// The element of a column at such an offset. All lanes of a GPU add it to the same address, which takes
  /// fewer registers than an address per lane and column.
  KOKKOS_FORCEINLINE_FUNCTION T& at_near_offset(std::uint32_t offset, std::int64_t column) const {
    using byte = std::conditional_t<std::is_const<T>::value, const char, char>;
    return *reinterpret_cast<T*>(reinterpret_cast<byte*>(data + column * column_stride) + offset);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has_unit_stride() const {
    return row_bytes == static_cast<int>(sizeof(T));
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_stride() const {
    return row_bytes / static_cast<int>(sizeof(T));
  }
  /// The columns from the given one on.
  KOKKOS_FORCEINLINE_FUNCTION MultiVector from_column(std::int64_t column) const {
    return {data + column * column_stride, row_bytes, column_stride};
  }
};

/// Whether the bytes between any two of the first `rows` rows are a number of 32 bits.
template <class T>
bool rows_are_near(const MultiVector<T>& vector, std::int64_t rows) {
  return rows * vector.row_bytes <= std::int64_t(std::numeric_limits<std::uint32_t>::max());
}

/// Whether a number of 32 bits counts the packs of Count elements in the first `rows` rows.
template <int Count, class T>
bool packs_are_near(const MultiVector<T>& vector, std::int64_t rows) {
  const std::int64_t packs_per_row = vector.row_bytes / (Count * static_cast<std::int64_t>(sizeof(T)));
  return rows * packs_per_row <= std::int64_t(std::numeric_limits<std::uint32_t>::max());
}

/// Whether the elements of a row are neighbours, and every Count of them, from the first one on, are aligned
/// to their bytes.
template <int Count, class T>
bool is_row_major(const MultiVector<T>& vector) {
  constexpr int bytes = Count * static_cast<int>(sizeof(T));
  return vector.column_stride == 1 && vector.row_bytes % bytes == 0 &&
         reinterpret_cast<std::uintptr_t>(vector.data) % bytes == 0;
}

/// The number of columns of a View of rank 1 or 2.
template <class View>
std::int64_t column_count(const View& view) {
  return static_cast<int>(View::rank) == 1 ? 1 : static_cast<std::int64_t>(view.extent(1));
}

/// Bytes from one row of a View to the next, 0 if it has fewer than two rows.
template <class View>
std::int64_t row_bytes(const View& view) {
  return view.extent(0) < 2 ? 0 : static_cast<std::int64_t>(view.stride(0)) * sizeof(*view.data());
}

/// Throws std::invalid_argument if the rows of a View are too far apart for MultiVector::row_bytes.
template <class View>
void check_row_stride(const char* function, const char* name, const View& view) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (row_bytes(view) > most)
    fail<std::invalid_argument>(function, ": the rows of ", name, " are ", row_bytes(view),
                                " bytes apart; they must be at most ", most, " bytes apart.");
}

/// The MultiVector of a View whose row stride has been checked. T is its value type, const or not.
template <class View, class T = typename View::value_type>
MultiVector<T> multi_vector(const View& view) {
  std::int64_t column_stride = 0;
  if constexpr (static_cast<int>(View::rank) == 2) column_stride = static_cast<std::int64_t>(view.stride(1));
  return {view.data(), static_cast<int>(row_bytes(view)), column_stride};
}

/// Whether an element of x shares memory with an element of y. The answer is exact if x and y have the same
/// strides, for example as columns of one View, whose address ranges interleave. Otherwise it is true if the
/// address ranges overlap.
template <class XView, class YView>
bool aliased(const XView& x, const YView& y) {
  if (x.size() == 0 || y.size() == 0) return false;
  const auto range_begin = [](const auto& view) { return reinterpret_cast<std::uintptr_t>(view.data()); };
  const auto range_end = [&](const auto& view) {
    const std::size_t last =
        (view.extent(0) - 1) * view.stride(0) + (column_count(view) - 1) * multi_vector(view).column_stride;
    return range_begin(view) + (last + 1) * sizeof(*view.data());
  };
  if (range_end(x) <= range_begin(y) || range_end(y) <= range_begin(x)) return false;

  const auto xs = multi_vector(x);
  const auto ys = multi_vector(y);
  const auto x_stride = static_cast<std::int64_t>(x.stride(0));
  const std::int64_t bytes =
      static_cast<std::int64_t>(range_begin(y)) - static_cast<std::int64_t>(range_begin(x));
  const std::int64_t size = sizeof(*xs.data);
  const bool same_strides = sizeof(*xs.data) == sizeof(*ys.data) && bytes % size == 0 &&
                            x_stride == static_cast<std::int64_t>(y.stride(0)) &&
                            xs.column_stride == ys.column_stride;
  if (!same_strides || x_stride == 0) return true;
  const std::int64_t offset = bytes / size;
  for (std::int64_t column = 1 - column_count(y); column < column_count(x); ++column) {
    const std::int64_t rest = offset - column * xs.column_stride;
    if (rest % x_stride != 0) continue;
    const std::int64_t row = rest / x_stride;
    if (row > -static_cast<std::int64_t>(y.extent(0)) && row < static_cast<std::int64_t>(x.extent(0)))
      return true;
  }
  return false;
}

}  // namespace Filigree::Impl
