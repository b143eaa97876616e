"""The GPU code of every kernel stays within the limits of paper.json."""

import json
import re
import subprocess
import sys

import pytest

from conftest import DEVICE, HERE, INPUT, LONG, USAGE, assert_failed
from processes import completed, executable, load_script

LIMITS = HERE / "gpu/paper.json"
SCRIPT = HERE.parent / "run" / "dev" / "paper"


def paper(*words, **options):
    return completed([sys.executable, SCRIPT, *words], **options)


@pytest.fixture
def clang(miniapp):
    if miniapp.offload != "yes" or "Clang" not in miniapp.run("--version").stdout:
        pytest.skip("looks at the GPU code of Clang's build only")


# Kernels whose registers or spills come near their limits.
NEAREST = "isoneutral", "isoneutral_mixing", "isoneutral_diffusion"


@pytest.mark.parametrize("words", [("--arch", "sm_90", "--precision", "float64"),
                                   ("--arch", "sm_90", "--precision", "float32"), ("--arch", "sm_80")],
                         ids=["sm_90 float64", "sm_90 float32", "sm_80"])
def test_limits(clang, miniapp, script, words):
    """Those of instructions, too, where there is an nvdisasm. test_mock.py looks at more kernels, in the PTX that
    a build with bitcode makes at start, but counts no instructions."""
    instructions = ["--instructions"] if all(script.find_tool("nvdisasm") + script.find_tool("ptxas")) else []
    is_shown = not (instructions or LONG) and "(bitcode" in miniapp.run("--version").stdout
    if is_shown and words != ("--arch", "sm_80"):
        pytest.skip("test_mock.py shows it: MINIAPP_TEST_LONG=1 compiles all")
    kernels = () if LONG or "float64" in words else NEAREST[1:2] if is_shown else NEAREST
    done = paper(*words, *(word for kernel in kernels for word in ("--kernel", kernel)), *instructions,
                 "--check", LIMITS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"paper.json: (\d+) of \1 rows are within", done.stdout.splitlines()[-1])


@pytest.mark.skipif(not LONG, reason="amdgpu's test_targets.py looks at the build's nests: MINIAPP_TEST_LONG=1 compiles "
                                     "all for gfx90a and gfx942")
