// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrices that callers make from their own Views, and check(), which finds faults in them.
#include <filigree/check.hpp>

#include "../support/errors.hpp"
#include "../support/formats.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {
namespace {

template <class Case>
class Check : public testing::Test {};

TYPED_TEST_SUITE(Check, AllFormatsOf<double>, CaseName);

TYPED_TEST(Check, PassesConvertedMatrices) {
  for (const auto& [name, host] : all_shapes<double>())
    for_each_variant<TypeParam>(
        suited<TypeParam>(host), 1, [&, shape = name](const std::string& variant, const auto& A) {
          EXPECT_NO_THROW(Filigree::check(ExecutionSpace(), A)) << shape << ", " << variant;
          EXPECT_NO_THROW(Filigree::check(A)) << shape << ", " << variant;
        });
  for (const int b : {2, 3})
    for_each_variant<TypeParam>(suited<TypeParam>(block_banded<double>(36, 24, b)), b,
                                [&](const auto& variant, const auto& A) {
                                  EXPECT_NO_THROW(Filigree::check(A)) << variant << ", block size " << b;
                                });
}

TYPED_TEST(Check, WritesNothingAndLaunchesNothingButTheCheckOfCrs) {
  const auto A = converted<TypeParam>(suited<TypeParam>(scattered<double>(20, 20, 4)));
  const KokkosRecorder recorder;
  Filigree::check(A);
  for (const auto& kernel : recorder.events().kernels)
    EXPECT_EQ(kernel, "Filigree::check[crs]");
}

using Doubles = Kokkos::View<double*, Device>;
using Ints = Kokkos::View<int*, Device>;
using Offsets = Kokkos::View<std::int64_t*, Device>;

Doubles doubles(const std::vector<double>& list) {
  return device_list<Doubles>(list);
}
Ints ints(const std::vector<int>& list) {
  return device_list<Ints>(list);
}
Offsets offsets(const std::vector<std::int64_t>& list) {
  return device_list<Offsets>(list);
}

/// The 4 x 4 matrix of the drawings in the class comments.
HostMatrix<double> example() {
  HostMatrix<double> host(4, 4);
  host.rows = {{{0, 3}, {2, 1}}, {}, {{1, 2}, {2, 4}, {3, 1}}, {{0, 1}, {3, 1}}};
  return host;
}

/// Expects that check() accepts a matrix from hand-made Views, and that its product is right in all modes.
template <class Matrix>
void expect_right(const Matrix& A, const HostMatrix<double>& host = example()) {
  EXPECT_NO_THROW(Filigree::check(A));
  for (const Mode mode : all_modes)
    EXPECT_TRUE(multiplies<Kokkos::LayoutLeft>(A, host, Product<double>{mode, 1.5, 0.5}));
  EXPECT_EQ(canonical(host_matrix(Filigree::to_crs(A))), canonical(host));
}

/// Expects that check() refuses what `spoil` makes of a copy of A, with a text that contains all parts.
template <class Matrix, class Spoil>
void expect_refused(Matrix A, const Spoil& spoil, const std::vector<std::string>& parts) {
  spoil(A);
  const std::string text = message<std::invalid_argument>([&]() { Filigree::check(A); });
  EXPECT_TRUE(holds(text, {"Filigree::check: "}));
  EXPECT_TRUE(holds(text, parts));
}

TEST(CheckCrs, RefusesBrokenViews) {
  const auto A = device_crs(example());
  using Matrix = Crs<double>;
  const auto with = [&](const Ints& row_map, const Ints& entries) {
    return Matrix("test", 4, 4, 7, A.values, row_map, entries);
  };
  const auto row_map = ints({0, 2, 2, 5, 7});
  const auto entries = ints({0, 2, 1, 2, 3, 0, 3});
  expect_right(with(row_map, entries));
  const auto nothing = [](auto&) {};
  expect_refused(with(changed(row_map, 2, 6), entries), nothing, {"row map", "6"});
  expect_refused(with(row_map, changed(entries, 3, 4)), nothing, {"row 2", "column 4", "0 to 3"});
}

#if FILIGREE_HAS_BSR
TEST(CheckBsr, AcceptsAndRefusesHandMadeViews) {
  using Bsr = Filigree::BsrMatrix<double, int, Device, void, int>;
  const auto values = doubles({3, 0, 0, 0, 1, 0, 0, 0, 0, 2, 1, 0, 4, 1, 0, 1});
  const auto row_map = ints({0, 2, 4});
  const auto entries = ints({0, 1, 0, 1});
  const auto bsr = [&](const Ints& map, const Ints& columns) {
    return Bsr("test", 2, 2, 4, values, map, columns, 2);
  };
  const auto nothing = [](auto&) {};
  expect_right(bsr(row_map, entries));
  expect_refused(bsr(changed(row_map, 1, 5), entries), nothing, {"graph.row_map(1) is 5", "not decrease"});
  expect_refused(bsr(row_map, changed(entries, 3, 2)), nothing, {"graph.entries(3) is 2", "0 to 1"});
  expect_refused(bsr(row_map, changed(entries, 0, 1)), nothing,
                 {"graph.entries has block column 1 twice in block row 0"});
}

TEST(CheckBsr, TakesBlocksInAnyOrder) {
  using Bsr = Filigree::BsrMatrix<double, int, Device, void, int>;
  // The second block row has its blocks in descending order.
  const Bsr A("test", 2, 2, 4, doubles({3, 0, 0, 0, 1, 0, 0, 0, 4, 1, 0, 1, 0, 2, 1, 0}), ints({0, 2, 4}),
              ints({0, 1, 1, 0}), 2);
  expect_right(A);
  EXPECT_EQ(host_list(Filigree::diagonal(A)), (std::vector<double>{3, 0, 4, 1}));
  const auto blocks = Filigree::diagonal_blocks(A, 2);
  const auto host_blocks = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), blocks);
  EXPECT_EQ(host_blocks(1, 0, 1), 1);
  auto doubled = example();
  for (auto& row : doubled.rows)
    for (auto& entry : row)
      entry.value *= 2;
  for (const bool check_pattern : {true, false}) {
    Filigree::RefillOptions options;
    options.check_pattern = check_pattern;
    Kokkos::deep_copy(A.values, 0.0);
    Filigree::refill(A, device_crs(doubled), options);
    expect_right(A, doubled);
  }
}
#endif

