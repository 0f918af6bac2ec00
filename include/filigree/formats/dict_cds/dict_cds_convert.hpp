// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "filigree/conversion/block_diagonals.hpp"
#include "filigree/conversion/sorted_entries.hpp"
#include "filigree/formats/dict_cds/dict_cds_build.hpp"
#include "filigree/formats/dict_cds/dict_cds_layout.hpp"

namespace Filigree::Impl {

/// The blocks of a CRS matrix on its block diagonals (see dict_cds_build.hpp).
template <class Views>
struct CrsBlocks {
  using scalar_type = typename Views::scalar_type;
  using ordinal_type = typename Views::ordinal_type;

  Views crs;
  const ordinal_type* offsets;
  bool is_sorted;  ///< whether the columns of all rows ascend
  std::int64_t rows;
  std::int64_t block_rows;
  std::int64_t diagonals;
  std::int64_t block_size;

  template <class ExecutionSpace, class Crs>
  CrsBlocks(const ExecutionSpace& exec, const char* format, const Crs& crs_, const ordinal_type* offsets_,
            std::int64_t diagonals_, std::int64_t block_size_)
      : crs(crs_),
        offsets(offsets_),
        is_sorted(count_unsorted(exec, format, crs_) == 0),
        rows(static_cast<std::int64_t>(crs_.numRows())),
        block_rows((rows + block_size_ - 1) / block_size_),
        diagonals(diagonals_),
        block_size(block_size_) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_of(std::int64_t i) const {
    return static_cast<std::int64_t>(crs.entries[i]);
  }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_block(std::int64_t block_row, std::int64_t d, const Visit& visit) const {
    const std::int64_t first_column = (block_row + static_cast<std::int64_t>(offsets[d])) * block_size;
    for (std::int64_t i = 0; i < block_size; ++i) {
      const std::int64_t row = block_row * block_size + i;
      const std::int64_t begin = row < rows ? crs.begin(row) : 0;
      const std::int64_t end = row < rows ? crs.end(row) : 0;
      std::int64_t next = begin;
      if (is_sorted)
        next = first_where(begin, end, [&](std::int64_t k) { return column_of(k) >= first_column; });
      for (std::int64_t j = 0; j < block_size; ++j) {
        const std::int64_t column = first_column + j;
        scalar_type value(0);
        std::int64_t entries = 0;
        const auto add = [&](std::int64_t k) {
          value += crs.values[k];
          ++entries;
        };
        if (is_sorted) {
          for (; next < end && column_of(next) == column; ++next)
            add(next);
        } else {
          for (std::int64_t k = begin; k < end; ++k)
            if (column_of(k) == column) add(k);
        }
        visit(i * block_size + j, value, entries);
      }
    }
  }
};

/// Finds the first row in which the pattern of a CRS matrix differs from that of a DictCdsMatrix: an entry
/// has no element (Entries), or an element that is not zero has no entry (Elements).
template <class Source, class MatrixElements>
struct CompareDictionary {
  struct Entries {};
  struct Elements {};

  Source source;
  MatrixElements elements;

