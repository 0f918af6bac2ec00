#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests the output of filigree_spmv that other programs may read: names, counters, the table and the exit code.
set -euo pipefail
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_filigree_spmv: $*" >&2; exit 1; }

for scalar in float double complex_float complex_double; do
  "$tool" --grid=6x5x4 --stencil=7pt --dof=3 --scalar=$scalar --benchmark_min_time=0.001 \
    --benchmark_out="$work/$scalar.json" --benchmark_out_format=json > "$work/out" 2> "$work/err"
  for format in crs crs_balanced coo ell sell hyb hec jds dia cds bell; do
    grep -q "\"name\": \"spmv/$format/$scalar/7pt_6x5x4_dof3/manual_time\"" "$work/$scalar.json" ||
      fail "no benchmark of $format in $scalar"
  done
  for counter in storage_MB GFLOPs GBps fraction_of_read speedup_vs_kokkos_kernels max_rel_error \
    conversion_in_products; do
    grep -q "\"$counter\"" "$work/$scalar.json" || fail "no counter $counter"
  done
  tail -n 1 "$work/out" | grep -Eq '^use [a-z_]+$' || fail "the last line is: $(tail -n 1 "$work/out")"
done

# Each variant has its own name. --variants measures all, --format the named ones.
"$tool" --grid=6x5x4 --dof=3 --variants --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
for format in sell sell_short jds_ell ellpack ellr_t8 crs_lanes32 hyb_least_bytes hec_third_of_rows; do
  grep -q "^spmv/$format/double/" "$work/out" || fail "--variants has no $format"
done
"$tool" --grid=6x5x4 --format=ellr_t4,sell_sorted --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
[ "$(grep -c '^spmv/' "$work/out")" = 2 ] || fail "two names do not give two benchmarks"

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
"$tool" --matrix="$work/arrow.mtx" --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -Eq '^ell .*longest row has 200 entries' "$work/out" || fail "no reason for the refusal of ell"
grep -q 'spmv/crs/double/arrow' "$work/out" || fail "no benchmark of crs for the file"

# --format=auto measures the format that optimize() picks, with the other named formats or with all.
"$tool" --grid=12x12 --dof=2 --format=auto,crs,cds --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
[ "$(grep -c '^spmv/' "$work/out")" = 3 ] || fail "auto and two names do not give three benchmarks"
grep -Eq '^auto picked [a-z0-9_]+: predicted [0-9.]+ ms, measured [0-9.]+ ms, [0-9.]+ of the best format.s speed$' \
  "$work/out" || fail "no line about the picked format: $(cat "$work/out")"
grep -Eq '^use (crs|cds)$' "$work/out" || fail "the best format is none of the named formats"
"$tool" --grid=12x12 --format=auto --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -q '^spmv/sell_sorted_short/' "$work/out" || fail "auto does not measure all variants"

# With JSON on stdout the table goes to stderr.
"$tool" --grid=8x8 --format=cds --benchmark_min_time=0.001 --benchmark_format=json > "$work/out" 2> "$work/err"
tail -n 1 "$work/out" | grep -q '^}$' || fail "the table is on stdout, in the JSON"
grep -q '^use cds$' "$work/err" || fail "no table on stderr"

# An unknown name is refused before a matrix is made. The message lists the known names.
if "$tool" --grid=4000x4000x4000 --format=cds,unknown > "$work/out" 2> "$work/err"; then fail "unknown was accepted"; fi
grep -q '^filigree_spmv: --format: unknown not in {crs,.*,cds' "$work/err" || fail "no list of names: $(cat "$work/err")"

# Wrong arguments end with a message and a nonzero exit code.
for bad in --grid=0x4 --grid=4x4x4x4 --grid= --stencil=9pt --stencil=8pt --boundary=wall --boundary=constant \
  --boundary=constant:1 --boundary=wrap:1 --boundary=drop,drop,drop,drop --boundary=wrap,clamp '--boundary=wrap,' \
  --boundary=constant:0:1: --grid=64x64x "--grid=2x2 --boundary=wrap" --dof=none --scalar=half --format=unknown --matrix=/nonexistent.mtx \
  --unknown=1 "--grid=4x4 --stencil=7pt"; do
  # shellcheck disable=SC2086
  if "$tool" $bad > "$work/out" 2> "$work/err"; then fail "$bad was accepted"; fi
  [ -s "$work/err" ] || fail "$bad was refused without a message"
done
echo "test_filigree_spmv: passed"
