# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# What scripts/demo and scripts/test share. Source it; it sets root, the repository's folder.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

cores() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1; }

# Sets preset, build_dir and, for CUDA, CXX: by the Kokkos in Kokkos_ROOT, else Debian's, which has Serial alone.
choose_preset() {
  preset=serial
  if [ -n "${Kokkos_ROOT:-}" ]; then
    [ -d "$Kokkos_ROOT" ] || die "Kokkos_ROOT is $Kokkos_ROOT, which is no folder; set it to the prefix of an installed Kokkos."
    local candidates=("$Kokkos_ROOT"/{,lib/,lib64/,lib/*/}{,cmake/Kokkos/}KokkosConfig{Common,}.cmake)
    local devices
    devices=$(grep -hsioE 'set\(Kokkos_DEVICES [^)]*' "${candidates[@]}" | head -n 1 || true)
    [ -n "$devices" ] || die "no KokkosConfig.cmake under Kokkos_ROOT, $Kokkos_ROOT; set it to the prefix of an installed Kokkos."
    devices=";$(printf '%s' "${devices#* }" | tr -d '"' | tr '[:lower:] ' '[:upper:];');"
    case $devices in
      *";CUDA;"*) preset=cuda ;;
      *";OPENMP;"*) preset=openmp ;;
    esac
  fi
  build_dir=$root/build/$preset

  if [ "$preset" = cuda ]; then
    if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
      export PATH="$PATH:/usr/local/cuda/bin"
    fi
    if [ -z "${CXX:-}" ] && [ -x "$Kokkos_ROOT/bin/nvcc_wrapper" ]; then
      export CXX=$Kokkos_ROOT/bin/nvcc_wrapper
    fi
  fi
}

# Whether there is a clang++ that links libFuzzer.
has_fuzzer() {
  command -v clang++ >/dev/null || return 1
  printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n' |
    clang++ -x c++ -fsanitize=fuzzer,address,undefined -o /dev/null - 2>/dev/null
}

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# install_packages [package...]: what every build needs, and the packages given, from apt. Where there is no apt,
# says what is needed and goes on if the tools are there: CMake then names the library that is not.
install_packages() {
  local libraries=(zlib1g-dev "$@")
  [ -n "${Kokkos_ROOT:-}" ] || libraries+=(libtrilinos-kokkos-dev libtrilinos-kokkos-kernels-dev)
  local missing=()
  command -v "${CXX:-c++}" >/dev/null || missing+=(g++)
  command -v cmake >/dev/null || missing+=(cmake)
  command -v ninja >/dev/null || missing+=(ninja-build)

  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "No apt here. Needed are g++ (11 or newer), cmake (3.22 or newer), ninja-build and the libraries of ${libraries[*]}"
    [ ${#missing[@]} -eq 0 ] || die "not found: ${missing[*]}; install what Debian calls so, then run this again."
    return
  fi

  local package
  for package in "${libraries[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  # The targets of Debian's Kokkos Kernels link to liblapack.so and libblas.so, but its package does not depend on
  # the ones that have them. Any LAPACK will do.
  if [ -z "${Kokkos_ROOT:-}" ] && ! compgen -G '/usr/lib/*/liblapack.so' >/dev/null; then
    missing+=(liblapack-dev)
  fi
  [ ${#missing[@]} -gt 0 ] || return 0

  say "Installing ${missing[*]}"
  local as_root=(env DEBIAN_FRONTEND=noninteractive)
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "missing: ${missing[*]}; there is no sudo here, so install them as root."
    as_root=(sudo "${as_root[@]}")
  fi
  mkdir -p "$root/build"
  local log=$root/build/packages.log
  "${as_root[@]}" apt-get update >"$log" 2>&1 </dev/null ||
    echo "apt-get update failed (see $log); going on with the package lists that are here."
  "${as_root[@]}" apt-get install --yes --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" \
    >>"$log" 2>&1 </dev/null || {
    tail -n 15 "$log" >&2
    die "apt-get install failed; all of its output is in $log"
  }
}

# configure [option...]: the preset, with a Kokkos found anew, as Kokkos_ROOT may be another than the last time.
configure() {
  local generator=()
  [ -f "$build_dir/CMakeCache.txt" ] || generator=(-G Ninja)
  cmake -S "$root" --preset "$preset" "${generator[@]}" -U 'Kokkos*_DIR' "$@"
}

build() { cmake --build "$build_dir" --parallel "$(cores)" "$@"; }
