// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_CRS_KERNEL_CRS_KERNEL_MATRIX_HPP
#define FILIGREE_FORMATS_CRS_KERNEL_CRS_KERNEL_MATRIX_HPP

#include <cstddef>
#include <cstdint>
#include <KokkosSparse_CrsMatrix.hpp>
#include <string>
#include <vector>

#include "filigree/core/binary_search.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/entry_shares.hpp"

namespace Filigree {

/// How a CRS matrix is multiplied.
enum class CrsKernel {
  lanes,    ///< T lanes of a GPU a row: T = 1 is the scalar kernel, 32 the vector kernel (a warp a row)
  balanced  ///< the same number of entries for every team, whatever the lengths of the rows
};

/// Options of CrsKernelMatrix.
struct CrsKernelOptions : ConvertOptions {
  CrsKernel kernel = CrsKernel::balanced;
  /// T of CrsKernel::lanes: 1, 2, 4, 8, 16 or 32.
  int lanes_per_row = 1;

  /// The kernels that the papers compare: scalar and vector CRS, and SpMV4GPU with its half warp.
  static std::vector<NamedOptions<CrsKernelOptions>> variants() {
    std::vector<NamedOptions<CrsKernelOptions>> result(1);
    result[0].name = "crs_balanced";
    for (const int lanes : {1, 2, 4, 8, 16, 32}) {
      NamedOptions<CrsKernelOptions> variant;
      variant.name = "crs_lanes" + std::to_string(lanes);
      variant.options.kernel = CrsKernel::lanes;
      variant.options.lanes_per_row = lanes;
      result.push_back(variant);
    }
    return result;
  }
};

/// A CRS matrix that is multiplied by a kernel of this library, chosen by the caller, and not by Kokkos
/// Kernels': for those who must not convert. It shares the Views of the KokkosSparse::CrsMatrix that it is
/// made of, so new values there are new values here.
///
/// CrsKernel::lanes is for rows of about the same length: few lanes for short rows, 32 for long ones.
/// CrsKernel::balanced is for any lengths, and the one for matrices with a few very long rows.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        row_map     0 2 2 5 7          shared with the CRS matrix
///     0 0 0 0        entries     0 2 1 2 3 0 3      shared
///     0 2 4 1        values      3 1 2 4 1 1 1      shared
///     1 0 0 1        first_rows  0                  balanced: row of the first entry of each share
///                    share_begins  0 7              balanced: see CooMatrix
///                    empty_rows  1                  balanced: rows without entries
///                    cut_rows                       balanced: see CooMatrix
///                    carry                          balanced: see CooMatrix
///
/// On a GPU, above 2^20 entries, the two shares of a row that is cut once leave their sums to each other, in
/// words of the carry; those of the long_row_count rows that are cut more often a second kernel joins.
///
/// Products of one object of CrsKernel::balanced on several execution space instances at once would mix their
/// partial sums: each wants a copy from with_own_carry().
/// The Views that are not of the CRS matrix are managed, whatever MemoryTraits are.
/// Bytes: those of the CRS matrix; balanced as many more as CooMatrix has for shares, and sizeof(Ordinal) for
/// each share and each empty row.
///
/// Sources: scalar and vector CRS and the half warp a row, Vazquez, Fernandez and Garzon 2011, section 3.1;
/// CRS, Kirk and Hwu, chapter 10, section 10.2.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class CrsKernelMatrix {
 public:
  using crs_type = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using value_type = Scalar;
  using ordinal_type = Ordinal;
  using size_type = SizeType;
  using memory_traits = MemoryTraits;
  using execution_space = typename Device::execution_space;
  using memory_space = typename Device::memory_space;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using options_type = CrsKernelOptions;
  static constexpr bool keeps_entries = true;

  using values_type = typename crs_type::values_type;
  using row_list_type = Kokkos::View<Ordinal*, device_type>;
  using carry_type = Impl::carry_t<device_type>;
  using shares_type = Kokkos::View<std::int64_t*, device_type>;

  static constexpr const char* name() { return "crs_kernel"; }

  /// A matrix without rows.
  CrsKernelMatrix() = default;
  /// Wraps Views that already are as the class comment describes them; nothing is checked or copied.
  CrsKernelMatrix(const crs_type& crs_, const CrsKernelOptions& options, row_list_type first_rows_ = {},
                  row_list_type empty_rows_ = {}, shares_type share_begins_ = {}, shares_type cut_rows_ = {},
                  std::int64_t cut_row_count_ = 0, carry_type carry_ = {}, std::int64_t long_row_count_ = 0)
      : crs(crs_),
        values(crs_.values),
        first_rows(first_rows_),
        empty_rows(empty_rows_),
        share_begins(share_begins_),
        cut_rows(cut_rows_),
        cut_row_count(cut_row_count_),
        long_row_count(long_row_count_),
        carry(carry_),
        m_kernel(options.kernel),
        m_lanes_per_row(options.lanes_per_row) {}

