"""Writes shared caches as dyld's builder lays them out, by the offsets of <mach-o/dyld_cache_format.h> in dyld-1378, apart from Argus's
own layout file, and asks the program `cached_names` for the functions at addresses in them.

    dyld_cache.py CACHED_NAMES FOLDER             # the test
    dyld_cache.py --write FOLDER                  # the caches only, for other readers
"""
import pathlib
import struct
import subprocess
import sys

BASE, PAGE = 0x180000000, 0x4000
FIRST, SECOND = bytes(range(1, 17)), bytes(range(101, 117))
MAIN_UUID, SUB_UUID, LINK_UUID, SYMBOLS_UUID = (bytes([n] * 16) for n in (0xA1, 0xA2, 0xA3, 0xA4))

# library → (name, distance from the header, is it global, is its name in the nlist of the cache). A function with no name in the nlist has
# "<redacted>" there, and its name in the table of local symbols.
FUNCTIONS = {
    FIRST: [("_first_call", 0x1000, True), ("_first_helper", 0x1100, False), ("-[First run:]", 0x1200, False), ("_first_end", 0x1300, True)],
    SECOND: [("_second_call", 0x1040, True), ("_second_helper", 0x1080, False), ("__ZN6Second4loopEv", 0x10C0, True)],
}
UNNAMED = {FIRST: 0x1180, SECOND: 0x1060}  # begin functions that no table names, as LC_FUNCTION_STARTS says


def uleb(value):
    data = b""
    while value >= 0x80:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def starts(uuid):
    data, before = b"", 0
    for at in sorted([at for _, at, _ in FUNCTIONS[uuid]] + [UNNAMED[uuid]]):
        data += uleb(at - before)
        before = at
    return data + b"\0"


class Strings:
    def __init__(self):
        self.data = b"\0"

    def add(self, text):
        self.data += text.encode() + b"\0"
        return len(self.data) - len(text) - 1


def nlist(name, address, is_global):
    return struct.pack("<IBBHQ", name, 0x0F if is_global else 0x0E, 1, 0, address)