  KOKKOS_INLINE_FUNCTION void operator()(Entries, const std::int64_t row, std::int64_t& first_bad) const {
    for (std::int64_t k = source.crs.begin(row); k < source.crs.end(row); ++k)
      if (row < first_bad && elements.position(row, source.column_of(k)) == no_position) first_bad = row;
  }
  KOKKOS_INLINE_FUNCTION void operator()(Elements, const std::int64_t item, std::int64_t& first_bad) const {
    const std::int64_t block_row = item / source.diagonals;
    const std::int64_t d = item - block_row * source.diagonals;
    const std::int64_t b = source.block_size;
    source.visit_block(
        block_row, d, [&](std::int64_t e, const typename Source::scalar_type&, std::int64_t entries) {
          const std::int64_t i = e / b;
          const std::int64_t row = block_row * b + i;
          const std::int64_t position =
              elements.block_position(block_row, row, d) + (e - i * b) * elements.column_stride;
          if (entries == 0 && row < first_bad && elements.value(position) != typename Source::scalar_type(0))
            first_bad = row;
        });
  }
};

/// convert<DictCdsMatrix> of a checked CRS matrix. Fences exec. Takes the memory of find_diagonals() and of
/// build_dictionary() besides the result.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
void convert_from_crs(const ExecutionSpace& exec, const Crs& crs, const DictCdsOptions& options,
                      DictCdsMatrix<S, O, D, M, Z>& result) {
  using Matrix = DictCdsMatrix<S, O, D, M, Z>;
  const char* const function = "Filigree::convert<DictCdsMatrix>";
  const char* const format = Matrix::name();
  check_dict_cds_options(function, options);
  check_count<O>(function, options.block_size, "rows per block");
  const auto found = find_diagonals(exec, format, crs, options.block_size);
  check_count<O>(function, found.count, "block diagonals");

  const std::int64_t b = options.block_size;
  const auto rows = static_cast<std::int64_t>(crs.numRows());
  const double places = static_cast<double>(found.count) * static_cast<double>((rows + b - 1) / b);
  const auto check_bytes = [&](double values, double bytes_of_index) {
    const double bytes =
        places * bytes_of_index + values * sizeof(S) + static_cast<double>(found.count) * sizeof(O);
    check_storage<Z>(function, std::max(places, values), bytes, crs, options, [&](std::ostream& why) {
      why << found.count << " diagonals of " << b << " x " << b << " blocks for "
          << static_cast<double>(crs.nnz()) / static_cast<double>(rows) << " entries per row";
    });
  };
  check_bytes(0, 1);
  const auto offsets = allocate_view<typename Matrix::offsets_type>(exec, "offsets", format, found.count);
  list_offsets(exec, format, found, offsets);
  const CrsBlocks<crs_views_t<Crs>> source(exec, format, crs, offsets.data(), found.count, b);
  const auto dictionary =
      build_dictionary<Matrix>(exec, function, source, options.max_blocks, false, [&](std::int64_t count) {
        check_distinct_blocks(function, count, options);
        check_bytes(static_cast<double>(count * b * b), count > DictCdsOptions::most_short_blocks ? 2 : 1);
      });
  result = Matrix(crs.numRows(), crs.numCols(), static_cast<Z>(crs.nnz()), options.block_size,
                  dictionary.values, dictionary.short_indices, dictionary.indices, offsets);
}

/// The blocks of a CRS matrix on the diagonals of A.
template <class ExecutionSpace, class Crs, class S, class O, class D, class M, class Z>
auto blocks_for(const ExecutionSpace& exec, const Crs& crs, const DictCdsMatrix<S, O, D, M, Z>& A) {
  return CrsBlocks<crs_views_t<Crs>>(exec, A.name(), crs, A.offsets.data(),
                                     static_cast<std::int64_t>(A.numDiagonals()), A.block_size());
}

/// See convert.hpp.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Crs>
std::int64_t first_different_row(const ExecutionSpace& exec, const DictCdsMatrix<S, O, D, M, Z>& A,
                                 const Crs& crs) {
  return with_layout(exec, A, [&](const auto& elements) {
    const auto source = blocks_for(exec, crs, A);
    using Compare = CompareDictionary<std::decay_t<decltype(source)>, std::decay_t<decltype(elements)>>;
    const Compare compare{source, elements};
    const std::int64_t row =
        find_first<typename Compare::Entries>(exec, "compare_pattern", A.name(), source.rows, compare);
    return std::min(row,
                    find_first<typename Compare::Elements>(exec, "compare_pattern", A.name(),
                                                           source.block_rows * source.diagonals, compare));
  });
}

/// See convert.hpp. Makes a new dictionary and copies it to the Views of A, which may have room for more
/// blocks. Takes the memory of build_dictionary() and of another matrix. Fences exec.
template <class ExecutionSpace, class S, class O, class D, class M, class Z, class Crs>
void refill_from_crs(const ExecutionSpace& exec, const DictCdsMatrix<S, O, D, M, Z>& A, const Crs& crs) {
  // Not of type A, whose Views may be unmanaged.
  using Matrix = DictCdsMatrix<S, O, D, void, Z>;
  const char* const function = "Filigree::refill";
  const auto source = blocks_for(exec, crs, A);
  const auto dictionary = build_dictionary<Matrix>(
      exec, function, source, A.numBlocks(), !A.has_short_indices(), [&](std::int64_t count) {
        if (count < 0)
          fail<std::invalid_argument>(function, ": the CRS matrix has more than ", A.numBlocks(),
                                      " distinct blocks of ", A.block_size(), " x ", A.block_size(),
                                      ", but A (", A.name(), ") has room for ", A.numBlocks(),
                                      "; convert the CRS matrix anew.");
      });
  if (dictionary.values.extent(0) == 0) return;
  Kokkos::deep_copy(exec, A.values, S(0));
  Kokkos::deep_copy(exec,
                    Kokkos::subview(A.values, std::make_pair(std::size_t(0), dictionary.values.extent(0))),
                    dictionary.values);
  if (A.has_short_indices())
    Kokkos::deep_copy(exec, A.short_indices, dictionary.short_indices);
  else
    Kokkos::deep_copy(exec, A.indices, dictionary.indices);
  // The copies must end before the new dictionary is freed.
  exec.fence();
}

}  // namespace Filigree::Impl
