// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/conversion/check_symmetry.hpp"
#include "filigree/formats.hpp"
#include "filigree/grid/stencil_assembly.hpp"

namespace Filigree::Impl {

/// Writes the blocks of a stencil to a CDS matrix that holds zeros. One lane works on one row.
template <class Work, class Elements>
struct FillCds {
  using execution_space = typename Work::execution_space;
  using scalar_type = typename Work::scalar_type;

  Work work;
  Elements elements;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t row) const {
    const std::int64_t block_row = row / work.dof;
    const int i = static_cast<int>(row - block_row * work.dof);
    std::int64_t d = 0;
    work.part.for_each_block(work, work.part.cell(block_row),
                             [&](std::int64_t block_column, const auto& coefficient) {
                               while (elements.block_column(block_row, d) < block_column)
                                 ++d;
                               const std::int64_t first = elements.block_position(block_row, row, d);
                               for (int j = 0; j < work.dof; ++j)
                                 elements.values()[first + j * elements.column_stride] =
                                     convert_scalar<scalar_type>(coefficient(i, j));
                             });
  }
};

/// Writes the blocks of a stencil on and above the main diagonal to a SymCdsMatrix that holds zeros (Fill),
/// and compares the others with their mirror images (FindRow, FindColumn, Read). One lane works on one row.
template <class Work, class Elements>
struct SymCdsAssembly {
  using execution_space = typename Work::execution_space;
  using scalar_type = typename Work::scalar_type;
  struct Fill {};
  struct FindRow {};
  struct FindColumn {};
  struct Read {};

  Work work;
  Elements elements;
  double tolerance;
  std::int64_t bad_row = 0;           ///< for FindColumn and Read
  std::int64_t bad_column = 0;        ///< for Read
  scalar_type* bad_values = nullptr;  ///< for Read: the value and its mirror image

  /// Calls visit(column, value) for the elements of a row in blocks of the stencil.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_value(std::int64_t row, const Visit& visit) const {
    const std::int64_t block_row = row / work.dof;
    const int i = static_cast<int>(row - block_row * work.dof);
    work.part.for_each_block(
        work, work.part.cell(block_row), [&](std::int64_t block_column, const auto& coefficient) {
          for (int j = 0; j < work.dof; ++j)
            visit(block_column * work.dof + j, convert_scalar<scalar_type>(coefficient(i, j)));
        });
  }

  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t row) const {
    for_each_value(row, [&](std::int64_t column, const scalar_type& value) {
      if (column >= row) elements.values()[elements.position(row, column)] = value;
    });
  }

  /// Whether an element agrees with the stored mirror image.
  KOKKOS_FORCEINLINE_FUNCTION bool agrees(std::int64_t row, std::int64_t column,
                                          const scalar_type& value) const {
    if (column > row) return true;
    const scalar_type stored = elements.values()[elements.position(column, row)];
    return are_mirror_images(value, stored, elements.is_hermitian, tolerance);
  }
  KOKKOS_INLINE_FUNCTION void operator()(FindRow, const std::int64_t row, std::int64_t& first_bad) const {
    for_each_value(row, [&](std::int64_t column, const scalar_type& value) {
      if (row < first_bad && !agrees(row, column, value)) first_bad = row;
    });
  }
  KOKKOS_INLINE_FUNCTION void operator()(FindColumn, const std::int64_t, std::int64_t& first_bad) const {
    for_each_value(bad_row, [&](std::int64_t column, const scalar_type& value) {
      if (column < first_bad && !agrees(bad_row, column, value)) first_bad = column;
    });
  }
  KOKKOS_INLINE_FUNCTION void operator()(Read, const std::int64_t) const {
    for_each_value(bad_row, [&](std::int64_t column, const scalar_type& value) {
      if (column == bad_column) bad_values[0] = value;
    });
    bad_values[1] = elements.values()[elements.position(bad_column, bad_row)];
  }
};

/// The blocks of a stencil on the block diagonals with the given offsets, for a DictCdsMatrix (see
/// formats/dict_cds/dict_cds_build.hpp).
template <class Work>
struct GridBlocks {
  using execution_space = typename Work::execution_space;
  using scalar_type = typename Work::scalar_type;

  Work work;
  const typename Work::ordinal_type* offsets;
  std::int64_t block_rows;
  std::int64_t diagonals;
  std::int64_t block_size;

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_block(std::int64_t block_row, std::int64_t d, const Visit& visit) const {
    const std::int64_t wanted = block_row + static_cast<std::int64_t>(offsets[d]);
    bool is_found = false;
    work.part.for_each_block(
        work, work.part.cell(block_row), [&](std::int64_t block_column, const auto& coefficient) {
          if (block_column != wanted) return;
          is_found = true;
          for (int i = 0; i < work.dof; ++i)
            for (int j = 0; j < work.dof; ++j)
              visit(i * block_size + j, convert_scalar<scalar_type>(coefficient(i, j)), std::int64_t(1));
        });
    if (is_found) return;
    for (std::int64_t e = 0; e < block_size * block_size; ++e)
      visit(e, scalar_type(0), std::int64_t(0));
  }
};

