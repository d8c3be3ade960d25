"""10,000 hangs of 300 machines: argus fleet, DuckDB and Spark must give the numbers that plain Python gives."""
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

from fleet_rows import MACHINES, answers, multiply
from harness import Skip, expect, expect_equal, freezes, main

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples/fleet"
HANGS = 10000


def prepare(setup):
    """The database and its exported files, made once."""
    database, folder = setup.folder / "fleet.db", setup.folder / "exported"
    if not database.exists():
        for helper in "helper", "indexer", "portald":
            setup.trace(helper, "wall 1793491200000000000\n" + freezes(2500).replace("editor0", "editor").replace("helper0", helper))
        setup.run("fleet", "add", "--database", database, setup.folder, code=0)
        multiply(database, HANGS)
        setup.run("fleet", "export", "--database", database, folder, code=0)
    return database, folder


def near(what, got, wanted):
    expect(abs(got - wanted) <= 1e-9 + 1e-6 * abs(wanted), f"{what}: {got} instead of {wanted}")


def compare(who, results, wanted):
    groups = {row["signature"]: (row["hangs"], row["machines"], row["total_ns"]) for row in results["top_signatures"]}
    expect_equal(f"{who}: kinds", groups, wanted["top_signatures"])
    packages = {row["package"]: (row["hangs"], row["machines"], row["total_ns"]) for row in results["culprit_packages"]}
    expect_equal(f"{who}: packages", packages, wanted["culprit_packages"])
    spent = {row["reason"]: (row["ns"], row["hangs"]) for row in results["time_by_reason"]}
    expect_equal(f"{who}: reasons", spent, wanted["time_by_reason"])
    near(f"{who}: shares", sum(row["share"] for row in results["time_by_reason"]), 1)
    found = {(row["signature"], row["program"], row["version"]): row for row in results["regressions"]}
    expect_equal(f"{who}: tested kinds", sorted(found), sorted(wanted["regressions"]))
    for key, value in wanted["regressions"].items():
        row = found[key]
        expect_equal(f"{who}: machines of {key}", tuple(row[name] for name in ("with_before", "machines_before", "with_after", "machines_after")), value[:4])
        near(f"{who}: p of {key}", row["p"], value[4])
        near(f"{who}: corrected p of {key}", row["p_corrected"], value[5])


def test_argus_agrees_with_plain_python(setup):
    database, _ = prepare(setup)
    views = {"top_signatures": "kinds", "culprit_packages": "packages", "time_by_reason": "reasons", "regressions": "regressions"}
    results = {}
    for name, view in views.items():
        found = json.loads(setup.run("fleet", "--database", database, "--by", view, "--limit=0", "--json", code=0).stdout)
        expect_equal("totals", (found["totals"]["hangs"], found["totals"]["machines"]), (HANGS, MACHINES))
        results[name] = found["rows"]
    compare("argus", results, answers(database))
    worst = min(results["regressions"], key=lambda row: row["p"])
    expect_equal("the regression that was put in", (worst["program"], worst["version"], worst["is_significant"]), ("editor-3", "2.0", True))


def test_the_rows_are_whole(setup):
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "diagnose"))
    from schema import mismatches
    _, folder = prepare(setup)
    schema = json.loads((pathlib.Path(__file__).parents[2] / "docs/schema/fleet-hang.json").read_text())
    files = sorted(folder.glob("hangs/day=*/hangs.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    expect_equal("days and rows", (len(files), len(rows)), (20, HANGS))
    for row in rows[::97]:
        expect_equal("misfits", mismatches(row, schema), [])
        expect_equal("the time is accounted for", sum(share["ns"] for share in row["shares"]), row["duration_ns"])


def engine(setup, module, script):
    if not importlib.util.find_spec(module):
        raise Skip(f"{module} is not installed (PyPI)")
    database, folder = prepare(setup)
    done = subprocess.run([sys.executable, "-B", str(EXAMPLES / script), str(folder), "--json"], capture_output=True, text=True, timeout=300)
    expect_equal(f"exit code of {script}\n{done.stderr[-2000:]}", done.returncode, 0)
    compare(module, json.loads(done.stdout), answers(database))


def test_duckdb_without_hangs(setup):
    if not importlib.util.find_spec("duckdb"):
        raise Skip("duckdb is not installed (PyPI)")
    folder = setup.folder / "no hangs"
    setup.run("fleet", "export", "--database", setup.folder / "empty.db", folder)
    done = subprocess.run([sys.executable, "-B", str(EXAMPLES / "with_duckdb.py"), str(folder)], capture_output=True, text=True, timeout=60)
    expect_equal("an export without hangs", (done.returncode, done.stderr), (1, f"no hangs in {folder}\n"))


def test_duckdb_agrees(setup):
    engine(setup, "duckdb", "with_duckdb.py")


def test_spark_agrees(setup):
    if not shutil.which("java"):
        raise Skip("java is not installed")
    engine(setup, "pyspark", "with_spark.py")


main()
