#!/usr/bin/env python3
"""What the main goroutine of a Go program waits for: test_go.py ARGUS STUCK SCHEMA. Needs go-md2man, a Go program that
Debian has stripped, or Go itself for programs of its own."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from asking import SCHEMA, Started, problems, settled, why

PROGRAM = """package main

import ("fmt"; "net"; "os"; "runtime"; "sync"; "syscall"; "time")

var mutex sync.Mutex

func hold() { mutex.Lock(); fmt.Println("ready"); time.Sleep(time.Hour) }
func produce(values chan int) { fmt.Println("ready"); time.Sleep(time.Hour); values <- 1 }

func nest(depth int, values chan int) {
	if depth > 0 { nest(depth-1, values) } else { <-values }
	fmt.Print("")
}
func pause() { for { syscall.Pause() } }
var isDone bool
type job struct { name string; state int }
var current = job{name: "index"}
//go:noinline
func finish() { isDone = true; current.state = 2 }
func work() { time.Sleep(time.Hour); finish() }
//go:noinline
func waitForFlag() { for !isDone { time.Sleep(50 * time.Millisecond) } }
//go:noinline
func waitForJob(one *job) { for one.state != 2 { time.Sleep(50 * time.Millisecond) } }
func spin() { fmt.Println("ready"); for {} }

func main() {
	values := make(chan int)
	switch os.Args[1] {
	case "channel":
		go produce(values)
		<-values
	case "mutex":
		go hold()
		time.Sleep(200 * time.Millisecond)
		mutex.Lock()
	case "socket":
		connection, err := net.Dial("unix", os.Args[2])
		fmt.Println("ready", err)
		connection.Read(make([]byte, 1))
	case "two":
		main, _ := net.Dial("unix", os.Args[2])
		other, err := net.Dial("unix", os.Args[2])
		go func() { time.Sleep(time.Hour); other.Write(make([]byte, 1)) }()
		fmt.Println("ready", err)
		main.Read(make([]byte, 1))
	case "rwmutex":
		var lock sync.RWMutex
		go func() { lock.Lock(); fmt.Println("ready"); time.Sleep(time.Hour) }()
		time.Sleep(200 * time.Millisecond)
		lock.Lock()
	case "many":
		for i := 0; i < 3; i++ { go pause() }
		for i := 0; i < 70; i++ { go nest(i, values) }
		fmt.Println("ready")
		select {}
	case "poll", "poll_field":
		go work()
		fmt.Println("ready")
		if os.Args[1] == "poll" { waitForFlag() } else { waitForJob(&current) }
	case "ready":
		go spin()
		for { runtime.Gosched() }
	}
}
"""

SERVER = """import socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("ready", flush=True)
clients = [server.accept()[0] for _ in range(int(sys.argv[2]))]
if len(clients) > 1:
    clients[1].recv(1)
time.sleep(600)
"""


def idle_thread(pid):
    """A thread that has no goroutine to run, once there is one; None after a minute."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for thread in json.loads(why(pid, "--json"))["threads"]:
            if thread["tid"] != pid and thread["wait"]["kind"] == "goroutine":
                return thread["tid"]
    return None


def kinds(path):
    return [step["wait"]["kind"] for step in path]


