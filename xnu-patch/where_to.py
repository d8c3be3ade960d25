#!/usr/bin/env python3
"""Says where each hunk of the patches would go in another version of xnu. Nothing is changed.

    xnu-patch/where_to.py ORIGINAL_DIR XNU_DIR [PATCHES_DIR]

ORIGINAL_DIR has the files of xnu-11417.121.6, for which the patches are. The patches have no lines of Apple's, so the place of
a hunk is found by comparing its file in both versions: the line before it, and the one behind it.
Exit code 0: each hunk has a place; 1: some places have changed, and a person has to look.
"""
import bisect
import pathlib
import re
import subprocess
import sys

CONTEXT = 3  # lines before and behind that patch(1) would compare


def hunks_of(patch):
    """[(file, the line behind which it goes, the number of its lines)]"""
    name = None
    for line in patch.read_text(encoding="utf-8").split("\n"):
        if line.startswith("+++ b/"):
            name = line[len("+++ b/"):]
        head = re.match(r"@@ -(\d+),0 \+\d+(?:,(\d+))? @@", line)
        if head:
            yield name, int(head[1]), int(head[2] or 1)


class Moves:
    """Which lines of the old file are where in the new one."""

    def __init__(self, old, new):
        text = subprocess.run(["diff", "-a", old, new], capture_output=True, text=True, errors="replace", check=False).stdout
        self.changes = []  # (first and last old line that are gone, first and last new line instead); an empty range ends before it begins
        for first, last, kind, begin, end in re.findall(r"^(\d+)(?:,(\d+))?([acd])(\d+)(?:,(\d+))?$", text, re.M):
            first, last, begin, end = int(first), int(last or first), int(begin), int(end or begin)
            if kind == "a":
                first, last = first + 1, first
            elif kind == "d":
                begin, end = begin + 1, begin
            self.changes.append((first, last, begin, end))
        self.ends = [change[1] for change in self.changes]

    def change_at(self, line):
        """The change that removed `line`; None: it is still there."""
        at = bisect.bisect_left(self.ends, line)
        if at < len(self.changes) and self.changes[at][0] <= line <= self.changes[at][1]:
            return self.changes[at]
        return None

    def place(self, line):
        """The number of `line`, which is still there, in the new file."""
        shift = 0
        for first, last, begin, end in self.changes:
            if last < line:
                shift = end - last
            elif first > line:
                break
        return line + shift


def place_of(moves, line):
    """(the line behind which a hunk goes, a remark; "": nothing near it has changed); the line is None if a person has to look."""
    gone = moves.change_at(line) or moves.change_at(line + 1)
    if gone and moves.change_at(line):
        return None, f"the line before it is gone: see lines {gone[2]} to {max(gone[2], gone[3])}"
    here = moves.place(line)
    if gone:
        return here, "the line behind it is another one: look there"
    if moves.place(line + 1) != here + 1:
        return here, f"{moves.place(line + 1) - here - 1} lines were added at this place: look there"
    near = [other for other in range(max(1, line - CONTEXT + 1), line + CONTEXT + 1) if moves.change_at(other)]
    return here, "lines near it have changed" if near else ""


def report(original, xnu, patch, cache):
    doubts = 0
    for number, (name, line, count) in enumerate(hunks_of(patch), 1):
        head = f"{patch.name} {number}: {name}: {count} line{'s' if count != 1 else ''} behind line {line}"
        if not (xnu / name).exists():
            found = sorted(str(path.relative_to(xnu)) for path in xnu.rglob(pathlib.Path(name).name))
            print(f"{head}: the file is not there{': perhaps ' + ', '.join(found) if found else ''}")
            doubts += 1
            continue
        if name not in cache:
            cache[name] = Moves(original / name, xnu / name)
        here, remark = place_of(cache[name], line)
        doubts += here is None or "look there" in remark
        moved = "no place" if here is None else "the same place" if here == line else f"line {here} ({here - line:+d})"
        print(f"{head}: {moved}{'; ' + remark if remark else ''}")
    return doubts


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.split("\n\n")[1])
    original, xnu = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    patches = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else pathlib.Path(__file__).resolve().parent
    cache = {}
    doubts = sum(report(original, xnu, patch, cache) for patch in sorted(patches.glob("*.patch")))
    print(f"{doubts} hunk{'s' if doubts != 1 else ''} need{'s' if doubts == 1 else ''} a look" if doubts else "each hunk has a place")
    return 1 if doubts else 0


if __name__ == "__main__":
    sys.exit(main())
