"""The virtual environment of run/compare: made when it is needed, from pinned versions."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
REQUIREMENTS_CUDA = HERE / "requirements-cuda.txt"  # in addition, where there is an NVIDIA GPU


def has_gpu():
    if not shutil.which("nvidia-smi"):
        return False
    return subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode == 0


def requirements():
    return [REQUIREMENTS] + ([REQUIREMENTS_CUDA] if has_gpu() else [])


def fingerprint(files):
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def install(folder, files):
    """Makes the environment; OSError or CalledProcessError where that fails."""
    print(f"run/compare: installing pinned Python packages into {folder}: about 2 GB to load and "
          "7 GB on the disk, once", file=sys.stderr)
    venv.create(folder, clear=True, with_pip=True)
    wanted = [word for file in files for word in ("-r", str(file))]
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet",
                    "--disable-pip-version-check", *wanted], check=True)


def enter(folder):
    """Goes on as the same command in the environment, made first where it is missing or old."""
    files = requirements()
    stamp = folder / "requirements.sha256"
    if not stamp.exists() or stamp.read_text() != fingerprint(files):
        install(folder, files)
        stamp.write_text(fingerprint(files))
    if Path(sys.prefix).resolve() != folder.resolve():
        python = folder / "bin/python"
        os.execv(python, [python, *sys.argv])
