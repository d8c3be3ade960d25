"""What a trace is asked for, as values that stay valid when the trace is closed. Times are ns of the trace's clock."""
from __future__ import annotations

import dataclasses
import datetime
import json
from typing import TYPE_CHECKING, Any, Optional, Tuple

if TYPE_CHECKING:
    from ._trace import HangList


def moment(wall_ns: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(wall_ns / 1e9, datetime.timezone.utc)


@dataclasses.dataclass(frozen=True)
class Info:
    """What a trace is about."""
    path: str
    format: str
    os: str
    host: str
    cpus: int
    start_ns: int
    end_ns: int
    start: datetime.datetime
    records: int
    lost: int        # records that the recorder lost
    complete: bool   # False: the file was cut off or is damaged
    imported: bool   # a trace of another tool


@dataclasses.dataclass(frozen=True)
class Step:
    """A step from the thread that hung back to the root cause."""
    process: str
    pid: int
    thread: str
    tid: int
    text: str             # what the thread did
    edge: Optional[str]   # how it caused the previous step; None: the first
    strong: bool          # the edge is certain
    expected: bool        # from a normal case: what should have happened
    vague: bool           # it only could have ended the wait of the previous step
    vertex: int


@dataclasses.dataclass(frozen=True)
class Culprit:
    """A root cause."""
    process: str
    pid: int
    thread: str
    tid: int
    type: str
    why: str
    function: Optional[str]   # to look at first
    image: Optional[str]      # its program, library or script
    start_ns: int
    end_ns: int
    share: float              # of the hang, 0 to 1
    vertex: int


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """Why a hang happened."""
    summary: str               # one sentence
    guess: bool                # a part of it is a guess
    path: Tuple[Step, ...]     # from the thread that hung on
    culprits: Tuple[Culprit, ...]   # the root cause first
    doubts: Tuple[str, ...]
    text: str                  # what `argus diagnose` prints
    json_text: str

    def json(self) -> Any:
        """What `argus diagnose --json` prints (share/argus/schema/diagnose.json), as Python's objects."""
        return json.loads(self.json_text)


@dataclasses.dataclass(frozen=True)
class Hang:
    """A period in which a thread did not respond."""
    process: str
    pid: int
    thread: str
    tid: int
    start_ns: int
    end_ns: int
    start: datetime.datetime
    type: str                # LongWait, LongRunning or RepeatedYield
    nature: Optional[str]    # what the type does not tell, e.g. "stopped"
    indicator: str           # why it is taken for a hang
    ongoing: bool            # it had not ended when the trace did
    awaited: bool            # something waited for the thread
    run_ns: int
    runnable_ns: int
    wait_ns: int
    yield_ns: int
    vertex: Optional[int]
    _source = None           # its list, and its number there; no field: it is no part of the value

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / 1e9

    def diagnose(self) -> Diagnosis:
        """Follows the causes back to the root cause. The trace must be open. ValueError: it is closed, or the hang was pickled."""
        if self._source is None:
            raise ValueError("this hang was pickled or made without a trace: only one that Trace.hangs() returned can be diagnosed")
        hangs, index = self._source
        return hangs.diagnose(index)

    def __getstate__(self) -> Any:
        return {name: value for name, value in self.__dict__.items() if name != "_source"}

    def __copy__(self) -> "Hang":
        return self  # as it cannot change

    def __deepcopy__(self, _: Any) -> "Hang":
        return self


def from_list(hangs: "HangList", index: int, hang: Hang) -> Hang:
    """The same hang, which can be diagnosed."""
    object.__setattr__(hang, "_source", (hangs, index))
    return hang


@dataclasses.dataclass(frozen=True)
class Frame:
    function: str
    image: Optional[str]   # path of its program or library


@dataclasses.dataclass(frozen=True)
class Context:
    """A path of functions, and what it costs."""
    frames: Tuple[Frame, ...]   # the program, then its functions from the outermost on
    culprit: Frame              # the function with the highest share of the cost
    cost_ns: float              # own time of the functions, or what it exceeds the base's by
    own_ns: int                 # of the innermost function, without its callees
    total_ns: int
    calls: int
    is_new: bool                # the base has no such path
    by_chance: bool             # the cost is within the measurement's error
