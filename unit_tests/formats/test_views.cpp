// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of Views and the execution space instances that spmv takes, for every format.
#include "../support/errors.hpp"
#include "../support/formats.hpp"
#include "../support/instances.hpp"

namespace FiligreeTest {

/// Random x and y of 23 rows, on the host and on the device, for the product y = 1.5 A x - 0.4 y.
template <template <class, class> class View>
struct Vectors {
  HostVectors<double> x, y;
  View<double, Kokkos::LayoutLeft> x_view, y_view;

  explicit Vectors(std::int64_t columns = 1)
      : x(Random(1).vectors<double>(23, columns)),
        y(Random(2).vectors<double>(23, columns)),
        x_view(device_view<View<double, Kokkos::LayoutLeft>>(x)),
        y_view(device_view<View<double, Kokkos::LayoutLeft>>(y)) {}

  /// The expected y.
  Reference expected(const HostMatrix<double>& host, Mode mode = Mode::NoTranspose) const {
    return reference_product(mode, 1.5L, host, x, -0.4, y);
  }
};

template <class Case>
class Views : public testing::Test {
 public:
  using Matrix = typename Case::Matrix;
  static HostMatrix<double> host() { return suited<Case>(scattered<double>(23, 23, 5)); }

  /// Expects a correct product with x and y that are subviews of two parent Views, made by Pick. The elements
  /// of the parent outside of y must not change.
  template <class Pick>
  static void expect_correct(const Mode mode) {
    const auto A = converted<Case>(host());
    const Pick pick;
    auto x_parent = Pick::parent(23);
    auto y_parent = Pick::parent(23);
    const std::int64_t columns = Filigree::Impl::column_count(pick(x_parent));
    const auto x = Random(1).vectors<double>(23, columns);
    const auto y = Random(2).vectors<double>(23, columns);
    fill(x_parent, pick, x);
    const auto y_before = fill(y_parent, pick, y);
    Filigree::spmv(mode, 1.5, A, pick(x_parent), -0.4, pick(y_parent));
    Kokkos::fence();

    auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y_parent);
    HostVectors<double> result(23, columns);
    each(pick(mirror), result, [](double& element, double& got) { got = element; });
    EXPECT_TRUE(agrees(result, reference_product(mode, 1.5L, host(), x, -0.4, y)))
        << "mode " << static_cast<char>(mode);
    auto copy = y;
    each(pick(mirror), copy, [](double& element, double& before) { element = before; });
    EXPECT_EQ(std::vector<double>(mirror.data(), mirror.data() + mirror.span()), y_before)
        << "spmv wrote to elements outside of y";
  }

 private:
  /// Calls action(element of the View, number) for all elements of a View and the numbers of the host.
  template <class View, class Action>
  static void each(const View& view, HostVectors<double>& numbers, const Action& action) {
    for (std::int64_t c = 0; c < numbers.columns; ++c)
      for (std::int64_t row = 0; row < numbers.rows; ++row)
        if constexpr (static_cast<int>(View::rank) == 1)
          action(view(row), numbers(row, c));
        else
          action(view(row, c), numbers(row, c));
  }

  /// Sets the elements that Pick takes to the numbers and all others to 77. Returns all elements of the
  /// parent.
  template <class Parent, class Pick>
  static std::vector<double> fill(const Parent& parent, const Pick& pick, HostVectors<double> numbers) {
    auto mirror = Kokkos::create_mirror_view(parent);
    std::fill(mirror.data(), mirror.data() + mirror.span(), 77.0);
    each(pick(mirror), numbers, [](double& element, double& number) { element = number; });
    Kokkos::deep_copy(parent, mirror);
    return {mirror.data(), mirror.data() + mirror.span()};
  }
};

TYPED_TEST_SUITE(Views, AllFormatsOf<double>, CaseName);

