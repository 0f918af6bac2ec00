#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests scripts/demo in a copy that builds and installs nothing: which problems it measures, the files that it writes
# and the last lines. Its arguments are the root of the repository and filigree_spmv.
set -euo pipefail
root=$1
tool=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_demo: $*" >&2; exit 1; }
unset Kokkos_ROOT

mkdir -p "$work/bin" "$work/perf" "$work/build/serial/perf"
cp -r "$root/scripts" "$work/scripts"
cp -r "$root/perf/plots" "$work/perf/plots"
touch "$work/build/serial/build.ninja"
echo 'install_packages() { :; }' >> "$work/scripts/lib.sh"
printf '#!/bin/sh\n' > "$work/bin/cmake"
# The grids of the demo are too large for a test. The last of several flags counts.
cat > "$work/build/serial/perf/filigree_spmv" <<EOF
#!/usr/bin/env bash
echo "\$*" >> "$work/calls"
case "\$*" in
  *--matrix=*) exec "$tool" "\$@" --benchmark_min_time=0.001 ;;
  *) exec "$tool" "\$@" --grid=6x5x4 --benchmark_min_time=0.001 ;;
esac
EOF
chmod +x "$work/bin/cmake" "$work/build/serial/perf/filigree_spmv"

demo() {
  rm -rf "$work/build/demo" "$work/calls"
  PATH=$work/bin:$PATH "$work/scripts/demo" "$@" > "$work/out" 2> "$work/err" || fail "demo $* fails: $(cat "$work/err")"
}
# The last lines are the recommendations for the named problems. A warning follows if the times were noisy. The chart was
# drawn, or the text says how to get it.
ends_with() {
  local name
  for name in "$@"; do
    grep -Eq "^$name: (use|stay with) " <(grep -v '^warning: ' "$work/out" | tail -n $#) || fail "no recommendation for $name: $(tail -n 3 "$work/out")"
    for file in "$work/build/demo/$name.txt" "$work/build/demo/$name.json"; do
      [ -s "$file" ] || fail "there is no $file"
    done
    grep -q '^kokkos_kernels ' "$work/build/demo/$name.txt" || fail "$name.txt is no table"
  done
  if [ -s "$work/build/demo/speed.png" ]; then
    [ -s "$work/build/demo/speed.svg" ] || fail "there is no SVG"
  else
    grep -q 'apt install python3-matplotlib' "$work/out" || fail "neither a chart nor how to get it"
  fi
}

demo --format=cds
grep -q -- '--grid=128x128x128 .*--dof=1 --format=cds' "$work/calls" || fail "no grid with one unknown: $(cat "$work/calls")"
grep -q -- '--grid=64x64x64 .*--dof=4 --format=cds' "$work/calls" || fail "no grid with four unknowns: $(cat "$work/calls")"
ends_with one_unknown four_unknowns

demo --dof=3 --format=cds
[ "$(wc -l < "$work/calls")" = 1 ] || fail "with --dof more than one grid is measured: $(cat "$work/calls")"
ends_with grid

printf '%s\n' '%%MatrixMarket matrix coordinate real general' '3 3 5' '1 1 1' '1 2 1' '2 2 1' '3 1 1' '3 3 1' > "$work/my own.mtx"
demo "$work/my own.mtx" --dof=1
grep -qF -- "--matrix=$work/my own.mtx --dof=1" "$work/calls" || fail "the file is not measured: $(cat "$work/calls")"
ends_with matrix

for bad in "$work/nowhere.mtx" --benchmark_out=x --benchmark_format=csv; do
  rm -f "$work/calls"
  if PATH=$work/bin:$PATH "$work/scripts/demo" "$bad" > "$work/out" 2> "$work/err"; then fail "$bad was accepted"; fi
  grep -q '^demo: ' "$work/err" || fail "$bad was refused without a message"
  [ ! -e "$work/calls" ] || fail "$bad is measured"
done
echo "test_demo: passed"
