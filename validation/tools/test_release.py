"""run/dev/release, in a clone that is made ready for one and then spoilt."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from processes import completed

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r"^project\(miniapp VERSION (\S+) ", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def ready(path):
    """A clone whose change log has an entry of today's version."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("this is not a git repository")
    subprocess.run(["git", "clone", "-q", ROOT, path], check=True)
    shutil.copy(ROOT / "run" / "dev" / "release", path / "run/dev/release")  # as it is, committed or not
    log = (path / "CHANGELOG.md").read_text()
    (path / "CHANGELOG.md").write_text(f"## {VERSION} - 2026-01-01\n\n{log}")
    commit(path)
    return path


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """One for all tests, which leave it as it is."""
    return ready(tmp_path_factory.mktemp("ready") / "clone")


@pytest.fixture
def spoilt(clone):
    """To which a test commits something."""
    yield clone
    git(clone, "reset", "-q", "--hard", "HEAD^")


def git(path, *words):
    identity = ("-c", "user.name=miniapp", "-c", "user.email=miniapp@localhost")
    return subprocess.run(["git", *identity, *words], cwd=path, check=True, capture_output=True, text=True).stdout


def commit(path):
    git(path, "commit", "-q", "--allow-empty", "-a", "-m", "ready")


def release(path, *words):
    """It builds in a folder for temporary files what run/test's ccache has: by paths below that."""
    return completed([path / "run/dev/release", "--no-tests", "--dry-run", *words], cwd=path,
                     env={**os.environ, "CCACHE_BASEDIR": tempfile.gettempdir()})


def fails(clone, pattern, version=VERSION):
    done = release(clone, version)
    assert done.returncode == 1 and re.fullmatch(f"run/dev/release: .*{pattern}.*\n", done.stderr), done
    assert not (clone / "build").exists()


def test_packs_builds_and_validates(clone):
    done = release(clone, VERSION)
    assert done.returncode == 0, done
    assert "validation PASSED" in done.stdout and git(clone, "tag") == ""
    pack = clone / "build" / "release" / f"miniapp-{VERSION}.tar.gz"
    names = subprocess.run(["tar", "-tzf", pack], check=True, capture_output=True, text=True).stdout.splitlines()
    assert all(name.startswith(f"miniapp-{VERSION}/") for name in names)
    assert git(clone, "status", "--porcelain") == ""
    shutil.rmtree(clone / "build")


def test_changes_are_not_released(clone):
    (clone / "new").touch()
    fails(clone, "has changes")
    (clone / "new").unlink()


def test_versions_have_to_agree(clone):
    fails(clone, r"CMakeLists.txt does not name the version 9\.9\.9", "9.9.9")


def test_citation_has_to_name_the_version(spoilt):
    citation = spoilt / "CITATION.cff"
    citation.write_text(citation.read_text().replace(f"version: {VERSION}", "version: 9.9.9"))
    commit(spoilt)
    fails(spoilt, "CITATION.cff")


def test_change_log_has_to_have_an_entry(spoilt):
    log = spoilt / "CHANGELOG.md"
    log.write_text(log.read_text().replace("2026-01-01", "unreleased"))
    commit(spoilt)
    fails(spoilt, "CHANGELOG.md has no line")


def test_a_version_is_released_once(clone):
    git(clone, "tag", f"v{VERSION}")
    fails(clone, "the tag .* exists")
    git(clone, "tag", "-d", f"v{VERSION}")


@pytest.mark.parametrize("words", [(), ("1.2",), ("1.2.3", "1.2.4"), ("--now", "1.2.3")])
def test_wrong_usage(clone, words):
    done = release(clone, *words)
    assert done.returncode == 2 and done.stderr.startswith("usage: run/dev/release"), done
