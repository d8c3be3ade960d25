"""Open traces: handles of the C library, and the values that are made from them."""
from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import weakref
from ctypes import byref, c_void_p, sizeof
from typing import Any, Callable, Iterator, Optional, Tuple, Union

from . import _library as c
from ._library import check, library, number, text
from ._values import Context, Culprit, Diagnosis, Frame, Hang, Info, Step, from_list, moment

GoOn = Callable[[str, Optional[float]], Optional[bool]]


def _each(get: Callable[..., Any], *where: Any) -> Iterator[Any]:
    """What a getter returns for 0, 1, 2 … up to its NULL."""
    index = 0
    while True:
        found = get(*where, index)
        if not found:
            return
        yield found
        index += 1


def _bytes(value: Optional[str], name: str) -> Optional[bytes]:
    """A text for the C library, where it ends with NUL; None if there is none."""
    if value and "\0" in value:
        raise ValueError(f"{name} contains NUL")
    return value.encode() if value else None


def _count(value: int, name: str, least: int) -> int:
    if not least <= value <= c.UNKNOWN:
        raise ValueError(f"{name} is {value}, but must be at least {least}" if value < least else f"{name} is too large: {value}")
    return value


def _nanoseconds(seconds: float) -> int:
    if not seconds > 0:  # also if it is no number
        raise ValueError("threshold must be longer than 0 s")
    return c.UNKNOWN if seconds >= c.UNKNOWN / 1e9 else max(1, int(seconds * 1e9))


@contextlib.contextmanager
def _locked(*traces: "Trace") -> Iterator[None]:
    """All threads take the locks in the same order, so none waits for another one that waits for it."""
    with contextlib.ExitStack() as held:
        for trace in sorted(traces, key=id):
            held.enter_context(trace._lock)
        yield


class _Handle:
    """An object of the C library, which its function ends once: in any thread, but not in a call that uses it, which holds the object."""

    def __init__(self, pointer: Optional[int], end: Callable[[Any], None]):
        self._pointer = pointer
        self._end = weakref.finalize(self, end, pointer)
        self._end.atexit = False  # then, other threads may still use it

    def close(self) -> None:
        self._pointer = None
        self._end()

    def get(self) -> int:
        if self._pointer is None:
            raise ValueError("the trace is closed")
        return self._pointer


