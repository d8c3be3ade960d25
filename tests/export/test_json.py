"""What `--json` prints, against its published schema: on made-up traces, and on fixtures of the graph. Each has a format with a
version."""
import json
import sys

HERE = __file__.rsplit("/", 2)[0]
sys.path[:0] = [HERE + "/plugin", HERE + "/diagnose"]
from harness import expect, expect_equal, freezes, main  # noqa: E402
from schema import mismatches  # noqa: E402

# schema → words of the command, without the trace
COMMANDS = {
    "hangs": (["hangs", "--threshold=1ms"], ["hangs", "--threshold=100s"]),
    "graph": (["graph"],),
    "slice": (["slice", "v3", "--auto"],),
    "similar": (["similar", "v3"],),
}


def check(setup, trace):
    answers = 0
    for name, commands in COMMANDS.items():
        schema = json.loads((setup.source / f"docs/schema/{name}.json").read_text(encoding="utf-8"))
        for words in commands:
            done = setup.run(words[0], trace, *words[1:], "--json")
            expect(done.returncode in (0, 1, 4), f"argus {words} {trace}: {done.returncode}, {done.stderr}")
            if not done.stdout:
                continue  # it has no such vertex
            answer = json.loads(done.stdout)
            expect_equal(f"{trace.name}: {words} against docs/schema/{name}.json", mismatches(answer, schema), [])
            expect_equal("format", answer["format"], f"argus-{name} 1")
            answers += 1
    return answers


def test_freezes(setup):
    expect_equal("answers", check(setup, setup.trace("freeze", freezes(3000, 2500))), 5)


def test_fixtures(setup):
    answers = 0
    for source in sorted((setup.source / "tests/graph/fixtures").glob("*.trace"))[::5]:
        answers += check(setup, setup.trace_of(source, setup.folder / f"{source.stem}.argus"))
    expect(answers > 50, f"only {answers} answers")


if __name__ == "__main__":
    main()
