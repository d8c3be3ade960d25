"""Reads xnu-patch/*.patch and tracepoints.md."""
import collections
import pathlib
import re

Hunk = collections.namedtuple("Hunk", "before count_before after count_after lines")


class Patch:
    """One patch: hashes {file: (before, after)} and hunks {file: [Hunk]}. Raises ValueError for a line that does not belong in a patch."""

    def __init__(self, path):
        self.path, self.hashes, self.hunks = path, {}, {}
        text, _, diff = path.read_text(encoding="utf-8").partition("\n--- a/")
        before = dict(reversed(row) for row in re.findall(r"^before ([0-9a-f]{64}) (\S+)$", text, re.M))
        after = dict(reversed(row) for row in re.findall(r"^after  ([0-9a-f]{64}) (\S+)$", text, re.M))
        self.hashes = {name: (before[name], after.get(name)) for name in before}
        name, hunk = None, None
        for line in ("--- a/" + diff).splitlines():
            head = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
            if line.startswith("+++ b/"):
                name = line[len("+++ b/"):]
                self.hunks[name] = []
            elif head:
                hunk = Hunk(int(head[1]), int(head[2] or 1), int(head[3]), int(head[4] or 1), [])
                self.hunks[name].append(hunk)
            elif line.startswith("+"):
                hunk.lines.append(line[1:])
            elif not line.startswith("--- a/"):
                raise ValueError(f"{path.name}: a line that is not ours: {line!r}")

    def added(self):
        return "\n".join(line for hunks in self.hunks.values() for hunk in hunks for line in hunk.lines)


def patches(root):
    return [Patch(path) for path in sorted((pathlib.Path(root) / "xnu-patch").glob("*.patch"))]


def tracepoints(root):
    """[(debugid, paired, name, [4 arguments], number of the patch)] of tracepoints.md."""
    text = (pathlib.Path(root) / "xnu-patch/tracepoints.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([0-9a-f]{8})( SE)? \| (\w+) \| (.*) \| (\d{4}) \|$", text, re.M)
    return [(int(debugid, 16), bool(paired), name, [cell.strip() for cell in cells.split("|")], patch)
            for debugid, paired, name, cells, patch in rows]
