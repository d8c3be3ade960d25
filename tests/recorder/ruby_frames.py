#!/usr/bin/env python3
"""ruby_frames.py ARGUS [RUBY]: the functions of Ruby programs in call stacks, with the Ruby of this machine (3.1 or 3.3), or another one.

The stacks and names are read by tests/trace/decode.py. Skipped where there is no such Ruby.
"""
import pathlib
import shutil
import subprocess
import sys

import recorder_harness
from recorder_harness import Live, argus

import python_frames

TARGET = pathlib.Path(__file__).resolve().parent / "programs" / "ruby_target.rb"
SECONDS = (1, 5, 20)  # how long the scene is repeated: until all of it was recorded, on a busy machine
MAIN = "<main>"
RUBY = sys.argv.pop(2) if len(sys.argv) > 2 and "ruby" in sys.argv[2] else shutil.which("ruby")
SYMBOL = b"ruby_current_vm_ptr"
ABOUT = "print RUBY_VERSION[/\\d+.\\d+/], ' ', File.read('/proc/self/maps').scan(%r{/.*/(?:lib)?ruby[^/\\s]*$}).uniq.join(' ')"


def has_ruby():
    """Whether RUBY is a version that is read, and its program or library tells where frames are: a stripped 3.3 does not."""
    about = RUBY and subprocess.run([RUBY, "-e", ABOUT], capture_output=True, text=True).stdout
    version, *files = about.split() if about else [""]
    return version in ("3.1", "3.3") and any(SYMBOL in pathlib.Path(file).read_bytes() for file in files)


def line_of(text, which=1):
    """The number of the target's line that begins with `text` after its indentation; `which`: the first such line, or a later one."""
    return [i for i, line in enumerate(TARGET.read_text().splitlines(), 1) if line.strip().startswith(text)][which - 1]


class Ruby(Live):
    def recorded(self, seconds):
        done = argus("record", "-o", str(self.path), *self.backend, "--", RUBY, str(TARGET), str(seconds))
        self.assertEqual(done.returncode, 0, done.stderr)
        return python_frames.Frames(self.path, TARGET)

    def test_functions(self):
        for seconds in SECONDS[:-1]:
            try:
                return self.check(self.recorded(seconds))
            except AssertionError as error:
                print(f"{seconds} s were not enough: {str(error)[:200]}", file=sys.stderr)
        return self.check(self.recorded(SECONDS[-1]))

    def check(self, frames):
        step, again = ("step", line_of("sleep 0.003")), ("recurse", line_of("return recurse"))
        innermost = ("recurse", line_of("sleep 0.003", 2))
        self.assertIn([step, ("block in run", line_of("step")), ("run", line_of("2.times")), (MAIN, line_of("Worker.new.run"))],
                      frames.of("step"))
        self.assertIn([innermost, again, again, again, (MAIN, line_of("recurse 3"))], frames.of("recurse"))
        self.assertIn([innermost, again, ("block in <main>", line_of("Thread.new"))], frames.of("recurse"))
        self.assertIn([("one_line", line_of("def one_line")), (MAIN, line_of("one_line"))], frames.of("one_line"))
        self.assertIn([("one_line", line_of("def one_line")), ("block in <main>", line_of("Fiber.new"))], frames.of("one_line"))
        self.assertIn([("many_lines", line_of("sleep 0.003", 3)), (MAIN, line_of("many_lines"))], frames.of("many_lines"))
        self.check_callback(frames, step)
        self.check_depth(frames, again)
        text = argus("contexts", "--every", "--top=100", "--rank=total", str(self.path)).stdout
        self.assertIn("step  (ruby_target.rb)", text)
        self.assertIn(", called by step (ruby_target.rb)", text)

    def check_callback(self, frames, step):
        """The block runs in a second call of the interpreter, the C function of sort() in between."""
        line = line_of("[2, 1].sort")
        called = [path for path in frames.paths if step in path and (MAIN, line) in path]
        self.assertTrue(called)
        for path in called:
            block, caller = path.index(("block in <main>", line)), path.index((MAIN, line))
            self.assertEqual(block, path.index(step) + 1)
            self.assertIn(None, path[block:caller])

    def check_depth(self, frames, again):
        """A recursion deeper than what is read: its innermost functions, and the stack says that it is cut."""
        long = [path for path in frames.paths if path.count(again) > 50]
        self.assertTrue(long)
        self.assertTrue(all(path[-1] == 4 for path in long))


if __name__ == "__main__":
    if not has_ruby():
        print("skipped: no Ruby 3.1 or 3.3 that tells where its frames are")
        sys.exit(77)
    recorder_harness.main()
