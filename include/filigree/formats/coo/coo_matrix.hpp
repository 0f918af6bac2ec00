// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_COO_COO_MATRIX_HPP
#define FILIGREE_FORMATS_COO_COO_MATRIX_HPP

#include <cstddef>
#include <cstdint>

#include "filigree/core/binary_search.hpp"
#include "filigree/core/convert_options.hpp"
#include "filigree/core/entry_shares.hpp"
#include "filigree/core/kokkos_versions.hpp"

namespace Filigree {

/// Options of a conversion to CooMatrix: those that every format has.
struct CooOptions : ConvertOptions {};

/// Coordinates: the row, column and value of every entry, sorted by row.
///
/// For matrices of any pattern, as nothing is padded and every team multiplies the same number of entries,
/// however long a row is; and for those that come as triplets (make_coo). A product reads a row index for
/// every entry, so a format that fits the pattern is faster.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        rows        0 0 2 2 2 3 3
///     0 0 0 0        entries     0 2 1 2 3 0 3
///     0 2 4 1        values      3 1 2 4 1 1 1
///     1 0 0 1        empty_rows  1
///
/// Within a row entries stay in the order that the CRS or the triplets have; duplicates stay apart.
/// empty_rows are the rows without entries, which a product only scales. A team multiplies a share of at most
/// 2048 entries. Up to 2^20 entries share_begins says where shares begin: 1536 entries apart, or up to 512
/// before that where a row begins; above, they begin with multiples of 2048. carry is where a product puts
/// the partial sums of rows that shares have in common; cut_rows has the first and the last share of each of
/// these: products of the same object on several execution space instances at once would mix them, so each
/// wants a copy from with_own_carry().
/// Bytes: entries * (sizeof(Scalar) + 2 * sizeof(Ordinal)), empty rows * sizeof(Ordinal), 536 for each share
/// and at most 24; with share_begins 8 for each share more and for the end.
///
/// Source: Kirk and Hwu, chapter 10, section 10.4; Liu, Yu, Chen, Hsieh and Shao 2012, section 2.1.
///
/// The parameters are those of KokkosSparse::CrsMatrix. SizeType counts the entries.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class CooMatrix {
 public:
  using value_type = Scalar;
  using ordinal_type = Ordinal;
  using size_type = SizeType;
  using memory_traits = MemoryTraits;
  using execution_space = typename Device::execution_space;
  using memory_space = typename Device::memory_space;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using options_type = CooOptions;
  static constexpr bool keeps_entries = true;

  using values_type = Kokkos::View<Scalar*, device_type, MemoryTraits>;
  using entries_type = Kokkos::View<Ordinal*, device_type, MemoryTraits>;
  using carry_type = Impl::carry_t<device_type>;
  using shares_type = Kokkos::View<std::int64_t*, device_type>;

  static constexpr const char* name() { return "coo"; }

  /// A matrix without rows.
  CooMatrix() = default;
  /// Wraps Views that already hold a matrix as the class comment describes it; nothing is checked or copied.
  CooMatrix(Ordinal row_count, Ordinal columns, values_type values_, entries_type entries_,
            entries_type rows_, entries_type empty_rows_, shares_type share_begins_, shares_type cut_rows_,
            std::int64_t cut_row_count_, carry_type carry_)
      : values(values_),
        entries(entries_),
        rows(rows_),
        empty_rows(empty_rows_),
        share_begins(share_begins_),
        cut_rows(cut_rows_),
        cut_row_count(cut_row_count_),
        carry(carry_),
        m_rows(row_count),
        m_columns(columns) {}

  KOKKOS_INLINE_FUNCTION Ordinal numRows() const { return m_rows; }
  KOKKOS_INLINE_FUNCTION Ordinal numCols() const { return m_columns; }
  /// Entries, duplicates and explicit zeros included.
  KOKKOS_INLINE_FUNCTION SizeType nnz() const { return static_cast<SizeType>(values.extent(0)); }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return values.extent(0) * sizeof(Scalar) +
           (entries.extent(0) + rows.extent(0) + empty_rows.extent(0)) * sizeof(Ordinal) +
           (share_begins.extent(0) + cut_rows.extent(0)) * sizeof(std::int64_t) +
           carry.extent(0) * sizeof(typename carry_type::value_type);
  }
  /// The same matrix with a carry of its own, for products at the same time as those of this object.
  CooMatrix with_own_carry() const {
    CooMatrix result(*this);
    result.carry = carry_type(Impl::label("carry", name()), carry.extent(0));
    return result;
  }

  values_type values;        ///< one an entry
  entries_type entries;      ///< column of each entry
  entries_type rows;         ///< row of each entry, ascending
  entries_type empty_rows;   ///< rows without entries, ascending
  shares_type share_begins;  ///< first entry of each share, and the number of entries; or none
  shares_type cut_rows;      ///< rows of several shares, first and last share of each; room for one a share
  std::int64_t cut_row_count = 0;  ///< how many there are
  carry_type carry;  ///< partial sums of a product; then, 0 between products, 8 bytes for each share, which
                     ///< CrsKernelMatrix uses, and how many shares have ended

 private:
  Ordinal m_rows = 0;
  Ordinal m_columns = 0;
};

