// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <filigree/core/scalar.hpp>
#include <filigree/io/matrix_market.hpp>
#include <new>
#include <vector>

#include "buffer.hpp"
#include "entries.hpp"
#include "host_threads.hpp"
#include "merging.hpp"

namespace Filigree::Impl::MatrixMarket {

/// A part of the text that consists of whole lines and is read by one thread.
struct Piece {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::int64_t lines = 0;  ///< lines with an entry
  /// One element per row. After count_entries() it is the position of the piece's next entry of the row.
  std::vector<std::int64_t> row_positions;
};

/// Cuts the text after the size line at line ends into at most one piece per thread.
///
/// Each piece counts the entries of every row. The number of pieces is limited so that these counts need less
/// memory than the matrix, and so that a piece is worth a thread. An array is one piece.
template <class Scalar, class Ordinal>
std::vector<Piece> cut_into_pieces(const Text& text, const Header& header, const MatrixMarketTarget& target) {
  const std::int64_t bytes = text.end - header.data;
  const std::int64_t min_piece_bytes = std::int64_t(1) << 18;
  const std::int64_t entry_bytes = sizeof(Scalar) + sizeof(Ordinal);
  std::int64_t count = Kokkos::DefaultHostExecutionSpace().concurrency();
  // In floating point, because the numbers of the size line may be as large as int64_t allows.
  const double max_count = static_cast<double>(header.num_entries) * static_cast<double>(entry_bytes) /
                           (8.0 * (static_cast<double>(header.num_rows) + 1.0));
  if (max_count < static_cast<double>(count)) count = static_cast<std::int64_t>(max_count);
  count = std::min(count, bytes / min_piece_bytes);
  if (target.pieces > 0) count = target.pieces;
  if (header.is_array() || count < 1) count = 1;

  std::vector<Piece> pieces(static_cast<std::size_t>(count));
  const char* begin = header.data;
  for (std::int64_t i = 0; i < count; ++i) {
    const char* end = i + 1 < count ? line_end(header.data + bytes / count * (i + 1), text.end) : text.end;
    pieces[static_cast<std::size_t>(i)].begin = begin;
    pieces[static_cast<std::size_t>(i)].end = std::max(begin, end);
    begin = pieces[static_cast<std::size_t>(i)].end;
  }
  return pieces;
}

/// First pass over the text: counts the entries of each row, allocates the matrix and sets its row map and
/// the row positions of the pieces.
template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> count_entries(const EntryReader<Scalar>& reader,
                                               std::vector<Piece>& pieces) {
  const std::int64_t num_rows = reader.header().num_rows;
  const bool symmetric = reader.header().is_symmetric();
  const bool good = run_on_host_threads(
      "Filigree::count[matrix_market]", static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
        Piece& piece = pieces[static_cast<std::size_t>(i)];
        piece.row_positions.resize(static_cast<std::size_t>(num_rows));
        std::int64_t* const counts = piece.row_positions.data();
        piece.lines =
            reader.for_each_row_index(piece.begin, piece.end, [=](std::int64_t row, std::int64_t col) {
              ++counts[row];
              if (symmetric && row != col) ++counts[col];
            });
      });
  std::int64_t lines = 0;
  for (const Piece& piece : pieces) {
    // A piece without counts could not allocate them, so the text is not the reason for the failure.
    if (!good && static_cast<std::int64_t>(piece.row_positions.size()) != num_rows) throw std::bad_alloc();
    lines += piece.lines;
  }
  if (!good || lines != reader.header().num_entries) reader.fail_at_first_error();

  MatrixMarketCrs<Scalar, Ordinal> crs;
  crs.num_rows = num_rows;
  crs.num_cols = reader.header().num_cols;
  crs.row_map = host_array<std::int64_t>("Filigree::row_map[matrix_market]", num_rows + 1);
  std::int64_t sum = 0;
  for (std::int64_t row = 0; row < num_rows; ++row) {
    crs.row_map[row] = sum;
    for (Piece& piece : pieces) {
      std::int64_t& position = piece.row_positions[static_cast<std::size_t>(row)];
      const std::int64_t count = position;
      position = sum;
      sum += count;
    }
  }
  crs.row_map[num_rows] = sum;
  crs.entries = host_array<Ordinal>("Filigree::entries[matrix_market]", sum);
  crs.values = host_array<Scalar>("Filigree::values[matrix_market]", sum);
  return crs;
}

/// Second pass over the text: stores each entry, and its mirror image if the file lists one triangle, in its
/// row in the order of the file.
template <class Scalar, class Ordinal>
void fill_rows(const EntryReader<Scalar>& reader, std::vector<Piece>& pieces,
               const MatrixMarketCrs<Scalar, Ordinal>& crs) {
  const Symmetry symmetry = reader.header().symmetry;
  const bool symmetric = reader.header().is_symmetric();
  const double mirrored_real_sign = symmetry == Symmetry::SkewSymmetric ? -1 : 1;
  const double mirrored_imag_sign = symmetry == Symmetry::Symmetric ? 1 : -1;
  Ordinal* const entries = crs.entries.data();
  Scalar* const values = crs.values.data();
  const bool good = run_on_host_threads(
      "Filigree::read[matrix_market]", static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
        const Piece& piece = pieces[static_cast<std::size_t>(i)];
        std::int64_t* const row_positions = pieces[static_cast<std::size_t>(i)].row_positions.data();
        const auto store = [=](std::int64_t row, std::int64_t col, double real, double imag) {
          const std::int64_t position = row_positions[row]++;
          entries[position] = static_cast<Ordinal>(col);
          values[position] = make_value<Scalar>(real, imag);
        };
        reader.for_each_entry(piece.begin, piece.end,
                              [=](const char*, std::int64_t row, std::int64_t col, double real, double imag) {
                                store(row, col, real, imag);
                                if (symmetric && row != col)
                                  store(col, row, mirrored_real_sign * real, mirrored_imag_sign * imag);
                              });
      });
  if (!good) reader.fail_at_first_error();
}

/// Reads a text into a matrix.
///
/// It makes passes over the text and stores nothing but the matrix and counts per row, so that it needs
/// little more memory than the matrix. Several threads read pieces of the text. If one of them fails, one
/// thread reads the text again from the beginning and throws the first error.
template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> read_matrix(const Text& text, const MatrixMarketOptions& options,
                                             const MatrixMarketTarget& target) {
  const Header header = read_header(text, options, target, !is_complex_v<Scalar>);
  const EntryReader<Scalar> reader(text, header, target);
  std::vector<Piece> pieces = cut_into_pieces<Scalar, Ordinal>(text, header, target);
  auto crs = count_entries<Scalar, Ordinal>(reader, pieces);
  fill_rows(reader, pieces, crs);
  // Frees the counts.
  pieces.clear();
  sort_and_merge(reader, options, target, crs);
  return crs;
}

}  // namespace Filigree::Impl::MatrixMarket
