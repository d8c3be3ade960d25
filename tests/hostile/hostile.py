"""Every command on files that a stranger made (make_hostile.c): each ends with an answer or a clear error.

hostile.py BUILD FOLDER [--bytes N] [--megabytes N] [--seconds N] [--all] [SHAPE…]
hostile.py BUILD FOLDER [--seed N] --woven N    N traces that weave.py makes
hostile.py BUILD FOLDER --files FILE…           these

Prints one line for each command that took longer, or more memory, than allowed, that crashed, or that wrote characters which a
terminal obeys. Without --all, each file runs through the commands that build all there is. The bounds: CPU time, and the largest
resident memory.
"""
import argparse
import glob
import io
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

QUICK = (
    ["verify"], ["graph", "--no-cache"], ["diagnose", "--auto", "--no-cache"], ["contexts", "--no-cache"],
    ["report", "--no-cache", "-o", "PAGE"],
)
ALL = (
    *QUICK, ["info"], ["info", "--json"], ["dump"], ["dump", "--json"], ["dump", "--raw"], ["messages"], ["messages", "--pairs", "--json"],
    ["graph", "--json"], ["graph", "show", "v1"], ["graph", "find", "--json"], ["graph", "check"], ["graph", "check", "--json"],
    ["graph", "stats"], ["graph", "export"], ["graph", "export", "--format=dot", "--limit=200000"], ["hangs"],
    ["hangs", "--threshold=1ms", "--json"], ["slice", "v99", "--auto"], ["slice", "v1", "--auto", "--json"], ["similar", "v9"],
    ["similar", "v9", "--context=16"], ["diagnose", "1", "--auto", "--json"], ["diagnose", "v9", "--auto"],
    ["diagnose", "--auto", "--threshold=1ms", "--context=50", "1"], ["contexts", "--json", "--every"], ["contexts", "--format=folded"],
    ["contexts", "--format=speedscope"], ["contexts", "--format=pprof", "-o", "EXPORTED"], ["contexts", "--rank=mean"], ["schema"], ["answers"],
    ["graph", "export", "--format=perfetto", "-o", "EXPORTED"], ["graph", "export", "--format=pprof", "-o", "EXPORTED"],
    ["graph", "export", "--format=firefox"], ["graph", "export", "--format=jsonl"],
    ["graph", "export", "--format=jsonl-gz", "-o", "EXPORTED"], ["graph", "export", "--format=sqlite", "-o", "EXPORTED"],
    ["import", "-o", "IMPORTED"], ["diagnose", "--process=tries", "--auto", "--no-cache"], ["fleet", "add", "--again", "--database=DATABASE"], ["steps"],
    ["fleet", "--database=DATABASE", "NO_FILE"], ["fleet", "--json", "--by=reasons", "--database=DATABASE", "NO_FILE"],
    ["fleet", "report", "--database=DATABASE", "-o", "PAGE", "NO_FILE"], ["fleet", "export", "--database=DATABASE", "TABLES", "NO_FILE"],
    ["diverge", "TRACE"], ["contexts", "--base=TRACE"], ["contexts", "--format=html"], ["contexts", "--mode=conservative", "--rank=blame"],
    ["hangs", "--with=TRACE"], ["hangs", "--rules=TRACE"], ["graph", "export", "--format=trace-events"], ["step", "--script", "v3"],
    ["verify", "--json"], ["graph", "stats", "--json"], ["schema", "--json"], ["slice", "v3"], ["answer", "1"], ["diagnose"], ["answer", "1"],
    ["answers", "export"], ["answers", "--json"], ["undo"], ["answers", "clear"],
)
# Words that stand for a new file next to the trace.
NEW_FILES = {"PAGE": ".html", "EXPORTED": ".exported", "IMPORTED": ".imported.argus", "DATABASE": ".db", "TRACE": "", "TABLES": ".tables"}
# What an error must not be: nothing that a user could act on.
CRASH = re.compile(r"AddressSanitizer|runtime error|terminate called|\(null\)")
# What no terminal may get, as in tests/plugin/test_names.py.
FORBIDDEN = re.compile(r"\(null\)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


class Run:
    """One command on one file, and what it needed."""

    def __init__(self, argus, words, path, seconds):
        self.name = " ".join(words)
        places = [i for i, word in enumerate(words) if re.fullmatch(r"v\d+|1", word)]
        at = places[0] if places else len(words)
        words = [argus, *(self.fill(word, path) for word in words[:at]), path, *words[at:]]
        words = words[:-2] if words[-2] == "NO_FILE" else words
        began = time.monotonic()
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds + 5, seconds + 10)))
            self.forbidden = forbidden_in(child.stdout)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
            errors.seek(0)
            self.forbidden = forbidden_in(errors) or self.forbidden
            errors.seek(0)
            self.errors = errors.read(1 << 20).decode(errors="replace")
        self.wall = time.monotonic() - began
        self.code = os.waitstatus_to_exitcode(status)
        self.seconds = usage.ru_utime + usage.ru_stime
        self.megabytes = usage.ru_maxrss / 1024

    @staticmethod
    def fill(word, path):
        option, _, name = word.rpartition("=")
        return f"{option}{'=' if option else ''}{path}{NEW_FILES[name]}" if name in NEW_FILES else word

    def fault(self, seconds, megabytes):
        if self.code not in (0, 1, 3, 4) or CRASH.search(self.errors):
            return f"ended with {self.code}: {self.errors[:300]}"
        if self.forbidden:
            return f"wrote {self.forbidden!r}"
        if self.code == 1 and not self.errors:
            return "failed without an error"
        if self.seconds > seconds:
            return f"took {self.seconds:.1f} s"
        if self.megabytes > megabytes:
            return f"took {self.megabytes:.0f} MB"
        return ""


