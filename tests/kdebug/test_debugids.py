"""Names, pairs and arguments of Darwin's records: test_debugids.py MKTRACE ARGUS SOURCE SCRATCH.

Each line of debugids.txt is a record and the text that it has to have; besides, every row of tracepoints_darwin.def has its
name in the text and in JSON.
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

MKTRACE = ARGUS = ""
SOURCE = SCRATCH = pathlib.Path()
USUAL = ("0x61", "0x62", "0x63", "0x64")
HEAD = "os darwin\narch aarch64\ncpus 1\nthread 100 pid 7 name program\n"


def dump(name, rows, *options):
    """The output of argus for one record of thread 100 for each row of debugid and arguments."""
    text, trace = SCRATCH / f"{name}.trace", SCRATCH / f"{name}.argus"
    lines = [f"{1000 + at} cpu0 t100 record id=0x{debugid} " + " ".join(f"arg{i + 1}={value}" for i, value in enumerate(args))
             for at, (debugid, args) in enumerate(rows)]
    text.write_text(HEAD + "\n".join(lines) + "\n")
    subprocess.run([MKTRACE, text, trace], check=True, timeout=60)
    done = subprocess.run([ARGUS, "dump", *options, trace], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


class Debugids(unittest.TestCase):
    def test_list(self):
        rows, wanted = [], []
        for line in (SOURCE / "debugids.txt").read_text().splitlines():
            if line.startswith("#"):
                continue
            debugid, text = line.split(" ", 1)
            args = USUAL
            if text.startswith("= "):
                *args, text = text[2:].split(" ", 4)
            rows.append((debugid, args))
            wanted.append(text)
        self.assertGreater(len(rows), 100)
        found = [line.split(" cpu0 100 ", 1)[1] for line in dump("list", rows) if " cpu0 100 " in line]
        for row, text, line in zip(rows, wanted, found, strict=True):
            self.assertEqual(line, text, row[0])

    def test_rows(self):
        table = (SOURCE.parents[1] / "libargus/event/tracepoints_darwin.def").read_text()
        rows = re.findall(r'^DARWIN\(0x([0-9a-f]{8}), "([^"]+)", ([01])', table, re.M)
        ids = [row[0] for row in rows]
        self.assertEqual(len(set(ids)), len(ids), "a debugid has two rows")
        starts = [(f"{int(debugid, 16) | int(paired):08x}", USUAL) for debugid, _, paired in rows]
        objects = [json.loads(line) for line in dump("rows", starts, "--json")]
        self.assertEqual([row["name"] for row in objects if row["tid"] == 100], [name for _, name, _ in rows])
        for debugid in re.findall(r"^DARWIN_END\(0x([0-9a-f]{8})", table, re.M):
            self.assertIn(debugid, ids)


if __name__ == "__main__":
    MKTRACE, ARGUS = sys.argv[1:3]
    SOURCE, SCRATCH = pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    SCRATCH.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
