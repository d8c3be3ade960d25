"""argus schema list, add, remove, and --rules, on traces that mktrace made."""
import json
import os
import pathlib
import shutil
import stat
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "plugin"))
from harness import expect, expect_equal, expect_in, main  # noqa: E402

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "graph/fixtures"


def home(setup, name):
    """A home folder without rules."""
    folder = setup.folder / f"home of {name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return {"HOME": str(folder), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""}


def fixture(setup, name):
    return setup.trace(name, (FIXTURES / f"{name}.trace").read_text())


def counts(setup, *words, **environment):
    """The user's rules of `schema list --json`: name → count."""
    rules = json.loads(setup.run("schema", "list", "--json", *words, code=0, **environment).stdout)["rules"]
    return {rule["name"]: rule["count"] for rule in rules if rule["user"]}


def test_list_without_a_trace(setup):
    where = home(setup, "alone")
    text = setup.run("schema", "list", code=0, **where).stdout
    expect_in("boundary.wait", text)
    expect_equal("user's rules", counts(setup, **where), {})
    expect_equal("schema", setup.run("schema", code=0, **where).stdout, text)
    rules = FIXTURES / "user_units.rules"
    expect_equal("given rules", counts(setup, "--rules", rules, **where),
                 {"user.begin:request_begin": None, "user.end:request_end": None, "user.begin:step": None})


def test_counts_of_a_trace(setup):
    where = home(setup, "counts")
    trace, rules = fixture(setup, "user_wakeups"), FIXTURES / "user_wakeups.rules"
    expect_equal("counts", counts(setup, "--rules", rules, trace, **where),
                 {"user.ignore-wakeups:log_*": 2, "user.weak-wakeups:Pool::kick": 1, "user.strong-wakeups:mutex_handover": 1,
                  "user.enqueue:mailbox_put": 1, "user.weak-wakeups:mutex_handover": 1})
    expect_equal("without", counts(setup, trace, **where), {})
    expect_equal("none", counts(setup, "--rules=none", trace, **where), {})


def test_why_a_rule_has_not_applied(setup):
    where = home(setup, "why")
    rules = setup.folder / "why.rules"
    rules.write_text("begin nowhere\nignore-wakeups from nobody\nbegin request_begin\nend request_end space=other\n")

    def why(trace):
        listed = json.loads(setup.run("schema", "list", "--json", "--rules", rules, trace, code=0, **where).stdout)["rules"]
        return {rule["user"]["function"]: (rule["user"]["why_not"], rule["user"]["probes"]) for rule in listed if rule["user"]}

    reasons = why(fixture(setup, "user_wakeups"))
    expect_in("record with this rule", reasons["nowhere"][0])
    expect_in("No call stack of a wake-up has it", reasons["nobody"][0])
    expect_in("has no call stacks", why(fixture(setup, "user_queue"))["nobody"][0])
    units = why(fixture(setup, "user_units"))
    expect_equal("an applied rule", units["request_begin"], (None, 1))
    expect_in("the rule never applied", units["request_end"][0])
    text = setup.run("schema", "list", "--rules", rules, fixture(setup, "user_units"), code=0, **where).stdout
    expect_in("No probe was at the function", text)


def test_add_and_remove(setup):
    where = home(setup, "add")
    kept = pathlib.Path(where["HOME"]) / ".config/argus/rules/user_queue.rules"
    trace = fixture(setup, "user_queue")
    expect_in("7 rules added", setup.run("schema", "add", FIXTURES / "user_queue.rules", code=0, **where).stdout)
    expect_equal("kept bytes", kept.read_bytes(), (FIXTURES / "user_queue.rules").read_bytes())
    expect_equal("mode", stat.S_IMODE(os.stat(kept).st_mode), 0o600)
    expect_equal("applied", counts(setup, trace, **where)["user.enqueue:job_push"], 3)
    # given rules replace the kept ones
    expect_equal("given", counts(setup, "--rules=none", trace, **where), {})
    # a file with the same name replaces the kept one
    setup.run("schema", "add", FIXTURES / "user_queue.rules", code=0, **where)
    other = setup.folder / "other.rules"
    other.write_text("begin elsewhere\nenqueue job_push in libjobs.so key=arg1\n")
    expect_in("line 2 of", setup.run("schema", "add", other, code=1, **where).stderr)
    other.write_text("begin elsewhere\n")
    setup.run("schema", "add", other, code=0, **where)
    expect_in("other.rules, user_queue.rules", setup.run("schema", "remove", "nosuch", code=1, **where).stderr)
    setup.run("schema", "remove", "user_queue.rules", code=0, **where)
    expect(not kept.exists(), "the file is still there")
    expect_equal("left", counts(setup, trace, **where), {"user.begin:elsewhere": 0})
    setup.run("schema", "remove", "../rules/other.rules", code=1, **where)


def test_mistakes(setup):
    where = home(setup, "mistakes")
    rules = setup.folder / "wrong.rules"
    rules.write_text("begin f\nenqueue g\n  sing h\nend i in\n")
    done = setup.run("schema", "add", rules, code=1, **where)
    for place, reason in ("2:1", "key=… is missing"), ("3:3", "no rule begins with"), ("4:7", "the library is missing"):
        expect_in(f"wrong.rules:{place}: ", done.stderr)
        expect_in(reason, done.stderr)
    expect_in("and 2 more mistakes", done.stderr)
    expect(not (pathlib.Path(where["HOME"]) / ".config/argus/rules/wrong.rules").exists(), "wrong rules were kept")
    trace = fixture(setup, "user_queue")
    expect_in("3:3", setup.run("graph", "--rules", rules, trace, code=1, **where).stderr)
    expect_in("No such file", setup.run("graph", "--rules", "nosuch", trace, code=1, **where).stderr)
    rules.write_text("# nothing\n")
    expect_in("has no rules", setup.run("schema", "add", rules, code=1, **where).stderr)
    hidden = setup.folder / ".hidden"
    hidden.write_text("begin f\n")
    expect_in("without a dot in front", setup.run("schema", "add", hidden, code=2, **where).stderr)
    # a kept file with errors disables only its own rules
    rules.write_text("begin f\n")
    setup.run("schema", "add", rules, code=0, **where)
    (pathlib.Path(where["HOME"]) / ".config/argus/rules/wrong.rules").write_text("sing\n")
    done = setup.run("graph", trace, code=0, **where)
    expect_in("none of its rules is used", done.stderr)


def test_rules_change_the_answer(setup):
    """The slice from the executor leads to the enqueuer, and does not without the rules."""
    where = home(setup, "slice")
    trace = fixture(setup, "user_wakeups")

    def path(*words):
        return json.loads(setup.run("slice", "--auto", "--json", *words, trace, "v7", code=0, **where).stdout)["path"]

    def reaches(steps):
        return any(step["vertex"]["process"] == "waker" for step in steps)

    expect(reaches(path("--rules=none")), "v7 was woken by the waker")
    expect(not reaches(path("--rules", FIXTURES / "user_wakeups.rules")), "the rule ignores that wake-up")


main()
