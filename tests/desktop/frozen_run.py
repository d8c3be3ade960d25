"""One case in one mode: the program is started, used, frozen and recorded, and its freeze is observed from outside."""
import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import time

import judge
from session import descends, our_processes, parent, wait_for
from watch import Watch, longest, now_ns, place

MIDDLE_S = 3  # mode "middle": the recording stops this long after the freeze began
LONGEST_S = 20  # the most that a program may compute by itself
STILL_S = 2.5  # mode "middle", a program that freezes while it starts: how long it has been in one place when the recording stops
SHORTER_S = 12  # until a program whose loop always does something counts as back from a wait


def cpu_ticks(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
    except OSError:
        return 0


def renderer(program, before):
    """The process that shows the page: the renderer process that has used the most CPU time since `before`."""
    def is_one(pid):
        line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        return b"--type=renderer" in line and b"--extension-process" not in line or name.endswith(" Content") or name.startswith("WebKitWebPro")

    found = [pid for pid in our_processes() if descends(pid, program.pid) and is_one(pid)]
    return max(found, key=lambda pid: cpu_ticks(pid) - before.get(pid, 0))


def foreground(program):
    """The process that has the terminal in which `program` runs it."""
    child = next(pid for pid in our_processes() if parent(pid) == program.pid)
    return int(pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[5])


def event_queue(owner):
    """The thread that handles the input of a Java program."""
    tasks = pathlib.Path(f"/proc/{owner}/task").iterdir()
    return next(int(task.name) for task in tasks if (task / "comm").read_text().startswith("AWT-EventQueue"))


# Process and thread that freeze: the main thread of the process that has the window, or another one.
THREADS = {
    "main": lambda program, owner, before: (owner, owner),
    "renderer": lambda program, owner, before: (renderer(program, before),) * 2,
    "terminal": lambda program, owner, before: (foreground(program),) * 2,
    "event queue": lambda program, owner, before: (owner, event_queue(owner)),
}


def is_unfinished(path):
    """Whether a file of --on-hang is still examined: then it is locked."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


class Run:
    """One case in one mode."""

    def __init__(self, options, case, mode, session, trace):
        self.options, self.case, self.mode, self.session, self.trace = options, case, mode, session, trace
        self.watch, self.stopped_ns = Watch(), None

    def text(self, template):
        values = {**self.means.values, **self.session.values, "folder": self.session.folder}
        for name, value in values.items():
            template = template.replace("{" + name + "}", str(value))
        return template

    def act(self, actions):
        for action in actions:
            word, _, rest = self.text(action).partition(" ")
            ACTIONS[word](self, rest)

    def call_argus(self, *words):
        done = subprocess.run([self.options.argus, *map(str, words)], env={**os.environ, **self.session.environment}, timeout=120,
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"argus {words[0]}: {done.stderr.strip()}")

    def begin_recording(self):
        shutil.rmtree(self.trace, ignore_errors=True)  # the folder of an earlier run
        on_hang = ["--on-hang", "2s", "-o", self.trace] if self.mode == "on-hang" else []
        self.call_argus("start", *on_hang, *(["--ring-size", self.options.ring_size] if self.options.ring_size else []))
        time.sleep(1)

    def end_recording(self):
        """Returns the time at which the recording ended."""
        if self.stopped_ns:
            return
        self.stopped_ns = now_ns()
        status = subprocess.run([self.options.argus, "status", "--verbose"], capture_output=True, text=True, check=False)
        self.trace.with_suffix(".status").write_text(status.stdout)  # which hangs were none, or were not kept
        self.call_argus("stop", *([] if self.mode == "on-hang" else ["-o", self.trace]))
        if self.mode == "on-hang":  # on a busy machine, stop does not wait until all files are examined
            wait_for(lambda: not any(map(is_unfinished, self.trace.glob("*.argus"))), 180)

    def start_program(self):
        return self.session.start(*map(self.text, self.case.command), extra=dict(self.case.environment))

    def find_window(self, program):
        found = wait_for(lambda: self.session.windows(program), 30, f"{self.case.name}: no window")
        return found[-1]

    def prepare(self):
        """The program runs, has the focus, and is recorded."""
        program = self.start_program()
        window, owner = self.find_window(program)
        time.sleep(self.case.settle_s)
        window, owner = self.find_window(program)
        self.session.focus(window)
        self.act(self.case.before)
        self.means.find(program)
        self.begin_recording()
        self.session.focus(window)
        ticks = {pid: cpu_ticks(pid) for pid in our_processes()}
        self.act(self.case.use)
        self.pid, self.watch.tid = THREADS[self.case.thread](program, owner, ticks)
        time.sleep(2)
        self.idle_ns = now_ns()

    def freeze(self):
        """The program freezes after the last action."""
        self.act(self.case.freeze[:-1])
        self.means.begin()
        self.act_ns = now_ns()
        self.act(self.case.freeze[-1:])

    def freeze_at_start(self):
        self.begin_recording()
        self.means.begin()
        self.act_ns = now_ns()
        program = self.start_program()
        self.pid = self.watch.tid = program.pid

    def show(self):
        """Takes a screenshot, which helps to write a row."""
        if self.options.pictures and not self.means.everybody:
            script = f"xwd -root | xwdtopnm 2>/dev/null | pnmtopng 2>/dev/null > {self.options.keep / self.case.name}.png"
            environment = {**os.environ, "DISPLAY": self.session.environment["DISPLAY"]}
            subprocess.run(["sh", "-c", script], env=environment, check=False, timeout=20)

    def sit_through(self):
        """Types while the program is frozen, and then removes the cause."""
        begin = time.monotonic()
        time.sleep(0.7)
        self.show()
        self.type_on()
        time.sleep(max(0, begin + MIDDLE_S - time.monotonic()))
        if self.mode == "middle":
            self.wait_for_freeze(begin + SHORTER_S)
            self.end_recording()
        time.sleep(max(0, begin + 5 - time.monotonic()))
        self.means.end()
        self.wait_for_home(begin + (LONGEST_S if self.means.blames_itself else SHORTER_S))

    def wait_for_freeze(self, until):
        """A program that freezes while it starts may need some seconds until it gets there: on a busy machine, the recording would end
        before."""
        while self.case.start_up and not self.means.blames_itself and time.monotonic() < until and not self.watch.stands_still(STILL_S):
            time.sleep(0.1)
        if self.case.start_up and self.watch.stands_still(STILL_S):
            self.act_ns = now_ns() - int(STILL_S * 1e9)

    def type_on(self):
        """Types, unless the X server is frozen and cannot answer."""
        if not self.means.everybody:
            self.session.x("type", "--delay", "100", "ab")

    def wait_for_home(self, until):
        """Returns when the thread was waiting at each look for two seconds."""
        calm = 0
        while time.monotonic() < until and calm < 10:
            time.sleep(0.2)
            calm = calm + 1 if isinstance(place(self.watch.tid), tuple) else 0

    def home(self):
        """The places of the event loop's own wait: where the thread waits before the freeze, and where it waits at the end. A place at
        which it waited during the freeze does not count as one at the end, because then the thread is still frozen."""
        end_ns, act_ns = now_ns(), self.act_ns
        during = self.watch.places(act_ns + int(0.7e9), act_ns + int(2.2e9))
        after = self.watch.places(end_ns - int(0.8e9), end_ns) - during
        return after if self.case.start_up else after | self.watch.places(self.idle_ns - int(1.5e9), self.idle_ns)

    def truth(self):
        home = self.home()
        away = self.watch.away(home)
        begin, end = longest(away, self.act_ns)
        ours = self.watch.ours | our_processes()
        return judge.Truth(self.pid, self.watch.tid, begin, min(end, self.stopped_ns), self.means.culprits, away, {os.getpid()},
                           ours if self.means.everybody else set(), ours, self.means.blames_itself, headline=self.means.headline)

    def run(self):
        self.means = self.case.means(self.session, *self.case.arguments)
        self.watch.start()
        if self.case.start_up:
            self.freeze_at_start()
        else:
            self.prepare()
            self.freeze()
        self.sit_through()
        time.sleep(2)
        self.end_recording()
        self.watch.finish()
        return self.truth()


ACTIONS = {
    "key": lambda run, rest: run.session.x("key", rest),
    "type": lambda run, rest: run.session.x("type", "--delay", "30", rest),
    "sleep": lambda run, rest: time.sleep(float(rest)),
    "run": lambda run, rest: run.session.start(*rest.split(" ")),
    "prepend": lambda run, rest: run.session.start("sh", "-c", 'cat "$1" "$2" > new && cat new > "$2"', "sh", *rest.split(" ")),
    "copy": lambda run, rest: run.session.copy(rest),
}
