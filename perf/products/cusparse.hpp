// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of cuSPARSE through its generic interface: SpMV for one column of x, SpMM for several. Each is
// prepared with the _preprocess function of its interface.
#pragma once
#ifdef FILIGREE_PERF_HAS_CUSPARSE

#include <cusparse.h>

#include <Filigree.hpp>
#include <limits>
#include <stdexcept>
#include <string>

namespace FiligreePerf {

/// Only SpMM has csr_alg3, and only SpMV has sell.
enum class CusparseKind { csr_alg1, csr_alg2, csr_alg3, sell, bsr };

inline void check_cusparse(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const std::string message = std::string(call) + ": " + cusparseGetErrorString(status);
  // A product that cuSPARSE does not support becomes a refusal, not a failure of the program.
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED) throw std::invalid_argument(message);
  throw std::runtime_error(message);
}
#define FILIGREE_PERF_CUSPARSE(call) ::FiligreePerf::check_cusparse(call, #call)

/// The matrix of a problem in a cuSPARSE format, and its product with x.
template <class Problem>
class CusparseProduct {
 public:
  using crs_type = typename Problem::crs_type;
  using scalar_type = typename crs_type::value_type;
  using device_type = typename Problem::device_type;

  CusparseProduct(const Problem& problem, CusparseKind kind) {
    FILIGREE_PERF_CUSPARSE(cusparseCreate(&m_handle.value));
    const crs_type& crs = problem.crs;
    switch (kind) {
      case CusparseKind::csr_alg1:
      case CusparseKind::csr_alg2:
      case CusparseKind::csr_alg3:
        m_crs = crs;
        m_storage_bytes = static_cast<double>(Filigree::MatrixTraits<crs_type>::storage_bytes(crs));
        FILIGREE_PERF_CUSPARSE(
            cusparseCreateCsr(&m_matrix, crs.numRows(), crs.numCols(), static_cast<std::int64_t>(crs.nnz()),
                              data(crs.graph.row_map), data(crs.graph.entries), data(crs.values),
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type));
        break;
      case CusparseKind::sell:
        make_sell(crs);
        break;
      case CusparseKind::bsr:
        make_bsr(crs, problem.block_size);
        break;
    }
    m_algorithm = algorithm_of(kind);
    describe(&m_x, problem.x);
    describe(&m_y, problem.y);
    prepare(problem);
    FILIGREE_PERF_CUSPARSE(
        cusparseSetStream(m_handle.value, typename Problem::execution_space().cuda_stream()));
    Kokkos::fence();
  }
  ~CusparseProduct() {
    if (m_matrix) cusparseDestroySpMat(m_matrix);
    destroy(m_x);
    destroy(m_y);
  }
  CusparseProduct(const CusparseProduct&) = delete;
  CusparseProduct& operator=(const CusparseProduct&) = delete;

  double storage_bytes() const { return m_storage_bytes; }

  void run(const Problem& problem) const {
    if constexpr (Problem::has_several_columns)
      FILIGREE_PERF_CUSPARSE(cusparseSpMM(m_handle.value, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                          CUSPARSE_OPERATION_NON_TRANSPOSE, &problem.one, m_matrix, m_x,
                                          &problem.zero, m_y, value_type, m_algorithm, m_buffer.data()));
    else
      FILIGREE_PERF_CUSPARSE(cusparseSpMV(m_handle.value, CUSPARSE_OPERATION_NON_TRANSPOSE, &problem.one,
                                          m_matrix, m_x, &problem.zero, m_y, value_type, m_algorithm,
                                          m_buffer.data()));
  }

 private:
  static constexpr cudaDataType value_type = std::is_same_v<scalar_type, float>    ? CUDA_R_32F
                                             : std::is_same_v<scalar_type, double> ? CUDA_R_64F
                                             : std::is_same_v<scalar_type, Kokkos::complex<float>>
                                                 ? CUDA_C_32F
                                                 : CUDA_C_64F;

  using algorithm_type =
      std::conditional_t<Problem::has_several_columns, cusparseSpMMAlg_t, cusparseSpMVAlg_t>;
  using vectors_type =
      std::conditional_t<Problem::has_several_columns, cusparseDnMatDescr_t, cusparseDnVecDescr_t>;

  static algorithm_type algorithm_of(CusparseKind kind) {
    if constexpr (Problem::has_several_columns) {
      switch (kind) {
        case CusparseKind::csr_alg1:
          return CUSPARSE_SPMM_CSR_ALG1;
        case CusparseKind::csr_alg2:
          return CUSPARSE_SPMM_CSR_ALG2;
        case CusparseKind::csr_alg3:
          return CUSPARSE_SPMM_CSR_ALG3;
        case CusparseKind::bsr:
          return CUSPARSE_SPMM_BSR_ALG1;
        default:
          throw std::invalid_argument("cuSPARSE has no product of SELL with several columns.");
      }
    } else {
      switch (kind) {
        case CusparseKind::csr_alg1:
          return CUSPARSE_SPMV_CSR_ALG1;
        case CusparseKind::csr_alg2:
          return CUSPARSE_SPMV_CSR_ALG2;
        case CusparseKind::sell:
          return CUSPARSE_SPMV_SELL_ALG1;
        case CusparseKind::bsr:
          return CUSPARSE_SPMV_BSR_ALG1;
        default:
          throw std::invalid_argument("cuSPARSE has csr_alg3 only for several columns.");
      }
    }
  }

