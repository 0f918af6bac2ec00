// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a collection of matrices that is not part of the sources (see support/matrices.hpp). If its folder has the files
// PROVENANCE.md, with the extents of all matrices, and odd/, with unusual files, these are tested too.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <filigree/io/matrix_market.hpp>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../support/matrices.hpp"

namespace {

const std::filesystem::path& folder = FiligreeTest::matrix_folder;

template <class Scalar>
using Crs =
    KokkosSparse::CrsMatrix<Scalar, int, Kokkos::DefaultHostExecutionSpace::device_type, void, std::size_t>;
using Complex = Kokkos::complex<double>;

const std::string suffix = ".mtx.gz";

/// The names of the matrices in a folder, without .mtx.gz.
std::set<std::string> names_in(const std::filesystem::path& where) {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(where)) {
    const std::string name = file.path().filename().string();
    if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix)
      names.insert(name.substr(0, name.size() - suffix.size()));
  }
  return names;
}

struct Shape {
  long rows, cols, entries;
};

/// Rows, columns and entries of each matrix, from the tables in the description of the collection. The
/// entries include both triangles of symmetric matrices.
std::map<std::string, Shape> documented_shapes() {
  std::map<std::string, Shape> shapes;
  std::ifstream file(folder / "PROVENANCE.md");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## odd/", 0) == 0) break;
    std::replace(line.begin(), line.end(), '|', ' ');
    std::istringstream words(line);
    std::string name;
    long rows, cols, stored, expanded;
    if (words >> name >> rows >> cols >> stored >> expanded) shapes[name] = {rows, cols, expanded};
  }
  return shapes;
}

struct Triplet {
  long row, col;
  std::complex<double> value;
};

struct Reference {
  Shape shape{};
  bool complex = false;
  std::vector<Triplet> triplets;  // sorted by row and column, duplicates summed
};

/// A slow reader of valid coordinate files. It uses no code of the library.
Reference read_plainly(const std::filesystem::path& path) {
  Reference result;
  gzFile file = gzopen(path.c_str(), "rb");
  char line[4096];
  std::string kind;
  bool header = false;
  while (gzgets(file, line, sizeof line) != nullptr) {
    if (kind.empty()) {
      kind = line;
      std::transform(kind.begin(), kind.end(), kind.begin(), [](char c) { return std::tolower(c); });
      result.complex = kind.find(" complex ") != std::string::npos;
      continue;
    }
    char* p = line;
    if (*p == '%' || std::strspn(p, " \t\r\n") == std::strlen(p)) continue;
    if (!header) {
      header = std::sscanf(p, "%ld %ld", &result.shape.rows, &result.shape.cols) == 2;
      continue;
    }
    const long row = std::strtol(p, &p, 10) - 1;
    const long col = std::strtol(p, &p, 10) - 1;
    const double real = kind.find(" pattern ") != std::string::npos ? 1 : std::strtod(p, &p);
    const double imag = result.complex ? std::strtod(p, &p) : 0;
    result.triplets.push_back({row, col, {real, imag}});
    if (row == col) continue;
    if (kind.find(" symmetric") != std::string::npos) result.triplets.push_back({col, row, {real, imag}});
    if (kind.find(" skew-") != std::string::npos) result.triplets.push_back({col, row, {-real, -imag}});
    if (kind.find(" hermitian") != std::string::npos) result.triplets.push_back({col, row, {real, -imag}});
  }
  gzclose(file);
  result.shape.entries = static_cast<long>(result.triplets.size());
  std::stable_sort(result.triplets.begin(), result.triplets.end(), [](const Triplet& a, const Triplet& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  });
  std::vector<Triplet> merged;
  for (const Triplet& t : result.triplets) {
    if (!merged.empty() && merged.back().row == t.row && merged.back().col == t.col)
      merged.back().value += t.value;
    else
      merged.push_back(t);
  }
  result.triplets = merged;
  return result;
}