  Ordinal numRows() const { return crs.numRows(); }
  Ordinal numCols() const { return crs.numCols(); }
  /// Entries, duplicates and explicit zeros included.
  SizeType nnz() const { return crs.nnz(); }
  CrsKernel kernel() const { return m_kernel; }
  int lanes_per_row() const { return m_lanes_per_row; }
  /// Bytes of all Views, shared ones included.
  std::size_t storage_bytes() const {
    return crs.values.extent(0) * sizeof(Scalar) + crs.graph.row_map.extent(0) * sizeof(SizeType) +
           (crs.graph.entries.extent(0) + first_rows.extent(0) + empty_rows.extent(0)) * sizeof(Ordinal) +
           (share_begins.extent(0) + cut_rows.extent(0)) * sizeof(std::int64_t) +
           carry.extent(0) * sizeof(typename carry_type::value_type);
  }
  /// The same matrix with a carry of its own, for products at the same time as those of this object.
  CrsKernelMatrix with_own_carry() const {
    CrsKernelMatrix result(*this);
    result.carry = carry_type(Impl::label("carry", name()), carry.extent(0));
    return result;
  }

  crs_type crs;              ///< the matrix, shared
  values_type values;        ///< its values
  row_list_type first_rows;  ///< row of the first entry of each share
  row_list_type empty_rows;  ///< rows without entries, ascending
  shares_type share_begins;  ///< first entry of each share, and the number of entries; or none
  shares_type cut_rows;      ///< rows of several shares, first and last share of each; room for one a share
  std::int64_t cut_row_count = 0;   ///< how many there are
  std::int64_t long_row_count = 0;  ///< how many of them, which come first, are in more than two shares
  carry_type carry;                 ///< see CooMatrix

 private:
  CrsKernel m_kernel = CrsKernel::balanced;
  int m_lanes_per_row = 1;
};

namespace Impl {

/// The Entries (core/entry_shares.hpp) of a CRS matrix.
template <class ExecutionSpace, class Scalar, class Ordinal, class SizeType>
struct CrsEntries {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using share_launch = ShareLaunch<ExecutionSpace>;

  const Scalar* values;
  const Ordinal* entries;
  const SizeType* row_map;
  const Ordinal* first_rows;
  const std::int64_t* share_begins;
  std::int64_t entry_count;
  std::int64_t row_count;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin_of(std::int64_t row) const {
    return static_cast<std::int64_t>(row_map[row]);
  }
  /// The row of entry i, which is in `low` or after it, and before `high`: the last that does not begin after
  /// i. Empty rows begin where the next one does.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t search(std::int64_t low, std::int64_t high, std::int64_t i) const {
    return first_where(low + 1, high, [&](std::int64_t row) { return begin_of(row) > i; }) - 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row(std::int64_t share) const {
    return static_cast<std::int64_t>(first_rows[share]);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of(std::int64_t i) const { return search(0, row_count, i); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_after(std::int64_t row, std::int64_t i) const {
    return begin_of(row + 2) > i ? row + 1 : search(row + 2, row_count, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_in(std::int64_t row, std::int64_t i) const {
    return i < begin_of(row + 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t known_end(std::int64_t row, std::int64_t, std::int64_t end,
                                                     std::int64_t) const {
    return begin_of(row + 1) < end ? begin_of(row + 1) : end;
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::int64_t i, std::int64_t length) const {
    prefetch_ahead(values + i, length);
    prefetch_ahead(entries + i, length);
  }
  static constexpr bool keeps_rows = false;
  static constexpr bool may_meet = true;
  /// A lane looks at every 256th row, those without entries too; or, in a share with very many of these, at
  /// every 256th entry, whose row it searches (1M entries in few of 50M rows, H200: 0.27 ms in place of 76).
  struct RowBegins {
    using launch = ShareLaunch<ExecutionSpace>;
    static constexpr std::int64_t most_rows_of_a_walk = 8 * launch::share;
    const CrsEntries& of;
    std::int64_t share;
    std::int64_t begin;
    std::int64_t end;
    int lane;

    KOKKOS_FORCEINLINE_FUNCTION RowBegins(const CrsEntries& entries_, std::int64_t share_,
                                          std::int64_t begin_, std::int64_t end_, int lane_)
        : of(entries_), share(share_), begin(begin_), end(end_), lane(lane_) {}

    template <class Visit>
    KOKKOS_FORCEINLINE_FUNCTION void visit(const Visit& visit) const {
      const std::int64_t first = of.first_row(share);
      const std::int64_t last = end < of.entry_count ? of.first_row(share + 1) : of.row_count - 1;
      if (last - first > most_rows_of_a_walk) {
        visit_entries(first, last, visit);
        return;
      }
      for (std::int64_t row = first + lane; row <= last; row += launch::lanes) {
        const std::int64_t row_begin = of.begin_of(row);
        // An empty row begins where the next one does.
        if (row_begin >= begin && row_begin < end && of.begin_of(row + 1) > row_begin)
          visit(static_cast<int>(row_begin - begin), row);
      }
    }
    template <class Visit>
    KOKKOS_FORCEINLINE_FUNCTION void visit_entries(std::int64_t first, std::int64_t last,
                                                   const Visit& visit) const {
      FILIGREE_UNROLL(1)
      for (std::int64_t i = begin + lane; i < end; i += launch::lanes) {
        const std::int64_t row = of.search(first, last + 1, i);
        if (of.begin_of(row) == i) visit(static_cast<int>(i - begin), row);
      }
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION bool begins(std::int64_t row, std::int64_t i) const {
    return begin_of(row) == i;
  }
};

}  // namespace Impl

}  // namespace Filigree

#endif
