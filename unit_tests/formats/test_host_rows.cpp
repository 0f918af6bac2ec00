// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of CRS on a host, which load entries after the end of a row.
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/formats.hpp"

namespace FiligreeTest {
namespace {

using HostDevice = Kokkos::DefaultHostExecutionSpace::device_type;

/// Whether a product of one type of A with other types of x and y is multiplied in vectors. Without these assertions a
/// change could turn the vectors off, and all tests would still pass.
template <class Scalar, class X, class Y, int Columns>
constexpr bool has_product_in_vectors =
    Filigree::Impl::has_vectors<Filigree::Impl::ProductOperands<Scalar, X, Y, Columns>, Scalar>;
static_assert(has_product_in_vectors<double, double, double, 1> == Filigree::Impl::Four<double>::exists);
static_assert(has_product_in_vectors<float, float, float, 1> == Filigree::Impl::Four<float>::exists);
static_assert(!has_product_in_vectors<double, double, double, 4>);
static_assert(!has_product_in_vectors<float, double, double, 1>);
static_assert(!has_product_in_vectors<float, float, double, 1>);
static_assert(
    !has_product_in_vectors<Kokkos::complex<double>, Kokkos::complex<double>, Kokkos::complex<double>, 1>);

/// Balanced, and with one lane per row. The products of Kokkos Kernels are not tested here. A processor cannot predict
/// the rows of crs, so that a host multiplies them in vectors.
template <class Crs, class Test>
void for_each_product_of_crs(const Crs& crs, const Test& test) {
  Filigree::WrappedCrsOptions options;
  const auto test_product = [&](const char* name, const auto& A) {
    using Matrix = std::decay_t<decltype(A)>;
    EXPECT_EQ(A.in_vectors(), !Filigree::Impl::runs_on_gpu_v<typename Matrix::execution_space>) << name;
    test(name, A);
  };
  test_product("balanced", Filigree::convert<Filigree::WrappedCrsMatrix>(crs, options));
  options.kernel = Filigree::CrsKernel::lanes;
  options.lanes_per_row = 1;
  test_product("one lane", Filigree::convert<Filigree::WrappedCrsMatrix>(crs, options));
}

/// More rows than a processor learns.
constexpr std::int64_t many_rows = 17000;

/// Rows of 0 to 20 entries, and a few long rows. Even rows have columns below 100, odd rows have the others.
template <class Scalar>
HostMatrix<Scalar> rows_with_columns_of_their_own() {
  HostMatrix<Scalar> host(many_rows, 200);
  Random random(21);
  for (std::int64_t row = 0; row < host.row_count(); ++row) {
    const std::int64_t length = row % 997 == 3 ? 1000 : random.below(21);
    for (std::int64_t k = 0; k < length; ++k)
      host.rows[static_cast<std::size_t>(row)].push_back(
          {random.below(100) + 100 * (row % 2), random.value<Scalar>()});
  }
  return host;
}

/// Products of even rows must not depend on the elements of x in the columns of odd rows. x has unit stride, or is a
/// column of a LayoutRight View.
template <class Scalar>
void expect_hidden_elements() {
  const auto host = rows_with_columns_of_their_own<Scalar>();
  const auto rows = static_cast<std::size_t>(host.row_count());
  const auto product_with = [&](const auto& A, const std::string& mode, Scalar element_of_odd_rows,
                                bool has_unit_stride) {
    const Kokkos::View<Scalar*, Device> x("x", 200);
    const auto x_on_host = Kokkos::create_mirror_view(x);
    for (int column = 0; column < 200; ++column)
      x_on_host(column) = column < 100 ? Scalar(0.5) + Scalar(column) : element_of_odd_rows;
    Kokkos::deep_copy(x, x_on_host);
    const Kokkos::View<Scalar* [2], Kokkos::LayoutRight, Device> two("two", 200);
    const auto strided = Kokkos::subview(two, Kokkos::ALL(), 1);
    Kokkos::deep_copy(strided, x);
    const Kokkos::View<Scalar*, Device> y("y", rows);
    Kokkos::deep_copy(y, Scalar(2));
    if (has_unit_stride)
      Filigree::spmv(mode.c_str(), Scalar(1.5), A, x, Scalar(0.5), y);
    else
      Filigree::spmv(mode.c_str(), Scalar(1.5), A, strided, Scalar(0.5), y);
    return host_list(y);
  };
  for_each_product_of_crs(device_crs(host), [&](const std::string& name, const auto& A) {
    for (const std::string mode : {"N", "C"})
      for (const bool has_unit_stride : {true, false}) {
        const auto expected = product_with(A, mode, Scalar(1), has_unit_stride);
        for (const Scalar special : {infinity<Scalar>(), not_a_number<Scalar>()}) {
          const auto result = product_with(A, mode, special, has_unit_stride);
          for (std::size_t row = 0; row < rows; row += 2)
            ASSERT_EQ(result[row], expected[row])
                << name << ", mode " << mode << ", unit stride " << has_unit_stride << ", row " << row;
        }
      }
  });
}

/// The entries after a row are those of the next row. Inf and NaN in the elements of x that the next row reads must not
/// reach y.
TEST(HostRows, AddNothingOfTheNextRow) {
  expect_hidden_elements<double>();
  expect_hidden_elements<float>();
}

/// The order of the additions must not depend on where a team or a chunk begins, because that depends on the number of
/// threads. The chunks of balanced CRS begin elsewhere than the teams of the product with one lane per row, and here no
/// row is cut. So both products have the same bits.
TEST(HostRows, HaveTheSameBitsWhereverATeamBegins) {
  HostMatrix<double> host(40000, 300);
  Random random(25);
  for (std::int64_t row = 0; row < host.row_count(); ++row) {
    const std::int64_t length = random.below(30);
    for (std::int64_t k = 0; k < length; ++k)
      host.rows[static_cast<std::size_t>(row)].push_back({random.below(300), random.value<double>()});
  }
  using HostCrs = KokkosSparse::CrsMatrix<double, int, HostDevice, void, int>;
  const Kokkos::View<double*, HostDevice> x("x", 300);
  for (std::size_t i = 0; i < 300; ++i)
    x(i) = random.value<double>();
  std::vector<std::vector<double>> results;
  for_each_product_of_crs(device_crs<HostCrs>(host), [&](const std::string&, const auto& A) {
    const Kokkos::View<double*, HostDevice> y("y", 40000);
    Filigree::spmv("N", 1.0, A, x, 0.0, y);
    results.emplace_back(y.data(), y.data() + y.extent(0));
  });
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0], results[1]);
}

