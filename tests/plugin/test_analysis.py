"""The analysis commands on one known trace: each gives the right answer and accepts its options."""
import collections
import json
import os
import re
import stat
import subprocess

from harness import expect, expect_equal, expect_in, freezes, main


def one_hang(setup):
    return setup.trace("one", freezes(3000))


def objects(answer, *names):
    """The list in a JSON answer, whatever its name."""
    return next((answer[name] for name in names if name in answer), answer)


def find(setup, path, *words):
    answer = json.loads(setup.run("graph", "find", "--json", *words, path, code=0).stdout)
    return objects(answer, "vertices") if isinstance(answer, dict) else answer


def test_graph(setup):
    path = one_hang(setup)
    expect_in("vertices", setup.run("graph", path, code=0).stdout)
    expect_equal("type of --json", type(json.loads(setup.run("graph", "--json", path, code=0).stdout)), dict)


def test_graph_find(setup):
    path = one_hang(setup)
    everything = find(setup, path)
    long = find(setup, path, "--longer-than=2900ms", "--process=editor0")
    expect_equal("long waits of the editor", [v["process"] for v in long], ["editor0"])
    expect(long[0]["wait_ns"] >= 2900 * 10**6, f"its wait is short: {long[0]}")
    moment = long[0]["start_ns"] - everything_start(everything)
    covering = find(setup, path, f"--time=+{moment + 10**9}ns", "--thread=100")
    expect_equal("vertex at that time", [v["id"] for v in covering], [long[0]["id"]])
    expect_equal("by pid", {v["pid"] for v in find(setup, path, "--pid=101")}, {101})
    expect_equal("by name of the thread", {v["tid"] for v in find(setup, path, "--thread=input0")}, {102})
    expect_equal("limit", len(find(setup, path, "--limit=3")), 3)
    expect_in("did you mean 'editor0'", setup.run("graph", "find", "--process=editr0", path, code=1).stderr)
    expect_in("did you mean 'editor0'", setup.run("graph", "find", "--thread=editr0", path, code=1).stderr)
    setup.run("graph", "find", "--time=noon", path, code=2)
    expect_in("--from is later than --to", setup.run("graph", "find", "--from=+2s", "--to=+1s", path, code=2).stderr)
    expect_in("no vertex meets all conditions", setup.run("graph", "find", "--longer-than=1000s", path, code=0).stderr)


def everything_start(vertices):
    return min(v["start_ns"] for v in vertices)


def test_graph_find_stretch(setup):
    path = one_hang(setup)
    everything = find(setup, path)
    start = everything_start(everything)
    early = find(setup, path, "--to=+1s")
    late = find(setup, path, "--from=+1s")
    expect_equal("before", [v for v in everything if v["start_ns"] < start + 10**9], early)
    known = {v["id"] for v in everything if end_of(v)}  # the end of the other vertices is unknown
    expect_equal("ends behind it", [v for v in everything if end_of(v) > start + 10**9], [v for v in late if v["id"] in known])
    expect_in("--time sets both ends of the range", setup.run("graph", "find", "--time=+1s", "--to=+2s", path, code=2).stderr)


def end_of(vertex):
    took_ns = vertex["run_ns"] + vertex["runnable_ns"] + vertex["wait_ns"]
    return took_ns and vertex["start_ns"] + took_ns


