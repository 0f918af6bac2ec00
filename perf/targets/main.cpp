// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// filigree_targets: checks whether the speed targets hold on this machine. The bounds for GPUs were chosen
// for an NVIDIA H200. The bounds for hosts ask that on matrices with regular rows no format that
// suits them is slower than Kokkos Kernels' CRS, and that no other format is much slower.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <Filigree.hpp>
#include <functional>
#include <iostream>
#include <map>

#include "support/command_line.hpp"
#include "support/machine.hpp"
#include "support/named_matrix.hpp"
#include "support/read_bandwidth.hpp"
#include "support/symmetric_grid.hpp"
#include "targets/measured_problem.hpp"
#include "targets/sections.hpp"
#include "targets/targets.hpp"

namespace FiligreePerf {
namespace {

using Execution = Kokkos::DefaultExecutionSpace;
constexpr bool on_gpu = Filigree::Impl::runs_on_gpu_v<Execution>;
template <class Scalar>
using CrsOf = typename SpmvProblem<Scalar>::crs_type;

/// A group of targets that is measured together.
struct Section {
  const char* name;
  bool is_for_gpus;  ///< false: for hosts
  std::function<void(TargetReport&, const Options&, double bandwidth)> run;
  FileNames files = {};  ///< that it reads from the folder of matrices
};

// ---- costs of conversion ----------------------------------------------------------------------------------

/// A variant of a format: neither a peer nor "auto".
bool is_format(const Measured& one) {
  return !one.is_peer && one.name != "auto";
}

/// A variant of ELL, SELL or JDS.
bool is_ell_family(const Measured& one) {
  return !one.is_peer &&
         (is_variant_of(one.name, "ell") || one.name == "ellpack" || one.name.rfind("ellr_", 0) == 0 ||
          is_variant_of(one.name, "sell") || is_variant_of(one.name, "jds"));
}

/// Largest costs of conversions and refills over several problems, in products of Kokkos Kernels' CRS. NaN
/// means that none was measured.
struct Costs {
  double conversion = std::numeric_limits<double>::quiet_NaN();
  double sorted_conversion = std::numeric_limits<double>::quiet_NaN();
  double hybrid_conversion = std::numeric_limits<double>::quiet_NaN();
  double refill = std::numeric_limits<double>::quiet_NaN();

  void add(const MeasuredProblem& m) {
    for (const Measured& one : m.all) {
      if (one.is_peer) continue;
      const bool sorted = is_variant_of(one.name, "jds") || one.name.find("_sorted") != std::string::npos;
      const bool hybrid = is_variant_of(one.name, "hyb") || is_variant_of(one.name, "hec");
      if (sorted)
        sorted_conversion = std::fmax(sorted_conversion, one.conversion_in_products);
      else if (hybrid)
        hybrid_conversion = std::fmax(hybrid_conversion, one.conversion_in_products);
      else if (is_ell_family(one) || one.name == "cds" || one.name == "dia")
        conversion = std::fmax(conversion, one.conversion_in_products);
      refill = std::fmax(refill, one.refill_in_products);
    }
  }
};

void add_costs(TargetReport& report, const std::string& where, const Costs& costs) {
  const auto at_most = [&](const char* what, double required, double measured) {
    if (!std::isnan(measured)) report.at_most(where + ": " + what + ", products", required, measured);
  };
  at_most("conversion to ELL, SELL, DIA, CDS", 8, costs.conversion);
  at_most("conversion to HYB, HEC", 12, costs.hybrid_conversion);
  at_most("conversion with sorting", 25, costs.sorted_conversion);
  at_most("refill", 3, costs.refill);
}

// ---- optimize() ------------------------------------------------------------------------------------------

/// The speed of the formats that optimize() picked, relative to the best format and to the best cuSPARSE CSR.
struct Picks {
  std::vector<double> of_best;
  std::vector<double> of_cusparse;