def forbidden_in(stream):
    """The first forbidden characters that come from the stream, which is read to its end; "" if there are none."""
    found, text = "", io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="\n")
    for line in text:
        match = None if found else FORBIDDEN.search(line)
        found = line[max(0, match.start() - 30):][:100] if match else found
    text.detach()
    return found


def shapes_of():
    """All shapes, and those without any sense also under a header of macOS."""
    text = (HERE / "shapes.def").read_text()
    names = re.findall(r'^SHAPE\("(\w+)"', text, re.M)
    return [name for name in names if "darwin" not in name] + [f"{name}.darwin" for name in names if re.search("random|darwin", name)]


def files_of(arguments):
    """The paths of the files, each made when its turn comes. Files that someone gave are copied: the commands write beside them."""
    folder, size = arguments.folder, str(arguments.bytes)
    if arguments.woven:
        subprocess.run([sys.executable, "-B", HERE / "weave.py", arguments.build / "bin/mktrace", folder, "--bytes", size,
                        "--files", str(arguments.woven), "--seed", str(arguments.seed), "--base", *arguments.base], check=True)
        yield from sorted(folder.glob("[0-9]*.argus"))
        return
    for name in arguments.shapes or shapes_of():
        if arguments.files:
            yield pathlib.Path(shutil.copy(name, folder))
            continue
        subprocess.run([arguments.build / "bin/make_hostile", folder, size, name], check=True)
        yield folder / f"{name}.argus"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("shapes", nargs="*", help="shapes of shapes.def; with --files, files")
    parser.add_argument("--files", action="store_true", help="run on files instead of shapes")
    parser.add_argument("--woven", type=int, default=0, help="run on so many files of weave.py")
    parser.add_argument("--seed", type=int, default=1, help="of weave.py")
    parser.add_argument("--base", nargs="*", default=[], help="traces with which weave.py begins, too")
    parser.add_argument("--bytes", type=int, default=1000000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--megabytes", type=float, default=512)
    parser.add_argument("--all", action="store_true", help="every command, not only those that build most")
    parser.add_argument("--verbose", action="store_true", help="print every run")
    arguments = parser.parse_intermixed_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    os.environ["HOME"] = os.environ["XDG_CONFIG_HOME"] = str(arguments.folder)
    argus = str(arguments.build / "bin/argus")
    faults = runs = 0
    for path in files_of(arguments):
        shape = path.stem
        worst = [0, 0]
        for words in ALL if arguments.all else QUICK:
            run = Run(argus, words, str(path), int(arguments.seconds))
            runs += 1
            worst = [max(worst[0], run.seconds), max(worst[1], run.megabytes)]
            fault = run.fault(arguments.seconds, arguments.megabytes)
            if fault or arguments.verbose:
                faults += bool(fault)
                print(f"{'FAULT ' if fault else ''}{shape}: {run.name}: {run.seconds:.1f} s, {run.megabytes:.0f} MB, code {run.code} "
                      f"{fault} {run.errors[:150] if run.code == 1 else ''}", flush=True)
        print(f"{shape}: {path.stat().st_size} bytes, at most {worst[0]:.1f} s and {worst[1]:.0f} MB", flush=True)
        for left in arguments.folder.glob(f"{glob.escape(shape)}.*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    print(f"{runs} runs, {faults} faults")
    sys.exit(1 if faults else 0)


main()
