"""Converts the second builder's graph to the order and format of raw_graph."""
import splits
from parts import FLAGS, Edge


def ordered(vertices):
    return sorted((v for v in vertices if not v.gone), key=lambda v: (v.start, v.rank(), v.until(), v.made))


def started(line, time):
    """The last vertex of a thread that began by `time`; the first one, when none did."""
    found = None
    for vertex in line:
        if found is None or vertex.start <= time:
            found = vertex
    return found


def containing_vertex(lines, vertex, time):
    """The vertex that contains the moment `time`: `vertex`, if it still exists and contains it, else another one of its thread."""
    if not vertex.gone and vertex.start <= time <= vertex.end:
        return vertex
    return started(lines[vertex.thread], time)


def settle(lines, edge):
    """An edge whose ends are vertices of the finished graph; None if one of them was removed."""
    made = edge.copy()
    if edge.inside:
        made.to = started(lines[edge.to.thread], edge.to_ns)
        if not made.to or edge.to_ns > made.to.end:
            return None
    elif edge.to.gone or edge.to_ns != edge.to.start:
        return None
    made.source = containing_vertex(lines, edge.source, edge.from_ns)
    if not made.source:
        return None
    made.from_ns = min(max(edge.from_ns, made.source.start), made.source.end)
    return made if made.source is not made.to and made.from_ns <= made.to_ns else None


KINDS = ["wake-up", "timer", "fork", "sequence", "message", "dispatch", "data flag", "signal", "work", "block I/O"]


def merge_messages(edges, count):
    """Merges the edges into one vertex: messages from one source become one edge, together with a wake-up from there."""
    kept = [edge for edge in edges if edge.kind != "message"]
    for message in sorted((e for e in edges if e.kind == "message"), key=lambda e: (e.from_ns, e.to_ns)):
        same = [e for e in kept if e.source is message.source and e.kind in ("wake-up", "message")]
        if not same:
            kept.append(message)
            continue
        same[0].strong |= message.strong
        if same[0].kind == "wake-up" and not same[0].message:
            same[0].message = True
            count("merge.message")
    return kept


def sequence(before, vertex):
    continues = "continues" in vertex.flags
    rule = "sequence.callback" if continues else "split.peers" if "peers" in vertex.flags else "sequence"
    return Edge(before, before.end, "sequence", rule, continues, to=vertex, to_ns=vertex.start)


def all_edges(lines, edges, count):
    into = {}
    for edge in edges:
        made = settle(lines, edge)
        if made:
            into.setdefault(made.to, []).append(made)
    for line in lines.values():
        for before, vertex in zip([None] + line, line):
            there = into.get(vertex, [])
            if before:
                there.append(sequence(before, vertex))
            into[vertex] = splits.mend_softirq(before, vertex, merge_messages(there, count), count)
    splits.weaken_later(lines, into)
    return [edge for there in into.values() for edge in there]


def wait_fields(wait):
    fields = {"kind": wait.kind, "outcome": wait.outcome, "end": wait.end, "object": wait.object, "inode": wait.inode,
              "peer": wait.peer, "type": wait.type, "timeout": wait.timeout, "holder": wait.holder,
              "rewakes": wait.rewakes, "syscall": wait.syscall, "by_timer": int(wait.by_timer),
              "by_device": int(wait.by_device), "user": list(wait.user), "kernel": list(wait.kernel),
              "details": wait.details}
    if wait.result is not None:
        fields["result"] = wait.result
    return fields


def vertex_fields(vertex, notes, samples):
    fields = {"start": vertex.start, "end": vertex.end, "run": vertex.run, "runnable": vertex.runnable,
              "repeat": vertex.repeat, "yields": vertex.yields, "flags": sum(FLAGS[flag] for flag in vertex.flags),
              "ops": [list(op) for op in vertex.ops], "callbacks": notes, "samples": samples}
    if vertex.wait.kind != "none":
        fields["wait"] = wait_fields(vertex.wait)
    return fields


def finished(builder):
    """The graph as `canonical` makes one of raw_graph's output."""
    threads = builder.lives.threads
    lines = {thread: ordered(builder.vertices[thread]) for thread in threads}
    splits.split(builder.message_points, lines, builder.edges, started)
    edges = all_edges(lines, builder.edges, builder.count)
    notes, samples = {}, {}
    for vertex, note in builder.notes:
        notes.setdefault(containing_vertex(lines, vertex, note[0]), []).append(note)
    for vertex, sample in builder.samples:
        samples.setdefault(containing_vertex(lines, vertex, sample["time"]), []).append(sample)
    for edge in edges:
        builder.count(edge.rule)
    names, graph = {}, {"threads": {}, "vertices": {}, "edges": [], "uses": [], "rules": builder.rules}
    lives = {thread: thread.life for thread in threads}
    for thread, life in lives.items():
        if not lines[thread]:
            continue
        graph["threads"][life] = [thread.process.pid, int(thread.process.kernel), thread.name.hex()]
        for i, vertex in enumerate(lines[thread]):
            names[vertex] = f"{life}/{i}"
            graph["vertices"][names[vertex]] = vertex_fields(vertex, sorted(notes.get(vertex, []), key=lambda n: n[0]),
                                                             samples.get(vertex, []))
    for e in edges:
        graph["edges"].append([names[e.to], names[e.source], e.to_ns, e.from_ns, e.kind, int(e.strong), int(e.message),
                               e.rule, list(e.stack)])
    graph["edges"].sort()
    for (inode, thread), use in builder.uses.items():
        graph["uses"].append([inode, lives[thread], *use])
    graph["uses"].sort()
    return graph


def canonical(raw):
    """raw_graph's output with names in the place of IDs: 7.1/0 is the first vertex of the second life of thread 7."""
    graph = {"threads": {}, "vertices": {}, "edges": [], "uses": [], "rules": {}}
    lives, tids = [], []
    for thread in raw["threads"]:
        life = f"{thread['tid']}.{tids.count(thread['tid'])}"
        tids.append(thread["tid"])
        lives.append(life)
        if thread["count"]:
            graph["threads"][life] = [thread["pid"], thread["kernel"], thread["name"]]
    names = []
    for i, vertex in enumerate(raw["vertices"]):
        thread = vertex.pop("thread")
        names.append(f"{lives[thread]}/{i - raw['threads'][thread]['first']}")
        graph["vertices"][names[-1]] = vertex
    for e in raw["edges"]:
        graph["edges"].append([names[e["to"]], names[e["from"]], e["to_ns"], e["from_ns"], e["kind"], e["strong"],
                               e["message"], e["rule"], e["stack"]])
    graph["edges"].sort()
    for inode, peer, last, thread, wrote in raw["uses"]:
        graph["uses"].append([inode, lives[thread], peer, last, wrote])
    graph["uses"].sort()
    graph["pairs"] = [(lives[sender], sent, lives[receiver], received, exact)
                      for sender, sent, receiver, received, exact in raw["pairs"]]
    graph["rules"] = {name: count for name, count in raw["rules"].items() if count}
    return graph