/// An array whose end is the end of a page of memory. The next page cannot be read.
template <class T>
class GuardedArray {
 public:
  explicit GuardedArray(const std::vector<T>& elements) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = elements.size() * sizeof(T);
    const std::size_t pages = (bytes + page - 1) / page;
    m_bytes = (pages + 1) * page;
    m_memory = mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m_memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    char* const end = static_cast<char*>(m_memory) + pages * page;
    if (mprotect(end, page, PROT_NONE) != 0) throw std::runtime_error("mprotect failed");
    m_view = Kokkos::View<T*, HostDevice, Kokkos::MemoryUnmanaged>(reinterpret_cast<T*>(end - bytes),
                                                                   elements.size());
    std::copy(elements.begin(), elements.end(), m_view.data());
  }
  ~GuardedArray() { munmap(m_memory, m_bytes); }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;

  auto view() const { return m_view; }

 private:
  void* m_memory = nullptr;
  std::size_t m_bytes = 0;
  Kokkos::View<T*, HostDevice, Kokkos::MemoryUnmanaged> m_view;
};

template <class Scalar, class Ordinal, class SizeType>
void expect_reads_inside() {
  using Crs = KokkosSparse::CrsMatrix<Scalar, Ordinal, HostDevice, Kokkos::MemoryUnmanaged, SizeType>;
  using Wrapped = Filigree::WrappedCrsMatrix<Scalar, Ordinal, HostDevice, Kokkos::MemoryUnmanaged, SizeType>;
  Random random(23);
  // Every other row has `length` entries. The rows between them, and `empty` rows after them, have none.
  for (const int length : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 40})
    for (const int empty : {0, 1, 3}) {
      std::vector<SizeType> row_map = {0};
      for (int row = 0; row < 60 + empty; ++row)
        row_map.push_back(row_map.back() + static_cast<SizeType>(row < 60 && row % 2 == 1 ? length : 0));
      const auto rows = static_cast<Ordinal>(row_map.size() - 1);
      std::vector<Ordinal> entries;
      std::vector<Scalar> values;
      std::vector<Scalar> expected(row_map.size() - 1, Scalar(0));
      const std::vector<Scalar> x = {1, 2, 3, 4, 5};
      for (std::size_t row = 0; row < expected.size(); ++row)
        for (SizeType k = row_map[row]; k < row_map[row + 1]; ++k) {
          entries.push_back(static_cast<Ordinal>(random.below(5)));
          values.push_back(static_cast<Scalar>(random.below(16)));  // all sums are exact
          expected[row] += values.back() * x[static_cast<std::size_t>(entries.back())];
        }
      const GuardedArray<Scalar> guarded_values(values);
      const GuardedArray<Ordinal> guarded_entries(entries);
      const GuardedArray<SizeType> guarded_row_map(row_map);
      const GuardedArray<Scalar> guarded_x(x);
      const Crs crs("A", rows, 5, static_cast<SizeType>(entries.size()), guarded_values.view(),
                    guarded_row_map.view(), guarded_entries.view());
      const auto balanced = Filigree::convert<Filigree::WrappedCrsMatrix>(crs);
      for (const bool in_vectors : {false, true}) {
        const std::vector<Wrapped> matrices = {
            Wrapped(crs, 1, in_vectors),
            Wrapped(crs, balanced.first_rows, balanced.empty_rows, balanced.chunks, in_vectors)};
        for (const Wrapped& A : matrices) {
          ASSERT_EQ(A.in_vectors(), in_vectors);
          const Kokkos::View<Scalar*, HostDevice> y("y", expected.size());
          Filigree::spmv("N", Scalar(1), A, guarded_x.view(), Scalar(0), y);
          for (std::size_t row = 0; row < expected.size(); ++row)
            ASSERT_EQ(y(row), expected[row])
                << "balanced: " << (A.kernel() == Filigree::CrsKernel::balanced)
                << ", in vectors: " << in_vectors << ", row " << row << ", last rows of " << length
                << " entries and " << empty << " empty rows";
        }
      }
    }
}

