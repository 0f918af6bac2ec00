// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shell against PETSc's own products. The tests run with 1 to 4 ranks. With the option -mat_type aijkokkos the
// matrices and vectors are in Kokkos' default execution space.
#include <gtest/gtest.h>
#include <petscksp.h>

#include <cmath>
#include <filigree/petsc/petsc_shell.hpp>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

namespace {

#define EXPECT_PETSC(call) EXPECT_EQ(static_cast<int>(call), 0)

/// What rounding may change in a product of these tests, relative to numbers of about 1.
constexpr double rounding = 500 * PETSC_MACHINE_EPSILON;

int ranks_of_world() {
  int ranks = 0;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  return ranks;
}
int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}

/// Keeps the text of the first error of PETSc, instead of printing it.
class Errors {
 public:
  Errors() { EXPECT_PETSC(PetscPushErrorHandler(keep, this)); }
  ~Errors() { EXPECT_PETSC(PetscPopErrorHandler()); }
  Errors(const Errors&) = delete;
  Errors& operator=(const Errors&) = delete;
  const std::string& text() const { return m_text; }

 private:
  static PetscErrorCode keep(MPI_Comm, int, const char*, const char*, PetscErrorCode code,
                             PetscErrorType type, const char* text, void* context) {
    if (type == PETSC_ERROR_INITIAL && text != nullptr) static_cast<Errors*>(context)->m_text = text;
    return code;
  }
  std::string m_text;
};

/// A number from -1 to 1 that depends on two integers.
double noise(PetscInt i, PetscInt j) {
  const auto mixed = static_cast<std::uint64_t>(i) * 6364136223846793005ULL +
                     static_cast<std::uint64_t>(j) * 1442695040888963407ULL;
  return std::sin(static_cast<double>(mixed % 1000003));
}

using Row = std::vector<std::pair<PetscInt, double>>;
using Rows = std::function<Row(PetscInt)>;

struct Shape {
  PetscInt rows, columns;            ///< of all ranks
  PetscInt own_rows = PETSC_DECIDE;  ///< of this rank
  PetscInt own_columns = PETSC_DECIDE;
};

