#!/usr/bin/env python3
"""Records programs that know their own graph: the graph built from the recording must agree.

    live_graphs.py ARGUS RAW_GRAPH PROGRAM [--keep FILE]

PROGRAM prints what it did: truth.h. For bus_riders a dbus-daemon is started first. Exit code 77: this machine cannot record.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
import load_retry  # noqa: E402
import machine  # noqa: E402

SLACK_NS = 50_000  # between an action of a program and its reading of the clock

Truth = collections.namedtuple("Truth", "tid begin end direct strong through never")


def parse(line):
    words = line.split()
    tids = [[int(tid) for tid in words[at].split(",") if tid != "0"] for at in (8, 10)]
    return Truth(int(words[1]), int(words[2]), int(words[3]), int(words[5]), words[6] == "strong", *tids)


class Graph:
    def __init__(self, raw):
        self.threads, self.vertices, self.edges = raw["threads"], raw["vertices"], raw["edges"]
        self.into = collections.defaultdict(list)
        for edge in self.edges:
            self.into[edge["to"]].append(edge)

    def tid(self, vertex):
        return self.threads[self.vertices[vertex]["thread"]]["tid"]

    def text(self, edge):
        strength = "strong" if edge["strong"] else "weak"
        return f"{self.tid(edge['from'])} -> {self.tid(edge['to'])} {strength} {edge['rule']}"

    def woken(self, truth):
        """The vertex after the last wait that began and ended within the times of the truth."""
        found = None
        for i, vertex in enumerate(self.vertices):
            wait = vertex.get("wait")
            if (wait and self.tid(i) == truth.tid and vertex["end"] < truth.end
                    and truth.begin <= wait["end"] <= truth.end + SLACK_NS):
                found = i + 1
        return found

    def causes(self, vertex):
        """The edges that began the vertex: a wake-up, or a message that came with it."""
        start = self.vertices[vertex]["start"]
        edges = [edge for edge in self.into[vertex] if not edge["rule"].startswith(("sequence", "split"))]
        return [e for e in edges if e["to_ns"] == start] or [e for e in edges if e["kind"] == "message"]

    def reach(self, edge, since, weak=False):
        """All threads to which strong edges lead back, with the path to each. `weak`: also along weak edges, except sequences, as a
        user could choose when asked."""
        ways, waiting = {edge["from"]: [edge]}, [edge["from"]]
        while waiting:
            vertex = waiting.pop()
            for before in self.into[vertex]:
                asked = weak and not before["rule"].startswith("sequence")
                if (before["strong"] or asked) and before["from_ns"] >= since and before["from"] not in ways:
                    ways[before["from"]] = ways[vertex] + [before]
                    waiting.append(before["from"])
        return {self.tid(vertex): way for vertex, way in ways.items()}


def check(graph, truth):
    """The errors, as sentences."""
    vertex = graph.woken(truth)
    if vertex is None:
        return ["the wait is not in the graph"]
    causes = [edge for edge in graph.causes(vertex) if graph.tid(edge["from"]) == truth.direct]
    if not causes:
        return [f"no edge from {truth.direct}, only {[graph.text(edge) for edge in graph.causes(vertex)]}"]
    wrong = []
    strong = any(edge["strong"] for edge in causes)
    if strong != truth.strong:
        wrong.append(f"{[graph.text(edge) for edge in causes]} should be {'strong' if truth.strong else 'weak'}")
    others = [edge for edge in graph.causes(vertex) if edge["strong"] and graph.tid(edge["from"]) != truth.direct]
    wrong += [f"a wrong strong edge: {graph.text(edge)}" for edge in others]
    reached, asked = {}, {}
    for edge in causes:
        reached.update(graph.reach(edge, truth.begin) if edge["strong"] else {})
        asked.update(graph.reach(edge, truth.begin, weak=True))
    wrong += [f"{tid} is not reached, only {sorted(asked)}" for tid in truth.through if tid not in asked]
    wrong += [f"{tid} is reached: " + ", ".join(graph.text(edge) for edge in reached[tid])
              for tid in truth.never if tid in reached]
    return wrong


def bus(folder):
    """A private dbus-daemon."""
    address = f"unix:path={folder}/bus"
    daemon = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={address}", "--print-address"],
                              stdout=subprocess.PIPE, text=True)
    daemon.stdout.readline()
    os.environ["DBUS_SESSION_BUS_ADDRESS"], os.environ["BUS_PID"] = address, str(daemon.pid)
    return daemon


def record(argus, program, folder):
    trace, said = folder / "live.argus", folder / "truth"
    with open(said, "w", encoding="utf-8") as out:
        done = subprocess.run([argus, "record", "-o", trace, "--", program], stdout=out, stderr=subprocess.PIPE, text=True,
                              timeout=60)
    if done.returncode:
        sys.exit(f"argus record: {done.stderr}")
    truths = [parse(line) for line in said.read_text().splitlines() if line.startswith("wait ")]
    return trace, truths


def compare(raw_graph, trace, truths):
    raw = subprocess.run([raw_graph, trace], stdout=subprocess.PIPE, text=True, check=True).stdout
    graph = Graph(json.loads(raw))
    wrong = 0
    for truth in truths:
        complaints = check(graph, truth)
        wrong += bool(complaints)
        for complaint in complaints:
            print(f"wait of {truth.tid} from {truth.begin} to {truth.end}: {complaint}")
    return wrong


def wrong_waits(argus, raw_graph, program):
    with tempfile.TemporaryDirectory(prefix="argus-live-") as name:
        folder = pathlib.Path(name)
        daemon = bus(folder) if pathlib.Path(program).name == "bus_riders" else None
        try:
            trace, truths = record(argus, program, folder)
        finally:
            if daemon:
                daemon.terminate()
                daemon.wait()
        wrong = compare(raw_graph, trace, truths)
        if "--keep" in sys.argv:
            pathlib.Path(sys.argv[-1]).write_bytes(trace.read_bytes())
    print(f"{len(truths)} waits, {wrong} of them wrong in the graph")
    return ["graph"] if wrong or not truths else []


def main():
    argus, raw_graph, program = sys.argv[1:4]
    machine.enter_namespace_or_skip()
    sys.exit(0 if load_retry.passes(lambda _: wrong_waits(argus, raw_graph, program)) else 1)


main()
