// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "entries.hpp"
#include "host.hpp"
#include "rows.hpp"

namespace Filigree::Impl::MatrixMarket {

/// Reads a text into a matrix.
///
/// It parses the text several times and stores only the matrix and counts per row, so that it needs little
/// more memory than the matrix. Several threads read pieces of the text. If one of them fails, one thread
/// reads the text again from the beginning and throws the first error.
template <class Scalar, class Ordinal>
class MatrixReader {
 public:
  MatrixReader(const Text& text, const MatrixMarketOptions& options, const MatrixMarketTarget& target)
      : m_text(text),
        m_header(read_header(text, options, target, !is_complex_v<Scalar>)),
        m_reader(text, m_header),
        m_refuse_duplicates(options.duplicates == MatrixMarketOptions::Duplicates::Refuse),
        m_target(target) {}

  MatrixMarketCrs<Scalar, Ordinal> read() {
    cut_into_pieces();
    count_entries();
    fill_rows();
    // Frees the counts.
    m_pieces.clear();
    sort_and_merge();
    return m_crs;
  }

 private:
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
  /// Each piece has a count of entries for every row. The number of pieces is limited so that these counts
  /// need less memory than the matrix, and so that no piece is too short for a thread. An array is one piece.
  void cut_into_pieces() {
    const std::int64_t bytes = m_text.end - m_header.data;
    const std::int64_t min_piece_bytes = std::int64_t(1) << 18;
    const std::int64_t entry_bytes = sizeof(Scalar) + sizeof(Ordinal);
    std::int64_t count = Kokkos::DefaultHostExecutionSpace().concurrency();
    // In floating point, because the numbers of the size line may be as large as int64_t allows.
    const double max_count = static_cast<double>(m_header.num_entries) * static_cast<double>(entry_bytes) /
                             (8.0 * (static_cast<double>(m_header.num_rows) + 1.0));
    if (max_count < static_cast<double>(count)) count = static_cast<std::int64_t>(max_count);
    count = std::min(count, bytes / min_piece_bytes);
    if (m_target.pieces > 0) count = m_target.pieces;
    if (m_header.is_array() || count < 1) count = 1;

    m_pieces.resize(static_cast<std::size_t>(count));
    const char* begin = m_header.data;
    const char* cut = begin;
    for (Piece& piece : m_pieces) {
      piece.begin = begin;
      cut += bytes / count;
      begin = piece.end =
          &piece == &m_pieces.back() ? m_text.end : std::max(begin, line_end(cut, m_text.end));
    }
  }

  /// Calls read(piece) for all pieces on the threads of the host. Returns false if one of the calls threw.
  template <class Read>
  bool for_each_piece(const char* label, const Read& read) {
    return run_on_host_threads(label, static_cast<std::int64_t>(m_pieces.size()),
                               [&](std::int64_t i) { read(m_pieces[static_cast<std::size_t>(i)]); });
  }

  void allocate_entries(std::int64_t nnz) {
    m_crs.entries = host_array<Ordinal>("Filigree::entries[matrix_market]", nnz);
    m_crs.values = host_array<Scalar>("Filigree::values[matrix_market]", nnz);
  }

  /// First pass over the text: counts the entries of each row, allocates the matrix and sets its row map and
  /// the row positions of the pieces.
  void count_entries() {
    const std::int64_t num_rows = m_header.num_rows;
    const bool symmetric = m_header.is_symmetric();
    const bool good = for_each_piece("Filigree::count[matrix_market]", [&](Piece& piece) {
      piece.row_positions.resize(static_cast<std::size_t>(num_rows));
      std::int64_t* const counts = piece.row_positions.data();
      piece.lines =
          m_reader.for_each_row_index(piece.begin, piece.end, [=](std::int64_t row, std::int64_t col) {
            ++counts[row];
            if (symmetric && row != col) ++counts[col];
          });
    });
    std::int64_t lines = 0;
    for (const Piece& piece : m_pieces) {
      // A piece without counts could not allocate them, so the text is not the reason for the failure.
      if (!good && static_cast<std::int64_t>(piece.row_positions.size()) != num_rows) throw std::bad_alloc();
      lines += piece.lines;
    }
    if (!good || lines != m_header.num_entries) m_reader.fail_at_first_error();

    m_crs.num_rows = num_rows;
    m_crs.num_cols = m_header.num_cols;
    m_crs.row_map = host_array<std::int64_t>("Filigree::row_map[matrix_market]", num_rows + 1);
    std::int64_t sum = 0;
    for (std::int64_t row = 0; row < num_rows; ++row) {
      m_crs.row_map[row] = sum;
      for (Piece& piece : m_pieces)
        sum += std::exchange(piece.row_positions[static_cast<std::size_t>(row)], sum);
    }
    m_crs.row_map[num_rows] = sum;
    allocate_entries(sum);
  }