bool equal(double a, const std::complex<double>& b) {
  return a == b.real() && b.imag() == 0;
}
bool equal(const Complex& a, const std::complex<double>& b) {
  return a.real() == b.real() && a.imag() == b.imag();
}

template <class Scalar>
void expect_equal(const Crs<Scalar>& a, const Reference& reference) {
  ASSERT_EQ(a.numRows(), reference.shape.rows);
  ASSERT_EQ(a.numCols(), reference.shape.cols);
  ASSERT_EQ(a.nnz(), reference.triplets.size());
  std::size_t k = 0;
  for (int row = 0; row < a.numRows(); ++row)
    for (; k < a.graph.row_map(row + 1); ++k) {
      const Triplet& t = reference.triplets[k];
      ASSERT_TRUE(t.row == row && t.col == a.graph.entries(k) && equal(a.values(k), t.value))
          << "entry " << k;
    }
}

struct Refused {
  const char* name;
  long line;
  const char* expected;
  const char* found;
};

struct Accepted {
  const char* name;
  long rows, cols, entries;
};

// Among them are arrays with zeros (which do not become entries), a skew-symmetric array (whose diagonal is
// not in the file), vectors, and files with comments and blank lines between the entries.
const Accepted accepted[] = {
    {"cholmod__can___24", 24, 24, 160},
    {"cholmod__fullcsa", 2, 2, 4},
    {"cholmod__fullrza", 2, 2, 2},
    {"cholmod__pts5ldd03", 161, 161, 745},
    {"csparsenet__Double__Data__LFAT5", 14, 14, 46},
    {"cudss__test_real", 12, 12, 46},
    {"cusp__laplacian__5pt_10x10", 100, 100, 460},
    {"cusp__laplacian__9pt_10x10", 100, 100, 784},
    {"cusp__random_10x10__005_nonzeros", 10, 10, 5},
    {"cusp__random_10x10__008_nonzeros", 10, 10, 8},
    {"cusp__random_10x10__020_nonzeros", 10, 10, 20},
    {"cusp__random_10x10__030_nonzeros", 10, 10, 30},
    {"cusp__random_10x10__050_nonzeros", 10, 10, 50},
    {"cusp__random_10x10__080_nonzeros", 10, 10, 80},
    {"fmm__eye3_array", 3, 3, 3},
    {"fmm__eye3_str", 3, 3, 3},
    {"fmm__graphblas__matrix_bool", 3, 1, 3},
    {"fmm__graphblas__matrix_float", 3, 1, 3},
    {"fmm__graphblas__matrix_float_complex", 3, 1, 3},
    {"fmm__graphblas__matrix_int16", 3, 1, 3},
    {"fmm__graphblas__matrix_int32", 3, 1, 3},
    {"fmm__graphblas__matrix_int64", 3, 1, 3},
    {"fmm__graphblas__matrix_uint16", 3, 1, 3},
    {"fmm__graphblas__matrix_uint32", 3, 1, 3},
    {"fmm__graphblas__matrix_uint8", 3, 1, 3},
    {"fmm__nist_ex1", 5, 5, 8},
    {"fmm__nist_ex1_freeformat", 5, 5, 8},
    {"fmm__overflow__overflow_index_gt_int8", 1000, 1000, 1},
    {"fmm__permissive__windows_lineendings_nist_ex1_more_freeformat", 5, 5, 8},
    {"fmm__symmetry__coordinate_hermitian_real_row_general", 3, 3, 5},
    {"fmm__symmetry__coordinate_hermitian_row", 3, 3, 5},
    {"fmm__symmetry__coordinate_hermitian_row_general_dup", 3, 3, 5},
    {"fmm__symmetry__coordinate_pattern_symmetric_row_general", 3, 3, 4},
    {"fmm__symmetry__coordinate_pattern_symmetric_row_general_dup", 3, 3, 4},
    {"fmm__symmetry__coordinate_skew_symmetric_row_general_dup", 3, 3, 4},
    {"fmm__symmetry__coordinate_skew_symmetric_row_general_zero", 3, 3, 4},
    {"fmm__symmetry__coordinate_symmetric_row", 3, 3, 5},
    {"fmm__symmetry__coordinate_symmetric_row_general_dup", 3, 3, 5},
    {"fmm__symmetry_array__array_hermitian_general", 3, 3, 9},
    {"fmm__symmetry_array__array_skew-symmetric_general", 3, 3, 6},
    {"fmm__vector_coordinate_complex", 4, 1, 3},
    {"ginkgo__test__isai_a", 100, 100, 413},
    {"ginkgo__test__isai_a_excess_rhs", 122, 1, 2},
    {"ginkgo__test__isai_a_inv", 100, 100, 413},
    {"klu__1c", 1, 1, 1},
    {"klu__arrowc", 100, 100, 298},
    {"klu__one", 2, 2, 4},
    {"lagraph__A2", 7, 7, 30},
    {"lagraph__LFAT5_hypersparse", 2000, 2000, 46},
    {"lagraph__LFAT5_two", 28, 28, 92},
    {"lagraph__complex", 3, 3, 9},
    {"lagraph__empty", 3, 4, 0},
    {"lagraph__full_symmetric", 4, 4, 16},
    {"lagraph__lp_afiro_structure", 27, 51, 102},
    {"lagraph__matrix_bool", 7, 7, 12},
    {"lagraph__matrix_int8", 7, 7, 12},
    {"lagraph__matrix_uint16", 7, 7, 12},
    {"lagraph__skew_fp64", 6, 6, 20},
    {"lagraph__skew_int16", 6, 6, 20},
    {"lagraph__sources_7", 64, 1, 64},
    {"lagraph__tree-example", 6, 6, 10},
    {"lagraph__west0067", 67, 67, 294},
    {"lagraph__west0067_jumbled", 67, 67, 294},
    {"mathnet__hilbert_real_symmetric_array_10", 10, 10, 100},
    {"mongoose__Trec4", 2, 3, 3},
    {"morpheus__array_unsymmetric_integer", 2, 2, 4},
    {"paru__Ragusa16_pattern", 24, 24, 81},
    {"paru__lp_e226", 223, 472, 2768},
    {"paru__lp_e226_transposed", 472, 223, 2768},
    {"paru__lp_share1b", 117, 253, 1179},
    {"paru__permuted_b1_ss", 7, 7, 15},
    {"paru__temp", 180, 180, 2659},
    {"russell__ok_complex_general", 5, 5, 12},
    {"russell__ok_simple_symmetric", 3, 3, 6},
    {"russell__ok_symmetric", 5, 5, 25},
    {"spqr__GD06_theory", 101, 101, 380},
    {"spqr__Groebner_id2003_aug", 4967, 2456, 173670},
    {"spqr__Ragusa16", 24, 24, 81},
    {"spqr__Tina_AskCal", 11, 11, 29},
    {"spqr__Tina_AskCal_perm", 11, 11, 29},
    {"spqr__a10", 1, 0, 0},
    {"spqr__ash219", 219, 85, 438},
    {"spqr__b1_ss", 7, 7, 15},
    {"spqr__bcspwr01", 39, 39, 131},
    {"spqr__lp_e226", 223, 472, 2768},
    {"spqr__lp_e226_transposed", 472, 223, 2768},
    {"spqr__lp_share1b", 117, 253, 1179},
    {"spqr__west0067", 67, 67, 294},
};

