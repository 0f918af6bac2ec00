// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many products of one matrix at the same time: from several host threads, on several execution space
// instances and in CUDA graphs.
#include <chrono>
#include <filigree/core/workspace.hpp>
#include <functional>
#include <thread>
#include <utility>

#include "../support/errors.hpp"
#include "../support/formats.hpp"
#include "../support/instances.hpp"
#include "../support/tools.hpp"

namespace FiligreeTest {

/// Rows of 1500 entries, of which the balanced product cuts many. With `long_row` it has more than 2^20
/// entries, and a row that lies in many chunks.
HostMatrix<double> with_cut_rows(bool long_row) {
  HostMatrix<double> host(long_row ? 400 : 60, 600);
  Random random(3);
  for (std::size_t row = 0; row < host.rows.size(); ++row)
    for (int i = long_row && row == 7 ? 500000 : 1500; i > 0; --i)
      host.rows[row].push_back({random.below(600), random.value<double>()});
  return host;
}

/// HYB with nearly all entries in its COO part.
template <class Crs>
auto hyb_of_width_3(const Crs& crs) {
  Filigree::HybOptions options;
  options.width_rule = Filigree::HybridWidth::given;
  options.width = 3;
  return Filigree::convert<Filigree::HybMatrix>(crs, options);
}

/// Products of one matrix, each with an x and a y of its own.
class Products {
 public:
  using View = View2<double, Kokkos::LayoutLeft>;

  template <class Matrix>
  Products(const Matrix& A, int count, int columns) {
    for (int i = 0; i < count; ++i) {
      m_x.push_back(device_view<View>(
          Random(static_cast<unsigned>(i)).vectors<double>(static_cast<std::int64_t>(A.numCols()), columns)));
      m_y.emplace_back("y", A.numRows(), columns);
      Kokkos::deep_copy(m_y.back(), -1.0);
      View expected("expected", A.numRows(), columns);
      Filigree::spmv("N", 1.5, A, m_x.back(), 0.0, expected);
      Kokkos::fence();
      m_expected.push_back(host_vectors(expected));
    }
  }

  template <class Matrix>
  void run(const ExecutionSpace& exec, const Matrix& A, int i) const {
    const auto at = static_cast<std::size_t>(i);
    Filigree::spmv(exec, "N", 1.5, A, m_x[at], 0.0, m_y[at]);
  }

  /// The number of products whose y differs in a bit from the y of a product that ran alone.
  int wrong() const {
    Kokkos::fence();
    int count = 0;
    for (std::size_t i = 0; i < m_y.size(); ++i) {
      const auto y = host_vectors(m_y[i]);
      count += y.data != m_expected[i].data ? 1 : 0;
      Kokkos::deep_copy(m_y[i], -1.0);
    }
    Kokkos::fence();
    return count;
  }

 private:
  std::vector<View> m_x;
  std::vector<View> m_y;
  std::vector<HostVectors<double>> m_expected;
};

/// Runs products of A from four host threads at once. Thread t uses instance t modulo their number.
template <class Matrix>
void expect_products_from_threads(const Matrix& A, const std::vector<ExecutionSpace>& instances,
                                  int columns) {
#ifdef KOKKOS_ENABLE_ATOMICS_BYPASS
  constexpr int threads = 1;  // this Kokkos counts references without atomics: only one thread may call it
#else
  constexpr int threads = 4;
#endif
  constexpr int each = 25;
  const Products products(A, threads * each, columns);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      for (int i = 0; i < each; ++i)
        products.run(instances[static_cast<std::size_t>(t) % instances.size()], A, t * each + i);
    });
  for (auto& thread : running)
    thread.join();
  EXPECT_EQ(products.wrong(), 0);
  // Nothing is left over for later products.
  products.run(ExecutionSpace(), A, 0);
  Kokkos::fence();
  EXPECT_EQ(products.wrong(), threads * each - 1);
}

/// Queues `count` products of A in turns on four instances, without waiting for any of them.
template <class Matrix>
void expect_products_on_instances(const Matrix& A, int count, int columns) {
  const std::vector<ExecutionSpace> instances{ExecutionSpace(), another_instance(), another_instance(),
                                              another_instance()};
  const Products products(A, count, columns);
  for (int i = 0; i < count; ++i)
    products.run(instances[static_cast<std::size_t>(i) % instances.size()], A, i);
  EXPECT_EQ(products.wrong(), 0);
}

/// Products that are in flight at the same time. On a host each product ends before the next one begins.
constexpr int many = Filigree::Impl::runs_on_gpu_v<ExecutionSpace> ? 1000 : 20;

template <class Case>
class ConcurrentProducts : public testing::Test {};
TYPED_TEST_SUITE(ConcurrentProducts, AllFormatsOf<double>, CaseName);

