"""The program: where it is, in a bundle or in a build of the repository, and what it reports."""

import json
import os
from pathlib import Path

import safely
from safely import ROOT


def program(preset):
    bundled = ROOT / "bin/miniapp"
    return bundled if bundled.exists() else ROOT / "build" / preset / "bin/miniapp"


def add_option(parser, preset="host", name="--miniapp"):
    """The option that names the program."""
    parser.add_argument(name, type=Path, metavar="PATH", default=program(preset),
                        help=f"the program [bin/miniapp of a bundle, else build/{preset}/bin/miniapp]")


def report(path, *words, cores=None, **options):
    """The report of a run of the program at that path, by --format json, on so many cores; raises safely.Failed."""
    if cores:
        allowed = set(sorted(os.sched_getaffinity(0))[:cores])
        options["preexec_fn"] = lambda: os.sched_setaffinity(0, allowed)
        words = "--threads", cores, *words
    return parsed(path, safely.finished([path, "--format", "json", *words], **options).stdout)


def parsed(path, text):
    """The report that the program at that path printed; raises safely.Failed."""
    try:
        found = json.loads(text)
        if not {"provenance", "results"} <= {*found}:
            raise ValueError
        return found
    except safely.MALFORMED as error:
        raise safely.Failed(path, safely.NO_PROGRAM, "prints no report of miniapp's") from error
