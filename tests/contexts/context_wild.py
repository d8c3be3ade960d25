"""argus contexts on random traces of awkward shapes, against the algorithms of the paper: see context_property.py, which makes
plausible ones.

    context_wild.py MKTRACE ARGUS FOLDER [FIRST [COUNT]]

Threads change cpus, are preempted, exit and have their ids used again; processes fork and exec; stacks are deep, recursive, cut
short, missing or empty; times are equal; a call's stack may change within it, or come late; records are lost in the middle.
This file is a second implementation of how Argus interprets the records: record by record, it makes lists of (time, stack) to
which the paper's algorithm applies without exceptions. Where no execution continues, a list ends and another begins.
"""
import json
import random
import subprocess
import sys

from context_property import MODES, node_differences, sum_differences
from introperf_by_the_paper import pa_cct
from seeds import run_seeds

CALLS = ("read", "write", "futex", "poll")
CUT = "[stack cut]"
LETTER = "abcdefgh"


class Process:
    def __init__(self, pid, name):
        self.pid, self.name, self.exec_ns = pid, name, 0


class Thread:
    """One life of a thread, as the records describe it."""

    def __init__(self, tid, process):
        self.tid, self.process = tid, process
        self.cpu = self.call = self.held = self.held_user = None  # truth and, when nothing is lost, knowledge
        self.known_call = self.call_path = self.call_path_sampled = None  # the last one: with samples counted
        self.seen_call, self.held_time, self.unseen = False, 0, False
        self.lists = [[]]  # (time, path, path with samples counted, kind); another list begins after a gap

    def moment(self, time, path, kind):
        self.lists[-1].append((time, None if kind == "sample" else path, path, kind))

    def call_returns(self, time):
        for end in (None, -1):  # the last moment of the call, and the first one after it
            paths = [path and path[:end] for path in (self.call_path, self.call_path_sampled)]
            self.lists[-1].append((time, *paths, "return"))

    def forget(self):
        """Records are missing: everything that the thread was doing counts as ended at its last moment."""
        self.lists.append([])
        self.known_call = self.call_path = self.call_path_sampled = self.held = None
        self.seen_call = False


