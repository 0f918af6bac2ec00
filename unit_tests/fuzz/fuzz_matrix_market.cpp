// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libFuzzer target for the Matrix Market reader and writer. Any bytes must give a matrix or a
// MatrixMarketError, never a crash, a hang or another exception. Reading in one piece and in several pieces
// must give the same result. A matrix that is written and read again must not change. scripts/fuzz builds and
// runs this target.
#include <cstdlib>
#include <cstring>
#include <filigree/io/matrix_market.hpp>
#include <iostream>
#include <sstream>

namespace {

using Filigree::Impl::MatrixMarketCrs;

/// The result of reading: a matrix or the text of an error.
template <class Scalar>
struct Outcome {
  MatrixMarketCrs<Scalar, std::int32_t> crs;
  std::string error;
};

template <class Scalar>
Outcome<Scalar> read(const std::string& bytes, std::int64_t pieces,
                     const Filigree::MatrixMarketOptions& options) {
  // The size line may announce any number of rows, and each row needs memory, so the limits are small.
  const Filigree::Impl::MatrixMarketTarget target{5000, 100000, pieces};
  std::istringstream stream(bytes);
  Outcome<Scalar> outcome;
  try {
    outcome.crs = Filigree::Impl::load_matrix_market<Scalar, std::int32_t>(stream, "fuzz", options, target);
  } catch (const Filigree::MatrixMarketError& error) {
    outcome.error = error.what();
  }
  return outcome;
}

template <class View>
bool same(const View& a, const View& b) {
  return a.extent(0) == b.extent(0) &&
         (a.extent(0) == 0 || std::memcmp(a.data(), b.data(), a.extent(0) * sizeof(*a.data())) == 0);
}

[[noreturn]] void report(const char* what, const std::string& a, const std::string& b) {
  std::cerr << what << ":\n" << a << "\n" << b << std::endl;
  std::abort();
}

/// Writing does not keep the bits of a NaN.
template <class Scalar>
bool has_nan(const Outcome<Scalar>& outcome) {
  for (std::size_t i = 0; i < outcome.crs.values.extent(0); ++i)
    if (outcome.crs.values(i) != outcome.crs.values(i)) return true;
  return false;
}

template <class Scalar>
void check(const std::string& bytes, const Filigree::MatrixMarketOptions& options) {
  const auto one = read<Scalar>(bytes, 1, options);
  const auto several = read<Scalar>(bytes, 5, options);
  if (one.error != several.error)
    report("one piece and several pieces give different errors", one.error, several.error);
  if (!one.error.empty()) return;
  if (!same(one.crs.row_map, several.crs.row_map) || !same(one.crs.entries, several.crs.entries) ||
      !same(one.crs.values, several.crs.values))
    report("one piece and several pieces give different matrices", "", "");
  std::ostringstream text;
  Filigree::Impl::store_matrix_market(text, one.crs);
  const auto again = read<Scalar>(text.str(), 1, options);
  if (!again.error.empty()) report("the reader refuses a written matrix", text.str(), again.error);
  if (!same(one.crs.row_map, again.crs.row_map) || !same(one.crs.entries, again.crs.entries) ||
      (!has_nan(one) && !same(one.crs.values, again.crs.values)))
    report("writing and reading changed the matrix", text.str(), "");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  Kokkos::initialize();
  std::atexit(Kokkos::finalize);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte selects the options and the scalar type. The rest is the file.
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Filigree::MatrixMarketOptions options;
  if ((data[0] & 1) != 0) options.duplicates = Filigree::MatrixMarketOptions::Duplicates::Refuse;
  options.complex_to_real = (data[0] & 2) != 0;
  switch (data[0] / 4 % 4) {
    case 0:
      check<double>(bytes, options);
      break;
    case 1:
      check<float>(bytes, options);
      break;
    case 2:
      check<Kokkos::complex<double>>(bytes, options);
      break;
    default:
      check<Kokkos::complex<float>>(bytes, options);
  }
  return 0;
}
