"""Frozen programs, and what `argus why` answers about them. The tests of this folder begin with the arguments
ARGUS STUCK SCHEMA.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ARGUS, STUCK, SCHEMA = sys.argv[1:4]


class Stuck:
    """A running case: the IDs that it printed by name."""

    def __init__(self, case, *wrapper, program=STUCK):
        self.process = subprocess.Popen([*wrapper, program, case], stdout=subprocess.PIPE, text=True)
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


class Started:
    """A program that has printed its first line."""

    def __init__(self, *command, env=None):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        self.line = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


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


def settled(pid, is_there=lambda path: True, end=None):
    """The answer once the programs are where they are going, on a loaded machine too; the last one after a minute."""
    until = time.monotonic() + 60
    while True:
        answer = json.loads(why(pid, "--json"))
        if is_there(answer["path"]) and end in (None, answer["end"]) or time.monotonic() > until:
            return answer


def kinds_and_threads(path):
    return [step["wait"]["kind"] for step in path], [step["tid"] for step in path]


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
        found += [f"{place}.{key} is in no schema" for key in value if key not in schema.get("properties", value)]
        for key, inner in schema.get("properties", {}).items():
            found += problems(value[key], inner, f"{place}.{key}") if key in value else []
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += problems(item, schema["items"], f"{place}[{index}]")
    return found


def status(pid):
    return pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()


def own_id(pid, tid):
    """What the thread calls itself."""
    lines = pathlib.Path(f"/proc/{pid}/task/{tid}/status").read_text().splitlines()
    return next(int(line.split()[-1]) for line in lines if line.startswith("NSpid:"))


def cpu_ticks(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11]