  void add(const MeasuredProblem& m) {
    const double picked = m.seconds("auto");
    // The picked format may be faster than all named candidates, because it need not be one of them.
    of_best.push_back(std::min(1.0, m.best(is_format) / picked));
    of_cusparse.push_back(m.best_cusparse_csr() / picked);
  }
  void report(TargetReport& report, const std::string& where) const {
    report.at_least("optimize(), " + where + ": speed / best format, mean", 0.98, mean(of_best));
    report.at_least("optimize(), " + where + ": speed / best format, worst", 0.95,
                    *std::min_element(of_best.begin(), of_best.end()));
    report.at_least("optimize(), " + where + ": speed / best cuSPARSE CSR, worst", 0.95,
                    *std::min_element(of_cusparse.begin(), of_cusparse.end()));
  }
};

// ---- structured grids -------------------------------------------------------------------------------------

/// CDS on structured grids. The lower bounds of the targets are `fraction` of the read bandwidth, and the
/// speed divided by that of the best cuSPARSE CSR (over_cusparse) and of Kokkos Kernels' BSR (over_bsr).
template <class Scalar>
void grids(TargetReport& report, const std::string& scalar, const std::vector<GridCase>& cases,
           double bandwidth, double fraction, double over_cusparse, double over_bsr) {
  Costs costs;
  Picks picks;
  for (const GridCase& grid : cases) {
    const std::string name = grid.name() + " " + scalar;
    const MeasuredProblem m = measure_problem<Scalar>(
        report, name, grid_matrix<CrsOf<Scalar>>(grid), grid.dof, bandwidth, true,
        [](const std::string& candidate) {
          return candidate == "cds" || candidate == "dia" || candidate == "auto" || candidate == "crs" ||
                 candidate == "bsr" || candidate.rfind("cusparse", 0) == 0 ||
                 candidate == "kokkos_kernels_merge";
        });
    report.at_least("cds, " + name + ": fraction of read bandwidth", fraction,
                    m.fraction_of_read("cds", bandwidth));
    report.at_least("cds, " + name + ": speed / best cuSPARSE CSR", over_cusparse,
                    m.best_cusparse_csr() / m.seconds("cds"));
    if (grid.dof > 1)
      report.at_least("cds, " + name + ": speed / Kokkos Kernels' BSR", over_bsr,
                      m.seconds("bsr") / m.seconds("cds"));
    costs.add(m);
    picks.add(m);
  }
  picks.report(report, "grids " + scalar + " (CDS, DIA, BSR, CRS)");
  add_costs(report, "grids " + scalar, costs);
}

void all_grids(TargetReport& report, const Options&, double bandwidth) {
  grids<double>(report, "double", double_grids(), bandwidth, 0.96, 2.0, 1.08);
  grids<float>(report, "float", {{256, 3, 1}, {100, 3, 4}, {80, 3, 8}}, bandwidth, 0.93, 2.4, 1.12);
}

/// CDS with block sizes 1 to 16, on grids with about 110 million entries. `small_blocks` is the target for
/// block sizes up to 8 and `large_blocks` that for others, as fractions of the read bandwidth.
template <class Scalar>
void blocks(TargetReport& report, const std::string& scalar, double bandwidth, double small_blocks,
            double large_blocks) {
  for (int dof = 1; dof <= 16; ++dof) {
    const auto cells = static_cast<std::int64_t>(std::cbrt(110e6 / (7.0 * dof * dof)));
    const GridCase grid = {cells, 3, dof};
    const std::string name = grid.name() + " " + scalar;
    const MeasuredProblem m =
        measure_problem<Scalar>(report, name, grid_matrix<CrsOf<Scalar>>(grid), dof, bandwidth, false,
                                [](const std::string& candidate) { return candidate == "cds"; });
    report.at_least("cds, " + name + ": fraction of read bandwidth", dof <= 8 ? small_blocks : large_blocks,
                    m.fraction_of_read("cds", bandwidth));
  }
}

void all_blocks(TargetReport& report, const Options&, double bandwidth) {
  blocks<double>(report, "double", bandwidth, 0.85, 0.85);
  blocks<float>(report, "float", bandwidth, 0.94, 0.90);
}

// ---- symmetric storage and narrow values -----------------------------------------------------------------

/// Whether a candidate is a variant of CDS with values of double.
bool is_full_cds(const Measured& one) {
  return one.name == "cds" || one.name == "cds_components";
}

/// Symmetric CDS, and values stored in float, on symmetric grids. They are compared with the best full CDS in
/// double.
void symmetric(TargetReport& report, const Options&, double bandwidth) {
  for (const GridCase& grid : double_grids()) {
    const std::string name = grid.name();
    const MeasuredProblem m = measure_problem<double>(
        report, name + " double, symmetric",
        symmetric_matrix<CrsOf<double>>(grid.cells_of_axes(), grid.stencil(), grid.dof), grid.dof, bandwidth,
        false,
        [](const std::string& candidate) {
          return is_variant_of(candidate, "cds") || candidate == "sym_cds";
        },
        "float");
    const double full = m.best(is_full_cds);
    report.at_least("sym_cds, " + name + " double: speed / best full CDS",
                    grid.dof == 1 || grid.dimensions == 2 ? 1.4 : 1.55, full / m.seconds("sym_cds"));
    if (grid.dof > 1)
      report.at_least("cds stored in float, " + name + ": speed / best full CDS in double", 1.75,
                      full / m.best([](const Measured& one) {
                        return one.name == "cds_float" || one.name == "cds_components_float";
                      }));
    // With fewer unknowns the bytes of x and y alone exclude the target.
    if (grid.dof >= 3)
      report.at_least("sym_cds stored in float, " + name + ": speed / best full CDS in double", 2.8,
                      full / m.seconds("sym_cds_float"));
  }
}

// ---- dictionary of blocks --------------------------------------------------------------------------------

/// Coefficients of a grid with several materials, which fill cubes of 8 x 8 x 8 cells. Each material has one
/// block for each stencil point.
struct Materials {
  std::int64_t cells;  ///< per axis
  int count;           ///< of the materials

  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t cell, std::int64_t neighbour, int i, int j) const {
    const std::int64_t x = cell % cells / 8;
    const std::int64_t y = cell / cells % cells / 8;
    const std::int64_t z = cell / cells / cells / 8;
    const auto material = static_cast<double>((x * 31 + y * 17 + z * 7) % count);
    if (i == j) return cell == neighbour ? 6.5 + material / 64 : -1.0;
    const auto direction = static_cast<double>(neighbour - cell) / static_cast<double>(cells * cells);
    return ((i + j) % 2 == 0 ? 1.0 : -1.0) * (2 + direction) * (1 + material) / 65536;
  }
};

/// The dictionary of blocks, compared with the best full CDS in double.
void repeated(TargetReport& report, const Options&, double bandwidth) {
  for (const GridCase& grid :
       {GridCase{256, 3, 1}, GridCase{160, 3, 2}, GridCase{128, 3, 3}, GridCase{100, 3, 4},
        GridCase{100, 3, 5}, GridCase{80, 3, 6}, GridCase{64, 3, 8}})
    for (const int materials : {1, 36, 300}) {
      const Filigree::StencilProblem<Materials> problem(grid.cells_of_axes(), grid.stencil(), grid.dof,
                                                        Materials{grid.cells, materials});
      using Dictionary = Filigree::DictCdsMatrix<double, int, CrsOf<double>::device_type, void, int>;
      const auto blocks = problem.dict_cds<Dictionary>().numBlocks();
      const std::string name = grid.name() + ", " + std::to_string(blocks) + " distinct blocks";
      const MeasuredProblem m =
          measure_problem<double>(report, name, problem.crs<CrsOf<double>>(), grid.dof, bandwidth, true,
                                  [](const std::string& candidate) {
                                    return is_variant_of(candidate, "cds") || candidate == "dict_cds";
                                  });
      // With larger blocks the dictionary fits less into fast memory; with smaller ones it saves less.
      if (grid.dof >= 3 && grid.dof <= 6 && blocks <= 256)
        report.at_least("dict_cds, " + name + ": speed / best full CDS", 3.0,
                        m.best(is_full_cds) / m.seconds("dict_cds"));
    }
}

// ---- split values ----------------------------------------------------------------------------------------

/// The two products of split CDS, compared with CDS of float and of double. All four are timed in turns.
void split(TargetReport& report, const Options&, double) {
  const Execution exec;
  report.out() << std::fixed << std::setprecision(4);
  for (const GridCase& grid : double_grids()) {
    const auto problem = std::make_shared<SpmvProblem<double>>(grid_matrix<CrsOf<double>>(grid), grid.dof);
    Filigree::CdsOptions options;
    options.block_size = grid.dof;
    Filigree::SplitCdsOptions split_options;
    split_options.block_size = grid.dof;
    const auto halves = Filigree::convert<Filigree::SplitCdsMatrix>(exec, problem->crs, split_options);
    const auto wide = Filigree::convert<Filigree::CdsMatrix>(exec, problem->crs, options);
    const auto narrow = Filigree::convert<Filigree::CdsMatrix, float>(exec, problem->crs, options);
    const auto product_of = [&](const auto& A) {
      return [&]() { Filigree::spmv(exec, "N", problem->one, A, problem->x, problem->zero, problem->y); };
    };
    const auto [narrow_seconds, leading_seconds] =
        median_seconds_in_turns(exec, product_of(narrow), product_of(halves.leading));
    const auto [wide_seconds, split_seconds] =
        median_seconds_in_turns(exec, product_of(wide), product_of(halves));
    report.out() << '\n'
                 << grid.name() << ": float " << 1e3 * narrow_seconds << " ms, leading halves "
                 << 1e3 * leading_seconds << " ms, double " << 1e3 * wide_seconds << " ms, both halves "
                 << 1e3 * split_seconds << " ms\n";
    report.at_least("split_cds, " + grid.name() + ": speed of the leading halves / CDS of float", 0.9,
                    narrow_seconds / leading_seconds);
    report.at_least("split_cds, " + grid.name() + ": speed of both halves / CDS of double", 0.9,
                    wide_seconds / split_seconds);
  }
}

// ---- scaled values ---------------------------------------------------------------------------------------

#if FILIGREE_HAS_HALF
/// CDS of half precision with scaled rows and columns, compared with CDS of double in turns.
void scaled(TargetReport& report, const Options&, double) {
  const Execution exec;
  report.out() << std::fixed << std::setprecision(4);
  for (const GridCase& grid : double_grids()) {
    const SpmvProblem<double> problem(grid_matrix<CrsOf<double>>(grid), grid.dof);
    Filigree::CdsOptions options;
    options.block_size = grid.dof;
    const auto wide = Filigree::convert<Filigree::CdsMatrix>(exec, problem.crs, options);
    const auto narrow =
        Filigree::convert_scaled<Filigree::CdsMatrix, Filigree::half_t>(exec, problem.crs, options);
    const auto product_of = [&](const auto& A) {
      return [&]() { Filigree::spmv(exec, "N", problem.one, A, problem.x, problem.zero, problem.y); };
    };
    const auto [wide_seconds, narrow_seconds] =
        median_seconds_in_turns(exec, product_of(wide), product_of(narrow));
    report.out() << '\n'
                 << grid.name() << ": double " << 1e3 * wide_seconds << " ms, scaled half "
                 << 1e3 * narrow_seconds << " ms\n";
    report.at_least("scaled cds of half, " + grid.name() + ": speed / CDS of double", 1.25,
                    wide_seconds / narrow_seconds);
  }
}
#endif

// ---- general matrices -------------------------------------------------------------------------------------

using Matrices = std::vector<NamedMatrix<CrsOf<double>>>;

/// The named files of the folder, repeated along the diagonal to entries_of_large entries, and the other
/// matrices.
Matrices with_files(const Options& options, const FileNames& names, const Matrices& others) {
  Matrices result;
  for (const char* name : options.if_folder(names))
    result.push_back(from_file<CrsOf<double>>(options.path_of(name), entries_of_large));
  result.insert(result.end(), others.begin(), others.end());
  return result;
}

/// Whether a format or peer suits matrices without dense blocks and with many diagonals.
bool suits_general(const std::string& name) {
  return !is_variant_of(name, "cds") && name != "sym_cds" && name != "dict_cds" && name != "bsr" &&
         name != "bell" && name != "dia" && name != "cusparse_bsr";
}

const FileNames regular_files = {"bcsstk33", "bcsstk24", "qh1484", "wave"};

void regular(TargetReport& report, const Options& options, double bandwidth) {
  std::vector<double> ratios;
  Costs costs;
  Picks picks;
  for (const auto& matrix : with_files(options, regular_files, regular_matrices<CrsOf<double>>())) {
    const MeasuredProblem m =
        measure_problem<double>(report, matrix.name, matrix.make(), 1, bandwidth, true, suits_general);
    const double best = m.best(is_ell_family);
    ratios.push_back(m.best_cusparse_csr() / best);
    costs.add(m);
    picks.add(m);
    report.at_least("best of ELL, SELL, JDS, " + matrix.name + ": speed / cuSPARSE SELL", 1.0,
                    m.seconds("cusparse_sell") / best);
    report.out() << "  speed / best cuSPARSE CSR " << ratios.back() << std::endl;
  }
  report.at_least("best of ELL, SELL, JDS: speed / best cuSPARSE CSR, geometric mean", 1.35,
                  geometric_mean(ratios));
  picks.report(report, "regular rows");
  add_costs(report, "regular rows", costs);
}

const FileNames narrow_files = {"bcsstk33", "bcsstk24"};

/// SELL with 16-bit columns and values stored in float, compared with SELL in double.
void narrow(TargetReport& report, const Options& options, double bandwidth) {
  for (const auto& matrix : with_files(options, narrow_files, regular_matrices<CrsOf<double>>())) {
    const MeasuredProblem m = measure_problem<double>(
        report, matrix.name + ", narrow", matrix.make(), 1, bandwidth, false,
        [](const std::string& candidate) { return is_variant_of(candidate, "sell"); }, "float");
    const auto is_float = [](const Measured& one) {
      return one.name.size() > 6 && one.name.compare(one.name.size() - 6, 6, "_float") == 0;
    };
    report.at_least("sell stored in float, " + matrix.name + ": speed / best SELL in double", 1.55,
                    m.best([&](const Measured& one) { return !is_float(one); }) / m.best(is_float));
  }
}

const FileNames long_rows_files = {"memplus", "rajat19", "astro-ph"};

void long_rows(TargetReport& report, const Options& options, double bandwidth) {
  std::vector<double> ratios;
  Costs costs;
  Picks picks;
  for (const auto& matrix : with_files(options, long_rows_files, long_row_matrices<CrsOf<double>>())) {
    const MeasuredProblem m =
        measure_problem<double>(report, matrix.name, matrix.make(), 1, bandwidth, true, suits_general);
    ratios.push_back(m.best_cusparse_csr() / m.best(is_format));
    costs.add(m);
    picks.add(m);
    report.at_least("best format, " + matrix.name + ": speed / best cuSPARSE CSR", 1.0, ratios.back());
  }
  report.at_least("best format, long rows: speed / best cuSPARSE CSR, geometric mean", 1.0,
                  geometric_mean(ratios));
  picks.report(report, "long rows");
  add_costs(report, "long rows", costs);
}

/// Matrices most of whose rows have no entries.
void empty_rows(TargetReport& report, const Options&, double bandwidth) {
  Picks picks;
  for (const auto& matrix : empty_row_matrices<CrsOf<double>>()) {
    const MeasuredProblem m = measure_problem<double>(
        report, matrix.name, matrix.make(), 1, bandwidth, false, [](const std::string& candidate) {
          return candidate == "crs" || candidate == "crs_balanced" || is_variant_of(candidate, "coo") ||
                 is_variant_of(candidate, "hyb") || is_variant_of(candidate, "hec") ||
                 candidate == "sell_sorted" || candidate == "auto" || candidate.rfind("cusparse_csr", 0) == 0;
        });
    report.at_least("best format, " + matrix.name + ": speed / best cuSPARSE CSR", 1.0,
                    m.best_cusparse_csr() / m.best(is_format));
    picks.add(m);
  }
  picks.report(report, "empty rows");
}

// ---- several columns --------------------------------------------------------------------------------------

/// Products with several columns of x, compared with the time in which the bytes that must move can be read:
/// A once, x once and y once. `required` is the fraction of that speed that must be reached.
template <class Layout, template <class, class, class, class, class> class Format, class Scalar>
void columns_of(TargetReport& report, const std::string& name, const CrsOf<Scalar>& crs,
                const Filigree::convert_options_t<Format, CrsOf<Scalar>>& options, double bandwidth,
                double required) {
  const auto A = Filigree::convert<Format>(crs, options);
  const Execution exec;
  const CacheFlush<Execution> flush(exec);
  const double vector_bytes = sizeof(Scalar) * static_cast<double>(crs.numRows() + crs.numCols());
  for (const int columns : {4, 8, 16}) {
    using Vectors = Kokkos::View<Scalar**, Layout, Execution::device_type>;
    const Vectors x("x", crs.numCols(), columns);
    const Vectors y("y", crs.numRows(), columns);
    Kokkos::deep_copy(x, Scalar(1));
    const double seconds =
        median_cold_seconds(exec, flush, [&]() { Filigree::spmv("N", 1.0, A, x, 0.0, y); });
    const double bytes = static_cast<double>(A.storage_bytes()) + columns * vector_bytes;
    report.at_least(std::string(A.name()) + ", " + name +
                        (std::is_same_v<Layout, Kokkos::LayoutLeft> ? ", LayoutLeft, " : ", LayoutRight, ") +
                        std::to_string(columns) + " columns: fraction of read bandwidth",
                    required, bytes / seconds / bandwidth);
  }
}

/// columns_of() for the formats that suit a matrix with dense blocks, and both layouts of x and y.
template <class Layout, class Scalar>
void columns_of_formats(TargetReport& report, const std::string& name, const CrsOf<Scalar>& crs,
                        int block_size, bool is_grid, double bandwidth) {
  if (is_grid) {
    Filigree::CdsOptions cds;
    cds.block_size = block_size;
    columns_of<Layout, Filigree::CdsMatrix, Scalar>(report, name, crs, cds, bandwidth, 0.88);
    if (block_size == 1)
      columns_of<Layout, Filigree::DiaMatrix, Scalar>(report, name, crs, {}, bandwidth, 0.88);
  }
  if (block_size > 1) {
    Filigree::BellOptions bell;
    bell.block_size = block_size;
    columns_of<Layout, Filigree::BellMatrix, Scalar>(report, name, crs, bell, bandwidth, 0.85);
  }
  columns_of<Layout, Filigree::EllMatrix, Scalar>(report, name, crs, {}, bandwidth, 0.8);
  columns_of<Layout, Filigree::SellMatrix, Scalar>(report, name, crs, {}, bandwidth, 0.8);
}

const FileNames columns_files = {"bcsstk33", "bcsstk24"};

template <class Scalar>
void columns_of_scalar(TargetReport& report, const Options& options, const std::string& scalar,
                       double bandwidth) {
  const auto measure = [&](const std::string& name, const CrsOf<Scalar>& crs, int block_size, bool is_grid) {
    columns_of_formats<Kokkos::LayoutLeft, Scalar>(report, name + " " + scalar, crs, block_size, is_grid,
                                                   bandwidth);
    columns_of_formats<Kokkos::LayoutRight, Scalar>(report, name + " " + scalar, crs, block_size, is_grid,
                                                    bandwidth);
  };
  for (const GridCase& grid : {GridCase{256, 3, 1}, GridCase{128, 3, 3}, GridCase{100, 3, 4}})
    measure(grid.name(), grid_matrix<CrsOf<Scalar>>(grid), grid.dof, true);
  measure("27-point 100^3", grid_matrix<CrsOf<Scalar>>({100, 3, 1}, Filigree::Stencil::twenty_seven_point()),
          1, true);
  for (const char* name : options.if_folder(columns_files))
    measure(name, from_file<CrsOf<Scalar>>(options.path_of(name), entries_of_large).make(), 1, false);
}

void columns(TargetReport& report, const Options& options, double bandwidth) {
  columns_of_scalar<double>(report, options, "double", bandwidth);
  columns_of_scalar<float>(report, options, "float", bandwidth);
}

// ---- small matrices ---------------------------------------------------------------------------------------

const FileNames small_files = {"bcsstk24", "memplus"};

void small(TargetReport& report, const Options& options, double bandwidth) {
  Matrices matrices = {{"7-point 32^3 b=2", 1, []() { return grid_matrix<CrsOf<double>>({32, 3, 2}); }}};
  for (const char* name : options.if_folder(small_files))
    matrices.push_back(from_file<CrsOf<double>>(options.path_of(name), 0));
  for (const auto& matrix : matrices) {
    const MeasuredProblem m =
        measure_problem<double>(report, matrix.name + ", small", matrix.make(), 1, bandwidth, false,
                                [](const std::string& candidate) { return suits_general(candidate); });
    report.at_least("best format, " + matrix.name + " (small): speed / best cuSPARSE CSR", 1.0,
                    m.best_cusparse_csr() / m.best(is_format));
  }
}

// ---- hosts ------------------------------------------------------------------------------------------------

/// The fraction of the read bandwidth that a format must reach on a host for regular rows, or 0 if it need not suit
/// them.
double host_fraction(const std::string& format) {
  if (format == "cds") return 0.8;
  return format == "dia" || format == "ell" || format == "sell" || format == "bell" ? 0.7 : 0;
}

const FileNames host_files = {"bcsstk33", "qh1484"};

/// The best variant of each format, compared with Kokkos Kernels' CRS and with a read of memory. They are timed
/// in turns, because other work on a machine may change its bandwidth from one second to the next.
void host(TargetReport& report, const Options& options, double) {
  Matrices generated = {
      {"27-point 60^3", 1, []() {
         return grid_matrix<CrsOf<double>>({60, 3, 1}, Filigree::Stencil::twenty_seven_point());
       }}};
  for (const GridCase& grid :
       {GridCase{128, 3, 1}, GridCase{100, 3, 2}, GridCase{80, 3, 3}, GridCase{64, 3, 4}, GridCase{50, 3, 8}})
    generated.push_back({grid.name(), grid.dof, [=]() { return grid_matrix<CrsOf<double>>(grid); }});
  const Execution exec;
  for (const auto& matrix : with_files(options, host_files, generated)) {
    const auto problem = std::make_shared<SpmvProblem<double>>(matrix.make(), matrix.block_size);
    const bool is_regular = matrix.name.rfind("qh1484", 0) != 0;
    const auto crs = [&]() {
      Filigree::spmv("N", problem->one, problem->crs, problem->x, problem->zero, problem->y);
    };
    report.out() << '\n'
                 << matrix.name << ": " << problem->crs.numRows() << " rows, " << problem->crs.nnz()
                 << " entries\n"
                 << std::fixed;
    struct Best {
      std::string format;
      std::string name;
      double ratio;     ///< time divided by that of CRS
      double fraction;  ///< of the read bandwidth
    };
    std::vector<Best> formats;
    Wanted wanted;
    wanted.time_conversions = false;
    wanted.wants = [&](const std::string& name, bool) {
      // Lanes per row have no effect on a host, so only one of the equal crs_lanes variants is measured.
      const bool repeats = name.rfind("crs_lanes", 0) == 0 && name != "crs_lanes1";
      return name != "crs" && name != "bsr" && name != "dict_cds" && !repeats &&
             (matrix.block_size > 1 || suits_general(name) || matrix.name.rfind("7pt", 0) == 0);
    };
    for_each_candidate(problem, wanted, [&](const Candidate& one) {
      if (!one.product || one.is_peer) return;
      const auto [crs_seconds, seconds] = median_seconds_in_turns(exec, crs, one.product);
      const double ratio = seconds / crs_seconds;
      std::vector<double> seconds_beside_read;
      const double bandwidth =
          Filigree::measure_read_bandwidth(exec, std::int64_t(256) << 20, [&](const auto& read) {
            const auto [read_seconds, product_seconds] = median_seconds_in_turns(exec, read, one.product);
            seconds_beside_read.push_back(product_seconds);
            return read_seconds;
          });
      const double fraction = one.bytes / median(seconds_beside_read) / bandwidth;
      report.out() << "  " << std::left << std::setw(22) << one.name << std::right << std::setprecision(4)
                   << std::setw(10) << 1e3 * seconds << " ms, CRS" << std::setw(10) << 1e3 * crs_seconds
                   << " ms, " << std::setprecision(2) << ratio << " times as long, " << fraction
                   << " of the read bandwidth" << std::endl;
      if (formats.empty() || formats.back().format != one.format)
        formats.push_back({one.format, one.name, ratio, fraction});
      else if (ratio < formats.back().ratio)
        formats.back() = {one.format, one.name, ratio, fraction};
    });
    for (const Best& best : formats) {
      const std::string name =
          best.format + (best.name == best.format ? "" : " (" + best.name + ")") + ", " + matrix.name;
      const double fraction = is_regular ? host_fraction(best.format) : 0;
      report.at_most(name + ": time / Kokkos Kernels' CRS", fraction > 0 ? 1.0 : 1.3, best.ratio);
      if (fraction > 0) report.at_least(name + ": fraction of the read bandwidth", fraction, best.fraction);
    }
  }
}

std::vector<Section> sections() {
  std::vector<Section> result = {{"host", false, host, host_files},
                                 {"grids", true, all_grids},
                                 {"blocks", true, all_blocks},
                                 {"symmetric", true, symmetric},
                                 {"repeated", true, repeated},
                                 {"split", true, split},
                                 {"narrow", true, narrow, narrow_files},
                                 {"regular", true, regular, regular_files},
                                 {"long_rows", true, long_rows, long_rows_files},
                                 {"empty_rows", true, empty_rows},
                                 {"columns", true, columns, columns_files},
                                 {"small", true, small, small_files},
                                 {"solve", true, solve, solve_files}};
#if FILIGREE_HAS_HALF
  result.push_back({"scaled", true, scaled});
#endif
  return result;
}

std::vector<std::string> names_of(const std::vector<Section>& all) {
  std::vector<std::string> names;
  for (const Section& section : all)
    names.emplace_back(section.name);
  return names;
}

/// Throws CLI::ValidationError if there is no section of that name, or if it is for another kind of machine.
void check_section(const std::string& name, const std::vector<Section>& all) {
  check_word("--only", name, names_of(all));
  for (const Section& section : all)
    if (section.name == name && section.is_for_gpus != on_gpu)
      throw CLI::ValidationError("--only", "the section " + name + " is for " + (on_gpu ? "hosts" : "GPUs") +
                                               ", but this program was built for " + Execution::name());
}

/// Throws if the folder lacks files that the sections read. Otherwise minutes could pass before that shows.
void check_files(const std::vector<Section>& sections, const Options& options) {
  std::map<std::string, std::string> missing;  // the sections that read each of the missing files
  for (const Section& section : sections)
    for (const char* name : options.if_folder(section.files))
      if (!std::filesystem::exists(options.path_of(name))) {
        std::string& readers = missing[name];
        readers += (readers.empty() ? "" : " and ") + std::string(section.name);
      }
  if (missing.empty()) return;
  std::string list;
  for (const auto& [name, readers] : missing)
    list += (list.empty() ? "" : ", ") + name + ".mtx.gz (for " + readers + ")";
  Filigree::Impl::fail<std::invalid_argument>("--matrices: ", options.matrices, " has no ", list,
                                              ". Add what is missing, ",
                                              on_gpu ? "choose other sections with --only, " : "",
                                              "or leave out --matrices to measure generated matrices only.");
}

int measure_all(const Options& options, std::vector<Section> all) {
  const auto is_left_out = [&](const Section& section) {
    return options.only.empty()
               ? section.is_for_gpus != on_gpu
               : std::find(options.only.begin(), options.only.end(), section.name) == options.only.end();
  };
  all.erase(std::remove_if(all.begin(), all.end(), is_left_out), all.end());
  check_files(all, options);
  for (const auto& [name, version] : versions())
    if (name == "compiler") std::cout << name << ' ' << version << std::endl;
  const double bandwidth = read_bandwidth(Execution());
  std::cout << "read bandwidth " << 1e-9 * bandwidth << " GB/s" << std::endl;
  TargetReport report(std::cout);
  for (const Section& section : all) {
    section.run(report, options, bandwidth);
    report.end_section(section.name);
  }
  return report.print_total() ? 0 : 1;
}

}  // namespace
}  // namespace FiligreePerf

int main(int argc, char** argv) {
  using namespace FiligreePerf;
  CLI::App app(
      "Checks the speed targets. It prints one line per target, and the exit code is 1 if one does not hold.",
      "filigree_targets");
  Options options;
  const std::vector<Section> all = sections();
  app.add_option(
         "--matrices", options.matrices,
         "folder with bcsstk33.mtx.gz and the other files that the sections use; without it they use\n"
         "generated matrices only")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  app.add_option_function<std::string>(
         "--only",
         [&](const std::string& text) {
           options.only = split(text, ',');
           for (const std::string& name : options.only)
             check_section(name, all);
         },
         "sections to run (default: host on a host, all others on a GPU), separated by commas: " +
             CLI::detail::join(names_of(all), ","))
      ->type_name("NAMES");
  app.footer("Flags that begin with --kokkos go to Kokkos.");
  return run_program(app, argc, argv, [&](int&, char**) { return measure_all(options, all); });
}
