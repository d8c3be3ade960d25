"""Whether records are lost, and whether the recorder reports them. call_loops makes system calls on every cpu that carry their
number, so that check_calls can tell from the trace which of them are missing, independently of the recorder."""
import json
import os
import subprocess
import time

from bench_recorders import PLAIN, Refused, cpu_of_daemon, run

SECONDS = 3
PACED_CALLS = 1600000  # a second: 3.2 million records


def loop(tools, rate, seconds=SECONDS):
    return [tools.call_loops, str(seconds), str(rate)]


def checked(tools, file):
    return json.loads(run([tools.check_calls, file])[0])


def ring(tools, file):
    """A small ring that wraps many times; the snapshot is taken while the loops run as fast as they can."""
    run([tools.argus, "start", *PLAIN, "--ring-size", "64M"])
    load = subprocess.Popen(loop(tools, 0), stdout=subprocess.DEVNULL)
    try:
        time.sleep(SECONDS / 3)
        before = json.loads(run([tools.argus, "status", "--json"])[0])
        time.sleep(SECONDS / 3)
        after = json.loads(run([tools.argus, "status", "--json"])[0])
        run([tools.argus, "snapshot", "-o", file])
    finally:
        load.wait()
        run([tools.argus, "stop"])
        cpu_of_daemon("argus-recorder")
    check = checked(tools, file)
    rate = (after["emitted"] - before["emitted"]) / (after["duration_ns"] - before["duration_ns"]) * 1e9
    return {"what": "argus-ring", "records_a_second": int(rate), "kept_in_window": check["records"],
            "window_ms": int(check["span_s"] * 1e3), "lost": check["lost"], "missing_in_window": 2 * check["missing"]}


def stream(tools, file, name, rate):
    out, err = run([tools.argus, "record", "-o", file, *PLAIN, "--", *loop(tools, rate)])
    own_cpu_ns = cpu_of_daemon("argus-recorder")
    made, check = json.loads(out), checked(tools, file)
    missing = 2 * (made["calls"] - check["calls"])
    return {"what": name, "records_a_second": int(2 * made["calls"] / made["seconds"]), "kept": check["records"],
            "lost": check["lost"], "lost_unsaid": max(0, missing - check["lost"]),
            "own_cpu_ms": (own_cpu_ns or 0) // 1000000}


def measure(tools, folder):
    """Rows, and what could not run."""
    file, rows, refused = os.path.join(folder, "lost"), [], {}
    for name, work in (
            ("argus-ring", lambda: ring(tools, file)),
            ("argus-stream at 3 M/s", lambda: stream(tools, file, "argus-stream at 3 M/s", PACED_CALLS)),
            ("argus-stream, no limit", lambda: stream(tools, file, "argus-stream, no limit", 0))):
        try:
            rows.append(work())
        except Refused as reason:
            refused[f"losses of {name}"] = str(reason)
        if os.path.exists(file):
            os.unlink(file)
    return rows, refused
