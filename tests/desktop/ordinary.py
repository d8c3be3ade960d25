"""Ordinary use of a desktop: programs are started, used, left alone and closed, and nothing freezes on purpose. A recording with a
small ring, which wraps many times, runs with --on-hang, and a snapshot of it is taken now and then.

Each hang that Argus lists is compared with what was seen from outside (watch.Sleepers). It is *invented* if the thread waited in a poll for more than
half of the time, or if it is a thread that was not watched. On a busy machine some hangs are real: then the thread was seen elsewhere.
"""
import json
import os
import random
import shutil
import subprocess
import time
from dataclasses import asdict, dataclass, field

import judge
from session import our_processes
from watch import Sleepers, now_ns

SNAPSHOT_S = 60
SNAPSHOT_TRIES = 6
MOST_LATE_SHARE = 0.2  # of actions that xdotool did not end in time; more, and the use was no ordinary one
STAY_S = 150  # how long a program is open
RING = "32M"

TYPING = ("type some words of a text\n", "type more of it", "key BackSpace", "key Return", "key ctrl+z", "key Page_Down", "key ctrl+Home")
MENUS = ("key F10;sleep 0.5;key Down;key Down;sleep 0.5;key Escape;key Escape", "key alt+f;sleep 0.7;key Escape;key Escape")
DIALOG = ("key ctrl+o;sleep 2;key Escape",)
FIND = ("key ctrl+f;sleep 1;type words;sleep 0.5;key Escape",)
PASTE = ("key ctrl+a;key ctrl+c;key ctrl+End;key ctrl+v",)
# Things that stay open, or are left alone, for longer than the limit of a hang.
AWAY = ("minimize 12", "sleep 15")
OPEN_DIALOG = ("key ctrl+o;sleep 14;key Escape",)
OPEN_MENU = ("key F10;sleep 0.5;key Down;sleep 9;key Escape;key Escape",)
PROMPTS = ("key alt+x;sleep 12;key ctrl+g", "key ctrl+x;key ctrl+f;sleep 25;key ctrl+g", "key ctrl+s;type wor;sleep 9;key ctrl+g",
           "key alt+colon;type (read-key-sequence \"?\")\n;sleep 11;key a", "key alt+exclam;sleep 6;type ls\n", "key ctrl+x;sleep 8;key ctrl+g")
COMMANDS = ("type ls -l /usr/bin | tail\n", "type find /usr/include -name 's*.h' | wc\n", "type make -s -B -C {folder}/build\n",
            "type git -C {folder}/repository log\n", "type sleep 4\n", "type grep -r main /usr/share/doc | tail -1\n", "type python3 -c 'print(2 ** 99)'\n")
VIM = ("key Down", "type ihello", "key Escape", "type :e {folder}/other.txt\n", "type :set list!\n", "type :!true\n", "key Page_Down", "type u")
BROWSER = ("key Page_Down", "key Tab", "key ctrl+l;sleep 0.5;type file:///usr/share/doc\n", "key alt+Left", "key ctrl+t;sleep 1;key ctrl+w", "key F5",
           "key ctrl+f;sleep 1;type doc;key Escape")
TABLE = ("key Tab", "key ctrl+t", "key Down") + MENUS


@dataclass(frozen=True)
class Program:
    command: tuple
    actions: tuple
    settle_s: float = 3


