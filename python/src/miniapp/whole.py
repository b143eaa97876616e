"""Files that are written as a whole, and text from outside in which nothing is left that a terminal would obey.
miniapp's own are miniapp/common/replace.c and printable.c. The scripts in run/ load this file by its path, and need
no NumPy."""

import contextlib
import errno
import os
import re
import stat
import tempfile
from pathlib import Path

# Control characters, line separators, and what changes the direction of text.
# Python keeps the bytes of names that are not UTF-8 as surrogates.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def bytes_of(sign):
    return sign.encode(errors="surrogateescape" if "\udc80" <= sign <= "\udcff" else "surrogatepass")


def printable(text):
    """The text on one line and harmless, whatever a file or its content is called."""
    return OBEYED.sub(lambda found: "".join(f"\\x{byte:02x}" for byte in bytes_of(found[0])), str(text))


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
        raise OSError(errno.EINVAL, "it exists and is not a regular file")
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
