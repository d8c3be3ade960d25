#!/usr/bin/env python3
"""What a snapshot of a large ring costs: bench_snapshot.py ARGUS RAW_RECORDS [--ring 1G] [--rounds 5] (ninja bench_snapshot). Needs
root, and three times the ring's size of memory and disk.

The ring is filled by hackbench and greps. Then, in turns, cpu time of
  argus snapshot     the recorder and the process that writes, without what `argus snapshot` does afterwards as the user
  zstd -1, cp        of the same records, 64 bytes each, in the page cache, on one thread
  perf               `perf record -a --overwrite` after SIGUSR2, with rings as large as Argus's, filled by the same load
The figures are seconds a GB (2^30 bytes) of records. While a snapshot is written, `argus status` is called again and again.
"""
import argparse
import json
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "e2e"))
import machine  # noqa: E402
from bench_recorders import PERF_EVENTS  # noqa: E402

GB = 1 << 30
RECORD_BYTES = 64
LOAD = ("hackbench -g 4 -l 1000; find /usr -name '*.h' | head -n 4000 | xargs -n 50 grep -c foo", )
TICKS = os.sysconf("SC_CLK_TCK")


def quiet(*command):
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def status(argus):
    return json.loads(quiet(argus, "status", "--json"))


def load():
    subprocess.run(["sh", "-c", LOAD[0]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def cpu_of(pid):
    """Of a process and its children that have ended, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / TICKS


def cpu_of_command(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Asking:
    """Asks for the status again and again, and keeps the longest time that an answer took."""

    def __init__(self, argus):
        self.argus, self.over, self.longest, self.answers, self.failed = argus, False, 0.0, 0, 0
        self.thread = threading.Thread(target=self.ask)

    def ask(self):
        while not self.over:
            begin = time.monotonic()
            done = subprocess.run([self.argus, "status"], capture_output=True, check=False)
            self.longest = max(self.longest, time.monotonic() - begin)
            self.answers += 1
            self.failed += done.returncode != 0

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()


def written(stderr):
    """When the recorder was done: the client says what it does next."""
    for line in stderr:
        if "looking for processes" in line or "unwinding" in line or "records" in line:
            return time.monotonic()
    return time.monotonic()


def snapshot(argus, pid, file):
    """CPU seconds and seconds of the recorder's part, and the records."""
    before, begin = cpu_of(pid), time.monotonic()
    client = subprocess.Popen([argus, "snapshot", "--no-symbols", "-o", file], stderr=subprocess.PIPE, text=True)
    wall = written(client.stderr) - begin
    cpu = cpu_of(pid) - before
    client.communicate()
    return cpu, wall


def fill(argus, ring):
    quiet(argus, "start", "--ring-size", ring)
    while True:
        load()
        now = status(argus)
        if now["emitted"] > 1.5 * now["ring_bytes"] / RECORD_BYTES:
            return now


def measure_argus(tools, folder, found, gigabytes_seen):
    file, raw = f"{folder}/snapshot.argus", f"{folder}/raw"
    pid = fill(tools.argus, tools.ring)["recorder_pid"]
    try:
        for _ in range(tools.rounds):
            cpu, wall = snapshot(tools.argus, pid, file)
            gigabytes = int(quiet(tools.raw_records, file, raw)) * RECORD_BYTES / GB
            gigabytes_seen.append(gigabytes)
            add(found, "argus snapshot", cpu / gigabytes, wall / gigabytes, os.path.getsize(file) / gigabytes / 1e6)
            for name, command in (("zstd -1", ["zstd", "-q", "-f", "-1", "--single-thread", raw, "-o", f"{folder}/other"]),
                                  ("cp", ["cp", raw, f"{folder}/other"])):
                begin, cpu = time.monotonic(), cpu_of_command(*command)
                add(found, name, cpu / gigabytes, (time.monotonic() - begin) / gigabytes,
                    os.path.getsize(f"{folder}/other") / gigabytes / 1e6)
            os.unlink(f"{folder}/other")
        with Asking(tools.argus) as asking:
            snapshot(tools.argus, pid, file)
    finally:
        quiet(tools.argus, "stop")
    return asking


def measure_perf(tools, folder, found, ring_bytes):
    pages = 1 << (ring_bytes // os.cpu_count() // os.sysconf("SC_PAGESIZE")).bit_length() - 1
    for _ in range(min(tools.rounds, 2)):
        perf = subprocess.Popen(["perf", "record", "-q", "-B", "-N", "-a", "-m", str(pages), "-e", PERF_EVENTS, "--exclude-perf",
                                 "--overwrite", "--switch-output=signal", "-o", f"{folder}/perf"], stderr=subprocess.DEVNULL)
        time.sleep(1)
        for _ in range(8):
            load()
        before, begin = cpu_of(perf.pid), time.monotonic()
        os.kill(perf.pid, signal.SIGUSR2)
        while not any(path.stat().st_size for path in pathlib.Path(folder).glob("perf.2*")):
            if time.monotonic() - begin > 60:
                break
            time.sleep(0.01)
        wall, cpu = time.monotonic() - begin, cpu_of(perf.pid) - before
        files = list(pathlib.Path(folder).glob("perf.2*"))
        gigabytes = sum(path.stat().st_size for path in files) / GB
        os.kill(perf.pid, signal.SIGINT)
        perf.wait()
        for path in pathlib.Path(folder).glob("perf*"):
            path.unlink()
        if gigabytes:
            add(found, "perf --overwrite", cpu / gigabytes, wall / gigabytes, 1073.7)


def add(found, name, *figures):
    found.setdefault(name, []).append(figures)


def report(found, asking, gigabytes_seen):
    print("                    cpu s/GB   least   wall s/GB    MB/GB  of zstd's cpu  of cp's")
    cpu = {name: statistics.median(row[0] for row in rows) for name, rows in found.items()}
    for name, rows in found.items():
        least, wall, size = min(row[0] for row in rows), statistics.median(row[1] for row in rows), rows[-1][2]
        print(f"{name:18}  {cpu[name]:8.2f}  {least:6.2f}  {wall:10.2f}  {size:7.0f}  {cpu[name] / cpu['zstd -1']:13.2f}"
              f"  {cpu[name] / cpu['cp']:7.2f}")
    # all cpus' records begin at one time: a ring that fills faster than others leaves less of theirs
    print("GB of records in each snapshot:", *(f"{value:.2f}" for value in gigabytes_seen))
    print(f"argus status while a snapshot was written: {asking.answers} answers, {asking.failed} failed, "
          f"the slowest after {asking.longest * 1e3:.0f} ms")
    print("load average:", *(f"{value:.1f}" for value in os.getloadavg()), "on", os.cpu_count(), "cpus")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("argus")
    parser.add_argument("raw_records")
    parser.add_argument("--ring", default="1G")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-perf", action="store_true")
    tools = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench_snapshot: recording needs root")
    machine.enter_namespace()
    found, gigabytes_seen = {}, []
    with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
        asking = measure_argus(tools, folder, found, gigabytes_seen)
        if not tools.no_perf:
            measure_perf(tools, folder, found, 1 << 30)
    report(found, asking, gigabytes_seen)


if __name__ == "__main__":
    main()
