"""Runnable threads without a CPU: the thread that used it, and other limits."""
from scene import Scene
from scenes import scene

EDITOR, HOG, OTHER, BYSTANDER = 10, 30, 31, 40


class Shared(Scene):
    """An editor on CPU 0, where it wakes for input repeatedly; the other threads come to the same CPU. A bystander runs on a CPU of its
    own."""

    def __init__(self, *names, priority=120):
        super().__init__()
        self.priority = {EDITOR: priority}
        self.thread(EDITOR, "editor")
        self.thread(BYSTANDER, "bystander")
        for tid, name in enumerate(names, HOG):
            self.thread(tid, name)
            self._record(self.cpus[tid], tid, "switch state=S next=0")
            self.cpus[tid] = 0
        self.current = EDITOR
        for _ in range(5):
            self.home()
            self.for_ms(20)
            self.input()
            self.run(EDITOR)
            self.back()
        self.home()

    def run(self, tid, state="R"):
        """Switches CPU 0 to this thread; 0: the idle thread."""
        told = f"prev_priority={self.priority.get(self.current, 120)} next_priority={self.priority.get(tid, 120)}"
        self._record(0, self.current, f"switch state={state} next={tid} {told}")
        self.current = tid

    def home(self):
        self._record(0, EDITOR, "syscall_start nr=poll arg1=5 arg2=1")
        self.run(0, "S")

    def back(self):
        self._record(0, EDITOR, "syscall_end nr=poll result=1")

    def input(self):
        """The bystander makes the editor runnable; the scenes say when the editor runs."""
        self._record(self.cpus[BYSTANDER], BYSTANDER, f"make_runnable thread={EDITOR} context=task")

    def limits(self, tid, cpus=0, group=0, name="app.slice"):
        """The limits of a thread that leaves its CPU."""
        quota = " quota=5000000 period=1000000000" if group else ""
        self._record(0, tid, f"cpu_limits cpus={cpus} group={group}{quota}")
        if group:
            self._record(0, tid, f"cpu_group name={name}")

    def end(self):
        """The editor gets its CPU, and returns to its event loop's own wait."""
        self.run(EDITOR)
        self.for_ms(2)
        self.home()
        self.for_ms(20)
        self.input()
        self.run(EDITOR)
        return self


def found(root, why, only):
    return "editor", {"type": "LongRunning", "root": (root, "LongRunning"), "why": why, "only": only}


@scene
def cpu_taken():
    """Its affinity is unknown; other threads used the CPU for which it waited."""
    s = Shared("hog", "other")
    s.input()
    s.run(EDITOR)
    s.back()
    for _ in range(10):
        s.run(HOG)
        s.for_ms(180)
        s.run(OTHER)
        s.for_ms(60)
        s.run(EDITOR)
        s.for_ms(10)
    return s.end(), *found("hog", "hog [30] ran for 1.80 s on cpu 0 (in whose queue it was) while editor's main thread wanted it: 75 %",
                           {"hog", "editor"})


@scene
def cpu_wanted_since_the_wake_up():
    """The recording ends before the editor runs again. That it waits for the CPU on which it ran before is a guess."""
    s = Shared("hog", "other")
    s.run(HOG)
    s.for_ms(5)
    s.input()
    for _ in range(3):
        s.run(OTHER)
        s.for_ms(100)
        s.run(HOG)
        s.for_ms(900)
    s.run(OTHER)
    name, wanted = found("hog", "hog [30] ran for 2.70 s on cpu 0 (where it ran before) while editor's main thread wanted it: 90 %", {"hog", "editor"})
    return s, name, {**wanted, "summary": "probably"}


@scene
def cpu_by_the_last_affinity():
    """The editor may use only CPU 0 since shortly before; until then it might use only CPU 1."""
    s = Shared("hog", "other")
    s.input()
    s.run(EDITOR)
    s.back()
    for cpus in 2, 1:
        s.for_ms(5)
        s.limits(EDITOR, cpus=cpus)
        s.run(HOG)
        s.for_ms(5)
        s.run(EDITOR)
    s.home()
    s.for_ms(20)
    s.run(HOG)
    s.input()
    for _ in range(3):
        s.run(OTHER)
        s.for_ms(100)
        s.run(HOG)
        s.for_ms(900)
    s.run(OTHER)
    return s, *found("hog", "hog [30] ran for 2.70 s on cpu 0 (the only one that it may use) while editor's main thread wanted it: 90 %",
                     {"hog", "editor"})


@scene
def cpu_changed_by_affinity():
    """As taskset's child: the editor came from the bystander's CPU 1, and may use only CPU 0 since then."""
    s = Shared("hog")
    s.input()
    s._record(1, BYSTANDER, f"switch state=R next={EDITOR}")
    s._record(1, EDITOR, "syscall_end nr=poll result=1")
    s.for_ms(5)
    s._record(1, EDITOR, f"switch state=R next={BYSTANDER}")
    for _ in range(10):
        s.run(HOG)
        s.for_ms(180)
        s.run(EDITOR)
        s.limits(EDITOR, cpus=1)
        s.for_ms(10)
    return s.end(), *found("hog", "hog [30] ran for 1.80 s on cpu 0 (the only one that it may use) while editor's main thread wanted it: 100 %",
                           {"hog", "editor"})


