"""Checks that a stage includes only itself and earlier stages, that no two source files have the same name, that
tests/README.md has a row for each folder of tests, and that the analysis writes no sentences.

    layers.py SOURCE_FOLDER

To add a stage: a row in MAY_INCLUDE, and its public headers in PUBLIC. To add a sentence to an answer: see
libargus/include/argus/diagnosis_reason.h.
"""
import collections
import pathlib
import re
import sys

# stage folder → the stages that it may include besides itself
MAY_INCLUDE = {
    "libargus/base": [],
    "libargus/trace": ["libargus/base"],
    "libargus/event": ["libargus/base", "libargus/trace"],
    "libargus/live": ["libargus/base", "libargus/trace", "libargus/event", "libargus/steps"],
    "libargus/steps": ["libargus/base", "libargus/trace", "libargus/event"],
    "libargus/graph": ["libargus/base", "libargus/trace", "libargus/event", "libargus/steps"],
    "libargus/slice": ["libargus/base", "libargus/trace", "libargus/event", "libargus/steps", "libargus/graph"],
    "libargus/diagnose": ["libargus/base", "libargus/trace", "libargus/event", "libargus/steps", "libargus/graph", "libargus/slice"],
    "libargus/report": ["libargus/base", "libargus/trace", "libargus/event", "libargus/steps", "libargus/graph", "libargus/slice",
                        "libargus/diagnose", "libargus/live"],
    "libargus/fleet": ["libargus/base", "libargus/trace", "libargus/event", "libargus/steps", "libargus/graph", "libargus/slice",
                       "libargus/diagnose", "libargus/report"],
    "libargus/context": ["libargus/base", "libargus/trace", "libargus/event", "libargus/steps", "libargus/graph", "libargus/slice",
                         "libargus/diagnose", "libargus/report"],
    "libargus/export": ["libargus/base", "libargus/trace", "libargus/event", "libargus/steps", "libargus/graph", "libargus/slice",
                        "libargus/diagnose", "libargus/report", "libargus/context"],
    "libargus/page": ["libargus/base", "libargus/trace", "libargus/event", "libargus/steps", "libargus/graph", "libargus/slice",
                      "libargus/diagnose", "libargus/report", "libargus/context"],
    # No decoder runs as root.
    "recorder": ["libargus/base", "libargus/trace"],
    # Foreign bytes: a process of its own, which needs only the writer of traces and the names of system calls.
    "importer": ["libargus/base", "libargus/trace", "libargus/event"],
    # The front end uses only the client of the recorder (recorder/CMakeLists.txt: argus_client).
    "plugin": ["libargus/base", "libargus/trace", "libargus/event", "libargus/steps", "libargus/graph", "libargus/slice",
               "libargus/diagnose", "libargus/report", "libargus/context", "libargus/export", "libargus/page", "libargus/fleet", "libargus/live", "recorder/background.h", "recorder/client/client.h", "recorder/client/child.h", "recorder/client/output.h", "recorder/rates.h", "recorder/server/outlet.h", "recorder/client/step_client.h", "recorder/step_patterns.h", "recorder/step_protocol.h", "recorder/linux/step/step_instruction.h",
               "dylib-hooks/plan.h"],
    "dylib-hooks": ["libargus/base", "libargus/trace", "libargus/event"],
    # The public library: what commands do with a trace, as functions.
    "api": ["libargus/base", "libargus/trace", "libargus/event", "libargus/graph", "libargus/slice", "libargus/diagnose",
            "libargus/report", "libargus/context", "plugin"],
    "examples": [],
}

# header below libargus/include/argus → the stage that it belongs to
PUBLIC = {
    "error.h": "libargus/base",
    "record.h": "libargus/trace",
    "snapshot_key.h": "libargus/trace",
    "trace.h": "libargus/trace",
    "kept_hang.h": "libargus/trace",
    "recorded_command.h": "libargus/trace",
    "recorded_host.h": "libargus/trace",
    "event.h": "libargus/event",
    "messages.h": "libargus/event",
    "abilities.h": "libargus/event",
    "gaps.h": "libargus/event",
    "contents.h": "libargus/event",
    "property_lists.h": "libargus/event",
    "symbols.h": "libargus/graph",  # needs the graph, which knows the process and the time of an address
    "build_id.h": "libargus/event",
    "unwind.h": "libargus/event",
    "frame_names.h": "libargus/event",
    "data_symbols.h": "libargus/event",
    "interpreter_layouts.def": "libargus/event",
    "live.h": "libargus/live",
    "live_kinds.def": "libargus/live",
    "steps.h": "libargus/steps",
    "diverge.h": "libargus/steps",
    "step_items.h": "libargus/steps",
    "graph.h": "libargus/graph",
    "graph_file.h": "libargus/graph",
    "schema.h": "libargus/graph",
    "inspect.h": "libargus/graph",
    "boost.h": "libargus/graph",
    "compare.h": "libargus/graph",
    "question.h": "libargus/slice",
    "slice.h": "libargus/slice",
    "diagnose.h": "libargus/diagnose",
    "hangs.h": "libargus/diagnose",
    "diagnosis_reason.h": "libargus/diagnose",
    "hang_indicators.def": "libargus/diagnose",
    "report.h": "libargus/report",
    "export.h": "libargus/export",
    "contexts.h": "libargus/context",
    "page.h": "libargus/page",
}

