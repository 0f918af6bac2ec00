#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests the output of filigree_spmv that other programs may read: names, counters, the table and the exit code.
set -euo pipefail
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_filigree_spmv: $*" >&2; exit 1; }
# The last line of a file is the recommendation.
recommends() {
  tail -n 1 "$1" | grep -Eq "^(use ${2:-[a-z0-9_]+}: [0-9.]+ times as fast as|stay with) Kokkos Kernels' CRS" ||
    fail "the last line is: $(tail -n 1 "$1")"
}

for scalar in float double complex_float complex_double; do
  "$tool" --grid=6x5x4 --stencil=7pt --dof=3 --scalar=$scalar --benchmark_min_time=0.001 \
    --benchmark_out="$work/$scalar.json" --benchmark_out_format=json > "$work/out" 2> "$work/err"
  for format in crs crs_balanced coo ell sell hyb hec jds dia cds bell; do
    grep -q "\"name\": \"spmv/$format/$scalar/7pt_6x5x4_dof3/manual_time\"" "$work/$scalar.json" ||
      fail "no benchmark of $format in $scalar"
  done
  grep -q "\"name\": \"spmv/kokkos_kernels/$scalar/7pt_6x5x4_dof3/manual_time\"" "$work/$scalar.json" ||
    fail "no benchmark of Kokkos Kernels in $scalar"
  for counter in storage_MB GFLOPs GBps fraction_of_read fits_cache lower_quartile_ms median_ms upper_quartile_ms \
    speedup_vs_kokkos_kernels speedup_lower_quartile speedup_upper_quartile pairs noise max_rel_error conversion_ms \
    conversion_in_products refill_ms refill_in_products break_even_products; do
    grep -q "\"$counter\"" "$work/$scalar.json" || fail "no counter $counter"
  done
  grep -Eq '"entries": "6228"' "$work/$scalar.json" || fail "the JSON has no number of entries"
  for key in problem flags rows columns block_size crs_MB device backend host_threads read_bandwidth_GBps \
    last_level_cache_MB filigree_version kokkos_version kokkos_kernels_version compiler; do
    grep -Eq "\"$key\": \".+\"" "$work/$scalar.json" || fail "no $key in the context"
  done
  recommends "$work/out"
done

# The formats of symmetric matrices are measured only on demand. The default coefficients are not symmetric.
"$tool" --grid=6x5x4 --dof=2 --symmetric --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -q '^7pt_6x5x4_dof2_symmetric in double: ' "$work/out" || fail "the name does not say symmetric"
grep -Eq '^sym_cds +[0-9.]+ ' "$work/out" || fail "--symmetric does not measure sym_cds"
"$tool" --grid=6x5x4 --dof=2 --format=cds,sym_cds --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -q '^sym_cds is not measured: .*the matrix is not symmetric' "$work/out" || fail "sym_cds is not refused"

# Mixed rows have the same entries on more diagonals. Of 1001 rows the last group has one.
"$tool" --grid=1001 --format=dia,crs --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -Eq '^dia +[0-9.]+ ' "$work/out" || fail "dia is not measured: $(cat "$work/out")"
"$tool" --grid=1001 --format=dia,crs --mix-rows --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -q '^3pt_1001_dof1_mixed in double: 1001 rows, 1001 columns, 3001 entries' "$work/out" ||
  fail "--mix-rows changes the number of entries: $(cat "$work/out")"
grep -Eq '^dia is not measured: .*1[0-9] diagonals' "$work/out" || fail "--mix-rows does not mix: $(cat "$work/out")"

# Each format is also measured with narrower values. The recommendation does not name them.
"$tool" --grid=6x5x4 --dof=2 --symmetric --format=cds,sell --store=float --benchmark_min_time=0.001 \
  --benchmark_out="$work/stored.json" > "$work/out" 2> "$work/err"
grep -Eq '^cds_float +[0-9.]+ ' "$work/out" || fail "--store=float does not measure cds_float"
grep -Eq '^sell +[0-9.]+ ' "$work/out" || fail "--store=float does not measure sell"
grep -Eq "^with values stored in float, (cds|sell)_float is [0-9.]+ times as fast as Kokkos Kernels' CRS; entries were rounded by up to [0-9.]+e-08 of their value$" \
  "$work/out" || fail "no line about stored values: $(cat "$work/out")"
grep -q '"largest_rounding": ' "$work/stored.json" || fail "the JSON has no rounding"
recommends "$work/out" "(crs|cds|sell)"

