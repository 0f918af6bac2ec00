// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices and vectors on the host. Tests make them, copy them to the device and compare results with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filigree/core/scalar.hpp>
#include <Kokkos_Core.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace FiligreeTest {

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using Device = ExecutionSpace::device_type;

template <class Scalar, class Ordinal = int, class SizeType = int>
using Crs = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, void, SizeType>;

template <class Scalar>
struct Entry {
  std::int64_t column;
  Scalar value;
  bool operator==(const Entry& other) const { return column == other.column && value == other.value; }
};

/// A matrix as rows of entries, in any order and with duplicates.
template <class Scalar>
struct HostMatrix {
  std::int64_t columns = 0;
  std::vector<std::vector<Entry<Scalar>>> rows;

  HostMatrix() = default;
  HostMatrix(std::int64_t row_count, std::int64_t columns_)
      : columns(columns_), rows(static_cast<std::size_t>(row_count)) {}

  std::int64_t row_count() const { return static_cast<std::int64_t>(rows.size()); }
  std::int64_t nnz() const {
    std::int64_t count = 0;
    for (const auto& row : rows)
      count += static_cast<std::int64_t>(row.size());
    return count;
  }
  bool operator==(const HostMatrix& other) const { return columns == other.columns && rows == other.rows; }

  friend std::ostream& operator<<(std::ostream& out, const HostMatrix& matrix) {
    out << matrix.rows.size() << " x " << matrix.columns << ":";
    for (const auto& row : matrix.rows) {
      out << "\n ";
      for (const auto& entry : row)
        out << " " << entry.column << "=" << entry.value;
    }
    return out;
  }
};

/// A rows x columns multivector, stored column by column.
template <class T>
struct HostVectors {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<T> data;

  HostVectors() = default;
  HostVectors(std::int64_t rows_, std::int64_t columns_, const T& value = T())
      : rows(rows_), columns(columns_), data(static_cast<std::size_t>(rows_ * columns_), value) {}
  T& operator()(std::int64_t row, std::int64_t column) {
    return data[static_cast<std::size_t>(column * rows + row)];
  }
  const T& operator()(std::int64_t row, std::int64_t column) const {
    return data[static_cast<std::size_t>(column * rows + row)];
  }
};

/// Random numbers that are the same on every platform. The distributions of the standard library are not.
class Random {
 public:
  explicit Random(unsigned seed) : m_engine(seed) {}

  /// A number from 0 to limit - 1.
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(m_engine() % static_cast<unsigned>(limit));
  }
  /// A number of magnitude 0.1 to 1.1, so never 0. If T is complex, this holds for each of both parts.
  template <class T>
  T value() {
    if constexpr (Filigree::Impl::is_complex_v<T>) {
      const auto real = value<typename T::value_type>();
      return T(real, value<typename T::value_type>());
    } else {
      const double magnitude = 0.1 + static_cast<double>(below(1 << 20)) / (1 << 20);
      return static_cast<T>(below(2) == 0 ? magnitude : -magnitude);
    }
  }
  template <class T>
  HostVectors<T> vectors(std::int64_t rows, std::int64_t columns) {
    HostVectors<T> result(rows, columns);
    for (T& element : result.data)
      element = value<T>();
    return result;
  }

 private:
  std::mt19937 m_engine;
};

/// A new View of rank 1 with the values of a list. View may be const.
template <class View, class List>
View device_list(const List& list) {
  typename View::non_const_type view("list", list.size());
  auto mirror = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < list.size(); ++i)
    mirror(i) = static_cast<typename View::non_const_value_type>(list[i]);
  Kokkos::deep_copy(view, mirror);
  return view;
}

/// The values of a View of rank 1.
template <class View>
std::vector<typename View::non_const_value_type> host_list(const View& view) {
  // On a host the mirror may be the View itself, and a kernel may still be writing to it.
  Kokkos::fence();
  auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {mirror.data(), mirror.data() + mirror.extent(0)};
}

/// A copy of a View in which element i is `value`.
template <class View>
View changed(const View& view, std::size_t i, double value) {
  auto list = host_list(view);
  list.at(i) = static_cast<typename View::non_const_value_type>(value);
  return device_list<View>(list);
}
/// A copy of a View without its last element.
template <class View>
View shorter(const View& view) {
  auto list = host_list(view);
  list.pop_back();
  return device_list<View>(list);
}

