"""Parts of an input that lie in other files: refused unless --allow-external names them; then they
are known, hashed and never written."""

import json
import os

import h5py
import pytest

from conftest import INPUT, USAGE, checksums_in, read
from test_unwritten import move_out, put, show

ALLOW = "--allow-external"


def link(path, name, target, where=None):
    """Moves a dataset into another file, and leaves a link."""
    values = read(path, name)
    put(path.parent / target, name, values)
    with h5py.File(path, "a") as file:
        del file[name]
        file[name] = h5py.ExternalLink(target, where or name)


def show_from(path, name, target):
    values = read(path, name)
    put(path.parent / target, name, values)
    show(path, name, [(..., target, name, values.shape)], values.shape)


def move(path, name, target):
    raw, = move_out(path, name)
    os.rename(raw, path.parent / target)
    with h5py.File(path, "a") as file:
        shape = file[name].shape
        del file[name]
        file.create_dataset(name, shape, float,
                            external=[(str(path.parent / target), 4, h5py.h5f.UNLIMITED)])


WAYS = [link, show_from, move]


@pytest.mark.parametrize("way", WAYS)
def test_other_files_have_to_be_allowed(miniapp, small, small_checksums, way):
    way(small, "salt", "other.h5")
    miniapp.fails(INPUT, r"small\.h5: dataset 'salt' .*'\S*other\.h5'.* lies outside the file "
                         r"\(--allow-external", small)
    done = miniapp.json(ALLOW, "--checksums", small)
    assert checksums_in(done) == small_checksums
    assert done["provenance"]["external_files"] == str((small.parent / "other.h5").resolve())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("thing", ["pipe", "folder", "nothing", "text"])
def test_other_files_that_are_none(miniapp, small, way, thing):
    """A pipe would be waited for."""
    way(small, "salt", "other.h5")
    other = small.parent / "other.h5"
    other.unlink()
    if thing == "pipe":
        os.mkfifo(other)
    elif thing == "folder":
        other.mkdir()
    elif thing == "text":
        other.write_text("no data")
    reason = {"pipe": "is no regular file", "folder": "is no regular file", "nothing": "is missing",
              "text": "is no HDF5 file|cannot be opened|ends before"}[thing]
    miniapp.fails(INPUT, rf"small\.h5: .*(other\.h5.*({reason}))", ALLOW, small)
    miniapp.fails(INPUT, r"lies outside the file", small)


def test_links_on_the_way(miniapp, small, small_checksums):
    """To a group, through a soft link, from another file, in a path that --variable names."""
    salt = read(small, "salt")
    put(small.parent / "far.h5", "salt", salt)
    with h5py.File(small.parent / "near.h5", "w") as file:
        file["group"] = h5py.ExternalLink("far.h5", "/")
    with h5py.File(small, "a") as file:
        del file["salt"]
        file["near"] = h5py.ExternalLink("near.h5", "/")
        file["alias"] = h5py.SoftLink("/near/group/salt")
    for path in ("near/group/salt", "alias"):
        arguments = ("--variable", f"salt={path}", "--checksums", small)
        miniapp.fails(INPUT, rf"small\.h5: dataset '{path}' .*'near\.h5', which lies outside",
                      *arguments)
        done = miniapp.json(ALLOW, *arguments)
        assert checksums_in(done) == small_checksums
        assert "far.h5" in done["provenance"]["external_files"]
    (small.parent / "far.h5").unlink()
    os.mkfifo(small.parent / "far.h5")
    miniapp.fails(INPUT, r"'far\.h5', which is no regular file", ALLOW, *arguments)


def test_the_file_itself_is_not_outside(miniapp, small, small_checksums):
    """By its own name, as some writers have it."""
    with h5py.File(small, "a") as file:
        file.move("salt", "theirs")
        file["salt"] = h5py.ExternalLink(small.name, "theirs")
    done = miniapp.json("--checksums", small)
    assert checksums_in(done) == small_checksums
    assert "external_files" not in done["provenance"]


def test_references_have_no_other_files(miniapp, small, reference):
    link(reference, "dHdT", "other.h5")
    miniapp.fails(INPUT, r"reference\.h5: dataset 'dHdT' cannot be opened \(a link leads to "
                         r"'other\.h5', which lies outside", ALLOW, "-k", "eos", "--validate",
                  reference, small)


@pytest.mark.parametrize("way", WAYS)
def test_outputs_are_none_of_them(miniapp, small, way):
    way(small, "salt", "other.h5")
    other = small.parent / "other.h5"
    content = other.read_bytes()
    miniapp.fails(USAGE, r"--output '\S*other\.h5' is a file that is read", ALLOW, "-o", other, small)
    miniapp.fails(USAGE, r"--resume '\S*other\.h5' is a file that is read", ALLOW, "--resume", other,
                  small)
    assert other.read_bytes() == content


def test_resume_notices_an_edited_part(miniapp, small, tmp_path):
    link(small, "salt", "other.h5")
    kept = tmp_path / "kept.json"
    arguments = (ALLOW, "-k", "eos", "--resume", kept, small)
    miniapp.passes(*arguments)
    digest = json.loads(kept.read_text())["provenance"]["external_sha256"]
    assert len(digest) == 64
    with h5py.File(tmp_path / "other.h5", "a") as file:
        file["salt"][0, 0, 0] += 0.5
    miniapp.fails(INPUT, f"made with external_sha256={digest} of {tmp_path}/other.h5, but this run has external_sha256=",
                  *arguments)
