"""Reads traces of Argus and of other tools, lists their hangs, and says why they happened.

    import argus

    with argus.open("freeze.argus") as trace:
        for hang in trace.hangs():
            print(hang.process, hang.seconds)
            print(hang.diagnose().summary)

It calls the C library libargus.so.1: that of $ARGUS_LIBRARY, else the one that the dynamic linker finds, else that of an installation in
/usr/local or /usr. docs/python.md in Argus's sources is its page.
"""
from ._library import (Error, FormatError, Interrupted, NotFound, ReadError, TraceVersionError, Unsupported, UsageError,
                       library_version)
from ._trace import Trace, open  # noqa: A004: argus.open() is like gzip.open()
from ._values import Context, Culprit, Diagnosis, Frame, Hang, Info, Step

__all__ = ["Context", "Culprit", "Diagnosis", "Error", "FormatError", "Frame", "Hang", "Info", "Interrupted", "NotFound", "ReadError",
           "Step", "Trace", "TraceVersionError", "Unsupported", "UsageError", "library_version", "open"]
