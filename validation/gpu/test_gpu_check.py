"""run/gpu-check, on the emulated device: that it measures and judges; not what a GPU does."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import DEVICE, DONE, OUTPUT, USAGE, assert_failed
from peers import results
from processes import DEADLINE_S, completed, executable, load_script, wait_for

SCRIPT = Path(__file__).resolve().parents[2] / "run" / "gpu-check"

# In the place of a program for a GPU: all is well, and its sweep lasts until it is asked to end.
PROGRAM = f"""#!{sys.executable}
import json, signal, sys

ROW = {{"kernel": "a_new_one", "precision": "float64", "points": 4096, "median_s": 1e-5,
       "ns_per_point": 2.5, "gb_per_s": 9.0}}


if "--list-devices" in sys.argv:
    print("gpu:0 made up; an empty kernel takes 5 us")
elif "--list-variants" in sys.argv:
    print("distribute: offload: the default")
elif "--validate" in sys.argv:
    print(json.dumps({{"validation": [{{"passed": True}}]}}))
elif "--checksums" in sys.argv:
    print(json.dumps({{"checksums": {{"dHdT": "0"}}}}))
else:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # it comes when it is waited for
    open(sys.argv[0] + ".sweeps", "w").close()
    signal.sigwait([signal.SIGTERM])
    print(json.dumps({{"results": [ROW]}}), flush=True)
    sys.exit(143)
"""

# The program, with few and small rows, of one call each.
QUICK_PROGRAM = """#!/bin/sh
for word; do
  shift
  case $word in
  --sweep) set -- "$@" --size 4096 ;;
  --checksums) set -- "$@" "$word" --size 4096 ;;
  1048576 | 65536) set -- "$@" 8192 ;;
  *) set -- "$@" "$word" ;;
  esac
