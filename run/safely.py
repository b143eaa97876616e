"""Shared by the scripts here: how they end, folders that are removed as a whole, streams to which only harmless text
goes, and what the Python package has for files and text, without its NumPy.

Scripts import this before modules that may be missing."""

import argparse
import contextlib
import errno
import importlib.util
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("whole", ROOT / "python" / "src" / "miniapp" / "whole.py")
whole = importlib.util.module_from_spec(spec)
spec.loader.exec_module(whole)
printable, replacing = whole.printable, whole.replacing

# Exceptions from reading malformed JSON or CSV; RecursionError comes of deep nesting.
MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
SYSTEM_PYTHON = "/usr/bin/python3"
# Exit codes: wrong usage; an input or a module cannot be used, a program cannot, an output cannot be written.
USAGE, UNUSABLE, NO_PROGRAM, UNWRITABLE = 2, 3, 4, 5
LONGEST = 10**6  # axis of a grid


class Unwritten(Exception):
    """Stdout cannot be written."""


class Printable:
    """A stream to which only printable text goes; line breaks stay."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write("\n".join(map(printable, text.split("\n"))))

    def __getattr__(self, name):
        return getattr(self.stream, name)


class Stdout(Printable):
    """Its errors are told from all others."""

    def write(self, text):
        return self.checked(super().write, text)

    def flush(self):
        self.checked(self.stream.flush)

    @staticmethod
    def checked(function, *arguments):
        try:
            return function(*arguments)
        except OSError as error:
            raise Unwritten(error.errno, error.strerror) from error


def name_of_script():
    path = Path(sys.argv[0]).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else f"run/{path.name}"


def say(text):
    """One line on stderr that begins with the script's name."""
    print(f"{name_of_script()}: {printable(str(text))}", file=sys.stderr, flush=True)


def fail(code, text):
    say(text)
    sys.exit(code)


class Parser(argparse.ArgumentParser):
    """It says what is wrong in one line."""

    def error(self, message):
        fail(USAGE, f"error: {message}")


def parser_of(documentation):
    """A parser whose help is a script's documentation as it stands."""
    return Parser(prog=name_of_script(), description=documentation,
                  formatter_class=argparse.RawDescriptionHelpFormatter)


def read_by(kind, expected, fits):
    """A type for argparse: what `kind` makes of a word, if that fits."""
    def read(text):
        with contextlib.suppress(ValueError):
            if fits(value := kind(text)):
                return value
        raise argparse.ArgumentTypeError(f"takes {expected}, not '{text}'")
    return read


positive = read_by(float, "a number above 0", lambda value: 0 < value < math.inf)


def whole_number(least=1, most=math.inf):
    return read_by(int, f"a whole number from {least}" + (f" to {most}" if most < math.inf else ""),
                   lambda value: least <= value <= most)


def lengths(separator, count, least=1):
    """Reads the lengths of a grid's axes."""
    example = separator.join(["64"] * count)
    return read_by(lambda text: tuple(map(int, text.split(separator))),
                   f"{count} whole numbers from {least} to {LONGEST}, such as {example}",
                   lambda values: len(values) == count and all(least <= value <= LONGEST for value in values))


def some_of(names):
    """A list of different names with commas between them."""
    return read_by(lambda text: text.split(","), f"some of {','.join(names)}",
                   lambda chosen: set(chosen) <= set(names) and len(set(chosen)) == len(chosen))


class Failed(Exception):
    """A program failed: a line that names it and says why. The code is its own, as a shell tells it, or NO_PROGRAM."""

    def __init__(self, what, code, ending, reason=""):
        self.code, self.ending, self.reason = code, ending, reason
        super().__init__(f"{what}: {reason or ending}")