namespace Impl {

/// The Entries (core/entry_shares.hpp) and the Rows (core/rows.hpp) of a COO matrix, whose rows are found by
/// binary search.
template <class ExecutionSpace, class Scalar, class Ordinal>
struct CooEntries {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using share_launch = ShareLaunch<ExecutionSpace>;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = false;

  Scalar* values;
  Ordinal* entries;
  const Ordinal* rows;
  const std::int64_t* share_begins;
  std::int64_t entry_count;
  std::int64_t row_count;

  template <class Coo>
  explicit CooEntries(const Coo& coo)
      : values(coo.values.data()),
        entries(coo.entries.data()),
        rows(coo.rows.data()),
        share_begins(coo.share_begins.extent(0) > 0 ? coo.share_begins.data() : nullptr),
        entry_count(static_cast<std::int64_t>(coo.nnz())),
        row_count(static_cast<std::int64_t>(coo.numRows())) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of(std::int64_t i) const {
    return static_cast<std::int64_t>(rows[i]);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_after(std::int64_t, std::int64_t i) const { return row_of(i); }
  KOKKOS_FORCEINLINE_FUNCTION bool is_in(std::int64_t row, std::int64_t i) const { return row_of(i) == row; }
  /// The rows between need not be loaded.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t known_end(std::int64_t row, std::int64_t i, std::int64_t end,
                                                     std::int64_t guess) const {
    return i + guess <= end && is_in(row, i + guess - 1) ? i + guess : i;
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(std::int64_t i, std::int64_t length) const {
    prefetch_ahead(values + i, length);
    prefetch_ahead(entries + i, length);
    prefetch_ahead(rows + i, length);
  }
  static constexpr bool keeps_rows = true;
  static constexpr bool may_meet = false;  // 4 to 8 % slower for it (H200)
  /// A lane looks at every 256th entry. Just what it found stays in registers, which the entries need.
  struct RowBegins {
    using launch = ShareLaunch<ExecutionSpace>;
    const Ordinal* rows;       ///< of the entries of the share
    std::uint32_t begins = 0;  ///< a bit an entry of the lane, set if it is the first of its row
    int lane;

    KOKKOS_FORCEINLINE_FUNCTION RowBegins(const CooEntries& of, std::int64_t, std::int64_t begin,
                                          std::int64_t end, int lane_)
        : rows(of.rows + begin), lane(lane_) {
      const int count = static_cast<int>(end - begin);
      Ordinal row[launch::entries_per_lane];
      Ordinal row_before[launch::entries_per_lane];
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j) {
        const int entry = j * launch::lanes + lane < count ? j * launch::lanes + lane : 0;
        row[j] = rows[entry];
        row_before[j] = begin + entry > 0 ? rows[entry - 1] : -1;
      }
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j)
        if (j * launch::lanes + lane < count && row[j] != row_before[j]) begins |= 1u << j;
    }

    template <class Visit>
    KOKKOS_FORCEINLINE_FUNCTION void visit(const Visit& visit) const {
      // First all loads, then all visits.
      Ordinal row[launch::entries_per_lane];
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j)
        row[j] = (begins >> j & 1) != 0 ? rows[j * launch::lanes + lane] : -1;
      FILIGREE_UNROLL(8)
      for (int j = 0; j < launch::entries_per_lane; ++j)
        if (row[j] >= 0) visit(j * launch::lanes + lane, static_cast<std::int64_t>(row[j]));
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row(std::int64_t share) const {
    return row_of(share_begin(*this, share));
  }
  KOKKOS_FORCEINLINE_FUNCTION bool begins(std::int64_t row, std::int64_t i) const {
    return i == 0 || row_of(i - 1) != row;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return row_count; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t target(std::int64_t i) const { return i; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }
  /// The first entry whose row is not less than the given one.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin_of(std::int64_t row) const {
    return first_where(0, entry_count, [&](std::int64_t i) { return row_of(i) >= row; });
  }
  KOKKOS_FORCEINLINE_FUNCTION StridedRun<Scalar, Ordinal> run(std::int64_t row, int) const {
    const std::int64_t begin = begin_of(row);
    return {values + begin, entries + begin, 1, begin_of(row + 1) - begin};
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return entry_count; }
  /// The entries of a row, which is mostly a short one.
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t) const {
    const std::int64_t row = row_of(slot);
    const std::int64_t before =
        first_where_near(1, slot + 1, [&](std::int64_t distance) { return row_of(slot - distance) < row; });
    const std::int64_t end =
        first_where_near(slot + 1, entry_count, [&](std::int64_t i) { return row_of(i) > row; });
    return {row, slot - before + 1, end};
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& row, std::int64_t slot) const {
    return {row.number, slot - row.begin, slot};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t at) const { return values[at]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup&, std::int64_t at) const {
    return static_cast<std::int64_t>(entries[at]);
  }
};

}  // namespace Impl

}  // namespace Filigree

#endif