done
case $* in *--list-* | *--steps*) ;; *) set -- "$@" --repetitions 1 --burnin 0 ;; esac
exec {miniapp} "$@"
"""


@pytest.fixture
def program(miniapp, tmp_path):
    if miniapp.offload != "emulated":
        pytest.skip("takes a program that is made up, where the device is emulated")
    executable(tmp_path / "program", PROGRAM)
    return tmp_path / "program"


def gpu_check(miniapp, *words, script=SCRIPT, env=None):
    return completed([sys.executable, script, "--miniapp", miniapp.path, *words], env=miniapp.environment(env))


def test_emulated_device(miniapp, tmp_path):
    if miniapp.offload != "emulated":
        pytest.skip("needs a build with emulated offload")
    check_all_steps(miniapp, tmp_path, {"OMP_NUM_THREADS": "1"})  # several, as other tests have, mostly wait


def check_all_steps(miniapp, tmp_path, env=None):
    """From end to end, on few and small rows; what it has found."""
    executable(tmp_path / "program", QUICK_PROGRAM.format(miniapp=miniapp.path))
    for name in ("inputs", "validation", "python", "run/peers"):  # but no run/compare, which takes long
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(SCRIPT.parents[1] / name)
    pairs = "PAIRS = ROUGH[0]._replace(words=()), ROUGH[-1]\n"  # others have all of them
    for name, more in ("gpu-check", ""), ("safely.py", ""), ("pairs.py", pairs):
        executable(tmp_path / "run" / name, (SCRIPT.parent / name).read_text() + more)
    done = gpu_check(miniapp, "--miniapp", tmp_path / "program", "--size", "5000", "-o", tmp_path / "out",
                     script=tmp_path / "run" / "gpu-check", env=env)
    assert done.returncode == DONE, done
    assert "validation PASSED; two runs give the same bits" in done.stdout
    result = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert result["validation_passed"] is True and result["same_bits"] is True
    assert 0 < result["empty_call_s"] < 1
    steps = {step["name"]: step for step in result["steps"]}
    for precision in ("float64", "float32"):
        verdicts = steps[f"validation, rough, {precision}"]["data"]["validation"]
        assert {verdict["kernel"] for verdict in verdicts} >= {str(kernel) for kernel in miniapp.kernels}
    assert steps["validation, 2 steps of ocean_step_forced on rough, float64"]["data"]["validation"]
    for step in ("sweep, float64", "5000 points, float64", "sweep, float32", "transfers at each call"):
        assert steps[step]["outcome"] == "done" and steps[step]["data"]["results"]
    listing = miniapp.passes("--list-variants", quick=False)
    variants = [name for name in re.findall(r"^(\w+): offload: (?!.*not in this build)", listing, re.MULTILINE)
                if name != "distribute"]
    for name in variants:
        verdicts = steps[f"validation of variant {name}, rough, float64"]["data"]["validation"]
        assert {verdict["variant"] for verdict in verdicts} == {name}
    for choice in ("as it is", "blocks used again", "the host waits", "as it is, again",
                   *(f"variant {name}" for name in variants)):
        step = steps[f"choice: {choice}"]
        assert step["outcome"] == "done" and len(step["data"]["results"]) == 10
    assert "\ntimes of choices, as ratios\n" in done.stdout
    drawn = {(row["kernel"], row["precision"]) for row in results.read(tmp_path / "out.json")}
    assert {("eos", "float64"), ("eos", "float32")} <= drawn  # by run/plot
    assert steps["peers"]["outcome"] == "skipped: run/compare is not here"
    assert all(step["outcome"] for step in result["steps"])
    return result


def test_gpu_that_is_not_there(miniapp, tmp_path):
    if miniapp.offload != "yes" or "gpu" in miniapp.devices:
        pytest.skip("needs a build for GPUs, and none of them here")
    done = gpu_check(miniapp, "-o", tmp_path / "out")
    assert done.returncode == DEVICE
    assert "run/gpu-check: the GPU cannot be used: miniapp: device 'gpu'" in done.stderr


def test_other_builds(tmp_path, program, monkeypatch, capsys):
    """Times of one that is wrong are of no interest. Ratios are to the program as it is."""
    script = load_script("gpu-check")
    other, right = tmp_path / "other", tmp_path / "right"
    executable(other, "#!/bin/sh\nexit 1\n")
    for path, factor in (program, 1), (right, 3):
        executable(path, f"""#!{sys.executable}
import json, os
seconds = {factor} * (2 if os.environ.get("MINIAPP_SPIN") == "0" else 1)
print(json.dumps({{"validation": [{{"passed": True}}],
                  "results": [{{"kernel": "eos", "points": 7, "median_s": seconds}}]}}))
