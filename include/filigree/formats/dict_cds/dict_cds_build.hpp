// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the distinct blocks of a matrix. Each block gets a hash of 64 bits as its key. A hash table collects
// the distinct keys, and at the end every block is compared with the one of the dictionary.
//
// The blocks come from a source, a small struct for kernels with these members (CrsBlocks, GridBlocks):
//
//   scalar_type
//   block_rows, diagonals, block_size
//   visit_block(block_row, d, visit)  calls visit(e, value, entries) for all elements of the block of a block
//                                     row on diagonal d. Element (i, j) has the number e = i * b + j. `entries`
//                                     is the number of entries whose sum the value is
#pragma once

#include <algorithm>
#include <vector>

#include "filigree/conversion/check_crs.hpp"
#include "filigree/core/double_bits.hpp"
#include "filigree/core/random.hpp"
#include "filigree/core/scalar.hpp"
#include "filigree/formats/dict_cds/dict_cds_matrix.hpp"

namespace Filigree::Impl {

/// The bits of a real number as a double, the same for all NaN and for both zeros.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t bits_of(const Real& value) {
  const double wide = static_cast<double>(static_cast<sum_t<Real>>(value));
  if (wide != wide) return 1;
  if (wide == 0) return 0;  // also for -0.0
  return bits_of_double(wide);
}

/// What element e of a block adds to the hash of the block: 0 for the value 0.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t hash_of_element(const Scalar& value, std::int64_t e,
                                                          std::uint64_t seed) {
  if (value == Scalar(0)) return 0;
  const std::uint64_t place = random_bits(static_cast<std::uint64_t>(e) + (seed << 32));
  if constexpr (is_complex_v<Scalar>)
    return random_bits(random_bits(bits_of(value.real()) + place) + bits_of(value.imag()));
  else
    return random_bits(bits_of(value) + place);
}

/// Calls source.visit_block(block_row, d, visit) for the place d * block_rows + block_row.
template <class Source, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void visit_place(const Source& source, std::int64_t place, const Visit& visit) {
  const std::int64_t d = place / source.block_rows;
  source.visit_block(place - d * source.block_rows, d, visit);
}

/// The place of an item. Neighbouring items are blocks of one block row, so that neighbouring lanes read
/// neighbouring entries of a CRS matrix.
template <class Source>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t place_of_item(const Source& source, std::int64_t item) {
  const std::int64_t block_row = item / source.diagonals;
  return (item - block_row * source.diagonals) * source.block_rows + block_row;
}

/// Writes the keys of all blocks, which are never 0.
template <class Source>
struct HashBlocks {
  Source source;
  std::uint64_t seed;
  std::uint64_t* keys;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t place = place_of_item(source, item);
    std::uint64_t hash = 0;
    visit_place(source, place, [&](std::int64_t e, const typename Source::scalar_type& value, std::int64_t) {
      hash += hash_of_element(value, e, seed);
    });
    keys[place] = hash == 0 ? 1 : hash;
  }
};

/// A hash table of the distinct keys. Its size is a power of two. A slot has a key and the first place with
/// this key. The key 0 marks an empty slot.
struct KeyTable {
  std::uint64_t* slots;
  std::int64_t* first_places;
  int* count;  ///< number of distinct keys
  std::uint64_t mask;

  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t slot_of(std::uint64_t key) const {
    std::uint64_t slot = key & mask;
    while (slots[slot] != key)
      slot = (slot + 1) & mask;
    return slot;
  }
};

/// Adds the keys of all places to a KeyTable. It stops if there are more than `most` distinct keys.
struct InsertKeys {
  const std::uint64_t* keys;
  KeyTable table;
  int most;

  /// Lanes write the table at the same time. A volatile read bypasses the L1 cache, which may hold an old
  /// value.
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T current(const T* value) {
    return *static_cast<const volatile T*>(value);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t place) const {
    if (current(table.count) > most) return;
    const std::uint64_t key = keys[place];
    std::uint64_t slot = key & table.mask;
    for (;; slot = (slot + 1) & table.mask) {
      std::uint64_t found = current(table.slots + slot);
      if (found == 0) {
        found = Kokkos::atomic_compare_exchange(table.slots + slot, std::uint64_t(0), key);
        if (found == 0) Kokkos::atomic_fetch_add(table.count, 1);
      }
      if (found == 0 || found == key) break;
      // The table may be full.
      if (current(table.count) > most) return;
    }
    // Most lanes find a smaller place and need no atomic.
    if (place < current(table.first_places + slot))
      Kokkos::atomic_fetch_min(table.first_places + slot, place);
  }
};