void set_values(Mat A, const Rows& rows) {
  PetscInt first = 0, end = 0;
  EXPECT_PETSC(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt row = first; row < end; ++row)
    for (const auto& [column, value] : rows(row))
      EXPECT_PETSC(MatSetValue(A, row, column, value, INSERT_VALUES));
  EXPECT_PETSC(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  EXPECT_PETSC(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
}

Mat make_matrix(const Shape& shape, const Rows& rows) {
  Mat A = nullptr;
  EXPECT_PETSC(MatCreate(PETSC_COMM_WORLD, &A));
  EXPECT_PETSC(MatSetSizes(A, shape.own_rows, shape.own_columns, shape.rows, shape.columns));
  EXPECT_PETSC(MatSetType(A, MATAIJ));
  EXPECT_PETSC(MatSetFromOptions(A));
  EXPECT_PETSC(MatSeqAIJSetPreallocation(A, 40, nullptr));
  EXPECT_PETSC(MatMPIAIJSetPreallocation(A, 40, nullptr, 40, nullptr));
  EXPECT_PETSC(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  set_values(A, rows);
  return A;
}

/// A 3-D grid with b unknowns per cell, symmetric and positive definite.
Mat make_grid(PetscInt n, PetscInt b) {
  // The cells are not split.
  const PetscInt cells = n * n * n,
                 own = cells / ranks_of_world() + (rank_of_world() < cells % ranks_of_world() ? 1 : 0);
  return make_matrix({cells * b, cells * b, own * b, own * b}, [=](PetscInt row) {
    const PetscInt cell = row / b, x = cell % n, y = cell / n % n, z = cell / n / n;
    Row entries;
    const auto add = [&](bool is_inside, PetscInt other) {
      if (is_inside) entries.push_back({other * b + row % b, -1});
    };
    add(z > 0, cell - n * n);
    add(y > 0, cell - n);
    add(x > 0, cell - 1);
    for (PetscInt c = 0; c < b; ++c)
      entries.push_back({cell * b + c, c == row % b ? 7.0 : 0.25});
    add(x + 1 < n, cell + 1);
    add(y + 1 < n, cell + n);
    add(z + 1 < n, cell + n * n);
    return entries;
  });
}

/// Some entries in each third row, and many in row 5.
Mat make_irregular(const Shape& shape) {
  return make_matrix(shape, [=](PetscInt row) {
    Row entries;
    for (PetscInt k = 0; k < (row == 5 ? 30 : row % 3 == 0 ? 4 : 0); ++k)
      entries.push_back({(row * 7 + k * k * 11) % shape.columns, noise(row, k)});
    return entries;
  });
}

/// An element depends on its global number.
void fill(Vec vector, PetscInt seed) {
  PetscInt first = 0, end = 0;
  EXPECT_PETSC(VecGetOwnershipRange(vector, &first, &end));
  for (PetscInt i = first; i < end; ++i)
    EXPECT_PETSC(VecSetValue(vector, i, noise(i, seed), INSERT_VALUES));
  EXPECT_PETSC(VecAssemblyBegin(vector));
  EXPECT_PETSC(VecAssemblyEnd(vector));
}

double largest_difference(Vec a, Vec b) {
  Vec difference = nullptr;
  PetscReal norm = 0;
  EXPECT_PETSC(VecDuplicate(a, &difference));
  EXPECT_PETSC(VecWAXPY(difference, -1, a, b));
  EXPECT_PETSC(VecNorm(difference, NORM_INFINITY, &norm));
  EXPECT_PETSC(VecDestroy(&difference));
  return static_cast<double>(norm);
}

Mat make_shell(Mat A, const std::string& format = "", const std::string& remote_format = "") {
  Filigree::PetscShellOptions options;
  options.format = format;
  options.remote_format = remote_format;
  Mat shell = nullptr;
  EXPECT_PETSC(Filigree::petsc_shell(A, options, &shell));
  return shell;
}

/// Expects that all products of two matrices differ by rounding only.
void expect_same_products(Mat A, Mat shell) {
  Vec x = nullptr, y = nullptr;
  EXPECT_PETSC(MatCreateVecs(shell, &x, &y));
  for (const bool is_transposed : {false, true}) {
    const Vec from = is_transposed ? y : x, to = is_transposed ? x : y;
    Vec expected = nullptr, found = nullptr, added = nullptr;
    EXPECT_PETSC(VecDuplicate(to, &expected));
    EXPECT_PETSC(VecDuplicate(to, &found));
    EXPECT_PETSC(VecDuplicate(to, &added));
    fill(from, 1);
    fill(added, 2);
    EXPECT_PETSC(VecSet(found, std::numeric_limits<double>::quiet_NaN()));
    EXPECT_PETSC(is_transposed ? MatMultTranspose(A, from, expected) : MatMult(A, from, expected));
    EXPECT_PETSC(is_transposed ? MatMultTranspose(shell, from, found) : MatMult(shell, from, found));
    EXPECT_LE(largest_difference(expected, found), rounding) << (is_transposed ? "transposed" : "");
    EXPECT_PETSC(is_transposed ? MatMultTransposeAdd(A, from, added, expected)
                               : MatMultAdd(A, from, added, expected));
    EXPECT_PETSC(is_transposed ? MatMultTransposeAdd(shell, from, added, found)
                               : MatMultAdd(shell, from, added, found));
    EXPECT_LE(largest_difference(expected, found), rounding)
        << (is_transposed ? "added, transposed" : "added");
    // The result may overwrite what is added.
    EXPECT_PETSC(is_transposed ? MatMultTransposeAdd(shell, from, added, added)
                               : MatMultAdd(shell, from, added, added));
    EXPECT_LE(largest_difference(expected, added), rounding)
        << (is_transposed ? "in place, transposed" : "in place");
    EXPECT_PETSC(VecDestroy(&expected));
    EXPECT_PETSC(VecDestroy(&found));
    EXPECT_PETSC(VecDestroy(&added));
  }
  EXPECT_PETSC(VecDestroy(&x));
  EXPECT_PETSC(VecDestroy(&y));
}

void expect_products(Mat A, const std::string& format = "", const std::string& remote_format = "") {
  SCOPED_TRACE("format " + format);
  Mat shell = make_shell(A, format, remote_format);
  expect_same_products(A, shell);
  EXPECT_PETSC(MatDestroy(&shell));
}

TEST(PetscShell, MultipliesLikeTheMatrix) {
  Mat grid = make_grid(6, 4);
  for (const char* const format : {"", "crs", "sell", "coo", "cds", "ell"})
    expect_products(grid, format);
  expect_products(grid, "cds", "coo");
  EXPECT_PETSC(MatDestroy(&grid));
  Mat one = make_grid(7, 1);
  expect_products(one);
  EXPECT_PETSC(MatDestroy(&one));
  for (const Shape& shape : {Shape{50, 50}, Shape{60, 33}, Shape{33, 60}, Shape{1, 7}}) {
    Mat irregular = make_irregular(shape);
    expect_products(irregular);
    EXPECT_PETSC(MatDestroy(&irregular));
  }
}

TEST(PetscShell, MultipliesIfARankHasNoRows) {
  const int ranks = ranks_of_world();
  // The first rank has all rows, and the last one all elements of x.
  Mat A = make_irregular({40, 40, rank_of_world() == 0 ? 40 : 0, rank_of_world() == ranks - 1 ? 40 : 0});
  expect_products(A);
  EXPECT_PETSC(MatDestroy(&A));
}

/// The last rank receives elements of x that it does not need.
TEST(PetscShell, MultipliesIfRemoteColumnsOfARankHaveNoEntries) {
  Mat A = make_grid(6, 2);
  int ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  PetscInt first = 0, end = 0;
  EXPECT_PETSC(MatGetOwnershipRange(A, &first, &end));
  std::vector<PetscInt> rows;
  for (PetscInt row = first; rank_of_world() == ranks - 1 && row < end; ++row)
    rows.push_back(row);
  EXPECT_PETSC(MatZeroRows(A, static_cast<PetscInt>(rows.size()), rows.data(), 2, nullptr, nullptr));
  expect_products(A);
  EXPECT_PETSC(MatDestroy(&A));
}

TEST(PetscShell, GivesTheSameBits) {
  Mat A = make_grid(6, 4);
  Mat shell = make_shell(A);
  Vec x = nullptr, first = nullptr, again = nullptr;
  EXPECT_PETSC(MatCreateVecs(shell, &x, &first));
  EXPECT_PETSC(VecDuplicate(first, &again));
  fill(x, 1);
  EXPECT_PETSC(MatMult(shell, x, first));
  for (int turn = 0; turn < 10; ++turn) {
    EXPECT_PETSC(MatMult(shell, x, again));
    PetscBool same = PETSC_FALSE;
    EXPECT_PETSC(VecEqual(first, again, &same));
    EXPECT_TRUE(same);
  }
  EXPECT_PETSC(VecDestroy(&x));
  EXPECT_PETSC(VecDestroy(&first));
  EXPECT_PETSC(VecDestroy(&again));
  EXPECT_PETSC(MatDestroy(&shell));
  EXPECT_PETSC(MatDestroy(&A));
}

TEST(PetscShell, TakesOverWhatChangesInTheMatrix) {
  Mat A = make_grid(5, 2);
  Mat shell = make_shell(A);
  expect_same_products(A, shell);
  EXPECT_PETSC(MatScale(A, 3));
  expect_same_products(A, shell);
  PetscInt first = 0, end = 0;
  EXPECT_PETSC(MatGetOwnershipRange(A, &first, &end));
  const auto change = [&](PetscInt column, double value) {
    for (PetscInt row = first; row < end; ++row)
      EXPECT_PETSC(MatSetValue(A, row, column < 0 ? row : column, value, INSERT_VALUES));
    EXPECT_PETSC(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    EXPECT_PETSC(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  };
  change(-1, 11);
  expect_same_products(A, shell);
  // Another pattern, with an element of x that most ranks do not own.
  change(0, 0.5);
  expect_same_products(A, shell);
  EXPECT_PETSC(MatDestroy(&shell));
  EXPECT_PETSC(MatDestroy(&A));
}

TEST(PetscShell, CanBeScaledAndShifted) {
  Mat A = make_grid(5, 2);
  Mat shell = make_shell(A);
  EXPECT_PETSC(MatScale(shell, -2));
  EXPECT_PETSC(MatShift(shell, 3));
  EXPECT_PETSC(MatScale(A, -2));
  EXPECT_PETSC(MatShift(A, 3));
  // The shell multiplies by the new A, scaled and shifted again.
  EXPECT_PETSC(MatScale(A, -2));
  EXPECT_PETSC(MatShift(A, 3));
  Mat expected = nullptr;
  EXPECT_PETSC(MatDuplicate(A, MAT_COPY_VALUES, &expected));
  EXPECT_PETSC(MatScale(expected, -2));
  EXPECT_PETSC(MatShift(expected, 3));
  expect_same_products(expected, shell);
  EXPECT_PETSC(MatDestroy(&expected));
  EXPECT_PETSC(MatDestroy(&shell));
  EXPECT_PETSC(MatDestroy(&A));
}

TEST(PetscShell, HasTheDiagonalAndTheShape) {
  Mat A = make_grid(5, 2);
  EXPECT_PETSC(MatSetBlockSizes(A, 2, 2));
  Mat shell = make_shell(A);
  PetscInt row_block = 0, column_block = 0;
  EXPECT_PETSC(MatGetBlockSizes(shell, &row_block, &column_block));
  EXPECT_EQ(row_block, 2);
  EXPECT_EQ(column_block, 2);
  Vec expected = nullptr, found = nullptr;
  EXPECT_PETSC(MatCreateVecs(A, &expected, nullptr));
  EXPECT_PETSC(MatCreateVecs(shell, &found, nullptr));
  EXPECT_PETSC(MatGetDiagonal(A, expected));
  EXPECT_PETSC(MatGetDiagonal(shell, found));
  EXPECT_EQ(largest_difference(expected, found), 0);
  PetscInt rows = 0, columns = 0, shell_rows = 0, shell_columns = 0;
  EXPECT_PETSC(MatGetLocalSize(A, &rows, &columns));
  EXPECT_PETSC(MatGetLocalSize(shell, &shell_rows, &shell_columns));
  EXPECT_EQ(rows, shell_rows);
  EXPECT_EQ(columns, shell_columns);
  EXPECT_PETSC(VecDestroy(&expected));
  EXPECT_PETSC(VecDestroy(&found));
  EXPECT_PETSC(MatDestroy(&shell));
  EXPECT_PETSC(MatDestroy(&A));
}

/// Iterations of conjugate gradients with Jacobi.
PetscInt iterations_of(Mat A, Mat preconditioned) {
  KSP ksp = nullptr;
  PC pc = nullptr;
  Vec x = nullptr, b = nullptr;
  EXPECT_PETSC(KSPCreate(PETSC_COMM_WORLD, &ksp));
  EXPECT_PETSC(KSPSetOperators(ksp, A, preconditioned));
  EXPECT_PETSC(KSPSetType(ksp, KSPCG));
  EXPECT_PETSC(KSPGetPC(ksp, &pc));
  EXPECT_PETSC(PCSetType(pc, PCJACOBI));
  EXPECT_PETSC(
      KSPSetTolerances(ksp, 1e5 * PETSC_MACHINE_EPSILON, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  EXPECT_PETSC(MatCreateVecs(A, &x, &b));
  fill(b, 4);
  EXPECT_PETSC(KSPSolve(ksp, b, x));
  PetscInt iterations = 0;
  KSPConvergedReason reason = KSP_DIVERGED_NULL;
  EXPECT_PETSC(KSPGetIterationNumber(ksp, &iterations));
  EXPECT_PETSC(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(static_cast<int>(reason), 0);
  EXPECT_PETSC(VecDestroy(&x));
  EXPECT_PETSC(VecDestroy(&b));
  EXPECT_PETSC(KSPDestroy(&ksp));
  return iterations;
}

TEST(PetscShell, SolversNeedTheSameIterations) {
  Mat A = make_grid(8, 2);
  Mat shell = make_shell(A);
  const PetscInt expected = iterations_of(A, A);
  EXPECT_GT(expected, 5);
  EXPECT_EQ(iterations_of(shell, A), expected);
  EXPECT_EQ(iterations_of(shell, shell), expected);
  EXPECT_PETSC(MatDestroy(&shell));
  EXPECT_PETSC(MatDestroy(&A));
}

/// What MatView() writes, on rank 0.
std::string view_of(Mat shell) {
  // Tests with other numbers of ranks run at the same time.
  const std::string file = "petsc_shell_view_" + std::to_string(ranks_of_world()) + ".txt";
  PetscViewer viewer = nullptr;
  EXPECT_PETSC(PetscViewerASCIIOpen(PETSC_COMM_WORLD, file.c_str(), &viewer));
  EXPECT_PETSC(MatView(shell, viewer));
  EXPECT_PETSC(PetscViewerDestroy(&viewer));
  std::ostringstream text;
  if (rank_of_world() == 0) {
    text << std::ifstream(file).rdbuf();
    std::remove(file.c_str());
  }
  return text.str();
}

TEST(PetscShell, ShowsTheFormatsOfAllRanks) {
  Mat A = make_grid(5, 2);
  Mat named = make_shell(A, "cds", "coo");
  Mat picked = make_shell(A);
  const std::string text_of_named = view_of(named), text_of_picked = view_of(picked);
  if (rank_of_world() == 0) {
    const int ranks = ranks_of_world();
    for (int rank = 0; rank < ranks; ++rank) {
      const std::string start = "Filigree on rank " + std::to_string(rank) + ": owned columns ";
      const std::string line = start + "cds" + (ranks > 1 ? ", remote columns coo\n" : "\n");
      EXPECT_NE(text_of_named.find(line), std::string::npos) << line << text_of_named;
      EXPECT_NE(text_of_picked.find(start), std::string::npos) << start << text_of_picked;
    }
    EXPECT_NE(text_of_named.find("The options name the format"), std::string::npos) << text_of_named;
    EXPECT_EQ(text_of_named.find("Picked"), std::string::npos) << text_of_named;
    EXPECT_NE(text_of_picked.find("Picked"), std::string::npos) << text_of_picked;
  }
  EXPECT_PETSC(MatDestroy(&picked));
  EXPECT_PETSC(MatDestroy(&named));
  EXPECT_PETSC(MatDestroy(&A));
}

/// A matrix by MatSetValuesCOO(): each row has its diagonal, and one entry `distance` columns further on.
void set_pattern(Mat A, PetscInt rows, PetscInt distance) {
  PetscInt first = 0, end = 0;
  EXPECT_PETSC(MatGetOwnershipRange(A, &first, &end));
  std::vector<PetscInt> at_row, at_column;
  std::vector<PetscScalar> values;
  for (PetscInt row = first; row < end; ++row) {
    at_row.insert(at_row.end(), {row, row});
    at_column.insert(at_column.end(), {row, (row + distance) % rows});
    values.insert(values.end(), {2.0 + noise(row, distance), noise(distance, row)});
  }
  EXPECT_PETSC(
      MatSetPreallocationCOO(A, static_cast<PetscCount>(at_row.size()), at_row.data(), at_column.data()));
  EXPECT_PETSC(MatSetValuesCOO(A, values.data(), INSERT_VALUES));
}

/// PETSc makes other matrices of a rank then, whose states begin anew. Distances of 1 and 7 have remote columns, and the
/// same number of entries; with 40 each rank's part is diagonal.
TEST(PetscShell, NoticesANewPatternOfAsManyEntries) {
  constexpr PetscInt rows = 40;
  Mat A = nullptr;
  EXPECT_PETSC(MatCreate(PETSC_COMM_WORLD, &A));
  EXPECT_PETSC(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
  EXPECT_PETSC(MatSetType(A, MATAIJ));
  EXPECT_PETSC(MatSetFromOptions(A));
  set_pattern(A, rows, 1);
  Mat shell = make_shell(A);
  for (const PetscInt distance : {1, 7, 40, 1, 20, 3}) {
    SCOPED_TRACE(distance);
    set_pattern(A, rows, distance);
    expect_same_products(A, shell);
  }
  EXPECT_PETSC(MatDestroy(&shell));
  EXPECT_PETSC(MatDestroy(&A));
}

TEST(PetscShell, NoticesASumWithAnotherMatrix) {
  Mat A = make_irregular({50, 50}), other = make_matrix({50, 50}, [](PetscInt row) {
                                      return Row{{row, 1.0}, {(row * 3 + 1) % 50, 2.0}};
                                    });
  Mat shell = make_shell(A);
  EXPECT_PETSC(MatAXPY(A, 0.5, other, DIFFERENT_NONZERO_PATTERN));
  expect_same_products(A, shell);
  EXPECT_PETSC(MatDestroy(&shell));
  EXPECT_PETSC(MatDestroy(&other));
  EXPECT_PETSC(MatDestroy(&A));
}

/// Formats that store half of the entries, or equal blocks once, cannot take any values. The shell converts again.
TEST(PetscShell, TakesValuesThatAFormatCannotTake) {
  Mat A = make_grid(5, 2);
  Filigree::PetscShellOptions options;
  options.optimize.symmetric = true;
  options.optimize.repeated_blocks = true;
  options.remote_format = "crs";
  Mat symmetric = nullptr, dictionary = nullptr;
  options.format = "sym_cds";
  EXPECT_PETSC(Filigree::petsc_shell(A, options, &symmetric));
  options.format = "dict_cds";
  EXPECT_PETSC(Filigree::petsc_shell(A, options, &dictionary));
  EXPECT_PETSC(MatScale(A, 2));
  expect_same_products(A, symmetric);
  expect_same_products(A, dictionary);

  // More distinct values, and the matrix is not symmetric any more.
  Vec scale = nullptr, x = nullptr;
  EXPECT_PETSC(MatCreateVecs(A, &x, &scale));
  PetscInt first = 0, end = 0;
  EXPECT_PETSC(VecGetOwnershipRange(scale, &first, &end));
  for (PetscInt i = first; i < end; ++i)
    EXPECT_PETSC(VecSetValue(scale, i, 1 + i % 3, INSERT_VALUES));
  EXPECT_PETSC(VecAssemblyBegin(scale));
  EXPECT_PETSC(VecAssemblyEnd(scale));
  EXPECT_PETSC(MatDiagonalScale(A, scale, nullptr));
  expect_same_products(A, dictionary);
  {
    const Errors errors;
    EXPECT_EQ(static_cast<int>(MatMult(symmetric, x, scale)), PETSC_ERR_LIB);
    EXPECT_NE(errors.text().find("the format sym_cds is refused"), std::string::npos) << errors.text();
  }
  EXPECT_PETSC(VecDestroy(&scale));
  EXPECT_PETSC(VecDestroy(&x));
  EXPECT_PETSC(MatDestroy(&dictionary));
  EXPECT_PETSC(MatDestroy(&symmetric));
  EXPECT_PETSC(MatDestroy(&A));
}

TEST(PetscShell, CanBeDuplicated) {
  Mat A = make_grid(5, 2);
  Mat shell = make_shell(A), copy = nullptr;
  EXPECT_PETSC(MatDuplicate(shell, MAT_COPY_VALUES, &copy));
  expect_same_products(A, copy);
  EXPECT_PETSC(MatDestroy(&shell));
  expect_same_products(A, copy);
  EXPECT_PETSC(MatDestroy(&copy));
  EXPECT_PETSC(MatDestroy(&A));
}

TEST(PetscShell, KeepsTheMatrix) {
  Mat A = make_grid(5, 2), same = make_grid(5, 2);
  Mat shell = make_shell(A);
  EXPECT_PETSC(MatDestroy(&A));
  expect_same_products(same, shell);
  EXPECT_PETSC(MatDestroy(&shell));
  EXPECT_PETSC(MatDestroy(&same));
}

TEST(PetscShell, HasTheNullSpace) {
  Mat A = make_grid(4, 1);
  MatNullSpace constants = nullptr, found = nullptr;
  EXPECT_PETSC(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constants));
  EXPECT_PETSC(MatSetNullSpace(A, constants));
  Mat shell = make_shell(A);
  EXPECT_PETSC(MatGetNullSpace(shell, &found));
  EXPECT_EQ(found, constants);
  EXPECT_PETSC(MatDestroy(&shell));
  EXPECT_PETSC(MatNullSpaceDestroy(&constants));
  EXPECT_PETSC(MatDestroy(&A));
}

TEST(PetscShell, TakesADistributedMatrixOfOneProcess) {
  Mat A = nullptr;
  EXPECT_PETSC(MatCreate(PETSC_COMM_WORLD, &A));
  EXPECT_PETSC(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 20, 20));
  EXPECT_PETSC(MatSetType(A, MATMPIAIJ));
  EXPECT_PETSC(MatMPIAIJSetPreallocation(A, 2, nullptr, 2, nullptr));
  set_values(A, [](PetscInt row) { return Row{{row, 3.0}, {19 - row, row % 2 == 0 ? 1.0 : 3.0}}; });
  expect_products(A);
  EXPECT_PETSC(MatDestroy(&A));
}

/// The code and the text of an error that all ranks must get.
std::pair<int, std::string> error_on_all_ranks(Mat A, const Filigree::PetscShellOptions& options = {}) {
  const Errors errors;
  Mat shell = nullptr;
  const auto code = Filigree::petsc_shell(A, options, &shell);
  EXPECT_EQ(shell, nullptr);
  int same = code == 0 ? 0 : 1, all = 0;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  EXPECT_EQ(all, 1);
  return {static_cast<int>(code), errors.text()};
}
void expect_error(const std::pair<int, std::string>& error, int code, const std::string& text) {
  EXPECT_EQ(error.first, code);
  EXPECT_NE(error.second.find(text), std::string::npos) << error.second;
}

TEST(PetscShell, ReportsErrorsOnAllRanks) {
  Mat A = make_grid(4, 2);
  Filigree::PetscShellOptions options;
  expect_error(error_on_all_ranks(nullptr), PETSC_ERR_ARG_NULL,
               "Filigree::petsc_shell: A or shell is a null pointer");
  options.format = "elll";
  expect_error(
      error_on_all_ranks(A, options), PETSC_ERR_LIB,
      "Filigree::petsc_shell: error on rank 0: owned columns: there is no format \"elll\"; the formats are ");
  // One rank alone fails.
  const int ranks = ranks_of_world();
  options.format = rank_of_world() == ranks - 1 ? "none" : "";
  expect_error(error_on_all_ranks(A, options), PETSC_ERR_LIB,
               "error on rank " + std::to_string(ranks - 1) + ": owned columns: there is no format \"none\"");
  options.format = "ell";
  options.optimize.most_bytes = 16;
  expect_error(error_on_all_ranks(A, options), PETSC_ERR_LIB, "owned columns: the format ell is refused: ");
  EXPECT_PETSC(MatDestroy(&A));

  Mat dense = nullptr;
  EXPECT_PETSC(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 8, 8, nullptr, &dense));
  expect_error(error_on_all_ranks(dense), PETSC_ERR_SUP,
               "; it must be one of the types AIJ. Convert it by MatConvert().");
  EXPECT_PETSC(MatDestroy(&dense));

  Mat open = make_grid(4, 1);
  Mat shell = make_shell(open);
  PetscInt first = 0, end = 0;
  EXPECT_PETSC(MatGetOwnershipRange(open, &first, &end));
  // Only the last rank changes the matrix. All ranks must get the error.
  if (rank_of_world() == ranks - 1) {
    EXPECT_PETSC(MatSetValue(open, first, first, 1, INSERT_VALUES));
  }
  expect_error(error_on_all_ranks(open), PETSC_ERR_ARG_WRONGSTATE, "the matrix is not assembled");
  {
    Vec x = nullptr, y = nullptr;
    EXPECT_PETSC(MatCreateVecs(shell, &x, &y));
    if (rank_of_world() != ranks - 1) {
      EXPECT_PETSC(MatSetValue(open, first, first, 1, INSERT_VALUES));
    }
    const Errors errors;
    EXPECT_EQ(static_cast<int>(MatMult(shell, x, y)), PETSC_ERR_ARG_WRONGSTATE);
    EXPECT_NE(errors.text().find("the matrix is not assembled"), std::string::npos) << errors.text();
    EXPECT_PETSC(VecDestroy(&x));
    EXPECT_PETSC(VecDestroy(&y));
  }
  EXPECT_PETSC(MatAssemblyBegin(open, MAT_FINAL_ASSEMBLY));
  EXPECT_PETSC(MatAssemblyEnd(open, MAT_FINAL_ASSEMBLY));
  expect_same_products(open, shell);
  EXPECT_PETSC(MatDestroy(&shell));
  EXPECT_PETSC(MatDestroy(&open));
}

}  // namespace