""")
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--miniapp", str(program), "--other", str(other),
                                     "--other", str(right)])
    check = script.Check(script.arguments())
    script.choose(check)
    codes = {step["exit_code"] for step in check.steps if str(other) in step["name"]}
    assert codes == {1} and not any(step["name"] == f"choice: {other}" for step in check.steps)
    capsys.readouterr()
    script.print_choices(check)
    title, heads, row = capsys.readouterr().out.strip().splitlines()
    assert title == "times of choices, as ratios"
    assert re.split("  +", heads) == ["kernel", "points", "blocks used again", "the host waits", str(right),
                                       "as it is, again"]
    assert row.split() == ["eos", "7", "1.000", "2.000", "3.000", "1.000"]


def test_program_that_is_not_there(miniapp, tmp_path):
    done = completed([sys.executable, SCRIPT, "--miniapp", tmp_path / "none"])
    assert done.returncode == USAGE and "there is no program" in done.stderr


def test_signal_that_ends_it_loses_no_step(program, tmp_path):
    with subprocess.Popen([sys.executable, SCRIPT, "--miniapp", program, "-o", tmp_path / "out"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(program.with_suffix(".sweeps").exists, process)
        process.send_signal(signal.SIGTERM)  # as Ctrl-C, which a job in the background ignores
        output, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert errors.splitlines()[-1].startswith("run/gpu-check: stopped by the user; ")
    result = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert result["validation_passed"] is True and result["same_bits"] is True
    last = result["steps"][-1]
    assert last["name"] == "sweep, float64" and last["outcome"] == "stopped by the user"
    assert last["data"]["results"][0]["points"] == 4096
    assert re.search("^a_new_one +float64 +4096 ", output, re.MULTILINE)
    assert result["results"] == last["data"]["results"]


@pytest.fixture
def signals():
    """Those that a script in this process listens to are as they were, afterwards."""
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.fixture
def script(program, tmp_path, monkeypatch, signals):
    monkeypatch.setattr("sys.argv", [str(SCRIPT), "--miniapp", str(program), "-o", str(tmp_path / "out"),
                                     "--budget", "1000"])
    return load_script("gpu-check")


def test_signal_while_a_step_starts(script, program, monkeypatch):
    """Its process is ended, and what it says is recorded."""
    class Signalled(subprocess.Popen):
        def __init__(self, *words, **options):
            super().__init__(*words, **options)
            wait_for(program.with_suffix(".sweeps").exists, self)
            os.kill(os.getpid(), signal.SIGTERM)

    check = script.Check(script.arguments())
    signal.signal(signal.SIGTERM, check.stop)
    monkeypatch.setattr(subprocess, "Popen", Signalled)
    with pytest.raises(KeyboardInterrupt):
        check.miniapp("a sweep", 60)
    step, = check.steps
    assert step["outcome"] == "stopped by the user" and step["exit_code"] == 143
    assert step["data"]["results"][0]["points"] == 4096


def test_two_signals_kill_what_does_not_end(script, program, monkeypatch):
    class Signalled(subprocess.Popen):
        def communicate(self, input=None, timeout=None):
            wait_for(program.with_suffix(".sweeps").exists, self)
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGTERM)
            return super().communicate(input, timeout)

    executable(program, PROGRAM.replace("sigwait([signal.SIGTERM])", "sigwait([signal.SIGUSR1])"))
    check = script.Check(script.arguments())
    signal.signal(signal.SIGTERM, check.stop)
    monkeypatch.setattr(subprocess, "Popen", Signalled)
    for _ in range(2):  # no other step begins
        with pytest.raises(KeyboardInterrupt):
            check.miniapp("a sweep", 60)
    step, = check.steps
    assert step["outcome"] == "stopped by the user" and step["exit_code"] == -signal.SIGKILL


def test_time_that_is_up(script, program, tmp_path, monkeypatch):
    """What is stopped reports what it has; what has no time left says so."""
    class Slow(subprocess.Popen):
        """Its limit and all time pass as soon as it sweeps."""

        def communicate(self, input=None, timeout=None):
            if "--sweep" in self.args and timeout and timeout > 15:  # not of its end
                wait_for(program.with_suffix(".sweeps").exists, self)
                monkeypatch.setattr(time, "monotonic", lambda now=time.monotonic: now() + 1000)
                raise subprocess.TimeoutExpired(self.args, timeout)
            return super().communicate(input, timeout)

    monkeypatch.setattr(subprocess, "Popen", Slow)
    assert script.main() == DONE
    steps = {step["name"]: step for step in json.loads((tmp_path / "out.json").read_text())["steps"]}
    assert re.fullmatch("stopped after [0-9]+ s", steps["sweep, float64"]["outcome"])
    assert steps["sweep, float64"]["data"]["results"][0]["points"] == 4096
    assert steps["sweep, float32"]["outcome"] == "skipped: no time left"


def test_folder_that_is_not_there(program, tmp_path):
    done = completed([sys.executable, SCRIPT, "--miniapp", program, "-o", tmp_path / "none" / "x"])
    assert_failed(done, OUTPUT, "folder", "run/gpu-check: ")
