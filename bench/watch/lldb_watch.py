"""Run inside LLDB by bench_watch.py: a watchpoint whose hits are logged (thread, value, pc) while the process goes on."""
import time

import lldb


def measure(pid, address, hits):
    debugger = lldb.debugger
    debugger.SetAsync(False)
    error, stop = lldb.SBError(), lldb.SBError()
    target = debugger.CreateTarget("")
    process = target.AttachToProcessWithID(lldb.SBListener(), pid, error)
    if not error.Success():
        print("lldb:", error.GetCString())
        return
    target.WatchAddress(address, 8, False, True, stop)
    log, start = [], 0
    while len(log) < hits + 1:
        process.Continue()
        if process.GetState() != lldb.eStateStopped:
            break
        thread = next((t for t in process if t.GetStopReason() == lldb.eStopReasonWatchpoint), None)
        if thread:
            start = start or time.monotonic()
            log.append((thread.GetThreadID(), process.ReadUnsignedFromMemory(address, 8, error), thread.frame[0].pc))
    print("lldb_ns_per_hit", int((time.monotonic() - start) / (len(log) - 1) * 1e9))
    target.DeleteAllWatchpoints()
    process.Detach()