/// Each of these structs makes a parent View and takes a subview of it. The name says which, and of what
/// layout.
struct ColumnOfRight {
  static auto parent(int rows) { return View2<double, Kokkos::LayoutRight>("parent", rows, 2); }
  template <class Parent>
  auto operator()(const Parent& parent) const {
    return Kokkos::subview(parent, Kokkos::ALL, 1);
  }
};
struct RowOfLeft {
  static auto parent(int rows) { return View2<double, Kokkos::LayoutLeft>("parent", 3, rows); }
  template <class Parent>
  auto operator()(const Parent& parent) const {
    return Kokkos::subview(parent, 1, Kokkos::ALL);
  }
};
struct RowOfRight {
  static auto parent(int rows) { return View2<double, Kokkos::LayoutRight>("parent", 3, rows); }
  template <class Parent>
  auto operator()(const Parent& parent) const {
    return Kokkos::subview(parent, 1, Kokkos::ALL);
  }
};
struct MiddleOfLeft {
  static auto parent(int rows) { return View2<double, Kokkos::LayoutLeft>("parent", rows + 5, 7); }
  template <class Parent>
  auto operator()(const Parent& parent) const {
    return Kokkos::subview(parent, std::make_pair(2, static_cast<int>(parent.extent(0)) - 3),
                           std::make_pair(1, 6));
  }
};
/// One column as a View of rank 2. Its layout is LayoutRight, but it is not contiguous.
struct OneColumnOfRight {
  static auto parent(int rows) { return View2<double, Kokkos::LayoutRight>("parent", rows, 3); }
  template <class Parent>
  auto operator()(const Parent& parent) const {
    return Kokkos::subview(parent, Kokkos::ALL, std::make_pair(1, 2));
  }
};
struct BothStrided {
  static auto parent(int rows) {
    return Kokkos::View<double***, Kokkos::LayoutRight, Device>("parent", rows, 3, 2);
  }
  template <class Parent>
  auto operator()(const Parent& parent) const {
    return Kokkos::subview(parent, Kokkos::ALL, Kokkos::ALL, 1);
  }
};

/// Four neighbouring columns from column First on. In a row-major View a GPU loads the four elements of a row
/// at once if they are aligned: for First = 4, but not for First = 3.
template <class Layout, int First>
struct FourColumns {
  static auto parent(int rows) { return View2<double, Layout>("parent", rows, 8); }
  template <class Parent>
  auto operator()(const Parent& parent) const {
    return Kokkos::subview(parent, Kokkos::ALL, std::make_pair(First, First + 4));
  }
};

TYPED_TEST(Views, MayBeStrided) {
  for (const Mode mode : {Mode::NoTranspose, Mode::Transpose}) {
    this->template expect_correct<RowOfRight>(mode);
    this->template expect_correct<MiddleOfLeft>(mode);
    this->template expect_correct<OneColumnOfRight>(mode);
    this->template expect_correct<BothStrided>(mode);
    this->template expect_correct<ColumnOfRight>(mode);
    this->template expect_correct<RowOfLeft>(mode);
    this->template expect_correct<FourColumns<Kokkos::LayoutRight, 4>>(mode);
    this->template expect_correct<FourColumns<Kokkos::LayoutRight, 3>>(mode);
    this->template expect_correct<FourColumns<Kokkos::LayoutLeft, 3>>(mode);
  }
}

TYPED_TEST(Views, MayBeConstAndUnmanaged) {
  const auto host = this->host();
  const auto A = converted<TypeParam>(host);
  const Vectors<View1> v;
  const Kokkos::View<const double*, Device, Kokkos::MemoryTraits<Kokkos::RandomAccess>> const_x = v.x_view;
  const Kokkos::View<double*, Device, Kokkos::MemoryTraits<Kokkos::Unmanaged>> unmanaged_y(v.y_view.data(),
                                                                                           23);
  Filigree::spmv("N", 1.5, A, const_x, -0.4, unmanaged_y);
  EXPECT_TRUE(agrees(host_vectors(v.y_view), v.expected(host)));
}