def test_limits_of_amd(clang):
    done = paper("--arch", "gfx90a", "--arch", "gfx942", "--check", LIMITS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\ntke 1 " in done.stdout and "ptxas" not in done.stdout


def test_ptx_for_both_gpus(clang, script, tmp_path):
    """It differs in the name of the target alone, as test_mock.py has it."""
    old, new = (script.compile_to_ptx(NEAREST[1], "float64", arch, tmp_path).read_text() for arch in ("sm_80", "sm_90"))
    assert old.replace("sm_80", "sm_90") == new


def test_limit_that_is_exceeded(clang, tmp_path):
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    limits["triad 1, float64"]["calls"] = -1
    del limits["triad 1, float32"], limits["any nest"]
    path = tmp_path / "limits.json"
    path.write_text(json.dumps(limits), encoding="utf-8")
    done = paper("--kernel", "triad", "--arch", "sm_90", "--check", path)
    assert done.returncode == 1
    assert done.stderr == ("run/dev/paper: triad 1, float64, sm_90: calls 0 is more than -1\n"
                           "run/dev/paper: triad 1, float32, sm_90: has no limits\n")


def test_file_without_limits(clang, tmp_path):
    path = tmp_path / "limits.json"
    path.write_text("{}", encoding="utf-8")
    done = paper("--kernel", "triad", "--arch", "sm_90", "--check", path)
    assert done.returncode == 1 and done.stderr.count("has no limits\n") == 2, done


@pytest.fixture
def script():
    return load_script("dev/paper")


def test_nest_of_a_new_kernel(script):
    """It has the limits of any nest: all but what only its own would say."""
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    row = {"nest": "new 1", "precision": "float64", "arch": "sm_90", "mode": "SPMD", "div64": 0, "calls": 0,
           "registers": 128, "stack": 0, "spilled": 0}
    assert script.excesses(row, limits) == []
    assert script.excesses({**row, "arch": "gfx942", "registers": 129, "flat": 1}, limits) == [
        "registers 129 is more than 128", "flat 1 is more than 0"]
    assert script.excesses({**row, "spilled": 8}, limits) == ["spilled 8 is more than 0"]
    assert script.excesses({**row, "mode": "generic"}, limits) == ["mode is generic"]


def test_nest_with_limits_of_its_own_for_amd(script):
    limits = {"eos 1, float64": dict.fromkeys(script.LIMITED, 0),
              "eos 1, float64, AMD": {**dict.fromkeys(script.LIMITED, 0), "registers": 136}}
    row = {"nest": "eos 1", "precision": "float64", "arch": "gfx90a", "mode": "SPMD", "registers": 136}
    assert script.excesses(row, limits) == []
    assert script.excesses({**row, "registers": 137}, limits) == ["registers 137 is more than 136"]


@pytest.mark.parametrize("row, code, said", [
    ({"calls": 0}, 0, "limits: 1 of 1 rows are within their limits; not compared, as ptxas is missing: registers"),
    ({"calls": 1}, 1, "limits: 0 of 1 rows are within their limits; not compared"),
    ({"calls": 0, "registers": 1, "stack": 0, "spilled": 0}, 0, "1 of 1 rows are within their limits\n"),
])
def test_what_was_compared_is_said(script, capsys, row, code, said):
    row = {"nest": "a 1", "precision": "float64", "arch": "sm_90", "mode": "SPMD", "nans": 0, "div64": 0, **row}
    limits = {"any nest": dict.fromkeys(script.LIMITED, 0) | {"registers": 9}}
    assert script.compare([row], limits, "limits") == code
    assert said in capsys.readouterr().out


# ---- steps; test_mock.py has those of the program ----


def test_step_with_another_launch(script):
    limits = {"any nest": {}, "ocean_step, float64": {"launches": 22}}
    row = {"nest": "ocean_step", "precision": "float64", "arch": "sm_90", "mode": "SPMD", "launches": 23}
    assert script.excesses(row, limits) == ["launches 23 is more than 22"]
    assert script.excesses({**row, "launches": 22}, limits) == []
    assert script.excesses(row, {"any nest": {}}) == ["has no limits"]


@pytest.mark.parametrize("registers, share", [(32, 1), (33, 12 / 16), (64, 8 / 16), (128, 4 / 16),
                                              (168, 3 / 16), (255, 2 / 16)])
def test_occupancy(sass, registers, share):
    """As CUDA's tables have it for blocks of 128 threads."""
    assert sass.occupancy(registers) == share


@pytest.mark.parametrize("registers, share", [(2, 1), (64, 1), (65, 7 / 8), (80, 6 / 8), (96, 5 / 8),
                                              (128, 4 / 8), (129, 3 / 8), (168, 3 / 8), (256, 2 / 8),
                                              (257, 1 / 8), (512, 1 / 8)])
def test_occupancy_of_amd(gcn, registers, share):
    """As LLVM has it for gfx90a and gfx942."""
    assert gcn.occupancy(registers) == share


def test_calls_of_a_step(script):
    """A kernel that is called twice is two calls, and so are two exchanges; a solver that iterates is one, with the
    nests that it shares with the other."""
    kernels = {"a_l1": "a", "a_l2": "a", "b_l1": "b", "s_l1": "streamfunction", "s_l2": "surface_pressure",
               "exchange_x_l1": "exchange"}
    times = script.kernels_of("sequence x: y\n  runs a, a, b, streamfunction, surface_pressure\n", "x")
    rows = {entry: {"kernel": kernel, "nest": entry} for entry, kernel in kernels.items()}
    launches = ["exchange_x_l1", "exchange_x_l1", "a_l1", "a_l2", "a_l1", "a_l2", "b_l1", "s_l1", "s_l2", "s_l1"]
    assert [[row["nest"] for row in call] for call in script.calls_of(launches, rows, times)] == [
        ["exchange_x_l1"], ["exchange_x_l1"], ["a_l1", "a_l2"], ["a_l1", "a_l2"], ["b_l1"], ["s_l1", "s_l2", "s_l1"]]


def test_sums_of_a_step(script, monkeypatch, capsys):
    """Of each kernel the larger time counts: 4300 bytes take 1 ns, 68,000 flops take 2."""
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--step", "ocean_step", "--points", "1e6"])
    calls = [[{"kernel": "exchange", "nest": "e 1"}],
             [{"kernel": "a", "nest": "a 1", "registers": 64, "spilled": 0, "occupancy": "50 %"},
              {"kernel": "a", "nest": "a 2", "registers": 65, "spilled": 8, "occupancy": "44 %"}],
             [{"kernel": "b", "nest": "b 1"}]]
    script.show_step("ocean_step", calls, {"exchange": (0, 0), "a": (4300, 0), "b": (43, 68000)}, script.arguments())
    table = [line.split() for line in capsys.readouterr().out.splitlines()[3:]]
    assert table[:4] == [["e", "1", "-", "-", "-", "0", "0", "0.0000", "0.0000"],
                         ["a", "1", "64", "0", "50", "%", "4300", "0", "1.0000", "0.0000"],
                         ["a", "2", "65", "8", "44", "%"],
                         ["b", "1", "-", "-", "-", "43", "68000", "0.0100", "2.0000"]]
    assert table[4][:2] + table[4][-4:] == ["sum:", "4", "4343", "68000", "1.0100", "2.0000"]
    assert " ".join(table[5]) == ("expected, not measured: 3.04 ns a point and step at 1,000,000 "
                                  "points, 0.04 of them launches")


def test_solver_of_a_step(script, monkeypatch, capsys):
    """Its launches here are of a small ocean: 40,000 and 10,000 cells make 8 + 8 (2 x 7 + 3) = 144, 1.44 ms, and
    40,000 (8 (4 / 3 x 134 + 52) + 3 x 48) = 79.6 MB take 0.02 ms."""
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--step", "ocean", "--points", "1e6"])
    calls = [[{"kernel": "a", "nest": "a 1"}], 5 * [{"kernel": "streamfunction", "nest": "s 1"}]]
    assert script.show_step("ocean", calls, {"a": (4300, 0), "streamfunction": (0, 0)}, script.arguments()) == 1
    *_, solver, sums, expected = capsys.readouterr().out.splitlines()
    assert solver.startswith("s 1 x 5 ") and sums.startswith("sum: 1 launches, 0 exchange ghosts ")
    assert expected.endswith(": 2.47 ns a point and step at 1,000,000 points, 0.01 of them launches, 1.46 the solver")


def test_launches_that_only_the_first_step_has(script, tmp_path):
    program = tmp_path / "program"
    executable(program, """#!/bin/sh
[ "$LIBOMPTARGET_INFO" = 16 ] || exit 1
say() { echo "info: Launching kernel __omp_offloading_fe00_51_$1_offload_float64_l7 with" >&2; }
say start; say a; say b
[ "$4" = 1 ] || { say b; say exchange; }
""")
    assert script.launches_of(program, "ocean_step") == ["b_offload_float64_l7", "exchange_offload_float64_l7"]


# ---- instructions ----

LISTING = """
.text.a_offload_float64_l7:
        .type           a_offload_float64_l7,@function
a_offload_float64_l7:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/              @!P0 EXIT ;
        /*0020*/               @P0 DFMA R4, R8, R4, R6 ;
        /*0030*/                   DMUL R4, R8, UR4 ;
        /*0040*/                   IMAD.MOV.U32 R5, RZ, RZ, 0x3ff00000 ;
        /*0050*/                   HFMA2.MMA R9, -RZ, RZ, 1.984375, 0 ;
        /*0060*/                   IMAD.WIDE.U32 R12, R12, R8, R14 ;
        /*0070*/                   IADD3.X R13, R17.reuse, UR11, RZ, P2, !PT ;
        /*0080*/                   IADD3 R13, R17, UR11, RZ ;
        /*0090*/              @!UP1 LDG.E.64 R2, [R2.64] ;
        /*00a0*/                   STG.E.64 [R4.64], R2 ;
        /*00b0*/                   STL [R1], R2 ;
        /*00c0*/                   NOP;
        /*00d0*/                   SHF.R.U32.HI R5, RZ, 0x1, R5 ;
        /*00e0*/                   ISETP.GE.AND.EX P0, PT, R3, R5, PT, P0 ;
        /*00f0*/                   RED.E.ADD.F64.RN.STRONG.GPU [R2.64], R4 ;
        /*0100*/                   FSEL R4, R5, R6, P0 ;
.text.b_offload_float64_l9:
        /*0000*/                   MUFU.RCP64H R5, R7 ;
        /*0010*/                   FSETP.GT.AND P0, PT, R2, R5, PT ;
        /*0020*/                   I2F.U32.RP R9, R0 ;
"""


@pytest.fixture
def sass():
    load_script("dev/paper")  # which finds it
    return sys.modules["sass"]


@pytest.fixture
def gcn():
    load_script("dev/paper")
    return sys.modules["gcn"]


@pytest.fixture
def gpus():
    load_script("dev/paper")
    return sys.modules["gpus"]


def test_classes_of_instructions(sass):
    a, b = sass.functions(LISTING).values()
    assert a == {"constants": 1, "control": 1, "fp64": 2, "moves": 3, "int64": 3, "other": 2, "loads": 1,
                 "stores": 1, "on chip": 1, "atomics": 1}
    assert b == {"special": 1, "fp32": 1, "convert": 1}
    assert set(a) | set(b) <= set(sass.CLASSES)


@pytest.mark.parametrize("arch, issue, fp64", [
    ("sm_80", 16 / 19491.84, 8 / 19491.84), ("sm_90", 16 / 33454.08, 4 / 33454.08),
    ("gfx90a", 16 / 11968, 2 / 11968), ("gfx942", 16 / 40857.6, 2 / 40857.6)])
def test_least_times_of_instructions(gpus, arch, issue, fp64):
    """108, 132, 110 or 304 units of four parts issue for 32 threads at once, or AMD's for 16."""
    assert gpus.issue_times(16, 2, arch) == pytest.approx((issue, fp64))


@pytest.mark.parametrize("name", ["A100", "H100", "H200", "MI250X", "MI300X"])
def test_rates_fit_clocks(gpus, name):
    """The peak of float64 is that of products and sums in one instruction, but for the vendor's rounding."""
    gpu = gpus.GPUS[name]
    assert 2 * gpu.units * gpu.fp64 * gpu.clock == pytest.approx(1e3 * gpu.rate, rel=0.02)


ASSEMBLY = """
__omp_offloading_1_2_a_offload_float64_l70:
\ts_load_dwordx4 s[0:3], s[6:7], 0x8
\ts_waitcnt lgkmcnt(0)
\ts_add_i32 s0, s0, 1
\ts_cbranch_scc1 .LBB0_2
.LBB0_1:
\tv_mov_b32_e32 v1, 0x7ff80000
\tv_accvgpr_write_b32 a0, v1
\tv_writelane_b32 v40, s30, 0
\ts_nop 0
\tv_fma_f64 v[2:3], v[2:3], s[0:1], v[4:5]
\tv_cmp_gt_f64_e32 vcc, v[2:3], v[4:5]
\tv_div_scale_f64 v[2:3], vcc, v[2:3], v[2:3], 1.0
\tv_pk_mul_f32 v[2:3], v[2:3], v[4:5]
\tv_rcp_f64_e32 v[4:5], v[2:3]
\tv_cvt_f64_i32_e32 v[4:5], v2
\tv_mad_u64_u32 v[4:5], s[0:1], v2, v3, 0
\tv_add_co_u32_e32 v2, vcc, v2, v3
\tv_addc_co_u32_e32 v3, vcc, v3, v4, vcc
\tflat_load_dwordx2 v[2:3], v[4:5]
\tflat_load_ubyte v2, v[4:5] offset:4
\tglobal_load_ubyte_d16_hi v2, v[4:5], off
\tglobal_store_dwordx4 v[4:5], v[2:3], off
\tbuffer_store_dword v40, off, s[0:3], s33
\tds_read_b32 v6, v16
\tflat_atomic_add v[4:5], v6
\ts_swappc_b64 s[30:31], s[0:1]
.LBB0_2:
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel __omp_offloading_1_2_a_offload_float64_l70
\t\t.amdhsa_next_free_vgpr 266
\t.end_amdhsa_kernel
.Lfunc_end0:

__omp_offloading_1_2_b_offload_float64_l9:
\ts_mov_b32 s0, 0x5f7ffffc
.Lfunc_end1:

__omp_offloading_1_2_a_offload_float64_l70_kernel_environment:
\t.byte\t0
\t.byte\t0
\t.byte\t2
__omp_offloading_1_2_b_offload_float64_l9_kernel_environment:
\t.byte\t1
\t.byte\t0
\t.byte\t1
\t.amdgpu_metadata
amdhsa.kernels:
""" + "".join(f"""  - .agpr_count:     {agprs}
    .args:
      - .offset:         0
        .value_kind:     by_value
    .name:           __omp_offloading_1_2_{name}_offload_float64_l{line}
    .private_segment_fixed_size: 8
    .sgpr_count:     100
    .sgpr_spill_count: 129
    .vgpr_count:     {registers}
    .vgpr_spill_count: 4
""" for name, line, registers, agprs in (("a", 70, 266, 10), ("b", 9, 24, 0))) + "amdhsa.target:   amdgcn-amd\n"


def test_nests_of_amd(gcn, sass):
    (first, b, _), (second, a, count) = gcn.nests(ASSEMBLY)
    assert [first[-6:], second[-6:]] == ["t64_l9", "64_l70"]
    both = {"SGPRs": 100, "SGPR spills": 129, "stack": 8, "spilled": 4}
    assert a == {"mode": 2, "nans": 1, "div64": 0, "calls": 1, "loads": 10, "stores": 16, "registers": 266,
                 "AGPRs": 10, "flat": 3, **both}
    assert b == {"mode": 1, "nans": 0, "div64": 1, "calls": 0, "loads": 0, "stores": 0, "registers": 24,
                 "AGPRs": 0, "flat": 0, **both}
    assert count == {"constants": 1, "scalar": 1, "control": 3, "moves": 3, "fp64": 3, "fp32": 1,
                     "special": 1, "convert": 1, "int64": 2, "other": 1, "loads": 3, "stores": 1,
                     "on chip": 2, "atomics": 1}
    assert set(count) <= set(gcn.CLASSES) and set(gcn.CLASSES) == {*sass.CLASSES, "scalar"}
    assert gcn.issued(count) == 3 + 3 + 1 + 1 + 1 + 2 + 1
    unknown = ASSEMBLY.replace("_kernel_environment", "_environment")
    assert [nest["mode"] for _, nest, _ in gcn.nests(unknown)] == [0, 0]


def test_rows_of_amd(script, monkeypatch, tmp_path):
    path = tmp_path / "a.s"
    path.write_text(ASSEMBLY)
    monkeypatch.setattr(script, "compile_to_gcn", lambda *_: path)
    b, a = script.rows_of("a", "float64", "gfx90a", tmp_path, None)
    assert (b["nest"], b["mode"], b["occupancy"]) == ("a: b 1", "generic", "100 %")
    assert (a["nest"], a["mode"], a["occupancy"]) == ("a 1", "SPMD", "12 %")
    assert a["instructions: fp64"] == 3 and a["loads"] == 10 and a["ns fp64"] == f"{3 / 11968:.4f}"
    _, a = script.rows_of("a", "float64", "gfx950", tmp_path, None)
    assert "occupancy" not in a and "ns issue" not in a


def test_columns_of_amd(script, monkeypatch):
    for words, last in (("--arch gfx90a", "flat"), ("--arch sm_90", "occupancy"),
                        ("--arch sm_90 --arch gfx90a", "flat")):
        monkeypatch.setattr("sys.argv", [str(SCRIPT), *words.split()])
        assert script.columns_of(script.arguments())[-1] == last
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--arch", "gfx90a", "--instructions"])
    assert "instructions: scalar" in script.columns_of(script.arguments())


def test_instructions_for_a_gpu_that_is_not_known():
    done = paper("--instructions", "--arch", "sm_86")
    assert done.returncode == USAGE
    assert "--instructions knows sm_80, sm_90, gfx90a, gfx942, not 'sm_86'" in done.stderr


def test_nvdisasm_that_leaves_out_a_nest(script, tmp_path, capsys):
    ptxas, nvdisasm = tools_that_are_made_up(tmp_path)
    (tmp_path / "listing").write_text("")
    with pytest.raises(SystemExit) as ended:
        script.assembled(script.Tools(ptxas, nvdisasm, ()), tmp_path / "a.ptx", "sm_90")
    assert ended.value.code == DEVICE
    assert capsys.readouterr().err == f"run/dev/paper: {nvdisasm} says nothing of a_offload_float64_l7\n"


def tools_that_are_made_up(folder):
    """A ptxas that keeps its words, and an nvdisasm."""
    executable(folder / "ptxas", f"""#!/bin/sh
echo "$*" >>{folder}/words
echo "ptxas info : Compiling entry function 'a_offload_float64_l7' for 'sm_90'
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info : Used 65 registers" >&2
""")
    (folder / "listing").write_text(LISTING)
    executable(folder / "nvdisasm", f"#!/bin/sh\ncat {folder}/listing\n")
    return folder / "ptxas", folder / "nvdisasm"


@pytest.mark.parametrize("words, first", [((), "-v"), (("-c",), "-c")])
def test_instructions_of_a_nest(script, tmp_path, words, first):
    ptxas, nvdisasm = tools_that_are_made_up(tmp_path)
    row = script.assembled(script.Tools(ptxas, nvdisasm, words), tmp_path / "a.ptx", "sm_90")["a_offload_float64_l7"]
    assert (tmp_path / "words").read_text().split()[0] == first
    assert row["registers"] == 65 and row["occupancy"] == "44 %" and row["instructions"] == 16
    assert row["instructions: fp64"] == 2 and row["instructions: fp32"] == 0
    limit = dict.fromkeys(script.LIMITED, 99)
    row = {**row, "nest": "a 1", "precision": "float64", "arch": "sm_90", "mode": "SPMD"}
    assert script.excesses(row, {"a 1, float64": {**limit, "instructions": 15}}) == ["instructions 16 is more than 15"]
    assert script.excesses(row, {"a 1, float64": {**limit, "instructions": 16}}) == []


def test_linked_code_and_instructions_by_option(script, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(script, "find_tool", lambda name: (tmp_path / name, "1"))
    for words, expected in (((), (None, ())), (("--linked",), (None, ("-c",))),
                            (("--instructions",), (tmp_path / "nvdisasm", ()))):
        monkeypatch.setattr("sys.argv", [str(SCRIPT), *words])
        assert script.find_tools(script.arguments())[1:] == expected
    monkeypatch.setattr(script, "find_tool", lambda _: (None, None))
    with pytest.raises(SystemExit) as ended:
        script.find_tools(script.arguments())
    assert ended.value.code == DEVICE
    assert capsys.readouterr().err == "run/dev/paper: --instructions needs ptxas and nvdisasm\n"


def test_linker_that_fails(clang, script, monkeypatch, tmp_path, capsys):
    executable(tmp_path / "linker", "#!/bin/sh\necho 'error: made up' >&2\nexit 1\n")
    monkeypatch.setattr(script, "LINKER", tmp_path / "linker")
    with pytest.raises(SystemExit) as ended:
        list(script.rows_of("triad", "float64", "gfx90a", tmp_path, None))
    assert ended.value.code == DEVICE
    assert capsys.readouterr().err == (f"run/dev/paper: {tmp_path}/linker fails on triad_float64_gfx90a.bc: "
                                       "error: made up\n")


# ---- bounds ----


def test_bounds(gpus, script):
    """1600 bytes take the memory of half an MI250X 1 ns, and so do 23,900 flops."""
    assert gpus.least_times((1600, 0), 1.6, 23.9) == (1, 0)
    assert script.bound((1600, 23800), gpus.GPUS["MI250X"]) == "1.0000 bytes"
    assert script.bound((1600, 47800), gpus.GPUS["MI250X"]) == "2.0000 flops"


def test_bounds_of_kernels(miniapp, gpus):
    """Of all kernels, or those that are named: of triad 24 bytes and 2 flops."""
    done = paper("--bound", "--program", miniapp.path, env=miniapp.environment())
    assert done.returncode == 0 and done.stderr == "", done
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[len(gpus.GPUS) + 1:]}
    assert rows["kernel"] == ["bytes", "flops", *gpus.GPUS]
    assert rows["triad"] == "24 2 0.0120 bytes 0.0072 bytes 0.0050 bytes 0.0150 bytes 0.0045 bytes".split()
    assert "eos" in rows and "exchange" not in rows
    done = paper("--bound", "--program", miniapp.path, "--kernel", "eos", env=miniapp.environment())
    assert done.stdout.splitlines()[-1].startswith("eos ") and "triad" not in done.stdout


def test_bounds_by_a_program_of_other_sources(tmp_path):
    executable(tmp_path / "old", "#!/bin/sh\n:\n")
    done = paper("--bound", "--kernel", "tke", "--program", tmp_path / "old")
    assert done.returncode == DEVICE and done.stdout == "", done
    assert done.stderr == f"run/dev/paper: {tmp_path}/old lists no kernel 'tke': build it again\n"


def test_bounds_by_any_build(script, monkeypatch, tmp_path, capsys):
    """What ./run/quickstart has built will do; for steps it takes a device."""
    monkeypatch.setattr(script, "ROOT", tmp_path)
    host = tmp_path / "build/host/bin/miniapp"
    executable(host, "#!/bin/sh\necho 'tke: x costs 1 bytes and 2 flops'\n")
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--bound", "--kernel", "tke"])
    assert script.main() == 0 and "\ntke " in capsys.readouterr().out
    host.unlink()
    for words in (["--bound"], ["--step", "ocean_step"]):
        monkeypatch.setattr("sys.argv", [str(SCRIPT), *words])
        with pytest.raises(SystemExit) as ended:
            script.main()
        output, said = capsys.readouterr()
        assert ended.value.code == DEVICE and output == ""
        assert re.search("there is no program .*: build it by 'cmake --preset emulated && ", said)


# ---- what it cannot use ----


@pytest.mark.parametrize("words, said", [
    (("--linked", "--check", str(LIMITS)), "limits of whole programs: leave --linked out"),
    (("--bound", "--arch", "gfx90a"), "--bound looks at no code: leave --step, --arch, "),
    (("--bound", "--check", str(LIMITS)), "--bound looks at no code: leave --step, --arch, "),
    (("--step", "none"), "invalid choice: 'none'"),
    (("--step", "ocean_step", "--kernel", "tke"), "leave --kernel, --arch and --instructions out"),
    (("--step", "ocean_step", "--instructions"), "leave --kernel, --arch and --instructions out"),
    (("--step", "ocean_step", "--launch", "0"), "--launch: takes a number above 0, not '0'"),
    (("--step", "ocean_step", "--bandwidth", "nan"), "--bandwidth: takes a number above 0, not 'nan'"),
])
def test_wrong_usage(words, said):
    done = paper(*words)
    assert done.returncode == USAGE and said in done.stderr and done.stdout == "", done


@pytest.mark.parametrize("words, precisions", [((), ["float64", "float32"]), (("--precision", "float32"), ["float32"])])
def test_precisions_by_option(script, monkeypatch, tmp_path, words, precisions):
    monkeypatch.setattr(script, "rows_of", lambda kernel, precision, *_: [{"precision": precision}])
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--kernel", "triad", "--arch", "sm_90", *words])
    rows = script.show_nests(script.arguments(), tmp_path, None)
    assert [row["precision"] for row in rows] == precisions


@pytest.mark.parametrize("text, said", [
    (None, ": cannot be run: No such file or directory"),
    ("echo 'info: Launching kernel a' >&2; echo 'miniapp: no such device' >&2; exit 4",
     " fails: miniapp: no such device"),
    (":", " reports no launch: it needs the offload runtime of clang-19"),
])
def test_program_that_has_no_launches(clang, tmp_path, text, said):
    program = tmp_path / "program"
    if text:
        executable(program, f"#!/bin/sh\n{text}\n")
    done = paper("--step", "ocean_step", "--program", program)
    assert done.returncode == DEVICE and done.stderr == f"run/dev/paper: {program}{said}\n", done
    assert "expected" not in done.stdout


def test_program_of_other_sources(script, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--step", "ocean_step", "--program", "old"])
    monkeypatch.setattr(script, "run", lambda *_: subprocess.CompletedProcess(
        [], 0, "sequence ocean_step: a step\n  runs tke\n"))
    monkeypatch.setattr(script, "launches_of", lambda *_: ["tke_l1"])
    monkeypatch.setattr(script, "rows_of", lambda *_: [])
    with pytest.raises(SystemExit) as ended:
        list(script.show_steps(script.arguments(), tmp_path, None))
    assert ended.value.code == DEVICE
    assert capsys.readouterr().err == ("run/dev/paper: old launches tke_l1, which is not in its "
                                       "kernels' sources: build it again\n")


def test_ptxas_that_refuses_the_ptx(script, tmp_path, capsys):
    """Its columns would be empty, and the limits unchecked."""
    ptxas = tmp_path / "ptxas"
    executable(ptxas, "#!/bin/sh\necho 'made up' >&2\necho 'fatal: no such ISA' >&2\nexit 255\n")
    with pytest.raises(SystemExit) as ended:
        script.assembled(script.Tools(ptxas, None, ()), tmp_path / "eos.ptx", "sm_90")
    said = capsys.readouterr().err
    assert ended.value.code == DEVICE
    assert said == f"run/dev/paper: {ptxas} fails on eos.ptx: fatal: no such ISA\n"


def test_ptxas_that_leaves_out_a_nest(script, tmp_path, monkeypatch, capsys):
    name = "__omp_offloading_1_2_eos_offload_float64_l3"
    ptx = tmp_path / "eos.ptx"
    ptx.write_text(f".entry {name}(\n)\n{{\n}}\n.u8 {name}_kernel_environment[9] = {{0, 1, 2}};")
    monkeypatch.setattr(script, "compile_to_ptx", lambda *_: ptx)
    monkeypatch.setattr(script, "assembled", lambda *_: {})
    with pytest.raises(SystemExit) as ended:
        list(script.rows_of("eos", "float64", "sm_90", tmp_path, script.Tools("/a/ptxas", None, ())))
    assert ended.value.code == DEVICE
    assert capsys.readouterr().err == f"run/dev/paper: /a/ptxas says nothing of {name}\n"


@pytest.mark.parametrize("text", [None, "", "nonsense", "[]", '{"eos 1, float64": {"div64": 0}}',
                                  '{"eos 1, float64": 3}', '{"ocean_step, float64": {"div64": 0}}',
                                  '{"any nest": {"nans": 0, "div64": 0, "calls": 0, "registers": 9, '
                                  '"stack": 0, "spilled": 0, "stores": "8"}}', b"\x89HDF\xff"])
def test_limits_that_cannot_be_used(tmp_path, text):
    path = tmp_path / "limits.json"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert_failed(paper("--check", path), INPUT, start=f"run/dev/paper: {path}: ")


def test_kernel_that_is_not_there():
    done = paper("--kernel", "none")
    assert done.returncode == USAGE and "there is no kernel 'none'" in done.stderr
