#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests results/measure with a program that measures a small grid instead. Its arguments are results/measure and filigree_spmv.
set -euo pipefail
measure=$1
tool=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_measure: $*" >&2; exit 1; }

mkdir "$work/matrices"
# The flags of the problem become those of a grid. All others are passed on.
cat > "$work/program" <<EOF
#!/usr/bin/env bash
echo "\$*" >> "$work/calls"
others=()
for flag in "\$@"; do
  case \$flag in --grid=* | --matrix=* | --repeat=* | --dof=*) ;; *) others+=("\$flag") ;; esac
done
exec "$tool" --grid=6x5x4 --benchmark_min_time=0.001 "\${others[@]}"
EOF
chmod +x "$work/program"
"$measure" "$work/program" "$work/matrices" "$work/out" > "$work/log"
for name in grid_1_unknown grid_4_unknowns finite_elements mesh power_network circuit coauthors economics; do
  grep -q '"name": "spmv/auto/' "$work/out/$name.json" || fail "$name.json does not have the pick of optimize"
  grep -q '^kokkos_kernels ' "$work/out/$name.txt" || fail "$name.txt has no table"
  grep -q "^$name: filigree_spmv --" "$work/log" || fail "it does not print the flags of $name"
done
grep -q -- '--matrix=memplus.mtx.gz --repeat=316 ' "$work/calls" || fail "memplus is not repeated: $(cat "$work/calls")"

# With names it measures only these.
"$measure" "$work/program" "$work/matrices" "$work/one" circuit > "$work/log"
[ "$(echo "$work"/one/*)" = "$work/one/circuit.json $work/one/circuit.txt" ] || fail "one name: $(echo "$work"/one/*)"
if "$measure" "$work/program" "$work/matrices" "$work/none" nothing 2> "$work/err"; then fail "an unknown name is accepted"; fi
grep -q '"nothing" is not one of grid_1_unknown' "$work/err" || fail "an unknown name: $(cat "$work/err")"
if "$measure" /bin/true "$work/matrices" "$work/none" 2> "$work/err"; then fail "another program is accepted"; fi
grep -q 'is it filigree_spmv?' "$work/err" || fail "another program: $(cat "$work/err")"
if "$measure" "$work/program" 2> "$work/err"; then fail "one argument is accepted"; fi
grep -q 'it needs three arguments' "$work/err" || fail "one argument: $(cat "$work/err")"
echo "test_measure: passed"