def why(stderr, stdout):
    """The line that says why a program failed, or "": miniapp's last; of CMake, a compiler or another, the first."""
    text = re.sub(r"CMake Error at .*:\n\s*", "error: ", stderr + stdout)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    kinds = ([line for line in lines if "miniapp: " in line][-1:],
             [line.lstrip("- ") for line in lines if "missing: " in line],
             [line for line in lines if re.search("error|fatal", line, re.IGNORECASE)], stderr.strip().splitlines())
    return next((kind[0] for kind in kinds if kind), "")


def finished(command, what=None, accepted=(0,), **options):
    """A program that ended with one of these exit codes, and what it printed; else raises Failed, of `what`."""
    command = list(map(str, command))
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=False, errors="replace", **options)
    except OSError as error:
        raise Failed(command[0], NO_PROGRAM, f"cannot be run: {error.strerror}") from error
    code = done.returncode
    if code not in accepted:
        ending = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        raise Failed(what or f"{command[0]} failed", 128 - code if code < 0 else code, ending,
                     why(done.stderr, done.stdout))
    return done


def or_end(function, *words, code=None, **options):
    """What the function returns. Where it raises Failed, that ends the script, with this code or the program's own."""
    try:
        return function(*words, **options)
    except Failed as failure:
        fail(failure.code if code is None else code, failure)


def output_of(command, what=None, code=None, **options):
    return or_end(finished, command, what, code=code, **options)


def save(path, found):
    """Writes JSON."""
    save_by(lambda new: new.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8"), path)


def save_by(write, path):
    """Replaces a file as a whole: it is the old one or the new one, never half."""
    try:
        with replacing(path) as new:
            write(new)
    except OSError as error:
        fail(UNWRITABLE, f"{error.filename or path}: cannot be written: {error.strerror}")


def check_writable(path):
    """Fails where `save_by` would, before anything is measured."""
    place = Path(os.path.realpath(path))  # what a link points to is replaced
    try:
        whole.check_replaceable(place)
    except OSError as error:
        fail(UNWRITABLE, f"{path}: cannot be written: {error.strerror or error}")
    if not os.access(place.parent, os.W_OK):
        fail(UNWRITABLE, f"{path}: cannot be written: there is no folder for it that is writable")


def table(lines):
    """Lines of cells as text, which may hold single spaces: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join([first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:]))])
            for first, *cells in lines]


def name_package(kind, error, trace):
    """Where a module is missing, a script ends with one line that names its package."""
    if not issubclass(kind, ImportError) or not error.name:
        sys.__excepthook__(kind, error, trace)
        return
    try:
        finished([SYSTEM_PYTHON, "-c", f"import {error.name}"])
        remedy = f"run it as {SYSTEM_PYTHON} {name_of_script()}, which has it"
    except Failed:
        remedy = f"install python3-{error.name.lower()}, or run this by a Python that has it"
    fail(UNUSABLE, f"{sys.executable} lacks the module {error.name}: {remedy}")


sys.excepthook = name_package


def run(main):
    """Ends a script with what main() returns; after Ctrl-C with 130. As miniapp does, with 5 if stdout cannot be
    written, and with 141 if its reader has gone. All that it prints is printable."""
    sys.stdout, sys.stderr = Stdout(sys.stdout), Printable(sys.stderr)
    code, why = 0, None
    try:
        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code, why = 130, "stopped by the user"
    except MemoryError as error:
        code, why = UNUSABLE, f"out of memory: {error}"
    except Unwritten as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python's end flushes once more what could not be written
        number, reason = error.args
        code = 128 + signal.SIGPIPE
        if number != errno.EPIPE:
            code, why = 5, f"results cannot be written to standard output: {reason}"
    if why:
        say(why)
    sys.exit(code)


@contextlib.contextmanager
def signals_held():
    """Signals that end a script arrive after the body only."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def temporary_folder(**where):
    """A folder that is removed at the end, after Ctrl-C too. shutil.rmtree must not be interrupted: it turns
    a KeyboardInterrupt into an OSError and leaves the rest of the folder."""
    folder = tempfile.TemporaryDirectory(**where)
    try:
        yield Path(folder.name)
    finally:
        with signals_held():
            folder.cleanup()
