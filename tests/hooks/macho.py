"""Small Mach-O libraries, made by hand, and a reader for the output of argus-hook. Only the parts of <mach-o/loader.h> that the tests
need."""
import hashlib
import struct

X86_64, ARM64 = (0x01000007, 3), (0x0100000C, 0)
COMMANDS = {0x2: "symtab", 0xB: "dysymtab", 0xC: "load", 0xD: "id", 0x19: "segment", 0x1B: "uuid", 0x1D: "signature", 0x8000001C: "rpath",
            0x8000001F: "reexport", 0x80000022: "info", 0x26: "starts", 0x32: "version"}


def dylib(cpu, code, symbols, name="/usr/lib/libvictim.dylib", uuid=bytes(range(16)), data=b""):
    """A library whose __text, at 0x1000, is `code`; `symbols` are (name, address). `data` is at 0x4000."""
    strings = b"\0" + b"".join(f"_{symbol}\0".encode() for symbol, _ in symbols)
    table, at = b"", 1
    for symbol, address in symbols:
        table += struct.pack("<IBBHQ", at, 0x0F, 1, 0, address)
        at += len(symbol) + 2
    path = name.encode() + b"\0"
    path += bytes(-len(path) % 8)

    def segment(title, address, offset, size, protection):
        return struct.pack("<II16sQQQQIIII", 0x19, 72, title.encode(), address, max(size, 0x4000), offset, size, protection,
                           protection, 0, 0)

    link = table + strings
    commands = [segment("__TEXT", 0, 0, 0x4000, 5), segment("__DATA", 0x4000, 0x4000, 0x4000, 3),
                segment("__LINKEDIT", 0x8000, 0x8000, len(link), 1),
                struct.pack("<IIIIII", 0xD, 24 + len(path), 24, 2, 0x10000, 0x10000) + path,
                struct.pack("<II16s", 0x1B, 24, uuid),
                struct.pack("<IIIIII", 0x2, 24, 0x8000, len(symbols), 0x8000 + len(table), len(strings))]
    body = b"".join(commands)
    header = struct.pack("<IIIIIIII", 0xFEEDFACF, *cpu, 6, len(commands), len(body), 0x85, 0)
    text = (header + body).ljust(0x1000, b"\0") + code
    return text.ljust(0x4000, b"\0") + data.ljust(0x4000, b"\0") + link


def universal(*parts):
    """A universal file of (cpu, bytes)."""
    head, body = struct.pack(">II", 0xCAFEBABE, len(parts)), b""
    for index, (cpu, part) in enumerate(parts):
        offset = 0x4000 * (1 + index * 4)
        head += struct.pack(">IIIII", *cpu, offset, len(part), 14)
        body = body.ljust(offset - 0x4000, b"\0") + part
    return head.ljust(0x4000, b"\0") + body


def commands(data):
    """The load commands: (name, bytes)."""
    count, at = struct.unpack_from("<I", data, 16)[0], 32
    found = []
    for _ in range(count):
        kind, size = struct.unpack_from("<II", data, at)
        found.append((COMMANDS[kind], data[at:at + size]))
        at += size
    assert at <= 0x1000
    return found


def names(data, kind):
    """The names in the commands of one kind."""
    found = []
    for name, body in commands(data):
        if name == kind:
            offset = struct.unpack_from("<I", body, 8)[0]
            found.append(body[offset:].split(b"\0")[0].decode())
    return found


def signature(data):
    """Checks the ad-hoc signature of a thin file, as osfmk/kern/cs_blobs.h describes it, and returns its identifier and flags. Other linkers'
    files can be checked as well."""
    count, at = struct.unpack_from("<I", data, 16)[0], 32
    segments, place = {}, None
    for _ in range(count):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 0x19:
            name, _, _, offset, length = struct.unpack_from("<16sQQQQ", data, at + 8)
            segments[name.rstrip(b"\0")] = (offset, length)
        elif kind == 0x1D:
            place = struct.unpack_from("<II", data, at + 8)
        at += size
    assert place and place[0] % 16 == 0 and sum(place) == len(data), f"{place}, {len(data)} bytes"
    assert sum(segments[b"__LINKEDIT"]) == len(data), "__LINKEDIT must contain the signature"
    blob = data[place[0]:sum(place)]
    magic, length, blobs = struct.unpack_from(">III", blob)
    assert magic == 0xFADE0CC0 and length <= len(blob)
    slots = dict(struct.unpack_from(">II", blob, 12 + 8 * i) for i in range(blobs))
    return code_directory(blob[slots[0]:length], data[:place[0]], segments[b"__TEXT"])


def code_directory(blob, signed, text):
    magic, length, version, flags, hashes, ident, special, pages, limit = struct.unpack_from(">9I", blob)
    hash_size, hash_type, platform, page_bits = struct.unpack_from(">4B", blob, 36)
    assert (magic, hash_size, hash_type, platform, version >= 0x20400) == (0xFADE0C02, 32, 2, 0, True)
    assert limit == len(signed) and pages == -(-limit // (1 << page_bits)) and hashes >= ident + 32 * special and length >= hashes + 32 * pages
    base, executed, _ = struct.unpack_from(">3Q", blob, 64)
    assert (base, executed) == text, f"{base:#x}, {executed:#x} executed, not {text}"
    for page in range(pages):
        part = signed[page << page_bits:(page + 1) << page_bits]
        assert blob[hashes + 32 * page:hashes + 32 * page + 32] == hashlib.sha256(part).digest(), f"page {page} has another hash"
    return blob[ident:blob.index(b"\0", ident)].decode(), flags
