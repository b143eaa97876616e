#!/usr/bin/env python3
"""Check the device images inside an offload module: check_image.py MODULE TARGET...

A module can link without an error and still hold no code that a GPU accepts. This reads the
images out of it and requires, for every TARGET (nvidia:sm_90, amd:gfx90a), of Clang one of
  - machine code for that GPU, linked. NVIDIA's names the architecture in the place where the
    offload runtime of Clang up to 20 looks for it (CUDA 13's tools write it elsewhere: LLVM issue
    159088); AMD's keeps nothing in memory that belongs in registers (scratch, spilled vector
    registers), but for one kernel;
  - bitcode, with nothing left undefined. The runtime compiles it at start for the GPU that is there, so
    that of an older GPU will do;
and in each of them every loop nest that the host's code starts, in both precisions. Of GCC it
requires PTX, which the GPU's driver compiles and links at start, with nothing left undefined, and
with every kernel's loops along x shared by the lanes of a warp, and with enough memory reserved for
what each lane has for itself.
"""

import argparse
import collections
import itertools
import re
import shutil
import struct
import subprocess
import sys
import tempfile

MAGIC = b"\x10\xff\x10\xad"  # of LLVM's offload binary, llvm/Object/OffloadBinary.h
BITCODE = b"BC\xc0\xde"
EM_CUDA, EM_AMDGPU = 190, 224
ET_EXEC, ET_DYN = 2, 3
NEST = r"__omp_offloading_[0-9a-f]+_[0-9a-f]+_\w+_l\d+"


def images(module):
    """{architecture: its images} of all offload binaries in the bytes of a module. Where each file's code
    is a whole program, each has its own."""
    found = collections.defaultdict(list)
    start = module.find(MAGIC)
    while start >= 0:
        entry, = struct.unpack_from("<Q", module, start + 16)
        strings, count, offset, size = struct.unpack_from("<QQQQ", module, start + entry + 8)
        names = {}
        for i in range(count):
            pair = struct.unpack_from("<QQ", module, start + strings + 16 * i)
            key, value = (module[start + p:module.index(b"\0", start + p)].decode() for p in pair)
            names[key] = value
        found[names.get("arch", "?")].append(module[start + offset:start + offset + size])
        start = module.find(MAGIC, start + 4)
    return found


def llvm(tool, image, *options):
    """What a tool of LLVM's prints of an image."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(image)
        file.flush()
        return subprocess.run([shutil.which(f"{tool}-19") or tool, *options, file.name], check=True,
                              capture_output=True, text=True).stdout


# ---- nests ----

def nests_of_host(module, found):
    """The names of the nests that the host's code starts."""
    for image in itertools.chain(*found.values()):
        module = module.replace(image, b"")
    return {name.decode() for name in re.findall(rb"(?<!\w)" + NEST.encode() + rb"(?=\0)", module)}


def nests_of_image(image):
    listing = llvm("llvm-nm", image, "--defined-only")
    return set(re.findall(rf"(?<= ){NEST}$", listing, re.MULTILINE))


def nests_complaint(wanted, of_arch):
    """Which nests the images lack, or None."""
    missing = wanted.difference(*map(nests_of_image, of_arch))
    return f"it lacks {', '.join(sorted(missing))}" if missing else None


def precisions_complaint(nests):
    """What of the nests is there in one precision only, or None."""
    double = {name.replace("_float64_", "_float32_") for name in nests if "_float64_" in name}
    single = {name for name in nests if "_float32_" in name}
    if not double:
        return "the host's code starts no kernel"
    odd = double ^ single
    return f"of one precision only: {', '.join(sorted(odd))}" if odd else None


# ---- images of Clang's ----

def undefined_functions(bitcode):
    """The functions that bitcode calls and does not hold; LLVM's own do not count."""
    listing = llvm("llvm-nm", bitcode, "--undefined-only")
    return [line.split()[-1] for line in listing.splitlines() if line.strip()]


def bitcode_complaint(image):
    missing = undefined_functions(image)
    return f"bitcode lacks {', '.join(missing)}" if missing else None


