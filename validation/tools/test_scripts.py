"""What all scripts under run/ have in common, and run/test with made-up builds and tests."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import safely
from conftest import HERE, INPUT, USAGE, assert_failed
from processes import Running, completed, executable, forked
from test_printing import HARMLESS, OBEYED, assert_harmless, each

ROOT = HERE.parent
RUN = ROOT / "run"
# They are for sbatch, qsub and bsub.
JOBS = re.compile("jobs/.*/.*")
USELESS = "#!/bin/sh\n: >\"$STARTED\"\nexit 1\n"


def scripts():
    """Every script under run/, but for those of jobs."""
    for path in sorted(RUN.rglob("*")):
        name = str(path.relative_to(RUN))
        if path.is_file() and path.read_bytes().startswith(b"#!") and not JOBS.fullmatch(name):
            yield name


# ---- mutations ----

def test_each_mutation_still_changes_a_source():
    """To see whether tests notice it, validation/mutation/mutate.py takes hours."""
    done = completed([sys.executable, HERE / "mutation/mutate.py", "--list"])
    assert done.returncode == 0, [line for line in done.stdout.splitlines() if "NOTHING" in line]


# ---- --help ----

@pytest.mark.parametrize("job", [str(path.relative_to(RUN)) for path in sorted(RUN.rglob("*"))
                                 if JOBS.fullmatch(str(path.relative_to(RUN)))])
def test_help_of_a_job_script_is_what_stands_at_its_top(job):
    done = completed(["sh", RUN / job, "--help"], cwd=ROOT)
    assert done.returncode == 0 and done.stderr == "", done
    assert len(done.stdout.splitlines()) >= 2 and not re.search("^#|set -eu", done.stdout, re.MULTILINE), done


def test_help_of_ci():
    done = completed([ROOT / ".ci" / "run", "--help"])
    assert done.returncode == 0 and "run/test NAME" in done.stdout, done


def test_scripts_are_found():
    assert {"test", "bundle", "regress", "dev/slurm", "reframe/check"} <= set(scripts())


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The scripts in a folder beside an empty home, and tools that say that they were started; and the environment in
    which all of that is in reach. Python keeps compiled files elsewhere."""
    folder = tmp_path_factory.mktemp("copied")
    shutil.copytree(RUN, folder / "copy" / "run", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "copy" / "python").symlink_to(ROOT / "python")
    (folder / "home").mkdir()
    for tool in ("cmake", "ctest", "ninja", "apt-get", "dpkg-query", "git", "pip", "tar", "xz",
                 "slurmctld", "slurmd", "scontrol", "nvidia-smi", "clang-19"):
        executable(folder / "tools" / tool, USELESS)
    return folder, {"PATH": f"{folder}/tools:/usr/bin:/bin", "HOME": f"{folder}/home", "TMPDIR": f"{folder}/home",
                    "STARTED": f"{folder}/started", "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("compiled"))}


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("script", scripts())
def test_help_helps_and_does_nothing_else(copied, script, option):
    """It starts none of the programs that do a script's work, and writes nothing."""
    folder, environment = copied
    before = sorted(folder.rglob("*"))
    done = completed([folder / "copy" / "run" / script, option], cwd=folder / "home", stdin=subprocess.DEVNULL,
                     env=environment)
    assert done.returncode == 0 and done.stderr == "", done
    assert f"run/{script}" in done.stdout or f"usage: {script}" in done.stdout, done.stdout
    assert len(done.stdout.splitlines()) >= 3 and "set -eu" not in done.stdout
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("script", [name for name in scripts() if b"parser_of(" in (RUN / name).read_bytes()])
def test_wrong_usage_is_one_line(script):
    done = completed([sys.executable, RUN / script, "--no-such-option"])
    assert_failed(done, USAGE, start=f"run/{script}: error: ")


@pytest.mark.parametrize("purpose", ["build", "gpu", "python", "test"])
def test_packages_that_are_all_installed(tmp_path, purpose):
    executable(tmp_path / "dpkg-query", '#!/bin/sh\nfor word; do echo "$word installed"; done\n')
    executable(tmp_path / "apt-get", "#!/bin/sh\nexit 1\n")
    done = completed([RUN / "packages", purpose], env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert (done.returncode, done.stderr) == (0, "run/packages: all packages are installed\n")


# ---- files that they write ----

def write_new(path):
    with safely.replacing(path) as new:
        assert new.parent == Path(os.path.realpath(path)).parent
        new.write_text("new")


def test_link_and_mode_stay(tmp_path):
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to("folder/file")
    write_new(link)  # which leads to nothing yet
    (folder / "file").write_text("old")
    (folder / "file").chmod(0o600)
    write_new(link)
    assert link.is_symlink() and (folder / "file").read_text() == "new"
    assert (folder / "file").stat().st_mode & 0o777 == 0o600
    assert os.listdir(folder) == ["file"]


@pytest.mark.parametrize("kind", ["read-only", "pipe", "folder"])
def test_what_may_not_be_replaced(tmp_path, kind):
    path = tmp_path / kind
    if kind == "read-only":
        path.write_text("old")
        path.chmod(0o444)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(OSError) as error:
        write_new(path)
    assert error.value.filename == str(path) and os.listdir(tmp_path) == [kind]


@pytest.mark.parametrize("reason", [OSError(28, "No space left on device"), ValueError("no format"),
                                    KeyboardInterrupt()])
def test_old_file_stays_until_the_new_one_is_whole(tmp_path, reason):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(type(reason)), safely.replacing(path) as new:
        new.write_text("half")
        raise reason
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["file"]


def test_a_folder_is_removed_as_a_whole(tmp_path, monkeypatch):
    """A signal within shutil.rmtree closed a file twice: the script ended with that error."""
    close = os.close

    def stopped(file):
        close(file)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), safely.temporary_folder(dir=tmp_path) as folder:
        (folder / "within").mkdir()
        monkeypatch.setattr(os, "close", stopped)
    assert os.listdir(tmp_path) == [] and not signal.pthread_sigmask(signal.SIG_BLOCK, ())


# ---- numbers that they take ----

# The words that come first, its options that take numbers above 0, whole numbers and others, and the least whole one.
NUMBERS = {
    "compare": ((), (), {"--rounds": 1, "--size": 64, "--threads": 1}),
    "compare-external": ((), (), {"--rounds": 1, "--steps": 1}),
    "compare-veros": ((), (), {"--rounds": 1, "--steps": 1}),
    "compilers": ((), ("--seconds",), {"--rounds": 2}),
    "dev/fuzz": ((), (), {"--seconds": 1}),
    "dev/paper": ((), ("--bandwidth", "--rate", "--launch", "--points"), {}),
    "gpu-check": ((), ("--budget",), {"--size": 1}),
    "pyhpc_backend.py": ((), (), {"--threads": 1}),
    "regress": (("save", "FILE"), ("--seconds",), {"--processes": 5, "--rounds": 5, "--sessions": 1}),
    "scaling": (("--strong",), ("--latency", "--bandwidth", "--copy", "--launch", "--memory-bandwidth", "--rate"),
                {"--ranks": 1, "--steps": 1, "--task": 1}),
    "stream": (("PROGRAM",), ("--margin",), {"--rounds": 1, "--calls": 2}),
}
# Lists and lengths: what they refuse.
SEVERAL = {
    ("compare-external", "--size"): ("8", "7x8", "8x8x8", "8,8", "8x1000001", f"8x{10**30}"),
    ("compare-veros", "--shape"): ("4,4", "3,4,4", "4x4x4", "4,4,1000001", "4,4,"),
    ("compare-veros", "--backends"): ("cupy", "numpy,numpy", "numpy,"),
    ("scaling", "--shape"): ("4x4", "0x4x4", "4,4,4", "4x4x1000001"),
    ("scaling", "--ranks"): ("1,1", "1,", "1x2", f"1,{10**30}"),
}


def refuses(script, option, word):
    done = forked(script, *NUMBERS[script][0], f"{option}={word}")
    assert done.returncode == USAGE and done.stdout == "", done
    said = rf"run/{re.escape(script)}: error: argument (-\w/)?{option}: takes .*, not '{word}'\n"
    assert re.fullmatch(said, done.stderr), done


@pytest.mark.parametrize("script, option, least", [
    (script, option, least) for script, (_, reals, whole) in NUMBERS.items()
    for option, least in (*((option, None) for option in reals), *whole.items())])
def test_number_that_is_none(script, option, least):
    for word in ("", "x", "-1", "nan", "0" if least is None else least - 1, "inf" if least is None else "1.5"):
        refuses(script, option, word)


@pytest.mark.parametrize("script, option", SEVERAL)
def test_list_that_is_none(script, option):
    for word in ("", "x", "-1", *SEVERAL[script, option]):
        refuses(script, option, word)


def test_no_script_reads_a_number_unchecked():
    for script in (*map(RUN.joinpath, scripts()), *(ROOT / "inputs").glob("*.py")):
        assert not re.search(r"\btype=(int|float)", script.read_text(encoding="utf-8")), script


@pytest.mark.parametrize("words, said", [
    (("none", "DIR"), "unknown action 'none'; there are start, node and stop"), (("node", "DIR"), "which node?")])
def test_wrong_usage_of_slurm(words, said):
    done = completed([RUN / "dev/slurm", *words])
    assert (done.returncode, done.stdout, done.stderr) == (USAGE, "", f"run/dev/slurm: {said}\n")


# ---- what they print ----

@each
def test_printable_text(text, printed):
    assert safely.printable(text) == printed


@pytest.mark.parametrize("unbuffered", [[], ["-u"]])
@pytest.mark.parametrize("code, main, stdout, said", [
    (3, "return 3", None, ""),
    (0, "return None", None, ""),
    (130, "raise KeyboardInterrupt", None, "stopped by the user"),
    (3, "bytes(2**62)", None, "out of memory: "),
    (5, "return 0", "/dev/full", "results cannot be written to standard output: No space left on device"),
    (5, "print('more', 'x' * 100000)", "/dev/full", "results cannot be written to standard output: No space left"),
    (141, "return 0", "gone", ""),
    (141, "print('more', 'x' * 100000)", "gone", ""),
    (1, "open('/none/there')", None, "Traceback"),  # it is for the script to say what that means
    (3, "import none_there", None, "lacks the module none_there: install python3-none_there"),
])
def test_how_a_script_ends(code, main, stdout, said, unbuffered):
    reader, writer = os.pipe()
    if stdout == "gone":
        os.close(reader)
    elif stdout:
        writer = os.open(stdout, os.O_WRONLY)
    script = f"import safely\ndef main():\n print('text')\n {main}\nsafely.run(main)"
    done = subprocess.run([sys.executable, *unbuffered, "-c", script], cwd=RUN, stdout=writer,
                          stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    if not stdout:
        assert open(reader, encoding="utf-8").read() == "text\n"
    assert done.returncode == code and said in done.stderr and bool(done.stderr) == bool(said), done
    assert ("Traceback" in done.stderr) == (said == "Traceback"), done


# All of these in one name, but for bytes that are no UTF-8: a library may refuse such a name at once.
NAMES = {"UTF-8": [text for text in (*OBEYED, HARMLESS) if "\udcff" not in text],
         "bytes": [text for text in OBEYED if "\udcff" in text]}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("script", ["plot", "regress", "make-input"])
def test_absent_file(tmp_path, script, kind):
    words = {"plot": [], "regress": ["check"], "make-input": ["-o", tmp_path / "grid.h5"]}[script]
    path = tmp_path / f"absent{''.join(NAMES[kind])}"
    done = forked(script, *words, path)
    assert done.returncode == INPUT and "Traceback" not in done.stderr, done
    for text in NAMES[kind]:
        is_joined = script == "make-input" and text.split() != [text]  # it makes one line of several
        assert OBEYED.get(text, text) in done.stderr or is_joined, done.stderr
    assert "absent" in done.stderr and done.stderr.count("\n") == 1
    assert_harmless(done.stderr)


@pytest.mark.parametrize("script", ["inputs/make_grid.py", "inputs/make_rough.py", "inputs/make_example.py",
                                    "validation/physics/make_reference.py", "run/make-input",
                                    "run/compare-external", "run/dev/tables"])
def test_a_python_without_packages(script):
    done = completed([sys.executable, "-S", "-E", script], cwd=ROOT)
    assert done.returncode == INPUT and done.stdout == ""
    assert re.fullmatch(rf"{script}: \S+ lacks the module \w+: run it as /usr/bin/python3 {script}, which has it\n",
                        done.stderr)


def test_make_restart_by_a_python_without_packages():
    """The system's has no Veros."""
    done = completed([sys.executable, "-S", "-E", "run/make-restart"], cwd=ROOT)
    assert_failed(done, INPUT, "No module named 'numpy': expected a Python that has Veros", "run/make-restart: ")


def test_table_of_a_script(tmp_path):
    """From a file that somebody sent."""
    row = {"costs": [1.0] * 5, "outputs": {"\x1b[31m": {"sha256": "00", "passed": True}}}
    saved = {"provenance": {"cpu": "\x9b"}, "rows": {"eos\u202e/cpu/float64": row}}
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(saved))
    done = forked("regress", "rate", path, path)
    assert r"eos\xe2\x80\xae/cpu/float64" in done.stdout
    assert_harmless(done.stdout)


# ---- run/test ----

CMAKE = """#!/bin/sh
case "$*" in "--build --preset nvptx") exit 1 ;; esac
"""

# `asan` has a test that fails, one that skips two things, one of cmocka that skips one.
CTEST = """#!/bin/sh
echo "$2" >>"$STARTED"
echo "$*" >>"$STARTED.words"
touch "$TMPDIR/left behind"
kept=build/$2/Testing/Temporary
mkdir -p $kept
case $2 in
host) : >$kept/LastTest.log ;;
emulated) : >"$STARTED.waits"; exec sleep 600 ;;
asan)
  cat >$kept/LastTest.log <<'END'
1/3 Testing: end-to-end.bench
SKIPPED [1] ../validation/program/test_bench.py:160: there is no gpu here
SKIPPED [1] ../validation/program/test_bench.py:367: there is no gpu here
2/3 Testing: unit.large
[==========] 2 test(s) run.
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] kernel_past
3/3 Testing: around.slurm
END
  printf '3:around.slurm\\n1:end-to-end.bench\\n' >$kept/LastTestsFailed.log
  exit 8 ;;
esac
"""


class MadeUp:
    """A folder with run/test and what it calls."""

    def __init__(self, folder):
        self.root, self.temporary, self.started = (folder / name for name in ("copy", "temporary", "started"))
        for name in ("test", "dev/slurm"):
            (self.root / "run" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(RUN / name, self.root / "run" / name)
        self.temporary.mkdir()
        executable(self.root / "run" / "packages", "#!/bin/sh\n")
        executable(folder / "tools" / "cmake", CMAKE)
        executable(folder / "tools" / "ctest", CTEST)
        self.options = {"env": {"PATH": f"{folder / 'tools'}:{os.environ['PATH']}",
                                "TMPDIR": str(self.temporary), "STARTED": str(self.started)}}

    def test(self, *words):
        return completed([self.root / "run" / "test", *words], **self.options)


@pytest.fixture
def made_up(tmp_path):
    return MadeUp(tmp_path)


def test_goes_on_after_a_failure_and_sums_up(made_up):
    done = made_up.test("asan", "nvptx", "host")
    assert done.returncode == 1 and done.stderr == "", done
    assert sorted(made_up.started.read_text().split()) == ["asan", "host"]  # nvptx was not built
    summary = re.sub(r" +\d+ s\n", " N s\n", done.stdout[done.stdout.index("\nskipped:") + 1:])
    assert summary == """skipped: 3
    2  end-to-end.bench: there is no gpu here (asan)
    1  unit.large: kernel_past (asan)
left out of host, since asan tests it: what ctest --preset host -L sanitized runs

asan       FAILED N s
nvptx      NOT BUILT N s
host       passed N s
FAILED: asan nvptx; run just that again:
  ctest --preset asan -R '^(around.slurm|end-to-end.bench)$'
  run/test nvptx
"""
    assert not list(made_up.temporary.iterdir())


@pytest.mark.parametrize("presets, left_out", [
    (["host"], []), (["host", "host-gcc"], []), (["asan", "host-gcc"], []), (["host", "asan"], ["host"])])
def test_leaves_out_what_the_sanitized_build_tests(made_up, presets, left_out):
    made_up.test(*presets)
    words = made_up.started.with_suffix(".words").read_text().splitlines()
    assert len(words) == len(presets)
    assert [line.split()[1] for line in words if line.endswith(" -LE ^sanitized$")] == left_out


def test_failures_of_an_earlier_run_do_not_count(made_up):
    made_up.test("asan")
    kept = made_up.root / "build" / "host" / "Testing" / "Temporary"
    (made_up.root / "build" / "asan").rename(made_up.root / "build" / "host")
    assert (kept / "LastTestsFailed.log").exists()
    done = made_up.test("host")
    assert done.returncode == 0 and done.stdout.endswith("all passed: host\n"), done
    assert "skipped: 0\n" in done.stdout and not (kept / "LastTestsFailed.log").exists()


def test_preset_that_is_none(made_up):
    done = made_up.test("host", "hots")
    assert done.returncode == 2 and done.stdout == "" and not made_up.started.exists()
    assert done.stderr == ("run/test: there is no preset 'hots'; there are host asan host-gcc nvptx "
                           "host-mpi emulated nvptx-gcc emulated-mpich amdgpu\n")


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_nothing_stays_behind_after_a_signal(made_up, number, code):
    with Running([made_up.root / "run" / "test", "emulated"], start_new_session=True, **made_up.options) as process:
        process.wait_for(made_up.started.with_suffix(".waits").exists)
        os.killpg(process.pid, number)
        process.finish()
    assert process.returncode == code
    assert not list(made_up.temporary.iterdir())


def test_c_has_no_known_mistakes(miniapp, tmp_path):
    """The checks of .clang-tidy find none in what this build compiles, each file once: kernels as one variant."""
    if not shutil.which("clang-tidy-19"):
        pytest.skip("clang-tidy-19 is missing")
    commands = json.loads((miniapp.path.parent.parent / "compile_commands.json").read_text())
    ours = {entry["file"]: entry for entry in commands
            if entry["file"].startswith((f"{ROOT}/miniapp/", f"{ROOT}/physics/"))}
    (tmp_path / "compile_commands.json").write_text(json.dumps([*ours.values()]))
    done = completed(["clang-tidy-19", "-p", tmp_path, "--quiet", *ours], cwd=ROOT)
    assert len(ours) > 90 and done.returncode == 0, done.stdout


def test_c_is_formatted():
    """By the one version of clang-format that .clang-format is meant for."""
    if not shutil.which("clang-format-19"):
        pytest.skip("clang-format-19 is missing")
    listing = completed(["git", "-C", ROOT, "ls-files", "*.c", "*.h"])
    if listing.returncode:
        pytest.skip("this is no checkout of git")
    files = [name for name in listing.stdout.split() if Path(name).name not in ("describe.h", "unpack.h")]
    done = completed(["clang-format-19", "--dry-run", "--Werror", *files], cwd=ROOT)
    assert done.returncode == 0, done.stderr
