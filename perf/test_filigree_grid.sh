#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests the files that filigree_grid writes, the flags that it refuses, and the output of filigree_read.
set -euo pipefail
grid=$1
spmv=$2
read=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_filigree_grid: $*" >&2; exit 1; }

"$grid" --grid=6x5x4 --dof=2 --boundary=wrap,drop,clamp --out="$work/grid.mtx" > "$work/out"
grep -Eq '^7pt_6x5x4_dof2_wrap,drop,clamp: assembled as CRS in .* s, as CDS in .* s; CDS takes [0-9]+ bytes' "$work/out" ||
  fail "the first line is: $(head -n 1 "$work/out")"
tail -n 1 "$work/out" | grep -q "grid.mtx: 240 x 240, 2928 entries" || fail "the last line is: $(tail -n 1 "$work/out")"
[ "$(sed -n 2p "$work/grid.mtx")" = "240 240 2928" ] || fail "the size line is: $(sed -n 2p "$work/grid.mtx")"
"$grid" --grid=6x5x4 --dof=2 --boundary=wrap,drop,clamp --out="$work/again.mtx.gz" > /dev/null
gzip -dc "$work/again.mtx.gz" | cmp - "$work/grid.mtx" || fail "the compressed file has a different content"
"$spmv" --matrix="$work/grid.mtx" --dof=2 --format=cds --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -q '^spmv/cds/double/grid/' "$work/out" || fail "filigree_spmv cannot measure the file"

"$grid" --grid=4 --coefficients=laplacian --out="$work/line.mtx" > /dev/null
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '4 4 10' '1 1 2' '1 2 -1' '2 1 -1' '2 2 2' '2 3 -1' \
  '3 2 -1' '3 3 2' '3 4 -1' '4 3 -1' '4 4 2' | cmp - "$work/line.mtx" || fail "the Laplacian differs from the expected file"
"$grid" --grid=9x9 --coefficients=random --seed=5 --out="$work/random.mtx" > /dev/null
"$grid" --grid=9x9 --coefficients=random --seed=6 --out="$work/other.mtx" > /dev/null
if cmp -s "$work/random.mtx" "$work/other.mtx"; then fail "two seeds give the same matrix"; fi

for bad in --grid=4 "--grid=4 --out=/nonexistent/a.mtx" "--out=$work/a.mtx --coefficients=none" \
  "--out=$work/a.mtx --unknown" "--out=$work/a.mtx --seed=0"; do
  # shellcheck disable=SC2086
  if "$grid" $bad > "$work/out" 2> "$work/err"; then fail "$bad was accepted"; fi
  grep -q '^filigree_grid: ' "$work/err" || fail "$bad was refused without a message"
done

"$read" --entries=2000 --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -q '^read/kokkos_kernels' "$work/out" || fail "filigree_read does not measure Kokkos Kernels"
tail -n 1 "$work/out" | grep -Eq '^filigree reads .* MB/s, .* times as fast as Kokkos Kernels' ||
  fail "the last line of filigree_read is: $(tail -n 1 "$work/out")"
"$read" --matrix="$work/again.mtx.gz" --benchmark_min_time=0.001 > "$work/out" 2> "$work/err"
grep -q '^read/filigree' "$work/out" || fail "filigree_read cannot read a compressed file"
for bad in --entries=0 --entries=x --matrix=/nonexistent.mtx --unknown; do
  if "$read" $bad > "$work/out" 2> "$work/err"; then fail "filigree_read accepted $bad"; fi
done
echo "test_filigree_grid: passed"
