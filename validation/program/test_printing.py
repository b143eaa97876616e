"""Text from outside, such as names of files and what stands in them, is printed so that a terminal
neither obeys it nor shows it in another order."""

import csv
import io
import json
import os
import re

import pytest

from conftest import DONE, INPUT, QUICK, USAGE
from processes import completed

# What a terminal obeys: escape sequences and others of C0, DEL, C1 in UTF-8 and as bytes, separators,
# and what turns the order of text round; then bytes that are no UTF-8.
OBEYED = {
    "\x1b]0;title\x07": r"\x1b]0;title\x07", "\n\r\t\b": r"\x0a\x0d\x09\x08",
    "\x7f": r"\x7f", "\x80\x85\x9b31m\x9f": r"\xc2\x80\xc2\x85\xc2\x9b31m\xc2\x9f",
    "\u2028\u2029": r"\xe2\x80\xa8\xe2\x80\xa9", "\u202a\u202e": r"\xe2\x80\xaa\xe2\x80\xae",
    "\u2066\u2069": r"\xe2\x81\xa6\xe2\x81\xa9",
    os.fsdecode(b"\x9b31m\xff\xc0\xaf\xed\xa0\x80\xe2\x80"):
        r"\x9b31m\xff\xc0\xaf\xed\xa0\x80\xe2\x80",
}
HARMLESS = "grüße → 海 \U0001f30a a\\b"
FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

each = pytest.mark.parametrize("text, printed", [*OBEYED.items(), (HARMLESS, HARMLESS)],
                               ids=lambda text: ascii(text)[:24])


def assert_harmless(text, form=None):
    """But for DEL, which terminals ignore, in JSON: its escapes are those of the library that writes it."""
    if form == "json":
        text = text.replace("\x7f", "")
    assert not FORBIDDEN.search(text), ascii(text)


@each
def test_message(miniapp, tmp_path, text, printed):
    message = miniapp.fails(INPUT, "No such file", tmp_path / f"absent{text}.h5")
    assert f"/absent{printed}.h5: No such file" in message
    assert_harmless(message)


@each
def test_name_of_an_option(miniapp, small, text, printed):
    for words in (["-k", text], [f"--{text}"], ["--set", f"{text}=1"]):
        message = miniapp.fails(USAGE, "", small, *words)
        assert printed in message
        assert_harmless(message)


@each
@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_report(miniapp, small, reference, form, text, printed):
    """The names of the input and of the reference, and the command line."""
    path = small.rename(small.parent / f"input{text}.h5")
    other = reference.rename(reference.parent / f"reference{text}.h5")
    output = miniapp.passes(path, "-k", "eos", "--validate", other, "--format", form)
    assert_harmless(output, form)
    if form == "json":
        given = json.loads(output)["provenance"]["input"]
        assert given == str(path) or "\udcff" in text and given == str(path).replace(text, printed)
    else:
        assert f"input{printed}.h5\n" in output
    if form == "table":
        assert f"\ncompared with {other.parent}/reference{printed}.h5; " in output


@each
def test_check(miniapp, small, text, printed):
    path = small.rename(small.parent / f"input{text}.h5")
    line = miniapp.passes("--check", path, quick=False)
    assert f"input{printed}.h5: can be used" in line
    assert_harmless(line)


@each
def test_saved_run(miniapp, small, tmp_path, text, printed):
    """One that somebody sent: any text in it may be anything."""
    if "\udcff" in text:
        pytest.skip("no file of JSON holds that")
    path = tmp_path / "sent.json"
    words = (small, "-k", "mixing", "--roofline", "--checksums", "--resume", path)
    result = miniapp.json(*words)
    result["provenance"][f"name{text}"] = f"value{text}"
    for entry in (*result["results"], *result["transfers"], *result["checksums"]):
        for name in ("kernel", "device", "variable", "marks"):
            if name in entry:
                entry[name] = f"{entry[name]}{text}"
        if "sha256" in entry:  # as much as has room, in bytes
            entry["sha256"] = text.encode()[:64].decode()
    for form in ("table", "csv", "json"):
        path.write_text(json.dumps(result))
        shown = miniapp.passes(*words, "--format", form)
        assert_harmless(shown, form)
        assert printed in shown or form == "json" and f"mixing{text}" in {
            row["kernel"] for row in json.loads(shown)["results"]}


def test_name_of_the_program(miniapp, small):
    """Whoever starts it may give it any."""
    for words in (["--help"], ["--version"], [small, *QUICK], ["--no-such-option"]):
        done = completed(["\x1b[31m", *map(str, words)], executable=miniapp.path, env=miniapp.environment())
        assert done.returncode == (USAGE if words == ["--no-such-option"] else DONE), done
        assert_harmless(done.stdout + done.stderr)


def test_checksum_of_a_saved_run_that_is_too_long(miniapp, small, tmp_path):
    """It is cut within a character, which is none then, and nothing of JSON."""
    words = (small, "-k", "eos", "--checksums", "--resume", tmp_path / "sent.json")
    result = miniapp.json(*words)
    result["checksums"][0]["sha256"] = "x" * 63 + "ü"
    (tmp_path / "sent.json").write_text(json.dumps(result))
    assert miniapp.json(*words)["checksums"][0]["sha256"] == "x" * 63 + r"\xc3"


def test_environment(miniapp, small):
    """It is part of the provenance. What the OpenMP runtime itself says of it is not ours."""
    done = miniapp.run(*QUICK, small, env={"OMP_PLACES": "\x1b[31m"})
    assert done.returncode == DONE and r"OMP_PLACES=\x1b[31m" in done.stdout
    assert_harmless(done.stdout)
    done = miniapp.run(*QUICK, small, env={"OMP_NUM_THREADS": "1\x1b[31m"})
    assert done.returncode == USAGE and not done.stdout
    line = done.stderr.splitlines()[-1]  # GCC's runtime says something before
    assert line.startswith(r"miniapp: OMP_NUM_THREADS is '1\x1b[31m'")
    assert_harmless(done.stderr)


def test_line_of_csv_stays_one(miniapp, small):
    """A kernel with bindings has commas in its name."""
    text = miniapp.passes(small, "-k", "triad:b=temp,c=salt", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO("".join(line for line in text.splitlines(True) if line[0] != "#"))))
    assert [row["kernel"] for row in rows] == ["triad:b=temp,c=salt"]
    assert rows[0]["transfer"] == "once" and None not in rows[0]


def test_a_name_is_cut_between_characters(miniapp):
    """However long a message becomes."""
    message = miniapp.fails(INPUT, "", "\x1b" * 250 + "/" + "/".join(["\u0085" * 120] * 16), max_line=10000)
    assert re.fullmatch(r"miniapp: (\\x1b|\\xc2|\\x85|/)+(: .*)?\n", message), message
