// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/io/matrix_market.hpp>
#include <fstream>
#include <istream>
#include <new>
#include <stdexcept>

#include "byte_source.hpp"
#include "matrix_reader.hpp"

namespace Filigree::Impl {

namespace {

template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> read_bytes(const char* begin, const char* end, const std::string& name,
                                            const MatrixMarketOptions& options,
                                            const MatrixMarketTarget& target) {
  const auto read_text = [&](const char* text_begin, const char* text_end) {
    return MatrixMarket::read_matrix<Scalar, Ordinal>({text_begin, text_end, name}, options, target);
  };
  if (!MatrixMarket::is_gzip(begin, end)) return read_text(begin, end);
  const MatrixMarket::Buffer text = MatrixMarket::inflate_gzip(begin, end, name);
  return read_text(text.begin(), text.end());
}

/// Calls read() and reports failed allocations as errors of the file.
template <class Read>
auto with_memory_errors(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw MatrixMarketError(name, 0, "the memory for this matrix could not be allocated");
}

}  // namespace

template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(const std::string& path,
                                                    const MatrixMarketOptions& options,
                                                    const MatrixMarketTarget& target) {
  const MatrixMarket::MappedFile file(path);
  if (file.begin() == nullptr) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw MatrixMarketError(path, 0, MatrixMarket::cannot_open());
    return load_matrix_market<Scalar, Ordinal>(stream, path, options, target);
  }
  return with_memory_errors(
      path, [&] { return read_bytes<Scalar, Ordinal>(file.begin(), file.end(), path, options, target); });
}

template <class Scalar, class Ordinal>
MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(std::istream& stream, const std::string& name,
                                                    const MatrixMarketOptions& options,
                                                    const MatrixMarketTarget& target) {
  return with_memory_errors(name, [&] {
    const MatrixMarket::Buffer bytes = MatrixMarket::read_stream(stream, name);
    return read_bytes<Scalar, Ordinal>(bytes.begin(), bytes.end(), name, options, target);
  });
}

#define FILIGREE_INSTANTIATE(Scalar, Ordinal)                                     \
  template MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(                   \
      const std::string&, const MatrixMarketOptions&, const MatrixMarketTarget&); \
  template MatrixMarketCrs<Scalar, Ordinal> load_matrix_market(                   \
      std::istream&, const std::string&, const MatrixMarketOptions&, const MatrixMarketTarget&);
FILIGREE_INSTANTIATE(float, std::int32_t)
FILIGREE_INSTANTIATE(double, std::int32_t)
FILIGREE_INSTANTIATE(Kokkos::complex<float>, std::int32_t)
FILIGREE_INSTANTIATE(Kokkos::complex<double>, std::int32_t)
FILIGREE_INSTANTIATE(float, std::int64_t)
FILIGREE_INSTANTIATE(double, std::int64_t)
FILIGREE_INSTANTIATE(Kokkos::complex<float>, std::int64_t)
FILIGREE_INSTANTIATE(Kokkos::complex<double>, std::int64_t)

}  // namespace Filigree::Impl
