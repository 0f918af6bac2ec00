// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The test matrices of Vazquez, Fernandez and Garzon 2011, table 1.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <filesystem>
#include <random>

#include "support/named_matrix.hpp"

namespace FiligreePerf {

/// A row of the table. Where the paper gives the entries rounded or with a misprint, the file counts.
struct PaperMatrix {
  const char* name;
  std::int64_t rows;
  std::int64_t entries;
};

inline const std::array<PaperMatrix, 21> paper_matrices = {
    {{"qh1484", 1484, 6110},        {"dw2048", 2048, 10114},      {"rbs480a", 480, 17087},
     {"gemat12", 4929, 33111},      {"dw8192", 8192, 41746},      {"mhd3200a", 3200, 68026},
     {"e20r4000", 4241, 131556},    {"bcsstk24", 3562, 159910},   {"mac_econ", 206500, 1273389},
     {"qcd5_4", 49152, 1916928},    {"mc2depi", 525825, 2100225}, {"rma10", 46835, 2374001},
     {"cop20k_A", 121192, 2624331}, {"wbp128", 16384, 3933095},   {"dense2", 2000, 4000000},
     {"cant", 62451, 4007383},      {"pdb1HYS", 36417, 4344765},  {"consph", 83334, 6010480},
     {"shipsec1", 140874, 7813404}, {"pwtk", 217918, 11634424},   {"wbp256", 65536, 31413932}}};

/// Names of files of the table that differ from those of the paper: in the SuiteSparse collection mac_econ is
/// mac_econ_fwd500, for example.
inline std::vector<std::string> file_names(const std::string& name) {
  if (name == "mac_econ") return {name, "mac_econ_fwd500"};
  if (name == "qcd5_4") return {name, "conf5_4-8x8-05"};
  return {name};
}

/// The first file of a table's matrix among .mtx and .mtx.gz files of a folder; empty if there is none.
inline std::filesystem::path file_of(const std::string& name, const std::filesystem::path& folder) {
  for (const std::string& file : file_names(name))
    for (const char* extension : {".mtx", ".mtx.gz"})
      if (std::filesystem::exists(folder / (file + extension))) return folder / (file + extension);
  return {};
}

/// The matrix of a table's file, as by from_file(). The real parts of a complex file are taken: that of qcd5_4
/// is complex. If the file does not have the rows of the table, it is another matrix, and make() throws
/// std::invalid_argument.
template <class Crs>
NamedMatrix<Crs> from_table(const PaperMatrix& paper, const std::filesystem::path& file,
                            std::int64_t entries) {
  Filigree::MatrixMarketOptions options;
  options.complex_to_real = true;
  const NamedMatrix<Crs> once = from_file<Crs>(file, 0, options);
  return {paper.name, 1, [=]() {
            const Crs crs = once.make();
            if (crs.numRows() != paper.rows)
              Filigree::Impl::fail<std::invalid_argument>(
                  file.string(), " has ", crs.numRows(), " rows, but ", paper.name, " of the paper has ",
                  paper.rows, "; remove the file, or name it with --matrix.");
            return repeated_to(crs, entries);
          }};
}

/// A CRS matrix on the device from the entries of each row on the host. `add_row(row, entries)` adds the
/// columns and values of a row in ascending order of columns.
template <class Crs, class AddRow>
Crs crs_from_rows(std::int64_t rows, std::int64_t columns, const AddRow& add_row) {
  using scalar = typename Crs::non_const_value_type;
  using ordinal = typename Crs::non_const_ordinal_type;
  using size = typename Crs::non_const_size_type;
  std::vector<std::pair<std::int64_t, double>> row_entries;
  std::vector<size> row_map = {0};
  std::vector<ordinal> columns_of;
  std::vector<scalar> values_of;
  for (std::int64_t row = 0; row < rows; ++row) {
    row_entries.clear();
    add_row(row, row_entries);
    for (const auto& [column, value] : row_entries) {
      columns_of.push_back(static_cast<ordinal>(column));
      values_of.push_back(static_cast<scalar>(value));
    }
    row_map.push_back(static_cast<size>(columns_of.size()));
  }
  const auto to_device = [](auto& from, const std::string& name) {
    using value = std::decay_t<decltype(from.front())>;
    const Kokkos::View<value*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(from.data(), from.size());
    const Kokkos::View<value*, typename Crs::device_type> device("FiligreePerf::" + name, from.size());
    Kokkos::deep_copy(device, host);
    return device;
  };
  return Crs("FiligreePerf::rows", static_cast<ordinal>(rows), static_cast<ordinal>(columns),
             static_cast<size>(columns_of.size()), to_device(values_of, "values"),
             to_device(row_map, "row_map"), to_device(columns_of, "entries"));
}

/// mc2depi: the Markov chain of an epidemic. A state is a pair (u, v) with u up to `most_u` and v up to
/// `most_v`. It goes to (u, v-1) with rate v, to (u+1, v) with rate 2025, and to (u-1, v+1) with rate u. The
/// states are numbered breadth first from (0, 0), that is by u + 2v and then by v. The diagonal is minus the
/// sum of the other entries of the row. With 512 and 1024 it has 525825 rows and 2100225 entries.
template <class Crs>
Crs epidemic_matrix(int most_u = 512, int most_v = 1024) {
  Progress progress("making mc2depi");
  struct State {
    int u, v;
  };
  std::vector<State> states;
  std::vector<std::int64_t> number(static_cast<std::size_t>(most_u + 1) *
                                   static_cast<std::size_t>(most_v + 1));
  const auto at = [&](int u, int v) -> std::int64_t& {
    return number[static_cast<std::size_t>(v) * static_cast<std::size_t>(most_u + 1) +
                  static_cast<std::size_t>(u)];
  };
  for (int level = 0; level <= most_u + 2 * most_v; ++level)
    for (int v = std::max(0, (level - most_u + 1) / 2); v <= std::min(most_v, level / 2); ++v) {
      at(level - 2 * v, v) = static_cast<std::int64_t>(states.size());
      states.push_back({level - 2 * v, v});
    }
  const auto rows = static_cast<std::int64_t>(states.size());
  return crs_from_rows<Crs>(rows, rows,
                            [&](std::int64_t row, std::vector<std::pair<std::int64_t, double>>& entries) {
                              const auto [u, v] = states[static_cast<std::size_t>(row)];
                              double sum = 0;
                              const auto add = [&](int to_u, int to_v, double rate) {
                                if (rate == 0 || to_u > most_u || to_v > most_v) return;
                                entries.emplace_back(at(to_u, to_v), rate);
                                sum += rate;
                              };
                              add(u, v - 1, v);
                              add(u + 1, v, 2025);
                              add(u - 1, v + 1, u);
                              entries.emplace_back(row, -sum);
                              std::sort(entries.begin(), entries.end());
                            });
}

/// A matrix of SU(3), drawn at random: two orthonormal complex vectors, and the conjugate of their cross
/// product.
using Link = std::array<std::array<std::complex<double>, 3>, 3>;
template <class Generator>
Link random_link(Generator& generator) {
  std::normal_distribution<double> normal;
  Link link;
  for (int row = 0; row < 2; ++row) {
    for (auto& element : link[static_cast<std::size_t>(row)])
      element = {normal(generator), normal(generator)};
    if (row == 1) {
      std::complex<double> overlap = 0;
      for (std::size_t i = 0; i < 3; ++i)
        overlap += std::conj(link[0][i]) * link[1][i];
      for (std::size_t i = 0; i < 3; ++i)
        link[1][i] -= overlap * link[0][i];
    }
    double norm = 0;
    for (const auto& element : link[static_cast<std::size_t>(row)])
      norm += std::norm(element);
    for (auto& element : link[static_cast<std::size_t>(row)])
      element /= std::sqrt(norm);
  }
  for (std::size_t i = 0; i < 3; ++i)
    link[2][i] =
        std::conj(link[0][(i + 1) % 3] * link[1][(i + 2) % 3] - link[0][(i + 2) % 3] * link[1][(i + 1) % 3]);
  return link;
}

/// qcd5_4: the hopping term of the Wilson operator on a lattice of size^4 sites with periodic boundaries,
/// sum over the directions mu of (1 - gamma_mu) U_mu(x) to site x+mu and (1 + gamma_mu) U_mu(x-mu)^H to site
/// x-mu, in the Dirac representation, in which gamma_4 is diagonal. Row = 12*site + 3*spin + colour. The
/// links U are random matrices of SU(3). A row has 39 entries. The real part of each entry is stored. With
/// size 8 there are 49152 rows. The lattice must have at least 3 sites per direction, so that the neighbours
/// of a site differ.
template <class Crs>
Crs lattice_matrix(int size = 8) {
  Progress progress("making qcd5_4");
  using Complex = std::complex<double>;
  const Complex i(0, 1);
  // gamma[mu][spin] is the one element of a row of gamma_mu: its column and its value.
  const std::array<std::array<std::pair<int, Complex>, 4>, 4> gamma = {
      {{{{3, -i}, {2, -i}, {1, i}, {0, i}}},
       {{{3, -1.0}, {2, 1.0}, {1, 1.0}, {0, -1.0}}},
       {{{2, -i}, {3, i}, {0, i}, {1, -i}}},
       {{{0, 1.0}, {1, 1.0}, {2, -1.0}, {3, -1.0}}}}};
  const std::int64_t sites = static_cast<std::int64_t>(size) * size * size * size;
  std::mt19937_64 generator(1);
  std::vector<std::array<Link, 4>> links(static_cast<std::size_t>(sites));
  for (auto& of_site : links)
    for (Link& link : of_site)
      link = random_link(generator);
  const auto neighbour = [&](std::int64_t site, int direction, int step) {
    std::int64_t stride = 1;
    for (int axis = 0; axis < direction; ++axis)
      stride *= size;
    const std::int64_t position = site / stride % size;
    return site + ((position + step + size) % size - position) * stride;
  };
  return crs_from_rows<Crs>(
      12 * sites, 12 * sites, [&](std::int64_t row, std::vector<std::pair<std::int64_t, double>>& entries) {
        const std::int64_t site = row / 12;
        const auto spin = static_cast<std::size_t>(row % 12 / 3);
        const auto colour = static_cast<std::size_t>(row % 3);
        for (int mu = 0; mu < 4; ++mu)
          for (const int step : {1, -1}) {
            const std::int64_t to = neighbour(site, mu, step);
            const auto direction = static_cast<std::size_t>(mu);
            const Link& link = links[static_cast<std::size_t>(step == 1 ? site : to)][direction];
            const auto add = [&](int to_spin, Complex factor) {
              for (std::size_t to_colour = 0; to_colour < 3; ++to_colour) {
                const Complex element =
                    step == 1 ? link[colour][to_colour] : std::conj(link[to_colour][colour]);
                entries.emplace_back(12 * to + 3 * to_spin + static_cast<std::int64_t>(to_colour),
                                     (factor * element).real());
              }
            };
            const auto [to_spin, value] = gamma[direction][spin];
            const double sign = step == 1 ? -1 : 1;
            if (to_spin == static_cast<int>(spin)) {
              // 1 + sign * gamma is 0 or 2 on the diagonal.
              if (const Complex factor = 1.0 + sign * value; factor != 0.0) add(to_spin, factor);
            } else {
              add(static_cast<int>(spin), 1.0);
              add(to_spin, sign * value);
            }
          }
        std::sort(entries.begin(), entries.end());
      });
}

/// The generated matrices: dense2, mc2depi and qcd5_4 of the table, and fem3, which is not in it: an FEM-like
/// matrix with 3 unknowns per node and up to 27 neighbours. `quick` makes small ones of the same kinds.
template <class Crs>
std::vector<NamedMatrix<Crs>> generated_paper_matrices(bool quick) {
  return {{"qcd5_4", 1, [=]() { return lattice_matrix<Crs>(quick ? 3 : 8); }},
          {"mc2depi", 1, [=]() { return quick ? epidemic_matrix<Crs>(16, 32) : epidemic_matrix<Crs>(); }},
          {"dense2", 1,
           [=]() {
             const int rows = quick ? 100 : 2000;
             return random_matrix<Crs>(rows, rows, EqualRows{rows});
           }},
          {"fem3", 3, [=]() {
             return grid_matrix<Crs>({quick ? 6 : 30, 3, 3}, Filigree::Stencil::twenty_seven_point());
           }}};
}

}  // namespace FiligreePerf