/// Writes the number of each block (Number) and the values of the distinct blocks (Fill), and compares all
/// blocks with the result (Verify).
template <class Source, class Index>
struct WriteDictionary {
  using scalar_type = typename Source::scalar_type;
  struct Number {};
  struct Fill {};
  struct Verify {};

  Source source;
  const std::uint64_t* keys;
  KeyTable table;
  const int* numbers;                ///< of the distinct block of each slot
  const std::int64_t* first_places;  ///< of the distinct blocks
  Index* indices;
  scalar_type* values;

  KOKKOS_FORCEINLINE_FUNCTION scalar_type* elements_of(std::int64_t block) const {
    return values + block * source.block_size * source.block_size;
  }

  KOKKOS_INLINE_FUNCTION void operator()(Number, const std::int64_t place) const {
    indices[place] = static_cast<Index>(numbers[table.slot_of(keys[place])]);
  }
  KOKKOS_INLINE_FUNCTION void operator()(Fill, const std::int64_t block) const {
    scalar_type* const elements = elements_of(block);
    visit_place(source, first_places[block],
                [&](std::int64_t e, const scalar_type& value, std::int64_t) { elements[e] = value; });
  }
  /// Finds the first place whose block differs from that of the dictionary.
  KOKKOS_INLINE_FUNCTION void operator()(Verify, const std::int64_t item, std::int64_t& first_bad) const {
    const std::int64_t place = place_of_item(source, item);
    const scalar_type* const elements = elements_of(static_cast<std::int64_t>(indices[place]));
    visit_place(source, place, [&](std::int64_t e, const scalar_type& value, std::int64_t) {
      if (place < first_bad && !are_equal(value, elements[e])) first_bad = place;
    });
  }
};

/// The distinct keys of a list.
template <class Device>
struct DistinctKeys {
  Kokkos::View<std::uint64_t*, Device> slots;
  Kokkos::View<std::int64_t*, Device> first_places_of_slots;
  Kokkos::View<int*, Device> numbers;                ///< of the distinct key of each slot
  Kokkos::View<std::int64_t*, Device> first_places;  ///< of the distinct keys, ascending
  KeyTable table = {};
  bool too_many = false;  ///< there are more than `most`; the other members are then of no use
};

/// Finds the distinct keys. They are numbered in the order in which they first occur. Takes 20 bytes per
/// slot, of which there are 2 to 4 times min(most, keys), and as much on the host. Fences exec.
template <class ExecutionSpace, class Device>
DistinctKeys<Device> find_distinct_keys(const ExecutionSpace& exec, const char* format,
                                        const Kokkos::View<std::uint64_t*, Device>& keys, int most) {
  DistinctKeys<Device> result;
  const auto key_count = static_cast<std::int64_t>(keys.extent(0));
  std::int64_t size = 1;
  while (size < 2 * std::min<std::int64_t>(key_count, most) + 2)
    size *= 2;
  result.slots = allocate_view<decltype(result.slots)>(exec, "slots", format, size);
  result.first_places_of_slots =
      allocate_view<decltype(result.first_places)>(exec, "first_places_of_slots", format, size);
  const auto count = allocate_view<Kokkos::View<int*, Device>>(exec, "key_count", format, 1);
  Kokkos::deep_copy(exec, result.slots, std::uint64_t(0));
  Kokkos::deep_copy(exec, result.first_places_of_slots, none_found);
  Kokkos::deep_copy(exec, count, 0);
  result.table = {result.slots.data(), result.first_places_of_slots.data(), count.data(),
                  static_cast<std::uint64_t>(size - 1)};
  Kokkos::parallel_for(label("insert_keys", format), row_range<void>(exec, key_count),
                       InsertKeys{keys.data(), result.table, most});
  const int found = read_element(exec, count, 0);
  result.too_many = found > most;
  if (result.too_many) return result;

  const auto host_places = host_copy(exec, result.first_places_of_slots);
  std::vector<std::int64_t> used;
  for (std::int64_t slot = 0; slot < size; ++slot)
    if (host_places(static_cast<std::size_t>(slot)) != none_found) used.push_back(slot);
  const auto first_place = [&](std::int64_t slot) { return host_places(static_cast<std::size_t>(slot)); };
  std::sort(used.begin(), used.end(),
            [&](std::int64_t p, std::int64_t q) { return first_place(p) < first_place(q); });
  result.numbers = allocate_view<decltype(result.numbers)>(exec, "numbers", format, size);
  result.first_places = allocate_view<decltype(result.first_places)>(exec, "first_places", format, found);
  const auto host_numbers = Kokkos::create_mirror_view(result.numbers);
  const auto host_first = Kokkos::create_mirror_view(result.first_places);
  for (std::size_t number = 0; number < used.size(); ++number) {
    host_numbers(static_cast<std::size_t>(used[number])) = static_cast<int>(number);
    host_first(number) = first_place(used[number]);
  }
  Kokkos::deep_copy(exec, result.numbers, host_numbers);
  Kokkos::deep_copy(exec, result.first_places, host_first);
  // The copies must end before the mirror Views are destroyed.
  exec.fence();
  return result;
}