PROGRAMS = [
    Program(("mousepad", "{text}"), TYPING + MENUS + DIALOG + FIND + PASTE + AWAY + OPEN_DIALOG + OPEN_MENU),
    Program(("geany", "-i", "{source}"), TYPING + MENUS + DIALOG + FIND + AWAY + OPEN_DIALOG),
    Program(("l3afpad", "{text}"), TYPING + MENUS + DIALOG + PASTE + OPEN_MENU),
    Program(("featherpad", "{text}"), TYPING + MENUS + DIALOG + FIND + PASTE + AWAY + OPEN_DIALOG),
    Program(("emacs", "-Q", "{text}"), TYPING[:4] + PROMPTS + AWAY + ("key ctrl+s;type words;key Return",
                                                                     "key alt+x;type shell-command\n;sleep 0.5;type ls\n")),
    Program(("gvim", "-f", "{text}"), VIM),
    Program(("xterm",), COMMANDS),
    Program(("thunar", "/usr/share"), ("key Down", "key Page_Down", "key F5", "key Return;sleep 1;key alt+Up", *MENUS)),
    Program(("gnome-calculator",), ("type 12*34\n", "key Escape", "key ctrl+alt+p;sleep 1;key ctrl+alt+b")),
    Program(("xpdf", "{pages_pdf}"), ("key n", "key p", "key plus", "key minus", "key ctrl+f;sleep 0.5;key Escape")),
    Program(("qpdfview", "{pages_pdf}"), ("key Page_Down", "key Home", *MENUS, *DIALOG)),
    Program(("sqlitebrowser", "{database}"), TABLE + DIALOG, 5),
    Program(("chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--user-data-dir={folder}/chromium", "file:///usr/share/doc"), BROWSER, 6),
    Program(("firefox-esr", "--no-remote", "--profile", "{folder}/firefox", "file:///usr/share/doc"), BROWSER, 8),
    Program(("soffice", "--norestore", "--nologo", "--writer"), TYPING + MENUS + DIALOG, 12),
    Program(("dosbox",), ("type dir\n", "type cls\n", "sleep 10"), 5),
    Program(("mupdf", "{pages_pdf}"), ("key Page_Down", "key g", "key plus", "key minus", *AWAY)),
    Program(("xfe", "/usr/share"), ("key Down", "key Page_Down", "key ctrl+r", *MENUS[:1], *OPEN_MENU)),
    Program(("kate", "-b", "{text}"), TYPING + DIALOG + OPEN_DIALOG + FIND, 6),
    Program(("nedit", "{text}"), TYPING + DIALOG + OPEN_MENU),
    Program(("fluid",), ("key F1;sleep 1;key Escape", *DIALOG, *OPEN_DIALOG)),
    Program(("jedit", "-noserver", "{text}"), TYPING + DIALOG + OPEN_DIALOG + AWAY, 15),
    Program(("gnome-text-editor", "-s", "{text}"), TYPING + DIALOG + OPEN_DIALOG + AWAY, 5),
    Program(("gitk",), ("key Down", "key Page_Down", "key F5")),
    Program(("/usr/lib/qt6/bin/linguist",), (*MENUS, *DIALOG, *OPEN_DIALOG, *AWAY)),
    Program(("xterm", "-e", "vim", "{text}"), VIM + AWAY),
    Program(("xterm", "-e", "mc", "-u"), ("key Down", "key Tab", "key F3;sleep 8;key F10", "key F5;sleep 6;key Escape;key Escape")),
    Program(("xterm", "-e", "/usr/bin/python3"), ("type 2 ** 64\n", "type input()\n;sleep 7;type words\n", "type __import__('time').sleep(4)\n")),
]
OPEN_AT_ONCE = 5


def is_meant(program, names):
    """A program, or one that runs in a terminal, may be named as a case is."""
    words = " ".join(os.path.basename(word) for word in program.command)
    return not names or any(words.startswith(name) for name in names)


@dataclass
class Outcome:
    minutes: float
    actions: int = 0
    late: int = 0  # actions that xdotool did not end in time, on a machine that is busy with other work
    snapshots: int = 0
    wrapped: int = 0  # snapshots that do not reach back to the beginning
    spans_s: list = field(default_factory=list)  # how much time each snapshot holds
    hangs: int = 0  # distinct ones in snapshots
    files: int = 0  # of --on-hang
    real: list = field(default_factory=list)
    invented: list = field(default_factory=list)
    elsewhere: int = 0  # hangs of other processes of the machine


