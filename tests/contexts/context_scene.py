"""Small traces with call stacks for `argus contexts`, and the means to check its answers."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "diagnose"))

from schema import mismatches  # noqa: E402

SCHEMA = json.loads((HERE.parents[1] / "docs/schema/contexts.json").read_text())
MAIN, PARSE, LOAD, SAVE = 0x5501, 0x5502, 0x5503, 0x5504


# A file whose functions have no names: they are "code+0x5501", which the tests read as "0x5501".
CODE = "/nowhere/code"
MADE = "[code made at run time]"


def image(pid, start=0x5000, end=0x6000):
    return f"image pid {pid} start {start:#x} end {end:#x} offset {start:#x} path {CODE}"


class Scene:
    """One thread of `name` that calls functions. Each call leaves a stack at its beginning and one at its end."""

    def __init__(self, name="alpha", pid=100):
        self.lines = ["cpus 2", f"thread {pid} pid {pid} name {name}", image(pid)]
        self.stacks, self.time, self.tid = {}, 0, pid

    def at(self, time_ms, text, cpu=0, tid=None):
        self.lines.append(f"{time_ms}ms cpu{cpu} t{self.tid if tid is None else tid} {text}")

    def stack(self, *functions):
        return self.stacks.setdefault(functions, len(self.stacks) + 1)

    def calls(self, length_ms, *functions):
        """Two records of this stack: now, and `length_ms` later."""
        for _ in range(2):
            self.at(self.time, f"stack user={self.stack(*functions)} why=call")
            self.time += length_ms
        self.time -= length_ms
        return self

    def text(self):
        frames = [f"stack {number} " + " ".join(map(hex, reversed(stack))) for stack, number in self.stacks.items()]
        return "\n".join(self.lines + frames) + "\n"


def usual():
    return Scene().calls(10, MAIN, PARSE).calls(5, MAIN, LOAD).calls(3, MAIN, SAVE)


def slow():
    return Scene().calls(11, MAIN, PARSE).calls(95, MAIN, LOAD).calls(3, MAIN, SAVE)


class Setup:
    def __init__(self, mktrace, argus, folder, *files):
        self.mktrace, self.argus, self.folder, self.count, self.files = mktrace, argus, folder, 0, files

    def make(self, scene):
        self.count += 1
        text = self.folder / f"scene{self.count}.trace"
        text.write_text(scene if isinstance(scene, str) else scene.text())
        subprocess.run([self.mktrace, text, text.with_suffix(".argus")], check=True)
        return str(text.with_suffix(".argus"))

    def run(self, *words, code=0):
        done = subprocess.run([self.argus, "contexts", "--no-cache", *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {done.stderr}"
        done.stdout = done.stdout.replace("code+0x", "0x")
        return done

    def json(self, *words):
        answer = json.loads(self.run("--json", *words).stdout)
        wrong = mismatches(answer, SCHEMA)
        assert not wrong, f"not as docs/schema/contexts.json says: {wrong}"
        return answer


def equal(what, found, expected):
    assert found == expected, f"{what}: {found!r}, not {expected!r}"


def names(path):
    return [function["function"] for function in path["functions"]]


WAIT = """cpus 2
thread 100 pid 100 name alpha
thread 200 pid 200 name beta
stack 1 0x5503 0x5501
stack 2 0x6603 0x6601
0 cpu0 t0 switch state=R next=100
1ms cpu0 t100 syscall_start nr=read arg1=5
1ms cpu0 t100 switch state=S next=0
1ms cpu0 t100 stack user=1 why=block
2ms cpu1 t0 switch state=R next=200
41ms cpu1 t200 make_runnable thread=100 context=task
41ms cpu1 t200 stack user=2 why=wake
42ms cpu0 t0 switch state=R next=100
42ms cpu0 t100 syscall_end nr=read result=1 pid=100
43ms cpu0 t100 sample user=1 pc=0x5503
50ms cpu1 t200 sample user=2 pc=0x6603
"""


def text_lines(setup, trace, text, *words):
    return sum(text in line for line in setup.run(*words, trace).stdout.splitlines())


def folded(setup, *words):
    return dict(line.split(" ", 1) for line in setup.run("--format=folded", *words).stdout.splitlines())


def paths(answer):
    nodes, found = {node["node"]: node for node in answer["tree"]}, {}
    for node in answer["tree"]:
        path, at = [], node
        while at["parent"] in nodes:
            path.insert(0, at["function"])
            at = nodes[at["parent"]]
        if node["count"]:
            found["/".join(path)] = node["count"]
    return found
