"""A structure and a function of the C sources have a name that no other file gives another meaning, so that a search
for it finds one thing."""

import collections
import re

from conftest import HERE

ROOT = HERE.parent
TAG = re.compile(r"^(?:static |const )*(?:struct|union|enum) (\w+) \{", re.MULTILINE)
# VARIANT(name) is the name of a kernel's function in one of its builds.
FUNCTION = re.compile(r"^(?!typedef|#)[A-Za-z_][\w *()]*?\b(?:VARIANT\()?(\w+)\)?\([^;{}]*?\)\s*\{", re.MULTILINE)
NO_CODE = re.compile(r"/\*(?:.|\n)*?\*/|^#define(?:.*\\\n)*.*", re.MULTILINE)
# Files of which a build or a kernel takes one.
ALTERNATIVES = ({"miniapp/ranks/alone.c", "miniapp/ranks/mpi.c"},
                {"physics/mixing/eke.c", "physics/mixing/tke.c", "physics/waves/idemix.c"})


def places(pattern):
    """{name: the files that define it}"""
    found = collections.defaultdict(set)
    for path in sorted([*ROOT.glob("physics/**/*.[ch]"), *ROOT.glob("miniapp/**/*.[ch]"), *ROOT.glob("include/**/*.h")]):
        for name in pattern.findall(NO_CODE.sub("", path.read_text(encoding="utf-8"))):
            found[name].add(str(path.relative_to(ROOT)))
    return found


def shared(pattern):
    return {name: files for name, files in places(pattern).items() if len(files) > 1 and files not in ALTERNATIVES}


def test_a_structure_has_a_tag_of_its_own():
    assert len(places(TAG)) > 100 and shared(TAG) == {}


def test_a_function_has_a_name_of_its_own():
    assert len(places(FUNCTION)) > 1000 and shared(FUNCTION) == {}
