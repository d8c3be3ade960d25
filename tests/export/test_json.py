"""What `--json` prints, against the published schema that its member "format" names: on made-up traces, and on fixtures of the graph.
Every command that has the option is here, or in the test that the comment names."""
import json
import sys

HERE = __file__.rsplit("/", 2)[0]
sys.path[:0] = [HERE + "/plugin", HERE + "/diagnose", HERE + "/contexts"]
from context_scene import slow  # noqa: E402
from harness import expect, expect_equal, expect_in, freezes, main  # noqa: E402
from schema import SCHEMAS, misfits  # noqa: E402

TRACE = "TRACE"
# schema → command lines
COMMANDS = {
    "hangs": ("hangs --threshold=1ms TRACE", "hangs --threshold=100s TRACE"),
    "graph": ("graph TRACE",),
    "graph-show": ("graph show TRACE v3", "graph show TRACE v1"),
    "graph-find": ("graph find TRACE", "graph find TRACE --longer-than=1ms"),
    "graph-check": ("graph check TRACE",),
    "graph-stats": ("graph stats TRACE",),
    "slice": ("slice TRACE v3 --auto",),
    "similar": ("similar TRACE v3",),
    "diagnose": ("diagnose TRACE --threshold=1ms --auto", "diagnose TRACE v3 --auto"),
    "contexts": ("contexts TRACE", "contexts TRACE --tree"),
    "schema": ("schema TRACE", "schema"),
    "verify": ("verify TRACE",),
    "messages": ("messages TRACE", "messages TRACE --pairs"),
    "info": ("info TRACE",),
    "dump": ("dump TRACE -n 20",),
    "answers": ("answers TRACE",),
}
ALONE = {"version": "version", "help": "help"}
# where the others are checked
ELSEWHERE = {
    "diverge": "diverge.units", "steps": "plugin.steps_shown", "info-steps": "plugin.steps_shown", "step": "steps.live_step",
    "watchflag-list": "recorder.flags", "status": "recorder.modes", "why": "why.live", "why-all": "why.live",
    "fleet": "plugin.fleet", "fleet-show": "plugin.fleet", "fleet-add": "plugin.fleet", "fleet-hang": "plugin.fleet_engines",
    "hangs-folder": "plugin.hang_folder", "rows": "export.rows", "questions": "plugin.lldb",
}
LINES = {"dump"}


def answers_of(setup, name, line, trace):
    """The objects that a command printed; none if the trace has nothing of the kind."""
    words = [str(trace) if word == TRACE else word for word in line.split()]
    done = setup.run(*words, "--json")
    expect(done.returncode in (0, 1, 4), f"argus {words}: {done.returncode}, {done.stderr}")
    found = [json.loads(text) for text in (done.stdout.splitlines() if name in LINES else [done.stdout]) if text]
    for answer in found:
        expect_equal(f"{line} of {trace}: format", answer.get("format"), f"argus-{name} 1")
        expect_equal(f"{line} of {trace}: against its schema", misfits(answer), [])
    return found


def check(setup, trace, names):
    """How many command lines had an answer, by schema."""
    return {name: sum(bool(answers_of(setup, name, line, trace)) for line in COMMANDS[name]) for name in names}


def test_freezes(setup):
    trace = setup.trace("freeze", freezes(3000, 2500))
    setup.run("diagnose", "--answers=1,default", trace)  # there is an answer to list
    found = check(setup, trace, COMMANDS)
    expect_equal("commands without an answer", [name for name, count in found.items() if not count], ["contexts"])
    check(setup, setup.trace("slow", slow().text()), ["contexts", "graph-show", "diagnose"])
    for name, line in ALONE.items():
        answers_of(setup, name, line, None)


def test_fixtures(setup):
    """Every fixture with a sixth of the commands, so that each command has many fixtures."""
    names, answered = list(COMMANDS), dict.fromkeys(COMMANDS, 0)
    for at, source in enumerate(sorted((setup.source / "tests/graph/fixtures").glob("*.trace"))):
        trace = setup.trace_of(source, setup.folder / f"{source.stem}.argus")
        for name, count in check(setup, trace, names[at % 6::6]).items():
            answered[name] += count
    expect_equal("commands with few answers", [name for name, count in answered.items() if count < 3 and name != "contexts"], [])


def test_all_are_published(setup):
    """Each command with --json has a schema, each schema has a format with a version, and a test that checks it."""
    files = {path.stem for path in SCHEMAS.glob("*.json")}
    expect_equal("schemas without a test", files - {*COMMANDS, *ALONE, *ELSEWHERE}, set())
    expect_equal("tests without a schema", {*COMMANDS, *ALONE, *ELSEWHERE} - files, set())
    for path in SCHEMAS.glob("*.json"):
        expect_in("argus-", str(json.loads(path.read_text(encoding="utf-8"))))
    continued = {"answer", "undo"}  # they print what the command prints that they continue
    for command in json.loads(setup.run("help", "--json", code=0).stdout)["commands"]:
        name = command["name"].replace(" ", "-").removesuffix("schema-list") or "schema"
        if any(option["name"] == "json" for option in command["options"]) and name not in continued:
            expect(name in files, f"argus {command['name']} has --json and no schema docs/schema/{name}.json")


if __name__ == "__main__":
    main()
