"""README and docs: their commands run, and what they name exists.

Indented lines of a page are commands, except in the blocks of NO_COMMANDS. They run in order, in a
folder that looks like the repository's, unless NOT_RUN says why not. Blocks that begin with an import are
Python's, and run as such. Whether a command runs or not,
the scripts, files, options, presets and kernels that it names have to exist.
"""

import functools
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap

import pytest

from conftest import DONE, HERE
from processes import DEADLINE_S, completed, executable

ROOT = HERE.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md",
         ROOT / "physics" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][a-z0-9-]*")

# How a block begins that is no list of commands.
PYTHON = r"import "
NO_COMMANDS = [r"# version ", r"ocean_step_eke on cpu", r"file -> state", r"ARGUMENT\(", r"#define ",
               r"/\* host: ", PYTHON]

# What a command holds that is not run here, and why.
NOT_RUN = {
    r"^\./run/quickstart": "builds; each other test is of what it built",
    r"^(\./|MINIAPP_TEST_LONG=1 )?run/test\b": "builds and tests everything; test_scripts.py runs it on made-up builds",
    r"^c(make|test) ": "builds, or tests what was built",
    r"^(build/plain|build/client)/": "what the command before it builds",
    r"^run/packages ": "installs packages as root",
    r"^sudo (dnf|pacman) ": "needs another system than Debian",
    r"^spack ": "needs Spack",
    r"^git clone ": "needs the network",
    r"^sbatch ": "needs a Slurm; test_slurm.py and test_mpi_slurm.py submit them",
    r"^run/stream": "needs a BabelStream; test_stream.py runs it with one that is made up",
    r"^run/scaling": "needs MPI; test_scaling.py runs it",
    r"^mpirun ": "needs MPI; test_mpi.py starts several processes",
    r"^run/reframe/check": "installs ReFrame; test_reframe.py runs it without",
    r" -k heat ": "needs a build with docs/site; test_install.py has one",
    r"(miniapp|\$M) .*--variant ": "needs a build with variants; test_variants.py has one",
    r" -d gpu": "needs a device for offload; test_bench.py has one",
    r"^run/validate": "takes seconds; test_results.py runs it",
    r"^run/plot (validation/results|.*(tke_taup1|K_11|--section|build/results))":
        "draws for seconds; test_plot.py draws figures of every kind",
    r"^run/gpu-check": "needs a GPU; test_gpu_check.py runs it without",
    r"^run/cuda12": "needs the network",
    r"^run/dev/(paper|flops|fuzz)": "builds; tests of their own run them",
    r"(^| )run/compilers( (gcc|clang).*)?$|^run/plot build/compilers": "builds for minutes; test_compilers.py runs it",
    r"^run/regress": "measures for a minute; test_regress.py runs it",
    r"^run/(compare|pyhpc_backend)": "needs frameworks; test_compare.py runs it",
    r"build/compare\.json| a\.json ": "needs results of other commands that are not run",
    r"--sweep (--roofline|-d)": "takes a minute; the sweep of --resume is run",
    r"^\./run/make-input .* build/(same|later|dye)\.h5": "takes seconds; test_complete.py completes such files",
    r"build/(weaker|veros)\.h5": "takes seconds to make; test_make_input.py makes such inputs, and kernels run on them",
    r"--forcing wind": "needs wind and fluxes; test_make_forcing.py makes some",
    r"build/eady": "takes half a minute; test_eady.py draws nothing, but makes the steps",
    r"ten_years": "takes a minute; test_ocean.py makes the same steps, or some of them",
    r"make_reference\.py": "writes the stored reference; test_reference.py checks it",
    r"^run/wheel|venv-of-wheel": "needs the network",
    r"^run/dev/release": "wants a clean tree, builds and tests; test_release.py runs it",
    r"-m pytest": "runs tests in a test",
    r"^clang-tidy": "needs the clang-tidy of the house",
}

# The program of the pages, which makes a single call of each kernel and a 25th of many steps, and sweeps over one
# kernel.
QUICK_PROGRAM = """#!/bin/sh
last=
for word; do
  shift
  case $last$word in --steps[12]00 | --every25) word=$((word / 25)) ;; esac
  set -- "$@" "$word"
  last=$word
done
case "$*" in *--sweep*) set -- --kernel eos "$@" ;; esac
case "$*" in *--steps*) ;; *.h5) set -- --repetitions 1 --burnin 0 "$@" ;; esac
exec "{}" "$@"
"""


# ---- reading pages ----

