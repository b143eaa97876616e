"""run/regress: its verdicts and exit codes, with a miniapp that is made up, and once with ours."""

import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
from random import Random

import pytest

from conftest import (DEVICE, DONE, GRID, GRID_REFERENCE, HERE, INPUT, MISMATCH, OUTPUT, USAGE,
                      assert_failed, assert_one_line)
from peers import abba
from processes import DEADLINE_S, completed, executable, forked, load_script, wait_for

REGRESS = HERE.parent / "run/regress"

# In miniapp's place: its n-th run prints the file printed.n, and ends as `code` says.
MADE_UP = """#!/bin/sh
here=${0%/*}
case "$*" in
*/rough.h5* | */switched.h5* | */masks.h5*)
  [ ! -e "$here/others" ] || read -r others <"$here/others"
  exit "${others:-0}" ;;
esac
echo "$@" >"$here/words"
[ ! -e "$here/all_words" ] || echo "$@" >>"$here/all_words"
printf . >>"$here/runs"
read -r runs <"$here/runs"
read -r code <"$here/code"
[ "$code" != 0 ] || exec cat "$here/printed.${#runs}"
cat "$here/printed.${#runs}"
echo "miniapp: out of memory, say" >&2
exit "$code"
"""
PROCESSES = 7  # that run/regress starts
STATE = {"spread": 0.01, "speed": 1.0, "costs": {"eos": 3.0, "tke": 5.0}, "bits": "a",
         "passed": True, "code": 0, "input": "i", "flickers": -1,
         "fma": 0.5}
EOS, TKE, TRIAD, FMA, APART = (f"{kernel}/cpu/float64" for kernel in ("eos", "tke", "triad", "fma",
                                                                        "fma:triad"))


def run(*words):
    return forked("regress", *words)


def printed(turn, state):
    """What a run prints. Costs grow by up to `spread` from process to process."""
    noise = 1 + state["spread"] * (turn % 5)
    bits = state["bits"] + str(turn) * (turn % PROCESSES == state["flickers"])
    row = {"device": "cpu", "precision": "float64", "bytes": 2.0, "flops": 2.0, "points": 8}
    return {
        "provenance": {"cpu": "c", "threads": "1", "device": "cpu", "input_sha256": state["input"]},
        "results": [{**row, "kernel": "triad", "min_s": state["speed"]},
                    {**row, "kernel": "fma", "min_s": state["fma"] * state["speed"]}] + [
                   {**row, "kernel": kernel, "min_s": noise * state["speed"] * cost,
                    "best_ceiling_bytes_per_s": 2 / state["speed"],
                    "best_ceiling_flops_per_s": 2 / state["fma"] / state["speed"]}
                   for kernel, cost in state["costs"].items()],
        "checksums": [{**row, "kernel": kernel, "variable": "K", "sha256": bits}
                      for kernel in state["costs"]],
        "validation": [{**row, "kernel": kernel, "variable": "K", "passed": state["passed"],
                        "max_rel": 0.0} for kernel in state["costs"] if state["passed"] is not None]}


class MadeUp:
    def __init__(self, folder):
        self.folder, self.baseline = folder, folder / "baseline.json"
        self.program, self.runs = folder / "miniapp", folder / "runs"
        executable(self.program, MADE_UP)

    def will_print(self, **changes):
        """What its next runs print."""
        state = {**STATE, **changes}
        done = len(self.runs.read_text()) if self.runs.exists() else 0
        for turn in range(done, done + PROCESSES):
            (self.folder / f"printed.{turn + 1}").write_text(json.dumps(printed(turn, state)))
        (self.folder / "code").write_text(str(state["code"]))

    def regress(self, *words, **changes):
        self.will_print(**changes)
        return run(*words, "--miniapp", self.program)

    def save(self, path=None, **changes):
        path = path or self.baseline
        done = self.regress("save", path, **changes)
        assert done.returncode == DONE and done.stderr == "", done
        return path

    def check(self, **changes):
        """Exit code and {row: entry}."""
        done = self.regress("check", self.baseline, "--format", "json", **changes)
        assert done.stderr == "", done
        return done.returncode, {entry["row"]: entry for entry in json.loads(done.stdout)}


