// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_FORMATS_COO_COO_MATRIX_HPP
#define FILIGREE_FORMATS_COO_COO_MATRIX_HPP

#include <cstddef>
#include <cstdint>

#include "filigree/core/convert_options.hpp"
#include "filigree/core/kokkos_versions.hpp"
#include "filigree/core/matrix_base.hpp"
#include "filigree/product/balanced_product.hpp"

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
/// empty_rows are the rows without entries, which a product only scales. A team multiplies a chunk of at most
/// 2048 entries. Up to 2^20 entries chunk_begins says where chunks begin: 1536 entries apart, or up to 512
/// before that where a row begins; above, they begin with multiples of 2048. carry is where a product puts
/// the partial sums of rows that chunks have in common; cut_rows has the first and the last chunk of each of
/// these: products of the same object on several execution space instances at once would mix them, so each
/// wants a copy from with_own_carry().
/// Bytes: entries * (sizeof(Scalar) + 2 * sizeof(Ordinal)), empty rows * sizeof(Ordinal), 536 for each chunk
/// and at most 24; with chunk_begins 8 for each chunk more and for the end.
///
/// Source: Kirk and Hwu, chapter 10, section 10.4; Liu, Yu, Chen, Hsieh and Shao 2012, section 2.1.
///
/// The parameters are those of KokkosSparse::CrsMatrix. SizeType counts the entries.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class CooMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

 public:
  using typename base_type::device_type;
  using options_type = CooOptions;
  static constexpr bool keeps_entries = true;

  using typename base_type::entries_type;
  using typename base_type::values_type;
  using carry_type = Impl::carry_t<device_type>;
  using chunk_offsets_type = Kokkos::View<std::int64_t*, device_type>;

  static constexpr const char* name() { return "coo"; }

  /// A matrix without rows.
  CooMatrix() = default;
  /// Wraps Views that already hold a matrix as the class comment describes it; nothing is checked or copied.
  CooMatrix(Ordinal row_count, Ordinal columns, values_type values_, entries_type entries_,
            entries_type rows_, entries_type empty_rows_, chunk_offsets_type chunk_begins_,
            chunk_offsets_type cut_rows_, std::int64_t cut_row_count_, carry_type carry_)
      : base_type(row_count, columns, static_cast<SizeType>(values_.extent(0))),
        values(values_),
        entries(entries_),
        rows(rows_),
        empty_rows(empty_rows_),
        chunk_begins(chunk_begins_),
        cut_rows(cut_rows_),
        cut_row_count(cut_row_count_),
        carry(carry_) {}

  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return Impl::bytes_of(values, entries, rows, empty_rows, chunk_begins, cut_rows, carry);
  }
  /// The same matrix with a carry of its own, for products at the same time as those of this object.
  CooMatrix with_own_carry() const {
    CooMatrix result(*this);
    result.carry = carry_type(Impl::label("carry", name()), carry.extent(0));
    return result;
  }

  values_type values;               ///< one an entry
  entries_type entries;             ///< column of each entry
  entries_type rows;                ///< row of each entry, ascending
  entries_type empty_rows;          ///< rows without entries, ascending
  chunk_offsets_type chunk_begins;  ///< first entry of each chunk, and the number of entries; or none
  chunk_offsets_type
      cut_rows;  ///< rows of several chunks, first and last chunk of each; room for one a chunk
  std::int64_t cut_row_count = 0;  ///< how many there are
  carry_type carry;  ///< partial sums of a product; then, 0 between products, 8 bytes for each chunk, which
                     ///< WrappedCrsMatrix uses, and how many chunks have ended
};

}  // namespace Filigree

#endif