# Several columns of x, in both layouts. They are in the name, and count in the operations.
for layout in left right; do
  for scalar in float double; do
    "$tool" --grid=6x5x4 --dof=2 --scalar=$scalar --columns=3 --layout=$layout --format=cds,sell,crs,coo,auto \
      --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
    for format in cds sell crs coo auto; do
      grep -q "^spmv/$format/$scalar/7pt_6x5x4_dof2_columns3_$layout" "$work/out" || fail "no columns of $format: $(cat "$work/err")"
    done
  done
done
if "$tool" --grid=6x5x4 --columns=2 --scalar=complex_double > "$work/out" 2> "$work/err"; then
  fail "complex numbers with several columns are accepted"
fi
grep -q 'needs --scalar=float or double, but --scalar is complex_double' "$work/err" || fail "columns: $(cat "$work/err")"
if "$tool" --grid=6x5x4 --columns=2 --store=float > "$work/out" 2> "$work/err"; then
  fail "--store with several columns is accepted"
fi
grep -q 'needs --columns=1, but --columns is 2' "$work/err" || fail "store: $(cat "$work/err")"
if "$tool" --grid=6x5x4 --layout=right > "$work/out" 2> "$work/err"; then fail "--layout without --columns is accepted"; fi

# The header, the row of Kokkos Kernels and the legend.
"$tool" --grid=6x5x4 --format=cds --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -q '^7pt_6x5x4_dof1 in double: 120 rows, 120 columns, 692 entries; CRS takes ' "$work/out" || fail "no header"
grep -Eq '^.+, backend .+, host threads [0-9]+; reads [0-9.]+ GB/s' "$work/out" || fail "no machine in the header"
grep -Eq '^Filigree .+, Kokkos .+, Kokkos Kernels .+, ' "$work/out" || fail "no versions in the header"
grep -Eq '^kokkos_kernels +[0-9.]+ +[0-9.]+ +[0-9.]+-[0-9.]+ ' "$work/out" || fail "no row of Kokkos Kernels"
grep -q '^pays after   number of products' "$work/out" || fail "no legend"
if ! grep -q 'of unknown size' "$work/out"; then
  grep -Eq '^cds .* in cache ' "$work/out" || fail "a small matrix is not in the cache: $(cat "$work/out")"
fi

# A file without --matrix= is refused.
if "$tool" "$work/matrix.mtx" 2> "$work/err"; then fail "a file without a flag is accepted"; fi
grep -q "^filigree_spmv: \"$work/matrix.mtx\" is not a flag; a file is given as --matrix=$work/matrix.mtx. --help " "$work/err" ||
  fail "a file without a flag: $(cat "$work/err")"

# Without arguments it prints its help and measures nothing.
"$tool" > "$work/out"
grep -q -- '--grid=XxYxZ' "$work/out" || fail "without arguments there is no help"
if grep -q '^spmv/' "$work/out"; then fail "without arguments it measures"; fi

# Each variant has its own name. --variants measures all, --format the named ones.
"$tool" --grid=6x5x4 --dof=3 --variants --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
for format in sell sell_short jds_ell ellpack ellr_t8 crs_lanes32 hyb_least_bytes hec_third_of_rows; do
  grep -q "^spmv/$format/double/" "$work/out" || fail "--variants has no $format"
done
"$tool" --grid=6x5x4 --format=ellr_t4,sell_sorted --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
[ "$(grep -c '^spmv/' "$work/out")" = 3 ] || fail "two names do not give two benchmarks and that of Kokkos Kernels"

# The name of a benchmark describes the grid.
for grid in "--grid=40 3pt_40_dof1" "--grid=6x5 --stencil=9pt --dof=2 9pt_6x5_dof2" \
  "--grid=6x5x4 --stencil=27pt --boundary=wrap,drop,clamp 27pt_6x5x4_dof1_wrap,drop,clamp" \
  "--grid=6x5 --boundary=constant:0:1 5pt_6x5_dof1_constant:0:1"; do
  # shellcheck disable=SC2086
  "$tool" ${grid% *} --format=crs --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
  grep -q "^spmv/crs/double/${grid##* }/manual_time" "$work/out" || fail "no benchmark ${grid##* }"
done

# A matrix with one long row: ELL refuses it, and the program continues.
{ echo '%%MatrixMarket matrix coordinate real general'; echo '200 200 399'
  for i in $(seq 200); do echo "1 $i $i.5"; done
  for i in $(seq 2 200); do echo "$i $i 1"; done; } > "$work/arrow.mtx"