/// The matrix of `work` as CDS. It is square, and its blocks are `blocks`. Fences exec.
template <class Cds, class ExecutionSpace, class Work>
Cds assemble_cds(const ExecutionSpace& exec, const Work& work, std::int64_t rows, const BoxBlocks& blocks,
                 CdsLayout layout = CdsLayout::columns) {
  using ordinal_type = typename Cds::ordinal_type;
  using Elements = CdsElements<typename Cds::value_type, ordinal_type>;
  const std::int64_t diagonals = static_cast<std::int64_t>(blocks.offsets.size());
  const auto nnz = static_cast<typename Cds::size_type>(blocks.blocks * work.dof * work.dof);
  Cds result = allocate_cds<Cds>(exec, Cds::name(), static_cast<ordinal_type>(rows),
                                 static_cast<ordinal_type>(rows), nnz, work.dof, diagonals, layout);
  copy_numbers(exec, blocks.offsets, result.offsets);
  Kokkos::deep_copy(exec, result.values, typename Cds::value_type(0));
  Kokkos::parallel_for("Filigree::fill_cds[grid]", row_range<void>(exec, rows),
                       FillCds<Work, Elements>{work, Elements(result)});
  // The kernel must end before the View of stencil points is destroyed.
  exec.fence();
  return result;
}

/// The matrix of `work` as SymCdsMatrix. It is square, its blocks are `blocks`, and its stencil is symmetric.
/// Throws std::invalid_argument, with the first pair of values that differ, if the coefficients are not
/// symmetric. Fences exec.
template <class SymCds, class ExecutionSpace, class Work>
SymCds assemble_sym_cds(const ExecutionSpace& exec, const char* function, const Work& work, std::int64_t rows,
                        const BoxBlocks& blocks, const SymCdsOptions& options) {
  using ordinal_type = typename SymCds::ordinal_type;
  using scalar_type = typename SymCds::value_type;
  using Elements = SymCdsElements<scalar_type, ordinal_type>;
  using Assembly = SymCdsAssembly<Work, Elements>;
  std::vector<std::int64_t> offsets;
  for (const std::int64_t offset : blocks.offsets)
    if (offset > 0) offsets.push_back(offset);
  const auto nnz = static_cast<typename SymCds::size_type>(blocks.blocks * work.dof * work.dof);
  const SymCds result =
      allocate_sym_cds<SymCds>(exec, static_cast<ordinal_type>(rows), nnz, options, offsets);
  Kokkos::deep_copy(exec, result.values, scalar_type(0));
  Assembly assembly{work, Elements(result), options.symmetry_tolerance};
  Kokkos::parallel_for("Filigree::fill_sym_cds[grid]", row_range<typename Assembly::Fill>(exec, rows),
                       assembly);
  if (options.check_symmetry) {
    assembly.bad_row = find_first<typename Assembly::FindRow>(exec, "check_symmetry", "grid", rows, assembly);
    if (assembly.bad_row != none_found) {
      assembly.bad_column =
          find_first<typename Assembly::FindColumn>(exec, "check_symmetry", "grid", 1, assembly);
      const Kokkos::View<scalar_type[2], typename SymCds::device_type> bad_values(
          label("bad_values", "grid"));
      assembly.bad_values = bad_values.data();
      Kokkos::parallel_for("Filigree::read_asymmetry[grid]", row_range<typename Assembly::Read>(exec, 1),
                           assembly);
      fail_asymmetric(function, assembly.bad_row, assembly.bad_column, read_element(exec, bad_values, 0),
                      read_element(exec, bad_values, 1), options.symmetry == Symmetry::hermitian,
                      options.symmetry_tolerance);
    }
  }
  // The kernels must end before the View of stencil points in `work` is destroyed.
  exec.fence();
  return result;
}

/// The matrix of `work` as DictCdsMatrix. It is square, and its blocks are `blocks`. Fences exec. Throws
/// std::length_error if it has more than options.max_blocks distinct blocks.
template <class DictCds, class ExecutionSpace, class Work>
DictCds assemble_dict_cds(const ExecutionSpace& exec, const char* function, const Work& work,
                          std::int64_t rows, const BoxBlocks& blocks, const DictCdsOptions& options) {
  using ordinal_type = typename DictCds::ordinal_type;
  const auto diagonals = static_cast<std::int64_t>(blocks.offsets.size());
  const auto offsets =
      allocate_view<typename DictCds::offsets_type>(exec, "offsets", DictCds::name(), diagonals);
  copy_numbers(exec, blocks.offsets, offsets);
  const GridBlocks<Work> source{work, offsets.data(), rows / work.dof, diagonals, work.dof};
  const auto dictionary =
      build_dictionary<DictCds>(exec, function, source, options.max_blocks, false,
                                [&](std::int64_t count) { check_distinct_blocks(function, count, options); });
  // build_dictionary has fenced exec, so the View of stencil points may be destroyed.
  return DictCds(static_cast<ordinal_type>(rows), static_cast<ordinal_type>(rows),
                 static_cast<typename DictCds::size_type>(blocks.blocks * work.dof * work.dof),
                 options.block_size, dictionary.values, dictionary.short_indices, dictionary.indices,
                 offsets);
}

}  // namespace Filigree::Impl