// Among them are files with indices from 0, entries above the diagonal of symmetric files, a hermitian
// diagonal that is not real, infinities and fractions in integer files, and values in a pattern file.
const Refused refused[] = {
    {"cholmod__cha", 6, "the imaginary part 0 on the diagonal of a hermitian matrix", "\"-1\""},
    {"cholmod__mangle1", 1, "the object matrix or vector", "\"junk\""},
    {"cholmod__mangle3", 1, "the field", "\"junk\""},
    {"cholmod__mangle4", 1, "the symmetry", "\"junk\""},
    {"fmm__invalid__invalid_bad_object", 1, "the object matrix or vector", "\"___\""},
    {"fmm__invalid__invalid_bad_symmetry", 1, "the symmetry", "\"___\""},
    {"fmm__invalid__invalid_bad_value_3", 4, "a real number", "\"ffsafdsafas\""},
    {"fmm__invalid__invalid_dimensions_out_of_range_2", 3, "the number of columns", "\"-3\""},
    {"fmm__invalid__invalid_dimensions_out_of_range_3", 3, "the number of entries", "\"-3\""},
    {"fmm__invalid__invalid_indices_out_of_range_2", 6, "a column index from 1 to 7", "\"2000\""},
    {"fmm__invalid__invalid_indices_out_of_range_6", 6, "a column index from 1 to 7", "\"-2\""},
    {"fmm__invalid__invalid_matrix_coord_too_long", 7, "the end of the file after", "\"3\""},
    {"fmm__invalid__invalid_symmetry_vector", 1, "general", "\"symmetric\""},
    {"fmm__invalid__invalid_truncated_header_2", 1, "the symmetry", "the end of the file"},
    {"fmm__invalid__invalid_truncated_line_1", 2, "no more than the", "\"12\""},
    {"fmm__invalid__invalid_truncated_lines", 2, "no more than the", "\"12\""},
    {"fmm__invalid__invalid_vector_array_too_long", 7, "the end of the file after", "\"505\""},
    {"fmm__invalid__invalid_vector_index_out_of_range_2", 4, "a row index from 1 to 4", "\"200\""},
    {"fmm__overflow__overflow_dim_gt_int64", 2, "the number of rows", "\"19223372036854775808\""},
    {"fmm__overflow__overflow_value_gt_complex128", 4, "a number that the scalar type", "\"1E9999\""},
    {"fmm__overflow__overflow_value_gt_float128", 4, "a number that the scalar type", "\"1E9999\""},
    {"fmm__overflow__overflow_value_gt_float64", 4, "a number that the scalar type", "\"1E310\""},
    {"lagraph__matrix_fp32", 7, "an integer", "\"-inf\""},
    {"lagraph__matrix_fp64", 7, "an integer", "\"-inf\""},
    {"mongoose__bad_header", 1, "the symmetry", "\"bogus\""},
    {"mongoose__bad_matrix_type", 2, "no more than the", "\"1\""},
    {"morpheus__array_invalid_size", 2, "the end of the line after the sizes", "\"4\""},
    {"morpheus__array_invalid_symmetry_symmetric", 6, "the end of the file after", "\"-4.44\""},
    {"morpheus__mat_invalid_banner", 1, "the end of the line after the five words of the banner",
     "\"symmetric\""},
    {"morpheus__mat_invalid_column_over_index", 4, "a column index from 1 to 4", "\"0\""},
    {"morpheus__mat_invalid_column_zero_index", 4, "a column index from 1 to 4", "\"0\""},
    {"morpheus__mat_invalid_row_zero_index", 4, "a row index from 1 to 4", "\"0\""},
    {"morpheus__mat_invalid_size", 1, "the end of the line after the five words of the banner",
     "\"symmetric\""},
    {"morpheus__mat_invalid_storage_format", 1, "the format coordinate or array", "\"myformat\""},
    {"morpheus__mat_invalid_symmetry", 1, "the symmetry", "\"mysymmetry\""},
    {"morpheus__mat_unexpected_eof", 2, "no more than the", "\"4\""},
    {"morpheus__symmetric_integer", 3, "an entry on or below the diagonal", "\"1\""},
    {"morpheus__symmetric_pattern", 3, "an entry on or below the diagonal", "\"1\""},
    {"morpheus__vec_unsymmetric_real", 3, "an integer", "\"1.11\""},
    {"paru__Ragusa16", 23, "the end of the line after an entry", "\"1\""},
    {"paru__a1", 11, "a row index from 1 to 4", "\"0\""},
    {"paru__a4", 11, "a row index from 1 to 4", "\"0\""},
    {"paru__c32", 10, "a row index from 1 to 3", "\"0\""},
    {"russell__bad_many_lines_complex", 5, "the end of the file after", "\"2\""},
    {"russell__bad_wrong_header", 1, "the object matrix or vector", "\"wrong\""},
    {"russell__ok_rectangular", 4, "a row index from 1 to 2", "\"0\""},
    {"spqr__a2", 9, "a row index from 1 to 2", "\"0\""},
    {"spqr__a4", 11, "a row index from 1 to 4", "\"0\""},
    {"spqr__c2", 9, "a row index from 1 to 2", "\"0\""},
    {"spqr__r2", 9, "a row index from 1 to 2", "\"0\""},
};

