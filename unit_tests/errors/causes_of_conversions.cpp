// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <filigree/check.hpp>
#include <filigree/convert.hpp>
#include <filigree/diagonal.hpp>
#include <filigree/io/matrix_market.hpp>
#include <filigree/spmv.hpp>
#include <limits>
#include <sstream>

#include "../support/host_matrix.hpp"
#include "causes.hpp"

namespace FiligreeTest {
namespace {

using Matrix = Crs<double>;

/// A CRS matrix of three entries whose numbers need not be right.
Matrix three_entries(std::int64_t rows, std::int64_t columns, const std::vector<std::int64_t>& row_map,
                     const std::vector<std::int64_t>& entries = {0, 1, 2}) {
  return crs_of_lists<Matrix>(rows, columns, row_map, entries, std::vector<double>{1, 2, 3});
}

/// Adds a cause for each function that checks a CRS matrix.
void add_crs(Causes& causes, const std::string& row, const std::function<Matrix()>& make) {
  causes.push_back({row, [=]() { Filigree::convert<Filigree::CooMatrix>(make()); }});
  causes.push_back({row, [=]() { Filigree::check(make()); }});
  causes.push_back(
      {row, [=]() {
         const auto A = Filigree::convert<Filigree::CooMatrix>(three_entries(3, 4, {0, 1, 2, 3}));
         Filigree::refill(A, make());
       }});
  causes.push_back({row, [=]() {
                      std::ostringstream stream;
                      Filigree::write_matrix_market(stream, make());
                    }});
}

/// A matrix of 2600 rows, of which one is full, so that ELL needs much padding.
Matrix one_long_row() {
  HostMatrix<double> host(2600, 2600);
  for (std::int64_t column = 0; column < 2600; ++column)
    host.rows[7].push_back({column, 1.0});
  return device_crs(host);
}

/// A row of 40000 entries in a matrix whose ordinals have 16 bits.
template <template <class, class, class, class, class> class Format, class Options>
std::function<void()> convert_short(Options options) {
  options.max_storage_ratio = 1e9;
  return [=]() {
    HostMatrix<double> host(2, 5);
    for (std::int64_t i = 0; i < 40000; ++i)
      host.rows[1].push_back({i / 8000, 1.0});
    Filigree::convert<Format>(device_crs<Crs<double, short>>(host), options);
  };
}

/// Converts a small matrix with the options that `set` changes.
template <template <class, class, class, class, class> class Format, class Set>
std::function<void()> convert_with(const Set& set) {
  return [=]() {
    Filigree::convert_options_t<Format, Matrix> options;
    set(options);
    Filigree::convert<Format>(three_entries(3, 4, {0, 1, 2, 3}), options);
  };
}

void add_formats(Causes& causes) {
  using namespace Filigree;
  const auto add = [&](const char* row, const std::function<void()>& call) { causes.push_back({row, call}); };
  add("convert-storage", []() { convert<EllMatrix>(one_long_row()); });
  add("convert-storage", []() { convert<CdsMatrix>(one_long_row()); });
  add("convert-storage", []() { convert<BellMatrix>(one_long_row()); });
  add("convert-storage", []() {
    SellOptions options;
    options.max_storage_ratio = 0;
    convert<SellMatrix>(device_crs(block_banded<double>(4000, 4000, 1)), options);
  });
  add("convert-size-type", []() {
    HostMatrix<double> host(32760, 3);
    host.rows[7].push_back({1, 2.0});
    convert<EllMatrix>(device_crs<Crs<double, int, short>>(host));
  });
  add("convert-ordinal", convert_short<EllMatrix>(EllOptions()));
  add("convert-ordinal", convert_short<SellMatrix>(SellOptions()));
  add("convert-ordinal", convert_short<JdsMatrix>(JdsOptions()));
  add("convert-ordinal", convert_short<HecMatrix>(HecOptions()));
  CdsOptions large_blocks;
  large_blocks.block_size = 32768;
  add("convert-ordinal", convert_short<CdsMatrix>(large_blocks));
  add("convert-unsorted-row", []() {
    // Only the row map and the columns are read, so one value is enough. Columns of 8 bits need 1 GB.
    using LongCrs = Crs<double, signed char, std::int64_t>;
    constexpr std::int64_t length = (std::int64_t(1) << 30) + 1;
    const LongCrs::index_type::non_const_type entries("entries", static_cast<std::size_t>(length));
    const Kokkos::View<double*, Device> value("value", 1);
    Kokkos::deep_copy(Kokkos::subview(entries, 0), static_cast<signed char>(1));
    const LongCrs crs(
        "long", 1, 2, length, LongCrs::values_type(value.data(), static_cast<std::size_t>(length)),
        device_list<LongCrs::row_map_type::non_const_type>(std::vector<std::int64_t>{0, length}), entries);
    BellOptions options;
    options.check_input = false;
    convert<BellMatrix>(crs, options);
  });
  HostMatrix<double> large(3, 4);
  large.rows[1].push_back({2, -1e300});
  add("convert-overflow", [=]() { convert<EllMatrix, float>(device_crs(large)); });
  add("convert-overflow", [=]() {
    auto small = large;
    small.rows[1].back().value = 1;
    refill(convert<EllMatrix, float>(device_crs(small)), device_crs(large));
  });
#if FILIGREE_HAS_KOKKOS_COO
  add("convert-kokkos-coo", []() {
    using Coo = KokkosSparse::CooMatrix<double, short, Device, void, int>;
    convert<EllMatrix>(Coo(32768, 5, Coo::row_view(), Coo::column_view(), Coo::scalar_view()));
  });
#else
  add("convert-kokkos-coo", []() { throw NotHere{"these Kokkos Kernels have no CooMatrix"}; });
#endif
  add("convert-slices", []() { throw NotHere{"2^31 slices take more than 18 GB"}; });
  add("convert-ratio", convert_with<CooMatrix>([](auto& options) { options.max_storage_ratio = -1; }));
  add("convert-ratio", convert_with<CrsMatrix>([](auto& options) {
        options.max_storage_ratio = std::numeric_limits<double>::quiet_NaN();
      }));
  add("convert-power-of-two", convert_with<EllMatrix>([](auto& options) { options.lanes_per_row = 3; }));
  add("convert-power-of-two", convert_with<EllMatrix>([](auto& options) { options.lanes_per_team = 16; }));
  add("convert-power-of-two", convert_with<SellMatrix>([](auto& options) { options.slice_height = 2048; }));
  add("convert-power-of-two", []() {
    auto A = convert<EllMatrix>(three_entries(3, 4, {0, 1, 2, 3}));
    A.set_lanes_per_team(100);
  });
  add("convert-sorting-window", convert_with<SellMatrix>([](auto& options) { options.sorting_window = -1; }));
  add("convert-one-length",
      convert_with<SellMatrix>([](auto& options) { options.one_length_per_slice = true; }));
  add("convert-width-rule",
      convert_with<HecMatrix>([](auto& options) { options.width_rule = static_cast<HybridWidth>(7); }));
  add("convert-width", convert_with<HybMatrix>([](auto& options) {
        options.width_rule = HybridWidth::given;
        options.width = -1;
      }));
  add("convert-long-row", convert_with<HecMatrix>([](auto& options) { options.long_row = -1; }));
  add("convert-kernel",
      convert_with<WrappedCrsMatrix>([](auto& options) { options.kernel = static_cast<CrsKernel>(7); }));
  add("convert-cds-block", convert_with<CdsMatrix>([](auto& options) { options.block_size = 0; }));
  add("convert-cds-block", convert_with<SymCdsMatrix>([](auto& options) { options.block_size = 0; }));
  add("convert-cds-layout",
      convert_with<CdsMatrix>([](auto& options) { options.layout = static_cast<CdsLayout>(7); }));
  add("convert-symmetry",
      convert_with<SymCdsMatrix>([](auto& options) { options.symmetry = static_cast<Symmetry>(7); }));
  add("convert-symmetry-tolerance", convert_with<SymCdsMatrix>([](auto& options) {
        options.symmetry_tolerance = std::numeric_limits<double>::quiet_NaN();
      }));
  add("convert-symmetric-square", []() { convert<SymCdsMatrix>(three_entries(3, 4, {0, 1, 2, 3})); });
  add("convert-asymmetric", []() { convert<SymCdsMatrix>(three_entries(3, 3, {0, 1, 2, 3}, {0, 2, 1})); });
  add("convert-asymmetric", []() {
    const auto A = convert<SymCdsMatrix>(three_entries(3, 3, {0, 1, 2, 3}));
    refill(A, three_entries(3, 3, {0, 1, 2, 3}, {0, 2, 1}));
  });
  add("convert-cds-block", convert_with<DictCdsMatrix>([](auto& options) { options.block_size = 0; }));
  add("convert-cds-block", convert_with<SplitCdsMatrix>([](auto& options) { options.block_size = 0; }));
  const auto beyond_float = []() {
    return crs_of_lists<Matrix>(3, 3, {0, 1, 2, 3}, {0, 1, 2}, std::vector<double>{1, 1e40, 1});
  };
  add("convert-split-range", [=]() { convert<SplitCdsMatrix>(beyond_float()); });
  add("convert-split-range", [=]() {
    const auto A = convert<SplitCdsMatrix>(three_entries(3, 3, {0, 1, 2, 3}));
    refill(A, beyond_float());
  });
  add("convert-max-blocks", convert_with<DictCdsMatrix>([](auto& options) { options.max_blocks = 65537; }));
  add("convert-distinct-blocks", convert_with<DictCdsMatrix>([](auto& options) { options.max_blocks = 1; }));
  add("refill-distinct-blocks", []() {
    const std::vector<std::int64_t> row_map = {0, 1, 2, 3};
    const std::vector<std::int64_t> entries = {0, 1, 2};
    const auto equal = crs_of_lists<Matrix>(3, 3, row_map, entries, std::vector<double>{1, 1, 1});
    const auto A = convert<DictCdsMatrix>(equal);
    refill(A, three_entries(3, 3, {0, 1, 2, 3}, {0, 1, 2}));
  });
  add("convert-bell-block", convert_with<BellMatrix>([](auto& options) { options.block_size = 9; }));
#if FILIGREE_HAS_BSR
  add("convert-bsr-block", convert_with<BsrMatrix>([](auto& options) { options.block_size = 2; }));
#else
  add("convert-bsr-block", []() { throw NotHere{"these Kokkos Kernels have no BsrMatrix"}; });
#endif
  add("bell-block", []() { BellMatrix<double, int, Device, void, int>(3, 4, 0, 9, 0, {}, {}); });
}

void add_coo(Causes& causes) {
  using Values = Kokkos::View<double*, Device>;
  using Indices = Kokkos::View<int*, Device>;
  causes.push_back(
      {"coo-lengths",
       []() { Filigree::make_coo(3, 4, Indices("rows", 2), Indices("columns", 3), Values("values", 3)); }});
  causes.push_back(
      {"coo-lengths",
       []() { Filigree::wrap_coo(3, 4, Indices("rows", 3), Indices("columns", 3), Values("values", 2)); }});
  causes.push_back({"coo-extents", []() {
                      Filigree::wrap_coo(3, -4, Indices("rows", 3), Indices("columns", 3), Values("v", 3));
                    }});
  causes.push_back({"coo-entry", []() {
                      const Indices columns("columns", 3);
                      Kokkos::deep_copy(columns, 4);
                      Filigree::make_coo(3, 4, Indices("rows", 3), columns, Values("values", 3));
                    }});
  causes.push_back({"coo-size-type", []() {
                      Filigree::make_coo<signed char>(3, 4, Indices("rows", 200), Indices("columns", 200),
                                                      Values("values", 200));
                    }});
}

void add_diagonal(Causes& causes) {
  using namespace Filigree;
  for (const int block_size : {-1, 0, 4})
    causes.push_back({"diagonal-block", [=]() {
                        diagonal_blocks(three_entries(3, 4, {0, 1, 2, 3}), block_size);
                      }});
  causes.push_back({"diagonal-bytes", []() {
                      // A matrix without diagonals takes no memory.
                      constexpr int most = std::numeric_limits<int>::max();
                      diagonal_blocks(CdsMatrix<double, int, Device, void, int>(most, most, 0, 1, {}, {}),
                                      most);
                    }});
}

void add_refill(Causes& causes) {
  using namespace Filigree;
  const auto refill_with = [](const Matrix& crs) {
    refill(convert<EllMatrix>(three_entries(3, 4, {0, 1, 2, 3})), crs);
  };
  causes.push_back({"refill-extents", [=]() { refill_with(three_entries(3, 5, {0, 1, 2, 3})); }});
  causes.push_back({"refill-extents", [=]() { refill_with(device_crs(HostMatrix<double>(3, 4))); }});
  causes.push_back({"refill-pattern", [=]() { refill_with(three_entries(3, 4, {0, 2, 2, 3})); }});
  causes.push_back({"refill-pattern", [=]() { refill_with(three_entries(3, 4, {0, 1, 2, 3}, {0, 1, 3})); }});
  causes.push_back({"refill-pattern", [=]() {
                      const auto A = convert<DiaMatrix>(three_entries(3, 4, {0, 1, 2, 3}));
                      refill(A, three_entries(3, 4, {0, 1, 2, 3}, {0, 1, 3}));
                    }});
}

}  // namespace

Causes causes_without_kokkos() {
  using Coo = Filigree::CooMatrix<double, int, Device, void, int>;
  using Vector = Kokkos::View<double*, Device>;
  const char* const row = "not-initialized";
  return {
      {row, []() { Filigree::convert<Filigree::EllMatrix>(Matrix()); }},
      {row, []() { Filigree::spmv("N", 1.0, Coo(), Vector(), 0.0, Vector()); }},
      {row, []() { Filigree::diagonal(Coo()); }},
      {row, []() { Filigree::read_matrix_market<Matrix>("a.mtx"); }},
  };
}

Causes causes_of_conversions() {
  Causes causes;
  add_crs(causes, "crs-extents", []() { return three_entries(3, -4, {0, 1, 2, 3}); });
  add_crs(causes, "crs-values", []() {
    return Matrix("test", 3, 4, 3, device_list<Matrix::values_type>(std::vector<double>{1, 2}),
                  device_list<Matrix::row_map_type::non_const_type>(std::vector<int>{0, 1, 2, 3}),
                  device_list<Matrix::index_type>(std::vector<int>{0, 1, 2}));
  });
  add_crs(causes, "crs-row-map-length", []() { return three_entries(0, 4, {}); });
  add_crs(causes, "crs-row-map-begin", []() { return three_entries(3, 4, {1, 1, 2, 3}); });
  add_crs(causes, "crs-row-map-end", []() { return three_entries(3, 4, {0, 1, 2, 2}); });
  add_crs(causes, "crs-row-map-order", []() { return three_entries(3, 4, {0, 2, 1, 3}); });
  add_crs(causes, "crs-column", []() { return three_entries(3, 4, {0, 1, 2, 3}, {1, 2, 4}); });
  add_formats(causes);
  add_coo(causes);
  add_diagonal(causes);
  add_refill(causes);
  return causes;
}

}  // namespace FiligreeTest