#ifdef KOKKOS_ENABLE_SERIAL
TYPED_TEST(Views, MayBeMultipliedByAnotherExecutionSpace) {
  using Memory = typename TypeParam::Traits::memory_space;
  if constexpr (!std::is_same<ExecutionSpace, Kokkos::Serial>::value &&
                Kokkos::SpaceAccessibility<Kokkos::Serial, Memory>::accessible) {
    const auto host = this->host();
    const auto A = converted<TypeParam>(host);
    const Vectors<View1> v;
    Filigree::spmv(Kokkos::Serial(), "N", 1.5, A, v.x_view, -0.4, v.y_view);
    EXPECT_TRUE(agrees(host_vectors(v.y_view), v.expected(host)));
  } else {
    GTEST_SKIP() << "Serial is the default execution space, or cannot access the memory of the matrix.";
  }
}
#endif

TYPED_TEST(Views, MayInterleave) {
  const auto host = this->host();
  const auto A = converted<TypeParam>(host);
  const Vectors<View1> v;
  HostVectors<double> both(23, 2);
  std::copy(v.x.data.begin(), v.x.data.end(), both.data.begin());
  std::copy(v.y.data.begin(), v.y.data.end(), both.data.begin() + 23);
  const auto parent = device_view<View2<double, Kokkos::LayoutRight>>(both);
  Filigree::spmv("N", 1.5, A, Kokkos::subview(parent, Kokkos::ALL, 0), -0.4,
                 Kokkos::subview(parent, Kokkos::ALL, 1));
  const auto after = host_vectors(parent);
  HostVectors<double> result(23, 1);
  std::copy_n(after.data.begin() + 23, 23, result.data.begin());
  EXPECT_TRUE(agrees(result, v.expected(host)));
  EXPECT_TRUE(std::equal(v.x.data.begin(), v.x.data.end(), after.data.begin())) << "spmv wrote to x";
}

TYPED_TEST(Views, MustNotOverlap) {
  const auto A = converted<TypeParam>(this->host());
  const auto memory = device_view<View1<double, Kokkos::LayoutLeft>>(Random(1).vectors<double>(40, 1));
  const auto before = host_list(memory);
  const auto from = [&](int first) { return Kokkos::subview(memory, std::make_pair(first, first + 23)); };
  EXPECT_THROW(Filigree::spmv("N", 1.0, A, from(3), 0.0, from(3)), std::invalid_argument);
  EXPECT_THROW(Filigree::spmv("T", 1.0, A, from(0), 0.0, from(17)), std::invalid_argument);
  EXPECT_THROW(Filigree::spmv("N", 1.0, A, from(17), 0.0, from(0)), std::invalid_argument);
  EXPECT_EQ(host_list(memory), before);
}

TYPED_TEST(Views, AreRefusedIfTheirStrideIsTooLarge) {
  const auto A = converted<TypeParam>(this->host());
  const auto y = device_view<View1<double, Kokkos::LayoutLeft>>(Random(1).vectors<double>(23, 1));
  const auto before = host_list(y);
  // This View covers more memory than is allocated. spmv must refuse it before it reads an element.
  const Kokkos::View<const double*, Kokkos::LayoutStride, typename ExecutionSpace::device_type> far(
      y.data(), Kokkos::LayoutStride(23, std::size_t(1) << 28));
  if constexpr (TypeParam::Traits::counts_nnz) {
    const std::string error =
        message<std::invalid_argument>([&]() { Filigree::spmv("N", 1.0, A, far, 0.0, y); });
    EXPECT_TRUE(holds(error, {"Filigree::spmv", "rows of x are 2147483648 bytes apart", "2147483647"}));
    EXPECT_EQ(host_list(y), before);
  } else {
    GTEST_SKIP() << "KokkosSparse::spmv of " << TypeParam::Traits::name() << " does not take LayoutStride.";
  }
}

