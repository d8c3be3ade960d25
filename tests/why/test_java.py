#!/usr/bin/env python3
"""Threads of a Java program that wait for each other in four ways: test_java.py ARGUS STUCK SCHEMA. Needs a JDK 11 or later."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from asking import settled

PROGRAM = """
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

public class Chain {
    static final Object monitor = new Object();
    static final ReentrantLock lock = new ReentrantLock();
    static final CountDownLatch held = new CountDownLatch(2);

    static void sleep() { try { Thread.sleep(600000); } catch (InterruptedException e) { } }
    static void await() { try { held.await(); } catch (InterruptedException e) { } }

    static ExecutorService pool(String name) {
        return Executors.newFixedThreadPool(1, runs -> new Thread(runs, name));
    }

    public static void main(String[] arguments) throws Exception {
        new Thread(() -> { lock.lock(); held.countDown(); sleep(); }, "sleeper").start();
        new Thread(() -> { synchronized (monitor) { held.countDown(); await(); lock.lock(); } }, "locker").start();
        Thread entering = new Thread(() -> { await(); synchronized (monitor) { sleep(); } }, "enterer");
        entering.start();
        held.await();
        pool("idler").submit(() -> { }).get();
        pool("pooled").execute(() -> lock.lock());
        System.out.println("ready");
        System.out.flush();
        entering.join();
    }
}
"""
LOCK = "java.util.concurrent.locks.ReentrantLock$NonfairSync"
WANTED = [("join", "java"), ("join", "java"), ("monitor", "enterer"), ("monitor", "locker"), ("sleep", "sleeper")]


def thread_named(pid, name):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            return int(task.name)
    raise AssertionError(f"no thread {name}")


class Java(unittest.TestCase):
    def test_chain_of_locks(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "Chain.java"
            source.write_text(PROGRAM)
            subprocess.run(["javac", "-d", folder, source], check=True, timeout=300)
            with subprocess.Popen(["java", "-Xshare:auto", "-cp", folder, "Chain"], stdout=subprocess.PIPE, text=True) as java:
                try:
                    self.assertEqual(java.stdout.readline().strip(), "ready")
                    answer = settled(java.pid, lambda path: [(step["wait"]["kind"], step["thread"]) for step in path] == WANTED)
                    self.check_pools(java.pid)
                finally:
                    java.kill()
        path = answer["path"]
        self.assertEqual([(step["wait"]["kind"], step["thread"]) for step in path], WANTED, answer["summary"])
        self.assertEqual([step["wait"]["path"] for step in path[2:4]],
                         ["java.lang.Object", LOCK])
        self.assertFalse(any(step["guess"] for step in path))
        self.assertEqual((answer["end"], answer["loop"]), ("sleeps", None))

    def check_pools(self, pid):
        """A thread of a pool has a lock of its own, for which it never waits."""
        answer = settled(thread_named(pid, "pooled"), lambda path: path[-1]["wait"]["kind"] == "sleep")
        self.assertEqual([(step["wait"]["kind"], step["thread"]) for step in answer["path"]],
                         [("monitor", "pooled"), ("sleep", "sleeper")], answer["summary"])
        self.assertEqual(answer["path"][0]["wait"]["path"], LOCK)
        answer = settled(thread_named(pid, "idler"), lambda path: path[0]["wait"]["kind"] != "runs")
        self.assertNotEqual(answer["path"][0]["wait"]["kind"], "monitor", answer["summary"])
        self.assertEqual(len(answer["path"]), 1, answer["summary"])


if __name__ == "__main__":
    if not shutil.which("javac") or not shutil.which("java"):
        print("no JDK")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
