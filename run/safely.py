"""What the scripts here have in common: files that are written as a whole, folders that are removed as a
whole, and text from outside in which nothing is left that a terminal would obey. miniapp's own are
miniapp/common/replace.c and printable.c."""

import contextlib
import errno
import os
import re
import signal
import stat
import sys
import tempfile
from pathlib import Path

# Control characters, line separators, and what changes the direction of text.
# Python keeps the bytes of names that are not UTF-8 as surrogates.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# What reading a file of JSON or CSV raises that is not as it should be; of deep nesting RecursionError.
MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def bytes_of(sign):
    return sign.encode(errors="surrogateescape" if "\udc80" <= sign <= "\udcff" else "surrogatepass")


def printable(text):
    """The text on one line and harmless, whatever a file or its content is called."""
    return OBEYED.sub(lambda found: "".join(f"\\x{byte:02x}" for byte in bytes_of(found[0])), str(text))


class Printable:
    """A stream to which only printable text goes; line breaks stay."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write("\n".join(map(printable, text.split("\n"))))

    def __getattr__(self, name):
        return getattr(self.stream, name)


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
        print(f"run/{Path(sys.argv[0]).name}: {why}", file=sys.stderr)
    sys.exit(code)


def check_replaceable(place):
    """The mode that the new file will have; raises an error if the place cannot be written."""
    if not place.exists():
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    mode = place.stat().st_mode
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is there and no regular file")
    if not os.access(place, os.W_OK) or not mode & 0o222:  # root may write to any
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_IMODE(mode)


@contextlib.contextmanager
def replacing(path):
    """A name to write to. If all goes well, that file takes the place of the path: afterwards there
    is the old file or the new one, never half. A link stays, and what it points to is replaced; its
    mode stays, too."""
    name = None
    try:
        place = Path(os.path.realpath(path))
        mode = check_replaceable(place)
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=".writing-", suffix=place.suffix)
        os.close(handle)
        yield Path(name)
        with open(name, "rb") as file:
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, place)
        name = None
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        if name:
            with contextlib.suppress(OSError):
                os.unlink(name)


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
