// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks the pages of a small web by the method of PageRank: a reader follows a link with probability 0.85,
// else goes to any page. Then the links to page 1 become more popular, and the pages are ranked again.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include "link_matrix.hpp"

using HostVector = Kokkos::View<double*, Kokkos::HostSpace>;

/// Page j links to page j / 2, to one of the pages 0 to 9, and to another page. A link to page 1 has
/// `weight`, every other one has weight 1. Values are weights divided by the sum of the weights of page j.
Crs make_web(int pages, double weight) {
  std::vector<std::vector<int>> sources(static_cast<std::size_t>(pages));
  std::vector<double> sums(static_cast<std::size_t>(pages));
  for (int j = 0; j < pages; ++j)
    for (const int i : {j / 2, j % 10, (7 * j + 3) % pages}) {
      sources[static_cast<std::size_t>(i)].push_back(j);
      sums[static_cast<std::size_t>(j)] += i == 1 ? weight : 1.0;
    }

  Crs::row_map_type::non_const_type row_map("row_map", pages + 1);
  Crs::index_type::non_const_type entries("entries", 3 * pages);
  Vector values("values", 3 * pages);
  const auto host_row_map = Kokkos::create_mirror_view(row_map);
  const auto host_entries = Kokkos::create_mirror_view(entries);
  const auto host_values = Kokkos::create_mirror_view(values);
  int k = 0;
  for (int i = 0; i < pages; ++i) {
    for (const int j : sources[static_cast<std::size_t>(i)]) {
      host_entries(k) = j;
      host_values(k++) = (i == 1 ? weight : 1.0) / sums[static_cast<std::size_t>(j)];
    }
    host_row_map(i + 1) = k;
  }
  Kokkos::deep_copy(row_map, host_row_map);
  Kokkos::deep_copy(entries, host_entries);
  Kokkos::deep_copy(values, host_values);
  return Crs("web", pages, pages, 3 * pages, values, row_map, entries);
}

/// The ranks of all pages, after 100 products.
HostVector rank_pages(const LinkMatrix& links) {
  const ExecutionSpace exec;
  const double pages = links.pages();
  Vector rank("rank", links.pages()), next("next", links.pages());
  Kokkos::deep_copy(exec, rank, 1 / pages);
  for (int step = 0; step < 100; ++step) {
    Kokkos::deep_copy(exec, next, 0.15 / pages);
    links.multiply(exec, 0.85, rank, 1.0, next);
    std::swap(rank, next);
  }
  HostVector result("result", rank.extent(0));
  Kokkos::deep_copy(result, rank);
  return result;
}

/// Prints the ranks of pages 0 to 3. Returns whether all ranks add up to 1.
bool print(const char* what, const HostVector& rank) {
  double sum = 0;
  for (std::size_t i = 0; i < rank.extent(0); ++i)
    sum += rank(i);
  std::cout << what << ":";
  for (std::size_t i = 0; i < 4; ++i)
    std::cout << " page " << i << " " << rank(i) << (i < 3 ? "," : "");
  std::cout << "; all pages " << sum << '\n';
  return std::abs(sum - 1) < 1e-12;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  std::cout.precision(4);
  constexpr int pages = 20000;
  const Crs equal_links = make_web(pages, 1);
  LinkMatrix links(equal_links, 200);
  std::cout << links.pages() << " pages, format " << links.format() << '\n';

  const HostVector before = rank_pages(links);
  const bool before_is_right = print("all links equal", before);
  const Crs weighted_links = make_web(pages, 3);  // must live until the update has ended on the device
  links.update(ExecutionSpace(), weighted_links);
  const HostVector after = rank_pages(links);
  const bool after_is_right = print("page 1 popular ", after);
  return before_is_right && after_is_right && after(1) > before(1) ? EXIT_SUCCESS : EXIT_FAILURE;
}
