#!/usr/bin/env python3
"""Checks that the steps in docs/ARCHITECTURE.md under "Where to add something" are sufficient.

    test_additions.py --source SOURCE --work FOLDER --mktrace MKTRACE --recorder RECORDER [CMAKE_ARGUMENT…]

Copies the tree to FOLDER, adds one of each kind in the places that the document lists and in no others, builds `argus`, and
checks the result. ADDITIONS has the kinds; a place is written there as in the document. To add a kind: a row there, a row in
the document, and a function that checks.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "diagnose"))
sys.path.insert(0, str(HERE.parent / "e2e"))
import machine  # noqa: E402
from hang_scene import Loop  # noqa: E402

COPIED = ["CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "cmake", "api", "libargus", "recorder", "importer", "dylib-hooks", "plugin", "lldbinit",
          "share", "examples", "docs"]
DOCUMENT = "docs/ARCHITECTURE.md"
PROBED = "addition-probed"  # the program in which the new probe listens

# --- the edits in a place


def file_of(name):
    """The file is new; it is in this folder."""
    return lambda path: shutil.copyfile(HERE / name, path)


def text_of(text):
    return lambda path: path.write_text(text, encoding="utf-8")


def behind(pattern, added):
    """A line after the first one that begins with `pattern`."""
    def edit(path):
        text = path.read_text(encoding="utf-8")
        made, count = re.subn(rf"^{pattern}.*\n", lambda m: m[0] + added + "\n", text, count=1, flags=re.M)
        if not count:
            sys.exit(f"{path} has no line that begins with {pattern}")
        path.write_text(made, encoding="utf-8")
    return edit


def before(pattern, added):
    def edit(path):
        text = path.read_text(encoding="utf-8")
        made, count = re.subn(rf"^{pattern}", lambda m: added + "\n" + m[0], text, count=1, flags=re.M)
        if not count:
            sys.exit(f"{path} has no line that begins with {pattern}")
        path.write_text(made, encoding="utf-8")
    return edit


def at_end(added):
    return lambda path: path.write_text(path.read_text(encoding="utf-8").rstrip("\n") + "\n" + added + "\n", encoding="utf-8")


def both(*edits):
    def edit(path):
        for one in edits:
            one(path)
    return edit


def wait_of_a_call(path):
    """`add_key` reads from its first argument, a descriptor."""
    text = path.read_text(encoding="utf-8")
    for key in ("READ", "FD"):
        text = text.replace(f'    "{key}": "', f'    "{key}": "add_key ', 1)
    path.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "-B", path], check=True)


class Kind:
    """What can be added: the first words of its row in the document, and for each place of that row, with NAME and RECORD filled in, the
    edit."""

    def __init__(self, row, names, places):
        self.row, self.names, self.places = row, names, places

    def path(self, place):
        for word, name in self.names.items():
            place = place.replace(word, name)
        return place


ADDITIONS = [
    Kind("a command", {"NAME": "addition"}, {
        "plugin/commands/command_NAME.c": file_of("command_addition.c"),
        "plugin/commands.def": before(r"ARGUS_COMMAND\(version\)", "ARGUS_COMMAND(addition)"),
        "docs/man/commands/argus-NAME.md": text_of("# DESCRIPTION\n\nThe page says more.\n"),
    }),
    Kind("a probe", {}, {
        "share/probes.conf": None,  # Additions.setUpClass(): it has the path of a program
    }),
    Kind("a hang indicator", {"NAME": "addition"}, {
        "libargus/include/argus/hang_indicators.def":
            at_end('HANG_INDICATOR(ADDITION, indicator_addition, "found by the addition")'),
        "libargus/diagnose/hangs/indicator_NAME.c": file_of("indicator_addition.c"),
        "libargus/diagnose/CMakeLists.txt": before(r"    hangs/indicator_flag\.c", "    hangs/indicator_addition.c"),
    }),
    Kind("an edge rule about wake-ups", {"NAME": "wake_addition"}, {
        "libargus/graph/rules.def": before(r"RULE\(WAKE_TASK,", 'RULE(ADDITION, "wake.addition", "edge", "A wake-up out of add_key().")'),
        "libargus/graph/rules/wake_rules.def":
            before(r"WAKE_RULE\(match_task,", "WAKE_RULE(match_addition, act_waker, ADDITION, true, ARGUS_EDGE_WAKE)"),
        "libargus/graph/rules/NAME.c": file_of("wake_addition.c"),
        "libargus/graph/CMakeLists.txt": before(r"    rules/wakeups\.c", "    rules/wake_addition.c"),
    }),
    Kind("an edge rule about other records", {"NAME": "inside_addition", "RECORD": "ready"}, {
        "libargus/graph/rules.def":
            before(r"RULE\(FORK,", 'EDGE_INSIDE(ADDITION_INSIDE, "addition.inside", "edge", "A record names the thread.")'),
        "libargus/graph/rules/NAME.c": file_of("inside_addition.c"),
        "libargus/graph/rules/NAME.h": file_of("inside_addition.h"),
        "libargus/graph/CMakeLists.txt": before(r"    rules/later\.c", "    rules/inside_addition.c"),
        "libargus/graph/build/on_RECORD.c":
            both(behind(r'#include "graph/build/wait_details\.h"', '#include "graph/rules/inside_addition.h"'),
                 before(r"    if \(cpu->thread != ARGUS_NONE\)\n        wait_note_mapping", "    rule_addition(builder, cpu, record);")),
    }),
    Kind("what a wait in a system call is for", {}, {
        "libargus/event/syscalls_generate.py": wait_of_a_call,
    }),
]

# A thread waits in add_key() of a pipe, and is woken out of add_key(); then a record names the thread that woke it.
EDGES = """
cpus 2
thread 10 name waiter
thread 20 name waker
1ms   cpu0 t10 syscall_start nr=248 arg1=5
+10us cpu0 t10 object fd=5 inode=900 mode=fifo
+0    cpu0 t10 switch state=S next=0
+30ms cpu1 t20 syscall_start nr=248 arg1=6
+5us  cpu1 t20 make_runnable thread=10 context=task
+5us  cpu0 t0  switch state=R next=10
+1us  cpu1 t20 syscall_end nr=248 result=1 pid=20
+2us  cpu0 t10 syscall_end nr=248 result=1 pid=10
+9us  cpu0 t10 mapping address=0x7000 inode=20
+1us  cpu0 t10 syscall_start nr=39
"""

PROBED_SOURCE = """
#include <unistd.h>
__attribute__((noinline)) void addition_happens(int number) { __asm__ volatile("" : : "r"(number)); }
int main(void)
{
    for (int i = 0; i < 5; i++) {
        addition_happens(i);
        usleep(20000);
    }
    return 0;
}
"""


def long_away():
    """An editor that is away from its event loop for three seconds."""
    scene = Loop()
    scene.key()
    scene.for_ms(3000)
    scene.end()
    return scene.text()


def run(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def rows_of_document(text):
    """The rows of the table: their first cells, and the paths in the second ones."""
    section = text.split("\n## Where to add something\n")[1].split("\n## ")[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.replace(r"\|", "/").strip("|").split("|")]
        if len(cells) == 2:
            yield cells[0], {word for word in re.findall(r"`([^`]+)`", cells[1]) if "/" in word}


def copy_tree(source, tree):
    """Copies with the files' times, and keeps the build of the last run, so that a second run compiles only what has changed."""
    tree.mkdir(parents=True, exist_ok=True)
    for path in tree.iterdir():
        if path.name != "build":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in COPIED:
        if (source / name).is_dir():
            shutil.copytree(source / name, tree / name)
        else:
            shutil.copy2(source / name, tree / name)