TEST(CheckEll, AcceptsAndRefusesHandMadeViews) {
  using Ell = Filigree::EllMatrix<double, int, Device, void, int>;
  std::vector<double> values(48, 0.0);
  std::vector<int> entries(48, -1);
  const auto set = [&](std::size_t at, int column, double value) {
    entries[at] = column;
    values[at] = value;
  };
  set(0, 0, 3), set(16, 2, 1), set(2, 1, 2), set(18, 2, 4), set(34, 3, 1), set(3, 0, 1), set(19, 3, 1);
  const Ell A(4, 4, 7, 3, 16, doubles(values), ints(entries), ints({2, 0, 3, 2}));
  const Ell ellpack(4, 4, 7, 3, 16, doubles(values), ints(entries), {});
  expect_right(A);
  expect_right(ellpack);
  expect_refused(A, [](Ell& ell) { ell.values = shorter(ell.values); }, {"values has 47", "have 48"});
  expect_refused(A, [](Ell& ell) { ell.row_lengths = shorter(ell.row_lengths); }, {"row_lengths has 3"});
  expect_refused(A, [](Ell& ell) { ell.row_lengths = changed(ell.row_lengths, 1, 4); },
                 {"row_lengths(1) is 4", "0 to 3"});
  expect_refused(A, [](Ell& ell) { ell.row_lengths = changed(ell.row_lengths, 0, 3); },
                 {"entry 2 of 3", "stored row 0", "column -1"});
  expect_refused(A, [](Ell& ell) { ell.row_lengths = changed(ell.row_lengths, 2, 2); },
                 {"element 2 of stored row 2", "padding"});
  expect_refused(A, [](Ell& ell) { ell.entries = changed(ell.entries, 18, 4); },
                 {"entries", "stored row 2", "column 4", "0 to 3"});
  expect_refused(A, [](Ell& ell) { ell.values = changed(ell.values, 1, 5); },
                 {"stored row 1", "not 0", "padding"});
  expect_refused(ellpack, [](Ell& ell) { ell.entries = changed(ell.entries, 2, -1); },
                 {"stored row 2", "padding"});
  expect_refused(Ell(4, 4, 8, 3, 16, A.values, A.entries, A.row_lengths), [](Ell&) {}, {"nnz() is 8", "7"});
  expect_refused(Ell(4, 4, 7, 3, 8, A.values, A.entries, A.row_lengths), [](Ell&) {}, {"stride() is 8"});
  expect_refused(Ell(4, 4, 7, 3, 16, A.values, A.entries, A.row_lengths, 3), [](Ell&) {},
                 {"lanes_per_row() is 3"});
  expect_refused(Ell(4, 4, 7, 3, 16, A.values, A.entries, A.row_lengths, 2), [](Ell&) {}, {"width() is 3"});
}

