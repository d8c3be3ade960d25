"""`argus graph export` as rows: JSON Lines against the published schema, SQLite with the same rows, references that lead to rows."""
import gzip
import json
import re
import sqlite3
import sys

HERE = __file__.rsplit("/", 2)[0]
sys.path[:0] = [HERE + "/plugin", HERE + "/diagnose"]
import rows_schema  # noqa: E402
from harness import expect, expect_equal, expect_in, freezes, main  # noqa: E402
from schema import mismatches  # noqa: E402

EVIL = "\x1b]0;owned\x07'); DROP TABLE vertex; --<b>\u202e\\"
# What a small file may cost is not looked at here, and sanitizers need several times as much.
MEMORY = {"ARGUS_MEMORY": "8G"}
# column → the table in which it has to be
REFERENCES = {"process": "process", "thread": "thread", "vertex": "vertex", "from_vertex": "vertex", "to_vertex": "vertex",
              "hang": "hang", "parent": "context"}


def lines_of(setup, trace, *words):
    path = setup.folder / "out.jsonl.gz"
    setup.run("graph", "export", *words, trace, "-o", path, code=0, **MEMORY)
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()]


def tables_of(setup, trace, *words):
    path = setup.folder / "out.sqlite"
    setup.run("graph", "export", *words, trace, "-o", path, code=0, **MEMORY)
    connection = sqlite3.connect(path)
    expect_equal("integrity", connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    expect_equal("version", connection.execute("PRAGMA user_version").fetchone(), (1,))
    return connection


def check(setup, trace, *words):
    """Lines fit the schema, the database has the same rows, references lead to rows. Returns the rows by table."""
    rows, wanted = {}, rows_schema.schema()
    for line in lines_of(setup, trace, *words):
        expect_equal("against docs/schema/rows.json", mismatches(line, wanted), [])
        rows.setdefault(line.pop("row"), []).append(line)
    connection = tables_of(setup, trace, *words)
    for table, _, columns in rows_schema.tables():
        names = [column for column, _, _ in columns]
        cursor = connection.execute(f"SELECT * FROM \"{table}\" ORDER BY rowid")
        expect_equal(f"columns of {table}", [column[0] for column in cursor.description], names)
        got = cursor.fetchall()
        here = [tuple(row[name] for name in names) for row in rows.get(table, [])]
        key = repr if columns[0][1] != "ID" else None  # a row with an ID of its own is stored in the IDs' order
        expect_equal(f"rows of {table}", sorted(got, key=key), sorted(here, key=key))
        for row in rows.get(table, []):
            for column, other in REFERENCES.items():
                if column in row and row[column] is not None and column != table:
                    expect(any(row[column] == one[other] for one in rows.get(other, [])),
                           f"{table}: {column} {row[column]} is no {other}")
    connection.close()
    return rows


def test_schema_is_that_of_the_table(setup):
    expect_equal("docs/schema/rows.json", (setup.source / "docs/schema/rows.json").read_text(encoding="utf-8"), rows_schema.text())


def test_names_of_marked_vertices(setup):
    """A vertex is named after the event loop's function, although a mark came first, and after a mark if there is nothing else."""
    text = """thread 100 pid 100 name alpha
probe 65536 0 order shape note
probe 2 0 Toolkit shape handler
0 cpu0 t0 switch next=100
1ms cpu0 t100 hook probe=65536
2ms cpu0 t100 handler function=0 probe=2
3ms cpu0 t100 switch state=1 next=0
5ms cpu0 t0 switch next=100
6ms cpu0 t100 hook probe=65536
7ms cpu0 t100 switch state=1 next=0
"""
    rows = check(setup, setup.trace("marks", text))
    expect_equal("names", [row["name"] for row in rows["vertex"]], ["Toolkit", "order"])


def test_a_freeze(setup):
    rows = check(setup, setup.trace("freeze", freezes(3000)))
    expect_equal("first row", [(row["format"], row["version"]) for row in rows["trace"]], [("argus-rows", 1)])
    expect_equal("hangs", [row["summary"] for row in rows["hang"]],
                 ["editor0's main thread was frozen for 3.00 s because it waited for helper0, which was busy on the cpu."])
    threads = {row["thread"]: row["tid"] for row in rows["thread"]}
    vertices = {row["vertex"]: threads[row["thread"]] for row in rows["vertex"]}
    expect_equal("path", [vertices[row["vertex"]] for row in rows["step"]], [100, 101])
    expect_equal("root cause", [(vertices[row["vertex"]], row["type"]) for row in rows["culprit"]], [(101, "LongRunning")])
    expect(any(row["kind"] == "wake-up" and row["strong"] for row in rows["edge"]), "no wake-up")


def test_contexts(setup):
    lines = freezes(3000) + "stack 7 0x400010 0x400020\n" + 'image pid 101 start 0x400000 end 0x500000 path "/usr/bin/helper"\n'
    lines += 'name path "/usr/bin/helper" place 16 function "inner"\nname path "/usr/bin/helper" place 31 function "outer"\n'
    lines += "".join(f"{(500 + 10 * i) * 1_000_000} cpu1 t101 sample pc=0x400010 user=7\n" for i in range(50))
    rows = check(setup, setup.trace("contexts", lines))
    names = {row["context"]: row["function"] for row in rows["context"]}
    inner = next(row for row in rows["context"] if row["function"] == "inner")
    expect_equal("caller", names[inner["parent"]], "outer")
    expect(inner["own_ns"] > 400_000_000, f"inner took {inner['own_ns']} ns")


def test_many_hangs_are_all_written(setup):
    rows = check(setup, setup.trace("many", freezes(*[2500] * 53)))
    expect_equal("hangs", len(rows["hang"]), 53)
    expect_equal("diagnosed", [row["summary"] is not None for row in rows["hang"]], [True] * 50 + [False] * 3)
    done = setup.run("graph", "export", "--format=jsonl", setup.folder / "many.argus", code=0, **MEMORY)
    expect_in("53 hangs written, of which only the 50 most urgent are diagnosed", done.stderr)


def test_huge_numbers_are_null(setup):
    text = re.sub(r"^([0-9]+) (?=cpu)", lambda found: f"{int(found[1]) + 2**63 + 10**9} ", freezes(3000), flags=re.MULTILINE)
    rows = check(setup, setup.trace("huge", text))
    expect_equal("beginnings", {row["start_ns"] for row in rows["vertex"]}, {None})


def test_nothing_stays_beside_the_database(setup):
    trace, folder = setup.trace("freeze", freezes(3000)), setup.folder / "alone"
    folder.mkdir()
    setup.run("graph", "export", trace, "-o", folder / "out.sqlite", code=0, TMPDIR="/nowhere")
    expect_equal("files", [path.name for path in folder.iterdir()], ["out.sqlite"])


def test_strange_names(setup):
    name = EVIL.replace('"', "")
    rows = check(setup, setup.trace("names", freezes(3000).replace("name editor0", f'name "{name}"')))
    expect(any(row["name"] == name for row in rows["process"]), "the name is lost")


def test_fixtures(setup):
    for source in sorted((setup.source / "tests/graph/fixtures").glob("*.trace"))[::4]:
        check(setup, setup.trace_of(source, setup.folder / f"{source.stem}.argus"), "--threshold=1ms")


def test_a_part(setup):
    trace = setup.trace("freeze", freezes(3000))
    rows = check(setup, trace, "--process=helper0")
    threads = {row["thread"]: row["tid"] for row in rows["thread"]}
    expect_equal("threads", {threads[row["thread"]] for row in rows["vertex"]}, {101})
    expect_equal("hangs of another process", rows.get("hang", []), [])
    done = setup.run("graph", "export", "--format=jsonl", trace, code=0)
    expect_in('{"row":"trace","format":"argus-rows","version":1,', done.stdout.splitlines()[0])


if __name__ == "__main__":
    main()
