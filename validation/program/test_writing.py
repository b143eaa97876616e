"""What holds for every file that the program writes, an output or kept results: what may be
replaced, how, and by whom."""

import json
import os
import shutil
import signal
import stat

import pytest

from conftest import DONE, OUTPUT, USAGE, assert_failed
from processes import library
from test_faults import READ_ONLY_DISK, in_a_namespace
from test_output import become_nobody, can_run_as_nobody, unfinished

WORDS = ("-k", "eos", "-t", 1)


@pytest.fixture(params=["--output", "--resume"])
def option(request):
    return request.param


@pytest.fixture
def earlier(miniapp, small, option, tmp_path):
    """A file of an earlier run, in a folder of its own."""
    path = tmp_path / "results" / "file"
    path.parent.mkdir()
    miniapp.passes(*WORDS, small, option, path)
    return path


def more(option):
    """What is written in its place: the second row of the same sweep, or any output."""
    return (*WORDS, "-s", 2000) if option == "--resume" else WORDS


def replaces(miniapp, small, option, path, **options):
    miniapp.passes(*more(option), small, option, path, **options)


# ---- what is there stays what it is ----

@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444 | stat.S_IWUSR])
def test_mode_stays(miniapp, small, option, earlier, mode):
    earlier.chmod(mode)
    before = earlier.stat()
    replaces(miniapp, small, option, earlier, umask=0o022)
    after = earlier.stat()
    assert stat.S_IMODE(after.st_mode) == mode and after.st_ino != before.st_ino


