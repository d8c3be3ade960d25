#!/usr/bin/env python3
"""The stacks of nested functions of the BPF programs fit together: bpf_stack.py FILE.bpf.o…

Linux allows 512 bytes for a chain of calls, and before Linux 6.9 takes each function's stack as a multiple of 32 bytes.
Newer kernels take less, so there a chain that is too long loads. The verifier adds up also calls that a setting rules out.
"""
import pathlib
import struct
import sys

MOST_BYTES, ROUNDED_TO, FRAME_POINTER, CALLED_REGISTERS = 512, 32, 10, range(6)
LOAD_WIDE, ADD_NUMBER, MOVE, CALL, JUMP, EXIT, CALL_OF_PROGRAM = 0x18, 0x07, 0xbf, 0x85, 0x05, 0x95, 1
FUNCTION, SYMBOLS, RELOCATIONS, CODE = 2, 2, 9, 4


class Object:
    """Functions of an ELF file by section and offset."""

    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        first, count = struct.unpack_from("<Q", self.data, 40)[0], struct.unpack_from("<H", self.data, 60)[0]
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, first + 64 * i) for i in range(count)]
        table = next(section for section in self.sections if section[1] == SYMBOLS)
        names = self.sections[table[6]][4]
        self.symbols = [struct.unpack_from("<IBBHQQ", self.data, table[4] + at) for at in range(0, table[5], 24)]
        self.names = {(section, value): self.text(names + name) for name, info, _, section, value, size in self.symbols
                      if info & 15 == FUNCTION and size}
        self.sizes = {(section, value): size for _, info, _, section, value, size in self.symbols if info & 15 == FUNCTION}
        self.relocated = {}
        for _, kind, _, _, offset, size, _, of, _, _ in self.sections:
            for at in range(offset, offset + size, 16) if kind == RELOCATIONS else ():
                place, info = struct.unpack_from("<QQ", self.data, at)
                self.relocated[of, place] = self.symbols[info >> 32]

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()

    def look_at(self, place):
        """The bytes of stack that a function uses, and the functions that it calls; those of the kernel have section 0."""
        section, start = place
        most, called, on_stack, at, end = 0, set(), {FRAME_POINTER: 0}, start, start + self.sizes[place]
        while at < end:
            code, registers, offset, number = struct.unpack_from("<BBhi", self.data, self.sections[section][4] + at)
            target, source, kind = registers & 15, registers >> 4, code & 7
            base = on_stack.get(source if kind == 1 else target) if kind in (1, 2, 3) else None
            most = max(most, -(base + offset) if base is not None else 0)
            if code == MOVE and source in on_stack:
                on_stack[target] = on_stack[source]
            elif code == ADD_NUMBER and target in on_stack:
                on_stack[target] += number
                most = max(most, -on_stack[target])
            elif code == CALL:
                if source == CALL_OF_PROGRAM:
                    symbol = self.relocated.get((section, at))
                    called.add((symbol[3], symbol[4] + 8 * (number + 1)) if symbol else (section, at + 8 * (number + 1)))
                on_stack = {register: value for register, value in on_stack.items() if register not in CALLED_REGISTERS}
            elif code in (JUMP, EXIT):
                on_stack = {FRAME_POINTER: 0}
            elif kind in (0, 1, 4, 7):
                on_stack.pop(target, None)
            at += 16 if code == LOAD_WIDE else 8
        return most, called


def longest(functions, place):
    """The chain of calls from a function on that takes most: its bytes, and the functions."""
    own, called = functions[place]
    below = max((longest(functions, callee) for callee in called if callee[0]), default=(0, []))
    return (max(own, 1) + ROUNDED_TO - 1) // ROUNDED_TO * ROUNDED_TO + below[0], [place, *below[1]]


def main():
    failed = 0
    for path in sys.argv[1:]:
        file = Object(path)
        functions = {place: file.look_at(place) for place in file.names}
        assert any(called for _, called in functions.values()), f"{path}: no calls were found"
        used, chain = max(longest(functions, place) for place in functions)
        text = " -> ".join(f"{file.names[place]} ({functions[place][0]})" for place in chain)
        print(f"{pathlib.Path(path).name}: {used} of {MOST_BYTES} bytes: {text}")
        failed += used > MOST_BYTES
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
