"""The virtual environment of run/compare: made when it is needed, from pinned versions."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import safely

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "build" / "venv"
REQUIREMENTS = HERE / "requirements.txt"
REQUIREMENTS_CUDA = HERE / "requirements-cuda.txt"  # in addition, where there is an NVIDIA GPU


def has_gpu():
    if not shutil.which("nvidia-smi"):
        return False
    return subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode == 0


def install(files):
    safely.say(f"installing pinned Python packages into {FOLDER}: about 2 GB to download and 6 GB on the disk, once")
    venv.create(FOLDER, clear=True, with_pip=True)
    wanted = [word for file in files for word in ("-r", str(file))]
    subprocess.run([FOLDER / "bin/python", "-m", "pip", "install", "--quiet",
                    "--disable-pip-version-check", *wanted], check=True)


def make():
    """Makes the environment, if it is missing or old, and goes there."""
    files = [REQUIREMENTS] + ([REQUIREMENTS_CUDA] if has_gpu() else [])
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    stamp = FOLDER / "requirements.sha256"
    try:
        if not stamp.exists() or stamp.read_text() != wanted:
            install(files)
            stamp.write_text(wanted)
    except (OSError, subprocess.CalledProcessError) as error:
        safely.fail(safely.UNUSABLE, f"the Python packages cannot be installed into {FOLDER}: {error}")
    enter()


def enter():
    """Runs the same command again in the environment, if there is one and this is another."""
    python = FOLDER / "bin/python"
    if python.exists() and Path(sys.prefix).resolve() != FOLDER.resolve():
        os.execv(python, [python, *sys.argv])