  /// Second pass over the text: stores each entry, and its mirror image if the file lists one triangle, in
  /// its row in the order of the file.
  void fill_rows() {
    const bool symmetric = m_header.is_symmetric();
    const double mirrored_real_sign = m_header.symmetry == Symmetry::SkewSymmetric ? -1 : 1;
    const double mirrored_imag_sign = m_header.symmetry == Symmetry::Symmetric ? 1 : -1;
    Ordinal* const entries = m_crs.entries.data();
    Scalar* const values = m_crs.values.data();
    const bool good = for_each_piece("Filigree::read[matrix_market]", [&](Piece& piece) {
      std::int64_t* const row_positions = piece.row_positions.data();
      const auto store = [=](std::int64_t row, std::int64_t col, double real, double imag) {
        const std::int64_t position = row_positions[row]++;
        entries[position] = static_cast<Ordinal>(col);
        values[position] = make_value<Scalar>(real, imag);
      };
      m_reader.for_each_entry(piece.begin, piece.end,
                              [=](const char*, std::int64_t row, std::int64_t col, double real, double imag) {
                                store(row, col, real, imag);
                                if (symmetric && row != col)
                                  store(col, row, mirrored_real_sign * real, mirrored_imag_sign * imag);
                              });
    });
    if (!good) m_reader.fail_at_first_error();
  }

  /// Throws an error for duplicates that are refused. It reads the text again to find their lines.
  [[noreturn]] void fail_duplicate(std::int64_t row, std::int64_t col) const {
    if (m_header.is_symmetric() && row < col) std::swap(row, col);
    std::vector<const char*> lines;
    m_reader.for_each_entry(m_header.data, m_text.end,
                            [&](const char* line, std::int64_t r, std::int64_t c, double, double) {
                              if (r == row && c == col) lines.push_back(line);
                            });
    m_text.fail(lines[1], (m_refuse_duplicates
                               ? "each entry once, as the option duplicates asks (row "
                               : "a sum of duplicates that the scalar type of the matrix can hold (row ") +
                              std::to_string(row + 1) + ", column " + std::to_string(col + 1) +
                              " is already in line " + std::to_string(m_text.line_of(lines[0])) + ")");
  }

  /// Sorts each row by column and sums its duplicates, in the order of the file.
  void sort_and_merge() {
    const std::int64_t num_rows = m_crs.num_rows;
    const std::int64_t threads = Kokkos::DefaultHostExecutionSpace().concurrency();
    const std::int64_t rows_per_task = std::clamp<std::int64_t>(num_rows / (4 * threads), 1, 4096);
    const std::int64_t tasks = (num_rows + rows_per_task - 1) / rows_per_task;
    std::vector<std::int64_t> row_lengths(static_cast<std::size_t>(num_rows), 0);
    // The row and column of the first refused duplicate of each task, or -1.
    std::vector<std::pair<std::int64_t, std::int64_t>> refused(static_cast<std::size_t>(tasks), {-1, -1});
    const bool good = run_on_host_threads("Filigree::sort[matrix_market]", tasks, [&](std::int64_t task) {
      auto& [refused_row, refused_col] = refused[static_cast<std::size_t>(task)];
      const std::int64_t end = std::min(num_rows, (task + 1) * rows_per_task);
      for (std::int64_t row = task * rows_per_task; row < end; ++row) {
        const std::int64_t length = m_crs.row_map[row + 1] - m_crs.row_map[row];
        Ordinal* entries = m_crs.entries.data() + m_crs.row_map[row];
        Scalar* values = m_crs.values.data() + m_crs.row_map[row];
        sort_row(entries, values, length);
        row_lengths[static_cast<std::size_t>(row)] =
            merge_row(entries, values, length, m_refuse_duplicates, refused_col);
        if (refused_col >= 0 && refused_row < 0) refused_row = row;
      }
    });
    if (!good) throw std::bad_alloc();
    for (const auto& [row, col] : refused)
      if (row >= 0) fail_duplicate(row, col);

    const std::int64_t nnz = std::accumulate(row_lengths.begin(), row_lengths.end(), std::int64_t(0));
    if (nnz > m_target.max_offset)
      m_text.fail(m_header.size_line, "at most " + std::to_string(m_target.max_offset) +
                                          " entries, which the offset type of the matrix can count (it has " +
                                          std::to_string(nnz) + ")");
    if (nnz < m_crs.row_map[num_rows]) remove_gaps(row_lengths, nnz);
  }

  /// Moves the first row_lengths[row] entries of each row into new arrays without gaps.
  void remove_gaps(const std::vector<std::int64_t>& row_lengths, std::int64_t nnz) {
    const auto old_entries = m_crs.entries;
    const auto old_values = m_crs.values;
    allocate_entries(nnz);
    std::int64_t to = 0;
    for (std::int64_t row = 0; row < m_crs.num_rows; ++row) {
      const std::int64_t from = std::exchange(m_crs.row_map[row], to);
      const std::int64_t length = row_lengths[static_cast<std::size_t>(row)];
      std::copy_n(old_entries.data() + from, length, m_crs.entries.data() + to);
      std::copy_n(old_values.data() + from, length, m_crs.values.data() + to);
      to += length;
    }
    m_crs.row_map[m_crs.num_rows] = to;
  }

  Text m_text;
  Header m_header;
  EntryReader<Scalar> m_reader;
  bool m_refuse_duplicates;
  MatrixMarketTarget m_target;
  std::vector<Piece> m_pieces;
  MatrixMarketCrs<Scalar, Ordinal> m_crs;
};

}  // namespace Filigree::Impl::MatrixMarket
