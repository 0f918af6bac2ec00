// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_HYB_HYB_MATRIX_HPP
#define FILIGREE_FORMATS_HYB_HYB_MATRIX_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "filigree/core/hybrid_width.hpp"
#include "filigree/formats/coo/coo_matrix.hpp"
#include "filigree/formats/ell/ell_matrix.hpp"

namespace Filigree {

/// Options of a conversion to HybMatrix.
struct HybOptions : ConvertOptions {
  /// How the width of the ELL part is chosen. The default puts a matrix of under 4096 rows into COO whole.
  HybridWidth width_rule = HybridWidth::third_of_rows;
  /// The width for HybridWidth::given.
  std::int64_t width = 0;

  /// The rules that are worth a comparison.
  static std::vector<NamedOptions<HybOptions>> variants() {
    std::vector<NamedOptions<HybOptions>> result(2);
    result[1].name = "hyb_least_bytes";
    result[1].options.width_rule = HybridWidth::least_bytes;
    return result;
  }
};

/// ELL and COO: the first entries of each row as ELL, those beyond its width as COO.
///
/// For matrices with some rows much longer than most: nearly all entries have the regular layout, and a long
/// row neither pads the others nor keeps one lane busy while all wait.
///
/// Storage, for the 4 x 4 example and width 2 (`.` is padding)
///
///     3 0 1 0        ell  values 3 . 2 1 ...12 more... | 1 . 4 1 ...     coo  values  1
///     0 0 0 0             entries 0 . 1 0 ...          | 2 . 2 3 ...          entries 3
///     0 2 4 1             row_lengths 2 0 3 2                                 rows    2
///     1 0 0 1
///
/// The ELL part is that of EllMatrix but for its row lengths, which are those of the whole rows; the COO part
/// is a CooMatrix without a list of empty rows. As there, products of one object on several execution space
/// instances at once want copies from with_own_carry().
/// Bytes: those of the ELL part and those of the COO part.
///
/// Sources: Kirk and Hwu, chapter 10, section 10.4; HYB as Bell and Garland have it, in Liu, Yu, Chen, Hsieh
/// and Shao 2012 and in Vazquez, Fernandez and Garzon 2011.
///
/// The parameters are those of KokkosSparse::CrsMatrix.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class HybMatrix {
 public:
  using ell_type = EllMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using coo_type = CooMatrix<Scalar, Ordinal, Device, MemoryTraits, SizeType>;
  using value_type = Scalar;
  using ordinal_type = Ordinal;
  using size_type = SizeType;
  using memory_traits = MemoryTraits;
  using execution_space = typename ell_type::execution_space;
  using memory_space = typename ell_type::memory_space;
  using device_type = typename ell_type::device_type;
  using options_type = HybOptions;
  static constexpr bool keeps_entries = true;

  static constexpr const char* name() { return "hyb"; }

  /// A matrix without rows.
  HybMatrix() = default;
  /// Wraps parts that already hold a matrix as the class comment describes it; nothing is checked or copied.
  /// longest_row is the most entries of a row, those in both parts; it decides how hosts multiply, no more.
  HybMatrix(SizeType entry_count, Ordinal longest_row, const ell_type& ell_, const coo_type& coo_)
      : ell(ell_), coo(coo_), values(ell_.values), m_nnz(entry_count), m_longest_row(longest_row) {}

  KOKKOS_INLINE_FUNCTION Ordinal numRows() const { return ell.numRows(); }
  KOKKOS_INLINE_FUNCTION Ordinal numCols() const { return ell.numCols(); }
  /// Entries of both parts, duplicates and explicit zeros included.
  KOKKOS_INLINE_FUNCTION SizeType nnz() const { return m_nnz; }
  /// Entries of a row that the ELL part holds.
  KOKKOS_INLINE_FUNCTION Ordinal width() const { return ell.width(); }
  /// Entries of the longest row, in both parts.
  KOKKOS_INLINE_FUNCTION Ordinal longestRow() const { return m_longest_row; }
  /// Bytes of all Views.
  std::size_t storage_bytes() const { return ell.storage_bytes() + coo.storage_bytes(); }
  /// The same matrix with a carry of its own, for products at the same time as those of this object.
  HybMatrix with_own_carry() const {
    HybMatrix result(*this);
    result.coo.carry = typename coo_type::carry_type(Impl::label("carry", name()), coo.carry.extent(0));
    return result;
  }

  ell_type ell;                           ///< the first entries of each row
  coo_type coo;                           ///< the others
  typename ell_type::values_type values;  ///< those of the ELL part

 private:
  SizeType m_nnz = 0;
  Ordinal m_longest_row = 0;
};

namespace Impl {

/// The Rows (core/rows.hpp) of a hybrid of ELL and COO.
template <class ExecutionSpace, class Scalar, class Ordinal>
struct HybRows {
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using ell_rows = EllRows<Scalar, Ordinal, true>;
  using coo_rows = CooEntries<ExecutionSpace, Scalar, Ordinal>;
  using run_type = StridedRun<Scalar, Ordinal, length_t<Ordinal>>;
  static constexpr bool padded = false;
  static constexpr bool has_lanes = false;

  ell_rows ell;
  coo_rows coo;

  template <class Hyb>
  explicit HybRows(const Hyb& hyb) : ell(hyb.ell), coo(hyb.coo) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return ell.rows; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t target(std::int64_t i) const { return i; }
  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION JoinedRun<run_type, run_type> run(std::int64_t i, int) const {
    const run_type first = ell.run(i, 0);
    const auto length = static_cast<length_t<Ordinal>>(ell.row_lengths[i]);
    run_type second{nullptr, nullptr, 1, 0};
    if (length > ell.width) {
      const std::int64_t begin = coo.begin_of(i);
      second = {coo.values + begin, coo.entries + begin, 1, length - ell.width};
    }
    return {first, second, length};
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
    for (std::int64_t at = coo.begin_of(first); at < coo.entry_count && coo.row_of(at) < first + count;) {
      const std::int64_t row = coo.row_of(at);
      const auto length = static_cast<length_t<Ordinal>>(ell.row_lengths[row] - ell.width);
      coo.prefetch(at, 1);
      visit(row - first, run_type{coo.values + at, coo.entries + at, 1, length});
      at += length;
    }
  }

  /// The slots of the ELL part, then those of the COO part.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slots() const { return ell.slots() + coo.slots(); }
  KOKKOS_FORCEINLINE_FUNCTION SlotGroup group(std::int64_t slot, std::int64_t from) const {
    const std::int64_t coo_begin = ell.slots();
    if (slot < coo_begin) return ell.group(slot, from);
    const SlotGroup row = coo.group(slot - coo_begin, 0);
    return {row.number, row.begin + coo_begin, row.end + coo_begin};
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotEntry entry(const SlotGroup& group, std::int64_t slot) const {
    if (slot < ell.slots()) return ell.entry(group, slot);
    return {group.number, ell.width + (slot - group.begin), ell.elements() + (slot - ell.slots())};
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar& value_at(std::int64_t at) const {
    return at < ell.elements() ? ell.values[at] : coo.values[at - ell.elements()];
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_at(const SlotGroup&, std::int64_t at) const {
    return static_cast<std::int64_t>(at < ell.elements() ? ell.entries[at]
                                                         : coo.entries[at - ell.elements()]);
  }
};

}  // namespace Impl

}  // namespace Filigree

#endif
