// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_spiluk.hpp>
#include <KokkosSparse_sptrsv.hpp>

#include "reservoir.hpp"

// Kokkos Kernels 4.6 moved these functions out of the namespace Experimental.
#if KOKKOS_VERSION >= 40600
namespace kernels = KokkosSparse;
#else
namespace kernels = KokkosSparse::Experimental;
#endif

/// The incomplete factors L U of a CRS matrix with sorted rows, with the fill of ILU(0), by Kokkos Kernels: L
/// and U have entries only in positions of the matrix. apply() solves L U z = r. The factors of a symmetric
/// matrix give a symmetric preconditioner.
class IncompleteLU {
  using Memory = Device::memory_space;
  using Handle =
      KokkosKernels::Experimental::KokkosKernelsHandle<int, int, double, ExecutionSpace, Memory, Memory>;

  struct Factor {
    Kokkos::View<int*, Device> row_map, entries;
    Vector values;
    mutable Handle handle;

    Factor(std::size_t rows, std::size_t most_entries)
        : row_map("row_map", rows + 1), entries("entries", most_entries), values("values", most_entries) {}

    void keep_only(std::size_t count) {
      Kokkos::resize(entries, count);
      Kokkos::resize(values, count);
    }
    void analyse(bool is_lower) {
      handle.create_sptrsv_handle(KokkosSparse::Experimental::SPTRSVAlgorithm::SEQLVLSCHD_TP1,
                                  static_cast<int>(row_map.extent(0)) - 1, is_lower);
      kernels::sptrsv_symbolic(&handle, row_map, entries);
    }
    void solve(const Vector& right, const Vector& result) const {
      kernels::sptrsv_solve(&handle, row_map, entries, values, right, result);
    }
  };

 public:
  explicit IncompleteLU(const Crs& A)
      : m_lower(A.numRows(), A.nnz() + A.numRows()),
        m_upper(A.numRows(), A.nnz() + A.numRows()),
        m_half("half", A.numRows()) {
    Handle handle;
    handle.create_spiluk_handle(KokkosSparse::Experimental::SPILUKAlgorithm::SEQLVLSCHD_TP1, A.numRows(),
                                m_lower.entries.extent(0), m_upper.entries.extent(0));
    const int fill_level = 0;
    auto row_map = A.graph.row_map;
    auto entries = A.graph.entries;
    auto values = A.values;
    kernels::spiluk_symbolic(&handle, fill_level, row_map, entries, m_lower.row_map, m_lower.entries,
                             m_upper.row_map, m_upper.entries);
    m_lower.keep_only(handle.get_spiluk_handle()->get_nnzL());
    m_upper.keep_only(handle.get_spiluk_handle()->get_nnzU());
    kernels::spiluk_numeric(&handle, fill_level, row_map, entries, values, m_lower.row_map, m_lower.entries,
                            m_lower.values, m_upper.row_map, m_upper.entries, m_upper.values);
    handle.destroy_spiluk_handle();
    m_lower.analyse(true);
    m_upper.analyse(false);
  }

  /// z = (L U)^-1 r
  void apply(const Vector& r, const Vector& z) const {
    m_lower.solve(r, m_half);
    m_upper.solve(m_half, z);
  }

  /// Entries of both factors.
  std::size_t nnz() const { return m_lower.entries.extent(0) + m_upper.entries.extent(0); }

 private:
  Factor m_lower, m_upper;
  Vector m_half;
};
