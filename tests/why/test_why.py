#!/usr/bin/env python3
"""What `argus why` says about programs that are frozen for a known reason: test_why.py ARGUS STUCK SCHEMA [CASE…].

A case of stuck_*.c has a row in CASES: the kinds of waits on the path, the names (as stuck_*.c prints them) of its
threads or processes, and how it ends. No case needs root; where the kernel lets nobody look (ptrace_scope 2 and 3), all
are skipped.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

ARGUS, STUCK, SCHEMA = sys.argv[1:4]

# case → kinds of waits along the path, names along the path, end; a name with "?" was reached by a guess
CASES = {
    "mutex": (["mutex", "sleep"], ["main", "holder"], "sleeps"),
    "recursive": (["mutex", "sleep"], ["main", "holder"], "sleeps"),
    "inheriting": (["mutex", "sleep"], ["main", "holder"], "sleeps"),
    "robust": (["mutex", "sleep"], ["main", "holder"], "sleeps"),
    "circle": (["mutex", "mutex"], ["main", "other"], "circle"),
    "rwlock": (["rwlock", "sleep"], ["main", "holder"], "sleeps"),
    "join": (["join", "sleep"], ["main", "worker"], "sleeps"),
    "condition": (["condition", "mutex", "sleep"], ["main", "signaller?", "holder"], "sleeps"),
    "nobody_signals": (["condition"], ["main"], "unknown"),
    "several_could_signal": (["condition"], ["main"], "several"),
    "shared_mutex": (["mutex", "sleep"], ["main", "holder"], "sleeps"),
    "pipe_read": (["pipe", "sleep"], ["main", "writer"], "sleeps"),
    "pipe_full": (["pipe", "stopped"], ["main", "reader"], "stopped"),
    "pipe_own": (["pipe"], ["main"], "nobody"),
    "unread": (["unix_socket", "sleep"], ["main", "server"], "sleeps"),
    "mutual": (["unix_socket", "unix_socket"], ["main", "server"], "mutual"),
    "circle_of_sockets": (["unix_socket"] * 3, ["main", "next", "last"], "circle"),
    "tcp": (["tcp", "sleep"], ["main", "server"], "sleeps"),
    "tcp_not_accepted": (["tcp", "sleep"], ["main", "server"], "sleeps"),
    "unix_not_accepted": (["unix_socket", "sleep"], ["main", "server"], "sleeps"),
    "inherited": (["unix_socket", "sleep"], ["main", "heir"], "sleeps"),
    "pool": (["unix_socket", "sleep"], ["main", "worker?"], "sleeps"),
    "file_lock": (["file_lock", "sleep"], ["main", "holder"], "sleeps"),
    "record_lock": (["file_lock", "sleep"], ["main", "holder"], "sleeps"),
    "polled_lock": (["sleep"], ["main"], "sleeps"),
    "wait_child": (["child", "sleep"], ["main", "child"], "sleeps"),
    "stopped_child": (["child", "stopped"], ["main", "child"], "stopped"),
    "traced": (["traced", "sleep"], ["main", "tracer"], "sleeps"),
    "sleeps": (["sleep"], ["main"], "sleeps"),
    "loops": (["events"], ["main"], "idle"),
    "runs": (["runs"], ["main"], "runs"),
    "spins": (["runs"], ["main"], "runs"),
    "polls_flag": (["sleep"], ["main"], "sleeps"),
}

# requests that nobody has read, and the call in which the answer says them
UNREAD = {"unread": 8, "pool": 8, "inherited": 8, "tcp": 8}


class Stuck:
    """A running case: the IDs that it printed by name."""

    def __init__(self, case):
        self.process = subprocess.Popen([STUCK, case], stdout=subprocess.PIPE, text=True)
        self.ids, self.file = {}, None
        for line in self.process.stdout:
            name, *value = line.split()
            if name == "ready":
                break
            if name == "file":
                self.file = value[0]
            else:
                self.ids[name] = int(value[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for number in self.ids.values():
            if not pathlib.Path(f"/proc/{self.process.pid}/task/{number}").exists():
                kill_child(number)
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        if self.file:
            os.unlink(self.file)


def kill_child(pid):
    """Only if it is one of ours: its program is stuck."""
    try:
        if os.path.samefile(f"/proc/{pid}/exe", STUCK):
            os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def why(word, *options):
    done = subprocess.run([ARGUS, "why", *options, str(word)], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise AssertionError(f"argus why {word}: {done.returncode}: {done.stderr}")
    return done.stdout


def problems(value, schema, place="answer"):
    """What `value` has that the schema does not allow; a part of JSON Schema is enough for ours."""
    if "$ref" in schema:
        schema = json.loads(pathlib.Path(SCHEMA).read_text())["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", type(None): "null"}
    allowed = schema.get("type", names[type(value)])
    if names[type(value)] not in ([allowed] if isinstance(allowed, str) else allowed):
        return [f"{place} is {value!r}, not {allowed}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place} is {value!r}"]
    found = []
    if isinstance(value, dict):
        found += [f"{place} lacks {key}" for key in schema.get("required", []) if key not in value]
        found += [f"{place}.{key} is in no schema" for key in value if key not in schema["properties"]]
        for key, inner in schema["properties"].items():
            found += problems(value[key], inner, f"{place}.{key}") if key in value else []
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += problems(item, schema["items"], f"{place}[{index}]")
    return found


class Why(unittest.TestCase):
    def check(self, case):
        kinds, names, end = CASES[case]
        with Stuck(case) as stuck:
            answer = json.loads(why(stuck.ids["main"], "--json"))
            text = why(stuck.ids["main"])
        path = answer["path"]
        self.assertEqual([step["wait"]["kind"] for step in path], kinds, answer["summary"])
        self.assertEqual([step["tid"] for step in path], [stuck.ids[name.rstrip("?")] for name in names],
                         answer["summary"])
        self.assertEqual([False] + [step["guess"] for step in path[:-1]], [name.endswith("?") for name in names])
        self.assertEqual(answer["end"], end, answer["summary"])
        self.assertEqual(problems(answer, json.loads(pathlib.Path(SCHEMA).read_text())), [])
        self.assertEqual(path[0]["wait"]["unread_there"], UNREAD.get(case, 0))
        self.assertFalse(any(step["went_on"] for step in path))
        polled = [stuck.ids["holder"]] if case == "polled_lock" else []
        if end == "sleeps":
            self.assertEqual([candidate["pid"] for candidate in answer["candidates"]], polled)
            self.assertEqual("again and again to lock a file that" in answer["summary"], bool(polled), answer["summary"])
        self.assertIn(" ".join(answer["summary"].split()), " ".join(text.split()))
        return answer

    def test_stacks_are_whole_and_named(self):
        """Also functions that address their frame by a frame pointer, which nobody tells."""
        with Stuck("mutex") as stuck:
            path = json.loads(why(stuck.ids["main"], "--json"))["path"]
        for step, function in zip(path, ("mutex", "work_slowly")):
            self.assertTrue(step["stack_complete"], step["stack"])
            begin = "main" if function == "mutex" else "hold_and_sleep"
            names = [frame.split()[0] for frame in step["stack"]]
            self.assertIn(begin, names)
            # above them libc's functions, none of them left out
            self.assertGreater(len(names) - names.index(begin), 2 if begin == "main" else 1, names)
            self.assertTrue(any(frame.startswith(function + " ") for frame in step["stack"]), step["stack"])

    def test_running_thread_is_sampled(self):
        with Stuck("runs") as stuck:
            answer = json.loads(why(stuck.ids["main"], "--json"))
        samples = answer["samples"]
        if samples["by"] is None or not samples["samples"]:
            self.skipTest("no samples: the kernel allows none, or the thread got no CPU")
        self.assertEqual((samples["functions"][0]["function"], samples["functions"][0]["own"]),
                         ("runs", samples["samples"]))
        self.assertTrue(samples["stacks"][0]["stack_complete"])
        names = [frame.split()[0] for frame in samples["stacks"][0]["stack"]]
        self.assertEqual(names[:2], ["runs", "main"])
        self.assertIn("runs, in runs;", answer["summary"])
        self.assertIsNone(answer["loop"])

    def test_flag_of_a_loop(self):
        for case in ("spins", "polls_flag"):
            with Stuck(case) as stuck:
                answer = json.loads(why(stuck.ids["main"], "--json"))
            if case == "spins" and answer["samples"]["samples"] < 8:
                continue
            self.assertEqual(answer["loop"]["variables"], [{"name": "go_on", "image": "stuck", "value": 0}])
            self.assertTrue(answer["loop"]["place"].startswith(case + " "), answer["loop"])
            self.assertIn("'go_on' of stuck, which is 0 now", answer["summary"])

    def test_nothing_is_changed(self):
        """A thread that sleeps in a call which a stop would end with EINTR is still there, in the same call."""
        with Stuck("loops") as stuck:
            pid = stuck.ids["main"]
            switches = [line for line in status(pid) if "ctxt_switches" in line]
            for _ in range(5):
                why(pid)
            self.assertEqual([line for line in status(pid) if "ctxt_switches" in line], switches)

    def test_killed_at_any_moment(self):
        """What argus looks at goes on, even if argus is killed meanwhile."""
        with Stuck("runs") as stuck:
            pid = stuck.ids["main"]
            for number in range(10):
                with subprocess.Popen([ARGUS, "why", str(pid)], stdout=subprocess.DEVNULL) as argus:
                    time.sleep(number / 20)
                    argus.kill()
            before = cpu_ticks(pid)
            time.sleep(0.5)
            self.assertIn("R (running)", " ".join(status(pid)).replace("\t", " "))
            self.assertNotEqual(cpu_ticks(pid), before)
        with Stuck("circle") as stuck:
            pid = stuck.ids["main"]
            switches = [line for line in status(pid) if "ctxt_switches" in line]
            for number in range(20):
                with subprocess.Popen([ARGUS, "why", str(pid)], stdout=subprocess.DEVNULL) as argus:
                    time.sleep(number / 400)
                    argus.kill()
            self.assertEqual([line for line in status(pid) if "ctxt_switches" in line], switches)
            self.assertEqual(json.loads(why(pid, "--json"))["end"], "circle")

    def test_by_name_and_by_thread(self):
        with Stuck("mutex") as stuck:
            answer = json.loads(why(stuck.ids["holder"], "--json"))
            self.assertEqual([step["tid"] for step in answer["path"]], [stuck.ids["holder"]])
            self.assertEqual({thread["tid"] for thread in answer["threads"]}, {stuck.ids["main"], stuck.ids["holder"]})
        done = subprocess.run([ARGUS, "why", "no-such-process"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no process 'no-such-process'", done.stderr)

    def test_other_users_processes_are_said(self):
        """A user who may not look is told so, and no one is blamed."""
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        with Stuck("mutex") as stuck:
            done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ARGUS, "why", "--json",
                                   str(stuck.ids["main"])], capture_output=True, text=True, timeout=60)
        if done.returncode == 127 or "ermission denied" in done.stderr:
            self.skipTest(f"another user cannot execute {ARGUS}")
        answer = json.loads(done.stdout)
        self.assertEqual((answer["end"], len(answer["path"])), ("denied", 1))
        self.assertIn("it belongs to another user", answer["uncertain"][0])


def status(pid):
    return pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()


def cpu_ticks(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11]


def add_case(case):
    def test(self):
        self.check(case)
    setattr(Why, f"test_case_{case}", test)


def may_look():
    with Stuck("sleeps") as stuck:
        try:
            pathlib.Path(f"/proc/{stuck.ids['main']}/syscall").read_text()
        except OSError as error:
            return f"this user may not look at a child's system call: {error}"
    return None


if __name__ == "__main__":
    reason = may_look()
    if reason:
        print(reason)
        sys.exit(77)
    for one in CASES:
        add_case(one)
    unittest.main(argv=[sys.argv[0], *(f"Why.{name}" for name in sys.argv[4:])])
