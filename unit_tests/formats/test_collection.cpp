// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the product of every format with that of Kokkos Kernels on a collection of real matrices. The
// collection is not part of the sources (see support/matrices.hpp).
#include <algorithm>
#include <filesystem>
#include <filigree/io/matrix_market.hpp>
#include <map>

#include "../support/formats.hpp"
#include "../support/matrices.hpp"

namespace FiligreeTest {

std::vector<std::filesystem::path> matrices() {
  std::vector<std::filesystem::path> result;
  for (const auto& file : std::filesystem::directory_iterator(matrix_folder))
    if (file.path().extension() == ".gz") result.push_back(file.path());
  std::sort(result.begin(), result.end());
  return result;
}

/// A matrix, a vector x, their product by Kokkos Kernels, and per row the largest difference that two correct
/// products may have.
template <class Scalar>
struct Problem {
  using Vector = Kokkos::View<Scalar*, Device>;
  Crs<Scalar> crs;
  Vector x;
  std::vector<Scalar> product;
  std::vector<double> bound;

  explicit Problem(const Crs<Scalar>& crs_) : crs(crs_) {
    const auto numbers = Random(1).vectors<Scalar>(crs.numCols(), 1);
    x = device_view<Vector>(numbers);
    const Vector y("y", crs.numRows());
    KokkosSparse::spmv("N", Scalar(1), crs, x, Scalar(0), y);
    product = host_list(y);
    const auto row_map = host_list(crs.graph.row_map);
    const auto entries = host_list(crs.graph.entries);
    const auto values = host_list(crs.values);
    for (std::size_t row = 0; row < product.size(); ++row) {
      double magnitudes = 0;
      for (auto i = static_cast<std::size_t>(row_map[row]); i < static_cast<std::size_t>(row_map[row + 1]);
           ++i)
        magnitudes += std::abs(static_cast<double>(values[i]) *
                               static_cast<double>(numbers.data[static_cast<std::size_t>(entries[i])]));
      // Each of both products has an error of at most (n + 3) eps times the sum of magnitudes.
      bound.push_back(2 * (row_map[row + 1] - row_map[row] + 3) * magnitudes *
                      std::numeric_limits<Scalar>::epsilon());
    }
  }

  template <class Matrix>
  testing::AssertionResult agrees_with(const Matrix& A) const {
    Vector y("y", crs.numRows());
    Kokkos::deep_copy(y, not_a_number<Scalar>());
    Filigree::spmv("N", Scalar(1), A, x, Scalar(0), y);
    const auto result = host_list(y);
    for (std::size_t row = 0; row < result.size(); ++row)
      if (!(std::abs(static_cast<double>(result[row]) - static_cast<double>(product[row])) <= bound[row]))
        return testing::AssertionFailure()
               << "y(" << row << ") is " << result[row] << "; Kokkos Kernels computes " << product[row]
               << "; the difference may be at most " << bound[row];
    return testing::AssertionSuccess();
  }
};

/// Tests all variants of a format; a format with blocks, with block sizes 1 and 3. Counts per variant the
/// conversions that were accepted, and those refused because of too much padding.
template <class Case>
void expect_agreement(const Problem<typename Case::Scalar>& problem, std::map<std::string, int>& accepted,
                      std::map<std::string, int>& refused) {
  using Options = typename Case::Options;
  for (const auto& variant : all_variants<Case>())
    for (const int b : {1, 3}) {
      if (b > 1 && !has_block_size_v<Options>) continue;
      if (b > 1 && dense_blocks_v<Case> && (problem.crs.numRows() % b != 0 || problem.crs.numCols() % b != 0))
        continue;
      Options options = variant.options;
      if constexpr (has_block_size_v<Options>) options.block_size = b;
      const std::string name = variant.name.empty() ? Case::Traits::name() : variant.name;
      accepted.emplace(name, 0);  // so that a variant that refuses all matrices has a number too
      try {
        const auto A = Case::convert_with(problem.crs, options);
        ++accepted[name];
        EXPECT_TRUE(problem.agrees_with(A)) << name << ", block size " << b;
      } catch (const std::length_error& error) {
        ++refused[name];
        const std::string text = error.what();
        EXPECT_TRUE(text.find("max_storage_ratio allows 3.") != std::string::npos ||
                    text.find("more than the 32-bit size_type") != std::string::npos)
            << text;
      }
    }
}

template <class Scalar, class... Formats>
void expect_agreement(Filigree::FormatList<Formats...>, const Problem<Scalar>& problem,
                      std::map<std::string, int>& accepted, std::map<std::string, int>& refused) {
  (expect_agreement<FormatCase<Formats, Scalar>>(problem, accepted, refused), ...);
}

template <class Scalar>
void expect_agreement_on_all_matrices() {
  FILIGREE_SKIP_WITHOUT_MATRICES();
  std::map<std::string, int> accepted;
  std::map<std::string, int> refused;
  int real_matrices = 0;
  for (const auto& file : matrices()) {
    SCOPED_TRACE(file.filename().string());
    Crs<Scalar> crs;
    try {
      crs = Filigree::read_matrix_market<Crs<Scalar>>(file.string());
    } catch (const Filigree::MatrixMarketError& error) {
      // A complex matrix. The tests of the reader cover these.
      EXPECT_NE(std::string(error.what()).find("complex"), std::string::npos) << error.what();
      continue;
    }
    ++real_matrices;
    expect_agreement(Filigree::GeneralFormats(), Problem<Scalar>(crs), accepted, refused);
  }
  EXPECT_GT(real_matrices, 0);
  // In a large collection there are matrices for each format.
  if (real_matrices > 100) {
    for (const auto& [name, count] : accepted)
      EXPECT_GT(count, 10) << name << " was refused " << refused[name] << " times";
  }
  // These formats need no padding.
  for (const char* name : {"crs", "crs_balanced", "coo", "jds", "hyb_least_bytes", "hec"})
    EXPECT_EQ(refused[name], 0) << name;
}

TEST(Collection, AgreesInFloat) {
  expect_agreement_on_all_matrices<float>();
}
TEST(Collection, AgreesInDouble) {
  expect_agreement_on_all_matrices<double>();
}

}  // namespace FiligreeTest
