"""argus contexts against the algorithms of the paper, on random traces: same latencies in both modes, same costs.

    context_property.py MKTRACE ARGUS FOLDER [FIRST [COUNT]]

Seeds FIRST … FIRST + COUNT - 1. A failure prints its seed, and leaves the trace in FOLDER.
"""
import json
import random
import subprocess
import sys

from introperf_by_the_paper import pa_cct, ranked_paths
from seeds import run_seeds

MODES = ("conservative", "aggressive")
READ = "read"


class Trace:
    """Threads of one process, each on its own CPU, that call functions and make system calls at random."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.stacks, self.time = ["cpus 4"], {}, 1000
        self.recorded, self.known = [], []  # for each thread: (time, stack), without and with the moments of returns
        self.kinds = []  # for each thread: the kinds of what is known
        for cpu in range(self.random.randint(1, 3)):
            self.recorded.append([])
            self.known.append([])
            self.kinds.append([])
            self.lines.append(f"thread {100 + cpu} pid 100 name {'alpha' if cpu == 0 else 'helper'}")
        for _ in range(self.random.randint(1, 60)):
            self.act(self.random.randrange(len(self.recorded)))
        for stack, number in self.stacks.items():
            self.lines.append(f"stack {number} " + " ".join(reversed(stack)))

    def record(self, cpu, text):
        self.time += self.random.choice((0, 1, 7, 50, 1000))
        self.lines.append(f"{self.time} cpu{cpu} t{100 + cpu} {text}")

    def moment(self, cpu, stack, has_stack, kind="event"):
        if has_stack:
            self.recorded[cpu].append((self.time, stack))
        self.known[cpu].append((self.time, stack))
        self.kinds[cpu].append(kind)

    def new_stack(self):
        depth = self.random.randint(1, 6)
        return tuple(hex(0x1000 * self.random.randint(1, 3)) for _ in range(depth))

    def number(self, stack):
        return self.stacks.setdefault(stack, len(self.stacks) + 1)

    def act(self, cpu):
        stack = self.new_stack()
        number = self.number(stack)
        kind = self.random.randrange(4)
        if kind == 0:
            self.record(cpu, f"sample user={number} pc=0x1000")
            self.moment(cpu, stack, True, "sample")
        elif kind == 1:
            self.record(cpu, f"stack user={number} why=wake")
            self.moment(cpu, stack, True)
        else:
            self.call(cpu, stack, number, waits=kind == 3)

    def call(self, cpu, stack, number, waits):
        inside = stack + (READ,)
        self.record(cpu, "syscall_start nr=read arg1=5")
        has_stack = waits or self.random.random() < 0.8
        if has_stack and self.random.random() < 0.8:
            self.record(cpu, f"stack user={number} why=call")
            self.moment(cpu, inside, True)
        elif not waits:
            has_stack = False
        if waits:
            self.record(cpu, "switch state=S next=0")
            self.lines.append(f"{self.time} cpu{cpu} t{100 + cpu} stack user={number} why=block")
            self.moment(cpu, inside, True)
            self.time += 10
            self.lines.append(f"{self.time} cpu{cpu} t0 switch state=R next={100 + cpu}")
            self.moment(cpu, inside, False)
        self.record(cpu, "syscall_end nr=read result=1 pid=100")
        if has_stack:
            self.moment(cpu, inside, False)
            self.moment(cpu, stack, False, "user")  # the kernel's functions have returned


def contexts_of(answer):
    """Context → node of the JSON's tree, without program nodes."""
    paths, result = {0: None}, {}
    for node in answer["tree"]:
        parent = paths[node["parent"]]
        path = () if parent is None else parent + (node["function"],)
        paths[node["node"]] = path
        if path:
            result[path] = node
    return result


def common(left, right):
    """The functions that both paths have, from the outermost on."""
    length = 0
    while length < min(len(left), len(right)) and left[length] == right[length]:
        length += 1
    return left[:length]


class Shares:
    """A second implementation of libargus/context/sampled.c: context → what CPU samples add to its own time."""

    def __init__(self, trace):
        self.added, self.pools = {}, {}
        for moments, kinds in zip(trace.known, trace.kinds):
            # begins when the thread returns to its own code, or with a sample; ends with the next stack that is no sample, or the last sample
            stretch = None
            for moment, kind in zip(moments, kinds):
                if not stretch and kind == "sample":
                    stretch = [moment]
                if stretch:
                    stretch.append(moment)
                if kind == "user":
                    stretch = [moment]
                elif kind != "sample" and stretch:
                    self.pool(stretch)
                    stretch = None
            if stretch and len(stretch) > 1:
                self.pool([*stretch, stretch[-1]])
        for path, (ran, unseen, hits) in self.pools.items():
            if hits:
                self.add(path, -unseen)
            for hit in hits:
                self.add(hit, ran / len(hits))

    def add(self, path, time):
        self.added[path] = self.added.get(path, 0) + time

    def pool(self, stretch):
        path, ran, samples = common(stretch[0][1], stretch[-1][1]), stretch[-1][0] - stretch[0][0], [stack for _, stack in stretch[1:-1]]
        pool = self.pools.setdefault(path, [0, 0, []])
        pool[0] += ran
        pool[1] += 0 if samples else ran
        pool[2] += samples
        for (before, outer), (after, inner) in zip(stretch, stretch[1:]):
            if samples:
                self.add(common(outer, inner), before - after)


