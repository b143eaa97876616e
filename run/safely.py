"""Shared by the scripts here: folders that are removed as a whole, streams to which only harmless text
goes, and what the Python package has for files and text, without its NumPy."""

import contextlib
import errno
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

spec = importlib.util.spec_from_file_location(
    "whole", Path(__file__).resolve().parent.parent / "python" / "src" / "miniapp" / "whole.py")
whole = importlib.util.module_from_spec(spec)
spec.loader.exec_module(whole)
printable, replacing = whole.printable, whole.replacing

# Exceptions from reading malformed JSON or CSV; RecursionError comes of deep nesting.
MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class Printable:
    """A stream to which only printable text goes; line breaks stay."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write("\n".join(map(printable, text.split("\n"))))

    def __getattr__(self, name):
        return getattr(self.stream, name)


def say(text):
    """One line on stderr that begins with the script's name."""
    path = Path(sys.argv[0]).resolve()
    folder = "run/dev" if path.parent.name == "dev" else "run"
    print(f"{folder}/{path.name}: {printable(str(text))}", file=sys.stderr, flush=True)


def fail(code, text):
    say(text)
    sys.exit(code)


def output_of(command, what, code, **options):
    """A program's stdout and stderr. If it fails, the script ends and says that `what` did, and the line that tells why."""
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=False, errors="replace", **options)
    except OSError as error:
        fail(code, f"{what}: {error.strerror}")
    if done.returncode:
        lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if re.search("error|fatal|miniapp: ", line, re.IGNORECASE)]
        fail(code, f"{what}: {(errors or lines or ['no reason given'])[0]}")
    return done


def print_safely():
    """Makes all that this process prints from here on printable."""
    sys.stdout, sys.stderr = Printable(sys.stdout), Printable(sys.stderr)


def forget_stdout():
    """Python's end flushes once more what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def print_lines(lines):
    """Prints them at once, so that a full disk or a reader that has gone is an error here."""
    try:
        print(*map(printable, lines), sep="\n", flush=True)
    except OSError:
        forget_stdout()
        raise


class Unwritten(OSError):
    """Stdout cannot be written."""


class Checked:
    """A stream whose errors are told from all others."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.checked(self.stream.write, text)

    def flush(self):
        self.checked(self.stream.flush)

    @staticmethod
    def checked(function, *arguments):
        try:
            return function(*arguments)
        except OSError as error:
            raise Unwritten(error.errno, error.strerror) from error

    def __getattr__(self, name):
        return getattr(self.stream, name)


def run(main):
    """Ends a script with what main() returns; after Ctrl-C with 130. As miniapp does, with 5 if stdout cannot be
    written, and with 141 if its reader has gone."""
    sys.stdout = Checked(sys.stdout)
    code, why = 0, None
    try:
        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code, why = 130, "stopped by the user"
    except Unwritten as error:
        forget_stdout()
        code = 128 + signal.SIGPIPE
        if error.errno != errno.EPIPE:
            code, why = 5, f"results cannot be written to standard output: {error.strerror}"
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
