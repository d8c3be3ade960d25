"""What `argus hangs` finds in small scenes: test_hangs.py MKTRACE ARGUS MARKS FOLDER [SCENE…].

MARKS is a shared library with the functions and flags by which macOS indicates a hang.
"""
import json
import os
import pathlib
import subprocess
import sys

import hangs_in_handlers  # noqa: F401
import hangs_nested  # noqa: F401
import hangs_of_conditions  # noqa: F401
import hangs_of_loops  # noqa: F401
import hangs_of_starts  # noqa: F401
import hangs_on_macos
import hangs_searching  # noqa: F401
import hangs_unanswered  # noqa: F401
import hangs_unnoticed  # noqa: F401
import hangs_without_polls  # noqa: F401
from hang_scene import SCENES


def differs(found, expected):
    for key, value in expected.items():
        have = round(found["duration_ns"] / 1e9) if key == "lasts_s" else found[key]
        if key == "pending":
            have = [(item["kind"], item["process"], item["unread"]) for item in have]
        if have != value:
            yield f"{key} is {have}, not {value}"


def problems(argus, trace, options, expected):
    words = [option for option in options if option != "--idle"]
    argv = [argus, "hangs", "--json", *words, trace]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return [f"exit code {done.returncode}: {done.stderr}"]
    answer = json.loads(done.stdout)
    found = answer["idle" if "--idle" in options else "hangs"]
    if len(found) != len(expected):
        return [f"{options}: {len(found)} instead of {len(expected)}: {done.stdout}"]
    wrong = [f"{options}: {text}" for have, want in zip(found, expected) for text in differs(have, want)]
    text = [subprocess.run([argus, "hangs", *words, trace], stdout=subprocess.PIPE, text=True).stdout for _ in range(2)]
    if text[0] != text[1]:
        wrong.append("the second list differs from the first")
    for have in expected if "--idle" not in options else []:
        if have["process"] not in text[0]:
            wrong.append(f"{have['process']} is not in the text")
    return wrong


def main():
    mktrace, argus, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[4])
    hangs_on_macos.MARKS = sys.argv[3]
    os.environ["TZ"] = "UTC0"  # of --time
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in sys.argv[5:] or SCENES:
        made, questions = SCENES[name]()
        # several scenes: each has a question of its own
        parts = zip(made, ([question] for question in questions)) if isinstance(made, list) else [(made, questions)]
        wrong = []
        for number, (part, asked) in enumerate(parts):
            text, trace = folder / f"{name}{number or ''}.trace", folder / f"{name}{number or ''}.argus"
            text.write_text(part.text())
            subprocess.run([mktrace, text, trace], check=True)
            wrong += [text for options, expected in asked for text in problems(argus, trace, options, expected)]
        print(name, "ok" if not wrong else "WRONG: " + "; ".join(wrong))
        failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