class Linkedit:
    """The link-edit segment that all libraries share: for each its nlist and starts, then one pool of strings. Offsets are of the file."""

    def __init__(self, offset, address, libraries, with_locals):
        strings, self.tables, data = Strings(), {}, b""
        redacted = strings.add("<redacted>")
        for uuid, base in libraries.items():
            symbols = b""
            for name, at, is_global in FUNCTIONS[uuid]:
                named = is_global or not with_locals
                symbols += nlist(strings.add(name) if named else redacted, base + at, is_global)
            symbols += struct.pack("<IBBHQ", strings.add("_imported"), 1, 0, 0x100, 0)
            self.tables[uuid] = [offset + len(data), len(symbols) // 16, offset + len(data) + len(symbols), len(starts(uuid))]
            data += symbols + starts(uuid)
            data += bytes(-len(data) % 8)
        self.strings, self.string_bytes = offset + len(data), len(strings.data)
        self.data, self.address, self.offset = data + strings.data, address, offset


def library(uuid, base, offset, link):
    """A library whose __TEXT is at `base` and, in its file, at `offset`."""
    def segment(name, address, size, at, sections=b""):
        head = struct.pack("<II16sQQQQIIII", 0x19, 72 + len(sections), name, address, size, at, size, 5, 5, len(sections) // 80, 0)
        return head + sections
    text = struct.pack("<16s16sQQIIIIIIII", b"__text", b"__TEXT", base + 0x1000, 0x1000, offset + 0x1000, 2, 0, 0, 0x80000400, 0, 0, 0)
    symbols, count, first, length = link.tables[uuid]
    commands = [segment(b"__TEXT", base, PAGE, offset, text),
                segment(b"__LINKEDIT", link.address, len(link.data), link.offset),
                struct.pack("<IIIIII", 0x2, 24, symbols, count, link.strings, link.string_bytes),
                struct.pack("<IIII", 0x26, 16, first, length),
                struct.pack("<II16s", 0x1B, 24, uuid)]
    body = b"".join(commands)
    head = struct.pack("<IIIIIIII", 0xFEEDFACF, 0x0100000C, 2, 6, len(commands), len(body), 0x80000085, 0)
    return (head + body).ljust(PAGE, b"\0")


def local_table(libraries, is_new):
    strings, symbols, entries, count = Strings(), b"", b"", 0
    for uuid, base in libraries.items():
        own = [nlist(strings.add(name), base + at, False) for name, at, is_global in FUNCTIONS[uuid] if not is_global]
        entries += struct.pack("<QII" if is_new else "<III", base - BASE, count, len(own))
        symbols += b"".join(own)
        count += len(own)
    at = 24
    head = struct.pack("<IIIIII", at, count, at + len(symbols), len(strings.data), at + len(symbols) + len(strings.data), len(libraries))
    return head + symbols + strings.data + entries


def header(length, uuid, mappings, fields):
    """The header of `length` bytes, then the mappings (address, bytes, offset). `fields`: offset → (format, values…)."""
    data = bytearray(length)
    struct.pack_into("<16sII", data, 0, b"dyld_v1  arm64e\0", length, len(mappings))
    struct.pack_into("<16s", data, 0x58, uuid)
    for offset, (form, *values) in fields.items():
        struct.pack_into("<" + form, data, offset, *values)
    return bytes(data) + b"".join(struct.pack("<QQQII", *mapping, 5, 5) for mapping in mappings)


def texts(at, libraries):
    paths = b"".join(f"/usr/lib/lib{n}.dylib".encode().ljust(32, b"\0") for n, _ in enumerate(libraries))
    rows = b"".join(struct.pack("<16sQII", uuid, base, PAGE, at + 32 * len(libraries) + 32 * n)
                    for n, (uuid, base) in enumerate(libraries.items()))
    images = b"".join(struct.pack("<QQQII", base, 0, 0, at + 32 * len(libraries) + 32 * n, 0) for n, base in enumerate(libraries.values()))
    return rows + paths + images


def write_new(folder, with_symbols=True, suffixes=(".01", ".02.dyldlinkedit")):
    """As macOS 13 and later: three files, and one of local symbols. Without suffixes, as macOS 12: the files are .1 and .2."""
    libraries = {FIRST: BASE + PAGE, SECOND: BASE + 2 * PAGE}
    length = 0x228 if suffixes else 0x1C8
    link = Linkedit(PAGE, BASE + 3 * PAGE, libraries, True)
    rows = texts(length + 0x100, libraries)
    entries = b""
    for n, uuid in enumerate((SUB_UUID, LINK_UUID)):
        entries += struct.pack("<16sQ", uuid, (n + 2) * PAGE) + (suffixes[n].encode().ljust(32, b"\0") if suffixes else b"")
    fields = {0x88: ("QQ", length + 0x100, 2), 0x188: ("II", length + 0x300, 2), 0x190: ("16s", SYMBOLS_UUID if with_symbols else bytes(16)),
              0x1C0: ("II", length + 0x100 + 128, 2), 0x68: ("Q", 2), 0xE0: ("QQ", BASE, 5 * PAGE)}
    if suffixes:
        fields[0x1C8] = ("I", 1)
    head = header(length, MAIN_UUID, [(BASE, 2 * PAGE, 0)], fields).ljust(length + 0x100, b"\0") + rows
    main = (head.ljust(length + 0x300, b"\0") + entries).ljust(PAGE, b"\0") + library(FIRST, libraries[FIRST], PAGE, link)
    second = header(length, SUB_UUID, [(BASE + 2 * PAGE, PAGE, PAGE)], {}).ljust(PAGE, b"\0") + library(SECOND, libraries[SECOND], PAGE, link)
    third = header(length, LINK_UUID, [(BASE + 3 * PAGE, len(link.data), PAGE)], {}).ljust(PAGE, b"\0") + link.data
    table = local_table(libraries, True)
    locals_ = header(length, SYMBOLS_UUID, [(BASE + 4 * PAGE, 0, 0)], {0x48: ("QQ", PAGE, len(table))}).ljust(PAGE, b"\0") + table
    names = suffixes or (".1", ".2")
    for suffix, data in (("", main), (names[0], second), (names[1], third), (".symbols", locals_)):
        (folder / f"cache{suffix}").write_bytes(data)


def write_old(folder):
    """As macOS 11 and before: one file, its local symbols at the end."""
    libraries = {FIRST: BASE + PAGE, SECOND: BASE + 2 * PAGE}
    length = 0x138
    link = Linkedit(3 * PAGE, BASE + 3 * PAGE, libraries, True)
    table, at = local_table(libraries, False), 3 * PAGE + len(link.data)
    fields = {0x88: ("QQ", length + 0x100, 2), 0x48: ("QQ", at, len(table)), 0x18: ("II", length + 0x100 + 128, 2)}
    mappings = [(BASE, 3 * PAGE, 0), (BASE + 3 * PAGE, len(link.data), 3 * PAGE)]
    head = header(length, MAIN_UUID, mappings, fields).ljust(length + 0x100, b"\0") + texts(length + 0x100, libraries)
    body = b"".join(library(uuid, base, base - BASE, link) for uuid, base in libraries.items())
    (folder / "cache").write_bytes(head.ljust(PAGE, b"\0") + body + link.data + table)


def expected(uuid, distance, has_locals):
    """What a reader should say: the last function that begins at or before; if no table names it, nothing."""
    all_of = [(at, name if is_global or has_locals else "?") for name, at, is_global in FUNCTIONS[uuid]] + [(UNNAMED[uuid], "?")]
    before = max(((at, name) for at, name in all_of if at <= distance), default=(0, "?"))
    name = before[1]
    return "?" if name == "?" else f"{name[1:] if name[0] == '_' else name}+{distance - before[0]}"


def check(program, folder, has_locals):
    for uuid, functions in FUNCTIONS.items():
        places = sorted({at + more for _, at, _ in functions for more in (-1, 0, 0x3F, 0x90)})
        command = [program, "names", folder / "cache", uuid.hex(), *(hex(place) for place in places)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
        wanted = [expected(uuid, place, has_locals) for place in places]
        assert printed == wanted, f"{folder}: {list(zip(map(hex, places), printed, wanted))}"
    other = subprocess.run([program, "names", folder / "cache", bytes(16).hex(), "0x1000"], check=True, capture_output=True, text=True)
    assert other.stdout == "no such library\n", other.stdout


VARIANTS = {
    "new": (write_new, True),
    "without-locals": (lambda folder: write_new(folder, with_symbols=False), False),
    "macos-12": (lambda folder: write_new(folder, suffixes=()), True),
    "old": (write_old, True),
}


def write_all(folder):
    for name, (write, _) in VARIANTS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        write(folder / name)


def refused(program, folder, name, change):
    """A changed file must be refused with a reason, and nothing is named."""
    path = folder / "new" / name
    whole = path.read_bytes()
    change(path)
    run = subprocess.run([program, "names", folder / "new/cache", FIRST.hex(), "0x1000"], check=False, capture_output=True, text=True)
    path.write_bytes(whole)
    assert run.returncode == 1 and "cache" in run.stderr, f"{name}: {run.returncode}, {run.stderr}"
    return run.stderr


def main(program, folder):
    write_all(folder)
    for name, (_, has_locals) in VARIANTS.items():
        check(program, folder / name, has_locals)
    foreign = refused(program, folder, "cache.01", lambda path: path.write_bytes(path.read_bytes().replace(SUB_UUID, bytes(16))))
    assert "belongs to another shared cache" in foreign, foreign
    assert "cannot open" in refused(program, folder, "cache.01", pathlib.Path.unlink)
    subprocess.run([program, "damage", *(folder / "new" / f"cache{name}" for name in ("", ".01", ".02.dyldlinkedit", ".symbols"))], check=True)
    subprocess.run([program, "damage", folder / "old/cache"], check=True)


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write_all(pathlib.Path(sys.argv[2]))
    else:
        main(sys.argv[1], pathlib.Path(sys.argv[2]))