  /// Describes x or y to cuSPARSE.
  template <class Vectors>
  static void describe(vectors_type* vectors, const Vectors& view) {
    const auto rows = static_cast<std::int64_t>(view.extent(0));
    if constexpr (Problem::has_several_columns) {
      constexpr bool is_left = std::is_same_v<typename Vectors::array_layout, Kokkos::LayoutLeft>;
      FILIGREE_PERF_CUSPARSE(cusparseCreateDnMat(vectors, rows, static_cast<std::int64_t>(view.extent(1)),
                                                 static_cast<std::int64_t>(view.stride(is_left ? 1 : 0)),
                                                 data(view), value_type,
                                                 is_left ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW));
    } else {
      FILIGREE_PERF_CUSPARSE(cusparseCreateDnVec(vectors, rows, data(view), value_type));
    }
  }
  static void destroy(vectors_type vectors) {
    if (!vectors) return;
    if constexpr (Problem::has_several_columns)
      cusparseDestroyDnMat(vectors);
    else
      cusparseDestroyDnVec(vectors);
  }

  void prepare(const Problem& problem) {
    constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    std::size_t bytes = 0;
    if constexpr (Problem::has_several_columns)
      FILIGREE_PERF_CUSPARSE(cusparseSpMM_bufferSize(m_handle.value, op, op, &problem.one, m_matrix, m_x,
                                                     &problem.zero, m_y, value_type, m_algorithm, &bytes));
    else
      FILIGREE_PERF_CUSPARSE(cusparseSpMV_bufferSize(m_handle.value, op, &problem.one, m_matrix, m_x,
                                                     &problem.zero, m_y, value_type, m_algorithm, &bytes));
    m_buffer = Kokkos::View<char*, device_type>("FiligreePerf::cusparse", bytes);
    if constexpr (Problem::has_several_columns)
      FILIGREE_PERF_CUSPARSE(cusparseSpMM_preprocess(m_handle.value, op, op, &problem.one, m_matrix, m_x,
                                                     &problem.zero, m_y, value_type, m_algorithm,
                                                     m_buffer.data()));
    else
      FILIGREE_PERF_CUSPARSE(cusparseSpMV_preprocess(m_handle.value, op, &problem.one, m_matrix, m_x,
                                                     &problem.zero, m_y, value_type, m_algorithm,
                                                     m_buffer.data()));
  }

  /// The pointer for cuSPARSE, whose functions take no pointers to const, even for data that they only read.
  template <class View>
  static void* data(const View& view) {
    return const_cast<void*>(static_cast<const void*>(view.data()));
  }

  /// SellMatrix stores slices of 32 rows in the layout that cuSPARSE expects.
  void make_sell(const crs_type& crs) {
    m_sell = Filigree::convert<Filigree::SellMatrix>(crs);
    m_sell_offsets =
        Kokkos::View<int*, device_type>("FiligreePerf::slice_offsets", m_sell.slice_offsets.extent(0));
    const std::int64_t elements = static_cast<std::int64_t>(m_sell.values.extent(0));
    if (elements > std::numeric_limits<int>::max())
      Filigree::Impl::fail<std::invalid_argument>(
          "cuSPARSE's SELL is used with 32-bit offsets, which are too small for ", elements, " elements.");
    Kokkos::deep_copy(m_sell_offsets, m_sell.slice_offsets);
    m_storage_bytes = static_cast<double>(m_sell.values.extent(0)) * (sizeof(scalar_type) + sizeof(int)) +
                      static_cast<double>(m_sell_offsets.extent(0)) * sizeof(int);
    FILIGREE_PERF_CUSPARSE(cusparseCreateSlicedEll(
        &m_matrix, crs.numRows(), crs.numCols(), static_cast<std::int64_t>(crs.nnz()), elements,
        m_sell.slice_height(), data(m_sell_offsets), data(m_sell.entries), data(m_sell.values),
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type));
  }

  void make_bsr(const crs_type& crs, int block_size) {
    if (block_size < 2) throw std::invalid_argument("cuSPARSE's BSR needs a block size of at least 2.");
    Filigree::BsrOptions options;
    options.block_size = block_size;
    m_bsr = Filigree::convert<Filigree::BsrMatrix>(crs, options);
    m_storage_bytes = static_cast<double>(Filigree::MatrixTraits<bsr_type>::storage_bytes(m_bsr));
    FILIGREE_PERF_CUSPARSE(cusparseCreateBsr(
        &m_matrix, m_bsr.numRows(), m_bsr.numCols(), static_cast<std::int64_t>(m_bsr.nnz()), block_size,
        block_size, data(m_bsr.graph.row_map), data(m_bsr.graph.entries), data(m_bsr.values),
        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, value_type, CUSPARSE_ORDER_ROW));
  }

  using bsr_type = Filigree::converted_t<Filigree::BsrMatrix, crs_type>;

  crs_type m_crs;
  Filigree::converted_t<Filigree::SellMatrix, crs_type> m_sell;
  Kokkos::View<int*, device_type> m_sell_offsets;
  bsr_type m_bsr;
  double m_storage_bytes = 0;
  Kokkos::View<char*, device_type> m_buffer;
  algorithm_type m_algorithm = {};
  /// A member of its own, because the constructor of the class may throw after it was created.
  struct Handle {
    cusparseHandle_t value = nullptr;
    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
      if (value) cusparseDestroy(value);
    }
  };
  Handle m_handle;
  cusparseSpMatDescr_t m_matrix = nullptr;
  vectors_type m_x = nullptr;
  vectors_type m_y = nullptr;
};

#undef FILIGREE_PERF_CUSPARSE

}  // namespace FiligreePerf

#endif
