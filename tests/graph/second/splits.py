"""Splits: a vertex that had messages with several peers becomes several pieces (docs/graph-rules.md, Splits).

Without symbols, so batching loops are unknown.
"""
from parts import Edge, Vertex, Wait

MOST_PEERS = 16


class Mark:
    """The progress of a vertex at a moment."""

    def __init__(self, thread, now):
        doing = thread.doing
        self.vertex, self.time = doing.vertex, now
        runs = doing.state == "running" and not doing.cpu.interrupted()
        self.run = doing.vertex.run + (now - doing.since if runs else 0)
        self.runnable, self.ops = doing.vertex.runnable, sum(repeat for _, repeat in doing.ops)


class Message:
    """A message record; `cut`: the place before it at which its vertex would be cut."""

    def __init__(self, thread, now, receives):
        self.thread, self.receives, self.now = thread, receives, Mark(thread, now)
        self.time, self.vertex = now, thread.doing.vertex
        self.partner = self.acts_for = None
        self.cut = self.find_cut(thread.doing)

    def find_cut(self, doing):
        last = doing.marks.get("last")
        if not self.is_here(last, 0):
            return None
        mark = doing.marks.get("begun" if self.receives else "ended")
        if self.is_here(mark, last.time + 1):
            return mark
        return self.now if self.receives and self.time > last.time else None

    def is_here(self, mark, since):
        return mark and mark.vertex is self.vertex and mark.time >= since and mark.time > self.vertex.start


class Peer:
    def __init__(self, process, serves):
        self.process, self.acts_for, self.vertex, self.request = process, process, None, None
        self.serves, self.asked, self.acted_on = serves, False, False


class PeerState:
    """The peers of one thread, and the process for which it acts."""

    def __init__(self, thread):
        self.process = self.acts_for = thread.process
        self.peers, self.vertex, self.set = [], None, None  # most recently used first

    def enter(self, line, vertex):
        if self.vertex is vertex:
            return
        if self.vertex and waits_in_loop(line, self.vertex, vertex):
            self.acts_for = self.process
        self.vertex, self.set = vertex, None

    def use(self, process, serves):
        peer = next((peer for peer in self.peers if peer.process is process), None) or Peer(process, serves)
        self.peers = [peer] + [other for other in self.peers if other is not peer]
        del self.peers[MOST_PEERS:]
        return peer

    def receive(self, message):
        sender = message.partner.thread.process
        behalf = self.acts_for = message.partner.acts_for or sender
        if sender is self.process:
            return {behalf}, None, True
        peer = self.use(sender, False)
        peer.acted_on, peer.asked = peer.asked, False
        peer.acts_for, peer.vertex, peer.request = behalf, self.vertex, message
        return {sender, behalf}, None, True

    def send(self, message):
        """Returns the peer set, the request to which this message belongs, and whether that is certain."""
        to = message.partner.thread.process
        message.acts_for = self.acts_for
        if to is self.process:
            return {self.acts_for}, None, True
        peer = self.use(to, True)
        here = [other for other in self.peers if other.vertex is self.vertex]
        behalf = [other for other in here if other.acts_for is to]
        waiting = [other for other in here if not other.acted_on and not other.serves]
        request, sure = None, True
        if peer in here and not peer.serves:
            message.acts_for, request = peer.acts_for, peer.request
        elif behalf:
            message.acts_for, request = to, behalf[0].request
        else:
            peer.asked = True
            if waiting:
                message.acts_for, request, sure = waiting[-1].acts_for, waiting[-1].request, False
        for other in here:
            other.acted_on |= other.acts_for is message.acts_for
        return {to, message.acts_for}, request, sure


def waits_in_loop(line, first, last):
    here = line[line.index(first):line.index(last) + 1]
    return any(before.wait.kind in ("poll", "sleep") or ("split" in after.flags and "continues" not in after.flags)
               for before, after in zip(here, here[1:]))


def vertex_of(line, message, started):
    vertex = message.vertex
    if vertex.gone or not vertex.start <= message.time <= vertex.end:
        vertex = started(line, message.time)
    inside = vertex and vertex.start <= message.time <= vertex.end
    return vertex if inside and vertex.repeat == 1 else None


