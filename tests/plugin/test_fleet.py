"""argus fleet: the hang database, its kinds of hangs, and what is added, known, broken or anonymous."""
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from harness import Skip, expect, expect_equal, expect_in, freezes, main

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "diagnose"))
from schema import mismatches  # noqa: E402

SCHEMAS = pathlib.Path(__file__).parents[2] / "docs/schema"
WALL_NS = 1795446804000000000


def scene(hang_ms=2500, program="editor", helper="helper", first_tid=100, wall_ns=WALL_NS, lines=""):
    """A program that hangs because its helper is busy."""
    text = freezes(hang_ms).replace("editor0", program).replace("helper0", helper)
    for old in 102, 101, 100:
        text = re.sub(rf"\b(t|tid |pid |thread |thread=|next=){old}\b", rf"\g<1>{old - 100 + first_tid}", text)
    return f"wall {wall_ns}\n{text}{lines}"


def machine(name):
    return f'note "the recording machine: {name}"\n'


def put(setup, path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    made = setup.trace("made", text)
    shutil.move(made, path)
    return path


def fleet(setup, *words, code=0, **environment):
    """The JSON of `argus fleet …`, checked against its schema."""
    data = setup.folder / "data"
    name = "fleet-" + words[0] if words and words[0] in ("add", "show") else "fleet"
    found = json.loads(setup.run("fleet", *words, "--json", code=code, XDG_DATA_HOME=str(data), **environment).stdout)
    expect_equal(f"misfits of {name}", mismatches(found, json.loads((SCHEMAS / f"{name}.json").read_text())), [])
    return found


def text_of(setup, *words, code=0):
    return setup.run("fleet", *words, code=code, XDG_DATA_HOME=str(setup.folder / "data")).stdout


def text_error(setup, *files):
    return setup.run("fleet", "add", *files, code=1, XDG_DATA_HOME=str(setup.folder / "data")).stderr


def start(setup, name):
    """An empty folder for traces; the database is new as well."""
    shutil.rmtree(setup.folder / "data", ignore_errors=True)
    return setup.folder / name


def test_kinds_are_stable_and_counted(setup):
    folder = start(setup, "kinds")
    for i in range(3):
        put(setup, folder / f"{i}.argus", scene(2500 + 700 * i, first_tid=200 + 10 * i, wall_ns=WALL_NS + i * 10**12, lines=machine(f"m{i % 2}")))
    put(setup, folder / "deep/other.argus", scene(helper="indexer", lines=machine("m7")))
    added = fleet(setup, "add", folder)
    expect_equal("added", (added["hangs_added"], added["files_read"], added["unreadable"]), (4, 4, []))
    found = fleet(setup)
    expect_equal("totals", [found["totals"][k] for k in ("hangs", "machines", "kinds")], [4, 3, 2])
    kind = found["rows"][0]
    expect_equal("kind", (kind["hangs"], kind["machines"], kind["what"]),
                 (3, 2, "main thread of editor waits for helper, which is busy"))
    expect(3.8e9 < kind["worst_ns"] < 4e9, kind)
    expect_equal("best example is the newest", pathlib.Path(kind["example_file"]).name, "2.argus")
    text = text_of(setup)
    expect_in("4 hangs of 3 machines, 2 kinds", text)
    command = next(line.strip() for line in text.splitlines() if "argus diagnose" in line)
    expect_in("editor's main thread was frozen", setup.run(*command.split()[1:], code=0).stdout)
    shown = fleet(setup, "show", kind["signature"][:9])
    expect_equal("machines", [row["machine"] for row in shown["machines"]], ["m0", "m1"])
    expect_equal("shares", round(sum(row["share"] for row in shown["reasons"]), 6), 1.0)
    expect_in("program=editor", text_of(setup, "show", kind["signature"]))
    setup.run("fleet", "show", "zzz", code=1, XDG_DATA_HOME=str(setup.folder / "data"))


def test_adding_twice_changes_nothing(setup):
    folder = start(setup, "twice")
    first = put(setup, folder / "a.argus", scene(lines=machine("m1")))
    fleet(setup, "add", folder)
    before = fleet(setup, "--by=machines")
    again = fleet(setup, "add", folder)
    expect_equal("known", (again["hangs_added"], again["files_known"], again["files_read"]), (0, 1, 0))
    shutil.copy(first, folder / "copy.argus")  # the same hang in another file
    copied = fleet(setup, "add", folder, "--again", "--jobs=2")
    expect_equal("copy", (copied["hangs_added"], copied["hangs_known"]), (0, 2))
    after = fleet(setup, "--by=machines")
    expect_equal("rows", after["rows"], before["rows"])
    with sqlite3.connect(setup.folder / "data/argus/fleet.db") as database:
        database.execute("UPDATE hangs SET cause = 'of an older argus'")
    (folder / "copy.argus").unlink()
    fleet(setup, "add", folder, "--again")
    expect("older" not in fleet(setup)["rows"][0]["example_cause"], "--again keeps the old diagnosis")


def test_broken_and_other_files(setup):
    folder = start(setup, "broken")
    whole = put(setup, folder / "whole.argus", scene())
    (folder / "cut.argus").write_bytes(whole.read_bytes()[:90])
    (folder / "empty.argus").write_text("")
    (folder / "letter.txt").write_text("Dear Sir or Madam\n")
    (folder / "whole.argus.graph").write_text("")
    os.symlink("whole.argus", folder / "link.argus")
    put(setup, folder / "idle.argus", scene(100))
    added = fleet(setup, "add", folder)
    expect_equal("broken", sorted(pathlib.Path(one["file"]).name for one in added["unreadable"]), ["cut.argus", "empty.argus"])
    expect_equal("the rest", (added["hangs_added"], added["files_without_hang"], added["files_other"]), (1, 1, 1))
    again = fleet(setup, "add", folder)
    expect_equal("still broken", (len(again["unreadable"]), again["files_known"]), (2, 2))
    expect_in("Not read:", text_of(setup, "add", folder))
    start(setup, "")  # a new database
    expect_in("the file could not be read", text_error(setup, folder / "cut.argus"))
    expect_in("none of the 2 files could be read", text_error(setup, folder / "cut.argus", folder / "empty.argus"))
    setup.run("fleet", "add", folder / "nowhere", code=1, XDG_DATA_HOME=str(setup.folder / "data"))


def test_databases_of_others_are_refused(setup):
    folder = start(setup, "others")
    folder.mkdir()
    expect_in("argus fleet add DIR makes it", setup.run("fleet", "--database", folder / "none.db", code=1).stderr)
    with sqlite3.connect(folder / "other.db") as other:
        other.execute("CREATE TABLE music (title TEXT)")
    expect_in("another SQLite database", setup.run("fleet", "--database", folder / "other.db", code=1).stderr)
    (folder / "text.db").write_text("no database, but long enough to be taken for one" * 100)
    expect_in("not a hang database", setup.run("fleet", "--database", folder / "text.db", code=1).stderr)
    put(setup, folder / "a.argus", scene())
    setup.run("fleet", "add", "--database", folder / "new.db", folder / "a.argus", code=0)
    expect_equal("only for the user", (folder / "new.db").stat().st_mode & 0o77, 0)
    with sqlite3.connect(folder / "new.db") as newer:
        newer.execute("PRAGMA user_version=99")
    expect_in("version 99", setup.run("fleet", "--database", folder / "new.db", code=1).stderr)


def test_databases_that_contain_code(setup):
    """A view without end, or a column that makes 800 MB of a few bytes, in place of the rows."""
    folder = start(setup, "code")
    put(setup, folder / "a.argus", scene())
    setup.run("fleet", "add", "--database", folder / "real.db", folder / "a.argus", code=0)
    with sqlite3.connect(folder / "real.db") as real:
        names = [row[1] for row in real.execute("PRAGMA table_info(hangs)")]
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT " + ", ".join(f"x AS {name}" for name in names)
    columns = ", ".join(f"{name} TEXT" + " AS (hex(zeroblob(400000000)))" * (name == "what") for name in names)
    in_capitals = "PRAGMA writable_schema=ON; UPDATE sqlite_master SET type = upper(type)"
    for number, code in enumerate([f"DROP TABLE hangs; CREATE VIEW hangs AS {endless} FROM n",
                                   f"DROP TABLE hangs; CREATE TABLE hangs ({columns}); INSERT INTO hangs (key) VALUES ('a')",
                                   "CREATE TRIGGER t AFTER INSERT ON hangs BEGIN DELETE FROM files; END",
                                   f"DROP TABLE hangs; CREATE VIEW HANGS AS {endless} FROM n",
                                   "CREATE TRIGGER t AFTER INSERT ON hangs BEGIN DELETE FROM files; END;" + in_capitals,
                                   f"DROP TABLE hangs; CREATE TABLE hangs ({columns});" + in_capitals,
                                   "PRAGMA writable_schema=ON; INSERT INTO sqlite_master VALUES ('table', 't', 't', 2, 'CREATE VIRTUAL TABLE t USING fts5(x)')"]):
        shutil.copy(folder / "real.db", folder / f"{number}.db")
        database = sqlite3.connect(folder / f"{number}.db")
        database.executescript(code)
        database.close()
        expect_in("not a hang database", setup.run("fleet", "--database", folder / f"{number}.db", code=1).stderr)


def test_a_folder_that_cannot_be_written(setup):
    if os.getuid() == 0 and not shutil.which("setpriv"):
        raise Skip("setpriv is not installed")
    put(setup, start(setup, "locked") / "a.argus", scene())
    folder = pathlib.Path(tempfile.mkdtemp(prefix="argus-fleet-"))
    try:
        database = folder / "of 100%?.db"
        setup.run("fleet", "add", "--database", database, setup.folder / "locked/a.argus", code=0)
        expect_equal("files", [path.name for path in folder.iterdir()], [database.name])
        database.chmod(0o444)
        folder.chmod(0o555)
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        if subprocess.run([*other, setup.argus, "version"], capture_output=True).returncode:
            raise Skip("another user cannot start argus")
        listed = subprocess.run([*other, setup.argus, "fleet", "--database", database], capture_output=True, text=True)
        expect_equal(f"exit code of argus fleet: {listed.stderr}", listed.returncode, 0)
        expect_in("main thread of editor", listed.stdout)
        database.chmod(0)
        if other:
            expect_in("cannot read", subprocess.run([*other, setup.argus, "fleet", "--database", database], capture_output=True, text=True).stderr)
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_new_kinds_and_order(setup):
    folder = start(setup, "new")
    put(setup, folder / "old.argus", scene(5000, lines=machine("m1")))
    put(setup, folder / "new.argus", scene(program="viewer", wall_ns=WALL_NS + 86400 * 10**9, lines=machine("m1")))
    fleet(setup, "add", folder)
    day = "--new-since=2026-11-24"
    expect_equal("new", [row["is_new"] for row in fleet(setup, day, "--sort=newest")["rows"]], [True, False])
    expect_equal("only new", [row["what"].split()[3] for row in fleet(setup, day, "--new")["rows"]], ["viewer"])
    expect_equal("worst", [row["what"].split()[3] for row in fleet(setup, "--sort=worst")["rows"]], ["editor", "viewer"])
    expect_equal("of one", fleet(setup, "--program=viewer")["totals"]["hangs"], 1)
    expect_equal("since", fleet(setup, "--since=2026-11-24")["totals"]["hangs"], 1)
    expect_equal("cut", len(fleet(setup, "--limit=1")["rows"]), 1)
    put(setup, folder / "again.argus", scene(wall_ns=WALL_NS + 2 * 86400 * 10**9, lines=machine("m2")))
    fleet(setup, "add", folder)
    later = fleet(setup, "--since=2026-11-25", day)["rows"]
    expect_equal("an old kind stays old", [(row["hangs"], row["is_new"], row["first_ns"] // 10**12) for row in later], [(1, False, WALL_NS // 10**12)])
    for wrong in ("--new", "--by=machines"), ("--by=moon",), ("--sort=moon",), ("--since=moon",):
        setup.run("fleet", *wrong, code=2, XDG_DATA_HOME=str(setup.folder / "data"))


def test_hostile_durations(setup):
    folder = start(setup, "long")
    put(setup, folder / "a.argus", scene())
    put(setup, folder / "b.argus", scene(wall_ns=WALL_NS + 10**12))
    fleet(setup, "add", folder)
    with sqlite3.connect(next((setup.folder / "data/argus").glob("*.db"))) as database:
        database.execute("UPDATE hangs SET duration_ns = ?", [2**63 - 1])
        database.execute("UPDATE shares SET ns = ?", [2**63 - 1])
    for view in "kinds", "packages", "reasons":
        expect_equal(f"largest sum of {view}", fleet(setup, f"--by={view}")["totals"]["total_ns"], 2**63 - 1)


def test_machines_can_be_named(setup):
    folder = start(setup, "machines")
    for name in "desk-1", "desk-2":
        put(setup, folder / name / "deep/a.argus", scene(first_tid=300 if name == "desk-1" else 400))
    fleet(setup, "add", "--machine-folders", folder)
    expect_equal("folders", [row["machine"] for row in fleet(setup, "--by=machines")["rows"]], ["desk-1", "desk-2"])
    start(setup, "machines")
    fleet(setup, "add", "--machine=all", folder)
    expect_equal("one", [row["machine"] for row in fleet(setup, "--by=machines")["rows"]], ["all"])


def test_versions_of_packages(setup):
    folder = start(setup, "versions")
    image = "image pid 100 start 0x1000 end 0x9000 inode 5 build_id 00112233445566778899aabbccddeeff00112233 path /opt/bin/editor\n"
    put(setup, folder / "a.argus", scene(lines=image + 'note "package of /opt/bin/editor: office 1.2.3-4"\n' + machine("m1")))
    put(setup, folder / "b.argus", scene(wall_ns=WALL_NS + 10**12, lines=image.replace("0011", "00ff") + machine("m2")))
    fleet(setup, "add", folder)
    expect_equal("since", fleet(setup)["rows"][0]["since_version"], "1.2.3-4")
    expect_equal("versions", [row["version"] for row in fleet(setup, "--by=versions")["rows"]], ["build 00ff22334455", "1.2.3-4"])
    expect_in("since version 1.2.3-4", text_of(setup))


def test_packages_do_not_depend_on_the_order(setup):
    folder = start(setup, "order")
    image = "image pid 100 start 0x1000 end 0x9000 inode 5 build_id 00112233445566778899aabbccddeeff00112233 path /opt/bin/editor\n"
    unnamed = put(setup, folder / "b.argus", scene(wall_ns=WALL_NS + 10**12, lines=image))
    named = put(setup, folder / "a.argus", scene(lines=image + 'note "package of /opt/bin/editor: office 1.2.3-4"\n'))
    for order in (unnamed, named), (named, unnamed):
        shutil.rmtree(setup.folder / "data", ignore_errors=True)
        for file in order:
            fleet(setup, "add", file)
        expect_equal("versions", [(row["version"], row["hangs"]) for row in fleet(setup, "--by=versions")["rows"]], [("1.2.3-4", 2)])


PACKAGE_MANAGER = """#!/bin/sh
case "$1 $3" in
--search*) [ "$LC_ALL" = C ] || echo "Umleitung durch dash von: $2"
echo "diversion by dash from: $2"; echo "local diversion from: $2"; echo "libhelp:amd64, libhelp:i386: $2";;
--show*libhelp:amd64) echo 7.1;;
--show*) printf 7.17.1;;
esac
"""


def test_the_package_manager_is_asked(setup):
    folder = start(setup, "manager")
    program, bin_folder = folder / "editor", folder / "bin"
    bin_folder.mkdir(parents=True)
    shutil.copy(setup.argus, program)
    (bin_folder / "dpkg-query").write_text(PACKAGE_MANAGER)
    (bin_folder / "dpkg-query").chmod(0o755)
    build = re.search(r"Build ID: ([0-9a-f]+)", subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout)
    expect(build, "argus has no build ID")
    put(setup, folder / "a.argus", scene(lines=f"image pid 100 start 0x1000 end 0x9000 inode 5 build_id {build[1]} path {program}\n"))
    fleet(setup, "add", folder / "a.argus", PATH=f"{bin_folder}:{os.environ['PATH']}")
    expect_equal("version", fleet(setup)["rows"][0]["since_version"], "7.1")


def test_report(setup):
    """A page of all kinds, and of one; it loads nothing and escapes what traces say."""
    folder = start(setup, "report")
    put(setup, folder / "a.argus", scene(helper='"<b>helper"', lines=machine("desk-1")))
    put(setup, folder / "b.argus", scene(program="viewer", lines=machine("desk-2")))
    fleet(setup, "add", folder)
    (folder / "a.argus.html").write_text("its page")
    page = setup.folder / "fleet.html"
    expect_in("2 of 2 kinds", text_of(setup, "report", "-o", page))
    text = page.read_text()
    for wanted in "&lt;b&gt;helper", f"argus diagnose {folder}/a.argus 1", f'href="file://{folder}/a.argus.html"', "desk-2":
        expect_in(wanted, text)
    for unwanted in "<b>helper", "b.argus.html", 'src="http', "href=\"http":
        expect(unwanted not in text, f"page: {unwanted}")
    signature = next(row["signature"] for row in fleet(setup)["rows"] if "viewer" in row["what"])
    expect_in(f'<article id="{signature}"', text)
    text_of(setup, "report", signature[:8], "-o", page)
    expect("viewer" in page.read_text() and "desk-1" not in page.read_text(), "the page of one kind")
    expect_in("no kind of hang", setup.run("fleet", "report", "feed", "-o", page, code=1, XDG_DATA_HOME=str(setup.folder / "data")).stderr)


def test_report_of_many_kinds(setup):
    """Signatures that begin with one another, or are empty; tables that are cut; paths with every character."""
    folder = start(setup, "many 100%?#")
    for number in range(3):
        put(setup, folder / f"{number}.argus", scene(program=f"p{number}", wall_ns=WALL_NS + number * 10**12, lines=machine(f"m{number}")))
    put(setup, folder / "same.argus", scene(program="p0", wall_ns=WALL_NS + 10**13, lines=machine("m9")))
    (folder / "same.argus.html").write_text("its page")
    fleet(setup, "add", folder)
    with sqlite3.connect(next((setup.folder / "data/argus").glob("*.db"))) as database:
        for program, signature in ("p0", "ab"), ("p1", "abcd"), ("p2", ""):
            database.execute("UPDATE hangs SET signature = ? WHERE program = ?", [signature, program])
    page = setup.folder / "many.html"
    expect_in("3 of 3 kinds", text_of(setup, "report", "-o", page))
    text = page.read_text()
    expect_equal("kinds", sorted(re.findall('<article id="(.*?)">', text)), ["", "ab", "abcd"])
    expect_in("/many%20100%25%3F%23/same.argus.html", text)
    expect("left out" not in text, "nothing is left out")
    expect_in("2 of 3 kinds", text_of(setup, "report", "--kinds=2", "--limit=1", "-o", page))
    text = page.read_text()
    expect_in(">1 more kind is left out.<", text)
    expect_equal("cut tables", text.count("The others are left out"), 4)  # of the kind with two hangs
    setup.run("fleet", "report", "--kinds=0", "-o", page, code=2, XDG_DATA_HOME=str(setup.folder / "data"))
    expect_in("0 of 0 kinds", text_of(setup, "report", "--program=nobody", "-o", page))
    expect_in("<p>Hangs: 0, machines: 0, kinds: 0</p>", page.read_text())


def test_sessions_beside_other_traces(setup):
    """A trace in the folder "kernel" makes its folder a session only if there is nothing else to read."""
    folder = start(setup, "session")
    for name in "kernel", "ust/uid/0/64-bit":
        (folder / name).mkdir(parents=True)
        (folder / name / "metadata").write_text("/* CTF 1.8 */")
    (folder / "README").write_text("a session")
    expect_equal("a session", len(fleet(setup, "add", folder, code=1)["unreadable"]), 1)
    put(setup, folder / "deep/a.argus", scene())
    put(setup, folder / "b.argus", scene(program="viewer"))
    added = fleet(setup, "add", folder)
    expect_equal("other traces", (added["hangs_added"], len(added["unreadable"])), (2, 2))
    expect_in("b.argus", setup.run("hangs", folder, code=0).stdout)


def test_anonymous(setup):
    folder = start(setup, "home/alice/hangs")
    helper = "sshd: bob"
    put(setup, folder / "a.argus", scene(helper=f'"{helper}"', lines=machine("desk-of-alice")))
    (folder / "cut.argus").write_bytes((folder / "a.argus").read_bytes()[:90])
    added = fleet(setup, "add", "--anonymous", folder)
    expect_equal("added", added["hangs_added"], 1)
    reason = added["unreadable"][0]
    expect(re.fullmatch(r"file-[0-9a-f]{12}", reason["file"]) and reason["file"] in reason["why"], reason)
    for private in "alice", str(setup.folder):
        expect(private not in str(added) + text_of(setup, "add", "--anonymous", folder), f"{private} is shown")
    kept = b"".join(path.read_bytes() for path in (setup.folder / "data/argus").iterdir())
    for private in b"alice", b"bob", str(setup.folder).encode():
        expect(private not in kept, f"{private} is in the database")
    kind = fleet(setup)["rows"][0]
    expect(re.fullmatch(r"main thread of editor waits for sshd: argument-[0-9a-f]{12}, which is busy", kind["what"]), kind["what"])
    expect_equal("twice", fleet(setup, "add", "--anonymous", folder)["hangs_added"], 0)
    expect("argus diagnose" not in text_of(setup), "a path is shown")
    exported = []
    for options in [], ["--anonymous"]:
        text_of(setup, "export", *options, setup.folder / "exported")
        exported += [path.read_text() for path in sorted((setup.folder / "exported").rglob("hangs.jsonl"))]
    expect_equal("anonymous twice", exported[0], exported[1])


main()
