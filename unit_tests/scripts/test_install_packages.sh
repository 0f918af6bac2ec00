#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests install_packages and install_tools of scripts/lib.sh with programs that only pretend to be id, sudo, apt-get and dpkg-query: without
# being root it installs nothing and never runs sudo.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'test_install_packages.sh: %s\n--- output:\n%s\n--- calls:\n%s\n' "$1" "$(cat "$work/output")" "$(cat "$work/calls")" >&2
  exit 1
}

mkdir "$work/bin"
# The test sets user, installed (status of every package) and apt_fails.
cat >"$work/bin/id" <<'END'
#!/bin/sh
echo "$user"
END
cat >"$work/bin/dpkg-query" <<'END'
#!/bin/sh
printf '%s' "$installed"
END
for program in sudo apt-get; do
  cat >"$work/bin/$program" <<'END'
#!/bin/sh
echo "${0##*/} $*" >>"$calls"
[ "$1" = update ] || [ -z "$apt_fails" ] || { echo "E: no such package"; exit 100; }
END
done
chmod +x "$work"/bin/*

# run USER INSTALLED APT_FAILS [COMMAND]: runs a function of lib.sh. Sets status; the output is in $work/output.
run() {
  : >"$work/calls"
  mkdir -p "$work/tree/scripts"
  cp "$repository/scripts/lib.sh" "$work/tree/scripts/"
  status=0
  env -u Kokkos_ROOT PATH="$work/bin:$PATH" user="$1" installed="$2" apt_fails="$3" calls="$work/calls" \
    bash -euo pipefail -c ". '$work/tree/scripts/lib.sh'; ${4:-install_packages libbenchmark-dev}; echo continued" \
    >"$work/output" 2>&1 || status=$?
}
has() { grep -qF -- "$1" "$2" || fail "expected \"$1\" in ${2##*/}"; }
has_not() { ! grep -qF -- "$1" "$2" || fail "unexpected \"$1\" in ${2##*/}"; }

run 1000 '' ''
[ "$status" -ne 0 ] || fail "succeeded without the packages"
has_not continued "$work/output"
has "sudo apt-get install --no-install-recommends zlib1g-dev libbenchmark-dev libtrilinos-kokkos-dev" "$work/output"
[ ! -s "$work/calls" ] || fail "ran a program of the administrator"

run 1000 installed ''
[ "$status" -eq 0 ] || fail "failed although all packages are there"
has continued "$work/output"
[ ! -s "$work/calls" ] || fail "ran a program of the administrator"

run 0 '' ''
[ "$status" -eq 0 ] || fail "failed as root"
has continued "$work/output"
has_not sudo "$work/calls"
has "apt-get install --yes --no-install-recommends" "$work/calls"
has libbenchmark-dev "$work/calls"

run 0 '' 1
[ "$status" -ne 0 ] || fail "succeeded although apt-get failed"
has "E: no such package" "$work/output"
has_not continued "$work/output"

run 1000 '' '' "install_tools bash no-such-tool"
[ "$status" -ne 0 ] || fail "succeeded without the tool"
has "sudo apt-get install --no-install-recommends no-such-tool" "$work/output"
[ ! -s "$work/calls" ] || fail "ran a program of the administrator"

run 1000 '' '' "install_tools bash"
[ "$status" -eq 0 ] || fail "failed although the tool is there"

run 0 '' '' "install_tools bash no-such-tool"
[ "$status" -eq 0 ] || fail "failed as root"
has "no-such-tool" "$work/calls"
has_not "bash" "$work/calls"