def cuda_complaint(arch, image):
    kind, = struct.unpack_from("<H", image, 16)
    flags, = struct.unpack_from("<I", image, 48)
    if f"sm_{flags & 0xff}" != arch:
        return f"ELF flags {flags:#x} do not name it: made by CUDA 13's tools?"
    return None if kind == ET_EXEC else "machine code that is not linked"


# What AMD's metadata says of a kernel. Of spilled scalar registers most go to lanes of vector
# registers; what goes to memory counts as scratch.
AMD_NUMBERS = {"vgpr": "vgpr_count", "agpr": "agpr_count", "sgpr": "sgpr_count",
               "LDS": "group_segment_fixed_size", "scratch": "private_segment_fixed_size",
               "vgpr spills": "vgpr_spill_count", "sgpr spills": "sgpr_spill_count"}
# In bytes, and in registers. A single kernel spills some.
MOST_ON_AMD = {"scratch": 0, "vgpr spills": 0}
MOST_OF = {"isoneutral_mixing": {"scratch": 64, "vgpr spills": 16}}


def most_on_amd(nest):
    return next((most for kernel, most in MOST_OF.items() if f"_{kernel}_offload_" in nest), MOST_ON_AMD)


def amd_kernels(image):
    """{kernel: {what: number}} of the metadata's notes."""
    notes = llvm("llvm-readelf", image, "--notes")
    kernels = {}
    for text in re.split(r"^  - (?=\.)", notes, flags=re.MULTILINE)[1:]:
        values = dict(re.findall(r"^ *\.(\w+): +(\S+)$", text, re.MULTILINE))
        kernels[values["name"]] = {what: int(values[key]) for what, key in AMD_NUMBERS.items()}
    return kernels


def amd_complaint(arch, image):
    header = llvm("llvm-readelf", image, "--file-header")
    if not re.search(rf"Flags: .*\b{arch}\b", header):
        return "ELF flags do not name it"
    if struct.unpack_from("<H", image, 16) != (ET_DYN,):
        return "machine code that is not linked"
    for name, numbers in amd_kernels(image).items():
        for what, most in most_on_amd(name).items():
            if numbers[what] > most:
                return f"{name} has {what}: {numbers[what]}"
    return None


def print_amd_kernels(image):
    print(f"  {'nest':<34}" + "".join(f"{what:>13}" for what in AMD_NUMBERS))
    for name, numbers in amd_kernels(image).items():
        nest = re.sub(r"__omp_offloading_[0-9a-f]+_[0-9a-f]+_", "", name).replace("_offload", "")
        print(f"  {nest:<34}" + "".join(f"{numbers[what]:>13}" for what in AMD_NUMBERS))


def complaint(vendor, arch, image):
    """What is wrong with an image for an architecture, or None."""
    if image[:4] == BITCODE:
        return bitcode_complaint(image)
    if image[:4] != b"\x7fELF":
        return "neither machine code nor bitcode"
    machine, = struct.unpack_from("<H", image, 18)
    if machine != {"nvidia": EM_CUDA, "amd": EM_AMDGPU}[vendor]:
        return f"machine code for another machine ({machine})"
    return cuda_complaint(arch, image) if vendor == "nvidia" else amd_complaint(arch, image)


def images_complaint(vendor, arch, of_arch):
    """What is wrong with any of the images for an architecture, or None."""
    wrong = (complaint(vendor, arch, image) for image in of_arch)
    return next(filter(None, wrong), None) if of_arch else "no image"


def bitcode_like(arch, found):
    """The bitcode for older GPUs of NVIDIA's, such as sm_80's for sm_90."""
    def number(name):
        return int((re.fullmatch(r"sm_(\d+)a?", name) or [0, -1])[1])
    return [image for other, of_other in found.items() for image in of_other
            if 0 <= number(other) <= number(arch) and image[:4] == BITCODE]


def summary(of_arch):
    kind = "bitcode" if of_arch[0][:4] == BITCODE else "machine code"
    images_of = f" in {len(of_arch)} images" if len(of_arch) > 1 else ""
    return f"{kind}{images_of}, {sum(map(len, of_arch))} bytes"


