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
import unittest

from asking import SCHEMA, Started, problems, settled, why

PROGRAM = """package main

import ("fmt"; "net"; "os"; "sync"; "time")

var mutex sync.Mutex

func hold() { mutex.Lock(); fmt.Println("ready"); time.Sleep(time.Hour) }
func produce(values chan int) { fmt.Println("ready"); time.Sleep(time.Hour); values <- 1 }

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
	}
}
"""

SERVER = """import socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("ready", flush=True)
client = server.accept()
time.sleep(600)
"""


def threads_of(pid):
    return [int(name) for name in os.listdir(f"/proc/{pid}/task") if int(name) != pid]


class Go(unittest.TestCase):
    def check(self, answer):
        self.assertEqual(problems(answer, json.loads(pathlib.Path(SCHEMA).read_text())), [])

    def test_stripped_program(self):
        """A thread that has nothing to run leads to the one in which the main goroutine reads."""
        if not shutil.which("go-md2man"):
            self.skipTest("no go-md2man")
        with subprocess.Popen(["go-md2man"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
            try:
                settled(program.pid, lambda path: path[0]["wait"]["kind"] in ("pipe", "goroutine") and threads_of(program.pid))
                idle = threads_of(program.pid)[0]
                answer = settled(idle, lambda path: [step["wait"]["kind"] for step in path[:2]] == ["goroutine", "pipe"])
                path = answer["path"]
                self.assertEqual([(step["tid"], step["wait"]["kind"], step["link"]) for step in path[:1]],
                                 [(idle, "goroutine", "executes")], answer["summary"])
                self.assertEqual((path[1]["pid"], path[1]["wait"]["kind"]), (program.pid, "pipe"), answer["summary"])
                self.assertTrue(any(frame.startswith("main.main ") for frame in path[1]["stack"]), path[1]["stack"])
                self.check(answer)
            finally:
                program.kill()

    def build(self, folder, *options):
        if not shutil.which("go"):
            self.skipTest("no Go compiler")
        source = pathlib.Path(folder) / "main.go"
        source.write_text(PROGRAM)
        environment = {**os.environ, "GO111MODULE": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "", "CGO_ENABLED": "0"}
        environment.setdefault("HOME", folder)
        subprocess.run(["go", "build", *options, "-o", "program", source], cwd=folder, env=environment, check=True, timeout=500)
        return pathlib.Path(folder) / "program"

    def test_goroutines(self):
        with tempfile.TemporaryDirectory() as folder:
            for options in ((), ("-ldflags=-s -w",)):
                program = self.build(folder, *options)
                for case, words, other in (("channel", "waits to receive from a channel", "main.produce "),
                                           ("mutex", "waits for a sync.Mutex", "main.hold ")):
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
            program = self.build(folder)
            with Started(sys.executable, "-c", SERVER, f"{folder}/socket") as server, \
                    Started(program, "socket", f"{folder}/socket") as client:
                self.assertEqual(client.line, "ready <nil>")
                answer = settled(client.process.pid, lambda path: len(path) == 2)
            self.assertEqual([(step["pid"], step["wait"]["kind"]) for step in answer["path"]],
                             [(client.process.pid, "unix_socket"), (server.process.pid, "sleep")], answer["summary"])
            self.check(answer)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
