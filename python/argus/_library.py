"""The C library: its functions and structures (argus.h), and errors as exceptions."""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from typing import Any, Optional

NAME = "libargus.so.1"
FOLDERS = "/usr/local/lib", "/usr/lib"
UNKNOWN = 2**64 - 1

GO_ON = ctypes.CFUNCTYPE(c_bool, c_void_p, c_char_p, c_double)


def _structure(name: str, **members: Any) -> type:
    return type(name, (ctypes.Structure,), {"_fields_": list(members.items())})


OpenOptions: Any = _structure("OpenOptions", size_bytes=c_size_t, go_on=GO_ON, data=c_void_p)
FileInfo: Any = _structure("FileInfo", path=c_char_p, format=c_char_p, os=c_char_p, host=c_char_p, cpus=c_uint64, start_ns=c_uint64,
                           end_ns=c_uint64, start_wall_ns=c_uint64, records=c_uint64, lost=c_uint64, complete=c_bool, imported=c_bool)
HangFilter: Any = _structure("HangFilter", size_bytes=c_size_t, process=c_char_p, pid=c_uint64, threshold_ns=c_uint64)
HangInfo: Any = _structure("HangInfo", process=c_char_p, thread=c_char_p, pid=c_uint64, tid=c_uint64, start_ns=c_uint64, end_ns=c_uint64,
                           start_wall_ns=c_uint64, type=c_char_p, nature=c_char_p, indicator=c_char_p, ongoing=c_bool, awaited=c_bool,
                           run_ns=c_uint64, runnable_ns=c_uint64, wait_ns=c_uint64, yield_ns=c_uint64, vertex=c_uint64)
AnswerStep: Any = _structure("AnswerStep", process=c_char_p, thread=c_char_p, pid=c_uint64, tid=c_uint64, text=c_char_p, edge=c_char_p,
                             strong=c_bool, expected=c_bool, vague=c_bool, vertex=c_uint64)
AnswerCulprit: Any = _structure("AnswerCulprit", process=c_char_p, thread=c_char_p, pid=c_uint64, tid=c_uint64, type=c_char_p,
                                why=c_char_p, function=c_char_p, image=c_char_p, start_ns=c_uint64, end_ns=c_uint64, share=c_double,
                                vertex=c_uint64)
ContextFilter: Any = _structure("ContextFilter", size_bytes=c_size_t, process=c_char_p, base=c_void_p, aggressive=c_bool, most=c_size_t)
ContextInfo: Any = _structure("ContextInfo", cost_ns=c_double, own_ns=c_uint64, total_ns=c_uint64, calls=c_uint64, is_new=c_bool,
                              by_chance=c_bool, frames=c_size_t, culprit=c_size_t)
ContextFrame: Any = _structure("ContextFrame", function=c_char_p, image=c_char_p)

# function → result, arguments; those without a result here return an error
FUNCTIONS = {
    "argus_library_version": (c_char_p,),
    "argus_error_failure": (c_int, c_void_p),
    "argus_error_text": (c_char_p, c_void_p),
    "argus_error_free": (None, c_void_p),
    "argus_file_open": (c_void_p, c_char_p, POINTER(OpenOptions), POINTER(c_void_p)),
    "argus_file_close": (None, c_void_p),
    "argus_file_info_get": (POINTER(FileInfo), c_void_p),
    "argus_file_warning": (c_char_p, c_void_p, c_size_t),
    "argus_hang_list_create": (c_void_p, c_void_p, POINTER(HangFilter), POINTER(c_void_p)),
    "argus_hang_list_free": (None, c_void_p),
    "argus_hang_list_count": (c_size_t, c_void_p),
    "argus_hang_list_get": (POINTER(HangInfo), c_void_p, c_size_t),
    "argus_answer_create": (c_void_p, c_void_p, c_size_t, POINTER(c_void_p)),
    "argus_answer_free": (None, c_void_p),
    "argus_answer_summary": (c_char_p, c_void_p),
    "argus_answer_is_guess": (c_bool, c_void_p),
    "argus_answer_text": (c_char_p, c_void_p),
    "argus_answer_json": (c_char_p, c_void_p),
    "argus_answer_step_get": (POINTER(AnswerStep), c_void_p, c_size_t),
    "argus_answer_culprit_get": (POINTER(AnswerCulprit), c_void_p, c_size_t),
    "argus_answer_doubt": (c_char_p, c_void_p, c_size_t),
    "argus_context_list_create": (c_void_p, c_void_p, POINTER(ContextFilter), POINTER(c_void_p)),
    "argus_context_list_free": (None, c_void_p),
    "argus_context_list_count": (c_size_t, c_void_p),
    "argus_context_list_get": (POINTER(ContextInfo), c_void_p, c_size_t),
    "argus_context_list_frame": (POINTER(ContextFrame), c_void_p, c_size_t, c_size_t),
}


class Error(Exception):
    """What the C library reports. The text is one sentence."""


class ReadError(Error, OSError):
    """A file could not be read."""


class FormatError(Error, ValueError):
    """The file is no trace, or is damaged."""


class TraceVersionError(Error):
    """The trace was written by a newer Argus."""


class UsageError(Error, ValueError):
    """Wrong argument."""


class NotFound(Error, LookupError):
    """The trace has no such thing."""


class Unsupported(Error):
    """This build or system lacks what is needed."""


class Interrupted(Error):
    """The function go_on returned false."""


# enum argus_failure
KINDS = {2: ReadError, 3: FormatError, 4: TraceVersionError, 5: UsageError, 6: NotFound, 7: ReadError, 8: Unsupported, 9: Interrupted}

_loaded: Optional[ctypes.CDLL] = None


def _load() -> ctypes.CDLL:
    named = os.environ.get("ARGUS_LIBRARY")
    places = [named] if named else [NAME, *(f"{folder}/{NAME}" for folder in FOLDERS)]
    failed = []
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            failed.append(str(error))
    raise ImportError(f"cannot load the C library of Argus: {failed[0]}; install Argus, or set ARGUS_LIBRARY to the path of {NAME}")


def library() -> ctypes.CDLL:
    """The library, loaded by the first call."""
    global _loaded
    if _loaded is None:
        loaded = _load()
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
        _loaded = loaded
    return _loaded


def library_version() -> str:
    return library().argus_library_version().decode()


def check(error: Optional[int]) -> None:
    """Raises what a function returned, if it is an error."""
    if not error:
        return
    code, text = library().argus_error_failure(error), library().argus_error_text(error).decode(errors="replace")
    library().argus_error_free(error)
    if code == 1:
        raise MemoryError(text)
    raise KINDS.get(code, Error)(text)


def text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "replace")


def number(value: int) -> Optional[int]:
    return None if value == UNKNOWN else value