class Go(unittest.TestCase):
    def check(self, answer):
        self.assertEqual(problems(answer, json.loads(pathlib.Path(SCHEMA).read_text())), [])

    def test_stripped_program(self):
        """A thread that has nothing to run leads to the one in which the main goroutine reads."""
        if not shutil.which("go-md2man"):
            self.skipTest("no go-md2man")
        with subprocess.Popen(["go-md2man"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
            try:
                idle = idle_thread(program.pid)
                answer = settled(idle, lambda path: kinds(path)[:2] == ["goroutine", "pipe"])
                path = answer["path"]
                self.assertEqual([(step["tid"], step["wait"]["kind"], step["link"]) for step in path[:1]],
                                 [(idle, "goroutine", "executes")], answer["summary"])
                self.assertEqual((path[1]["pid"], path[1]["wait"]["kind"]), (program.pid, "pipe"), answer["summary"])
                self.assertTrue(any(frame.startswith("main.main ") for frame in path[1]["stack"]), path[1]["stack"])
                self.check(answer)
            finally:
                program.kill()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def build(self, *options):
        """The program, once for each choice of options."""
        if not shutil.which("go"):
            self.skipTest("no Go compiler")
        folder = pathlib.Path(self.folder.name, str(len(options)))
        if folder.exists():
            return folder / "program"
        folder.mkdir()
        source = folder / "main.go"
        source.write_text(PROGRAM)
        environment = {**os.environ, "GO111MODULE": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "", "CGO_ENABLED": "0"}
        environment.setdefault("HOME", str(folder))
        subprocess.run(["go", "build", *options, "-o", "program", source], cwd=folder, env=environment, check=True, timeout=500)
        return folder / "program"

    def test_goroutines(self):
        for options in ((), ("-ldflags=-s -w",)):
            program = self.build(*options)
            for case, words, other in (("channel", "waits to receive from a channel", "main.produce "),
                                       ("mutex", "waits for a sync.Mutex", "main.hold "),
                                       ("rwmutex", "waits for a sync.RWMutex", "main.main.func")):
                with Started(program, case) as started:
                    answer = settled(started.process.pid, lambda path: path[0]["wait"]["text"].endswith(words) and
                                     any(frame.startswith("main.main ") for frame in path[0]["stack"]))
                    text = why(started.process.pid)
                self.check(answer)
                self.assertEqual((answer["end"], answer["path"][0]["wait"]["kind"]), ("unknown", "goroutine"))
                self.assertIn("in main.main;", answer["summary"])
                self.assertTrue(answer["path"][0]["stack_complete"])
                others = [group for group in answer["goroutines"] if group["id"] != 1]
                self.assertEqual([(group["text"], group["has_channel"]) for group in others],
                                 [("waits in time.Sleep", case == "channel")])
                self.assertTrue(any(frame.startswith(other) for frame in others[0]["stack"]), others)
                self.assertIn("Other goroutines of the program", text)

    def test_socket_of_a_goroutine(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.build()
            with Started(sys.executable, "-c", SERVER, f"{folder}/socket", "1") as server, \
                    Started(program, "socket", f"{folder}/socket") as client:
                self.assertEqual(client.line, "ready <nil>")
                answer = settled(client.process.pid, lambda path: kinds(path) == ["unix_socket", "sleep"])
            self.assertEqual([(step["pid"], step["wait"]["kind"]) for step in answer["path"]],
                             [(client.process.pid, "unix_socket"), (server.process.pid, "sleep")], answer["summary"])
            self.check(answer)

    def test_wait_for_another_goroutine(self):
        """The main goroutine, which waits for the same server, is not the one that should act: there is no circle."""
        with tempfile.TemporaryDirectory() as folder:
            program = self.build()
            with Started(sys.executable, "-c", SERVER, f"{folder}/socket", "2") as server, \
                    Started(program, "two", f"{folder}/socket") as client:
                self.assertEqual(client.line, "ready <nil>")
                there = settled(server.process.pid, lambda path: kinds(path) == ["unix_socket", "goroutine"] and
                                path[1]["wait"]["text"].endswith("waits to read"), "unknown")
                back = settled(client.process.pid, lambda path: kinds(path) == ["unix_socket"] * 2, "unknown")
            self.assertEqual((kinds(there["path"]), there["end"], there["circle"]),
                             (["unix_socket", "goroutine"], "unknown", None), there["summary"])
            self.assertIn("Go does not keep which goroutine should act", there["summary"])
            self.assertIn("waits in time.Sleep", [group["text"] for group in there["goroutines"]])
            self.assertEqual(([step["pid"] for step in back["path"]], back["end"], back["circle"]),
                             ([client.process.pid, server.process.pid], "unknown", None), back["summary"])
            self.check(there)

    def test_many_goroutines(self):
        """Those in system calls are one group; of the others, 64 groups are told, and how many are not."""
        with Started(self.build(), "many") as started:
            idle = idle_thread(started.process.pid)
            answer = settled(idle, lambda path: path[0]["wait"]["text"].endswith("select without cases"))
            text = why(idle)
        groups = {group["text"]: group["count"] for group in answer["goroutines"]}
        self.assertEqual((groups["is in a system call or in C code"], len(answer["goroutines"]), answer["goroutines_left_out"]),
                         (3, 64, 8))
        self.assertIn("and 2 others: is in a system call", text)
        self.check(answer)

    def test_main_goroutine_that_polls(self):
        """The variable, from the code around time.Sleep(), also without symbols."""
        for options, names in (((), ("main.isDone", "main.current")), (("-ldflags=-s -w",), ("0x", "0x"))):
            for case, name in zip(("poll", "poll_field"), names):
                with self.subTest(case=case, options=options), Started(self.build(*options), case) as started:
                    self.assertEqual(started.line, "ready")
                    answer = settled(started.process.pid, lambda path: kinds(path) == ["sleep"])
                    self.assertIsNotNone(answer["loop"], answer["summary"])
                    flags = answer["loop"]["variables"]
                    self.assertEqual(len(flags), 1)
                    self.assertTrue(flags[0]["name"].startswith(name), flags)
                    self.assertEqual(flags[0]["value"], 0)
                    self.assertIn("which is 0 now", answer["summary"])
                    self.check(answer)

    def test_main_goroutine_that_can_run(self):
        """Go 1.23 and 1.24 have the status where others have the ID."""
        environment = {**os.environ, "GOMAXPROCS": "1", "GODEBUG": "asyncpreemptoff=1"}
        with Started(self.build(), "ready", env=environment) as started:
            answer = settled(idle_thread(started.process.pid),
                             lambda path: path[0]["wait"]["text"].endswith("can run, but waits for a thread"))
        self.assertIn("can run, but waits for a thread, in main.main; it waits for no other goroutine", answer["summary"])
        self.assertEqual(answer["goroutines"][0]["id"], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
