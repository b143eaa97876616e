"""Turns the end of a run of miniapp into a restart from which Veros continues.

    run/make-restart END.nc SETUP.py -o new.restart.h5
    veros run SETUP.py -s restart_input_filename new.restart.h5

END.nc is what miniapp --steps N -k ocean -o END.nc wrote, or one of its snapshots. SETUP.py is the run's setup of
Veros, whose Python runs this script; more options are those of veros run. The setup sets up its ocean without a step or
a file, its state gets all that a step continues from, and Veros writes the restart. Grid, land and settings of
both have to be the same.

Exit codes: 0 done, 2 wrong usage, 3 an input or the setup cannot be used, 5 an output cannot be written,
130 stopped by the user. Wheels have this as miniapp-make-restart. docs/your-data.md has the details.
"""

import argparse
import os
from pathlib import Path

from .importer.options import Parser
from .importer.problem import Unusable, Unwritable, Usage, program, run


def parse():
    parser = Parser(prog=program(), description=__doc__, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("end", metavar="END.nc", type=Path, help="the output or a snapshot of miniapp")
    parser.add_argument("setup", metavar="SETUP.py", help="the file of a setup of Veros, and options of veros run")
    parser.add_argument("-o", "--output", metavar="RESTART.h5", type=Path, required=True, help="the file to write")
    chosen, more = parser.parse_known_args()
    if chosen.output.resolve() in (chosen.end.resolve(), Path(chosen.setup).resolve()):
        raise Usage(f"{chosen.output}: would be overwritten, expected an output that is no input")
    return chosen, [chosen.setup, *more]


class Ready(Exception):
    """A setup has set up its state."""


def set_up(words):
    """The state of a setup by the words of `veros run`, before its first step and without files."""
    import click  # pylint: disable=import-outside-toplevel
    from veros.cli import veros_run  # pylint: disable=import-outside-toplevel
    from veros.veros import VerosSetup  # pylint: disable=import-outside-toplevel

    def setup(self, plain=VerosSetup.setup):
        self.override_settings["restart_input_filename"] = None
        plain(self)
        raise Ready(self.state)
    VerosSetup.setup = setup
    try:
        veros_run.cli.main(["--loglevel", "warning", *words, "--diskless-mode"], standalone_mode=False)
    except Ready as ready:
        return ready.args[0]
    except click.ClickException as error:
        raise Usage(f"veros run: {error.format_message()}") from error
    except Exception as error:  # pylint: disable=broad-exception-caught  # whatever the setup raises
        raise Unusable(f"{words[0]}: cannot set up its ocean: {type(error).__name__}: {error}") from error
    raise Unusable(f"{words[0]}: has set up no ocean")


def make():
    chosen, words = parse()
    try:
        import h5py  # pylint: disable=import-outside-toplevel
        import veros  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    except ImportError as error:
        raise Unusable(f"{error}: expected a Python that has Veros") from error
    try:
        with h5py.File(chosen.end):
            pass
    except OSError as error:
        raise Unusable(f"{chosen.end}: {os.strerror(error.errno) if error.errno else error}") from error
    state = set_up(words)
    from .veros import restart  # pylint: disable=import-outside-toplevel  # its import settles Veros's backend
    try:
        restart.fill(state, chosen.end)
    except OSError as error:
        raise Unusable(f"{chosen.end}: is damaged ({error})") from error
    try:
        restart.write(state, chosen.output)
    except OSError as error:
        raise Unwritable(f"{chosen.output}: cannot be written: {error.strerror or error}") from error
    return [chosen.output]


def main():
    return run(make)