@pytest.fixture
def made_up(tmp_path):
    return MadeUp(tmp_path)


@pytest.mark.parametrize("action", ["save", "check"])
def test_other_stored_inputs(made_up, action):
    """A program that disagrees with their references alone."""
    made_up.save()
    (made_up.folder / "others").write_text("1")
    if action == "check":
        code, rows = made_up.check()
        assert code == MISMATCH and rows["rough/float64"]["numbers"] == "changed" and "rough/float32" not in rows
        table = made_up.regress("check", made_up.baseline).stdout
        assert re.search("^switched/float64 +- +- +changed$", table, re.MULTILINE)
    else:
        done = made_up.regress("save", made_up.baseline)
        assert done.returncode == MISMATCH and "rough/float64: fails validation" in done.stderr


# ---- speed ----

def test_the_same(made_up):
    made_up.save()
    code, rows = made_up.check()
    assert code == DONE and list(rows) == [EOS, TKE, TRIAD, FMA, APART]
    for row in (rows[EOS], rows[TKE]):
        assert (row["numbers"], row["speed"], row["outputs"]) == ("same", "", [])
        assert row["ratio"] == pytest.approx(1, abs=0.05) and row["margin"] == 0.1
    for row in (rows[TRIAD], rows[FMA]):
        assert (row["numbers"], row["speed"], row["outputs"]) == ("-", "", [])
        assert row["ratio"] == 1 and row["margin"] == 0.5
    assert rows[APART]["ratio"] == 1 and rows[APART]["margin"] == 0.25


def test_a_slow_machine_is_not_slow_code(made_up):
    made_up.save()
    code, rows = made_up.check(speed=1.4)
    assert code == DONE and not any(row["speed"] for row in rows.values())


def test_a_slow_machine_is_told(made_up):
    made_up.save()
    code, rows = made_up.check(speed=1.6)
    assert code == DONE
    assert [row["speed"] for row in rows.values()] == ["", "", "slower", "slower", ""]
    table = made_up.regress("check", made_up.baseline, speed=1.6).stdout
    assert table.count("slower: the machine, or both ceilings") == 2


@pytest.mark.parametrize("fma, speed", [(0.7, "slower"), (0.35, "faster")])
def test_ceilings_that_move_apart(made_up, fma, speed):
    """As by a compiler that no longer vectorizes: eos, which fma binds, may hide behind it."""
    made_up.save()
    code, rows = made_up.check(fma=fma)
    assert code == MISMATCH and rows[APART]["speed"] == speed and rows[FMA]["speed"] == ""
    table = made_up.regress("check", made_up.baseline, fma=fma).stdout
    assert "the ceilings moved apart: costs do not compare" in table


@pytest.mark.parametrize("factor, code, verdict", [
    (1.05, DONE, ""), (1.15, MISMATCH, "slower"), (0.95, DONE, ""), (0.85, DONE, "faster")])
def test_one_row_moves(made_up, factor, code, verdict):
    made_up.save()
    found, rows = made_up.check(costs={"eos": 3.0, "tke": 5.0 * factor})
    assert found == code and rows[EOS]["speed"] == "" and rows[TKE]["speed"] == verdict
    assert rows[TKE]["ratio"] == pytest.approx(factor, rel=0.05)


def test_noise_widens_the_margin(made_up):
    made_up.save(spread=0.2)
    code, rows = made_up.check(spread=0.2, costs={"eos": 3.0, "tke": 6.0})
    assert code == DONE and rows[TKE]["margin"] > 0.3


# ---- numbers ----

@pytest.mark.parametrize("changes, code, verdict, outputs", [
    ({"bits": "b"}, DONE, "changed within tolerance", ["K"]),
    ({"bits": "b", "passed": False, "code": 1}, MISMATCH, "changed", ["K"]),
    ({"bits": "b", "passed": None}, MISMATCH, "changed", ["K"]),  # there is no reference
    ({"passed": None}, DONE, "same", [])])
def test_numbers(made_up, changes, code, verdict, outputs):
    made_up.save()
    found, rows = made_up.check(**changes)
    assert found == code
    assert (rows[EOS]["numbers"], rows[EOS]["outputs"]) == (verdict, outputs)