TYPED_TEST(Views, MayBeUsedOnAnotherInstance) {
  const auto host = this->host();
  const ExecutionSpace instance = another_instance();
  const auto crs = device_crs(host);
  const auto A = TypeParam::convert_with(instance, crs, any_padding<typename TypeParam::Options>());
  const auto new_host = suited<TypeParam>(with_new_values(host, 9));
  const auto new_crs = device_crs(new_host);
  const Vectors<View2> v(5);
  Filigree::refill(instance, A, new_crs);
  Filigree::spmv(instance, "N", 1.5, A, v.x_view, -0.4, v.y_view);
  const auto again = Filigree::to_crs(instance, A);
  instance.fence();
  EXPECT_TRUE(agrees(host_vectors(v.y_view), v.expected(new_host)));
  EXPECT_EQ(canonical(host_matrix(again)), canonical(new_host));
}

/// A kernel with a compiled number of columns has 32-bit offsets into x. Here 23 rows of x cover 5.9 GB, so
/// that the offsets need more than 32 bits. A GPU without that much memory does not test the product.
TEST(FarRows, AreNotAddressedWith32Bits) {
  constexpr std::int64_t stride = std::int64_t(1) << 25;
  using Filigree::Impl::MultiVector;
  using Filigree::Impl::packs_are_near;
  using Filigree::Impl::rows_are_near;
  const MultiVector<double> far{nullptr, 8 * stride, 2};
  EXPECT_TRUE(rows_are_near(far, 15));
  EXPECT_FALSE(rows_are_near(far, 16));
  const MultiVector<double> wide{nullptr, 1 << 30, 1};  // 2^25 packs of 32 bytes per row
  EXPECT_TRUE(packs_are_near<4>(wide, 127));
  EXPECT_FALSE(packs_are_near<4>(wide, 128));
  EXPECT_TRUE(packs_are_near<2>(wide, 63));
  EXPECT_FALSE(packs_are_near<2>(wide, 64));
  if constexpr (Filigree::Impl::runs_on_gpu_v<ExecutionSpace>) {
    const Vectors<View2> v(4);
    View1<double, Kokkos::LayoutLeft> memory;
    try {
      memory = View1<double, Kokkos::LayoutLeft>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "memory"),
                                                 static_cast<std::size_t>(22 * stride + 8));
    } catch (const std::exception& error) {
      GTEST_SKIP() << error.what();
    }
    const Kokkos::View<double**, Kokkos::LayoutStride, Device> x(memory.data(),
                                                                 Kokkos::LayoutStride(23, stride, 4, 2));
    Kokkos::deep_copy(x, v.x_view);
    const auto host = scattered<double>(23, 23, 5);
    const auto A = Filigree::convert<Filigree::SellMatrix>(device_crs(host));
    Filigree::spmv("N", 1.5, A, x, -0.4, v.y_view);
    EXPECT_TRUE(agrees(host_vectors(v.y_view), v.expected(host)));
  }
}

// The values begin at an address that is not a multiple of 16 bytes, so a GPU cannot load two at once.
TEST(CdsValues, MayBeginAtAnyAddress) {
  for (const int b : {1, 2, 4, 9}) {
    const auto host = block_banded<double>(6 * b, 6 * b, b);
    Filigree::CdsOptions options;
    options.block_size = b;
    const auto crs = device_crs(host);
    auto A = Filigree::convert<Filigree::CdsMatrix>(crs, options);
    const decltype(A.values) longer("values", A.values.extent(0) + 1);
    const auto shifted = Kokkos::subview(longer, std::make_pair(std::size_t(1), longer.extent(0)));
    Kokkos::deep_copy(shifted, A.values);
    A.values = shifted;
    for (const int columns : {0, 3})
      EXPECT_TRUE(
          (multiplies<Kokkos::LayoutLeft>(A, host, Product<double>{Mode::NoTranspose, 1.5, -0.4, columns})))
          << "block size " << b;
  }
}

}  // namespace FiligreeTest
