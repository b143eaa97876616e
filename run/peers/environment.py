"""The virtual environment of run/compare: made when it is needed, from pinned versions."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
REQUIREMENTS = HERE / "requirements.txt"
REQUIREMENTS_CUDA = HERE / "requirements-cuda.txt"  # in addition, where there is an NVIDIA GPU


class Unavailable(Exception):
    """The environment cannot be had; the text is one line that says why."""


def has_gpu():
    if not shutil.which("nvidia-smi"):
        return False
    return subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode == 0


def requirements():
    return [REQUIREMENTS] + ([REQUIREMENTS_CUDA] if has_gpu() else [])


def fingerprint(files):
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def install(folder, files, size):
    print(f"run/compare: installing pinned Python packages into {folder}: {size}, once",
          file=sys.stderr)
    venv.create(folder, clear=True, with_pip=True)
    wanted = [word for file in files for word in ("-r", str(file))]
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet",
                    "--disable-pip-version-check", *wanted], check=True)


def make(folder, files, size):
    """The Python of an environment, which is made if it is missing or old."""
    stamp = folder / "requirements.sha256"
    try:
        if not stamp.exists() or stamp.read_text() != fingerprint(files):
            install(folder, files, size)
            stamp.write_text(fingerprint(files))
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"the Python packages cannot be installed into {folder}: "
                          f"{error}") from error
    return folder / "bin/python"


def enter():
    """Runs the same command again in the environment."""
    folder = BUILD / "venv"
    python = make(folder, requirements(), "about 2 GB to download and 6 GB on the disk")
    if Path(sys.prefix).resolve() != folder.resolve():
        os.execv(python, [python, *sys.argv])
