"""Questions at LLDB's own prompt."""
import json
import re

from harness import Terminal, expect, expect_equal, expect_in, freezes, main

QUESTION = "Which hang is to be explained?"
PROMPT = "or Enter for"


def two_hangs(setup):
    path = setup.trace("two", freezes(3000, 4000))
    path.with_name("two.argus.answers").unlink(missing_ok=True)
    return path


def lldb_at_a_prompt(setup):
    path = two_hangs(setup)
    terminal = Terminal([setup.lldb(), "--no-lldbinit", "--no-use-colors"])
    terminal.wait_for("(lldb)")
    terminal.send(f'plugin load "{setup.plugin}"\r')
    terminal.send(f"argus load {path}\r")
    terminal.wait_for("vertices")
    return terminal


def test_answer_at_the_prompt(setup):
    terminal = lldb_at_a_prompt(setup)
    try:
        terminal.send("argus diagnose\r")
        terminal.wait_for(QUESTION)
        terminal.wait_for(PROMPT)
        terminal.send("9\r")
        terminal.wait_for(PROMPT, count=2)
        terminal.send("2\r")
        terminal.text = ""
        terminal.send("stop\r" * 3)  # answers all further questions; LLDB itself would not know this command
        terminal.wait_for("editor0")
        terminal.text = ""
        terminal.send("argus version\r")  # LLDB's own editing and commands still work
        terminal.wait_for("trace format")
        terminal.send("quit\r")
        expect_equal("exit code", terminal.end(), 0)
    finally:
        terminal.close()


def test_a_script_gets_json_only(setup):
    """Through HandleCommand, --json puts one JSON value on the output and nothing else; an open question is a failure."""
    path = two_hangs(setup)
    line = f"argus diagnose {path} --json"
    text = setup.run_lldb(f"script r = lldb.SBCommandReturnObject(); lldb.debugger.GetCommandInterpreter().HandleCommand({line!r}, r); "
                          "print('GOT', r.Succeeded(), r.GetOutput().encode().hex())")
    succeeded, output = re.search("GOT (True|False) ([0-9a-f]*)", text).groups()
    answer = json.loads(bytes.fromhex(output))
    expect_equal("success", succeeded, "False")
    expect_in("Which hang", answer["questions"][-1]["text"])
    expect_equal("answer", answer["questions"][-1]["answer"], None)


def test_interrupt_cancels_the_question_only(setup):
    terminal = lldb_at_a_prompt(setup)
    try:
        terminal.send("argus diagnose\r")
        terminal.wait_for(PROMPT)
        terminal.send("\x03")
        terminal.wait_for("To go on", "Interrupted")  # LLDB 14 and 16 drop the output of an interrupted command
        terminal.send("argus version\r")
        terminal.wait_for("trace format")
        terminal.send("quit\r")
        expect_equal("exit code", terminal.end(), 0)
    finally:
        terminal.close()


def test_more_about_an_option_and_stop(setup):
    terminal = lldb_at_a_prompt(setup)
    try:
        terminal.send("argus diagnose\r")
        terminal.wait_for(PROMPT)
        terminal.send("? 2\r")
        terminal.wait_for("v60")
        terminal.wait_for(PROMPT, count=2)
        terminal.send("b\r")
        terminal.wait_for("This is the first question")
        terminal.wait_for(PROMPT, count=3)
        terminal.send("s\r")
        terminal.wait_for("no hang was chosen")
        terminal.send("quit\r")
        expect_equal("exit code", terminal.end(), 0)
    finally:
        terminal.close()


def test_answer_and_undo_in_a_batch(setup):
    path = two_hangs(setup)
    output = setup.run_lldb(f"argus load {path}", "argus diagnose", "argus answer 2", "argus answers", "argus undo",
                            "argus answer default")
    pieces = [output.find(piece) for piece in
              (QUESTION, "argus answer N", "editor0's main thread", "argus diagnose\n", "editor1's main thread")]
    expect(-1 not in pieces and pieces == sorted(pieces), f"not in this order: {pieces}\n{output}")


def test_the_same_answers_give_the_same_output_everywhere(setup):
    path = two_hangs(setup)
    listed = setup.run("diagnose", "--answers=2", path, code=0).stdout
    expect_equal("a second time", setup.run("diagnose", "--answers=2", path, code=0).stdout, listed)
    output = setup.run_lldb(f"argus load {path}", "argus diagnose --answers=2")
    expect_in(listed.strip(), output)
    setup.run("diagnose", path, code=3)
    answered = setup.run("answer", path, "2", code=0).stdout
    expect_equal("answered", answered.replace("(you)", "(from the list of answers)"), listed)
    output = setup.run_lldb(f"argus load {path}", "argus diagnose")
    expect_in(answered.strip().replace("(you)", "(as answered before)"), output)


def test_commands_of_dash_o_are_not_taken_for_answers(setup):
    path = two_hangs(setup)
    terminal = Terminal([setup.lldb(), "--no-lldbinit", "--no-use-colors", "--batch",
                         "-o", f'plugin load "{setup.plugin}"', "-o", f"argus load {path}",
                         "-o", "argus diagnose", "-o", "argus version"])
    try:
        expect_equal("exit code", terminal.end(), 0)
        expect_in(QUESTION, terminal.text)
        expect_in("trace format", terminal.text)
    finally:
        terminal.close()


main()
