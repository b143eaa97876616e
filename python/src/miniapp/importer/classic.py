"""How long a netCDF classic file has to be: its header says where each variable lies, and the
library reads what lies beyond the end as zeros. The NetCDF User Guide describes the formats, CDF-1,
CDF-2 and CDF-5."""

import math
import struct

# Bytes of a count, and of an offset.
VERSIONS = {b"CDF\x01": (4, 4), b"CDF\x02": (4, 8), b"CDF\x05": (8, 8)}
TYPES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}  # bytes


def padded(size):
    return -(-size // 4) * 4


class Header:
    """Reads the parts of a header, one after the other."""

    def __init__(self, file, count, offset):
        self.file, self.widths = file, {"count": count, "offset": offset, "word": 4}

    def integer(self, kind="count"):
        width = self.widths[kind]
        return struct.unpack(">I" if width == 4 else ">Q", self.file.read(width))[0]

    def skip(self, size):
        self.file.seek(padded(size), 1)

    def items(self, read):
        """A list: a tag, the number of items, and these."""
        self.integer("word")
        return [read() for _ in range(self.integer())]

    def dimension(self):
        self.skip(self.integer())  # the name
        return self.integer()

    def attribute(self):
        self.skip(self.integer())
        size = TYPES[self.integer("word")]
        self.skip(size * self.integer())

    def variable(self):
        """Its dimensions, the bytes of an element, and where it begins."""
        self.skip(self.integer())
        dimensions = [self.integer() for _ in range(self.integer())]
        self.items(self.attribute)
        size = TYPES[self.integer("word")]
        self.integer()  # vsize, which cannot hold the size of a large variable
        return dimensions, size, self.integer("offset")


def length_needed(path):
    """The bytes up to the end of the last variable; 0 of a file in another format."""
    with open(path, "rb") as file:
        version = VERSIONS.get(file.read(4))
        if not version:
            return 0
        header = Header(file, *version)
        records = header.integer()
        lengths = header.items(header.dimension)
        header.items(header.attribute)
        variables = header.items(header.variable)
        ends, slabs = [file.tell()], []
    for dimensions, size, begin in variables:
        has_records = bool(dimensions) and lengths[dimensions[0]] == 0
        bytes_of = size * math.prod(lengths[i] for i in dimensions[has_records:])
        if has_records:
            slabs.append((begin, bytes_of))
        else:
            ends.append(begin + bytes_of)
    # the records of several variables alternate, padded; those of a single one follow each other
    stride = slabs[0][1] if len(slabs) == 1 else sum(padded(size) for _, size in slabs)
    if records:
        ends += [begin + (records - 1) * stride + size for begin, size in slabs]
    return max(ends)