using Coo = Filigree::CooMatrix<double, int, Device, void, int>;

Ints coo_rows() {
  return ints({0, 0, 2, 2, 2, 3, 3});
}
Ints coo_entries() {
  return ints({0, 2, 1, 2, 3, 0, 3});
}
Doubles coo_values() {
  return doubles({3, 1, 2, 4, 1, 1, 1});
}

TEST(CheckCoo, AcceptsAndRefusesHandMadeViews) {
  const auto rows = coo_rows();
  const auto values = coo_values();
  const Coo A = Filigree::wrap_coo<int>(4, 4, rows, coo_entries(), values);
  expect_right(A);
  EXPECT_EQ(A.values.data(), values.data());
  EXPECT_EQ(A.rows.data(), rows.data());
  Filigree::EntryChunks<Device> chunks;
  chunks.chunk_begins = offsets({0, 7});
  expect_right(Coo(4, 4, values, coo_entries(), rows, ints({1}), chunks));
  expect_refused(A, [](Coo& coo) { coo.rows = changed(coo.rows, 4, 4); }, {"rows(4) is 4", "0 to 3"});
  expect_refused(A, [](Coo& coo) { coo.rows = changed(coo.rows, 4, 1); },
                 {"rows(3) is 2", "rows(4) is 1", "not decrease"});
  expect_refused(A, [](Coo& coo) { coo.entries = changed(coo.entries, 6, -1); }, {"entries(6) is -1"});
  expect_refused(A, [](Coo& coo) { coo.entries = shorter(coo.entries); }, {"entries has 6", "7"});
  expect_refused(A, [](Coo& coo) { coo.empty_rows = Ints(); }, {"empty_rows has 0", "1"});
  expect_refused(A, [](Coo& coo) { coo.empty_rows = ints({2}); }, {"empty_rows(0) is 2", "1"});
  expect_refused(A, [](Coo& coo) { coo.chunks = {}; }, {"chunks.chunk_begins has 0", "2"});
  expect_refused(A, [](Coo& coo) { coo.chunks.chunk_begins = offsets({0, 6}); }, {"chunk_begins(1) is 6"});
  expect_refused(A, [](Coo& coo) { coo.chunks.cut_row_count = 1; }, {"chunks.cut_row_count is 1", "0"});
  EXPECT_THROW(Filigree::wrap_coo<int>(4, 4, shorter(rows), coo_entries(), values), std::invalid_argument);
  EXPECT_THROW(Filigree::wrap_coo<int>(-1, 4, rows, coo_entries(), values), std::invalid_argument);
}

TEST(CheckCoo, WrapsAllShapes) {
  for (const auto& [name, host] : all_shapes<double>()) {
    SCOPED_TRACE(name);
    const auto sorted = Filigree::convert<Filigree::CooMatrix>(device_crs(host));
    const auto A = Filigree::wrap_coo<int>(sorted.numRows(), sorted.numCols(), sorted.rows, sorted.entries,
                                           sorted.values);
    EXPECT_NO_THROW(Filigree::check(A));
    EXPECT_EQ(A.storage_bytes() >= sorted.storage_bytes(), true);
    expect_products(A, host);
  }
}

/// Views that the caller owns and that no View counts.
TEST(CheckCoo, WrapsUnmanagedViews) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const auto rows = coo_rows();
  const auto entries = coo_entries();
  const auto values = coo_values();
  const auto A =
      Filigree::wrap_coo<int>(ExecutionSpace(), 4, 4, Kokkos::View<int*, Device, Unmanaged>(rows.data(), 7),
                              Kokkos::View<int*, Device, Unmanaged>(entries.data(), 7),
                              Kokkos::View<double*, Device, Unmanaged>(values.data(), 7));
  expect_right(A);
}