/// Writes the numbers of all blocks and the distinct blocks. Returns the first place whose block differs from
/// that of the dictionary, or none_found. Fences exec.
template <class ExecutionSpace, class Source, class Keys, class Device, class Values, class Indices>
std::int64_t write_dictionary(const ExecutionSpace& exec, const char* format, const Source& source,
                              const Keys& keys, const DistinctKeys<Device>& distinct, const Values& values,
                              const Indices& indices) {
  using Write = WriteDictionary<Source, typename Indices::value_type>;
  const auto places = static_cast<std::int64_t>(keys.extent(0));
  const Write write{
      source,         keys.data(),  distinct.table, distinct.numbers.data(), distinct.first_places.data(),
      indices.data(), values.data()};
  Kokkos::parallel_for(label("number_blocks", format), row_range<typename Write::Number>(exec, places),
                       write);
  Kokkos::parallel_for(
      label("fill_dictionary", format),
      row_range<typename Write::Fill>(exec, static_cast<std::int64_t>(distinct.first_places.extent(0))),
      write);
  return find_first<typename Write::Verify>(exec, "verify_blocks", format, places, write);
}

/// The Views of a dictionary.
template <class Matrix>
struct BlockDictionary {
  typename Matrix::values_type values;
  typename Matrix::short_indices_type short_indices;
  typename Matrix::indices_type indices;
};

/// How many hash functions build_dictionary() tries, if different blocks have the same key. For 65536
/// distinct blocks, one hash function has a chance of 1e-10 to fail.
constexpr int most_seeds = 4;

/// The distinct blocks of a source and the number of each block. accept(count) is called with the number of
/// distinct blocks, or with -1 if there are more than `most`, and throws if that is too many. If is_wide is
/// true, the numbers are in `indices` whatever their count. Takes 8 bytes per block besides the result, and
/// at most 10 MB. Fences exec. Throws std::runtime_error if the blocks of the source change.
template <class Matrix, class ExecutionSpace, class Source, class Accept>
BlockDictionary<Matrix> build_dictionary(const ExecutionSpace& exec, const char* function,
                                         const Source& source, int most, bool is_wide, const Accept& accept) {
  const char* const format = Matrix::name();
  BlockDictionary<Matrix> result;
  const std::int64_t places = source.block_rows * source.diagonals;
  if (places == 0) return result;
  const auto keys =
      allocate_view<Kokkos::View<std::uint64_t*, typename Matrix::device_type>>(exec, "keys", format, places);
  std::int64_t bad_place = none_found;
  for (int seed = 0; seed < most_seeds; ++seed) {
    Kokkos::parallel_for(label("hash_blocks", format), row_range<void>(exec, places),
                         HashBlocks<Source>{source, static_cast<std::uint64_t>(seed), keys.data()});
    const auto distinct = find_distinct_keys(exec, format, keys, most);
    const auto count = static_cast<std::int64_t>(distinct.first_places.extent(0));
    accept(distinct.too_many ? std::int64_t(-1) : count);
    result.values = allocate_view<typename Matrix::values_type>(
        exec, "values", format, count * source.block_size * source.block_size);
    const auto write = [&](auto& indices, const char* name) {
      if (indices.extent(0) == 0)
        indices = allocate_view<std::decay_t<decltype(indices)>>(exec, name, format, places);
      bad_place = write_dictionary(exec, format, source, keys, distinct, result.values, indices);
    };
    if (is_wide || count > DictCdsOptions::most_short_blocks) {
      result.short_indices = {};  // the seed before may have found another number of blocks
      write(result.indices, "indices");
    } else {
      result.indices = {};
      write(result.short_indices, "short_indices");
    }
    if (bad_place == none_found) return result;
  }
  fail<std::runtime_error>(
      function, ": the block of block row ", bad_place % source.block_rows, " on block diagonal ",
      bad_place / source.block_rows,
      " changed while it was compared with other blocks; the coefficients of a grid must be "
      "the same each time.");
}

}  // namespace Filigree::Impl