/// A CRS matrix made of the lists as they are. They need not form a valid matrix.
template <class Matrix, class Scalar>
Matrix crs_of_lists(std::int64_t rows, std::int64_t columns, const std::vector<std::int64_t>& row_map,
                    const std::vector<std::int64_t>& entries, const std::vector<Scalar>& values) {
  using ordinal_type = typename Matrix::non_const_ordinal_type;
  return Matrix("test", static_cast<ordinal_type>(rows), static_cast<ordinal_type>(columns),
                static_cast<typename Matrix::non_const_size_type>(entries.size()),
                device_list<typename Matrix::values_type>(values),
                device_list<typename Matrix::row_map_type>(row_map),
                device_list<typename Matrix::index_type>(entries));
}

/// A host matrix as a CRS matrix of the given type.
template <class Matrix, class Scalar>
Matrix device_crs(const HostMatrix<Scalar>& host) {
  std::vector<std::int64_t> row_map(1, 0);
  std::vector<std::int64_t> entries;
  std::vector<Scalar> values;
  for (const auto& row : host.rows) {
    for (const auto& entry : row) {
      entries.push_back(entry.column);
      values.push_back(entry.value);
    }
    row_map.push_back(static_cast<std::int64_t>(entries.size()));
  }
  return crs_of_lists<Matrix>(host.row_count(), host.columns, row_map, entries, values);
}

/// A CRS matrix with int as ordinal and offset, which most tests use.
template <class Scalar>
Crs<Scalar> device_crs(const HostMatrix<Scalar>& host) {
  return device_crs<Crs<Scalar>>(host);
}

/// A CRS matrix copied to the host, its entries in their order.
template <class Matrix>
HostMatrix<typename Matrix::non_const_value_type> host_matrix(const Matrix& crs) {
  HostMatrix<typename Matrix::non_const_value_type> host(crs.numRows(), crs.numCols());
  const auto row_map = host_list(crs.graph.row_map);
  const auto entries = host_list(crs.graph.entries);
  const auto values = host_list(crs.values);
  for (std::size_t row = 0; row < host.rows.size(); ++row)
    for (auto i = static_cast<std::size_t>(row_map[row]); i < static_cast<std::size_t>(row_map[row + 1]); ++i)
      host.rows[row].push_back({static_cast<std::int64_t>(entries[i]), values[i]});
  return host;
}

/// The matrix with each row sorted by column, duplicates summed in their order, and zeros dropped.
template <class Scalar>
HostMatrix<Scalar> canonical(const HostMatrix<Scalar>& matrix) {
  HostMatrix<Scalar> result(matrix.row_count(), matrix.columns);
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    auto sorted = matrix.rows[row];
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.column < b.column; });
    for (std::size_t i = 0; i < sorted.size();) {
      Entry<Scalar> sum = sorted[i];
      while (++i < sorted.size() && sorted[i].column == sum.column)
        sum.value += sorted[i].value;
      if (sum.value != Scalar(0)) result.rows[row].push_back(sum);
    }
  }
  return result;
}

/// The square matrix with the entries of `matrix` on and above the diagonal and their mirror images. If
/// `is_hermitian` is true, it is Hermitian, else symmetric.
template <class Scalar>
HostMatrix<Scalar> mirrored(const HostMatrix<Scalar>& matrix, bool is_hermitian) {
  const std::int64_t size = std::max(matrix.row_count(), matrix.columns);
  HostMatrix<Scalar> result(size, size);
  for (std::int64_t row = 0; row < matrix.row_count(); ++row)
    for (const auto& entry : matrix.rows[static_cast<std::size_t>(row)]) {
      if (entry.column < row) continue;
      Scalar value = entry.value;
      const Scalar image = is_hermitian ? Filigree::Impl::conjugate_if<true>(value) : value;
      if (entry.column == row && is_hermitian) value = (value + image) * Scalar(0.5);
      result.rows[static_cast<std::size_t>(row)].push_back({entry.column, value});
      if (entry.column > row) result.rows[static_cast<std::size_t>(entry.column)].push_back({row, image});
    }
  return result;
}

/// A matrix with the pattern of the given one and other values.
template <class Scalar>
HostMatrix<Scalar> with_new_values(HostMatrix<Scalar> matrix, unsigned seed) {
  Random random(seed);
  for (auto& row : matrix.rows)
    for (auto& entry : row)
      entry.value = random.value<Scalar>();
  return matrix;
}