def blocks(page):
    """The indented blocks of a page: lists of lines."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"(?<=\n\n)(?: {4,}\S.*\n)+(?:\n?(?: {4,}\S.*\n)+)*", text):
        yield [line for line in textwrap.dedent(match[0]).splitlines() if line.strip()]


def commands(page):
    """The commands of a page, without comments."""
    for block in blocks(page):
        if not any(re.match(start, block[0]) for start in NO_COMMANDS):
            yield from (re.sub(r"\s+#.*", "", line.strip()) for line in block)


def why_not(command):
    return next((why for holds, why in NOT_RUN.items() if re.search(holds, command)), None)


def name(page):
    return str(page.relative_to(ROOT))


by_page = pytest.mark.parametrize("page", PAGES, ids=name)


# ---- running them ----

@pytest.fixture(scope="module")
def repository(miniapp, tmp_path_factory):
    """A folder that looks like the repository's, with the program under test."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "python/examples").mkdir(parents=True)
    for path in ("run", "inputs", "validation", "docs", "python/src"):
        (folder / path).symlink_to(ROOT / path)
    year = (ROOT / "python/examples/year_of_acc.py").read_text()
    assert year.count(" 61, 12\n") == 1  # steps a month, months
    (folder / "python/examples/year_of_acc.py").write_text(year.replace(" 61, 12\n", " 2, 12\n"))
    executable(folder / "build/host/bin/miniapp", QUICK_PROGRAM.format(miniapp.path))
    for python in ("bin/python3", "bin/python"):
        executable(folder / python, f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    return folder


@pytest.fixture(scope="module")
def ran():
    """The commands of the pages before; what they made lies in the folder."""
    return set()


@pytest.fixture
def environment(miniapp, repository):
    """In which the commands find the programs and the library under test."""
    return {**os.environ, "PATH": f"{repository / 'bin'}:{os.environ['PATH']}",
            "MINIAPP_LIBRARY": str(miniapp.path.parent.parent / "lib" / "libminiapp.so")}


@by_page
def test_commands_run(page, repository, environment, ran):
    for command in commands(page):
        if assignment := re.fullmatch(r"(\w+)=(\S+)", command):
            environment[assignment[1]] = assignment[2]
        elif command not in ran and not why_not(command):
            ran.add(command)
            done = completed(command, shell=True, cwd=repository, env=environment)
            assert done.returncode == DONE and "Traceback" not in done.stderr, (command, done)


@by_page
def test_python_runs(page, repository, environment):
    environment["PYTHONPATH"] = str(ROOT / "python" / "src")
    for block in blocks(page):
        if re.match(PYTHON, block[0]):
            done = completed([sys.executable, "-c", "\n".join(block)], cwd=repository, env=environment)
            assert done.returncode == DONE, done.stderr


def test_what_is_not_run_is_there():
    for holds in NOT_RUN:
        assert any(re.search(holds, command) for page in PAGES for command in commands(page)), holds
    for start in NO_COMMANDS:
        assert any(re.match(start, line) for page in PAGES for block in blocks(page) for line in block[:1]), start


# ---- what commands name ----

@functools.cache
def help_of(script):
    """By this Python, which has what scripts import."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    return subprocess.run([ROOT / script, "--help"], capture_output=True, text=True, check=True,
                          timeout=DEADLINE_S, env={**os.environ, "PATH": path}).stdout


def words_of(command):
    """Of each program that a line runs, joined by && or ;."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="&;")
    lexer.whitespace_split = True
    words = []
    for word in [*lexer, ";"]:
        if word in ("&&", ";"):
            yield words
            words = []
        elif words or not re.fullmatch(r"\w+=.*", word):
            words.append(re.sub(r"^\./|^/usr/bin/(?=python3)", "", word))


def programs(page):
    """The page's commands, each with the words of a program that it runs."""
    for command in commands(page):
        for words in words_of(command):
            if words:
                yield command, words


def is_program(word):
    return word in ("$M", "miniapp") or word.endswith("bin/miniapp")


@by_page
def test_files_are_there(page):
    for _, words in programs(page):
        for word in words:
            if re.match(r"(run|inputs|validation|docs|include|physics|miniapp|python)/", word):
                assert (ROOT / word).exists(), word


@by_page
def test_options_are_known(page, miniapp):
    for command, words in programs(page):
        if is_program(words[0]):
            known = miniapp.run("--help").stdout
        elif words[0].startswith("run/") and "slurm" not in words[0]:
            known = help_of(words[0])
        else:
            continue
        ours = words[:words.index("../pyhpc/run.py")] if "../pyhpc/run.py" in words else words
        for option in OPTION.findall(" ".join(ours)):
            assert option in OPTION.findall(known), (command, option)


@by_page
def test_presets_are_known(page):
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    kinds = {"--workflow": "workflowPresets", "--build": "buildPresets", "ctest": "testPresets"}
    for command, words in programs(page):
        kind = next((kinds[word] for word in words if word in kinds), "configurePresets")
        names = {preset["name"] for preset in presets[kind]}
        if "--preset" in words:
            assert words[words.index("--preset") + 1] in names, command
        if words[0] == "run/test":
            assert set(words[1:]) <= names, command


@by_page
def test_kernels_are_known(page, miniapp):
    listing = miniapp.run("--list-kernels").stdout
    known = {"all", "calibration", *(path.stem for path in (ROOT / "docs/site").glob("*.kernel")), *re.findall(r"^(?:sequence )?(\w+): ", listing, re.MULTILINE)}
    for command in commands(page):
        for names in re.findall(r"(?:-k|--kernel) (\S+)", command):
            assert set(names.split(":")[0].split(",")) <= known, command


# ---- what texts name ----

@by_page
def test_links_resolve(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if not re.match(r"https?://", target):
            assert (page.parent / target).exists(), target


@by_page
def test_paths_in_texts_are_there(page):
    """Such as `run/compare`, `validation/physics/reference/`, `run/jobs/*/sweep` and `test_fuzz.py`."""
    named = re.findall(r"`((?:run|inputs|validation|docs|include|physics|miniapp|cmake|python)/[\w./*-]+"
                       r"|test_\w+\.py)[^`]*`", page.read_text(encoding="utf-8"))
    for path in named:
        folder, path = (HERE, f"*/{path}") if path.startswith("test_") else (ROOT, path)
        assert list(folder.glob(path.rstrip("/"))), path


@functools.cache
def cmake_variables():
    sources = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
    return set(re.findall(r"(?:set|option)\((MINIAPP_\w+)",
                          "".join(path.read_text(encoding="utf-8") for path in sources)))


@by_page
def test_variables_are_known(page):
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"-D(MINIAPP_\w+)", text)) <= cmake_variables()