TYPED_TEST(ConcurrentProducts, HaveTheSameBitsAsAlone) {
  for_each_variant<TypeParam>(suited<TypeParam>(with_cut_rows(false)), 1,
                              [&](const std::string& name, const auto& A) {
                                SCOPED_TRACE(name);
                                expect_products_from_threads(A, {ExecutionSpace()}, 1);
                                expect_products_from_threads(A, {another_instance(), another_instance()}, 3);
                                expect_products_on_instances(A, many, 1);
                              });
}

/// The balanced product of a large matrix has a second kernel, which joins the cut rows.
TEST(ConcurrentProducts, HaveTheSameBitsInLargeMatrices) {
  const auto crs = device_crs(with_cut_rows(true));
  ASSERT_GT(crs.nnz(), 1 << 20);
  const auto expect_all = [](const auto& A) {
    expect_products_from_threads(A, {ExecutionSpace()}, 1);
    expect_products_from_threads(A, {another_instance(), another_instance()}, 2);
    expect_products_on_instances(A, many, 1);
  };
  expect_all(Filigree::convert<Filigree::CooMatrix>(crs));
  expect_all(Filigree::convert<Filigree::WrappedCrsMatrix>(crs));
  expect_all(hyb_of_width_3(crs));
}

/// A function that runs once before the next launch of a kernel whose name contains "join".
std::function<void()> before_join;
void run_before_join(const char* name, const std::uint32_t, std::uint64_t*) {
  if (std::string(name).find("join") != std::string::npos) std::exchange(before_join, []() {})();
}

/// A product that another host thread queues between the two kernels of this one.
TEST(ConcurrentProducts, MayStartBetweenTheKernelsOfAnother) {
  const auto crs = device_crs(with_cut_rows(true));
  const auto expect_both = [](const auto& A) {
    const Products products(A, 2, 1);
    bool has_run = false;
    before_join = [&]() {
      has_run = true;
      products.run(ExecutionSpace(), A, 1);
    };
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(run_before_join);
    products.run(ExecutionSpace(), A, 0);
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    EXPECT_TRUE(has_run);
    EXPECT_EQ(products.wrong(), 0);
  };
  expect_both(Filigree::convert<Filigree::CooMatrix>(crs));
  expect_both(Filigree::convert<Filigree::WrappedCrsMatrix>(crs));
  expect_both(hyb_of_width_3(crs));
}

struct Stop : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Kernels that may still be launched before the hook throws.
int launches_left = 0;
void stop_at_launch(const char*, const std::uint32_t, std::uint64_t*) {
  if (launches_left-- == 0) throw Stop("stop");
}

/// A product that is stopped before its first or second kernel leaves nothing that the next one could use.
TEST(ConcurrentProducts, AreRightAfterAStoppedProduct) {
  const auto crs = device_crs(with_cut_rows(true));
  const auto expect_next = [](const auto& A) {
    const Products products(A, 3, 1);
    for (int kernel = 0; kernel < 2; ++kernel) {
      launches_left = kernel;
      Kokkos::Tools::Experimental::set_begin_parallel_for_callback(stop_at_launch);
      EXPECT_THROW(products.run(ExecutionSpace(), A, kernel), Stop) << "kernel " << kernel;
      Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
      Kokkos::fence();
    }
    (void)products.wrong();
    for (int i = 0; i < 3; ++i)
      products.run(ExecutionSpace(), A, i);
    EXPECT_EQ(products.wrong(), 0);
  };
  expect_next(Filigree::convert<Filigree::CooMatrix>(crs));
  expect_next(Filigree::convert<Filigree::WrappedCrsMatrix>(crs));
}

using Pool = Filigree::Impl::WorkspacePool<ExecutionSpace>;

TEST(Workspace, IsReusedWhenItIsGivenBack) {
  const ExecutionSpace exec;
  auto& first = Pool::get().borrow(exec, 10, 20);
  auto& second = Pool::get().borrow(exec, 10, 20);
  EXPECT_NE(&first, &second);
  Pool::get().give_back(first);
  EXPECT_EQ(&Pool::get().borrow(exec, 10, 20), &first);
  Pool::get().give_back(first);
  // `second` is not given back, as after an exception, with zeros that are not 0.
  Kokkos::deep_copy(second.zeros, ~std::uint64_t(0));
  const auto A = Filigree::convert<Filigree::CooMatrix>(device_crs(with_cut_rows(false)));
  EXPECT_TRUE((multiplies<Kokkos::LayoutLeft>(A, with_cut_rows(false), Product<double>{})));
}

TEST(Workspace, IsOnlyAllocatedForMoreThanBefore) {
  const ExecutionSpace exec;
  Pool::get().give_back(Pool::get().borrow(exec, 1000, 3000));
  const KokkosRecorder recorder;
  for (const std::size_t sums : {1, 3000, 2999})
    Pool::get().give_back(Pool::get().borrow(exec, 1000, sums));
  EXPECT_EQ(recorder.events().allocations, std::vector<std::string>());
  auto& larger = Pool::get().borrow(exec, 1 << 20, 1 << 20);
  const auto allocations = recorder.events().allocations;
  // On a backend with graphs there is a spare one, and another one for each that is borrowed. Other tests have borrowed
  // some for good.
  if (Filigree::Impl::CapturedGraph::possible<ExecutionSpace>())
    EXPECT_GE(allocations.size(), 4u);
  else
    EXPECT_EQ(allocations.size(), 2u);
  std::vector<std::string> expected;
  while (expected.size() < allocations.size())
    expected.insert(expected.end(), {"Filigree::workspace_zeros[all]", "Filigree::workspace_sums[all]"});
  EXPECT_EQ(allocations, expected);
  const auto zeros = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), larger.zeros);
  for (std::size_t i = 0; i < zeros.extent(0); ++i)
    ASSERT_EQ(zeros(i), 0u) << i;
  Pool::get().give_back(larger);
}

