#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests the flags and the table of filigree_ellrt. It does not check the times.
set -euo pipefail
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_filigree_ellrt: $*" >&2; exit 1; }

printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 5' '1 1 1' '1 2 1' '2 2 1' '3 1 1' '3 3 1' \
  > "$work/small.mtx"
printf '%s\n' '%%MatrixMarket matrix coordinate complex general' '1 1 1' '1 1 1 1' > "$work/complex.mtx"
"$tool" --help | grep -q -- '--multiprocessors=N' || fail "--help does not show --multiprocessors"
"$tool" --multiprocessors=30 --entries=50 "$work" > "$work/out"
# The matrix is repeated ten times. The columns are rows, entries, mean row length and its deviation in percent.
grep -Eq '^small_x10 +30 +50 +1\.7 +28\.3 ' "$work/out" || fail "no line for the matrix: $(cat "$work/out")"
grep -q '^complex: not measured: ' "$work/out" || fail "no message about the complex matrix: $(cat "$work/out")"
for model in half_warps sectors; do
  grep -Eq "^$model: mean [0-9.]+ % of the best launch's speed, of 1 matrices" "$work/out" || fail "no mean for $model"
done
for bad in --entries=none --multiprocessors=0 --unknown "$work/nowhere.mtx" "$work/complex.mtx"; do
  if "$tool" --multiprocessors=30 "$bad" > "$work/out" 2> "$work/err"; then fail "$bad was accepted"; fi
  grep -q '^filigree_ellrt: ' "$work/err" || fail "$bad was refused without a message"
done
echo "test_filigree_ellrt: passed"
