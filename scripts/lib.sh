# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
#
# Functions of the other scripts, which source this file. It sets root, the folder of the
# repository.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n== %s\n' "$*"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

cores() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1; }

# Sets preset and build_dir, and for CUDA also CXX. The preset depends on the backends of the Kokkos in Kokkos_ROOT.
# Without Kokkos_ROOT it is serial, because Debian's Kokkos has the Serial backend only.
choose_preset() {
  preset=serial
  if [ -n "${Kokkos_ROOT:-}" ]; then
    [ -d "$Kokkos_ROOT" ] || die "Kokkos_ROOT is \"$Kokkos_ROOT\", which is not a folder; set it to the prefix of an installed Kokkos."
    local candidates=("$Kokkos_ROOT"/{,lib/,lib64/,lib/*/}{,cmake/Kokkos/}KokkosConfig{Common,}.cmake)
    local devices
    devices=$(grep -hsioE 'set\(Kokkos_DEVICES [^)]*' "${candidates[@]}" | head -n 1 || true)
    [ -n "$devices" ] || die "Kokkos_ROOT is \"$Kokkos_ROOT\", which has no KokkosConfig.cmake; set it to the prefix of an installed Kokkos."
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

# Succeeds if there is a clang++ that can link libFuzzer.
has_fuzzer() {
  command -v clang++ >/dev/null || return 1
  printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n' |
    clang++ -x c++ -fsanitize=fuzzer,address,undefined -o /dev/null - 2>/dev/null
}

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

has_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

# install_missing PACKAGE...: installs missing Debian packages as root. Otherwise it prints the command that installs them and stops.
install_missing() {
  has_apt || die "not found: $* (names of Debian packages); install them and run this again."
  [ "$(id -u)" -eq 0 ] || die "packages are missing. Install them and run this again:
    sudo apt-get install --no-install-recommends $*"
  say "Installing $*"
  mkdir -p "$root/build"
  local log=$root/build/packages.log
  export DEBIAN_FRONTEND=noninteractive
  apt-get update >"$log" 2>&1 </dev/null ||
    echo "apt-get update failed (see $log); continuing with the existing package lists."
  apt-get install --yes --no-install-recommends -o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1 </dev/null || {
    tail -n 15 "$log" >&2
    die "apt-get install failed; its complete output is in $log"
  }
}

# install_tools TOOL...: installs programs that are missing. The package of each program has its name.
install_tools() {
  local missing=() tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [ ${#missing[@]} -eq 0 ] || install_missing "${missing[@]}"
}

# install_packages [package...]: installs what is missing of the packages that every build needs, and of the named ones.
# Without apt it prints the list and continues if the tools exist. CMake then names the first library that is missing.
install_packages() {
  local libraries=(zlib1g-dev "$@")
  [ -n "${Kokkos_ROOT:-}" ] || libraries+=(libtrilinos-kokkos-dev libtrilinos-kokkos-kernels-dev)
  local missing=()
  command -v "${CXX:-c++}" >/dev/null || missing+=(g++)
  command -v cmake >/dev/null || missing+=(cmake)
  command -v ninja >/dev/null || missing+=(ninja-build)

  if has_apt; then
    local package
    for package in "${libraries[@]}"; do
      is_installed "$package" || missing+=("$package")
    done
    # Debian's Kokkos Kernels links to liblapack.so and libblas.so, but its package does not depend on the packages
    # that contain them. Every LAPACK is good enough.
    if [ -z "${Kokkos_ROOT:-}" ] && ! compgen -G '/usr/lib/*/liblapack.so' >/dev/null; then
      missing+=(liblapack-dev)
    fi
  else
    say "There is no apt to install packages. The build needs g++ (11 or newer), cmake (3.22 or newer), ninja-build and ${libraries[*]}"
  fi
  [ ${#missing[@]} -eq 0 ] || install_missing "${missing[@]}"
}

# configure [option...]: runs CMake with the preset. Kokkos is searched again, because Kokkos_ROOT may have changed.
configure() {
  local generator=()
  [ -f "$build_dir/CMakeCache.txt" ] || generator=(-G Ninja)
  cmake -S "$root" --preset "$preset" "${generator[@]}" -U 'Kokkos*_DIR' "$@"
}

build() { cmake --build "$build_dir" --parallel "$(cores)" "$@"; }