class Use:
    """Some minutes of ordinary use of `session`. Snapshots with a hang stay in the folder of --keep."""

    def __init__(self, options, session):
        self.argus, self.session, self.folder = options.argus, session, options.keep
        self.ring = options.ring_size or RING
        self.until = time.monotonic() + 60 * options.ordinary
        self.chance = random.Random(options.seed)
        self.open = []  # of (process, program, when to close it)
        self.waiting = [program for program in PROGRAMS if shutil.which(program.command[0]) and is_meant(program, options.cases)]
        if not self.waiting:
            raise SystemExit("run: no program to use: " + (" ".join(options.cases) + " names none that is installed" if options.cases else "none is installed"))
        self.chance.shuffle(self.waiting)
        self.sleepers = Sleepers()
        self.outcome = Outcome(options.ordinary)
        self.listed = {}  # (tid, second of the beginning) of a hang: the hang

    def text(self, template):
        for name, value in {**self.session.values, "folder": self.session.folder}.items():
            template = template.replace("{" + name + "}", str(value))
        return template

    def call_argus(self, *words):
        done = subprocess.run([self.argus, *map(str, words)], env={**os.environ, **self.session.environment}, timeout=300, check=False,
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"argus {words[0]}: {done.stderr.strip()}")

    def open_next(self):
        program = self.waiting.pop(0)
        process = self.session.start(*map(self.text, program.command))
        self.open.append((process, program, time.monotonic() + self.chance.uniform(STAY_S / 2, STAY_S)))
        time.sleep(program.settle_s)

    def close_old(self):
        for process, program, until in list(self.open):
            if time.monotonic() < until and process.poll() is None:
                continue
            for window, _ in self.session.windows(process)[-1:]:
                self.session.x("windowclose", window)
            self.session.end(process)
            self.open.remove((process, program, until))
            self.waiting.append(program)

    def act(self):
        """One action in one of the open programs, and then a moment of reading."""
        process, program, _ = self.chance.choice(self.open)
        windows = self.session.windows(process)
        if not windows:
            return
        self.session.focus(windows[-1][0])
        for step in self.text(self.chance.choice(program.actions)).split(";"):
            word, _, rest = step.partition(" ")
            ACTIONS[word](self.session, windows[-1][0], rest)
        self.outcome.actions += 1
        time.sleep(self.chance.choice((0.2, 1, 1, 3, 8)))

    def try_to_act(self):
        try:
            self.act()
        except subprocess.TimeoutExpired:
            self.outcome.late += 1
            release_all(self.session)

    def check_actions(self):
        """Raises if the use was none, because the machine was too busy."""
        most = MOST_LATE_SHARE * (self.outcome.actions + self.outcome.late)
        if self.outcome.late > most:
            raise RuntimeError(f"{self.outcome.late} actions did not end in time, {self.outcome.actions} did: the machine is too busy")

    def take_snapshot(self, trace):
        """Once more where the recorder says so: on a busy machine it may have to wait for the file system."""
        for left in range(SNAPSHOT_TRIES, 0, -1):
            try:
                self.call_argus("snapshot", "-o", trace)
                return
            except RuntimeError as error:
                if left == 1 or "try again" not in str(error):
                    raise
                time.sleep(10)

    def look(self):
        """Takes a snapshot, and lists its hangs. The snapshot is only kept if it has one of this desktop's."""
        trace = self.folder / f"{self.outcome.snapshots:03}.argus"
        self.take_snapshot(trace)
        info, _ = judge.ask(self.argus, "info", "--json", trace)
        answer, said = judge.ask(self.argus, "hangs", "--json", trace)
        if answer is None:
            raise RuntimeError(f"argus hangs {trace}: {said}")
        self.outcome.snapshots += 1
        self.outcome.spans_s.append(round((info["end_ns"] - info["start_ns"]) / 1e9, 1))
        self.outcome.wrapped += info["start_ns"] > self.began_ns + int(1e9)
        ours = self.sleepers.ours | our_processes()
        found = [hang for hang in answer["hangs"] if hang["pid"] in ours]
        self.outcome.elsewhere += len(answer["hangs"]) - len(found)
        for hang in found:
            self.listed.setdefault((hang["tid"], hang["start_ns"] // 1000000000), {**hang, "trace": trace.name})
        if not found:
            for path in self.folder.glob(f"{trace.name}*"):
                path.unlink()

    def use(self):
        next_look = time.monotonic() + SNAPSHOT_S
        while time.monotonic() < self.until:
            self.close_old()
            while self.waiting and len(self.open) < OPEN_AT_ONCE:
                self.open_next()
            self.try_to_act()
            if time.monotonic() > next_look:
                self.look()
                next_look = time.monotonic() + SNAPSHOT_S

    def judge_hang(self, hang, source):
        text = f"{judge.short(hang)} {hang['duration_ns'] / 1e9:.1f} s, {source}"
        home = self.sleepers.share_at_home(hang["tid"], hang["start_ns"], hang["start_ns"] + hang["duration_ns"])
        seen = "not watched" if home is None else f"{100 * home:.0f} % of it in a poll"
        (self.outcome.real if home is not None and home < 0.5 else self.outcome.invented).append(f"{text} ({seen})")

    def judge_files(self):
        answer, _ = judge.ask(self.argus, "hangs", "--json", self.folder / "kept")
        for hang in answer["hangs"] if answer else []:
            if hang["pid"] in self.sleepers.ours:
                self.outcome.files += 1
                self.judge_hang({**hang, "thread": hang["process"]}, hang["file"])
            else:
                self.outcome.elsewhere += 1

    def run(self):
        self.sleepers.start()
        self.began_ns = now_ns()
        self.call_argus("start", "--on-hang", "2s", "-o", self.folder / "kept", "--ring-size", self.ring)
        try:
            self.use()
            self.look()
        finally:
            subprocess.run([self.argus, "stop"], capture_output=True, check=False)
            time.sleep(10)
            self.sleepers.finish()
        for hang in self.listed.values():
            self.judge_hang(hang, hang["trace"])
        self.outcome.hangs = len(self.listed)
        self.judge_files()
        (self.folder / "ordinary.json").write_text(json.dumps(asdict(self.outcome), indent=1))
        return self.outcome


def release_all(session):
    """What a killed xdotool may have left pressed would change every later action."""
    words = [word for key in ("shift", "ctrl", "alt", "super") for word in ("keyup", key)]
    words += [word for button in (1, 2, 3) for word in ("mouseup", button)]
    try:
        session.x(*words)
    except subprocess.TimeoutExpired:
        print("ordinary: keys and buttons could not be released")


def minimize(session, window, seconds):
    session.x("windowminimize", window)
    time.sleep(float(seconds))
    session.x("windowactivate", window)


ACTIONS = {
    "key": lambda session, window, rest: session.x("key", rest),
    "type": lambda session, window, rest: session.x("type", "--delay", "40", rest),
    "sleep": lambda session, window, rest: time.sleep(float(rest)),
    "minimize": minimize,
}
