"""The time that each of the recorder's BPF programs takes, as counted by the kernel (BPF_ENABLE_STATS). The counting itself
reads the clock twice a run, some 20 ns, which is in the figures: they are for comparing programs, not for adding up."""
import json
import subprocess
import time

from bench_recorders import cpu_of_daemon, run


def attached(tools):
    return [json.loads(line) for line in run([tools.bpf_programs])[0].splitlines()]


def others(tools):
    """How many tracing programs there are that are not ours."""
    return len(attached(tools))


def measure_load(tools, load):
    counter = subprocess.Popen([tools.bpf_programs, "--stats", "sleep", "600"])
    try:
        before = {program["id"] for program in attached(tools)}
        run([tools.argus, "start"])
        try:
            time.sleep(0.1)
            run(load.command)
            programs = attached(tools)
        finally:
            run([tools.argus, "stop"])
    finally:
        counter.terminate()
        counter.wait()
        cpu_of_daemon("argus-recorder")
    rows = [{"load": load.name, "program": program["name"], "runs": program["runs"], "bytes": program["bytes"],
             "ns_per_run": program["time_ns"] / program["runs"], "ms": program["time_ns"] / 1e6}
            for program in programs if program["runs"] and program["id"] not in before]
    return sorted(rows, key=lambda row: -row["ms"])


def measure(tools, folder, loads):
    del folder
    return [row for load in loads for row in measure_load(tools, load)]


def show(rows):
    if rows:
        print("\n" + f"{'load':<10} {'program':<20} {'runs':>10} {'ns/run':>8} {'ms':>9}")
    for row in rows:
        print(f"{row['load']:<10} {row['program']:<20} {row['runs']:>10} {row['ns_per_run']:>8.1f} {row['ms']:>9.1f}")