@scene
def cpu_taken_in_real_time():
    """The editor may use CPU 0 only, and its records say so."""
    s = Shared("hog", priority=130)
    s.priority[HOG] = 69
    s.input()
    s.run(EDITOR)
    s.back()
    s.for_ms(1)
    s.limits(EDITOR, cpus=1)
    s.run(HOG)
    s.for_ms(3000)
    return s.end(), *found("hog", "on cpu 0 (the only one that it may use) while editor's main thread wanted it: 100 % of what others "
                           "ran there, at real-time priority 30", {"hog", "editor"})


@scene
def cpu_taken_by_many():
    """Eight programs with different names: no single culprit."""
    s = Shared(*"abcdefgh")
    s.input()
    s.run(EDITOR)
    s.back()
    for turn in range(160):
        s.run(HOG + turn % 8)
        s.for_ms(20)
        if turn % 8 == 7:
            s.run(EDITOR)
            s.for_ms(1)
    return s.end(), *found("editor", "others ran on cpu 0 (in whose queue it was): ", {"editor"})


@scene
def cpu_wanted_longer_than_used():
    """The larger share comes first, also if it is not nearly all."""
    s = Shared(*"abcdefgh")
    s.input()
    s.run(EDITOR)
    s.back()
    for turn in range(160):
        s.run(HOG + turn % 8)
        s.for_ms(20)
        if turn % 8 == 7:
            s.run(EDITOR)
            s.for_ms(50)
    told, expected = found("editor", "others ran on cpu 0 (in whose queue it was): ", {"editor"})
    return s.end(), told, {**expected, "summary": "it waited for a cpu for 76 % of the time, and was busy on the cpu"}


@scene
def quota_used_up():
    """The quota is used up by the editor itself. The hog runs on its CPU meanwhile, but is not the cause."""
    s = Shared("hog")
    s.input()
    s.run(EDITOR)
    s.back()
    for _ in range(3):
        s.for_ms(5)
        s.limits(EDITOR, group=77)
        s.run(HOG)
        s.for_ms(995)
        s.run(EDITOR)
    s.for_ms(5)
    s.limits(EDITOR, group=77)
    s.run(0)
    s.for_ms(900)
    return s.end(), *found("editor", "its control group app.slice (5.00 ms of cpu in each 1.00 s) had used up its cpu quota", {"editor"})


@scene
def quota_used_up_twice():
    """The editor gets no CPU, then waits for a worker, which gets none for a shorter time. Both are causes, the larger one first."""
    s = Shared("worker")
    s.input()
    s.run(EDITOR)
    s.back()
    s.for_ms(5)
    s.limits(EDITOR, group=77)
    s.run(0)
    s.for_ms(1010)
    s.run(EDITOR)
    s._record(0, EDITOR, "syscall_start nr=read arg1=9")
    s.run(0, "S")
    s.for_ms(80)
    s._record(s.cpus[BYSTANDER], BYSTANDER, f"make_runnable thread={HOG} context=task")
    s.run(HOG)
    s.for_ms(5)
    s.limits(HOG, group=77)
    s.run(0)
    s.for_ms(970)
    s.run(HOG)
    s._record(0, HOG, f"make_runnable thread={EDITOR} context=task")
    s.run(EDITOR, "S")
    s._record(0, EDITOR, "syscall_end nr=read result=1")
    return s.end(), "editor", {"type": "LongWait", "root": ("editor", "LongRunning"), "only": {"editor", "worker"}}


@scene
def quota_taken():
    """The quota is used up by two threads of one name in its group. The bystander, in another group, runs longest."""
    s = Shared("hog", "hog")
    s.input()
    s.run(EDITOR)
    s.back()
    for _ in range(3):
        s.for_ms(1)
        s.limits(EDITOR, group=77)
        for tid in HOG, OTHER:
            s.run(tid)
            s.for_ms(2)
            s.limits(tid, group=77)
        s.run(0)
        s.for_ms(995)
        s.run(EDITOR)
    return s.end(), *found("hog", "hog [30] and 1 more used", {"hog", "editor"})


@scene
def held_back_by_something():
    """The editor wants a CPU, but its CPU is idle."""
    s = Shared()
    s.input()
    s.run(EDITOR)
    s.back()
    for _ in range(30):
        s.for_ms(5)
        s.run(0)
        s.for_ms(95)
        s.run(EDITOR)
    return s.end(), *found("editor", "was idle for 2.85 s of these, so that something held it back, probably", {"editor"})


@scene
def held_back_and_others_run():
    """The editor's CPU is not idle, but a thread of lower priority runs there for seconds."""
    s = Shared("hog")
    s.priority[HOG] = 130
    s.input()
    s.run(EDITOR)
    s.back()
    for _ in range(3):
        s.for_ms(5)
        s.run(HOG)
        s.for_ms(995)
        s.run(EDITOR)
    return s.end(), *found("editor", "others that have no higher priority ran on its cpu again and again", {"editor"})
