#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests the flags and the table of filigree_ellpack. It does not check the times. test_run_all.py checks the JSON.
set -euo pipefail
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_filigree_ellpack: $*" >&2; exit 1; }

mkdir "$work/m"
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 5' '1 1 1' '1 2 1' '2 2 1' '3 1 1' '3 3 1' \
  > "$work/m/small.mtx"
printf '%s\n' '%%MatrixMarket matrix coordinate complex general' '1 1 1' '1 1 1 1' > "$work/m/complex.mtx"
"$tool" --help | grep -q -- '--multiprocessors=N' || fail "--help does not show --multiprocessors"
"$tool" --quick --multiprocessors=30 --entries=50 --matrix="$work/m" --out="$work/small.json" > "$work/out"
# The matrix is repeated ten times. The columns are rows, entries, mean row length and its deviation in percent.
grep -Eq '^small +30 +50 +1\.7 +28\.3 ' "$work/out" || fail "no line for the matrix: $(cat "$work/out")"
grep -q '^complex: not measured: ' "$work/out" || fail "no message about the complex matrix: $(cat "$work/out")"
for model in half_warps sectors; do
  grep -Eq "^$model: mean [0-9.]+ % of the best launch's speed, of 1 matrices" "$work/out" || fail "no mean for $model"
done
grep -q '"name": "ellpack/all/double/complex"' "$work/small.json" || fail "the JSON does not have the refused file"

# The matrices of the paper: files of a folder, which may be compressed or have another name, and generated ones.
# The file of qcd5_4 is complex; its real parts are taken. A file with other rows than the table is another matrix.
tridiagonal() {
  echo "%%MatrixMarket matrix coordinate $1 general"
  echo "$2 $2 $((2 * $2 - 1))"
  awk -v rows="$2" -v imaginary="${3:-}" 'BEGIN { for (i = 1; i <= rows; ++i) { print i, i, 2, imaginary; if (i > 1) print i, i - 1, 1, imaginary } }'
}
tridiagonal real 1484 > "$work/m/qh1484.mtx"
tridiagonal real 206500 | gzip > "$work/m/mac_econ_fwd500.mtx.gz"
tridiagonal complex 49152 7 | gzip > "$work/m/conf5_4-8x8-05.mtx.gz"
tridiagonal real 3 > "$work/m/dense2.mtx"
"$tool" --quick --table="$work/m" --out="$work/table.json" > "$work/out"
grep -Eq '^qh1484 +1484 +2967 ' "$work/out" || fail "qh1484 is not measured: $(cat "$work/out")"
grep -Eq '^mac_econ +206500 +412999 ' "$work/out" || fail "mac_econ is not found under its other name: $(cat "$work/out")"
grep -Eq '^qcd5_4 +49152 +98303 ' "$work/out" || fail "the complex file of qcd5_4 is not measured: $(cat "$work/out")"
grep -q '^dense2: not measured: .*dense2.mtx has 3 rows, but dense2 of the paper has 2000;' "$work/out" ||
  fail "another matrix is taken for dense2: $(cat "$work/out")"
[ "$(grep -c ': not measured: it is not in ' "$work/out")" = 17 ] || fail "not all missing files are listed: $(cat "$work/out")"
grep -q '"error_message": "it is not in ' "$work/table.json" || fail "the JSON does not have the missing files"

for bad in --entries=none --multiprocessors=0 --unknown "--matrix=$work/nowhere.mtx" "--matrix=$work/m/complex.mtx" \
  --table="$work/nowhere" --benchmark_out=x.json "--generated --out=$work/nowhere/x.json"; do
  # shellcheck disable=SC2086
  if "$tool" --quick $bad > "$work/out" 2> "$work/err"; then fail "$bad was accepted"; fi
  grep -q '^filigree_ellpack: ' "$work/err" || fail "$bad was refused without a message"
done
if "$tool" --quick > "$work/out" 2> "$work/err"; then fail "nothing to measure was accepted"; fi
grep -q 'there is nothing to measure' "$work/err" || fail "nothing to measure: $(cat "$work/err")"
echo "test_filigree_ellpack: passed"
