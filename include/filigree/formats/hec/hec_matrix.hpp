// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HEC_HEC_MATRIX_HPP
#define FILIGREE_FORMATS_HEC_HEC_MATRIX_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "filigree/core/binary_search.hpp"
#include "filigree/core/hybrid_width.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"

namespace Filigree {

/// Options of a conversion to HecMatrix.
struct HecOptions : ConvertOptions {
  /// How the width of the ELL part is chosen.
  HybridWidth width_rule = HybridWidth::least_bytes;
  /// The width for HybridWidth::given.
  std::int64_t width = 0;
  /// A row with more entries than this beyond the width is multiplied by a whole team, not by one lane. At
  /// least 0.
  std::int64_t long_row = 256;

  /// The rules that are worth a comparison.
  static std::vector<NamedOptions<HecOptions>> variants() {
    std::vector<NamedOptions<HecOptions>> result(2);
    result[1].name = "hec_third_of_rows";
    result[1].options.width_rule = HybridWidth::third_of_rows;
    return result;
  }
};

/// ELL and CRS: the first entries of each row as ELL, those beyond its width as CRS of the rows that have
/// such.
///
/// For matrices with some rows longer than most: the regular part is multiplied as ELL, and a row that
/// overflows is a run of entries like in CRS, which also makes the format fit for preconditioners, that go
/// through a matrix row by row. One launch multiplies both parts; the result of a row is rounded once.
///
/// Storage, for the 4 x 4 example and width 2 (`.` is padding)
///
///     3 0 1 0        ell  values 3 . 2 1 ...12 more... | 1 . 4 1 ...    overflow_rows     2
///     0 0 0 0             entries 0 . 1 0 ...          | 2 . 2 3 ...    overflow_row_map  0 1
///     0 2 4 1             row_lengths 2 0 3 2                           overflow_entries  3
///     1 0 0 1                                                           overflow_values   1
///
/// The ELL part is that of EllMatrix but for its row lengths, which are those of the whole rows. Entries
/// overflow_row_map[i] to overflow_row_map[i + 1] are those of row overflow_rows[i] beyond the width: first
/// the numLongRows() rows with more than HecOptions::long_row of them, then the others, both ascending.
/// The row map is managed, whatever MemoryTraits are. Bytes: those of the ELL part; overflowing entries *
/// (sizeof(Scalar) + sizeof(Ordinal)); overflowing rows * (sizeof(Ordinal) + sizeof(SizeType)) +
/// sizeof(SizeType).
///
/// Source: Liu, Yu, Chen, Hsieh and Shao 2012, section 2.1. Teams for long rows are ours.
///
/// The parameters are those of KokkosSparse::CrsMatrix.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class HecMatrix {
 public:
  using ell_type = EllMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using value_type = Scalar;
  using ordinal_type = Ordinal;
  using size_type = SizeType;
  using memory_traits = MemoryTraits;
  using execution_space = typename ell_type::execution_space;
  using memory_space = typename ell_type::memory_space;
  using device_type = typename ell_type::device_type;
  using options_type = HecOptions;
  static constexpr bool keeps_entries = true;

  using values_type = typename ell_type::values_type;
  using entries_type = typename ell_type::entries_type;
  using row_map_type = Kokkos::View<SizeType*, device_type>;

  static constexpr const char* name() { return "hec"; }

  /// A matrix without rows.
  HecMatrix() = default;
  /// Wraps parts that already hold a matrix as the class comment describes it; nothing is checked or copied.
  HecMatrix(SizeType entry_count, Ordinal long_rows, const ell_type& ell_, values_type overflow_values_,
            entries_type overflow_entries_, entries_type overflow_rows_, row_map_type overflow_row_map_)
      : ell(ell_),
        values(ell_.values),
        overflow_values(overflow_values_),
        overflow_entries(overflow_entries_),
        overflow_rows(overflow_rows_),
        overflow_row_map(overflow_row_map_),
        m_nnz(entry_count),
        m_long_rows(long_rows) {}

  KOKKOS_INLINE_FUNCTION Ordinal numRows() const { return ell.numRows(); }
  KOKKOS_INLINE_FUNCTION Ordinal numCols() const { return ell.numCols(); }
  /// Entries of both parts, duplicates and explicit zeros included.
  KOKKOS_INLINE_FUNCTION SizeType nnz() const { return m_nnz; }
  /// Entries of a row that the ELL part holds.
  KOKKOS_INLINE_FUNCTION Ordinal width() const { return ell.width(); }
  /// Rows that a whole team multiplies.
  KOKKOS_INLINE_FUNCTION Ordinal numLongRows() const { return m_long_rows; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return ell.storage_bytes() + overflow_values.extent(0) * sizeof(Scalar) +
           (overflow_entries.extent(0) + overflow_rows.extent(0)) * sizeof(Ordinal) +
           overflow_row_map.extent(0) * sizeof(SizeType);
  }

