"""Scripts import this first: where a module is missing, they end with one line that names its package."""

import sys

BAD_INPUT = 3  # an exit code of the program
show_all = sys.excepthook


def name_package(kind, error, trace):
    if not issubclass(kind, ImportError) or not error.name:
        show_all(kind, error, trace)
        return
    print(f"{sys.argv[0]}: {sys.executable} lacks the module {error.name}: install python3-{error.name.lower()}, or "
          "run this by a Python that has it, perhaps /usr/bin/python3", file=sys.stderr)
    sys.exit(BAD_INPUT)


sys.excepthook = name_package
