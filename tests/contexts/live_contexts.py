#!/usr/bin/env python3
"""argus record --call-stacks and argus contexts on the real system: a program that is fast once and slow once.

live_contexts.py ARGUS: see tests/recorder/recorder_harness.py. slow_parts and slow_parts_bare (the same without frame pointers)
are in ARGUS's folder.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "recorder"))
from recorder_harness import ARGUS, Live, argus, main  # noqa: E402

TIMES, SLOW_NS = 30, 10_000_000
# Runs a program, and prints its times as they are from outside: from before its fork until after its exit.
FROM_OUTSIDE = """import json, os, sys, time
began = time.monotonic_ns()
pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, _, used = os.wait4(pid, 0)
wall = time.monotonic_ns() - began
time.sleep(0.2)  # the parent may know of the end before the kernel has switched away from the ended thread
print(json.dumps({"wall_ns": wall, "gone_ns": time.monotonic_ns() - began, "cpu_ns": int((used.ru_utime + used.ru_stime) * 1e9)}))"""


class Contexts(Live):
    def slow_parts(self, trace, how, *options, program="slow_parts"):
        path = self.folder / trace
        command = [str(pathlib.Path(ARGUS).parent / program), *([how] if how else [])]
        done = argus("record", "-o", str(path), *self.backend, "--no-probes", *options, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" 0 lost", done.stderr)
        return str(path)

    def contexts(self, trace, *options, program="slow_parts"):
        done = argus("contexts", "--json", f"--process={program}", *options, trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_body_is_first(self, answer):
        first = answer["contexts"][0]
        functions = {f["function"]: f for f in first["functions"]}
        self.assertIn("read_body", functions)
        self.assertEqual(functions["read_body"]["layer"], "main")
        self.assertNotIn("read_header", functions)
        return first

    def test_a_function_that_sleeps(self):
        moments = self.contexts(self.slow_parts("plain.argus", "sleep"))["counts"]["moments"]
        self.assertEqual((moments["system_calls"], moments["preemptions"]), (0, 0))  # only on demand
        base, slow = self.slow_parts("base.argus", "", "--call-stacks"), self.slow_parts("slow.argus", "sleep", "--call-stacks")
        answer = self.contexts(slow, f"--base={base}")
        self.assertGreaterEqual(answer["counts"]["moments"]["system_calls"], 3 * TIMES)
        first = self.assert_body_is_first(answer)
        self.assertEqual(first["charged_function"], "read_body")
        self.assertGreaterEqual(first["cost_ns"], TIMES * SLOW_NS)

    def test_a_function_that_computes_without_frame_pointers(self):
        program = "slow_parts_bare"
        slow = self.slow_parts("slow.argus", "compute", "--call-stacks", "--unwind", program, "--rate", "500", program=program)
        answer = self.contexts(slow, program=program)
        self.assert_body_is_first(answer)
        self.assertGreater(answer["counts"]["moments"]["cpu_samples"], 0)
        bare = self.contexts(slow, "--no-samples", program=program)
        self.assertEqual(bare["counts"]["moments"]["cpu_samples"], 0)

    def times(self, how):
        """Of slow_parts, from outside and as the first line of the answer has them."""
        program = str(pathlib.Path(ARGUS).parent / "slow_parts")
        command = ["record", "-o", str(self.path), *self.backend, "--no-probes", "--call-stacks", "--", sys.executable, "-c", FROM_OUTSIDE]
        done = argus(*command, program, how)
        self.assertEqual(done.returncode, 0, done.stderr)
        outside = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
        (inside,) = [program for program in self.contexts(str(self.path))["programs"] if program["process"] == "slow_parts"]
        self.assertEqual(sum(inside["parts_ns"].values()), inside["thread_ns"])
        self.assertLessEqual(inside["thread_ns"], outside["gone_ns"])  # it has one thread
        self.assertLessEqual(inside["wall_ns"], outside["gone_ns"])
        return inside, outside

    def test_the_first_line_agrees_with_times_from_outside(self):
        """No limit depends on the machine: slow_parts measures its own CPU time, and sleeps no shorter than it asks for."""
        least = TIMES * SLOW_NS
        inside, _ = self.times("compute")
        self.assertGreaterEqual(inside["cpu_ns"], least)
        self.assertLessEqual(inside["cpu_ns"] + inside["parts_ns"]["cpu"], inside["thread_ns"])
        inside, outside = self.times("sleep")
        self.assertGreaterEqual(inside["parts_ns"]["slept"], least)
        self.assertLessEqual(inside["cpu_ns"], outside["wall_ns"] - least)


if __name__ == "__main__":
    main()