/// Rows that lie in two, three and many chunks, in a matrix with and without chunk_begins.
HostMatrix<double> long_rows(std::int64_t scale) {
  HostMatrix<double> host(7, 50);
  const std::int64_t lengths[] = {3000, 0, 5000, 10, 1, 9000, 700};
  Random random(3);
  for (std::size_t row = 0; row < 7; ++row)
    for (std::int64_t i = 0; i < lengths[row] * scale; ++i)
      host.rows[row].push_back({random.below(50), random.value<double>()});
  return host;
}

TEST(CheckChunks, FindsWrongCutRows) {
  for (const std::int64_t scale : {1, 100}) {
    const auto crs = device_crs(long_rows(scale));
    const auto A = Filigree::convert<Filigree::CooMatrix>(crs);
    EXPECT_EQ(A.chunks.chunk_begins.extent(0) > 0, scale == 1);
    EXPECT_NO_THROW(Filigree::check(A));
    EXPECT_NO_THROW(
        Filigree::check(Filigree::wrap_coo<int>(A.numRows(), A.numCols(), A.rows, A.entries, A.values)));
    expect_refused(A, [](Coo& coo) { --coo.chunks.cut_row_count; }, {"chunks.cut_row_count"});
    expect_refused(A, [](Coo& coo) { coo.chunks.long_row_count = 1; }, {"chunks.long_row_count is 1"});
    expect_refused(A, [](Coo& coo) { coo.chunks.cut_rows = changed(coo.chunks.cut_rows, 1, 0); },
                   {"chunks.cut_rows(1) is 0"});

    const auto wrapped = Filigree::convert<Filigree::WrappedCrsMatrix>(crs);
    using Wrapped = std::decay_t<decltype(wrapped)>;
    EXPECT_NO_THROW(Filigree::check(wrapped));
    expect_refused(wrapped, [](Wrapped& w) { w.first_rows = changed(w.first_rows, 1, 6); },
                   {"first_rows(1) is 6"});
    expect_refused(wrapped, [](Wrapped& w) { ++w.chunks.long_row_count; }, {"chunks.long_row_count"});
  }
}

/// The team of a chunk that reaches over 16385 rows does not look at each of them, so its rows without entries
/// are listed.
TEST(CheckWrappedCrs, ComparesTheListOfEmptyRows) {
  using Wrapped = Filigree::WrappedCrsMatrix<double, int, Device, void, int>;
  for (const int rows : {16384, 16385}) {
    HostMatrix<double> host(rows, 4);
    for (const std::size_t row : {1, 3, rows - 1})
      host.rows[row].push_back({2, 1.0});
    const auto A =
        Filigree::convert<Filigree::WrappedCrsMatrix>(device_crs<typename Wrapped::crs_type>(host));
    EXPECT_NO_THROW(Filigree::check(A));
    ASSERT_EQ(A.empty_rows.extent(0), rows > 16384 ? static_cast<std::size_t>(rows - 3) : 0u);
    if (rows > 16384) {
      EXPECT_EQ(host_list(A.empty_rows)[1], 2);
      expect_refused(A, [](Wrapped& w) { w.empty_rows = Ints(); }, {"empty_rows has 0", "16382"});
      expect_refused(A, [](Wrapped& w) { w.empty_rows = changed(w.empty_rows, 1, 1); },
                     {"empty_rows(1) is 1", "2"});
    }
  }
}

TEST(CheckWrappedCrs, AcceptsAndRefusesHandMadeViews) {
  using Wrapped = Filigree::WrappedCrsMatrix<double, int, Device, void, int>;
  const auto crs = device_crs(example());
  expect_right(Wrapped(crs, 2));
  Filigree::EntryChunks<Device> chunks;
  chunks.chunk_begins = offsets({0, 7});
  const Wrapped A(crs, ints({0}), Ints(), chunks);
  expect_right(A);
  expect_refused(Wrapped(crs, {}, {}, {}), [](Wrapped&) {}, {"chunks.chunk_begins has 0", "2"});
  expect_refused(A, [](Wrapped& w) { w.first_rows = Ints(); }, {"first_rows has 0", "1"});
  expect_refused(A, [](Wrapped& w) { w.empty_rows = ints({1}); }, {"empty_rows has 1", "0"});
  expect_refused(A, [](Wrapped& w) { w.crs = {}; }, {"crs is 0 x 0", "the matrix is 4 x 4"});
  expect_refused(Wrapped(crs, 3), [](Wrapped&) {}, {"lanes_per_row() is 3"});
}