@pytest.mark.parametrize("turn", [0, 3, 6])
def test_bits_that_flicker(made_up, turn):
    """In one of seven processes, be it the first or the last."""
    made_up.save()
    code, rows = made_up.check(flickers=turn)
    assert code == DONE and rows[EOS]["numbers"] == "changed within tolerance"
    done = made_up.regress("save", made_up.baseline, flickers=turn)
    assert done.returncode == DONE and "K differs from process to process" in done.stderr
    code, rows = made_up.check(flickers=turn)  # as the baseline does, which makes it no better
    assert code == DONE and rows[EOS]["numbers"] == "changed within tolerance"


def test_what_fails_is_no_baseline(made_up):
    done = made_up.regress("save", made_up.baseline, passed=False, code=1)
    assert_failed(done, MISMATCH, "eos/cpu/float64: K fails validation")
    assert not made_up.baseline.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(made_up, number):
    """Nothing is kept, and miniapp, which has a pipe open, has ended, too. It prints more than fits into another
    one, so that it goes on only once the script reads."""
    made_up.program.write_text("#!/bin/sh\nexec 3>$0.pipe\nhead -c 200000 /dev/zero\n: >$0.runs\nexec sleep 600\n")
    os.mkfifo(made_up.folder / "miniapp.pipe")
    pipe = os.open(made_up.folder / "miniapp.pipe", os.O_RDONLY | os.O_NONBLOCK)
    process = subprocess.Popen([sys.executable, REGRESS, "save", made_up.baseline, "--miniapp",
                                made_up.program], stderr=subprocess.PIPE, text=True)
    wait_for((made_up.folder / "miniapp.runs").exists, process)
    process.send_signal(number)
    _, message = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130 and not made_up.baseline.exists()
    assert_one_line(message)
    os.set_blocking(pipe, True)
    assert os.read(pipe, 1) == b""
    os.close(pipe)


