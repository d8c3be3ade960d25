"""What Argus does on several threads, under the thread sanitizer: recording, reading a large trace, saving and loading its graph,
sampling a living program.

threads.py ARGUS: built with -fsanitize=thread. A data race is a report of the sanitizer in a file of its own (also of programs that
ARGUS starts), and fails the test. Needs root; exits 77 (skipped) where the kernel or the user cannot record.
"""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "recorder"))
from recorder_harness import ARGUS, Live, argus, main  # noqa: E402

MOST_AHEAD = 6  # chunks that the reader decodes ahead, on any machine: MOST_WORKERS * AHEAD_PER_WORKER in read_ahead.c
# Two of these make 800,000 records. The recorder writes a chunk at 65,536 records at the latest: on a machine that is quick enough to fill
# each one, that is 12 chunks still.
BUSY = "dd if=/dev/zero of=/dev/null bs=1 count=100000 2>&1"
SPIN = "print('runs', flush=True)\nwhile True: pass"


class Threads(Live):
    def setUp(self):
        super().setUp()
        self.trace = self.folder / "busy.argus"
        os.environ["TSAN_OPTIONS"] = f"log_path={self.folder}/race"

    def tearDown(self):
        races = [path.read_text() for path in self.folder.glob("race.*")]
        super().tearDown()
        self.assertFalse(races, "\n".join(races)[:4000])

    def ask(self, *words):
        done = argus(*map(str, words))
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout

    def test_a_large_trace(self):
        self.ask("record", "-o", self.trace, "--", "sh", "-c", f"{BUSY} & {BUSY}; wait")
        said = self.ask("verify", self.trace)
        self.assertIn("sound", said)
        self.assertGreater(int(re.search(r"(\d+) record chunks", said)[1]), MOST_AHEAD)
        self.assertIn("built in", self.ask("graph", self.trace))
        self.assertIn("loaded in", self.ask("graph", self.trace))
        self.ask("contexts", self.trace)

    def test_a_program_that_runs_now(self):
        with subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE, text=True) as program:
            self.addCleanup(program.kill)
            self.assertEqual(program.stdout.readline(), "runs\n")
            said = self.ask("why", program.pid)
            program.kill()
        self.assertIn("runs", said)


def is_instrumented():
    return b"__tsan_init" in pathlib.Path(ARGUS).read_bytes()


if __name__ == "__main__":
    if not is_instrumented():
        sys.exit(f"{ARGUS} is not built with -fsanitize=thread")
    main()
