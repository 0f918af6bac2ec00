#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests the flags and the table of filigree_select. It does not check the times.
set -euo pipefail
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_filigree_select: $*" >&2; exit 1; }

printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 5' '1 1 1' '1 2 1' '2 2 1' '3 1 1' '3 3 1' \
  > "$work/small.mtx"
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '2 2 0' > "$work/empty.mtx"
"$tool" --help | grep -q -- '--generated' || fail "--help does not show --generated"
"$tool" --entries=500 --all "$work" > "$work/out"
# The matrix is repeated a hundred times. The columns are rows, entries, picked format, two times, best format,
# its time, two ratios and the cost of the selection.
grep -Eq '^small +300 +500 +[a-z0-9_]+ +[0-9.]+ +[0-9.]+ +[a-z0-9_]+ +[0-9.]+ +[0-9.]+ +(-|[0-9.]+) +[0-9.]+$' \
  "$work/out" || fail "no line for the matrix: $(cat "$work/out")"
grep -q '^empty: not measured: ' "$work/out" || fail "no message about the matrix without entries: $(cat "$work/out")"
for format in crs crs_balanced coo ell sell sell_sorted_short hyb hec jds; do
  grep -Eq "^  $format +[0-9.]+ +[0-9.]+ +[0-9.]+ MB$" "$work/out" || fail "no line for $format"
done
grep -Eq "^of the best format's speed: mean [0-9.]+, tenth percentile [0-9.]+, worst [0-9.]+, of 1 matrices, 1 not measured" \
  "$work/out" || fail "no summary: $(cat "$work/out")"
"$tool" --entries=500 --scalar=float --warm "$work/small.mtx" > "$work/out"
grep -q '^small ' "$work/out" || fail "no line for the matrix in float with warm caches: $(cat "$work/out")"
"$tool" --entries=500 --time-best "$work/small.mtx" > "$work/out"
grep -Eq "^of the best format's speed: .* of 1 matrices, 0 not measured" "$work/out" ||
  fail "no summary with --time-best: $(cat "$work/out")"
"$tool" --entries=500 --mix-rows "$work/small.mtx" > "$work/out"
grep -Eq '^small +300 +500 ' "$work/out" || fail "no line for the matrix with mixed rows: $(cat "$work/out")"
for bad in --scalar=half --entries=none --seconds=1 --unknown "$work/nowhere.mtx" "$work/empty.mtx"; do
  if "$tool" "$bad" > "$work/out" 2> "$work/err"; then fail "$bad was accepted"; fi
  grep -q '^filigree_select: ' "$work/err" || fail "$bad was refused without a message"
done
echo "test_filigree_select: passed"
