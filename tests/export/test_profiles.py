"""`argus graph export` for pprof and the Firefox Profiler: decoded here by the published field numbers and members, and read by
`go tool pprof` where Go is installed."""
import glob
import gzip
import json
import os
import re
import subprocess
import sys

sys.path[:0] = [__file__.rsplit("/", 2)[0] + "/plugin", __file__.rsplit("/", 2)[0] + "/contexts"]
from context_scene import LOAD, MAIN, Scene  # noqa: E402
from harness import expect, expect_equal, expect_in, freezes, main  # noqa: E402
from wire import message, numbers  # noqa: E402

VALUES = ["samples", "cpu", "waits"]
INNER, OUTER = f"code+{LOAD:#x}", f"code+{MAIN:#x}"


def sampled():
    """alpha runs for 100 ms with two samples, below main in load, and waits for 50 ms."""
    scene = Scene()
    scene.at(0, "switch state=R next=100", tid=0)
    for at in 20, 60:
        scene.at(at, f"sample pc={LOAD:#x} user={scene.stack(MAIN, LOAD)}")
    scene.at(99, "syscall_start nr=read arg1=5")
    scene.at(99.5, f"stack user={scene.stack(MAIN, LOAD)} why=block")
    scene.at(100, "switch state=S next=0")
    scene.at(150, "make_runnable thread=100 priority=120", cpu=1, tid=0)
    scene.at(150.5, "switch state=R next=100", tid=0)
    scene.at(151, "syscall_end nr=read result=1")
    scene.at(160, "switch state=S next=0")
    return scene.text()


def export(setup, trace, name, *words):
    path = setup.folder / name
    setup.run("graph", "export", *words, trace, "-o", path, code=0)
    return path


def pprof(path):
    """(names of the stack from the innermost on, values, labels) of each sample."""
    profile = message(gzip.decompress(path.read_bytes()))
    strings = [text.decode() for text in profile[6]]
    expect_equal("first string", strings[0], "")
    expect_equal("types", [strings[message(kind)[1][0]] for kind in profile[1]], VALUES)
    functions = {one[1][0]: strings[one[2][0]] for one in map(message, profile[5])}
    locations = {}
    mappings = {message(one)[1][0] for one in profile.get(3, [])}
    for one in map(message, profile[4]):
        locations[one[1][0]] = functions[message(one[4][0])[1][0]]
        expect(one.get(2, [0])[0] in mappings | {0}, "a location is in an unknown mapping")
    for one in map(message, profile[2]):
        labels = {}
        for label in map(message, one[3]):
            labels[strings[label[1][0]]] = strings[label[2][0]] if 2 in label else label.get(3, [0])[0]
        yield [locations[number] for number in numbers(one[1])], dict(zip(VALUES, numbers(one[2]))), labels


def test_pprof(setup):
    path = export(setup, setup.trace("sampled", sampled()), "out.pb.gz")
    samples = list(pprof(path))
    on_cpu = [one for one in samples if one[1]["samples"]]
    expect_equal("sampled stacks", [(stack, values["samples"]) for stack, values, _ in on_cpu], [([INNER, OUTER], 2)])
    expect_equal("labels", on_cpu[0][2], {"process": "alpha", "thread": "alpha", "pid": 100, "tid": 100})
    waits = [(stack, values["waits"]) for stack, values, _ in samples if values["waits"] and len(stack) == 3]
    expect_equal("waits", waits, [(["[waits: read]", INNER, OUTER], 50_000_000)])
    vertices = json.loads(setup.run("graph", "find", setup.folder / "sampled.argus", "--json", code=0).stdout)["vertices"]
    expect_equal("sum of the time on a CPU", sum(values["cpu"] for _, values, _ in samples), sum(v["run_ns"] for v in vertices))