/// The ELL part, of width 2, of the hybrid formats.
auto ell_part() {
  std::vector<double> values(32, 0.0);
  std::vector<int> entries(32, -1);
  const auto set = [&](std::size_t at, int column, double value) {
    entries[at] = column;
    values[at] = value;
  };
  set(0, 0, 3), set(16, 2, 1), set(2, 1, 2), set(18, 2, 4), set(3, 0, 1), set(19, 3, 1);
  return Filigree::EllMatrix<double, int, Device, void, int>(4, 4, 6, 2, 16, doubles(values), ints(entries),
                                                             ints({2, 0, 3, 2}));
}

TEST(CheckHyb, AcceptsAndRefusesHandMadeViews) {
  using Hyb = Filigree::HybMatrix<double, int, Device, void, int>;
  const auto coo = Filigree::wrap_coo<int>(4, 4, ints({2}), ints({3}), doubles({1}));
  const Hyb A(7, 3, ell_part(), coo);
  EXPECT_EQ(A.coo.empty_rows.extent(0), 0u);
  expect_right(A);
  expect_refused(A, [](Hyb& hyb) { hyb.coo.rows = ints({3}); }, {"coo has 0 entries of row 2", "1"});
  expect_refused(A, [](Hyb& hyb) { hyb.coo.entries = ints({4}); }, {"coo.entries(0) is 4"});
  expect_refused(A, [](Hyb& hyb) { hyb.coo.empty_rows = ints({0}); }, {"coo.empty_rows has 1", "0"});
  expect_refused(A, [](Hyb& hyb) { hyb.coo.chunks = {}; }, {"coo.chunks.chunk_begins has 0"});
  expect_refused(A, [](Hyb& hyb) { hyb.ell.entries = changed(hyb.ell.entries, 0, 9); }, {"ell.entries", "9"});
  expect_refused(A, [](Hyb& hyb) { hyb.ell.row_lengths = Ints(); }, {"ell.row_lengths has 0", "4"});
  expect_refused(Hyb(7, 4, A.ell, A.coo), [](Hyb&) {}, {"longestRow() is 4", "3"});
  expect_refused(Hyb(6, 3, A.ell, A.coo), [](Hyb&) {}, {"nnz() is 6", "7"});
}

TEST(CheckHec, AcceptsAndRefusesHandMadeViews) {
  using Hec = Filigree::HecMatrix<double, int, Device, void, int>;
  const auto hec = [&](int long_rows, int lanes = 1) {
    return Hec(7, long_rows, ell_part(), doubles({1}), ints({3}), ints({2}), ints({0, 1}), lanes);
  };
  expect_right(hec(0));
  expect_right(hec(1));
  expect_right(hec(0, 32));
  expect_refused(hec(2), [](Hec&) {}, {"numLongRows() is 2", "0 to 1"});
  expect_refused(hec(0, 3), [](Hec&) {}, {"lanes_per_excess_row() is 3", "power of two from 1 to 32"});
  expect_refused(hec(0), [](Hec& A) { A.excess_rows = ints({0}); }, {"gives row 0", "longer than the width"});
  expect_refused(hec(0), [](Hec& A) { A.excess_rows = ints({7}); }, {"excess_rows(0) is 7", "0 to 3"});
  expect_refused(hec(0), [](Hec& A) { A.excess_entries = ints({4}); }, {"excess_entries(0) is 4"});
  expect_refused(hec(0), [](Hec& A) { A.excess_row_map = ints({0, 2}); }, {"excess_row_map(1) is 2", "1"});
  expect_refused(hec(0), [](Hec& A) { A.ell.row_lengths = changed(A.ell.row_lengths, 3, 3); },
                 {"nnz() is 7", "8"});
  // One row twice, once as a long row, instead of two rows.
  const auto host = scattered<double>(20, 20, 9);
  Filigree::HecOptions options = given_width<Filigree::HecOptions>(1);
  options.long_row = 3;
  const Hec A = Filigree::convert<Filigree::HecMatrix>(device_crs(host), options);
  ASSERT_GT(A.numLongRows(), 0);
  expect_refused(A, [](Hec& twice) { twice.excess_rows = changed(twice.excess_rows, 1, 0); }, {"excess_row"});
}

