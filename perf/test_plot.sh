#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests plots/plot.py on the JSON of a small run of filigree_spmv. Its arguments are plot.py and filigree_spmv. Without
# matplotlib it tests only the errors and ends with exit code 77, which means that the pictures were not tested.
set -euo pipefail
plot=$1
tool=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_plot: $*" >&2; exit 1; }
for python in "${PYTHON:-python3}" /usr/bin/python3; do
  command -v "$python" > /dev/null || continue
  if "$python" -c 'import matplotlib' 2> /dev/null; then break; fi
done

{ echo '%%MatrixMarket matrix coordinate real general'; echo '200 200 399'
  for i in $(seq 200); do echo "1 $i $i.5"; done
  for i in $(seq 2 200); do echo "$i $i 1"; done; } > "$work/arrow.mtx"
"$tool" --matrix="$work/arrow.mtx" --format=ell,coo,hec --benchmark_min_time=0.001 --benchmark_out="$work/arrow.json" \
  > /dev/null 2> "$work/err"
"$tool" --grid=6x5x4 --dof=2 --format=cds --benchmark_min_time=0.001 --benchmark_out="$work/grid.json" > /dev/null 2> "$work/err"

# Files that filigree_spmv did not write are refused with the reason. Nothing is drawn.
echo '{}' > "$work/empty.json"
sed '/"device"/d' "$work/grid.json" > "$work/nowhere.json"
sed 's/"speedup_vs_kokkos_kernels"/"speed"/' "$work/grid.json" > "$work/old.json"
for bad in "nothing.json cannot be read" "empty.json is not a JSON file" "arrow.mtx is not a JSON file" \
  "nowhere.json does not say its device" "old.json has no speedup_vs_kokkos_kernels"; do
  if "$python" "$plot" bars "$work/${bad%% *}" --out="$work/bad" > "$work/out" 2> "$work/err"; then fail "$bad: accepted"; fi
  grep -q "^plot.py: .*$bad" "$work/err" || fail "instead of \"$bad\": $(cat "$work/err")"
done
if [ -e "$work/bad.png" ]; then fail "a picture of a wrong file"; fi
if "$python" "$plot" > /dev/null 2>&1; then fail "no subcommand was accepted"; fi

if ! "$python" -c 'import matplotlib' 2> /dev/null; then
  if "$python" "$plot" bars "$work/grid.json" --out="$work/none" 2> "$work/err"; then fail "drawn without matplotlib"; fi
  grep -q 'apt install python3-matplotlib' "$work/err" || fail "it does not say how to get matplotlib: $(cat "$work/err")"
  echo "test_plot: there is no matplotlib, so no picture was tested"
  exit 77
fi

"$python" "$plot" bars "$work/arrow.json" "$work/grid.json" --out="$work/both" --title='Two problems' > "$work/out"
printf '%s\n' "$work/both.png" "$work/both.svg" | cmp - "$work/out" || fail "it does not print the paths"
[ "$(head -c 8 "$work/both.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "no PNG"
# The SVG has each text as a comment.
device=$(sed -n 's/^ *"device": "\(.*\)",$/\1/p' "$work/grid.json")
for text in 'Two problems' 'arrow, double' '200 rows, 399 entries' '7pt_6x5x4_dof2, double' kokkos_kernels coo hec cds refused \
  'quartiles' 'speed relative to Kokkos Kernels'; do
  grep -q "<!-- .*$text" "$work/both.svg" || fail "the picture does not say \"$text\""
done
grep -qF "<!-- $device" "$work/both.svg" || fail "the caption does not name the device \"$device\""
grep -Eq '<!-- noise \([0-9.]+ %' "$work/both.svg" || fail "the legend does not give the noise"
grep -Eq '<!-- [0-9.]+ (ms|µs) -->' "$work/both.svg" || fail "the picture has no times with units"
[ "$(grep -c '<!-- refused -->' "$work/both.svg")" = 1 ] || fail "ell is not shown as refused"
# The same data gives the same file.
cp "$work/both.svg" "$work/first.svg"
"$python" "$plot" bars "$work/arrow.json" "$work/grid.json" --out="$work/both" --title='Two problems' > /dev/null
cmp "$work/both.svg" "$work/first.svg" || fail "two runs give different pictures"
echo "test_plot: passed"