@pytest.mark.parametrize("mask, mode", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_mode_of_a_new_file(miniapp, small, option, tmp_path, mask, mode):
    path = tmp_path / "new"
    miniapp.passes(*WORDS, small, option, path, umask=mask)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_owner_stays(miniapp, small, option, earlier):
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    os.chown(earlier, 1234, 2345)
    replaces(miniapp, small, option, earlier)
    assert (earlier.stat().st_uid, earlier.stat().st_gid) == (1234, 2345)


def test_links_stay(miniapp, small, option, earlier, tmp_path):
    """They lead where they did, to a file that is replaced; a chain, from folder to folder."""
    first, second = tmp_path / "first", earlier.parent / "second"
    second.symlink_to(earlier.name)
    first.symlink_to("results/second")
    before = earlier.stat()
    replaces(miniapp, small, option, "first", cwd=tmp_path)
    assert first.is_symlink() and second.is_symlink()
    assert not earlier.is_symlink() and earlier.stat().st_ino != before.st_ino
    assert sorted(os.listdir(earlier.parent)) == [earlier.name, "second"]


def test_link_to_nothing(miniapp, small, option, tmp_path):
    """A file comes to be where it leads."""
    (tmp_path / "link").symlink_to("absent")
    miniapp.passes(*WORDS, small, option, tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "absent").stat().st_size > 0


def test_links_without_end(miniapp, small, option, tmp_path):
    (tmp_path / "link").symlink_to("link")
    miniapp.fails(OUTPUT, "link: cannot be written: Too many levels", *WORDS, small, option, tmp_path / "link")


def test_longest_name(miniapp, small, option, tmp_path):
    path = tmp_path / ("n" * 255)
    miniapp.passes(*WORDS, small, option, path)
    replaces(miniapp, small, option, path)
    assert sorted(os.listdir(tmp_path)) == [path.name, small.name]
    miniapp.fails(OUTPUT, "cannot be written: File name too long", *WORDS, small, option, tmp_path / ("n" * 256))


# ---- what may not be replaced ----

def test_read_only_file(miniapp, small, option, earlier):
    earlier.chmod(0o444)
    before = earlier.read_bytes()
    miniapp.fails(OUTPUT, "file: cannot be written: (it is read-only|Permission denied)",
                  *more(option), small, option, earlier)
    assert earlier.read_bytes() == before


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_no_regular_file(miniapp, small, option, tmp_path, kind):
    """A pipe would be waited for."""
    path = tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/full")
    miniapp.fails(OUTPUT, f"{kind}: cannot be written: it exists and is not a regular file", *WORDS,
                  small, option, path)
    assert path.exists() and path.is_symlink() == (kind == "device")


def test_file_without_a_name(miniapp, small, option, tmp_path):
    """As /proc shows one that was removed."""
    with open(tmp_path / "gone", "w+b") as gone:
        os.unlink(gone.name)
        miniapp.fails(OUTPUT, "cannot be written: No such file", *WORDS, small, option,
                      f"/proc/self/fd/{gone.fileno()}", pass_fds=[gone.fileno()])
    assert os.listdir(tmp_path) == [small.name]


def as_nobody(miniapp, small):
    """Options of a run as a user whom permissions bind."""
    if os.geteuid() != 0:
        return {}
    if not (shutil.which("setpriv") and can_run_as_nobody(miniapp, small)):
        pytest.skip("as root, this needs files that all may read")
    return {"preexec_fn": become_nobody}


def test_folder_that_is_closed(miniapp, small, option, earlier):
    """What is there may be written, but not replaced: it is told before anything is measured."""
    options = as_nobody(miniapp, small)
    earlier.chmod(0o666)
    earlier.parent.chmod(0o555)
    before = earlier.read_bytes()
    miniapp.fails(OUTPUT, "file: cannot be written: Permission denied", *WORDS, small, "-r", 10**9,
                  option, earlier, quick=False, **options)
    earlier.parent.chmod(0o755)
    assert earlier.read_bytes() == before and os.listdir(earlier.parent) == [earlier.name]


def test_folder_that_cannot_be_listed(miniapp, small, option, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    options = as_nobody(miniapp, small)
    folder.chmod(0o333)
    miniapp.passes(*WORDS, small, option, folder / "file", **options)
    folder.chmod(0o755)
    assert os.listdir(folder) == ["file"]


def test_read_only_file_system(miniapp, small, option, tmp_path):
    (tmp_path / "disk").mkdir()
    done = in_a_namespace(miniapp, READ_ONLY_DISK, [tmp_path / "disk", small], small, option,
                          tmp_path / "disk" / "file")
    assert_failed(done, OUTPUT, "file: cannot be written: Read-only file system")


@pytest.mark.parametrize("kind", ["same", "soft", "hard"])
def test_files_that_are_read(miniapp, small, option, tmp_path, kind):
    path = tmp_path / kind
    if kind == "same":
        path = small
    elif kind == "soft":
        path.symlink_to(small)
    else:
        os.link(small, path)
    before = small.read_bytes()
    miniapp.fails(USAGE, f"{option} '{path}' is a file that is read", *WORDS, small, option, path)
    assert small.read_bytes() == before


# ---- what is unfinished ----

def test_links_in_the_way(miniapp, small, tmp_path):
    """A name that another user can guess could be a link to a file of ours."""
    victim, path = tmp_path / "victim", tmp_path / "results.json"
    victim.write_text("precious")
    miniapp.passes(*WORDS, small, "--resume", path, preexec_fn=lambda: os.symlink(victim, f"{path}.{os.getpid()}.tmp"))
    assert victim.read_text() == "precious" and json.loads(path.read_text())["results"]


# ---- two runs with one file of results ----

@pytest.fixture
def running(miniapp, small, tmp_path):
    """A run that has kept its first size and is held in the second, and its file."""
    path = tmp_path / "results.json"
    with miniapp.start(*WORDS, small, "-s", 1000, "-s", 120000, "--seconds", 0.2, "--resume", path,
                       "--format", "json") as process:
        process.wait_for("(?s)first turn.*first call.*first turn")
        process.send_signal(signal.SIGSTOP)
        process.wait_for(process.is_stopped)
        yield process, path


def test_one_run_at_a_time(miniapp, small, running):
    process, path = running
    before = path.read_bytes()
    words = (*WORDS, small, "-s", 4000, "--resume", path)
    miniapp.fails(OUTPUT, f"cannot be written: process {process.pid} keeps its results there", *words)
    assert path.read_bytes() == before
    process.send_signal(signal.SIGCONT)
    text, _ = process.finish()
    assert process.returncode == DONE and json.loads(path.read_text())["results"] == \
        json.loads(text)["results"]
    assert len(miniapp.json(*words)["results"]) == 3
    assert os.listdir(path.parent).count(path.name) == 1 and not unfinished(path)


def test_links_lead_to_the_same_lock(miniapp, small, running, tmp_path):
    _, path = running
    (tmp_path / "link").symlink_to(path)
    miniapp.fails(OUTPUT, "keeps its results there", *WORDS, small, "--resume", tmp_path / "link")


def test_the_kernel_does_not_say_who(miniapp, small, running, tmp_path):
    """As of a process on another machine."""
    _, path = running
    (tmp_path / "locks").write_text("1: POSIX  ADVISORY  WRITE 1 00:01:2 0 EOF\n")
    done = in_a_namespace(miniapp, 'mount --bind "$1" /proc/locks', [tmp_path / "locks"], *WORDS,
                          small, "--resume", path)
    assert_failed(done, OUTPUT, "another process keeps its results there")


# Another run acts in the moment before a file whose name holds a word is first locked.
ACTING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int flock(int file, int operation)
{
    static int called;
    char link[64], path[4096];
    int (*real)(int, int);
    *(void **)&real = dlsym(RTLD_NEXT, "flock");
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\\0';
    if (strstr(path, WORD) && !called++)
        ACTION;
    return real(file, operation);
}
"""


@pytest.mark.parametrize("action", ["rename", "unlink"])
def test_file_is_replaced_before_it_is_locked(miniapp, small, tmp_path, action):
    """By a run that has just finished, or just ended without a row: what is locked is what is
    there."""
    path, newer = tmp_path / "results.json", tmp_path / "newer.json"
    miniapp.passes(*WORDS, small, "-s", 1000, "--resume", path)
    miniapp.passes(*WORDS, small, "-s", 1000, "-s", 2000, "--resume", newer)
    replacing = library(tmp_path / "replacing.so", ACTING, WORD='"/results.json"', ACTION=(
        'rename(getenv("NEWER"), path)' if action == "rename" else "unlink(path)"))
    result = miniapp.json(*WORDS, small, "-s", 4000, "--resume", path,
                          env={"LD_PRELOAD": str(replacing), "NEWER": str(newer)})
    assert len(result["results"]) == (3 if action == "rename" else 1)
    assert json.loads(path.read_text())["results"] == result["results"]


def test_no_row_leaves_no_file(miniapp, small, tmp_path):
    """Whatever ends the run; an empty file that was there stays."""
    path = tmp_path / "results.json"
    words = (*WORDS, small, "-r", 10**8, "--resume", path)
    for number in (signal.SIGTERM, signal.SIGQUIT):
        with miniapp.start(*words) as process:
            process.wait_for("first turn")
            assert path.read_bytes() == b""
            process.send_signal(number)
            process.finish()
        assert not path.exists()
    path.touch()
    miniapp.fails(USAGE, "range|must be", *WORDS, small, "--set", "c_eps=nan", "--resume", path)
    with miniapp.start(*words) as process:
        process.wait_for("first call")
        process.send_signal(signal.SIGTERM)
        process.finish()
    assert path.read_bytes() == b""


def test_an_empty_file_is_a_fresh_one(miniapp, small, tmp_path):
    """As a run leaves it that is killed before its first size is finished."""
    path = tmp_path / "results.json"
    with miniapp.start(*WORDS, small, "-r", 10**8, "--resume", path) as process:
        process.wait_for("first call")
        process.kill()
        process.finish()
    assert path.read_bytes() == b""
    assert len(miniapp.json(*WORDS, small, "--resume", path)["results"]) == 1
    assert json.loads(path.read_text())["results"]


def test_where_nothing_can_be_locked(miniapp, small, tmp_path):
    """As on some network file systems: the run says so, and goes on."""
    lockless = library(tmp_path / "lockless.so", """
#include <errno.h>
int flock(int file, int operation) { errno = ENOLCK; return -1; }
""")
    path = tmp_path / "results.json"
    words = (*WORDS, small, "--resume", path)
    options = {"env": {"LD_PRELOAD": str(lockless), "HDF5_USE_FILE_LOCKING": "FALSE"}}
    miniapp.passes(*words, warning="results.json: cannot be locked, .*: No locks available", **options)
    assert json.loads(path.read_text())["results"]
    miniapp.passes(*WORDS, small, "-o", tmp_path / "out.h5", **options)
    assert not unfinished(path)


def test_closed_standard_output_loses_no_rows(miniapp, small, tmp_path):
    path = tmp_path / "results.json"
    miniapp.fails(OUTPUT, "standard output", *WORDS, small, "--resume", path, preexec_fn=lambda: os.close(1))
    assert len(json.loads(path.read_text())["results"]) == 1