TEST(CheckJds, AcceptsAndRefusesHandMadeViews) {
  using Jds = Filigree::JdsMatrix<double, int, Device, void, int>;
  const Jds A(4, 4, doubles({2, 3, 1, 4, 1, 1, 1}), ints({1, 0, 0, 2, 2, 3, 3}), ints({2, 0, 3, 1}),
              offsets({0, 3, 6, 7}));
  expect_right(A);
  expect_refused(A,
                 [](Jds& jds) {
                   jds.permutation = ints({2, 0, 3, 3});
                 },
                 {"permutation(2) and permutation(3) are both 3"});
  expect_refused(A, [](Jds& jds) { jds.permutation = ints({2, 0, 3, 4}); }, {"permutation(3) is 4"});
  expect_refused(A, [](Jds& jds) { jds.permutation = ints({2, 0, 3}); }, {"permutation has 3", "4"});
  expect_refused(A,
                 [](Jds& jds) {
                   jds.diagonal_offsets = offsets({0, 2, 6, 7});
                 },
                 {"jagged diagonal 1", "4 entries", "2"});
  expect_refused(A,
                 [](Jds& jds) {
                   jds.diagonal_offsets = offsets({0, 3, 6, 8});
                 },
                 {"diagonal_offsets(3) is 8", "7"});
  expect_refused(A, [](Jds& jds) { jds.diagonal_offsets = Offsets(); }, {"diagonal_offsets has 0"});
  expect_refused(A, [](Jds& jds) { jds.entries = changed(jds.entries, 0, 4); }, {"entries(0) is 4"});
}

using Sell = Filigree::SellMatrix<double, int, Device, void, int>;

/// The drawing of SellMatrix, in slices of 2 rows.
Sell drawn_sell() {
  Sell A(4, 4, 7, 2, 1);
  A.values = doubles({3, 0, 1, 0, 2, 1, 4, 1, 1, 0});
  A.entries = ints({0, -1, 2, -1, 1, 0, 2, 3, 3, -1});
  A.slice_offsets = offsets({0, 4, 10});
  A.slice_widths = ints({2, 3});
  return A;
}

TEST(CheckSell, AcceptsAndRefusesHandMadeViews) {
  const Sell A = drawn_sell();
  expect_right(A);
  Sell sorted(4, 4, 7, 2, 1);
  sorted.values = doubles({2, 3, 4, 1, 1, 0, 1, 0, 1, 0});
  sorted.entries = ints({1, 0, 2, 2, 3, -1, 0, -1, 3, -1});
  sorted.permutation = ints({2, 0, 3, 1});
  sorted.slice_offsets = offsets({0, 6, 10});
  sorted.slice_widths = ints({3, 2});
  expect_right(sorted);
  expect_refused(sorted,
                 [](Sell& sell) {
                   sell.permutation = ints({2, 0, 3, 2});
                 },
                 {"permutation(0) and permutation(3) are both 2"});
  expect_refused(A,
                 [](Sell& sell) {
                   sell.slice_offsets = offsets({0, 5, 10});
                 },
                 {"slice 0", "5 elements", "4"});
  expect_refused(A, [](Sell& sell) { sell.slice_offsets = offsets({0, 4}); }, {"slice_offsets has 2", "3"});
  expect_refused(A, [](Sell& sell) { sell.slice_widths = ints({2}); }, {"slice_widths has 1", "2"});
  expect_refused(A, [](Sell& sell) { sell.entries = changed(sell.entries, 4, 5); },
                 {"stored row 2", "column 5"});
  expect_refused(A, [](Sell& sell) { sell.entries = changed(sell.entries, 4, -1); },
                 {"stored row 2", "padding"});
  expect_refused(A, [](Sell& sell) { sell.entries = shorter(sell.entries); }, {"entries has 9", "10"});
  expect_refused(Sell(4, 4, 7, 3, 1), [](Sell&) {}, {"slice_height() is 3"});
  expect_refused(Sell(4, 4, 7, 2, 5), [](Sell&) {}, {"lanes_per_row() is 5"});
}

