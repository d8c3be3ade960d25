#!/usr/bin/env python3
"""Does `argus contexts` find what was made slow? Real programs, each recorded twice: as it is, and with a delay in one function.

    sudo examples/introperf/evaluate.py [--argus ARGUS] [--keep FOLDER] [CASE ...]

The delay comes from a preloaded library (delay.c): nothing else differs, and the analysis knows nothing of it. A program that is not
installed is left out. The table is that of the paper (table 2): |I| files, |P| paths, |F| functions, l functions a path on average;
p_min the rank of the first context that has the root cause, which is the function that calls the delayed one; f_min how many
calls lie between that and the function that the ranking takes for the bottleneck. Exit code 1: a root cause is not among the first three.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PORT = 8977

HTTPD = """ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule mime_module {modules}/mod_mime.so
LoadModule filter_module {modules}/mod_filter.so
LoadModule deflate_module {modules}/mod_deflate.so
TypesConfig /etc/mime.types
AddOutputFilterByType DEFLATE text/plain
ErrorLog {folder}/error
LogFormat "%h %r %s %b" common
CustomLog {folder}/access common
DocumentRoot {folder}/htdocs
StartServers 1
ServerLimit 2
ThreadsPerChild 8
MaxRequestWorkers 16
User daemon
Group daemon
"""
SERVE = """set -e
LD_PRELOAD="$PRELOAD" apache2 -f {folder}/httpd.conf -DFOREGROUND & server=$!
sleep 1
ab -q -n 100 -c 2 -H 'Accept-Encoding: gzip' http://127.0.0.1:{port}/page.txt > {folder}/ab.log 2>&1
kill $server
wait $server
"""


def preloaded(command):
    return f'LD_PRELOAD="$PRELOAD" {command}'


def apache(folder):
    (folder / "htdocs").mkdir(exist_ok=True)
    (folder / "htdocs/page.txt").write_text("".join(f"{i}\n" for i in range(3000)))
    (folder / "httpd.conf").write_text(HTTPD.format(folder=folder, port=PORT, modules="/usr/lib/apache2/modules"))
    return SERVE.format(folder=folder, port=PORT)


def seven_zip(folder):
    (folder / "in").mkdir(exist_ok=True)
    for number in range(60):
        (folder / f"in/file{number}").write_text("".join(f"{i}\n" for i in range(number, 5000)))
    return f"rm -f {folder}/out.7z; " + preloaded(f"7zz a -mmt=2 {folder}/out.7z {folder}/in >/dev/null")


def sqlite(folder):
    base = folder / "numbers.db"
    if not base.exists():
        subprocess.run(["sqlite3", base, "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) "
                                         "insert into t select i, hex(randomblob(40)) from n;"], check=True)
    return preloaded(f"sqlite3 {base} 'pragma cache_size = 10; select count(*), max(b) from t; select count(*) from t where b > 5;' >/dev/null")


def python(folder):
    script = folder / "pack.py"
    script.write_text("import zlib\ndata = bytes(range(256)) * 3000\nfor level in range(1, 10):\n"
                      "    packer = zlib.compressobj(level)\n    packer.compress(data)\n    packer.flush()\n")
    return preloaded(f"/usr/bin/python3 {script}")


# To add a case: a function that returns the shell command that runs the program (preloaded() where that is one program), and a
# row. `slow` is what delay.c reads from its environment.
@dataclasses.dataclass
class Case:
    name: str
    programs: tuple  # which have to be installed
    process: str
    prepare: callable
    slow: dict
    where: str  # what the delayed function's caller is in


CASES = [
    Case("apache-deflate", ("apache2", "ab"), "apache2", apache, {"DELAY_FUNCTION": "deflate", "DELAY_CALLER": "mod_deflate"}, "mod_deflate.so"),
    Case("apache-deflate-cpu", ("apache2", "ab"), "apache2", apache,
         {"DELAY_FUNCTION": "deflate", "DELAY_CALLER": "mod_deflate", "DELAY_HOW": "compute"}, "mod_deflate.so"),
    Case("apache-log", ("apache2", "ab"), "apache2", apache, {"DELAY_FUNCTION": "apr_file_write"}, "apache2"),
    Case("7zip-list", ("7zz",), "7zz", seven_zip, {"DELAY_FUNCTION": "readdir64", "DELAY_MS": "10"}, "7zz"),
    Case("7zip-list-cpu", ("7zz",), "7zz", seven_zip, {"DELAY_FUNCTION": "readdir64", "DELAY_MS": "10", "DELAY_HOW": "compute"}, "7zz"),
    Case("sqlite-read", ("sqlite3",), "sqlite3", sqlite, {"DELAY_FUNCTION": "pread64", "DELAY_MS": "1"}, "libsqlite3.so"),
    Case("python-zlib", ("/usr/bin/python3",), "python3", python, {"DELAY_FUNCTION": "deflate", "DELAY_MS": "40"}, "python3"),
]


class Evaluation:
    def __init__(self, argus, folder):
        self.argus, self.folder, self.library = argus, folder, folder / "libdelay.so"
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-fno-builtin", "-o", self.library, HERE / "delay.c", "-ldl"], check=True)

    def record(self, case, command, name, environment):
        trace = self.folder / f"{case.name}-{name}.argus"
        environment = {**os.environ, "PRELOAD": str(self.library), **environment}
        words = [self.argus, "record", "-o", str(trace), "--call-stacks", "--unwind", case.process, "--unwind-size", "64K", "--",
                 "sh", "-c", command]
        script = f"mount -t tmpfs -o mode=755 none /run/argus && exec {shlex.join(words)}"  # beside another recorder
        os.makedirs("/run/argus", exist_ok=True)
        subprocess.run(["unshare", "--mount", "sh", "-c", script], check=True, env=environment, timeout=120,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return trace

    def contexts(self, case, base, slow):
        command = [self.argus, "contexts", "--json", "--top=100", f"--process={case.process}", f"--base={base}", str(slow)]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120).stdout)

    def run(self, case):
        place = self.folder / case.name
        place.mkdir(exist_ok=True)
        place.chmod(0o755)
        command = case.prepare(place)
        base = self.record(case, command, "base", {})
        return self.contexts(case, base, self.record(case, command, "slow", case.slow))


def root_cause(case, path):
    """The function of `path` that calls the delayed one; None: it is not in it."""
    functions = path["functions"]
    for outer, inner in zip(functions, functions[1:]):
        delayed = inner["function"] == case.slow["DELAY_FUNCTION"] and "libdelay" in (inner["image"] or "")
        if delayed and case.where in (outer["image"] or ""):
            return outer
    return None


def find(case, answer):
    """Its rank and distance, or None."""
    for rank, path in enumerate(answer["contexts"], 1):
        cause = root_cause(case, path)
        if cause and path["cost_ns"] > 0:
            return rank, cause["distance"], cause
    return None


def row(case, answer):
    counts, found = answer["counts"], find(case, answer)
    left = f"{case.name:20} {counts['images']:4} {counts['paths']:6} {counts['functions']:6} {counts['mean_length']:6.1f}"
    if not found:
        return f"{left}      -      -  not found"
    return f"{left} {found[0]:6} {found[1]:6}  {found[2]['function']} ({found[2]['layer']})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--argus", default="argus")
    parser.add_argument("--keep", type=pathlib.Path, help="where the traces stay")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        folder = (options.keep or pathlib.Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        evaluation = Evaluation(options.argus, folder)
        print(f"{'case':20} {'|I|':>4} {'|P|':>6} {'|F|':>6} {'l':>6} {'p_min':>6} {'f_min':>6}  root cause")
        for case in CASES:
            if options.cases and case.name not in options.cases:
                continue
            if not all(map(shutil.which, case.programs)):
                print(f"{case.name:20} left out: {', '.join(case.programs)} not installed")
                continue
            answer = evaluation.run(case)
            print(row(case, answer), flush=True)
            found = find(case, answer)
            failed += not found or found[0] > 3
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
