# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Filigree(CMakePackage, CudaPackage):
    """Sparse matrix formats and products for Kokkos. A Kokkos application converts its CRS matrix once, on the device, and
    multiplies it in the format in which the product is as fast as memory allows."""

    # The recipe builds the clone that it lies in.
    git = pathlib.Path(__file__).resolve().parents[6].as_uri()

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")

    variant("shared", default=True, description="Build a shared library")
    variant("precompile", default=False, description="Compile products and conversions for float and double into the library")
    variant("serial", default=True, description="Use the Serial backend of Kokkos")
    variant("openmp", default=False, description="Use the OpenMP backend of Kokkos")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("kokkos@3.4:5")
    depends_on("kokkos-kernels@3.4:5")
    depends_on("zlib-api")
    # The standard library of Apple has no std::from_chars for double.
    depends_on("fast-float", when="%cxx=apple-clang")

    # The tests and the examples, with spack install --test=root.
    depends_on("googletest@1.10:", type="test")
    depends_on("python@3.8:", type="test")
    depends_on("pkgconfig", type="test")

    # The backends are those of Kokkos.
    for backend in ("serial", "openmp"):
        depends_on(f"kokkos+{backend}", when=f"+{backend}")
    depends_on("kokkos+pic", when="+shared")
    depends_on("kokkos+cuda+wrapper", when="+cuda %cxx=gcc")
    depends_on("kokkos-kernels+cuda", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos+cuda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        depends_on(f"kokkos-kernels+cuda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    requires("^kokkos+cuda_lambda", when="+cuda ^kokkos@:4")

    conflicts("cuda_arch=none", when="+cuda", msg="Filigree with CUDA needs the architecture, for example cuda_arch=90.")
    conflicts("%gcc@:10", msg="Filigree needs GCC 11 or newer.")
    conflicts("%gcc@12.2:12.4", when="~cuda ^kokkos@4.5:4.6", msg="With GCC 12.2 to 12.4 every program crashes that makes a View "
              "of Kokkos 4.5 or 4.6 without arguments. See CONTRIBUTING.md.")
    conflicts("^cuda@13.0:", when="^kokkos@:4.7.00", msg="CUDA 13 needs Kokkos 4.7.01 or newer.")

    def cmake_args(self):
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("FILIGREE_PRECOMPILE", "ALL" if self.spec.satisfies("+precompile") else ""),
            self.define("FILIGREE_ENABLE_TESTS", self.run_tests),
            self.define("FILIGREE_ENABLE_EXAMPLES", self.run_tests),
            self.define("Kokkos_ROOT", self.spec["kokkos"].prefix),
            self.define("KokkosKernels_ROOT", self.spec["kokkos-kernels"].prefix),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        return args