TEST(CheckSell, ChecksShortColumnsAndSections) {
  Sell A = drawn_sell();
  A.entries = Ints();
  A.short_entries =
      device_list<Sell::short_entries_type>(std::vector<int>{0, 65535, 2, 65535, 1, 0, 2, 3, 3, 65535});
  A.column_bases = ints({0, 0});
  A.column_offsets = offsets({0, 4});
  expect_right(A);
  expect_refused(A, [](Sell& sell) { sell.column_bases = ints({0, 1}); }, {"column 4"});
  expect_refused(A,
                 [](Sell& sell) {
                   sell.column_bases = ints({0, -1});
                 },
                 {"column_offsets(1) is 4", "entries"});
  expect_refused(A, [](Sell& sell) { sell.column_offsets = offsets({0, 5}); }, {"column_offsets(1) is 5"});

  Filigree::SellOptions options;
  options.sorting_window = 0;
  options.one_length_per_slice = true;
  options.slice_height = 2;
  const Sell sections = Filigree::convert<Filigree::SellMatrix>(device_crs(example()), options);
  EXPECT_NO_THROW(Filigree::check(sections));
  expect_refused(sections, [](Sell& sell) { sell.slice_rows = changed(sell.slice_rows, 1, 2); }, {"slice"});
}

TEST(CheckCds, AcceptsAndRefusesHandMadeViews) {
  using Cds = Filigree::CdsMatrix<double, int, Device, void, int>;
  std::vector<double> values(24, 0.0);
  values[3] = 1, values[6] = 2, values[8] = 3, values[10] = 4, values[14] = values[15] = values[16] = 1;
  const Cds A(4, 4, 7, 2, doubles(values), ints({-1, 0, 1}));
  expect_right(A);
  expect_refused(A, [](Cds& cds) { cds.offsets = ints({-1, 1, 0}); }, {"offsets(1) is 1", "ascend"});
  expect_refused(A, [](Cds& cds) { cds.offsets = ints({-2, 0, 1}); }, {"offsets(0) is -2", "-1 to 1"});
  expect_refused(A, [](Cds& cds) { cds.values = shorter(cds.values); }, {"values has 23", "24"});
  expect_refused(A, [](Cds& cds) { cds.values = changed(cds.values, 0, 5); }, {"values(0) is 5", "padding"});
  expect_refused(Cds(4, 4, 6, 2, A.values, A.offsets), [](Cds&) {}, {"nnz() is 6", "7"});
  expect_refused(Cds(4, 4, 7, 0, A.values, A.offsets), [](Cds&) {}, {"block_size() is 0"});
}

TEST(CheckDia, AcceptsAndRefusesHandMadeViews) {
  using Dia = Filigree::DiaMatrix<double, int, Device, void, int>;
  const auto values = doubles({0, 0, 0, 1, 0, 0, 2, 0, 3, 0, 4, 1, 0, 0, 1, 0, 1, 0, 0, 0});
  const auto diagonals = ints({-3, -1, 0, 1, 2});
  const Dia A(Dia::cds_type(4, 4, 7, 1, values, diagonals));
  expect_right(A);
  expect_refused(A, [](Dia& dia) { dia.offsets = changed(dia.offsets, 0, -4); }, {"offsets(0) is -4"});
  expect_refused(Dia(Dia::cds_type(4, 4, 7, 2, values, diagonals)), [](Dia&) {}, {"block_size() is 2", "1"});
}

TEST(CheckBell, AcceptsAndRefusesHandMadeViews) {
  using Bell = Filigree::BellMatrix<double, int, Device, void, int>;
  const auto values = doubles({3, 0, 0, 1, 0, 0, 2, 0, 1, 0, 4, 0, 0, 0, 1, 1});
  const Bell A(4, 4, 7, 2, 2, values, ints({0, 0, 1, 1}));
  expect_right(A);
  expect_refused(A, [](Bell& bell) { bell.block_entries = ints({0, 0, 2, 1}); }, {"block_entries(2) is 2"});
  expect_refused(A,
                 [](Bell& bell) {
                   bell.block_entries = ints({1, 0, 0, 1});
                 },
                 {"block_entries(2) is 0", "ascend"});
  expect_refused(A,
                 [](Bell& bell) {
                   bell.block_entries = ints({0, -1, 1, 1});
                 },
                 {"block_entries(3) is 1", "padding must come last"});
  expect_refused(A, [](Bell& bell) { bell.block_entries = ints({0, 0, 1, -1}); }, {"values(10)", "padding"});
  expect_refused(A, [](Bell& bell) { bell.values = shorter(bell.values); }, {"values has 15", "16"});
}

}  // namespace
}  // namespace FiligreeTest
