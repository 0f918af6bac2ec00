// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of cuSPARSE through its generic interface. Each is prepared with cusparseSpMV_preprocess.
#pragma once
#ifdef FILIGREE_PERF_HAS_CUSPARSE

#include <cusparse.h>

#include <Filigree.hpp>
#include <limits>
#include <stdexcept>
#include <string>

namespace FiligreePerf {

enum class CusparseKind { csr_alg1, csr_alg2, sell, bsr };

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
    FILIGREE_PERF_CUSPARSE(cusparseCreate(&m_handle));
    const crs_type& crs = problem.crs;
    switch (kind) {
      case CusparseKind::csr_alg1:
      case CusparseKind::csr_alg2:
        m_crs = crs;
        m_algorithm = kind == CusparseKind::csr_alg1 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2;
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
    FILIGREE_PERF_CUSPARSE(cusparseCreateDnVec(&m_x, static_cast<std::int64_t>(problem.x.extent(0)),
                                               data(problem.x), value_type));
    FILIGREE_PERF_CUSPARSE(cusparseCreateDnVec(&m_y, static_cast<std::int64_t>(problem.y.extent(0)),
                                               data(problem.y), value_type));
    std::size_t bytes = 0;
    FILIGREE_PERF_CUSPARSE(cusparseSpMV_bufferSize(m_handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &problem.one,
                                                   m_matrix, m_x, &problem.zero, m_y, value_type, m_algorithm,
                                                   &bytes));
    m_buffer = Kokkos::View<char*, device_type>("FiligreePerf::cusparse", bytes);
    FILIGREE_PERF_CUSPARSE(cusparseSpMV_preprocess(m_handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &problem.one,
                                                   m_matrix, m_x, &problem.zero, m_y, value_type, m_algorithm,
                                                   m_buffer.data()));
    FILIGREE_PERF_CUSPARSE(cusparseSetStream(m_handle, typename Problem::execution_space().cuda_stream()));
    Kokkos::fence();
  }
  ~CusparseProduct() {
    if (m_matrix) cusparseDestroySpMat(m_matrix);
    if (m_x) cusparseDestroyDnVec(m_x);
    if (m_y) cusparseDestroyDnVec(m_y);
    if (m_handle) cusparseDestroy(m_handle);
  }
  CusparseProduct(const CusparseProduct&) = delete;
  CusparseProduct& operator=(const CusparseProduct&) = delete;

  double storage_bytes() const { return m_storage_bytes; }

  void run(const Problem& problem) const {
    FILIGREE_PERF_CUSPARSE(cusparseSpMV(m_handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &problem.one, m_matrix,
                                        m_x, &problem.zero, m_y, value_type, m_algorithm, m_buffer.data()));
  }

 private:
  static constexpr cudaDataType value_type = std::is_same_v<scalar_type, float>    ? CUDA_R_32F
                                             : std::is_same_v<scalar_type, double> ? CUDA_R_64F
                                             : std::is_same_v<scalar_type, Kokkos::complex<float>>
                                                 ? CUDA_C_32F
                                                 : CUDA_C_64F;

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
    m_algorithm = CUSPARSE_SPMV_SELL_ALG1;
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
    m_algorithm = CUSPARSE_SPMV_BSR_ALG1;
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
  cusparseSpMVAlg_t m_algorithm = CUSPARSE_SPMV_ALG_DEFAULT;
  cusparseHandle_t m_handle = nullptr;
  cusparseSpMatDescr_t m_matrix = nullptr;
  cusparseDnVecDescr_t m_x = nullptr;
  cusparseDnVecDescr_t m_y = nullptr;
};

#undef FILIGREE_PERF_CUSPARSE

}  // namespace FiligreePerf

#endif