class MatrixCollection : public ::testing::Test {
 protected:
  void SetUp() override { FILIGREE_SKIP_WITHOUT_MATRICES(); }
};

}  // namespace

TEST_F(MatrixCollection, MatricesEqualThoseOfASlowReader) {
  const auto shapes = documented_shapes();
  const auto names = names_in(folder);
  for (const auto& documented : shapes)
    EXPECT_EQ(names.count(documented.first), 1u) << documented.first;
  EXPECT_FALSE(names.empty()) << folder << " has no .mtx.gz files";
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto path = folder / (name + suffix);
    const Reference reference = read_plainly(path);
    const auto documented = shapes.find(name);
    if (documented != shapes.end()) {
      EXPECT_EQ(reference.shape.rows, documented->second.rows);
      EXPECT_EQ(reference.shape.cols, documented->second.cols);
      EXPECT_EQ(reference.shape.entries, documented->second.entries);
    } else if (!shapes.empty()) {
      ADD_FAILURE() << "not described in PROVENANCE.md";
    }
    try {
      expect_equal(Filigree::read_matrix_market<Crs<Complex>>(path.string()), reference);
      if (reference.complex)
        EXPECT_THROW(Filigree::read_matrix_market<Crs<double>>(path.string()), Filigree::MatrixMarketError);
      else
        expect_equal(Filigree::read_matrix_market<Crs<double>>(path.string()), reference);
    } catch (const Filigree::MatrixMarketError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST_F(MatrixCollection, UnusualFilesAreAcceptedOrRefusedAsListed) {
  const auto odd = folder / "odd";
  if (!std::filesystem::is_directory(odd)) GTEST_SKIP() << "no folder odd/";
  auto unlisted = names_in(odd);
  for (const Accepted& file : accepted) {
    SCOPED_TRACE(file.name);
    if (unlisted.erase(file.name) == 0) ADD_FAILURE() << "listed but not in the folder";
    try {
      const auto a = Filigree::read_matrix_market<Crs<Complex>>((odd / (file.name + suffix)).string());
      EXPECT_EQ(a.numRows(), file.rows);
      EXPECT_EQ(a.numCols(), file.cols);
      EXPECT_EQ(a.nnz(), static_cast<std::size_t>(file.entries));
    } catch (const Filigree::MatrixMarketError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  for (const Refused& file : refused) {
    SCOPED_TRACE(file.name);
    if (unlisted.erase(file.name) == 0) ADD_FAILURE() << "listed but not in the folder";
    try {
      Filigree::read_matrix_market<Crs<Complex>>((odd / (file.name + suffix)).string());
      ADD_FAILURE() << "accepted";
    } catch (const Filigree::MatrixMarketError& error) {
      const std::string what = error.what();
      EXPECT_EQ(error.line(), file.line) << what;
      EXPECT_NE(what.find(std::string("expected ") + file.expected), std::string::npos) << what;
      EXPECT_NE(what.find(std::string("found ") + file.found), std::string::npos) << what;
    }
  }
  for (const std::string& name : unlisted)
    ADD_FAILURE() << name << " is in neither list";
}