def test_options_of_make_input_are_in_its_help():
    """The page names options in its text, too; the program's own only where it runs that."""
    lines = (ROOT / "docs" / "your-data.md").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if "bin/miniapp" not in line)
    known = OPTION.findall(help_of("run/make-input"))
    assert set(re.findall(r"--[a-z][a-z-]*", text)) <= set(known)


def test_every_script_is_told_of():
    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for path in sorted((ROOT / "run").iterdir()):
        if path.is_file() and path.read_bytes().startswith(b"#!"):
            assert f"run/{path.name}" in texts, path.name


def test_tables_are_those_of_the_program(miniapp):
    """run/dev/tables --write makes them."""
    done = completed([sys.executable, ROOT / "run/dev/tables", "--check"],
                     env={**os.environ, "MINIAPP_LIBRARY": str(miniapp.path.parent.parent / "lib/libminiapp.so")})
    assert done.returncode == DONE, done.stderr


# ---- the settings of Veros ----

def test_settings_of_veros(miniapp):
    """Each of Veros's is in one row, and each that is said to be ours is one."""
    text = (ROOT / "docs/veros-settings.md").read_text(encoding="utf-8")
    words = {*re.findall(r"^\| (\w+) \| [a-zK`]", text, re.MULTILINE)} - {"word"}
    rows = re.findall(r"^\| (`.*?`) \| (\w+) \|(.*)\|$", text, re.MULTILINE)
    names = {name: word for cell, word, _ in rows for name in re.findall(r"`(\w+)`", cell)}
    assert len(names) == sum(len(re.findall("`\\w+`", cell)) for cell, *_ in rows) == 100
    assert set(names.values()) == words
    others = set(re.findall(r"`(\w+)`", text[text.index("ours alone"):text.index(", for what")]))
    table = (ROOT / "docs/input.md").read_text(encoding="utf-8").split("\n## ")  # run/dev/tables makes it
    section, = (part for part in table if part.startswith("Settings\n"))
    ours = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert {name for name, word in names.items() if word == "setting"} == ours - others and others < ours
    kernels = {kernel.name for kernel in miniapp.kernels}
    named = {name for _, word, cell in rows if word == "setting" for name in re.findall(r"`(\w+)`", cell)}
    assert named <= kernels | {"u_source", "v_source"}


def test_settings_of_veros_are_all_there(miniapp):
    """Veros's own table."""
    python = os.environ.get("VEROS_PYTHON")
    if not python:
        pytest.skip("there is no Python with Veros: give $VEROS_PYTHON")
    code = "import veros.settings; print(*veros.settings.SETTINGS)"
    theirs = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    text = (ROOT / "docs/veros-settings.md").read_text(encoding="utf-8")
    assert set(theirs) == {name for row in re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
                           for name in re.findall(r"`(\w+)`", row)}
