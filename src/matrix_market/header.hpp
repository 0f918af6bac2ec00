// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filigree/io/matrix_market.hpp>

#include "text.hpp"

namespace Filigree::Impl::MatrixMarket {

// The enumerators have the order of the words in read_header().
enum class Object { Matrix, Vector };
enum class Format { Coordinate, Array };
enum class Field { Real, Double, Integer, UnsignedInteger, Complex, Pattern };
enum class Symmetry { General, Symmetric, SkewSymmetric, Hermitian };

/// What the banner and the size line of a file say.
struct Header {
  Object object = Object::Matrix;
  Format format = Format::Coordinate;
  Field field = Field::Real;
  Symmetry symmetry = Symmetry::General;
  std::int64_t num_rows = 0;
  std::int64_t num_cols = 0;
  std::int64_t num_entries = 0;     ///< entries that a coordinate file lists, or values that an array lists
  const char* size_line = nullptr;  ///< the first word of the size line
  const char* data = nullptr;       ///< the end of the size line

  bool is_array() const { return format == Format::Array; }
  bool is_integer() const { return field == Field::Integer || field == Field::UnsignedInteger; }
  /// Whether the file lists only one triangle of the matrix.
  bool is_symmetric() const { return symmetry != Symmetry::General; }
  /// The smallest value of row - column among the entries that a symmetric file lists. It is 1 for a
  /// skew-symmetric matrix, because its diagonal is zero.
  std::int64_t min_diagonal() const { return symmetry == Symmetry::SkewSymmetric ? 1 : 0; }
};

/// Reads banner and size line. Throws MatrixMarketError if they are wrong, if the matrix to fill cannot hold
/// a matrix of this kind or size, or if the text is too short for the number of entries.
///
/// @param real_target whether the matrix to fill has real values
Header read_header(const Text& text, const MatrixMarketOptions& options, const MatrixMarketTarget& target,
                   bool real_target);

}  // namespace Filigree::Impl::MatrixMarket
