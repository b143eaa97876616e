"""The GPU code of every kernel stays within the limits of paper.json."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys

import pytest

from conftest import DEVICE, HERE, INPUT, USAGE, assert_one_line
from processes import DEADLINE_S

LIMITS = HERE / "paper.json"


def paper(*words):
    return subprocess.run([sys.executable, HERE.parent / "run" / "paper", *words],
                          capture_output=True, text=True, check=False, timeout=DEADLINE_S)


@pytest.fixture
def clang(miniapp):
    if miniapp.offload != "yes" or "Clang" not in miniapp.run("--version").stdout:
        pytest.skip("looks at the GPU code of Clang's build only")


def test_limits(clang):
    done = paper("--check", LIMITS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_limit_that_is_exceeded(clang, tmp_path):
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    limits["triad 1, float64"]["calls"] = -1
    del limits["triad 1, float32"], limits["any nest"]
    path = tmp_path / "limits.json"
    path.write_text(json.dumps(limits), encoding="utf-8")
    done = paper("--kernel", "triad", "--arch", "sm_90", "--check", path)
    assert done.returncode == 1
    assert done.stderr == ("run/paper: triad 1, float64, sm_90: calls 0 is more than -1\n"
                           "run/paper: triad 1, float32, sm_90: has no limits\n")


def test_file_without_limits(clang, tmp_path):
    path = tmp_path / "limits.json"
    path.write_text("{}", encoding="utf-8")
    done = paper("--kernel", "triad", "--arch", "sm_90", "--check", path)
    assert done.returncode == 1 and done.stderr.count("has no limits\n") == 2, done


def load_script():
    """run/paper as a module."""
    loader = importlib.machinery.SourceFileLoader("paper", str(HERE.parent / "run" / "paper"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("paper", loader))
    loader.exec_module(module)
    return module


@pytest.fixture
def script():
    return load_script()


def test_nest_of_a_new_kernel(script):
    """It has the limits of any nest: all but what only its own would say."""
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    row = {"nest": "new 1", "precision": "float64", "mode": "SPMD", "div64": 0, "calls": 0,
           "registers": 255, "stack": 0, "spilled": 0}
    assert script.excesses(row, limits) == []
    assert script.excesses({**row, "spilled": 8}, limits) == ["spilled 8 is more than 0"]
    assert script.excesses({**row, "mode": "generic"}, limits) == ["mode is generic"]


# ---- what it cannot use ----


def test_ptxas_that_refuses_the_ptx(script, tmp_path, capsys):
    """Its columns would be empty, and the limits unchecked."""
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("#!/bin/sh\necho 'made up' >&2\necho 'fatal: no such ISA' >&2\nexit 255\n")
    ptxas.chmod(0o755)
    with pytest.raises(SystemExit) as ended:
        script.assembled(ptxas, tmp_path / "eos.ptx", "sm_90")
    said = capsys.readouterr().err
    assert ended.value.code == DEVICE
    assert said == f"run/paper: {ptxas} fails on eos.ptx: fatal: no such ISA\n"


def test_ptxas_that_leaves_out_a_nest(script, tmp_path, monkeypatch, capsys):
    name = "__omp_offloading_1_2_eos_offload_float64_l3"
    ptx = tmp_path / "eos.ptx"
    ptx.write_text(f".entry {name}(\n)\n{{\n}}\n.u8 {name}_kernel_environment[9] = {{0, 1, 2}};")
    monkeypatch.setattr(script, "compile_to_ptx", lambda *_: ptx)
    monkeypatch.setattr(script, "assembled", lambda *_: {})
    with pytest.raises(SystemExit) as ended:
        list(script.rows_of("eos", "float64", "sm_90", tmp_path, "/a/ptxas", []))
    assert ended.value.code == DEVICE
    assert capsys.readouterr().err == f"run/paper: /a/ptxas says nothing of {name}\n"


@pytest.mark.parametrize("text", [None, "", "nonsense", "[]", '{"eos 1, float64": {"div64": 0}}',
                                  '{"eos 1, float64": 3}', b"\x89HDF\xff"])
def test_limits_that_cannot_be_used(tmp_path, text):
    path = tmp_path / "limits.json"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = paper("--check", path)
    assert done.returncode == INPUT and done.stdout == "", done
    assert_one_line(done.stderr)
    assert done.stderr.startswith(f"run/paper: {path}: "), done.stderr


def test_kernel_that_is_not_there():
    done = paper("--kernel", "none")
    assert done.returncode == USAGE and "there is no kernel 'none'" in done.stderr