  ell_type ell;                   ///< the first entries of each row
  values_type values;             ///< those of the ELL part
  values_type overflow_values;    ///< the other entries, row by row
  entries_type overflow_entries;  ///< their columns
  entries_type overflow_rows;     ///< the rows that have such
  row_map_type overflow_row_map;  ///< first entry of each of these rows, and the number of entries

 private:
  SizeType m_nnz = 0;
  Ordinal m_long_rows = 0;
};

namespace Impl {

/// The Rows (core/rows.hpp) of a hybrid of ELL and CRS.
template <class Scalar, class Ordinal, class SizeType>
struct HecRows {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using run_type = StridedRun<Scalar, Ordinal, length_t<Ordinal>>;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = false;

  EllRows<Scalar, Ordinal, true> ell;
  Scalar* overflow_values;
  Ordinal* overflow_entries;
  const Ordinal* overflow_rows;
  const SizeType* overflow_row_map;
  std::int64_t overflow_count;
  std::int64_t overflow_entry_count;
  std::int64_t long_count;

  template <class Hec>
  explicit HecRows(const Hec& hec)
      : ell(hec.ell),
        overflow_values(hec.overflow_values.data()),
        overflow_entries(hec.overflow_entries.data()),
        overflow_rows(hec.overflow_rows.data()),
        overflow_row_map(hec.overflow_row_map.data()),
        overflow_count(static_cast<std::int64_t>(hec.overflow_rows.extent(0))),
        overflow_entry_count(static_cast<std::int64_t>(hec.overflow_values.extent(0))),
        long_count(static_cast<std::int64_t>(hec.numLongRows())) {}

  KOKKOS_FORCEINLINE_FUNCTION length_t<Ordinal> length(std::int64_t row) const {
    return static_cast<length_t<Ordinal>>(ell.row_lengths[row]);
  }
  KOKKOS_FORCEINLINE_FUNCTION bool overflows(std::int64_t row) const { return length(row) > ell.width; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t overflow_row(std::int64_t at) const {
    return static_cast<std::int64_t>(overflow_rows[at]);
  }
  KOKKOS_FORCEINLINE_FUNCTION run_type overflow_run(std::int64_t at) const {
    const std::int64_t begin = static_cast<std::int64_t>(overflow_row_map[at]);
    return {overflow_values + begin, overflow_entries + begin, 1, length(overflow_row(at)) - ell.width};
  }
  /// Both parts of the row at a place of the list.
  KOKKOS_FORCEINLINE_FUNCTION JoinedRun<run_type, run_type> run_of_overflow(std::int64_t at) const {
    const std::int64_t row = overflow_row(at);
    return {ell.run(row, 0), overflow_run(at), length(row)};
  }
  /// The place of a row in the part of the list from low to high.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t search(std::int64_t low, std::int64_t high,
                                                  std::int64_t row) const {
    return first_where(low, high, [&](std::int64_t at) { return overflow_row(at) >= row; });
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return ell.rows; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t target(std::int64_t i) const { return i; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION JoinedRun<run_type, run_type> run(std::int64_t row, int) const {
    if (!overflows(row)) return {ell.run(row, 0), {nullptr, nullptr, 1, 0}, length(row)};
    const std::int64_t among_long = search(0, long_count, row);
    const bool is_long = among_long < long_count && overflow_row(among_long) == row;
    return run_of_overflow(is_long ? among_long : search(long_count, overflow_count, row));
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t tile_rows(std::int64_t i, std::int64_t most) const {
    return ell.tile_rows(i, most);
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_tile(std::int64_t i, std::int64_t count, const Visit& visit) const {
    ell.visit_tile(i, count, visit);
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void visit_rests(std::int64_t first, std::int64_t count, const Visit& visit) const {
    const auto visit_list = [&](std::int64_t at, std::int64_t end) {
      for (at = search(at, end, first); at < end && overflow_row(at) < first + count; ++at)
        visit(overflow_row(at) - first, overflow_run(at));
    };
    visit_list(0, long_count);
    visit_list(long_count, overflow_count);
  }

  /// The slots of the ELL part, then those of the CSR part.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return ell.slots() + overflow_entry_count; }
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t from) const {
    const std::int64_t first = ell.slots();
    if (slot < first) return ell.group(slot, from);
    // The numbers of the listed rows go on where those of the ELL part end.
    const std::int64_t listed = from < ell.slices() ? 0 : from - ell.slices();
    SlotGroup group = find_group(listed, overflow_count, slot, [&](std::int64_t at) {
      return first + static_cast<std::int64_t>(overflow_row_map[at]);
    });
    group.number += ell.slices();
    return group;
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& group, std::int64_t slot) const {
    if (slot < ell.slots()) return ell.entry(group, slot);
    return {overflow_row(group.number - ell.slices()), ell.width + (slot - group.begin),
            ell.elements() + (slot - ell.slots())};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t at) const {
    return at < ell.elements() ? ell.values[at] : overflow_values[at - ell.elements()];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup&, std::int64_t at) const {
    return static_cast<std::int64_t>(at < ell.elements() ? ell.entries[at]
                                                         : overflow_entries[at - ell.elements()]);
  }
};

}  // namespace Impl

}  // namespace Filigree

#endif
