#!/usr/bin/env python3
"""php_frames.py ARGUS: the functions of PHP programs in call stacks, with the PHP of this machine (8.1 to 8.4, without threads).

The stacks and names are read by tests/trace/decode.py. Skipped where there is no such PHP.
"""
import pathlib
import shutil
import subprocess
import sys

import recorder_harness
from recorder_harness import Live, argus

import python_frames

TARGET = pathlib.Path(__file__).resolve().parent / "programs" / "php_target.php"
MAIN = "{main}"


def php():
    """The program on PATH; None: there is none, or its version or kind is not read."""
    found = shutil.which("php")
    text = found and subprocess.run([found, "-r", "echo PHP_VERSION_ID, ' ', PHP_ZTS, ' ', PHP_DEBUG;"], capture_output=True, text=True).stdout
    version, *special = text.split() if text else ("0", "0")
    return found if 80100 <= int(version) < 80500 and set(special) == {"0"} else None


def line_of(text, which=1):
    """The number of the target's line that begins with `text` after its indentation; `which`: the first such line, or a later one."""
    return [i for i, line in enumerate(TARGET.read_text().splitlines(), 1) if line.strip().startswith(text)][which - 1]


class Php(Live):
    def recorded(self):
        done = argus("record", "-o", str(self.path), *self.backend, "--", php(), str(TARGET))
        self.assertEqual(done.returncode, 0, done.stderr)
        return python_frames.Frames(self.path, TARGET)

    def test_functions(self):
        frames = self.recorded()
        sleeps = [line_of("usleep(2000)", i) for i in range(1, 5)]
        query = ("slow_query", sleeps[0])
        self.assertIn([query, (MAIN, line_of("slow_query();", 2))], frames.of("slow_query"))
        self.assertIn([("Worker::step", sleeps[1]), ("Worker::run", line_of("(new Worker")), (MAIN, line_of("Worker::run"))],
                      frames.of("Worker::step"))
        self.assertIn([("generate", sleeps[2]), (MAIN, line_of("foreach"))], frames.of("generate"))
        again = ("recurse", line_of("return recurse"))
        self.assertIn([("recurse", sleeps[3]), again, again, again, (MAIN, line_of("recurse(3)"))], frames.of("recurse"))
        # The callback runs in a second call of the interpreter, the C function of usort() in between.
        called = [path for path in frames.paths if query in path and ("sorts", line_of("usort")) in path]
        self.assertTrue(called)
        for path in called:
            compare, sorts = path.index(("compare", line_of("slow_query();"))), path.index(("sorts", line_of("usort")))
            self.assertEqual(compare, path.index(query) + 1)
            self.assertIn(None, path[compare:sorts])

    def test_too_deep(self):
        """A recursion deeper than what is read: its innermost functions, and the stack says that it is cut."""
        long = [path for path in self.recorded().paths if path.count(("recurse", line_of("return recurse"))) > 50]
        self.assertTrue(long)
        self.assertTrue(all(path[-1] == 4 for path in long))

    def test_answers(self):
        self.recorded()
        text = argus("contexts", "--every", "--top=100", "--process", pathlib.Path(php()).name[:15], str(self.path)).stdout
        self.assertIn("Worker::step  (php_target.php)", text)


if __name__ == "__main__":
    if not php():
        print("skipped: no PHP 8.1 to 8.4 without threads")
        sys.exit(77)
    recorder_harness.main()
