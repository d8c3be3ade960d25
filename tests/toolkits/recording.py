"""Shared code of the tests of probes: whether this machine can record, a private /run/argus, and a walk over the graph by
`argus` commands alone."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import load_retry  # noqa: E402,F401  (imported from here by the tests)
import machine  # noqa: E402


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def enter_namespace():
    reason = machine.reason_to_skip_beside_others()
    if reason:
        skip(reason)
    machine.enter_namespace()


class Graph:
    """A trace, read by `argus graph`."""

    def __init__(self, argus, path):
        self.argus, self.path, self.shown = argus, str(path), {}

    def ask(self, *arguments):
        done = subprocess.run([self.argus, "graph", *arguments, "--json"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"argus graph {' '.join(arguments)}: {done.stderr}")
        return json.loads(done.stdout)

    def find(self, *conditions):
        return [vertex["id"] for vertex in self.ask("find", self.path, *conditions)["vertices"]]

    def show(self, vertex):
        if vertex not in self.shown:
            self.shown[vertex] = self.ask("show", self.path, vertex)
        return self.shown[vertex]

    def functions(self, vertex):
        return [callback["function"] or "" for callback in self.show(vertex)["callbacks"]]

    def labels(self, vertex):
        return [callback["probe"] for callback in self.show(vertex)["callbacks"]]

    def events(self, vertex):
        return [c["ui_event"] for c in self.show(vertex)["callbacks"] if c["what"] == "ui event"]

    def effects(self, vertex, *rules):
        return [edge["to"]["id"] for edge in self.show(vertex)["effects"] if edge["strong"] and edge["rule"] in rules]

    def walk(self, vertices, *rules, most=60):
        """All vertices that are reachable forward from these by strong edges of these rules, these included."""
        reached, at = list(vertices), 0
        while at < len(reached) and len(reached) < most:
            reached += [v for v in self.effects(reached[at], *rules) if v not in reached]
            at += 1
        return reached

    def caused_by(self, vertex, process, first, most=8):
        """The names of the rules on a path back along strong edges to a vertex of `process`, or None. The first edge is by one of the rules
        `first`."""
        ways, seen = [(vertex, [])], {vertex}
        for here, rules in ways:
            for edge in self.show(here)["causes"]:
                other = edge["from"]["id"]
                if not edge["strong"] or other in seen or len(rules) == most:
                    continue
                if not rules and edge["rule"] not in first:
                    continue
                if edge["from"]["process"] == process:
                    return rules + [edge["rule"]]
                seen.add(other)
                ways.append((other, rules + [edge["rule"]]))
        return None