#if defined(KOKKOS_ENABLE_CUDA)
/// Records a product of A on exec into a graph.
template <class Matrix>
cudaGraphExec_t captured(const ExecutionSpace& exec, const Matrix& A, const Products& products, int i) {
  cudaGraph_t graph;
  EXPECT_EQ(cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  products.run(exec, A, i);
  // A second product of the graph shares the workspace of the first.
  products.run(exec, A, i + 1);
  EXPECT_EQ(cudaStreamEndCapture(exec.cuda_stream(), &graph), cudaSuccess);
  cudaGraphExec_t result;
  EXPECT_EQ(cudaGraphInstantiate(&result, graph, 0), cudaSuccess);
  cudaGraphDestroy(graph);
  return result;
}

/// Graphs run at the same time as each other and as products on the instance on which they were captured.
TEST(ConcurrentProducts, MayBeCapturedIntoGraphs) {
  const ExecutionSpace exec = another_instance();
  const ExecutionSpace second = another_instance();
  const ExecutionSpace third = another_instance();
  const auto A = Filigree::convert<Filigree::CooMatrix>(exec, device_crs(with_cut_rows(true)));
  const Products products(A, 300, 1);
  // These products are still queued when the first graph runs.
  for (int i = 4; i < 100; ++i)
    products.run(exec, A, i);
  const cudaGraphExec_t first_graph = captured(exec, A, products, 0);
  EXPECT_EQ(cudaGraphLaunch(first_graph, second.cuda_stream()), cudaSuccess);
  products.run(exec, A, 100);
  const cudaGraphExec_t second_graph = captured(exec, A, products, 2);
  for (int i = 101; i < 300; ++i) {
    EXPECT_EQ(cudaGraphLaunch(first_graph, second.cuda_stream()), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(second_graph, third.cuda_stream()), cudaSuccess);
    products.run(exec, A, i);
  }
  EXPECT_EQ(products.wrong(), 0);
  cudaGraphExecDestroy(first_graph);
  cudaGraphExecDestroy(second_graph);
}

/// A destroyed graph gives its workspace back, so that capturing again and again takes no more memory.
TEST(Workspace, OutlivesItsGraph) {
  const ExecutionSpace exec = another_instance();
  const auto A = Filigree::convert<Filigree::CooMatrix>(exec, device_crs(with_cut_rows(true)));
  const Products products(A, 2, 1);
  products.run(exec, A, 0);
  for (int i = 0; i < 20; ++i) {
    cudaGraphExecDestroy(captured(exec, A, products, 0));
    Kokkos::fence();
    // The driver tells the library on a thread of its own.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (i == 0) products.run(exec, A, 0);
    Kokkos::fence();
    const KokkosRecorder recorder;
    products.run(exec, A, 0);
    EXPECT_EQ(recorder.events().allocations, std::vector<std::string>()) << i;
  }
}

/// HYB needs the workspace for its second kernel. The first one must not have changed y.
TEST(ConcurrentProducts, OfHybLeaveYUnchangedIfTheyAreRefused) {
  const ExecutionSpace exec = another_instance();
  const auto A = hyb_of_width_3(device_crs(with_cut_rows(true)));
  const Products products(A, 1, 1);
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  // Takes the workspaces that destroyed streams with the same handle have left.
  const auto take_all = [&]() {
    while (true)
      Pool::get().borrow(exec, 1, 1);
  };
  EXPECT_THROW(take_all(), std::runtime_error);
  EXPECT_THROW(products.run(exec, A, 0), std::runtime_error);
  ASSERT_EQ(cudaStreamEndCapture(exec.cuda_stream(), &graph), cudaSuccess);
  std::size_t nodes = 1;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 0u);
  cudaGraphDestroy(graph);
}

TEST(Workspace, IsNotAllocatedDuringACapture) {
  const ExecutionSpace exec = another_instance();
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  // More than any other test asks for.
  EXPECT_TRUE(holds(message<std::runtime_error>([&]() { Pool::get().borrow(exec, 1 << 22, 1 << 22); }),
                    {"Filigree::spmv", "67108864 bytes", "captured", "Before each capture"}));
  EXPECT_EQ(cudaStreamEndCapture(exec.cuda_stream(), &graph), cudaSuccess);
  cudaGraphDestroy(graph);
}
#endif

}  // namespace FiligreeTest