/// convert chooses the loop.
TEST(HostRows, AreMultipliedInVectorsIfTheirLengthsCannotBePredicted) {
  const auto in_vectors = [](std::int64_t rows, std::int64_t period) {
    Random random(27);
    std::vector<std::int64_t> lengths;
    for (std::int64_t row = 0; row < rows; ++row)
      lengths.push_back(row < period ? random.below(9) : lengths[static_cast<std::size_t>(row - period)]);
    HostMatrix<float> host(rows, 9);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t k = 0; k < lengths[static_cast<std::size_t>(row)]; ++k)
        host.rows[static_cast<std::size_t>(row)].push_back({k, 1.0f});
    const auto crs = device_crs(host);
    Filigree::WrappedCrsOptions options;
    const bool balanced = Filigree::convert<Filigree::WrappedCrsMatrix>(crs, options).in_vectors();
    options.kernel = Filigree::CrsKernel::lanes;
    EXPECT_EQ(Filigree::convert<Filigree::WrappedCrsMatrix>(crs, options).in_vectors(), balanced);
    return balanced;
  };
  constexpr bool is_host = !Filigree::Impl::runs_on_gpu_v<ExecutionSpace>;
  EXPECT_EQ(in_vectors(20000, 20000), is_host);
  EXPECT_EQ(in_vectors(12000, 12000), is_host);
  EXPECT_FALSE(in_vectors(8192, 8192));
  EXPECT_FALSE(in_vectors(0, 0));
  EXPECT_FALSE(in_vectors(20000, 1));
  EXPECT_FALSE(in_vectors(20000, 1000));
}

TEST(HostRows, ReadNothingAfterTheLastEntry) {
  expect_reads_inside<double, int, int>();
  expect_reads_inside<float, int, int>();
  expect_reads_inside<double, std::int64_t, std::size_t>();
}

}  // namespace
}  // namespace FiligreeTest
