"""Diagnoses the scenes of scenes.py: test_diagnose.py MKTRACE DIAGNOSE_JSON DIAGNOSE_ALL FOLDER [SCENE…].

The answers must be right, fit docs/schema/diagnose.json, and be the same the second time. Any other vertex must have an
answer, too.
"""
import json
import pathlib
import subprocess
import sys

import scenes_of_answers  # noqa: F401
import scenes_of_children  # noqa: F401
import scenes_of_circles  # noqa: F401
import scenes_of_cpus  # noqa: F401
import scenes_of_disks  # noqa: F401
import scenes_of_flags  # noqa: F401
import scenes_of_inlined  # noqa: F401
import scenes_of_locks  # noqa: F401
import scenes_of_memory  # noqa: F401
import scenes_of_remotes  # noqa: F401
import scenes_of_sharers  # noqa: F401
import scenes_of_tasks  # noqa: F401
from scenes import SCENES
from schema import mismatches

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "docs/schema/diagnose.json").read_text())


def diagnose(program, trace, process, *answers):
    done = subprocess.run([program, trace, process, *answers], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def problems(answer, expected):
    """The errors in the answer."""
    root, kind = expected["root"]
    causes = answer["root_causes"]
    first = (causes[0]["process"], causes[0]["type"]) if causes else None
    if answer["spinning"]["type"] != expected["type"]:
        yield f"type {answer['spinning']['type']}, not {expected['type']}"
    if first != (root, kind):
        yield f"the root cause is {first}, not {(root, kind)}"
    if causes and expected.get("why", "") not in causes[0]["why"]:
        yield f"the reason is {causes[0]['why']!r}"
    if expected.get("summary", "") not in answer["summary"]:
        yield f"the summary is {answer['summary']!r}"
    functions = [tuple(f[key] for key in ("name", "inlined", "self", "inclusive")) for f in causes[0]["costly_functions"]] if causes else []
    if functions != expected.get("functions", functions):
        yield f"the costly functions are {functions}"
    remote = causes[0]["remote"] if causes else None
    if "remote" in expected and (remote and tuple(remote.values())) != expected["remote"]:
        yield f"the other end is {remote}"
    if "path" in expected and [v["process"] for v in answer["path"]] != expected["path"]:
        yield f"the path is {[v['process'] for v in answer['path']]}, not {expected['path']}"
    if not any(expected.get("uncertain", "") in text for text in answer["uncertain"] or [""]):
        yield f"uncertain is {answer['uncertain']}"
    lasted_ms = answer["hang"]["duration_ns"] / 1e6
    if "lasts_ms" in expected and not expected["lasts_ms"] * .97 < lasted_ms < expected["lasts_ms"] * 1.03:
        yield f"the hang lasts {lasted_ms:.0f} ms, not {expected['lasts_ms']}"
    cycle = {v["process"] for v in answer["cycle"] or []}
    if cycle != expected.get("cycle", set()):
        yield f"the circle is {cycle}"
    if "only" in expected and {cause["process"] for cause in causes} != expected["only"]:
        yield f"{[cause['process'] for cause in causes]} are blamed"
    if {cause["process"] for cause in causes} & {"bystander", "idler"}:
        yield "a bystander is blamed"
    yield from bad_accounting(answer)
    yield from mismatches(answer, SCHEMA)


def bad_accounting(answer):
    at = answer["hang"]["start_ns"]
    for stretch in answer["accounting"]:
        if stretch["start_ns"] != at:
            yield f"the accounting has a gap or an overlap at {at}"
        at = stretch["start_ns"] + stretch["duration_ns"]
    if at != answer["hang"]["start_ns"] + answer["hang"]["duration_ns"]:
        yield "the accounting does not reach the end"
    if abs(sum(stretch["share"] for stretch in answer["accounting"]) - 1) > 1e-9:
        yield "the shares do not add up to 1"


def bad_answers(program, trace, process, expected):
    """A question that is left open, stopped at, or answered."""
    if "answers" not in expected:
        return
    code, out, _ = diagnose(program, trace, process, "open")
    asked = json.loads(out)["questions"]
    if code != 3 or asked[-1]["answer"] is not None or asked[-1]["by"] is not None:
        yield f"an open question: exit code {code}, {asked}"
    yield from mismatches(json.loads(out), SCHEMA)
    code, out, _ = diagnose(program, trace, process, "stop")
    if code != 0 or json.loads(out)["baseline"] is not None or json.loads(out)["questions"][0]["answer"] != "stop":
        yield "the answer stop is not taken"
    for words, culprit in expected["answers"].items():
        found = json.loads(diagnose(program, trace, process, *words)[1])["root_causes"][0]["process"]
        if found != culprit:
            yield f"the answers {words} lead to {found}, not to {culprit}"


def check(name, mktrace, program, every, folder):
    made, process, expected = SCENES[name]()
    text, trace = folder / f"{name}.trace", folder / f"{name}.argus"
    text.write_text(made.text())
    subprocess.run([mktrace, text, trace], check=True)
    code, out, error = diagnose(program, trace, process)
    if code != 0:
        return [f"exit code {code}: {error}"]
    wrong = list(problems(json.loads(out), expected))
    if diagnose(program, trace, process)[1] != out:
        wrong.append("the second diagnosis differs from the first")
    wrong += bad_answers(program, trace, process, expected)
    done = subprocess.run([every, trace], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        wrong.append(done.stdout)
    return wrong


def main():
    mktrace, program, every, folder = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in sys.argv[5:] or SCENES:
        wrong = check(name, mktrace, program, every, folder)
        print(name, "ok" if not wrong else "WRONG: " + "; ".join(wrong))
        failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