def check_clang(module, targets):
    """The number of targets that have no image as it should be."""
    found = images(module)
    nests = nests_of_host(module, found)
    common = precisions_complaint(nests)
    failed = 0
    for target in targets:
        vendor, _, arch = target.partition(":")
        of_arch = found.get(arch) or bitcode_like(arch, found)
        wrong = common or images_complaint(vendor, arch, of_arch) or nests_complaint(nests, of_arch)
        failed += wrong is not None
        print(f"{target}: {wrong or f'{summary(of_arch)}, {len(nests)} nests, fits'}")
        if vendor == "amd" and not wrong:
            print_amd_kernels(*of_arch)
    return failed


# ---- PTX of GCC's ----

# A nest without a loop along x, and one that adds in a given order, so by one thread
WITHOUT_SIMD = ("matmul", "sum_all")
CUDA_BUILT_IN = {"free", "malloc", "vprintf"}  # functions that the driver brings


def ptx_modules(module):
    """The texts that GCC's offload linker put into a module; the first one is of our sources."""
    return [text.decode() for text in re.findall(rb"// BEGIN PREAMBLE[^\0]*", module)]


def functions(ptx, what):
    """The functions that PTX of GCC's declares (DECL) or defines (DEF)."""
    return set(re.findall(rf"// BEGIN (?:GLOBAL )?FUNCTION {what}: (\S+)", ptx))


def lanes_complaint(text):
    """Whether a function has too little memory for the variables of a lane, or None. GCC puts these at
    the end of what it reserves, and 8 bytes more below them."""
    reserved = re.search(r"%simtstack_ar\[(\d+)\]", text)
    sizes = re.findall(r"%simtstack_ar \+ \d+;\s+sub\.u64\s+%r\d+,%r\d+,(\d+);", text)
    if len(sizes) != text.count("%simtstack_ar + "):
        return "has variables of a lane whose size is not known"
    needed = max(map(int, sizes), default=-8) + 8
    if needed and needed > int(reserved[1]):
        return f"needs {needed} bytes for a lane and reserves {reserved[1]}"
    return None


def ptx_complaint(target, modules):
    """What is wrong with GCC's PTX for a target, or None."""
    arch = re.search(r"\.target\s+(\w+)", modules[0])[1]
    if target != f"nvidia:{arch}":
        return f"PTX for {arch}"
    missing = (set().union(*(functions(text, "DECL") for text in modules)) - CUDA_BUILT_IN -
               set().union(*(functions(text, "DEF") for text in modules)))
    if missing:
        return f"PTX lacks {', '.join(sorted(missing))}"
    nests = 0
    for text in re.split(r"(?=// BEGIN (?:GLOBAL )?FUNCTION DEF: )", modules[0]):
        text = re.split(r"^(?:\.visible )?\.entry\b", text, flags=re.MULTILINE)[0]
        name = re.match(r"// BEGIN (?:GLOBAL )?FUNCTION DEF: ([\w$]+)\n", text)
        if name and (wrong := lanes_complaint(text)):
            return f"{name[1]} {wrong}"
        if name and re.fullmatch(r"\w+_offload_\w+\$_omp_fn\$\d+(\$lto_priv\$\d+)?", name[1]):
            nests += 1
            if "%laneid" not in text and not name[1].startswith(WITHOUT_SIMD):
                return f"{name[1]} leaves a warp's lanes idle"
    return None if nests else "PTX without kernels"


def check_gcc(modules, targets):
    """The number of targets that have no PTX as it should be."""
    failed = 0
    for target in targets:
        wrong = ptx_complaint(target, modules)
        failed += wrong is not None
        print(f"{target}: {wrong or f'PTX, {len(modules[0])} characters, fits'}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module")
    parser.add_argument("targets", nargs="+", metavar="TARGET")
    arguments = parser.parse_args()
    for target in arguments.targets:
        if not re.fullmatch("nvidia:sm_[0-9]+a?|amd:gfx[0-9a-f]+", target):
            parser.error(f"'{target}' is no target; there are nvidia:sm_90 and amd:gfx90a")
    with open(arguments.module, "rb") as file:
        module = file.read()
    modules = ptx_modules(module)
    failed = (check_gcc(modules, arguments.targets) if modules else check_clang(module, arguments.targets))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
