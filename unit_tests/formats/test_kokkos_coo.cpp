// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions from and to KokkosSparse::CooMatrix, for Kokkos Kernels that have it (4.1 and newer).
#include "../support/errors.hpp"
#include "../support/formats.hpp"

#if FILIGREE_HAS_KOKKOS_COO
namespace FiligreeTest {

using KokkosCoo = KokkosSparse::CooMatrix<double, int, Device, void, int>;

/// The entries of a host matrix, those of the last row first. Entries of one row keep their order.
KokkosCoo backwards(const HostMatrix<double>& host) {
  std::vector<int> rows, columns;
  std::vector<double> values;
  for (std::size_t row = host.rows.size(); row-- > 0;)
    for (const auto& entry : host.rows[row]) {
      rows.push_back(static_cast<int>(row));
      columns.push_back(static_cast<int>(entry.column));
      values.push_back(entry.value);
    }
  return {static_cast<int>(host.row_count()), static_cast<int>(host.columns),
          device_list<KokkosCoo::row_view>(rows), device_list<KokkosCoo::column_view>(columns),
          device_list<KokkosCoo::scalar_view>(values)};
}

/// A KokkosSparse::CooMatrix whose rows ascend, copied to the host.
template <class Coo>
HostMatrix<double> host_of(const Coo& coo) {
  HostMatrix<double> host(static_cast<std::int64_t>(coo.numRows()), static_cast<std::int64_t>(coo.numCols()));
  const auto rows = host_list(coo.row());
  const auto columns = host_list(coo.col());
  const auto values = host_list(coo.data());
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    host.rows[static_cast<std::size_t>(rows[i])].push_back({columns[i], values[i]});
  return host;
}

template <class Case>
class KokkosCooOf : public testing::Test {};
TYPED_TEST_SUITE(KokkosCooOf, AllFormatsOf<double>, CaseName);

TYPED_TEST(KokkosCooOf, IsConvertedFromAndTo) {
  for (const auto& shape : all_shapes<double>()) {
    SCOPED_TRACE(shape.name);
    const auto host = suited<TypeParam>(shape.matrix);
    const auto A = TypeParam::convert_kind(backwards(host), any_padding<typename TypeParam::Options>());
    static_assert(std::is_same_v<std::decay_t<decltype(A)>, typename TypeParam::Matrix>);
    const auto again = host_of(Filigree::to_kokkos_coo(A));
    EXPECT_EQ(again, host_matrix(Filigree::to_crs(A)));
    EXPECT_EQ(canonical(again), canonical(host));
    if (keeps_entries_v<TypeParam>) {
      EXPECT_EQ(again, host);
    }
  }
}

TEST(KokkosCooOfCoo, SharesTheViews) {
  const auto coo = Filigree::convert<Filigree::CooMatrix>(device_crs(scattered<double>(20, 20, 4)));
  const auto shared = Filigree::to_kokkos_coo(coo);
  EXPECT_EQ(shared.row().data(), coo.rows.data());
  EXPECT_EQ(shared.col().data(), coo.entries.data());
  EXPECT_EQ(shared.data().data(), coo.values.data());
}

TEST(KokkosCooMatrix, MayBeConstAndOfAnotherScalarType) {
  const auto host = canonical(scattered<double>(20, 20, 4));
  const auto coo = backwards(host);
  const KokkosCoo::const_type view(coo.numRows(), coo.numCols(), coo.row(), coo.col(), coo.data());
  const auto A = Filigree::convert<Filigree::EllMatrix>(view);
  EXPECT_EQ(host_matrix(Filigree::to_crs(A)), host);
  const auto B = Filigree::convert<Filigree::EllMatrix, float>(coo);
  static_assert(std::is_same_v<decltype(B), const Filigree::EllMatrix<float, int, Device, void, int>>);
  const auto values = host_matrix(Filigree::to_crs(B));
  for (std::size_t row = 0; row < host.rows.size(); ++row)
    for (std::size_t i = 0; i < host.rows[row].size(); ++i)
      EXPECT_EQ(values.rows[row][i].value, static_cast<float>(host.rows[row][i].value));
}

TEST(KokkosCooMatrix, IsRefusedIfItDoesNotFit) {
  const auto coo = backwards(scattered<double>(20, 20, 4));
  const KokkosCoo too_small(5, 20, coo.row(), coo.col(), coo.data());
  EXPECT_TRUE(
      holds(message<std::invalid_argument>([&]() { Filigree::convert<Filigree::EllMatrix>(too_small); }),
            {"Filigree::convert: entry 0 is in row 19", "the matrix is 5 x 20"}));
  using Wide = KokkosSparse::CooMatrix<double, int, Device, void, std::int64_t>;
  const Wide too_wide(std::int64_t(1) << 31, 20, Wide::row_view(), Wide::column_view(), Wide::scalar_view());
  EXPECT_TRUE(holds(message<std::length_error>([&]() { Filigree::convert<Filigree::CooMatrix>(too_wide); }),
                    {"Filigree::convert", "2147483648 x 20", "can count only 2147483647"}));
}

}  // namespace FiligreeTest
#endif
