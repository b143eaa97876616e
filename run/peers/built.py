"""Where the program is: in a bundle, or in a build of the repository."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def program(preset):
    bundled = ROOT / "bin/miniapp"
    return bundled if bundled.exists() else ROOT / "build" / preset / "bin/miniapp"
