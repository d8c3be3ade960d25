"""Compares Argus's answers about a recording with the known facts. Reads `argus hangs --json` and `argus diagnose --json`,
without an option."""
import json
import re
import subprocess
from dataclasses import asdict, dataclass, field

OVERLAP = 0.5  # the part of the freeze that a hang must cover


@dataclass
class Truth:
    """The known facts, observed from outside."""

    pid: int
    tid: int
    begin_ns: int
    end_ns: int
    culprits: set
    away: list  # of (begin, end): all stretches in which the thread was away from its event loop's own wait
    allowed: set = field(default_factory=set)  # may be named besides the culprits: the program that froze it on purpose
    victims: set = field(default_factory=set)  # these freeze as well
    ours: set = field(default_factory=set)  # processes of this desktop; other processes of the machine are ignored
    itself: bool = False
    says: str = ""  # a regular expression that the first root cause must match
    headline: str = ""  # one that the answer's first line must match

    @classmethod
    def read(cls, saved):
        return cls(**{name: set(value) if name in ("culprits", "allowed", "victims", "ours") else value for name, value in saved.items()})

    def save(self):
        return {name: sorted(value) if isinstance(value, set) else value for name, value in asdict(self).items()}

    @property
    def seconds(self):
        return (self.end_ns - self.begin_ns) / 1e9


@dataclass
class Verdict:
    found: bool = False
    rank: int = 0  # among the hangs of this desktop; 0: not found
    culprit: bool = False
    blamed: str = ""  # the processes that the answer blames
    questions: int = 0
    invented: list = field(default_factory=list)
    headline: str = ""
    note: str = ""
    type: str = ""


def ask(argus, *words):
    """The JSON answer of a command, or None and its error message."""
    done = subprocess.run([argus, *map(str, words)], capture_output=True, text=True, timeout=300)
    try:
        return json.loads(done.stdout), done.stderr
    except json.JSONDecodeError:
        return None, (done.stderr or done.stdout).strip().splitlines()[-1:]


def begin_ns(argus, trace):
    answer, _ = ask(argus, "info", "--json", trace)
    return answer["start_ns"] if answer else 0


def overlap(hang, truth):
    first = max(hang["start_ns"], truth.begin_ns)
    last = min(hang["start_ns"] + hang["duration_ns"], truth.end_ns)
    return max(0, last - first) / max(1, truth.end_ns - truth.begin_ns)


def is_the_freeze(hang, truth):
    return hang["tid"] == truth.tid and overlap(hang, truth) >= OVERLAP


def was_away(hang, truth):
    """At least half of the hang was also observed from outside."""
    first, last = hang["start_ns"], hang["start_ns"] + hang["duration_ns"]
    seen = sum(max(0, min(last, end) - max(first, begin)) for begin, end in truth.away)
    return seen >= OVERLAP * hang["duration_ns"]


def is_invented(hang, truth):
    if hang["tid"] == truth.tid:
        return not was_away(hang, truth)
    return hang["pid"] not in truth.culprits | truth.victims | truth.allowed


def short(vertex):
    name = vertex["process"] + ("/" + vertex["thread"] if vertex["thread"] != vertex["process"] else "")
    return f"{name} [{vertex['tid']}]"


def blames_right(causes, truth):
    """The first root cause is the culprit, and no unrelated process is blamed."""
    if not causes:
        return False
    if not re.search(truth.says, causes[0]["why"]):
        return False
    if truth.itself:
        return all(cause["pid"] == truth.pid for cause in causes) and causes[0]["tid"] == truth.tid
    known = truth.culprits | truth.allowed | {truth.pid}
    return causes[0]["pid"] in truth.culprits and all(cause["pid"] in known for cause in causes)


def judge_culprit(verdict, argus, trace, truth, which):
    answer, said = ask(argus, "diagnose", "--auto", "--json", trace, *which)
    if answer is None:
        verdict.note = f"diagnose: {said}"
        return
    causes = answer["root_causes"]
    verdict.culprit = blames_right(causes, truth)
    verdict.blamed = ", ".join(f"{short(c)} {c['type']}" for c in causes) or "nobody"
    verdict.questions = sum(1 for question in answer["questions"] if question["by"] == "auto")
    verdict.headline, verdict.type = answer["summary"] or "", answer["hang"]["type"]
    verdict.culprit &= re.search(truth.headline, verdict.headline) is not None


def judge(argus, trace, truth, listed=None):
    """Adds the invented hangs to `listed` by thread and beginning: two files of one freeze show different lengths of the same hang."""
    verdict = Verdict()
    answer, said = ask(argus, "hangs", "--json", trace)
    if answer is None:
        verdict.note = f"hangs: {said}"
        return verdict
    ours = [(number, hang) for number, hang in enumerate(answer["hangs"], 1) if hang["pid"] in truth.ours]
    invented = {(h["tid"], h["start_ns"]): f"{short(h)} {h['duration_ns'] / 1e9:.1f} s" for _, h in ours if is_invented(h, truth)}
    verdict.invented = list(invented.values())
    if listed is not None:
        listed.update(invented)
    for rank, (number, hang) in enumerate(ours, 1):
        if is_the_freeze(hang, truth):
            verdict.found, verdict.rank = True, rank
            judge_culprit(verdict, argus, trace, truth, [number])
            break
    return verdict


def pid_of(trace):
    """The process whose hang a file of --on-hang describes: hang-PROCESS-PID-TIME.argus."""
    return int(trace.stem.rsplit("-", 2)[1])


def judge_folder(argus, folder, truth):
    """The files of --on-hang: the best verdict on the freeze. Files about hangs of other processes of this desktop are false alarms."""
    best, listed, files = Verdict(note="no file"), {}, []
    for trace in sorted(folder.glob("*.argus")):
        pid = pid_of(trace)
        if pid == truth.pid:
            verdict = judge(argus, trace, truth, listed)  # with hangs that the file lists beside the freeze
            best = verdict if verdict.found and not best.culprit else best
        elif pid in truth.ours - truth.culprits - truth.victims - truth.allowed:
            files.append(trace.name)
    best.invented = sorted([*listed.values(), *files])
    return best