def test_graph_export(setup):
    """Each vertex is a slice on its thread's track, and each end of an edge is inside a slice, because viewers drop other edges."""
    path = one_hang(setup)
    everything = find(setup, path)
    events = json.loads(setup.run("graph", "export", path, code=0).stdout)["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    segments = [event for event in slices if event["cat"] == "segment"]
    expect_equal("vertices", sorted(event["name"].split()[0] for event in segments), sorted(v["id"] for v in everything))
    expect_equal("waits", len(slices) - len(segments), sum(v["wait_on"] is not None for v in everything))
    expect("LongWait" in " ".join(event["name"] for event in segments), "the hang has no type")
    flows = collections.Counter(event["id"] for event in events if event["ph"] in "sf")
    expect(flows and set(flows.values()) == {2}, f"an edge has two ends: {flows}")
    for end in (event for event in events if event["ph"] in "sf"):
        tracks = [s for s in slices if (s["pid"], s["tid"]) == (end["pid"], end["tid"])]
        expect(any(s["ts"] <= end["ts"] <= s["ts"] + s["dur"] for s in tracks), f"no slice encloses {end}")


def test_graph_export_dot(setup):
    path = one_hang(setup)
    long = find(setup, path, "--longer-than=2900ms", "--process=editor0")[0]["id"]
    text = setup.run("graph", "export", "--format=dot", f"--around={long}", "--hops=1", path, code=0).stdout
    drawn = subprocess.run(["dot", "-Tdot_json"], input=text, capture_output=True, text=True, check=True)
    picture = json.loads(drawn.stdout)
    names = [item["name"] for item in picture["objects"] if item["name"].startswith("v")]
    expect(long in names and 1 < len(names) < len(find(setup, path)), f"{long} and its neighbours: {names}")
    expect(any("editor0 [100]" in item.get("label", "") for item in picture["objects"]), "its thread has no frame")
    expect(picture["edges"], "no edge is drawn")
    few = setup.run("graph", "export", "--format=dot", "--limit=2", path, code=0)
    expect_in("vertices written: --limit=N writes more", few.stderr)
    expect_in("edges lead out of the part", few.stderr)
    setup.run("graph", "export", "--hops=2", path, code=2)
    setup.run("graph", "export", "--format=png", path, code=2)


def test_graph_show(setup):
    path = one_hang(setup)
    long = find(setup, path, "--longer-than=2900ms", "--process=editor0")[0]
    name = f"v{str(long['id']).lstrip('v')}"
    expect_in(name, setup.run("graph", "show", path, name, code=0).stdout)
    expect_in("editor0", setup.run("graph", "show", "--json", path, name, code=0).stdout)
    expect_in("no vertex v99999", setup.run("graph", "show", path, "v99999", code=1).stderr)
    expect_in("is not a vertex", setup.run("graph", "show", path, "12", code=2).stderr)
    setup.run("graph", "show", path, "v99999999999999999999999", code=1)


ASTRAY = """cpus 1
thread 10 pid 10 ppid 1 name waits
image pid 10 start 0x5000 end 0x6000 path /nowhere/waits
stack 1 0x5010 0x5020 0x7ffc12345678 0x5030
0     cpu0 t0  switch state=R next=10
+1ms  cpu0 t10 syscall_start nr=read arg1=3
+1us  cpu0 t10 stack user=1 why=block
+0    cpu0 t10 switch state=S next=0
+9ms  cpu0 t0  switch state=R next=0
"""


def test_a_stack_ends_where_there_is_no_code(setup):
    """Frame pointers of code that keeps none lead to data."""
    trace = setup.trace("astray", ASTRAY)
    shown = setup.run("graph", "show", trace, "v0", code=0).stdout
    expect_in("[the stack goes on: no frame pointers lead there]", shown)
    expect("7ffc12345678" not in shown and "0x30" not in shown, shown)


def test_hangs(setup):
    path = one_hang(setup)
    expect_in("editor0", setup.run("hangs", path, code=0).stdout)
    expect(setup.run("hangs", "--threshold=4s", path, code=0).stdout.startswith("No hangs: "), "--threshold does nothing")
    expect_in("no process 'nobody'", setup.run("hangs", "--process=nobody", path, code=1).stderr)
    expect_in("no process with pid 999", setup.run("hangs", "--pid=999", path, code=1).stderr)
    expect_in("no thread with tid 999", setup.run("hangs", "--tid=999", path, code=1).stderr)


def test_slice_and_similar(setup):
    path = one_hang(setup)
    long = find(setup, path, "--longer-than=2900ms", "--process=editor0")[0]
    vertex = f"v{str(long['id']).lstrip('v')}"
    json.loads(setup.run("slice", "--auto", "--json", path, vertex, code=0).stdout)
    setup.run("slice", "--auto", path, vertex, code=0)
    expect_in("editor0", setup.run("similar", path, vertex, code=0).stdout)
    json.loads(setup.run("similar", "--json", "--limit=2", path, vertex, code=0).stdout)


def test_diagnose(setup):
    path = one_hang(setup)
    answer = json.loads(setup.run("diagnose", "--auto", "--json", path, code=0).stdout)
    expect_equal("who hung", answer["hang"]["process"], "editor0")
    expect_equal("who caused it", answer["root_causes"][0]["process"], "helper0")
    expect_equal("lost", answer["trace"]["lost"], 0)
    expect_in("helper0", setup.run("diagnose", "--auto", "--process=editor0", path, code=0).stdout)
    expect_in("no event loop", setup.run("diagnose", "--auto", "--threshold=100s", path, code=1).stderr)
    expect_in("'argus hangs' lists 1", setup.run("diagnose", "--auto", path, "2", code=1).stderr)
    expect_in("neither a vertex", setup.run("diagnose", "--auto", path, "first", code=2).stderr)


def test_what_a_trace_cannot_tell(setup):
    """Each answer states which records it lacks, and only those that matter to it."""
    notes = ('note "perf_event cannot record messages: no message edges"\n'
             'note "recorded by perf_event, because this kernel has no BTF"\n'
             'note "this kernel has no tracepoint block_rq_issue: no edges of disks"\n')
    path, whole = setup.trace("limited", freezes(3000) + notes), one_hang(setup)
    reason = "(recorded through perf_event: this kernel has no BTF)"
    for words in ["diagnose", "--auto"], ["hangs"], ["messages"], ["slice", "--auto"]:
        more = ["v1"] if words[0] == "slice" else []
        text = " ".join(setup.run(*words, path, *more, code=0).stdout.split())
        expect_in("because this trace has no messages " + reason, text)
        expect("cannot tell" not in setup.run(*words, whole, *more, code=0).stdout, f"{words}: nothing is missing")
        limits = json.loads(setup.run(*words, "--json", path, *more, code=0).stdout)["limits"]
        expect_equal(f"{words}: the first limit", (limits[0]["missing"], limits[0]["partly"]), ("messages", False))
        expect_equal(f"{words}: none", json.loads(setup.run(*words, "--json", whole, *more, code=0).stdout)["limits"], [])
    limits = json.loads(setup.run("diagnose", "--auto", "--json", path, code=0).stdout)["limits"]
    expect("block" not in [limit["missing"] for limit in limits], "nobody waited for a disk")
    expect_in("missing    messages\nmissing    some records of: disk requests", setup.run("info", path, code=0).stdout)


def test_same_bytes_each_time(setup):
    path = one_hang(setup)
    for words in ["diagnose", "--auto", path], ["diagnose", "--auto", "--json", path], ["hangs", path], ["schema", path]:
        expect_equal(f"second run of {words[0]}", setup.run(*words, code=0).stdout, setup.run(*words, code=0).stdout)


def test_schema(setup):
    path = one_hang(setup)
    expect(len(setup.run("schema", path, code=0).stdout.splitlines()) > 5, "hardly any rules")
    json.loads(setup.run("schema", "--json", path, code=0).stdout)


def members_of_man(setup, command):
    """The members that the section JSON of its man page names for a command."""
    page = setup.source / f"docs/man/commands/argus-{command.split()[0]}.md"
    text = page.read_text().split("# JSON\n")[1].split("\n# ")[0]
    definition = re.search(rf"^\*\*argus {command}\*\*\n: (.*?)(?:\n\n|\Z)", text, re.M | re.S)
    return set(re.findall(r"(?<!\*)\*(\w+)\*(?!\*)", definition.group(1) if definition else text))


def test_json_has_the_members_of_the_man_page(setup):
    path = one_hang(setup)
    vertex_object = set(find(setup, path, "--limit=1")[0])
    for words, base in [(["info"], set()), (["verify"], set()), (["graph"], set()), (["graph", "find"], set()),
                        (["graph", "check"], set()), (["graph", "stats"], set()),
                        (["hangs"], set()), (["schema"], set()), (["diagnose", "--auto"], set()),
                        (["graph", "show", path, "v1"], vertex_object), (["slice", "--auto", path, "v1"], set()),
                        (["similar", path, "v1"], set())]:
        command = " ".join(w for w in words if isinstance(w, str) and w.isalpha())
        if path not in words:
            words = words + [path]
        answer = json.loads(setup.run(*words, "--json", code=0).stdout)
        expect_in("argus-", answer["format"])  # argus(1) says that every answer has it
        expect_equal(f"members of argus {command}", sorted(set(answer) - base - {"format"}),
                     sorted(members_of_man(setup, command) - {"format"}))
    first = json.loads(setup.run("dump", "--json", "-n1", path, code=0).stdout)
    expect_equal("members of argus dump", set(first) - {"format"}, members_of_man(setup, "dump"))
    expect_equal("members of argus version", set(json.loads(setup.run("version", "--json", code=0).stdout)) - {"format"},
                 members_of_man(setup, "version"))


def test_debug_starts_lldb_with_plugin_and_trace(setup):
    path = one_hang(setup)
    fake = setup.folder / "fake lldb"
    fake.write_text('#!/bin/sh\nfor word in "$@"; do echo "<$word>"; done\n')
    os.chmod(fake, stat.S_IRWXU)
    done = setup.run("debug", "--batch", "-o", "argus hangs", "-o", "argus info", path, code=0, ARGUS_LLDB=str(fake),
                     ARGUS_PLUGIN=str(setup.argus))  # any file: a build under a sanitizer has no plugin
    expect_equal("words", done.stdout.splitlines(),
                 ["<--batch>", "<-o>", f'<plugin load "{setup.argus}">', "<-o>", f'<argus load "{path}">',
                  "<-o>", "<argus hangs>", "<-o>", "<argus info>"])
    expect_in("no lldb in PATH", setup.run("debug", path, code=1, PATH=str(setup.folder), ARGUS_LLDB="").stderr)
    expect_in("/nosuch", setup.run("debug", path, code=1, ARGUS_LLDB="/nosuch").stderr)
    expect_in("No such file", setup.run("debug", "nosuch.argus", code=1).stderr)


def test_the_hang_by_an_option(setup):
    path = setup.trace("by_option", freezes(3000, 2500))
    expect_equal("--hang 2", setup.run("diagnose", path, "--hang", "2", "--auto", code=0).stdout,
                 setup.run("diagnose", path, "2", "--auto", code=0).stdout)
    expect_in("given twice: '1' and --hang=2", setup.run("diagnose", path, "1", "--hang=2", code=2).stderr)
    expect_in("no hang 9: 'argus hangs' lists 2", setup.run("diagnose", path, "--hang=9", code=1).stderr)


def test_no_hangs_says_what_was_looked_at(setup):
    path = setup.trace("quick", freezes(1500, 700))
    text = setup.run("hangs", path, code=0).stdout
    expect_in("No hangs: no event loop was away from its wait for 2.00 s or longer.\n", text)
    expect_in("     1.50 s  editor0 [100], from ", text)
    expect_in(": away for less than 2.00 s; --threshold lists it\n     700 ms  editor1 [110], from ", text)
    expect_in("why they do not count:\n     700 ms  editor1 [110], from ", setup.run("hangs", "--process=editor1", path, code=0).stdout)
    expect_in(": idle in its wait for input\n", text)
    still = setup.trace("still", "cpus 1\nthread 5 pid 5 ppid 1 name still\n1ms cpu0 t5 switch state=S next=0\n")
    text = setup.run("hangs", still, code=0).stdout
    expect_in("No event loop was recognised: ", text)
    expect("No hangs" not in text, text)


COMMAND = """cpus 1
note "the recorded command: pid 5"
thread 5 pid 5 ppid 1 name command
thread 6 pid 6 ppid 5 name child
1ms cpu0 t0 switch state=R next=5
2ms cpu0 t5 syscall_start nr=nanosleep arg1=5
2ms cpu0 t5 switch state=S next=0
{end}ms cpu0 t0 make_runnable thread=5 context=timer
{end}ms cpu0 t0 switch state=R next=5
{end}ms cpu0 t5 syscall_end nr=nanosleep result=0 pid=5
{end}ms cpu0 t5 thread_exit thread=5
"""


def test_without_a_hang_the_recorded_command_is_explained(setup):
    path = setup.trace("command", COMMAND.format(end=3000))
    done = setup.run("diagnose", path, "--auto", code=0)
    expect_in("no event loop hung: the recorded command is explained (pid 5)", done.stderr)
    expect_in("command's main thread was frozen for 3.00 s", done.stdout)
    for process in "5", "command":
        expect_equal(process, setup.run("diagnose", path, "--auto", f"--process={process}", code=0).stdout, done.stdout)
    quick = setup.trace("quick_command", COMMAND.format(end=100))
    expect_in("no event loop was away", setup.run("diagnose", quick, "--auto", code=1).stderr)
    unknown = setup.trace("no_command", COMMAND.format(end=3000).replace("recorded command", "weather"))
    expect_in("no event loop was away", setup.run("diagnose", unknown, "--auto", code=1).stderr)
    expect_in("no process '77'", setup.run("diagnose", path, "--process=77", code=1).stderr)


def test_graph_export_into_a_file(setup):
    path, out = setup.trace("export", freezes(3000)), setup.folder / "graph.json"
    done = setup.run("graph", "export", path, "-o", out, code=0)
    expect_equal("output", done.stdout, "")
    expect_equal("file", out.read_text(), setup.run("graph", "export", path, code=0).stdout)
    expect_equal("mode", out.stat().st_mode & 0o777, 0o600)
    out.write_text("precious")
    setup.run("graph", "export", path, "-o", out, "--around=v99999", code=1)
    expect_equal("after a failure", out.read_text(), "precious")
    done = setup.run("graph", "export", path, "-o", setup.folder / "no/such/file", code=1)
    expect_in("no/such/file: No such file", done.stderr)


def test_contexts_of_no_process(setup):
    path = setup.trace("nobody", 'cpus 1\nnote "nothing was recorded"\n')
    done = setup.run("contexts", path, code=1)
    expect_equal("error", done.stderr, f"argus: {path} has no processes\n")


def test_a_claim_of_too_many_records(setup):
    lines = ["cpus 1", *[f"{1000 * i} cpu0 t10 switch state=S next={11 + i}" for i in range(400000)]]
    path = setup.trace("claim", "\n".join(lines) + "\n")
    for words in (["info"], ["dump"], ["hangs"], ["diagnose", "--auto"], ["contexts"], ["graph"], ["messages"]):
        done = setup.run(*words, path, code=1, ARGUS_MEMORY="")
        error = done.stderr.splitlines()[-1]  # a slow machine tells its progress before
        expect(error.startswith(f"argus: {path}: offset "), done.stderr)
        expect_in("set ARGUS_MEMORY (such as 8G) if you trust this file", done.stderr)
    setup.run("info", path, code=0, ARGUS_MEMORY="4G")
    done = setup.run("graph", "--no-cache", path, code=1, ARGUS_MEMORY="64M")
    expect_in("this file needs more memory than the 67 MB of ARGUS_MEMORY", done.stderr)


main()
