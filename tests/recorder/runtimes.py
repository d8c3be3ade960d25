#!/usr/bin/env python3
"""Programs of other runtimes freeze for two seconds and are explained with no option: runtimes.py ARGUS.

Node, Java, Go and Ruby, each skipped where it is not installed; see recorder_harness.py.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import recorder_harness as live  # noqa: E402

JAVASCRIPT = """
function crunch(ms) { const end = Date.now() + ms; let x = 0; while (Date.now() < end) x += Math.sqrt(x + 1); return x; }
function onSave() { return crunch(2500); }
let turn = 0;
const timer = setInterval(() => { if (++turn === 4) onSave(); if (turn > 8) clearInterval(timer); }, 100);
"""

JAVA = """
public class Freeze {
    static final Object lock = new Object();
    static void rebuild() { synchronized (lock) { nap(2500); } }
    static void nap(long ms) { try { Thread.sleep(ms); } catch (InterruptedException e) { } }
    public static void main(String[] arguments) throws Exception {
        for (int turn = 0; turn < 8; turn++) {
            nap(100);
            if (turn != 4) continue;
            Thread thread = new Thread(Freeze::rebuild, "indexer");
            thread.start();
            nap(50);
            synchronized (lock) { lock.hashCode(); }
            thread.join();
        }
    }
}
"""

GO = """
package main

import ("runtime"; "sync"; "time")

var lock sync.Mutex

func init() { runtime.LockOSThread() } // as programs with windows do: main() stays on the main thread

func rebuild() { lock.Lock(); time.Sleep(2500 * time.Millisecond); lock.Unlock() }

func mix(n uint32) uint32 { return n * 1664525 + 1013904223 } // inlined

//go:noinline
func burn() uint32 {
    n := uint32(1)
    for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); { for i := 0; i < 100000; i++ { n = mix(n) } }
    return n
}

func main() {
    burn()
    for turn := 0; turn < 8; turn++ {
        time.Sleep(100 * time.Millisecond)
        if turn == 4 { go rebuild(); time.Sleep(50 * time.Millisecond); lock.Lock(); lock.Unlock() }
    }
}
"""

RUBY = """
$lock = Mutex.new
def rebuild; $lock.synchronize { sleep 2.5 }; end
8.times do |turn|
  sleep 0.1
  next unless turn == 4
  thread = Thread.new { Thread.current.name = "indexer"; rebuild }
  sleep 0.05
  $lock.synchronize { 1 }
  thread.join
end
"""


class Runtimes(live.Live):
    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def needs(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")
        return shutil.which(program)

    def diagnose(self, process, *command):
        done = live.argus("record", "-o", str(self.path), *self.backend, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = live.argus("diagnose", "--auto", "--json", "--process", process, str(self.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_slept(self, found, thread=None):
        """The frozen thread waited for a thread whose own time-out ended its wait; no circular wait is reported."""
        self.assertIsNone(found["cycle"], found["summary"])
        cause = found["root_causes"][0]
        self.assertIn("its own time-out ended it", cause["why"])
        self.assertNotEqual(cause["tid"], found["hang"]["tid"])
        self.assertGreater(found["hang"]["duration_ns"], 2_000_000_000)
        if thread:
            self.assertEqual(cause["thread"], thread)

    def assert_task_unseen(self, found):
        """The main thread waited for its goroutine, of whose sleep no thread tells. No circular wait is reported."""
        self.assertIsNone(found["cycle"], found["summary"])
        self.assertEqual(len(found["root_causes"]), 1)
        cause = found["root_causes"][0]
        self.assertIn("only one task may run on this thread, and the records do not show", cause["why"])
        self.assertEqual(cause["tid"], found["hang"]["tid"])
        self.assertGreater(found["hang"]["duration_ns"], 2_000_000_000)

    def test_node(self):
        """Names of its generated code are in the trace if the runtime was asked to list it; otherwise the answer says that they are
        missing."""
        script = self.file("freeze.js", JAVASCRIPT)
        node = self.needs("node")
        names = [frame.split(" (")[0] for frame in self.diagnose(
            "node", node, "--perf-basic-prof", "--interpreted-frames-native-stack", script)["root_causes"][0]["stack"]]
        self.assertIn("onSave", names)
        self.assertTrue({"_start", "__libc_start_main"} & set(names), names)
        found = self.diagnose("node", node, script)
        self.assertEqual(found["root_causes"][0]["type"], "LongRunning")
        self.assertIn("on request", json.dumps(found["unnamed_frames"]))

    def test_java(self):
        """The main thread belongs to a launcher, and the wait for a lock consists of many short waits."""
        java, compiler = self.needs("java"), self.needs("javac")
        subprocess.run([compiler, "-d", self.folder, self.file("Freeze.java", JAVA)], check=True)
        self.assert_slept(self.diagnose("java", java, "-cp", str(self.folder), "Freeze"), "indexer")

    def test_go(self):
        """Stacks of the runtime's scheduler are complete and have names and lines, also if the program is stripped."""
        go, program = self.needs("go"), self.folder / "freeze-go"
        environment = os.environ | {"GOCACHE": str(self.folder / "cache"), "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
        for flags in [], ["-ldflags=-s -w"]:
            subprocess.run([go, "build", "-p", "1", *flags, "-o", program, self.file("freeze.go", GO)], check=True, env=environment,
                           cwd=self.folder)
            found = self.diagnose("freeze-go", str(program))
            self.assert_task_unseen(found)
            for cause in found["root_causes"]:
                self.assertNotIn("the stack goes on", cause["stack"][-1])
                self.assertTrue(all(re.search(r" \(\w+\.(go|s):[1-9]", frame) for frame in cause["stack"]), cause["stack"])
            self.assert_burnt()

    def assert_burnt(self):
        """The stack of a goroutine is complete, and has the function that was inlined."""
        done = live.argus("contexts", "--json", "--process", "freeze-go", str(self.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        paths = [path["functions"] for path in json.loads(done.stdout)["contexts"]]
        burnt = next(path for path in paths if any(function["function"] == "main.mix" for function in path))
        names = [function["function"] for function in burnt]
        self.assertEqual([name.removesuffix(".abi0") for name in names],
                         ["runtime.goexit", "runtime.main", "main.main", "main.burn", "main.mix"])
        self.assertEqual([function["inlined"] for function in burnt], [False, False, False, False, True])

    def test_ruby(self):
        self.assert_slept(self.diagnose("ruby", self.needs("ruby"), self.file("freeze.rb", RUBY)), "indexer")


if __name__ == "__main__":
    live.main()