def test_a_full_disk(made_up):
    """Or, as here, a file that may not grow as long as the baseline is."""
    made_up.save()
    made_up.will_print()
    old = made_up.baseline.read_bytes()
    files = set(made_up.folder.iterdir())
    limit = len(old) // 2
    done = completed([sys.executable, REGRESS, "save", made_up.baseline, "--miniapp", made_up.program],
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert_failed(done, OUTPUT, "File too large")
    assert made_up.baseline.read_bytes() == old and set(made_up.folder.iterdir()) == files


def test_rows_that_go_and_come(made_up):
    made_up.save()
    code, rows = made_up.check(costs={"eos": 3.0, "isoneutral": 4.0})
    assert code == MISMATCH
    assert {row: entry["numbers"] for row, entry in rows.items()} == {
        EOS: "same", TKE: "missing", "isoneutral/cpu/float64": "new", TRIAD: "-", FMA: "-", APART: "-"}


def test_another_input_is_told(made_up):
    made_up.save()
    done = made_up.regress("check", made_up.baseline, input="j")
    assert_one_line(done.stderr)
    assert "warning: input_sha256 was 'i', but is 'j' now" in done.stderr


def test_the_table(made_up):
    made_up.save()
    done = made_up.regress("check", made_up.baseline, costs={"eos": 3.0, "tke": 9.0}, bits="b")
    lines = done.stdout.splitlines()
    assert done.returncode == MISMATCH and len(lines) == 7
    assert lines[1].startswith(EOS) and lines[1].endswith("changed within tolerance (K)")
    assert lines[2].startswith(TKE) and lines[2].endswith("changed within tolerance, slower (K)")
    assert lines[0].split() == ["row", "cost,", "new", "/", "old", "margin", "verdict"]
    assert re.match(TKE + r" +1\.\d{3} +\d+ %  changed", lines[2]) and lines[3].split() == [TRIAD, "1.000", "50", "%"]
    assert lines[6] == f"5 rows, 1 of them worse: {TKE}"


def test_rows_in_which_a_slowdown_may_hide(made_up):
    made_up.save(spread=0.2)
    lines = made_up.regress("check", made_up.baseline, spread=0.2).stdout.splitlines()
    assert all(line.endswith(" same, wide") for line in lines[1:3]) and "wide" not in "".join(lines[3:6])
    assert lines[6] == ("wide: 2 rows have a margin above 15 %; there, code that takes 1.15 times as long may "
                        "look the same")
    assert lines[7] == "5 rows, 0 of them worse"


def test_long_names_keep_the_columns(made_up):
    costs = {"isoneutral_diffusion_of_tracers": 3.0, "tke": 5.0}
    other = made_up.save(made_up.folder / "other.json", costs=costs)
    made_up.save(costs=costs)
    for done in (made_up.regress("check", made_up.baseline, costs=costs),
                 run("rate", other, made_up.baseline)):
        head, *lines = [line for line in done.stdout.splitlines() if re.match("row|.*/cpu/", line)]
        end = head.index("margin") + len("margin")
        assert len(lines) == 5 and all(line[:end].endswith(" %") for line in lines), done


def test_what_was_saved_is_said(made_up):
    assert made_up.regress("save", made_up.baseline).stdout == (
        f"saved 5 rows of 7 processes in {made_up.baseline}\n")


@pytest.mark.parametrize("text", ["{}", "[]", '{"results": []}', '{"rows": 3}'])
def test_a_foreign_file(made_up, text):
    made_up.baseline.write_text(text)
    assert made_up.regress("check", made_up.baseline).stderr == (
        f"run/regress: {made_up.baseline}: is no baseline of run/regress, which 'run/regress save' writes\n")


# ---- how often it errs ----

def test_rate(made_up):
    saved = [made_up.save(made_up.folder / f"{i}.json", costs={"eos": 3.0, "tke": cost})
             for i, cost in enumerate((5.0, 5.0, 5.0, 7.0))]
    done = run("rate", *saved, "--format", "json")
    rows = {row["row"]: row for row in json.loads(done.stdout)}
    assert done.returncode == DONE and list(rows) == [EOS, TKE, TRIAD, FMA, APART, "any"]
    assert rows[EOS]["slower"] == 0 and rows[EOS]["faster"] == 0
    assert rows[EOS]["finds"] == {"1.15": 1, "1.2": 1, "1.3": 1}
    # three of the twelve pairs go from 5 to 7, and three back
    assert rows[TKE]["slower"] == 0.25 and rows[TKE]["faster"] == 0.25
    assert rows["any"]["slower"] == 0.25
    assert "checks that exit 1: 25.00 %" in run("rate", *saved).stdout


def test_rate_wants_the_same_rows(made_up):
    other = made_up.save(made_up.folder / "other.json", costs={"eos": 3.0})
    done = run("rate", made_up.save(), other)
    assert_failed(done, INPUT)


# ---- what goes wrong ----

def saved(costs="1, 1, 1, 1, 1", outputs='{"K": {"sha256": "a"}}', provenance='{"cpu": "c"}'):
    """The text of a baseline of one row."""
    return f'{{"rows": {{"r": {{"costs": [{costs}], "outputs": {outputs}}}}}, "provenance": {provenance}}}'


@pytest.mark.parametrize("text", [
    saved(outputs='["K"]'), saved(outputs='{"K": "a"}'), saved(outputs='{"K": {}}'), saved(provenance="[1]"),
    saved(provenance='{"cpu": "c"}, "options": {"kernel": [1]}'),
    saved(provenance='{"cpu": "c"}, "options": {"kernel": "eos"}'),
    saved(provenance='{"cpu": "c"}, "options": {"input": ["a"]}'), saved(provenance='{"cpu": "c"}, "options": [1]'),
    saved(costs="Infinity, 1, 1, 1, 1"), saved(costs="1, NaN, 1, 1, 1"), saved(costs='1, "1", 1, 1, 1'),
    pytest.param(saved(costs=f"1{400 * '0'}, 1, 1, 1, 1"), id="large"), pytest.param(100000 * "[", id="deep"),
    None, "", "{", "[]", "{}", '{"rows": {}, "provenance": {"cpu": "c"}}',
    '{"rows": {"r": {"costs": [1, 1, 1, 0, 1], "outputs": {"K": {}}}}, "provenance": {"cpu": "c"}}',
    '{"rows": {"r": {"costs": [1], "outputs": {"K": {}}}}, "provenance": {"cpu": "c"}}'])
def test_no_baseline(made_up, text):
    if text is not None:
        made_up.baseline.write_text(text)
    done = made_up.regress("check", made_up.baseline)
    assert_failed(done, INPUT, str(made_up.baseline))
    assert not made_up.runs.exists(), "it measured before it looked"


def test_miniapp_fails(made_up):
    done = made_up.regress("save", made_up.baseline, code=4)
    assert_failed(done, DEVICE, "out of memory, say")
    assert not made_up.baseline.exists()


def test_no_miniapp(tmp_path):
    done = run("save", tmp_path / "b.json", "--miniapp", tmp_path / "none")
    assert_failed(done, DEVICE)


def test_another_file_is_not_replaced(made_up):
    made_up.baseline.write_text("a letter")
    done = made_up.regress("save", made_up.baseline)
    assert_failed(done, INPUT)
    assert made_up.baseline.read_text() == "a letter" and not made_up.runs.exists()


@pytest.mark.parametrize("name", ["none/baseline.json", "."])
def test_unwritable(made_up, name):
    done = made_up.regress("save", made_up.folder / name)
    assert_failed(done, OUTPUT)
    assert not made_up.runs.exists()


@pytest.mark.parametrize("words", [
    ("save",), ("save", "a", "b"), ("rate", "a"), ("look", "a"), ("save", "a", "--processes", "4")])
def test_usage(words):
    done = run(*words)
    assert done.returncode == USAGE and done.stdout == ""


def test_words_go_to_miniapp(made_up):
    made_up.save()
    words = (made_up.folder / "words").read_text()
    assert f"--validate {GRID_REFERENCE} " in words and words.endswith(f" {GRID}\n")
    made_up.regress("check", made_up.baseline, "--device", "cpu", "--device", "gpu:1",
                    "--precision", "float32", "--threads", "3", "--input", made_up.program)
    words = (made_up.folder / "words").read_text()
    assert "--device cpu --device gpu:1" in words and "--precision float32" in words
    assert "--threads 3" in words and "--validate" not in words  # of another input


def test_check_runs_what_was_saved(made_up):
    """Unless its own options say otherwise; a baseline of an earlier version keeps none."""
    made_up.regress("save", made_up.baseline, "-k", "eos", "-k", "tke", "--precision", "float32", "--threads", "3")
    words = "--kernel eos,tke .*--precision float32 .*--threads 3"
    made_up.check()
    assert re.search(words, (made_up.folder / "words").read_text())
    made_up.regress("check", made_up.baseline, "-k", "all", "--precision", "float64")
    assert re.search(words.replace("eos,tke", "all").replace("32", "64"), (made_up.folder / "words").read_text())
    baseline = json.loads(made_up.baseline.read_text())
    del baseline["options"]
    made_up.baseline.write_text(json.dumps(baseline))
    made_up.check()
    assert "--kernel all" in (made_up.folder / "words").read_text()


# ---- with ours ----

def test_ours(miniapp, small, reference, tmp_path):
    """Its numbers do not move; nothing is said of its speed, which other tests disturb."""
    words = ("--miniapp", miniapp.path, "--processes", "5", "--seconds", "0.001",
             "--input", small, "--reference", reference)
    baseline = tmp_path / "baseline.json"
    assert run("save", baseline, *words).returncode == DONE
    done = run("check", baseline, *words, "--format", "json")
    assert done.returncode in (DONE, MISMATCH) and done.stderr == "", done
    entries = json.loads(done.stdout)
    assert [entry["row"] for entry in entries] == [
        f"{kernel}/cpu/float64" for kernel in miniapp.ocean] + [TRIAD, FMA, APART]
    assert [entry["numbers"] for entry in entries] == ["same"] * len(miniapp.ocean) + 3 * ["-"]


# ---- two programs in turns ----

ROUNDS = 5


def in_turns(folder, *words, new=(), old=()):
    """Of two made-up programs, whose runs print what STATE says but for these changes."""
    programs = []
    for name, changes in (("old", dict(old)), ("new", dict(new))):
        (folder / name).mkdir(parents=True)
        program = MadeUp(folder / name)
        program.will_print(**changes)
        for turn in range(8 * ROUNDS + 2):
            (program.folder / f"printed.{turn + 1}").write_text(
                json.dumps(printed(turn, {**STATE, "spread": 0.001, **changes})))
        (program.folder / "all_words").touch()
        programs.append(program)
    done = run("compare", *(program.program for program in programs), "--rounds", ROUNDS, *words)
    return done, programs


def test_compare_takes_turns(tmp_path):
    done, programs = in_turns(tmp_path, "-k", "eos,tke", "-s", "4k", "--seconds", "0.5")
    assert done.returncode == DONE and done.stderr == "" and "2 rows, 0 of them worse" in done.stdout, done
    assert [len(program.runs.read_text()) for program in programs] == [6 * ROUNDS + 2, 2 * ROUNDS + 2]
    words = (programs[1].folder / "words").read_text()
    assert "--kernel eos,tke --seconds 0.5 --size 4k" in words and "--validate" not in words


def test_compare_on_a_size_that_caches_hold(tmp_path):
    """Numbers are those of the input's own grid, which a reference has."""
    _, programs = in_turns(tmp_path)
    words = (programs[1].folder / "all_words").read_text().splitlines()
    assert ["-r 1 --checksums --validate" in line for line in words] == 2 * [True] + 2 * ROUNDS * [False]
    assert all(("--size 16k" in line) != ("--validate" in line) for line in words)


def test_compare_finds_what_is_slower(tmp_path):
    done, _ = in_turns(tmp_path, "--format", "json", new={"costs": {"eos": 3.0 * 1.05, "tke": 5.0}})
    assert done.returncode == MISMATCH, done
    assert [entry["speed"] for entry in json.loads(done.stdout)] == ["slower", ""]
    done, _ = in_turns(tmp_path / "again", new={"costs": {"eos": 3.0 / 1.05, "tke": 5.0}})
    assert done.returncode == DONE and re.search("^eos/.* faster$", done.stdout, re.MULTILINE)


def test_compare_finds_other_numbers_and_missing_rows(tmp_path):
    done, _ = in_turns(tmp_path, new={"bits": "b", "passed": False, "costs": {"eos": 3.0}})
    assert done.returncode == MISMATCH
    assert re.search("^eos/.* changed .*\\(K\\)$", done.stdout, re.MULTILINE)
    assert re.search("^tke/.* missing", done.stdout, re.MULTILINE)


def test_compare_that_cannot_tell(tmp_path):
    done, _ = in_turns(tmp_path, old={"spread": 0.3})
    assert done.returncode == 6 and "cannot tell: 2 rows" in done.stdout, done


def test_trust(tmp_path):
    program = MadeUp(tmp_path)
    program.will_print()
    for turn in range(16 * ROUNDS):
        (tmp_path / f"printed.{turn + 1}").write_text(json.dumps(printed(turn, {**STATE, "spread": 0.001})))
    done = run("trust", program.program, "--sessions", 2, "--rounds", ROUNDS)
    assert done.returncode == DONE and len(program.runs.read_text()) == 16 * ROUNDS
    assert re.search(r"^eos/cpu/float64 +0.0 % +100.0 % +100.0 %$", done.stdout, re.MULTILINE), done


def test_state(miniapp, small):
    """A line for the memory, for arithmetic and for each kernel; no share is above 100 % but by noise."""
    words = ("state", miniapp.path, "--processes", 5, "--seconds", "1e-3", "-k", "eos,tke", "-s", "4k", "--input", small)
    done = run(*words)
    rows = re.findall(r"^(\S+) +([0-9.]+) \+- [0-9.]+ (.*)$", done.stdout, re.MULTILINE)
    assert done.returncode == DONE and done.stderr == "", done
    assert done.stdout.startswith("best calls: the median of 5 processes, +- two of their standard deviations\n")
    assert [(row, re.sub("triad|fma", "its ceiling", unit)) for row, _, unit in rows] == [
        ("triad", "GB/s"), ("fma", "GFLOP/s"), (EOS, "% of its ceiling"), (TKE, "% of its ceiling")]
    assert all(float(value) > 0 for _, value, _ in rows)


def test_the_bound_of_a_row():
    script = load_script("regress")
    row = {"bytes": 8, "best_ceiling_bytes_per_s": 2, "best_ceiling_flops_per_s": 4, "min_s": 20}
    assert script.bound({**row, "flops": 12}) == (4, "triad") and script.bound({**row, "flops": 20}) == (5, "fma")
    assert script.cost({**row, "flops": 20}) == 4


@pytest.mark.parametrize("words, complaint", [
    (("compare", "a"), "compare takes two programs"), (("trust", "a", "b"), "trust takes one program"),
    (("check", "a", "-s", "4k"), "--size goes with compare, trust and state"),
    (("compare", "a", "b", "--rounds", "4"), "--rounds: takes a whole number from 5, not '4'"),
    (("trust", "a", "--sessions", "0"), "--sessions: takes a whole number from 1, not '0'")])
def test_programs_that_cannot_be_compared(words, complaint):
    done = run(*words)
    assert done.returncode == USAGE and complaint in done.stderr


@pytest.mark.parametrize("words", [("save", "NEW"), ("compare", "/bin/true", "/bin/true"), ("state", "/bin/true")])
def test_a_program_without_a_report(tmp_path, words):
    words = [tmp_path / "new" if word == "NEW" else word for word in words]
    done = run(*words, "--miniapp", "/bin/true", "--input", "/none")
    assert_failed(done, DEVICE, "/bin/true: prints no report of miniapp's", "run/regress: ")


# ---- how often comparisons in turns err, with costs from a generator of random numbers ----

def sessions(count, sigma, slow=0, stays=1):
    """Costs spread by `sigma`. With the probability `slow`, runs take 1.35 times as long, and stay in either state
    for `stays` runs on average."""
    random = Random(f"{sigma} {slow} {stays}")
    made = []
    for _ in range(count):
        state = 1

        def cost():
            nonlocal state
            if random.random() < 1 / stays:
                state = 1.35 if random.random() < slow else 1
            return state * math.exp(random.gauss(0, sigma))
        rounds, nulls = [], []
        for _ in range(8):
            for place in (rounds, nulls):
                place.append([cost() for _ in range(4)])
        made.append((rounds, nulls))
    return made


@pytest.mark.parametrize("sigma, slow, stays, finds", [
    (0.003, 0, 1, (1, 1)), (0.02, 0, 1, (0.9, 1)), (0.03, 0, 1, (0.5, 0.95)), (0.08, 0, 1, (0, 0.2)),
    (0.01, 0.1, 1, (0.9, 1)), (0.01, 0.5, 1, (0.7, 0.85)), (0.01, 0.4, 20, (0.8, 0.95))])
def test_how_often_it_errs(sigma, slow, stays, finds):
    """It raises an alarm in at most 1 % of rows, whatever the noise; and finds 5 % and 10 % in so many."""
    found = abba.trust(sessions(400, sigma, slow, stays), (1.05, 1.1))
    assert found["alarms"] <= 0.01
    assert all(share >= least for share, least in zip(found["finds"].values(), finds)), found


def test_a_drift_is_no_change():
    """Each run takes 1 % longer than the one before."""
    costs = [1.01**turn for turn in range(64)]
    rounds = [costs[start:start + 4] for start in range(0, 64, 8)]
    nulls = [costs[start:start + 4] for start in range(4, 64, 8)]
    found = abba.compare(rounds, nulls)
    assert found["ratio"] == pytest.approx(1, abs=1e-3) and found["speed"] == "" and found["margin"] < 0.021


def test_the_pass_of_the_old_one_widens_the_margin():
    quiet, noisy = [[1, 1.001, 1, 1]] * 8, [[1, 1.2, 1.2, 1], [1.2, 1.2, 1.2, 1]] * 4
    assert abba.compare(quiet, quiet)["margin"] < 0.021 < abba.compare(quiet, noisy)["margin"]


def test_runs_that_others_slow_do_not_count_where_enough_are_quick():
    rounds = [[1, 1.2, 1, 1], [1.2, 1, 1, 1.2]] * 4
    assert abba.compare(rounds, rounds)["margin"] < 0.021
