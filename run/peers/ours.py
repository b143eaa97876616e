"""Runs miniapp, on some cores."""

import json
import os
import subprocess

import h5py


class Failure(Exception):
    """miniapp did not do what it was asked to do; the text is its error message."""


def run(miniapp, arguments, cores):
    """The JSON of a run on a number of cores."""
    allowed = set(sorted(os.sched_getaffinity(0))[:cores])
    command = [str(miniapp), "--threads", str(cores), "--format", "json", *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              preexec_fn=lambda: os.sched_setaffinity(0, allowed))
    except OSError as error:
        raise Failure(f"{miniapp}: cannot be run: {error.strerror}") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise Failure(f"{' '.join(command)}: {lines[-1]}")
    return json.loads(done.stdout)


def write_input(path, fields):
    with h5py.File(path, "w") as file:
        file.attrs["halo"] = 2
        for name, value in fields.items():
            file[name] = value