"$tool" --matrix="$work/arrow.mtx" --benchmark_min_time=0.001 --benchmark_out="$work/arrow.json" \
  --benchmark_out_format=json > "$work/out" 2> "$work/err"
grep -Eq '^ell is not measured: .*longest row has 200 entries' "$work/out" || fail "no reason for the refusal of ell"
if grep -q '^spmv/ell/' "$work/out"; then fail "the refused format is among the benchmarks"; fi
# Refused formats are in the JSON too, with the reason.
grep -A 10 '"name": "spmv/ell/double/arrow"' "$work/arrow.json" | grep -q 'longest row has 200 entries' ||
  fail "the JSON does not say why ell is refused"
grep -q 'spmv/crs/double/arrow' "$work/out" || fail "no benchmark of crs for the file"

# --format=auto measures the format that optimize() picks, with the other named formats or with all.
"$tool" --grid=12x12 --dof=2 --format=auto,crs,cds --benchmark_min_time=0.001 --benchmark_out="$work/auto.json" \
  > "$work/out" 2> "$work/err"
grep -q '"flags": "--grid=12x12 --stencil=5pt --dof=2"' "$work/auto.json" || fail "the JSON does not give the flags"
grep -q '"label": "'"$(sed -n 's/^auto picked \(.*\): .*/\1/p' "$work/out")"'"' "$work/auto.json" ||
  fail "the JSON does not name the pick"
grep -q '"predicted_ms": ' "$work/auto.json" || fail "the JSON has no prediction"
[ "$(grep -c '^spmv/' "$work/out")" = 4 ] || fail "auto and two names do not give three benchmarks and that of Kokkos Kernels"
grep -Eq '^auto picked [a-z0-9_]+: predicted [0-9.]+ ms, measured [0-9.]+ ms, [0-9.]+ of the best format.s speed$' \
  "$work/out" || fail "no line about the picked format: $(cat "$work/out")"
recommends "$work/out" "(crs|cds)"
"$tool" --grid=12x12 --format=auto --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -q '^spmv/sell_sorted_short/' "$work/out" || fail "auto does not measure all variants"

# With JSON on stdout the table goes to stderr.
"$tool" --grid=8x8 --format=cds --benchmark_min_time=0.001 --benchmark_format=json > "$work/out" 2> "$work/err"
tail -n 1 "$work/out" | grep -q '^}$' || fail "the table is on stdout, in the JSON"
recommends "$work/err" cds

# A filter that excludes Kokkos Kernels does not remove the comparison.
"$tool" --grid=8x8 --format=cds,dia --benchmark_filter=dia --benchmark_min_time=0.001 \
  --benchmark_out="$work/filtered.json" > "$work/out" 2> "$work/err"
grep -Eq '^kokkos_kernels +[0-9]' "$work/out" || fail "the filter removes the row of Kokkos Kernels"
grep -q '^cds is not measured: --benchmark_filter excludes it' "$work/out" || fail "no message about the filter"
grep -Eq '"noise": [0-9.e+-]*[1-9]' "$work/filtered.json" || fail "no noise with a filter: $(grep noise "$work/filtered.json")"

# An unknown name is refused before a matrix is made. The message lists the known names.
if "$tool" --grid=4000x4000x4000 --format=cds,unknown > "$work/out" 2> "$work/err"; then fail "unknown was accepted"; fi
grep -q '^filigree_spmv: --format: unknown not in {crs,.*,cds' "$work/err" || fail "no list of names: $(cat "$work/err")"

# Wrong arguments end with a message and a nonzero exit code.
for bad in --grid=0x4 --grid=4x4x4x4 --grid= --stencil=9pt --stencil=8pt --boundary=wall --boundary=constant \
  --boundary=constant:1 --boundary=wrap:1 --boundary=drop,drop,drop,drop --boundary=wrap,clamp '--boundary=wrap,' \
  --boundary=constant:0:1: --grid=64x64x "--grid=2x2 --boundary=wrap" --dof=none --scalar=half --format=unknown --matrix=/nonexistent.mtx \
  --unknown=1 --store=int "--store=float --scalar=float" "--grid=4x4 --stencil=7pt"; do
  # shellcheck disable=SC2086
  if "$tool" $bad > "$work/out" 2> "$work/err"; then fail "$bad was accepted"; fi
  [ -s "$work/err" ] || fail "$bad was refused without a message"
done
echo "test_filigree_spmv: passed"
