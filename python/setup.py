"""The version, which CMakeLists.txt has, and the tag: any Python, but one kind of processor."""

import re
from pathlib import Path

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent.parent


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class AnyPython(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


TEXT = (ROOT / "CMakeLists.txt").read_text()

setup(version=re.search(r"^project\(miniapp VERSION (\S+)", TEXT, re.MULTILINE)[1],
      distclass=WithLibrary, cmdclass={"bdist_wheel": AnyPython})