class Additions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = OPTIONS.work / "tree"
        cls.argus = cls.tree / "build" / "bin" / "argus"
        cls.probed = OPTIONS.work / PROBED
        copy_tree(OPTIONS.source, cls.tree)
        cls.build_probed()
        ADDITIONS[1].places["share/probes.conf"] = at_end(f'{cls.probed}  begin  addition_happens  label="Addition"')
        for kind in ADDITIONS:
            for place, edit in kind.places.items():
                edit(cls.tree / kind.path(place))
        # Without optimisation and without the parts that no test here uses, so that the build is quick.
        run("cmake", "-S", cls.tree, "-B", cls.tree / "build", "-G", "Ninja", "-DARGUS_TESTS=OFF", "-DARGUS_BENCH=OFF",
            "-DCMAKE_BUILD_TYPE=", "-DCMAKE_C_FLAGS=-O0", "-DCMAKE_CXX_FLAGS=-O0", *OPTIONS.cmake)
        run("cmake", "--build", cls.tree / "build", "--target", "argus", "-j", "2")

    @classmethod
    def build_probed(cls):
        source = OPTIONS.work / (PROBED + ".c")
        source.write_text(PROBED_SOURCE, encoding="utf-8")
        run(os.environ.get("CC", "cc"), "-O1", "-g", "-o", cls.probed, source)

    def trace_of(self, name, text):
        source, trace = OPTIONS.work / f"{name}.trace", OPTIONS.work / f"{name}.argus"
        source.write_text(text, encoding="utf-8")
        run(OPTIONS.mktrace, source, trace)
        return trace

    def graph(self, *words):
        return json.loads(run(self.argus, "graph", *words, "--json", "--no-cache"))

    def test_the_document_lists_these_places(self):
        rows = list(rows_of_document((OPTIONS.source / DOCUMENT).read_text(encoding="utf-8")))
        for kind in ADDITIONS:
            listed = [paths for name, paths in rows if name.split(":")[0] == kind.row]
            self.assertEqual(len(listed), 1, f"{DOCUMENT} has {len(listed)} rows for {kind.row!r}")
            self.assertEqual(listed[0], set(kind.places), f"{DOCUMENT}, {kind.row!r}: not what this test needs")

    def test_command(self):
        self.assertIn("  addition", run(self.argus, "help"))
        self.assertEqual(run(self.argus, "addition"), "the addition works\n")
        pages = OPTIONS.work / "pages"
        pages.mkdir(exist_ok=True)
        (pages / "help.json").write_text(run(self.argus, "help", "--json"), encoding="utf-8")
        run(sys.executable, "-B", self.tree / "docs/man_pages.py", pages / "help.json", self.tree / "docs/man", pages)
        self.assertIn("The page says more.", (pages / "argus-addition.1.md").read_text(encoding="utf-8"))

    def test_hang_indicator(self):
        hangs = json.loads(run(self.argus, "hangs", "--json", self.trace_of("away", long_away())))["hangs"]
        self.assertEqual([hang["indicators"] for hang in hangs], [["event loop did not come back", "found by the addition"]])

    def test_edge_rules_and_the_wait_of_a_call(self):
        trace = self.trace_of("edges", EDGES)
        waited, woken = [v["id"] for v in self.graph("find", trace, "--thread=10")["vertices"]]
        self.assertEqual(self.graph("show", trace, waited)["wait_on"], "add_key fd 5 (pipe 900)")
        causes = {edge["rule"]: edge for edge in self.graph("show", trace, woken)["causes"]}
        self.assertEqual(set(causes), {"sequence", "wake.addition", "addition.inside"})
        self.assertFalse(causes["wake.addition"]["strong"])
        inside = causes["addition.inside"]
        self.assertEqual(inside["from"]["thread"], "waker")
        self.assertGreater(inside["to_ns"], inside["to"]["start_ns"])

    def test_probe(self):
        """Only a recording reads the table, so this is skipped where the machine cannot record."""
        if CANNOT_RECORD:
            self.skipTest(CANNOT_RECORD)
        recorder = self.argus.with_name("argus-recorder")
        recorder.unlink(missing_ok=True)
        recorder.symlink_to(OPTIONS.recorder)
        trace = OPTIONS.work / "probed.argus"
        run(self.argus, "record", "-o", trace, "--", self.probed)
        vertices = self.graph("find", trace, f"--process={PROBED[:15]}")["vertices"]
        shown = [self.graph("show", trace, vertex["id"]) for vertex in vertices]
        labels = [callback["probe"] for vertex in shown for callback in vertex["callbacks"]]
        self.assertEqual(labels.count("Addition"), 5)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for option in ("source", "work", "mktrace", "recorder"):
        parser.add_argument(f"--{option}", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("cmake", nargs="*")
    OPTIONS = parser.parse_args()
    CANNOT_RECORD = machine.reason_to_skip_beside_others()
    if not CANNOT_RECORD:
        machine.enter_namespace()
    OPTIONS.work.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