class Trace:
    """An open trace, made by argus.open(). Threads may share it: their calls follow each other."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], go_on: Optional[GoOn] = None):
        self._lock = threading.RLock()
        self._failed: Optional[BaseException] = None
        self._callback = c.GO_ON(lambda _data, what, share: self._go_on(go_on, what, share))
        options = c.OpenOptions(sizeof(c.OpenOptions), self._callback if go_on else c.GO_ON(), None)
        pointer = c_void_p()
        name = os.fsencode(path)
        if b"\0" in name:
            raise ValueError("path contains NUL")
        error = library().argus_file_open(name, byref(options), byref(pointer))
        self._file = _Handle(pointer.value, library().argus_file_close)
        self._check(error)
        self.info = self._info()

    def _go_on(self, function: Optional[GoOn], what: bytes, share: float) -> bool:
        try:
            return function is None or function(what.decode(errors="replace"), share if share >= 0 else None) is not False
        except BaseException as error:  # an exception cannot pass the C code: it is raised behind it
            self._failed = error
            return False

    def _check(self, error: Optional[int], base: Optional["Trace"] = None) -> None:
        """Raises what go_on raised, of this trace or of `base`; else the error that the C library returned."""
        failed = []
        for trace in (self, base):
            if trace and trace._failed:
                failed.append(trace._failed)
                trace._failed = None
        try:
            check(error)
        except (c.Error, MemoryError):
            if not failed:
                raise
        if failed:
            raise failed[0]

    def _info(self) -> Info:
        info = library().argus_file_info_get(self._file.get()).contents
        return Info(text(info.path), text(info.format), text(info.os), text(info.host), info.cpus, info.start_ns, info.end_ns,
                    moment(info.start_wall_ns), info.records, info.lost, info.complete, info.imported)

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<argus.Trace {self.info.path!r}>"

    def close(self) -> None:
        with self._lock:
            self._file.close()

    @property
    def warnings(self) -> Tuple[str, ...]:
        """What is wrong with the trace: damage, lost records."""
        with self._lock:
            return tuple(warning.decode() for warning in _each(library().argus_file_warning, self._file.get()))

    def hangs(self, process: Optional[str] = None, *, pid: int = 0, threshold: float = 2.0) -> Iterator[Hang]:
        """The hangs of `threshold` seconds or longer, the most urgent first: those that `argus hangs` lists."""
        return iter(HangList(self, process, pid, threshold))

    def contexts(self, process: Optional[str] = None, *, base: Optional["Trace"] = None, aggressive: bool = False,
                 most: int = 100) -> Iterator[Context]:
        """The costliest calling contexts, as `argus contexts` ranks them; with `base`, what became slower than there. NotFound: the trace
        has no call stacks."""
        with _locked(self, base or self):
            wanted = c.ContextFilter(sizeof(c.ContextFilter), _bytes(process, "process"), base._file.get() if base else None, aggressive,
                                     _count(most, "most", 1))
            pointer = c_void_p()
            error = library().argus_context_list_create(self._file.get(), byref(wanted), byref(pointer))
            try:
                self._check(error, base)
                return iter([_context(pointer, index, found.contents)
                             for index, found in enumerate(_each(library().argus_context_list_get, pointer))])
            finally:
                library().argus_context_list_free(pointer)


class HangList:
    """The hangs of a trace in the C library, which diagnoses them by their number."""

    def __init__(self, trace: Trace, process: Optional[str], pid: int, threshold: float):
        self._trace = trace
        wanted = c.HangFilter(sizeof(c.HangFilter), _bytes(process, "process"), _count(pid, "pid", 0), _nanoseconds(threshold))
        pointer = c_void_p()
        with trace._lock:
            error = library().argus_hang_list_create(trace._file.get(), byref(wanted), byref(pointer))
            self._handle = _Handle(pointer.value, library().argus_hang_list_free)
            trace._check(error)

    def __iter__(self) -> Iterator[Hang]:
        for index, found in enumerate(_each(library().argus_hang_list_get, self._handle.get())):
            hang = found.contents
            value = Hang(text(hang.process), hang.pid, text(hang.thread), hang.tid, hang.start_ns, hang.end_ns, moment(hang.start_wall_ns),
                         text(hang.type), text(hang.nature), text(hang.indicator), hang.ongoing, hang.awaited, hang.run_ns,
                         hang.runnable_ns, hang.wait_ns, hang.yield_ns, number(hang.vertex))
            yield from_list(self, index, value)

    def diagnose(self, index: int) -> Diagnosis:
        pointer = c_void_p()
        with self._trace._lock:
            self._trace._file.get()  # it must be open
            error = library().argus_answer_create(self._handle.get(), index, byref(pointer))
            try:
                self._trace._check(error)
                return _diagnosis(pointer)
            finally:
                library().argus_answer_free(pointer)


def _diagnosis(answer: ctypes.c_void_p) -> Diagnosis:
    steps = (found.contents for found in _each(library().argus_answer_step_get, answer))
    culprits = (found.contents for found in _each(library().argus_answer_culprit_get, answer))
    return Diagnosis(
        text(library().argus_answer_summary(answer)) or "", library().argus_answer_is_guess(answer),
        tuple(Step(text(step.process), step.pid, text(step.thread), step.tid, text(step.text), text(step.edge), step.strong,
                   step.expected, step.vague, step.vertex) for step in steps),
        tuple(Culprit(text(culprit.process), culprit.pid, text(culprit.thread), culprit.tid, text(culprit.type), text(culprit.why),
                      text(culprit.function), text(culprit.image), culprit.start_ns, culprit.end_ns, culprit.share, culprit.vertex)
              for culprit in culprits),
        tuple(doubt.decode() for doubt in _each(library().argus_answer_doubt, answer)),
        text(library().argus_answer_text(answer)) or "", text(library().argus_answer_json(answer)) or "")


def _context(contexts: ctypes.c_void_p, index: int, info: Any) -> Context:
    frames = tuple(Frame(text(found.contents.function), text(found.contents.image))
                   for found in _each(library().argus_context_list_frame, contexts, index))
    return Context(frames, frames[info.culprit], info.cost_ns, info.own_ns, info.total_ns, info.calls, info.is_new, info.by_chance)


def open(path: Union[str, "os.PathLike[str]"], go_on: Optional[GoOn] = None) -> Trace:  # noqa: A001: like gzip.open()
    """Opens a trace of any format that the commands of Argus read: a file or, for CTF, a folder.

    `go_on(what, share)` is called now and then by functions that take long, with the current work and the done part of it (0 to 1; None:
    unknown). If it returns False, the function raises Interrupted; if it raises, the function raises the same."""
    return Trace(path, go_on)
