"""Questions in the shell: answered by a list, by defaults and at a prompt; and the output without answers."""
import json
import re
import shlex

from harness import Terminal, expect, expect_equal, expect_in, freezes, main

QUESTION = "Which hang is to be explained?"
PROMPT = "or Enter for"


def two_hangs(setup):
    """editor0 hangs for 3 s, editor1 for 4 s, so argus asks which one is meant. Answers of earlier tests are not kept."""
    path = setup.trace("two", freezes(3000, 4000))
    path.with_name("two.argus.answers").unlink(missing_ok=True)
    return path


def hang_of(setup, *words):
    return json.loads(setup.run("diagnose", "--json", *words, code=0).stdout)["hang"]["process"]


def test_answers_choose(setup):
    path = two_hangs(setup)
    expect_equal("default", hang_of(setup, "--auto", path), "editor1")
    expect_equal("first", hang_of(setup, "--answers=1", "--auto", path), "editor1")
    expect_equal("second", hang_of(setup, "--answers=2", "--auto", path), "editor0")
    expect_equal("word", hang_of(setup, "--answers=default", "--auto", path), "editor1")
    expect_equal("number of hangs", hang_of(setup, "--auto", path, "2"), "editor0")


def test_answers_are_written_down(setup):
    path = two_hangs(setup)
    answer = json.loads(setup.run("diagnose", "--json", "--answers=2", "--auto", path, code=0).stdout)
    first = answer["questions"][0]
    expect_equal("question", (first["kind"], first["text"], len(first["options"])), ("hang", QUESTION, 2))


def test_wrong_answers_are_refused(setup):
    path = two_hangs(setup)
    for answers in "3", "0", "x", "-1", "1x":
        done = setup.run("diagnose", f"--answers={answers}", "--auto", path, code=2)
        expect_in("is not 1 to 2, stop or default", done.stderr)
        expect_equal("output", done.stdout, "")
    setup.run("diagnose", "--answers=stop", path, code=1)


def test_an_open_question_says_how_to_go_on(setup):
    path = two_hangs(setup)
    done = setup.run("diagnose", path, code=3)
    expect_in(QUESTION, done.stdout)
    expect_in("[default: the longest]", done.stdout)
    for _ in range(50):
        command = next(line for line in done.stdout.splitlines() if "--answers=" in line).strip()
        words = shlex.split(re.sub(r"N$", "default" if "=N" not in command else "2", command))
        expect_equal("command", words[0], "argus")
        done = setup.run(*words[1:])
        if done.returncode != 3:
            break
    expect_equal("exit code in the end", done.returncode, 0)
    expect_in("editor0", done.stdout)


def test_json_stays_json_when_a_question_is_open(setup):
    done = setup.run("diagnose", "--json", two_hangs(setup), code=3)
    expect(not done.stdout or json.loads(done.stdout), "what is printed is no JSON")
    expect_in(QUESTION, done.stderr)


def test_prompt(setup):
    terminal = Terminal([setup.argus, "diagnose", two_hangs(setup)])
    try:
        terminal.wait_for(QUESTION)
        terminal.wait_for(PROMPT)
        terminal.send("7\r")  # there is no option 7, so it asks again
        terminal.wait_for(PROMPT, count=2)
        terminal.send("1\x7f2\r")  # edited: 1 is deleted, then 2
        expect_equal("exit code", terminal.end_with_defaults(PROMPT, 2), 0)
        expect_in("editor0", terminal.text.split(QUESTION)[-1].split(PROMPT)[-1])
    finally:
        terminal.close()


def test_interrupt_and_end_of_input_leave_it_open(setup):
    for key in "\x03", "\x04":
        for term in "vt100", "dumb":
            terminal = Terminal([setup.argus, "diagnose", two_hangs(setup)], TERM=term)
            try:
                terminal.wait_for(PROMPT)
                terminal.send(key)
                expect_equal(f"exit code after {key!r} with TERM={term}", terminal.end(), 3)
                expect_in("To go on", terminal.text)
            finally:
                terminal.close()


def test_no_ask(setup):
    terminal = Terminal([setup.argus, "diagnose", "--no-ask", two_hangs(setup)])
    try:
        expect_equal("exit code", terminal.end(), 3)
        expect(PROMPT not in terminal.text, "--no-ask asks")
    finally:
        terminal.close()


main()
