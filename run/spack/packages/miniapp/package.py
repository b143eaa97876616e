# Builds the clone of the repository that this file lies in:
#   spack repo add run/spack && spack install miniapp offload=nvptx cuda_arch=80,90 %clang@19

import os

from spack.package import *


class Miniapp(CMakePackage):
    """Kernels of the Veros ocean model as a benchmark: directive-annotated C loops that run on
    host threads or, by OpenMP target offload, on a GPU; timed, and validated."""

    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))
    homepage = git

    license("MIT")

    version("main", branch="main")

    variant(
        "offload",
        default="none",
        values=("none", "emulated", "nvptx"),
        description="OpenMP offload: none, emulated on the CPU, or to NVIDIA GPUs",
    )
    variant(
        "cuda_arch",
        default="80,90",
        values=("70", "75", "80", "86", "89", "90"),
        multi=True,
        description="Compute capabilities of the GPUs",
        when="offload=nvptx",
    )

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hdf5+hl~mpi")
    depends_on("jansson")
    depends_on("nettle")
    depends_on("hwloc@2:")
    # Clang up to 20 and CUDA 13 make images that no GPU accepts (LLVM issue 159088).
    depends_on("cuda@:12", when="offload=nvptx %clang@:20")
    depends_on("cuda", when="offload=nvptx %clang@21:")

    for offload in ("emulated", "nvptx"):
        requires("%clang@19:", when=f"offload={offload}", msg="offload needs Clang 19 or newer")

    def cmake_args(self):
        offload = self.spec.variants["offload"].value
        targets = {"none": "none", "emulated": "emulated"}
        if offload == "nvptx":
            targets["nvptx"] = [f"nvidia:sm_{n}" for n in self.spec.variants["cuda_arch"].value]
        args = [
            self.define("MINIAPP_OFFLOAD", targets[offload]),
            self.define("MINIAPP_ARCH", ""),  # Spack's compiler names the processor
            self.define("MINIAPP_TESTS", self.run_tests),
        ]
        if offload == "nvptx":
            args.append(self.define("MINIAPP_CUDA", self.spec["cuda"].prefix))
        return args

    def test_lists_kernels(self):
        """the installed program starts"""
        which(self.prefix.bin.miniapp)("--list-kernels")
