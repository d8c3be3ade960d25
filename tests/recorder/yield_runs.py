#!/usr/bin/env python3
"""Floods of sched_yield(): few records, which tell how many calls there were.

yield_runs.py ARGUS: see recorder_harness.py.
"""
import platform

from recorder_harness import Live, main, syscall_id

SCHED_YIELD = {"x86_64": 24, "aarch64": 124}[platform.machine()]
CALLS = 50000
SCRIPT = f"import os\nfor _ in range({CALLS}): os.sched_yield()\nprint(os.getpid())"
INTERVAL_NS = 2000000
INTERVAL_CALLS = 20000  # more calls than a thread makes in this time


class YieldRuns(Live):
    def test_a_flood(self):
        trace, (pid,) = self.record(SCRIPT)
        ends = trace.of(syscall_id(SCHED_YIELD, end=True), int(pid))
        begins = trace.of(syscall_id(SCHED_YIELD), int(pid))
        self.assertEqual(len(begins), len(ends))
        times = [record[0] for record in begins]
        self.assertGreaterEqual(min((later - earlier for earlier, later in zip(times, times[1:])), default=INTERVAL_NS), INTERVAL_NS)
        told = len(ends) + sum(record[4][2] for record in ends)
        self.assertLessEqual(told, CALLS)
        self.assertGreater(told, CALLS - INTERVAL_CALLS)


if __name__ == "__main__":
    main()
