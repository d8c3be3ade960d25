"""The output of argus graph check and argus graph stats for small traces (inspection/*.trace): the text is in *.expected, which
was reviewed line by line, and the JSON has the same figures.

    inspection.py ARGUS MKTRACE FOLDER WORK [--update]

--update writes the expected files: review the difference before committing it.
"""
import difflib
import json
import pathlib
import re
import subprocess
import sys


def run(argus, *words):
    done = subprocess.run([argus, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode} from argus {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def figures_of(text, answer):
    """Figures that are both in the text and in the JSON of graph check, each as (name, in the text, in the JSON)."""
    def number(pattern):
        found = re.search(pattern, text)
        return int(found.group(1)) if found else 0
    yield "vertices", number(r"hold over (\d+) vertices"), answer["vertices"]
    yield "edges", number(r"and (\d+) edges"), answer["edges"]
    yield "gaps", number(r"lost in (\d+) gap"), answer["gaps"]
    yield "batching", number(r"(\d+) suspects? in"), answer["batching_vertices"]
    yield "without a cause", number(r"(\d+) of \d+ wake-ups of programs"), sum(answer["without_cause"].values())
    yield "missing edges", number(r"(\d+) places? in which"), answer["missing_places"]


def check(argus, mktrace, source, work):
    """Returns the text of both commands; exits when the JSON differs from it."""
    trace = work / (source.stem + ".argus")
    subprocess.run([mktrace, source, trace], check=True, timeout=60)
    text, stats = run(argus, "graph", "check", trace), run(argus, "graph", "stats", trace)
    answer = json.loads(run(argus, "graph", "check", "--json", trace))
    for what, said, wanted in figures_of(text, answer):
        if said != wanted:
            sys.exit(f"{source.name}: {what} is {said} in the text and {wanted} in the JSON")
    if not answer["sound"]:
        sys.exit(f"{source.name}: {answer['violation_examples']}")
    figures = json.loads(run(argus, "graph", "stats", "--json", trace))
    for key in "strong", "weak", "moved", "culled", "merged":
        if str(figures["plain_wakeups"][key]) not in stats:
            sys.exit(f"{source.name}: {figures['plain_wakeups']} is not in\n{stats}")
    return f"argus graph check\n\n{text}\n\nargus graph stats\n\n{stats}"


def main():
    argus, mktrace = sys.argv[1:3]
    folder, work = map(pathlib.Path, sys.argv[3:5])
    work.mkdir(parents=True, exist_ok=True)
    sources, wrong = sorted(folder.glob("*.trace")), 0
    for source in sources:
        text, expected = check(argus, mktrace, source, work), source.with_suffix(".expected")
        if "--update" in sys.argv:
            expected.write_text(text)
        before = expected.read_text() if expected.exists() else ""
        if before != text:
            wrong += 1
            sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), text.splitlines(True), str(expected),
                                                       "this build"))
    print(f"{len(sources)} traces, {wrong} wrong")
    sys.exit(1 if wrong or not sources else 0)


main()
