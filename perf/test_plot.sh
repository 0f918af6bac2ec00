#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests plots/plot.py on the JSON of a small run of filigree_spmv, and the table of README.md on the published JSON. Its
# arguments are plot.py and filigree_spmv. Without matplotlib it tests neither the pictures nor the overview, and ends with
# exit code 77.
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

# README.md has the table of the published results.
root=$(dirname "$plot")/../..
"$python" "$plot" table "$root"/perf/results/h200/products/*.json > "$work/table"
grep -Fxf "$work/table" "$root/README.md" | cmp - "$work/table" ||
  fail "README.md does not have the table of perf/results/README.md: $(cat "$work/table")"

# Two runs are compared. change FILE CODE writes FILE to $work/after, after CODE has changed its `run`.
mkdir "$work/before" "$work/after"
cp "$work/grid.json" "$work/arrow.json" "$work/before"
change() {
  cp "$work/before/arrow.json" "$work/after"
  "$python" - "$work/before/$1" "$work/after/$1" "$2" <<- 'END'
	import json, sys
	with open(sys.argv[1]) as file:
	    run = json.load(file)
	time = {one["name"].split("/")[1]: one for one in run["benchmarks"]}
	exec(sys.argv[3])
	with open(sys.argv[2], "w") as file:
	    json.dump(run, file)
	END
}
compare() { "$python" "$plot" compare "$@" "$work/before" "$work/after" > "$work/out" 2> "$work/err"; }
change grid.json ''
compare || fail "a run is slower than itself: $(cat "$work/err")"
[ "$(grep -c '| 1.00 |$' "$work/out")" = 5 ] || fail "equal runs: $(cat "$work/out")"
on_gpu='run["context"].update(backend="Cuda", device="A GPU", read_bandwidth_GBps="100")'
change grid.json "$on_gpu"
cp "$work/after/grid.json" "$work/before"
change grid.json "$on_gpu; run['context']['read_bandwidth_GBps'] = '125'; time['cds']['median_ms'] *= 2"
if compare; then fail "a slower product is no error"; fi
grep -q '^plot.py: the corrected ratio of 1 of 3 products .* is above 1.05; the largest is 2.50, of cds for grid$' "$work/err" || fail "slower: $(cat "$work/err")"
sed -n 3p "$work/out" | grep -q '^| grid | cds | .* | 2.50 |$' || fail "slower: $(cat "$work/out")"
compare --most=2.6 || fail "--most has no effect: $(cat "$work/err")"
change grid.json 'time["cds"]["median_ms"] /= 2; time["kokkos_kernels"]["median_ms"] *= 2'
compare || fail "a faster product, or a slower one of another library, is an error: $(cat "$work/err")"
while read -r code; do
  read -r expected
  change grid.json "$code"
  if compare; then fail "accepted: $code"; fi
  grep -q "^plot.py: .*$expected" "$work/err" || fail "$code: instead of \"$expected\": $(cat "$work/err")"
done <<- 'END'
	time["cds"]["median_ms"] = float("nan")
	the time of cds is nan, but must be a number above 0
	time["cds"]["median_ms"] = 0
	the time of cds is 0, but must be a number above 0
	run["context"]["read_bandwidth_GBps"] = "unknown"
	the read bandwidth is unknown, but must be a number above 0
	time["cds"]["error_occurred"] = True
	grid.json has no time of cds
	run["context"]["device"] = "Another GPU"
	grid.json: the machine is Another GPU, but in .*grid.json it is A GPU
	END
rm "$work/after/grid.json"
if compare; then fail "a missing file is no error"; fi
grep -q 'grid.json cannot be read' "$work/err" || fail "a missing file: $(cat "$work/err")"
mkdir "$work/none"
if "$python" "$plot" compare "$work/none" "$work/after" > "$work/out" 2> "$work/err"; then fail "nothing is compared"; fi
grep -q 'none has no JSON files' "$work/err" || fail "nothing to compare: $(cat "$work/err")"
# On a host the speed relative to CRS counts.
cp "$work/grid.json" "$work/before"
change grid.json 'time["cds"]["median_ms"] *= 2; time["cds"]["speedup_vs_kokkos_kernels"] /= 1.5'
if compare; then fail "a slower product on a host is no error"; fi
sed -n 3p "$work/out" | grep -q '^| grid | cds | .* | 1.50 |$' || fail "slower on a host: $(cat "$work/out")"

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
# The caption leaves out trademark signs.
device=$(sed -n 's/^ *"device": "\(.*\)",$/\1/p' "$work/grid.json" | sed 's/([RTM]*)//g')
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

# The published measurements of the evaluation can be drawn.
published=$root/perf/results/h200/evaluation
for figure in dof:dof_double hybrid:hybrid ellpack:ellpack solver:solver prediction:select; do
  "$python" "$plot" "${figure%:*}" "$published/${figure#*:}.json" --out="$work/published" > "$work/out" ||
    fail "$published/${figure#*:}.json is not drawn"
done
"$python" "$plot" roofline "$published"/{spmv_grid_1_unknown,dof_float,ellpack}.json --out="$work/published" > "$work/out"
if "$python" "$plot" roofline "$published/select.json" --out="$work/bad" > "$work/out" 2> "$work/err"; then
  fail "a roofline of predictions was accepted"
fi
grep -q 'there are no products with GFLOPs and GBps' "$work/err" || fail "instead of the reason: $(cat "$work/err")"

# The overview and the table of two matrices on two machines. The JSON of the second machine is changed by hand.
mkdir "$work/host" "$work/gpu"
for grid in small_grid:6x5x4 large_grid:7x6x5; do
  "$tool" --grid="${grid#*:}" --format=auto,cds,ell --benchmark_min_time=0.001 --benchmark_out="$work/host/${grid%:*}.json" \
    > /dev/null 2> "$work/err"
  sed 's/"device": ".*"/"device": "A GPU"/; s/"backend": ".*"/"backend": "Cuda"/
       s/\(spmv.\)ell/\1cusparse_csr_alg1/' "$work/host/${grid%:*}.json" > "$work/gpu/${grid%:*}.json"
done
"$python" "$plot" overview "$work"/host/*.json "$work"/gpu/*.json --out="$work/overview" > "$work/out"
printf '%s\n' "$work/overview.png" "$work/overview.svg" | cmp - "$work/out" || fail "the overview does not print the paths"
for text in 'small grid' 'large grid' 'A GPU' "${device}, " 'best format of Filigree' 'best kernel of cuSPARSE' ' csr_alg1 '; do
  grep -q "<!-- .*$text" "$work/overview.svg" || fail "the overview does not say \"$text\""
done
"$python" "$plot" table "$work"/host/*.json "$work"/gpu/*.json > "$work/table"
[ "$(wc -l < "$work/table")" = 4 ] || fail "the table does not have two rows: $(cat "$work/table")"
number='[0-9]+\.[0-9]{2}'
grep -Eq "^\| small grid \| \`--grid=6x5x4 --stencil=7pt\` \| $number [a-z]+ \| $number [a-z0-9_]+ \| $number cds \| $number [a-z0-9_]+ \| ($number|–) \| $number \|$" \
  "$work/table" || fail "a row of the table: $(cat "$work/table")"
if "$python" "$plot" table "$work"/host/*.json "$work/host/small_grid.json" 2> "$work/err"; then fail "a file is there twice"; fi
grep -q 'a second time' "$work/err" || fail "a second file of a matrix: $(cat "$work/err")"
cp "$work/host/large_grid.json" "$work/gpu/small_grid.json"
sed -i 's/"backend": ".*"/"backend": "Cuda"/' "$work/gpu/small_grid.json"
if "$python" "$plot" table "$work"/host/*.json "$work/gpu/small_grid.json" 2> "$work/err"; then fail "two problems with one name"; fi
grep -q 'different flags: ' "$work/err" || fail "two problems with one name: $(cat "$work/err")"
echo "test_plot: passed"
