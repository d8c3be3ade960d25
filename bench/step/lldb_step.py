"""Run inside LLDB by bench_step.py: SBThread::StepInstruction and the pc, nothing else."""
import time

import lldb


def measure(pid, count):
    debugger = lldb.debugger
    debugger.SetAsync(False)
    error = lldb.SBError()
    target = debugger.CreateTarget("")
    process = target.AttachToProcessWithID(lldb.SBListener(), pid, error)
    if not error.Success():
        print("lldb:", error.GetCString())
        return
    thread = process.GetThreadAtIndex(0)
    start = time.monotonic()
    for _ in range(count):
        thread.StepInstruction(False)
        thread.GetFrameAtIndex(0).GetPC()
    print("lldb_ns", (time.monotonic() - start) / count * 1e9)
    process.Kill()