def split(message_points, lines, edges, started):
    """Cuts the vertices of `lines` in pieces; the first one is the vertex itself."""
    states, cuts = {}, {}
    for message in message_points:
        line = lines[message.thread]
        vertex = vertex_of(line, message, started) if message.partner else None
        if not vertex:
            continue
        state = states.setdefault(message.thread, PeerState(message.thread))
        state.enter(line, vertex)
        before = state.set
        state.set, request, sure = state.receive(message) if message.receives else state.send(message)
        if not before or not message.cut or before & state.set:
            continue
        cuts.setdefault(vertex, []).append(message.cut)
        if request:
            edges.append(Edge(request.vertex, request.time, "dispatch", "dispatch.request", sure, to=message.vertex,
                              to_ns=message.cut.time, inside=True))
    for vertex, marks in cuts.items():
        line = lines[vertex.thread]
        at = line.index(vertex)
        line[at:at + 1] = pieces(vertex, sorted(marks, key=lambda mark: mark.time))


def cut_ops(ops, count):
    """Splits a list of operations after the first `count`, where each repetition counts."""
    first, rest = [], []
    for code, repeat in ops:
        here = min(repeat, max(count, 0))
        count -= here
        first += [[code, here]] if here else []
        rest += [[code, repeat - here]] if repeat > here else []
    return first, rest


def pieces(vertex, marks):
    made, run, runnable, ops = [vertex], 0, 0, 0
    for mark in marks:
        before = made[-1]
        if not before.start < mark.time < before.end:
            continue
        piece = Vertex(vertex.thread, mark.time, "split", "peers", *(vertex.flags & {"gap"}))
        piece.end, piece.wait = before.end, before.wait
        before.end, before.wait = mark.time, Wait(mark.time)
        ends = before.flags & {"last", "exited"}
        before.flags -= ends
        piece.flags |= ends
        # If a vertex has a gap, its final account may be smaller than at the mark.
        ran = min(max(min(mark.run, run + before.run) - run, 0), before.end - before.start)
        waited = min(max(min(mark.runnable, runnable + before.runnable) - runnable, 0), before.end - before.start - ran)
        piece.run, piece.runnable = before.run - ran, before.runnable - waited
        before.run, before.runnable = ran, waited
        before.ops, piece.ops = cut_ops(before.ops, mark.ops - ops)
        yields = sum(repeat for code, repeat in before.ops if code & 0xFF00FFFF == 1 << 24 | 24)
        piece.yields = before.yields - min(yields, before.yields)
        before.yields = min(yields, before.yields)
        run, runnable, ops = run + ran, runnable + waited, mark.ops
        made.append(piece)
    return made


def mend_softirq(before, vertex, edges, count):
    """Removes a wake-up in a thread's send if the data that was read came from another thread."""
    wakes = [edge for edge in edges if edge.rule == "wake.softirq_local" and not edge.message]
    messages = sorted((edge for edge in edges if edge.kind == "message"), key=lambda edge: edge.to_ns)
    if not wakes or not messages or not before or before.wait.kind != "read":
        return edges
    if not messages[0].strong or not before.end <= messages[0].from_ns <= vertex.start:
        return edges
    count("cull.softirq_other")
    return [edge for edge in edges if edge is not wakes[0]]


def weaken_later(lines, into):
    """Weakens a wake-up that was caused by a message that a later piece received."""
    for line in lines.values():
        for i, vertex in enumerate(line[:-1]):
            later = []
            for piece in line[i + 1:]:
                if "peers" not in piece.flags:
                    break
                later += [e.source for e in into.get(piece, []) if e.kind == "message" or e.message]
            mine = [e.source for e in into.get(vertex, []) if e.kind == "message" or e.message]
            if "peers" in vertex.flags or not mine:
                continue
            for edge in into.get(vertex, []):
                if (edge.kind == "wake-up" and edge.strong and not edge.message and edge.source not in mine
                        and edge.source in later):
                    edge.strong, edge.rule = False, "wake.later"
