// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of check() that several formats have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "filigree/core/error.hpp"
#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/read_view.hpp"

namespace Filigree::Impl {

/// Checks the Views of a matrix on the host. If a rule is broken, the members throw std::invalid_argument
/// with the name of the View, the values, and what would be right.
template <class ExecutionSpace>
struct ViewChecker {
  ExecutionSpace exec;
  std::string format;
  std::string prefix;  ///< what precedes the names of Views: empty, or the part of a hybrid format ("ell.")

  /// The checker of a part of the matrix.
  ViewChecker part(const std::string& name) const { return {exec, format, prefix + name + "."}; }

  template <class... Parts>
  [[noreturn]] void refuse(const char* name, const Parts&... parts) const {
    fail<std::invalid_argument>("Filigree::check: ", prefix, name, parts..., " (format ", format, ").");
  }

  /// The elements of a View of rank 1, copied to the host if it cannot access them. Fences exec.
  template <class View>
  auto elements(const View& view) const {
    return host_copy(exec, view);
  }

  /// A number must be `low` to `high`, because of `why`.
  void number(const char* name, std::int64_t value, std::int64_t low, std::int64_t high,
              const char* why) const {
    if (value >= low && value <= high) return;
    if (low == high) refuse(name, " is ", value, "; it must be ", low, ": ", why);
    refuse(name, " is ", value, "; it must be ", low, " to ", high, ": ", why);
  }
  /// A number must be a power of two from 1 to `most`.
  void power_of_two(const char* name, std::int64_t value, std::int64_t most) const {
    if (value < 1 || value > most || (value & (value - 1)) != 0)
      refuse(name, " is ", value, "; it must be a power of two from 1 to ", most);
  }
  /// The extents of a matrix must not be negative.
  template <class Matrix>
  void extents(const Matrix& A) const {
    if (static_cast<std::int64_t>(A.numRows()) < 0 || static_cast<std::int64_t>(A.numCols()) < 0)
      refuse("numRows()", " is ", A.numRows(), " and numCols() is ", A.numCols(),
             "; both must be at least 0");
  }
  /// A View must have `size` elements, because of `why`.
  template <class View>
  void size(const char* name, const View& view, std::int64_t size, const char* why) const {
    const auto found = static_cast<std::int64_t>(view.extent(0));
    if (found != size) refuse(name, " has ", found, " elements; it must have ", size, ": ", why);
  }

  /// All elements must be `low` to `high`.
  template <class List>
  void range(const char* name, const List& list, std::int64_t low, std::int64_t high) const {
    for (std::size_t i = 0; i < list.extent(0); ++i) {
      const auto value = static_cast<std::int64_t>(list(i));
      if (value < low || value > high)
        refuse(name, "(", i, ") is ", value, "; it must be ", low, " to ", high);
    }
  }
  /// The elements begin to end - 1 must not decrease. If `strict` is true, neighbours must also differ.
  template <class List>
  void ascending(const char* name, const List& list, std::size_t begin, std::size_t end, bool strict) const {
    for (std::size_t i = begin + 1; i < end; ++i)
      if (list(i) < list(i - 1) || (strict && list(i) == list(i - 1)))
        refuse(name, "(", i - 1, ") is ", list(i - 1), " and ", name, "(", i, ") is ", list(i),
               "; the elements must ", strict ? "ascend" : "not decrease");
  }
  /// A list of offsets must begin with 0, must not decrease, and must end with `last`.
  template <class List>
  void offsets(const char* name, const List& list, std::int64_t last) const {
    const std::size_t size = list.extent(0);
    if (list(0) != 0) refuse(name, "(0) is ", list(0), "; it must be 0");
    ascending(name, list, 0, size, false);
    if (static_cast<std::int64_t>(list(size - 1)) != last)
      refuse(name, "(", size - 1, ") is ", list(size - 1), "; it must be ", last);
  }
  /// A View must hold the given numbers and nothing else.
  template <class View>
  void equal(const char* name, const View& view, const std::vector<std::int64_t>& expected,
             const char* why) const {
    size(name, view, static_cast<std::int64_t>(expected.size()), why);
    begins_with(name, view, expected, why);
  }
  /// A View must begin with the given numbers.
  template <class View>
  void begins_with(const char* name, const View& view, const std::vector<std::int64_t>& expected,
                   const char* why) const {
    if (view.extent(0) < expected.size())
      refuse(name, " has ", view.extent(0), " elements; it must have at least ", expected.size(), ": ", why);
    const auto list = elements(view);
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (static_cast<std::int64_t>(list(i)) != expected[i])
        refuse(name, "(", i, ") is ", list(i), "; it must be ", expected[i], ": ", why);
  }
  /// A View must hold each of the numbers 0 to count - 1 once.
  template <class View>
  void permutation(const char* name, const View& view, std::int64_t count) const {
    size(name, view, count, "one per row");
    const auto list = elements(view);
    range(name, list, 0, count - 1);
    std::vector<std::int64_t> found(static_cast<std::size_t>(count), -1);
    for (std::size_t i = 0; i < list.extent(0); ++i) {
      std::int64_t& first = found[static_cast<std::size_t>(list(i))];
      if (first >= 0)
        refuse(name, "(", first, ") and ", name, "(", i, ") are both ", list(i),
               "; each row must occur once");
      first = static_cast<std::int64_t>(i);
    }
  }

  /// Checks a stored row that has room for `width` entries: entries in columns of the matrix, then padding.
  /// column(k) is the column of element k, and is_zero(k) says whether its value is 0. If `length` is -1, the
  /// row ends with its first padding. Returns the number of entries.
  template <class Column, class IsZero>
  std::int64_t padded_row(std::int64_t stored_row, std::int64_t width, std::int64_t length,
                          std::int64_t columns, const Column& column, const IsZero& is_zero) const {
    if (length < 0)
      for (length = 0; length < width && column(length) != -1;)
        ++length;
    for (std::int64_t k = 0; k < length; ++k)
      if (column(k) < 0 || column(k) >= columns)
        refuse("entries", ": entry ", k, " of ", length, " of stored row ", stored_row, " has column ",
               column(k), "; it must be 0 to ", columns - 1);
    for (std::int64_t k = length; k < width; ++k)
      if (column(k) != -1 || !is_zero(k))
        refuse("entries", ": element ", k, " of stored row ", stored_row, ", which has ", length,
               " entries, has column ", column(k), is_zero(k) ? "" : " and a value that is not 0",
               "; it is padding and must have column -1 and value 0");
    return length;
  }
};

}  // namespace Filigree::Impl
