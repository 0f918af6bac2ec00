// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "filigree/core/convert_options.hpp"
#include "filigree/core/matrix_base.hpp"
#include "filigree/product/balanced_chunks.hpp"

namespace Filigree {

/// Options of a conversion to CooMatrix. There are none besides ConvertOptions.
struct CooOptions : ConvertOptions {};

/// Coordinate format (COO): the row, the column and the value of every entry, sorted by row.
///
/// It suits matrices of any pattern: nothing is padded, and every team multiplies about equally many entries,
/// however long the rows are. It also suits matrices that come as triplets (make_coo). A product reads a row
/// index per entry, so a format that fits the pattern is faster.
///
/// Storage, for the 4 x 4 example
///
///     3 0 1 0        rows        0 0 2 2 2 3 3
///     0 0 0 0        entries     0 2 1 2 3 0 3
///     0 2 4 1        values      3 1 2 4 1 1 1
///     1 0 0 1        empty_rows  1
///
/// Within a row, entries keep the order of the CRS matrix or of the triplets. Duplicates stay separate.
/// empty_rows lists the rows without entries; a product only scales y there.
///
/// A team multiplies a chunk of at most 2048 entries. In matrices of up to 2^20 entries, chunk_begins says
/// where chunks begin: 1536 entries apart, or up to 512 entries earlier if the chunk then begins with a row.
/// In larger matrices chunks begin with multiples of 2048. See EntryChunks for the Views.
///
/// Bytes: nnz * (sizeof(Scalar) + 2 * sizeof(Ordinal)) + empty rows * sizeof(Ordinal), and 16 per chunk. With
/// chunk_begins 8 more per chunk, plus 8.
///
/// Sources: Kirk and Hwu, chapter 10, section 10.4; Liu, Yu, Chen, Hsieh and Shao 2012, section 2.1.
///
/// The template parameters are those of KokkosSparse::CrsMatrix. SizeType counts the entries.
template <class Scalar, class Ordinal, class Device, class MemoryTraits = void, class SizeType = std::size_t>
class CooMatrix : public MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType> {
  using base_type = MatrixBase<Scalar, Ordinal, Device, MemoryTraits, SizeType>;

  static_assert(std::is_signed<Ordinal>::value,
                "Filigree::CooMatrix: Ordinal, the type of row and column indices, must be signed.");

 public:
  using typename base_type::device_type;
  using options_type = CooOptions;             ///< options of the conversion
  static constexpr bool keeps_entries = true;  ///< see MatrixTraits::keeps_entries

  using typename base_type::entries_type;
  using typename base_type::values_type;
  using chunks_type = EntryChunks<device_type>;  ///< type of `chunks`
  /// The View type of chunks.chunk_begins and chunks.cut_rows.
  using chunk_offsets_type = typename chunks_type::offsets_type;

  /// The name of the format in labels and tables.
  static constexpr const char* name() { return "coo"; }

  /// A matrix without rows.
  CooMatrix() = default;
  /// Wraps Views that already hold a matrix as the class comment describes it. They are not copied, and only
  /// check() checks them. wrap_coo() makes a matrix from values, entries and rows alone.
  CooMatrix(Ordinal row_count, Ordinal columns, values_type values_, entries_type entries_,
            entries_type rows_, entries_type empty_rows_, const chunks_type& chunks_)
      : base_type(row_count, columns, static_cast<SizeType>(values_.extent(0))),
        values(values_),
        entries(entries_),
        rows(rows_),
        empty_rows(empty_rows_),
        chunks(chunks_) {}

  /// Bytes of all Views.
  std::size_t storage_bytes() const {
    return Impl::bytes_of(values, entries, rows, empty_rows) + chunks.bytes();
  }

  values_type values;       ///< value of each entry
  entries_type entries;     ///< column of each entry
  entries_type rows;        ///< row of each entry, ascending
  entries_type empty_rows;  ///< rows without entries, ascending
  chunks_type chunks;       ///< the chunks that teams multiply
};

}  // namespace Filigree