def share_differences(trace, answer):
    expected = Shares(trace).added
    for path, node in contexts_of(answer).items():
        if abs(node["sampled_ns"] - expected.get(path, 0)) > 60:  # each of at most 60 samples is rounded
            yield f"{path}: samples add {node['sampled_ns']} ns, not {expected.get(path, 0)}"


def node_differences(tree, ours):
    """The differences from `tree`, which the paper's algorithm made; `ours`: context → node."""
    for context in sorted(set(tree) ^ set(ours)):
        yield f"{context} is only in {'the slow one' if context in tree else 'argus'}"
    for context in sorted(set(tree) & set(ours)):
        for mode in MODES:
            slow, fast = getattr(tree[context], mode), ours[context]["inferred_ns"][mode]
            if (tree[context].count, slow) != (ours[context]["count"], fast):
                yield f"{context} {mode}: {tree[context].count} × {slow} ns, argus {ours[context]['count']} × {fast} ns"


def sum_differences(answer):
    """Nothing is dropped, and nothing counts twice: totals, waits, and the lives of threads."""
    children, mode = {}, answer.get("estimate")
    for node in answer["tree"]:
        children.setdefault(node["parent"], []).append(node)
    for node in answer["tree"]:
        for each in MODES:
            below = sum(child["total_ns"][each] for child in children.get(node["node"], []))
            if node["own_ns"][each] < 0 or node["own_ns"][each] != node["total_ns"][each] - below:
                yield f"{node['function']} {each}: own {node['own_ns'][each]}, total {node['total_ns'][each]}, callees {below}"
        if sum(node["waited_ns"].values()) > node["own_ns"][mode]:
            yield f"{node['function']}: waited {node['waited_ns']} of {node['own_ns'][mode]}"
        if node["count"] and abs(node["count"] * node["mean_ns"][mode] - node["total_ns"][mode]) > 1:
            yield f"{node['function']}: {node['count']} × {node['mean_ns'][mode]} is not {node['total_ns'][mode]}"
        if node["own_ns"]["conservative"] != node["inferred_ns"]["conservative"] + node["sampled_ns"] - sum(
                child["inferred_ns"]["conservative"] for child in children.get(node["node"], [])):
            yield f"{node['function']}: own time is not inferred plus sampled"
    for program in answer.get("programs", []):
        if sum(program["parts_ns"].values()) != program["thread_ns"] or min(program["parts_ns"].values()) < 0:
            yield f"the parts of {program} do not add up to its threads' lives"
    tops = sum(node["total_ns"][mode] for node in children.get(0, []))
    unseen = {"no_stack", "before", "after", "open", "lost"}
    inside = sum(ns for program in answer.get("programs", []) for part, ns in program["parts_ns"].items() if part not in unseen)
    inside -= sum(program["cpu_wait_without_stack_ns"] for program in answer.get("programs", []))
    if tops != inside:
        yield f"the tree has {tops} ns, the programs {inside} ns"


def differences(tree, answer):
    ours = contexts_of(answer)
    yield from node_differences(tree, ours)
    yield from sum_differences(answer)


def cost_differences(tree, base, mode, answer):
    expected = {path: cost for cost, path in ranked_paths(tree, base, mode)}
    found = {tuple(f["function"] for f in path["functions"]): path["cost_ns"] for path in answer["contexts"]}
    for path in sorted(set(expected) ^ set(found)):
        yield f"path {path} is only in {'the slow one' if path in expected else 'argus'}"
    for path in sorted(set(expected) & set(found)):
        if abs(expected[path] - found[path]) > 1:  # a sum of fractions is rounded
            yield f"cost of {path}, {mode}: {expected[path]}, argus {found[path]}"
    costs = [path["cost_ns"] for path in answer["contexts"]]
    if costs != sorted(costs, reverse=True):
        yield "not in the order of the costs"


class Case:
    def __init__(self, mktrace, argus, folder, seed):
        self.argus, self.traces, self.files = argus, [], []
        for name, seed_of_trace in (("now", seed), ("base", seed + 1000003)):
            trace, text = Trace(seed_of_trace), folder / f"{seed}-{name}.trace"
            text.write_text("\n".join(trace.lines) + "\n")
            file = text.with_suffix(".argus")
            subprocess.run([mktrace, text, file], check=True)
            self.traces.append(trace)
            self.files.append(file)

    def run(self, *options):
        command = [self.argus, "contexts", "--no-cache", "--json", "--tree", "--every", "--top=100000", *options,
                   str(self.files[0])]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=60).stdout)

    def check(self):
        now, base = self.traces
        if not any(now.recorded) or not any(base.recorded):
            return
        answer = self.run()
        yield from differences(pa_cct(now.known), answer)
        yield from share_differences(now, answer)
        trees = pa_cct(now.recorded), pa_cct(base.recorded)
        for mode in MODES:
            options = ("--no-returns", "--rank=mean", f"--mode={mode}")
            alone = self.run(*options)
            yield from differences(trees[0], alone)
            yield from cost_differences(trees[0], {}, mode, alone)
            yield from cost_differences(*trees, mode, self.run(*options, f"--base={self.files[1]}"))

    def remove(self):
        for file in self.files:
            file.unlink()
            file.with_suffix(".trace").unlink()


def check(mktrace, argus, folder, seed):
    case = Case(mktrace, argus, folder, seed)
    found = list(case.check())
    if not found:
        case.remove()
    return found


if __name__ == "__main__":
    sys.exit(run_seeds(check, 40, "random"))