def test_long_names(setup):
    """Those of C++ templates have thousands of bytes; two may differ only at their end."""
    long = "std::variant<" + "std::basic_string<char>, " * 90
    named = sampled() + "".join(f"name pid 100 place {place:#x} function \"{long}{place}>\"\n" for place in (LOAD, MAIN - 1))
    stack = next(stack for stack, values, _ in pprof(export(setup, setup.trace("long", named), "out.pb.gz")) if values["samples"])
    expect_equal("names", stack, [f"{long}{LOAD}>", f"{long}{MAIN - 1}>"])


def test_go_reads_it(setup):
    tools = glob.glob("/usr/lib/go-*/pkg/tool/*/pprof")  # `go tool` of some versions compiles it first, which takes minutes
    if not tools:
        print("not tried with go tool pprof: Debian's golang-go is not installed")
        return
    path = export(setup, setup.trace("sampled", sampled()), "out.pb.gz")
    done = subprocess.run([tools[-1], "-top", "-unit=ms", str(path)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "HOME": str(setup.folder), "PPROF_TMPDIR": str(setup.folder)})
    expect_equal("exit code", (done.returncode, done.stderr if done.returncode else ""), (0, ""))
    expect_in("Type: cpu", done.stdout)
    expect(re.search(rf"[1-9]\d*ms .*{re.escape(INNER)}", done.stdout), done.stdout)


def check_table(table, what):
    for name, column in table.items():
        if isinstance(column, list):
            expect_equal(f"{what}.{name}: rows", len(column), table["length"])


def check_thread(thread):
    for name in "samples", "markers", "stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols":
        check_table(thread[name], name)
    stacks, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]
    for at, (frame, prefix) in enumerate(zip(stacks["frame"], stacks["prefix"])):
        expect(frame < frames["length"] and (prefix is None or prefix < at), "a stack before its callers")
    expect(all(number < functions["length"] for number in frames["func"]), "a frame without a function")
    expect(all(number < len(thread["stringArray"]) for number in functions["name"] + thread["markers"]["name"]), "a name without text")
    expect(all(stack < stacks["length"] for stack in thread["samples"]["stack"]), "a sample without a stack")
    expect(thread["samples"]["time"] == sorted(thread["samples"]["time"]), "samples are not in order")


def names(thread, stack):
    while stack is not None:
        yield thread["stringArray"][thread["funcTable"]["name"][thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]]]
        stack = thread["stackTable"]["prefix"][stack]


def test_firefox(setup):
    profile = json.loads(export(setup, setup.trace("sampled", sampled()), "out.profile.json").read_text(encoding="utf-8"))
    expect_equal("version", profile["meta"]["preprocessedProfileVersion"], 46)
    thread, = [one for one in profile["threads"] if one["pid"] == "100"]
    check_thread(thread)
    expect_equal("times", thread["samples"]["time"], [20, 60])
    expect_equal("stacks", [list(names(thread, stack)) for stack in thread["samples"]["stack"]], [[INNER, OUTER]] * 2)
    wait = [(data["on"], end - start) for data, start, end in zip(thread["markers"]["data"], thread["markers"]["startTime"],
                                                                 thread["markers"]["endTime"]) if data["type"] == "wait"][0]
    expect_equal("wait", (wait[0], round(wait[1])), ("read fd 5", 50))


def test_hangs(setup):
    path = export(setup, setup.trace("freeze", freezes(3000, 2500)), "freeze.firefox.json")
    profile = json.loads(path.read_text(encoding="utf-8"))
    for thread in profile["threads"]:
        check_thread(thread)
    hangs = {thread["name"]: data["why"] for thread in profile["threads"] for data in thread["markers"]["data"] if data["type"] == "hang"}
    expect_equal("threads that hang", set(hangs), {"editor0", "editor1"})
    expect_in("because it waited for helper1", hangs["editor1"])
    expect(list(pprof(export(setup, setup.folder / "freeze.argus", "freeze.pb.gz"))), "no stacks")


if __name__ == "__main__":
    main()