# Stages whose results are numbers, which report puts into words.
WORDLESS = ("libargus/slice", "libargus/diagnose", "libargus/live")
# The labels of this table may be in such a stage, too: they are data, by which records are recognised.
PROBES = "share/probes.conf"
LABEL = re.compile(r'\blabel="([^"]+)"')

PUBLIC_FOLDER = "libargus/include/argus"
IGNORED_FOLDERS = {"__pycache__"}
SOURCES = {".c", ".h", ".cpp", ".def"}
TEST_TABLE = "tests/README.md"
TEST_ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
COMMENT_OR_LITERAL = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
LITERALS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')
CONVERSION = re.compile(r"%[-+ 0-9.*]*(?:hh|h|ll|l|z)?[a-z]")
TWO_WORDS = re.compile(r"[A-Za-z]{2,}[,;:]? [a-z]{2,}")
AN_ERROR = re.compile(r"\bargus_error_\w+\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def source_files(root):
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.suffix in SOURCES and not relative.parts[0].startswith(("build", ".", "out")):
            yield relative


def stage_of(relative):
    """The stage that a file belongs to, or None for tests and benchmarks, which may include anything."""
    if relative.parent.as_posix() == PUBLIC_FOLDER:
        return PUBLIC.get(relative.name, f"no row in PUBLIC for {relative.name}")
    for stage in MAY_INCLUDE:
        if relative.as_posix().startswith(stage + "/"):
            return stage
    return None


def resolve(root, includer, name):
    """Where the compiler finds a quoted include: in the includer's folder, or below one of the include folders."""
    for folder in [includer.parent, pathlib.Path("libargus/include"), pathlib.Path("libargus"), pathlib.Path("recorder"),
                   pathlib.Path("plugin"), pathlib.Path(".")]:
        if (root / folder / name).is_file():
            return pathlib.Path((root / folder / name).resolve().relative_to(root.resolve()))
    return None


def check_includes(root, relative):
    stage = stage_of(relative)
    if stage is None:
        return
    if stage not in MAY_INCLUDE:
        yield f"{relative}: {stage}"
        return
    for name in INCLUDE.findall((root / relative).read_text(encoding="utf-8")):
        target = resolve(root, relative, name)
        if target is None:
            continue  # a generated file, or the compiler will report it
        other = stage_of(target)
        allowed = other == stage or other in MAY_INCLUDE[stage] or target.as_posix() in MAY_INCLUDE[stage]
        if not allowed:
            yield f"{relative}: includes {target}, and {stage} comes before {other or 'that'}"


def without_comments(text):
    """With blanks in place of comments, so that places stay the same."""
    return COMMENT_OR_LITERAL.sub(
        lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0]), text)


def probe_labels(root):
    table = root / PROBES
    return set(LABEL.findall(table.read_text(encoding="utf-8"))) if table.is_file() else set()


def check_sentences(root, relative, labels):
    """Two words in a string literal are a sentence, except in an error's message and as the label of a probe."""
    if not relative.as_posix().startswith(tuple(stage + "/" for stage in WORDLESS)):
        return
    text = without_comments((root / relative).read_text(encoding="utf-8"))
    for literal in LITERALS.finditer(text):
        words = CONVERSION.sub("", re.sub(r'"\s*"', "", literal[0]).strip()[1:-1])
        statement = re.split(r"[;{}]", text[:literal.start()])[-1]
        if TWO_WORDS.search(words) and words not in labels and not AN_ERROR.search(statement):
            yield f"{relative}:{text.count(chr(10), 0, literal.start()) + 1}: a sentence, which belongs to libargus/report: {literal[0].strip()}"


def check_names(files):
    places = collections.defaultdict(list)
    for relative in files:
        places[relative.name].append(relative.as_posix())
    for name, where in sorted(places.items()):
        if len(where) > 1:
            yield f"{name}: the same name in {', '.join(where)}"


def check_test_folders(root):
    """A folder of tests needs a row; a folder inside of it may have one."""
    tests = root / "tests"
    if not tests.is_dir():
        return
    table = root / TEST_TABLE
    rows = TEST_ROW.findall(table.read_text(encoding="utf-8")) if table.is_file() else []
    folders = sorted(path.name for path in tests.iterdir() if path.is_dir() and path.name not in IGNORED_FOLDERS)
    yield from (f"{TEST_TABLE}: no row for the folder {name}" for name in folders if name not in rows)
    yield from (f"{TEST_TABLE}: a row for {name}, and no such folder" for name in rows if not (tests / name).is_dir())
    yield from (f"{TEST_TABLE}: {count} rows for {name}" for name, count in collections.Counter(rows).items() if count > 1)


def check(root):
    files = list(source_files(root))
    findings = [finding for relative in files for finding in check_includes(root, relative)]
    labels = probe_labels(root)
    findings += [finding for relative in files for finding in check_sentences(root, relative, labels)]
    return files, findings + list(check_names(files)) + list(check_test_folders(root))


def main():
    files, findings = check(pathlib.Path(sys.argv[1]))
    for finding in findings:
        print(finding)
    print(f"{len(files)} files, {len(findings)} findings")
    return 1 if findings or not files else 0


if __name__ == "__main__":
    sys.exit(main())
