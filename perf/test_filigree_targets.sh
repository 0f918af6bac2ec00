#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tests the flags of filigree_targets. It measures nothing, because the targets hold on an idle machine only.
set -euo pipefail
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "test_filigree_targets: $*" >&2; exit 1; }

"$tool" --help > "$work/out"
grep -q -- '--matrices=FOLDER' "$work/out" || fail "--help does not show --matrices"
sections=$(sed -n 's/.*separated by commas: //p' "$work/out")
[ -n "$sections" ] || fail "--help names no sections"
for name in host columns solve; do
  [[ ",$sections," == *",$name,"* ]] || fail "--help does not name the section $name"
done
# One of the two is for another machine.
if "$tool" --only=solve,host > "$work/out" 2> "$work/err"; then fail "--only=solve,host was accepted"; fi
grep -Eq 'is for (GPUs|hosts), but' "$work/err" || fail "the message does not say why: $(cat "$work/err")"
for bad in --only=none --only= --matrices --unknown "--only=host," "--only=solve,"; do
  if "$tool" "$bad" > "$work/out" 2> "$work/err"; then fail "$bad was accepted"; fi
  grep -q '^filigree_targets: ' "$work/err" || fail "$bad was refused without a message"
done
if "$tool" --matrices="$work/nowhere" > "$work/out" 2> "$work/err"; then fail "a folder that does not exist was accepted"; fi
grep -q 'nowhere' "$work/err" || fail "the message does not name the folder: $(cat "$work/err")"
# Missing files are refused before anything is measured.
if "$tool" --matrices="$work" > "$work/out" 2> "$work/err"; then fail "a folder without matrices was accepted"; fi
grep -q '^filigree_targets: --matrices: .* has no bcsstk.*qh1484.mtx.gz' "$work/err" ||
  fail "the message does not name the missing files: $(cat "$work/err")"
[ ! -s "$work/out" ] || fail "it measured before it found that a file is missing: $(cat "$work/out")"
echo "test_filigree_targets: passed"
