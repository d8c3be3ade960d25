"""Real programs, built from Debian's sources with hooks in every function.

To add one: a function that builds it and a row in PROGRAMS. `build(source, hooks, out)` gets the unpacked source, the object file
with the hooks and where the program belongs; `load(program, folder)` is the command that is recorded, in `folder`.
"""
import pathlib
import random
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Each function is a frame of its own on the stack, as the hooks say: nothing is inlined, no call is a jump. A program may insist on
# inlining by an attribute, which is spelled so only outside of the system's headers.
FLAGS = ["-O1", "-g1", "-fno-inline", "-Dalways_inline=noinline", "-fno-optimize-sibling-calls", "-fno-omit-frame-pointer",
         "-finstrument-functions", "-w"]


class Unavailable(Exception):
    """A sentence: why a program is left out."""


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        raise Unavailable(f"{command[0]} failed: {(done.stdout.strip().splitlines() or ['?'])[-1]}")


class Sources:
    """apt's source packages, over lists of our own: the machine's need not have deb-src lines."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.options = ["-q"]
        for name, value in (("Etc::sourcelist", folder / "sources.list"), ("Etc::sourceparts", folder / "parts"),
                            ("State::lists", folder / "lists"), ("Cache", folder / "cache")):
            self.options += ["-o", f"Dir::{name}={value}"]

    def update(self):
        (self.folder / "parts").mkdir(exist_ok=True)
        for file in [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]:
            if file.suffix in (".list", ".sources") and file.is_file():
                text = file.read_text().replace("Types: deb\n", "Types: deb-src\n")
                lines = ["deb-src " + line[4:] if line.startswith("deb ") else line for line in text.splitlines()]
                (self.folder / "parts" / file.name).write_text("\n".join(lines) + "\n")
        run("apt-get", *self.options, "update", cwd=self.folder)

    def get(self, package):
        target = self.folder / package
        if not target.exists():
            if not any((self.folder / "lists").glob("*Sources*")):
                self.update()
            where = self.folder / f"{package}.part"
            shutil.rmtree(where, ignore_errors=True)
            where.mkdir()
            run("apt-get", *self.options, "source", package, cwd=where)
            next(path for path in where.iterdir() if path.is_dir()).rename(target)
        return target


def build_sqlite(source, hooks, out):
    if not shutil.which("tclsh"):
        raise Unavailable("tclsh is not there (package tcl), which puts sqlite3.c together")
    run("./configure", "--disable-tcl", "--disable-readline", "--disable-shared", cwd=source)
    run("make", "sqlite3.c", "shell.c", cwd=source)
    run("gcc", *FLAGS, "-o", out, "sqlite3.c", "shell.c", hooks, "-lm", "-lpthread", "-ldl", cwd=source)


def load_sqlite(program, folder):
    rounds = "".join(f"begin; insert into t(b,c) select hex(randomblob(8)), random() from t limit 3;"
                     f"insert into t(b,c) values('x{i}',{i}); commit; select count(*) from t where b like '%{i % 10}%';\n"
                     for i in range(300))
    (folder / "load.sql").write_text("create table t(a integer primary key, b text, c real); create index i on t(b);\n" + rounds
                                     + "select b, sum(c) from t group by b order by 2 desc limit 5; delete from t where a%3=0; vacuum;\n")
    (folder / "x.db").unlink(missing_ok=True)
    return [program, "x.db", ".read load.sql"]


def build_7zip(source, hooks, out):
    bundle = source / "CPP/7zip/Bundles/Alone7z"
    flags = " ".join([*FLAGS, "-c", "-DNDEBUG", "-D_REENTRANT", "-D_FILE_OFFSET_BITS=64", "-D_LARGEFILE_SOURCE"])
    run("make", "-j2", "-f", "../../cmpl_gcc.mak", "DISABLE_RAR=1", f"CFLAGS_BASE={flags}", "LFLAGS_STRIP=", f"DEB_7Z_LDFLAGS={hooks}",
        cwd=bundle)
    shutil.copy(next(bundle.glob("b/*/7zr")), out)


def load_7zip(program, folder):
    chance = random.Random(1)
    words = [bytes(chance.choices(b"abcdefghij klmno", k=chance.randint(3, 9))) for _ in range(4000)]
    (folder / "text").write_bytes(b" ".join(chance.choices(words, k=300000)))
    (folder / "text.7z").unlink(missing_ok=True)
    return [program, "a", "-mmt=1", "-mx=5", "-bso0", "-bsp0", "text.7z", "text"]


def build_memcached(source, hooks, out):
    run("./configure", cwd=source)
    run("make", "-j2", "memcached", f"CFLAGS={' '.join(FLAGS)} -pthread", f"LIBS=-levent {hooks}", cwd=source)
    shutil.copy(source / "memcached", out)


def load_memcached(program, folder):
    return [sys.executable, str(HERE / "memcached_load.py"), program, "2"]


# name, source package, what it is like, how it is built, how it is loaded
PROGRAMS = (
    ("sqlite", "sqlite3", "system calls", build_sqlite, load_sqlite),
    ("7zr", "7zip", "cpu", build_7zip, load_7zip),
    ("memcached", "memcached", "threads, locks", build_memcached, load_memcached),
)
