"""Packages that only parts of this one need: the extras of its metadata."""

import contextlib


@contextlib.contextmanager
def needing(package: str, requirement: str):
    """Imports in it raise an ImportError that says what to install, where the package is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name != package:
            raise
        raise ImportError(f"miniapp.{package} needs {package}: pip install {requirement}, as the package's extra "
                          f"{package} does", name=package) from None
