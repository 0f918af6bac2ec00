#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds and runs a program with the flags of filigree.pc. Before, it moves a copy of the installation to another folder:
#
#     test_pkg_config.sh PKG_CONFIG COMPILER FLAGS PREFIX WORK VERSION
set -euo pipefail
pkg_config=$1 compiler=$2 prefix=$4 work=$5 version=$6
read -ra flags <<<"$3"
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/application.cpp
fail() {
  printf 'test_pkg_config.sh: %s\n' "$*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work"
cp -r "$prefix" "$work/moved"
file=$(find "$work/moved" -name filigree.pc)
[ -f "$file" ] || fail "the installation has no filigree.pc, or several: \"$file\""
! grep -F "$prefix" "$file" || fail "filigree.pc names the folder in which Filigree was installed first"
PKG_CONFIG_PATH=$(dirname "$file")
export PKG_CONFIG_PATH

"$pkg_config" --validate filigree
found=$("$pkg_config" --modversion filigree)
[ "$found" = "$version" ] || fail "filigree.pc has version $found instead of $version"

cd "$work"
read -ra cflags <<<"$("$pkg_config" --cflags filigree)"
read -ra libs <<<"$("$pkg_config" --libs filigree)"
[[ " ${cflags[*]} " == *"/moved/"* && " ${libs[*]} " == *"/moved/"* ]] || fail "the flags do not name the moved folder"
standard=$("$pkg_config" --variable=cxx_standard filigree)
set -x
"$compiler" "-std=c++$standard" "${flags[@]}" "${cflags[@]}" "$source" -o application "${libs[@]}"
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ./application