/// A matrix with 1 to most_per_row unsorted entries per row in random columns. Every third row also has a
/// duplicate of its first entry. Every fifth row is empty.
template <class Scalar>
HostMatrix<Scalar> scattered(std::int64_t rows, std::int64_t columns, std::int64_t most_per_row) {
  Random random(static_cast<unsigned>(rows * 1000 + columns));
  HostMatrix<Scalar> matrix(rows, columns);
  for (std::int64_t row = 0; row < rows; ++row) {
    if (row % 5 == 3) continue;
    auto& entries = matrix.rows[static_cast<std::size_t>(row)];
    const std::int64_t count = 1 + random.below(most_per_row);
    for (std::int64_t i = 0; i < count; ++i)
      entries.push_back({random.below(columns), random.value<Scalar>()});
    if (row % 3 == 0) entries.push_back({entries.front().column, random.value<Scalar>()});
  }
  return matrix;
}

/// A matrix on the block diagonals -3, -1, 0, 1 and 4 of b x b blocks. An element of a block is an entry with
/// probability 2/3. Blocks that lie outside of the matrix are left out or cut.
template <class Scalar>
HostMatrix<Scalar> block_banded(std::int64_t rows, std::int64_t columns, std::int64_t b) {
  Random random(static_cast<unsigned>(rows * 100 + columns + b));
  HostMatrix<Scalar> matrix(rows, columns);
  for (std::int64_t row = 0; row < rows; ++row)
    for (const std::int64_t offset : {-3, -1, 0, 1, 4})
      for (std::int64_t c = 0; c < b; ++c) {
        const std::int64_t column = (row / b + offset) * b + c;
        if (column >= 0 && column < columns && random.below(3) > 0)
          matrix.rows[static_cast<std::size_t>(row)].push_back({column, random.value<Scalar>()});
      }
  return matrix;
}

template <class Scalar>
struct NamedMatrix {
  std::string name;
  HostMatrix<Scalar> matrix;
};

/// One matrix of each shape that is a special case for some format.
template <class Scalar>
std::vector<NamedMatrix<Scalar>> all_shapes() {
  HostMatrix<Scalar> long_row = scattered<Scalar>(40, 40, 1);
  HostMatrix<Scalar> long_column = scattered<Scalar>(40, 40, 1);
  Random random(7);
  long_row.rows[7].clear();
  for (std::int64_t i = 0; i < 40; ++i) {
    long_row.rows[7].push_back({39 - i, random.value<Scalar>()});
    long_column.rows[static_cast<std::size_t>(i)].push_back({23, random.value<Scalar>()});
  }
  HostMatrix<Scalar> zeros = scattered<Scalar>(16, 16, 4);
  for (auto& row : zeros.rows)
    if (!row.empty()) row.back().value = Scalar(0);
  // Rows of thousands of entries between empty rows. Some begin or end at a multiple of 2048 entries.
  HostMatrix<Scalar> long_rows(9, 700);
  const std::int64_t lengths[] = {0, 2048, 0, 0, 5000, 1144, 3, 2100, 0};
  for (std::size_t row = 0; row < 9; ++row)
    for (std::int64_t i = 0; i < lengths[row]; ++i)
      long_rows.rows[row].push_back({random.below(700), random.value<Scalar>()});
  HostMatrix<Scalar> corner(9, 9);
  corner.rows[8].push_back({0, Scalar(2)});
  corner.rows[0].push_back({8, Scalar(3)});
  return {{"wide", scattered<Scalar>(13, 50, 6)},
          {"tall", scattered<Scalar>(50, 13, 6)},
          {"one row", scattered<Scalar>(1, 30, 12)},
          {"one column", scattered<Scalar>(30, 1, 1)},
          {"long row", long_row},
          {"long column", long_column},
          {"rows of thousands", long_rows},
          {"stored zeros", zeros},
          {"two corners", corner},
          {"several teams", block_banded<Scalar>(2500, 2500, 1)},
          {"no rows", HostMatrix<Scalar>(0, 5)},
          {"no columns", HostMatrix<Scalar>(5, 0)},
          {"nothing", HostMatrix<Scalar>(0, 0)},
          {"no entries", HostMatrix<Scalar>(6, 4)}};
}

}  // namespace FiligreeTest