class Wild:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.cpus = self.random.choice((1, 2, 4))
        self.depth = self.random.choice((1, 3, 6, 30, 126))
        self.functions = self.random.choice((1, 2, 5))  # 1: every frame is the same function
        self.steps = self.random.choice((0, 0, 1, 50, 5000))
        self.weights = {name: self.random.choice((0, 1, 1, 4)) for name in
                        ("sample", "wake", "call", "call_stack", "end", "block", "preempt", "go", "fork", "exec", "exit", "lose", "odd")}
        self.lines, self.stacks, self.time, self.next_tid = [f"cpus {self.cpus}"], {}, 1000, 100
        self.on_cpu, self.last_cpu = [None] * self.cpus, 0
        self.threads, self.ready, self.lives, self.processes, self.dead = [], [], [], [], []
        self.since_chunk = [0] * self.cpus
        for _ in range(self.random.randint(1, 4)):
            self.add_first_thread()
        for _ in range(self.random.randint(1, 120)):
            self.act()
        self.lines += [f"stack {number} " + " ".join(map(str, frames)) for frames, number in self.stacks.items()]

    # --- threads and processes ---

    def add_first_thread(self):
        share = self.processes and self.random.random() < 0.5
        process = self.random.choice(self.processes) if share else Process(self.next_tid, f"prog{self.next_tid}")
        if not share:
            self.processes.append(process)
        thread = self.add_thread(process)
        self.lines.append(f"thread {thread.tid} pid {process.pid} name {process.name}")

    def add_thread(self, process, tid=None):
        thread = Thread(tid or self.next_tid, process)
        self.next_tid += tid is None
        self.threads.append(thread)
        self.lives.append(thread)
        self.ready.append(thread)
        return thread

    # --- writing ---

    def tick(self):
        self.time += self.random.choice((0, self.steps, self.random.randint(0, self.steps)))

    def emit(self, cpu, tid, text):
        if cpu != self.last_cpu:  # at equal times the records of the lower CPU come first
            self.time, self.last_cpu = self.time + 1, cpu
        self.lines.append(f"{self.time} cpu{cpu} t{tid} {text}")
        thread = self.on_cpu[cpu]
        if thread and thread.tid == tid and text.split()[0] in ("switch", "stack", "sample", "syscall_start", "syscall_end"):
            self.shows_up(thread)
        self.since_chunk[cpu] += 1

    def frames(self, thread):
        """A stack, innermost first. It often has a part of the thread's last stack, with other functions above it."""
        depth = self.random.randint(1, self.depth)
        kept = getattr(thread, "frames", ())
        kept = kept[len(kept) - self.random.randint(0, len(kept)):] if kept and self.random.random() < 0.7 else ()
        frames = tuple(0x1000 * self.random.randint(1, self.functions) for _ in range(max(depth - len(kept), 0))) + kept
        thread.frames = frames or (0x1000,)
        return thread.frames

    def stack(self, thread):
        """The stack's ID, and the path that the tree must have for it; None if there is none."""
        chance = self.random.random()
        if chance < 0.05:
            return 0, None
        if chance < 0.08:
            return 999999, None  # an ID that the trace does not contain
        frames = self.frames(thread)
        path = tuple(hex(frame) for frame in reversed(frames))
        if chance < 0.15:  # functions that are in no complete stack, so their callers are unknown
            frames = tuple(frame + 0x100000 for frame in frames) + (self.random.randint(1, 4),)
            path = (CUT,) + tuple(hex(frame) for frame in reversed(frames[:-1]))
        return self.stacks.setdefault(frames, len(self.stacks) + 1), path

    # --- what threads do ---

    def act(self):
        cpu = self.random.randrange(self.cpus)
        thread = self.on_cpu[cpu]
        names = list(self.weights)
        name = self.random.choices(names, [self.weights[n] + 0.01 for n in names])[0]
        self.tick()
        if name == "lose":
            self.lose(cpu)
        elif thread is None:
            self.go(cpu)
        elif name != "go":
            getattr(self, name)(cpu, thread)

    def shows_up(self, thread):
        """A thread that was off its CPU with a known stack runs after a gap, and no switch shows how it got there."""
        if thread.unseen and thread.held:
            thread.forget()
        thread.unseen = False

    def whole(self, thread, path, blocked=False, state="S", is_sample=False):
        if path is None:
            return None
        if thread.known_call:
            thread.call_path_sampled = path + (thread.known_call,)
            if not is_sample:
                thread.call_path = thread.call_path_sampled
            return thread.call_path_sampled
        if blocked and state == "T":
            return path + ("stopped",)
        return path + ("page fault",) if blocked and thread.seen_call else path

    def sample(self, cpu, thread):
        number, path = self.stack(thread)
        self.emit(cpu, thread.tid, f"sample user={number} pc=0x1000")
        thread.moment(self.time, self.whole(thread, path, is_sample=True), "sample")

    def wake(self, cpu, thread):
        number, path = self.stack(thread)
        self.emit(cpu, thread.tid, f"stack user={number} why=wake")
        thread.moment(self.time, self.whole(thread, path), "stack")

    def call(self, cpu, thread):
        if thread.call:
            return self.end(cpu, thread)
        return self.begin(cpu, thread, self.random.choice(CALLS))

    def begin(self, cpu, thread, call):
        self.emit(cpu, thread.tid, f"syscall_start nr={call} arg1=5")
        self.no_call(thread)
        thread.call = thread.known_call = call

    def call_stack(self, cpu, thread):
        if not thread.call:
            self.call(cpu, thread)
        number, path = self.stack(thread)
        self.emit(cpu, thread.tid, f"stack user={number} why=call")
        thread.moment(self.time, self.whole(thread, path), "stack")

    def end(self, cpu, thread):
        if thread.call:
            self.end_call(cpu, thread, thread.call)

    def end_call(self, cpu, thread, call):
        self.emit(cpu, thread.tid, f"syscall_end nr={call} result=1 pid={thread.process.pid}")
        if thread.known_call == call:
            thread.call_returns(self.time)
        self.no_call(thread)

    @staticmethod
    def no_call(thread):
        thread.call = thread.known_call = thread.call_path = thread.call_path_sampled = None
        thread.seen_call = True

    def odd(self, cpu, thread):
        """The end of a call without a start. Records may be lost, so both the end of another call and the start of this one may be
        missing."""
        other = self.random.choice(CALLS)
        if thread.call is None:
            self.end_call(cpu, thread, other)

    def leave(self, cpu, thread, why, state):
        successor = self.pick_ready(cpu)
        number, path = self.stack(thread)
        has_stack = self.random.random() < 0.8
        self.emit(cpu, thread.tid, f"switch state={state} next={successor.tid if successor else 0}")
        thread.cpu, self.on_cpu[cpu], thread.held = None, successor, None
        if has_stack:
            self.emit(cpu, thread.tid, f"stack user={number} why={why}")
            thread.held_user = path
            path = self.whole(thread, path, why == "block", state)
            thread.moment(self.time, path, "stack")
            thread.held, thread.held_time = path, self.time
        if successor:
            self.arrive(cpu, successor)
        self.ready.append(thread)

    def arrive(self, cpu, thread):
        thread.cpu = cpu
        thread.moment(self.time, thread.held, "return")
        if thread.held and not thread.known_call:  # it has returned from the kernel
            thread.moment(self.time, thread.held_user, "return")
        thread.held = None

    def block(self, cpu, thread):
        self.leave(cpu, thread, "block", self.random.choice("SSDT"))

    def preempt(self, cpu, thread):
        self.leave(cpu, thread, "preempted", "R")

    def pick_ready(self, cpu):
        ready = [thread for thread in self.ready if thread.cpu is None]
        thread = self.random.choice(ready) if ready and self.random.random() < 0.7 else None
        if thread:
            self.ready.remove(thread)
        return thread

    def go(self, cpu, _thread=None):
        thread = self.pick_ready(cpu)
        if thread:
            self.emit(cpu, 0, f"switch state=R next={thread.tid}")
            self.on_cpu[cpu] = thread
            self.arrive(cpu, thread)

    def fork(self, cpu, thread):
        new_process = self.random.random() < 0.5
        reused = self.random.choice(self.dead) if self.dead and not new_process and self.random.random() < 0.5 else None
        if reused:
            self.dead.remove(reused)
        tid = reused or self.next_tid
        process = Process(tid, thread.process.name) if new_process else thread.process
        self.time += 1
        self.emit(cpu, thread.tid, f"new_thread thread={tid} pid={process.pid} new_process={int(new_process)} parent={thread.process.pid}")
        self.emit(cpu, thread.tid, f"name_new name={process.name}")
        if new_process:
            self.processes.append(process)
        self.add_thread(process, reused)

    def exec(self, cpu, thread):
        if thread.tid != thread.process.pid or thread.call or any(t.process is thread.process and t is not thread for t in self.threads):
            return
        self.begin(cpu, thread, "execve")
        if self.random.random() < 0.7:
            self.call_stack(cpu, thread)
        self.time += 5
        self.emit(cpu, thread.tid, f"exec pid={thread.process.pid}")
        thread.process.name = f"new{self.time}"
        thread.process.exec_ns = self.time
        self.emit(cpu, thread.tid, f"name_exec name={thread.process.name}")
        thread.call_returns(self.time - 0.5)  # stacks of the old program, although the time is that of the new one
        thread.lists.append([])
        thread.call_path = thread.call_path_sampled = None
        self.time += 1
        self.end(cpu, thread)

    def exit(self, cpu, thread):
        others = [t for t in self.threads if t.process is thread.process and t is not thread]
        if thread.tid == thread.process.pid and others:
            return
        self.time += 1
        self.emit(cpu, thread.tid, f"thread_exit thread={thread.tid} last={int(not others)}")
        self.emit(cpu, thread.tid, "switch state=X next=0")
        self.on_cpu[cpu] = None
        self.threads.remove(thread)
        if thread.tid != thread.process.pid:
            self.dead.append(thread.tid)
        self.time += 1

    def lose(self, cpu):
        """Nothing is recorded of what the CPU's thread does meanwhile; another thread may be on the CPU afterwards."""
        if not self.since_chunk[cpu]:
            return
        thread = self.on_cpu[cpu]
        self.lines.append(f"lost cpu{cpu} {self.random.randint(1, 9)}")
        self.since_chunk[cpu] = 0
        self.time += 1
        if thread:
            if self.random.random() < 0.3:
                thread.call = None if thread.call else self.random.choice(CALLS)
            if not thread.unseen:
                thread.forget()
            if self.random.random() < 0.5:  # the thread has left the CPU
                thread.cpu = self.on_cpu[cpu] = None
                thread.unseen = False
                self.ready.append(thread)
        if self.on_cpu[cpu] is None and self.random.random() < 0.3:  # another thread has arrived
            self.on_cpu[cpu] = thread = self.pick_ready(cpu)
            if thread:
                thread.cpu, thread.unseen = cpu, True
        thread = self.on_cpu[cpu]
        self.emit(cpu, thread.tid if thread else 0, "timer_armed timer=1")

    # --- the expected result ---

    def expected(self, with_returns, with_samples):
        result = []
        for thread in self.lives:
            process = thread.process
            for moments in thread.lists:
                named = []
                for time, path, sampled_path, kind in moments:
                    path = sampled_path if with_samples else path
                    if not path or (kind == "return" and not with_returns):
                        continue
                    name = process.name if time >= process.exec_ns else f"{process.name}, before its exec"
                    named.append((int(time + 0.5), (name,) + path))
                result.append(named)
        return [moments for moments in result if moments]


def contexts_of(answer):
    paths, result = {0: ()}, {}
    for node in answer["tree"][0:]:
        if node["node"] == 0:
            continue
        path = paths[node["node"]] = paths[node["parent"]] + (node["function"],)
        if len(path) > 1:
            result[path] = node
    return result


def differences(tree, answer):
    yield from node_differences({path: node for path, node in tree.items() if len(path) > 1}, contexts_of(answer))
    yield from sum_differences(answer)


def run(argus, file, *options):
    done = subprocess.run([argus, "contexts", "--no-cache", "--json", "--tree", "--every", "--top=1", *options, file],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if done.returncode == 1 and b"no call stacks" in done.stderr:
        return {"tree": []}
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return json.loads(done.stdout)


def check(mktrace, argus, folder, seed):
    wild, text = Wild(seed), folder / f"wild{seed}.trace"
    text.write_text("\n".join(wild.lines) + "\n")
    file = text.with_suffix(".argus")
    subprocess.run([mktrace, text, file], check=True)
    found = []
    for with_returns, with_samples in ((True, True), (seed % 2 == 0, seed % 2 == 1)):
        options = [] if with_returns else ["--no-returns"]
        options.append(f"--mode={MODES[seed % 2]}")
        answer = run(argus, file, *options, *([] if with_samples else ["--no-samples"]))
        found += [f"{options}: {text}" for text in differences(pa_cct(wild.expected(with_returns, with_samples)), answer)]
    file.unlink()
    if not found:
        text.unlink()
    return found[:4]


if __name__ == "__main__":
    sys.exit(run_seeds(check, 100, "awkward"))
