#!/usr/bin/env python3
"""The flag from the first recording: programs whose main thread polls a variable that a worker sets late.

    bench_loops.py --build DIR [--keep DIR] [--strict] [PROGRAM ...]

Each program is recorded once, without a watched flag, and diagnosed. The table compares with the source: the variable that ends the
loop, which has to be named first, and the function that sets it. A program without a compiler for it is left out, and counted as such.

Exits 0 if at least 90 % of the variables are right and no wrong function is named without the word "may"; 1 if not; 77 if this machine
cannot record.
"""
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE / "programs"
sys.path.insert(0, str(HERE.parents[1] / "tests/e2e"))
import machine  # noqa: E402

LEAST_RIGHT = 0.9
AT_A_TIME = 8  # programs that sleep; those that use a CPU run alone
ROUND_S = 4.0

# has_more: more functions set the variable than an answer lists, and it has to say so. None: it may.
Shape = collections.namedtuple("Shape", "name variable writers busy has_more", defaults=[False, False])

# The same with debug information: one name, or several. The compiler's library has members of its own inside.
MEMBERS = {"job+0xc": "job.is_done", "job->0x10": ("job->is_done", "job._M_ptr->done", "job._M_t._M_t._M_head_impl->done"), "device->0x8": "device->has_data", "window->0x8->0x4": "window->view->is_drawn", "board->0x8": "board->is_done",
           "own->0x8": "own->is_done", "object of main->0x20": "job._M_ptr->done", "decoder+0x8": "decoder.done_", "device->0x10": "device->is_ready_",
           "rust_loops::STATE+0x8": "rust_loops::STATE.done", "main.current->0x10": "main.current->done"}

# To add one: a SHAPE_… in the source, and a row: its name, the variable as `argus watchflag` takes it, the functions that set it.
C_SHAPES = [
    Shape("GLOBAL", "is_done", ["finish_work"]),
    Shape("YIELD", "is_done", ["finish_work"], True),
    Shape("BUSY", "is_done", ["finish_work"], True),
    Shape("BOUNDED", "is_done", ["finish_work"]),
    Shape("DEADLINE", "is_done", ["finish_work"]),
    Shape("SLOW", "is_done", ["finish_work"]),
    Shape("FUNCTION", "is_done", ["finish_work"]),
    Shape("CALLBACK", "is_done", ["finish_work"]),
    Shape("HANDLED", "is_done", ["finish_work"]),
    Shape("ATOMIC", "is_done", ["finish_work"]),
    Shape("BIT", "state", ["finish_work"]),
    Shape("PENDING", "pending", ["finish_work"]),
    Shape("SEQUENCE", "answered", ["finish_work"]),
    Shape("RING", "write_at", ["finish_work"]),
    Shape("FIELD", "job+0xc", ["finish_work"]),
    Shape("HEAP", "job->0x10", ["finish_work"]),
    Shape("ARGUMENT", "job->0x10", ["finish_work"]),
    Shape("NESTED", "window->0x8->0x4", ["finish_work"]),
    Shape("THREAD", "own->0x8", ["finish_work", "be_worker"]),
    Shape("SPIN_LOCK", "busy", ["finish_work"], True),
    Shape("OWN_SPIN_LOCK", "busy", ["finish_work"]),
    Shape("LIBRARY_VARIABLE", "library_is_done", ["library_finish"]),
    Shape("LIBRARY_FUNCTION", "own_is_done", ["library_finish"]),
    Shape("LIBRARY_LOOP", "own_is_done", ["library_finish"]),
    Shape("PROGRAM_VARIABLE", "program_is_done", ["library_finish_program"]),
    Shape("CLOCK", "is_done", ["finish_work"]),
    Shape("SEMAPHORE", "places", ["finish_work"]),
    Shape("PREDICATE", "job->0x10", ["finish_work"]),
    Shape("OPERATIONS", "device->0x8", ["finish_work"]),
    Shape("SWITCH", "phase", ["finish_work"]),
    Shape("SIGNAL", "is_called", ["on_call"]),
]
CPP_SHAPES = [
    Shape("ATOMIC", "is_done", ["finish_work"]),
    Shape("LAMBDA", "is_done", ["finish_work"]),
    Shape("TIMEOUT", "is_done", ["finish_work"]),
    Shape("MEMBER", "decoder+0x8", ["Decoder::finish", "finish_work"]),
    Shape("UNIQUE", "job->0x10", ["finish_work"]),
    Shape("SHARED", "job->0x10", ["finish_work"]),
    Shape("STD_FUNCTION", "is_done", ["finish_work"]),
    Shape("VIRTUAL", "device->0x10", ["Scanner::finish", "finish_work"]),
]
# An object to which only the stack leads, or one of an array: programs of their own. The function that begins the worker's thread counts
# as the writer, too, where it calls it.
LOCAL_C_SHAPES = [
    Shape("OWN_STACK", "job.is_done", ["be_worker", "finish_work"]),
    Shape("OWN_HEAP", "job->is_done", ["be_worker", "finish_work"]),
    Shape("OWN_ARGUMENT", "job->is_done", ["be_worker", "finish_work"]),
    Shape("ARRAY", "jobs[i].is_done", ["be_worker", "finish_work"]),
    Shape("ALL_OF_ARRAY", "jobs[i].is_done", ["be_worker", "finish_work"]),
    Shape("LIST", "first", ["be_worker", "finish_work"]),
]
LOCAL_CPP_SHAPES = [
    Shape("CAPTURED", "done", ["main::{lambda", "operator()", "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda"]),
    Shape("CAPTURED_SHARED", "object of main->0x20", ["main::{lambda", "operator()", "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda"]),
    Shape("THREAD_MEMBER", "decoder.done_", ["Decoder::run"]),
    Shape("FUNCTION_PARAMETER", "is_done", ["finish_work"]),
    Shape("ATOMIC_REF", "done", ["finish_work", "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda"]),
]
LOCAL_RUST_SHAPES = [
    Shape("arc", "done.ptr.pointer->data", ["rust_locals::wait_for_arc::{", "{closure"]),
    Shape("job", "job.ptr.pointer->data.done", ["rust_locals::wait_for_job::{", "{closure"]),
    Shape("scoped", "argument 1 of rust_locals::wait_for_scoped::{{closure}}->0x10->0x0", ["rust_locals::wait_for_scoped::{", "{closure"]),
    Shape("method", "decoder.done.ptr.pointer->data", ["rust_locals::wait_for_method::{", "{closure"]),
]
# Built as distributions build.
DISTRIBUTION_SHAPES = [
    Shape("TIMEDWAIT", "conn->established", ["finish_work"]),
    Shape("COND_GLOBAL", "queue_length", ["finish_work"]),
    Shape("LOCKED_COPY", "pool.finished", ["finish_work"]),
    Shape("ENUM_STATE", "session.state", ["set_state", "finish_work"]),
    Shape("RESULT_POINTER", "result", ["finish_work"]),
    Shape("REFCOUNT", "buffer->refs", ["buffer_unref", "finish_work"]),
    Shape("SLOT_STATUS", "slots[3].status", ["finish_work"]),
    Shape("QUEUE_PTRS", "queue->head", ["push", "finish_work"]),
    Shape("SEM_TIMED", "stop", ["finish_work"]),
    Shape("EPOLL", "app.running", ["app_quit", "finish_work"]),
    Shape("GENERATION", "engine->cache->generation", ["cache_flush", "finish_work"]),
    Shape("BACKOFF", "ready", ["finish_work"]),
    Shape("CALLBACK_CTX", "done", ["on_done", "finish_work"]),
    Shape("STRING_STATE", "status", ["finish_work"]),
]
GUARDED_RUST_SHAPES = [
    Shape("mutex", "m.ptr.pointer->data.data.value", ["rust_guarded::play::{{closure}}"]),
    Shape("rwlock", "m.ptr.pointer->0x1c", ["rust_guarded::play::{{closure}}"]),
    Shape("condvar", "p.ptr.pointer->data.__0.data.value", ["rust_guarded::play::{{closure}}"]),
]
MORE_C_SHAPES = [
    Shape("MANY_WRITERS", "is_done", ["set_"], has_more=True),
    Shape("CALLBACK_STRUCT", "job->state", ["on_complete"]),
    Shape("COND_PREDICATE", "is_ready", ["finish_work"]),
    Shape("TIMERFD", "is_done", ["finish_work"]),
    Shape("TWO_SIDES", "ring.completed", ["finish_work"]),
    Shape("ONE_UNWRITTEN", "is_done", ["finish_work"]),
    Shape("THREADS_ARRAY", "threads[i].runstate", ["set_state", "finish_work"]),
]
MORE_CPP_SHAPES = [
    Shape("FUNCTION_WRITER", "done", ["main::{lambda", "operator()", "std::_Function_handler<void(), main::{lambda"]),
    Shape("SHARED_WRITER", "job->_M_ptr->done_", ["Job::finish", "be_worker"]),
    Shape("WAIT_PREDICATE", "is_ready", ["finish_work"]),
    Shape("WAIT_FOR_PREDICATE", "is_ready", ["finish_work"]),
]
STRIPPED = ["GLOBAL", "HEAP", "NESTED", "BIT", "FUNCTION"]


class Program:
    """What is built and run, and what the answer has to be."""

    def __init__(self, name, shape, build, arguments=(), symbols=None, lingers=False):
        self.name, self.shape, self.build, self.arguments = name, shape, build, list(arguments)
        self.symbols = symbols  # the same file with symbols; None: the file has them
        self.lingers = lingers  # it prints a line when it is done, and ends with its input; what processes share is recorded at the end


def run(*command):
    subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)


def flags_of(package):
    words = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False)
    return words.stdout.split() if words.returncode == 0 else None


LARGE = ["libLLVM*.so*", "libclang-cpp.so*", "libclang-[0-9]*.so*"]  # of the compiler; two versions have other symbols


def large_libraries():
    """The largest of each kind, and their size in MB."""
    folders = [pathlib.Path(f"/usr/lib/{name}") for name in ("x86_64-linux-gnu", "aarch64-linux-gnu")]
    found = []
    for pattern in LARGE:
        files = {path.resolve() for folder in folders for path in folder.glob(pattern)}
        found += sorted(files, key=lambda path: path.stat().st_size)[-1:]
    return found, sum(path.stat().st_size for path in found) >> 20


def build_large(folder, shape):
    target = folder / f"c_{shape.name.lower()}_large"
    run("cc", "-std=gnu17", "-g", "-O2", f"-DSHAPE_{shape.name}", "-rdynamic", SOURCES / "c_loops.c", SOURCES / "loop_scaffold.c",
        folder / "libloops.so", "-Wl,--no-as-needed", *large_libraries()[0], f"-Wl,-rpath,{folder}", "-pthread", "-o", target)
    return target


def build_c(folder, level, shape):
    target = folder / f"c_{shape.name.lower()}_O{level}"
    library = folder / "libloops.so"
    run("cc", "-std=gnu17", "-g", f"-O{level}", f"-DSHAPE_{shape.name}", "-rdynamic", SOURCES / "c_loops.c", SOURCES / "loop_scaffold.c",
        library, f"-Wl,-rpath,{folder}", "-pthread", "-o", target)
    return target


def build_library(folder):
    run("cc", "-std=gnu17", "-g", "-O2", "-fPIC", "-shared", SOURCES / "loop_library.c", "-o", folder / "libloops.so")


def build_cpp(folder, level, shape):
    target, scaffold = folder / f"cpp_{shape.name.lower()}_O{level}", folder / "scaffold.o"
    run("cc", "-std=gnu17", "-g", "-O2", "-c", SOURCES / "loop_scaffold.c", "-o", scaffold)
    run("c++", "-std=c++17", "-g", f"-O{level}", f"-DSHAPE_{shape.name}", SOURCES / "cpp_loops.cpp", scaffold, "-pthread", "-o", target)
    return target


def build_stripped(folder, level, shape):
    whole = build_c(folder, level, shape)
    target = folder / f"{whole.name}_stripped"
    run("strip", "--strip-all", "-o", target, whole)
    return target


def build_toolkit(folder, compiler, standard, source, package):
    target, scaffold = folder / source.split(".")[0], folder / "scaffold.o"
    run("cc", "-std=gnu17", "-g", "-O2", "-c", SOURCES / "loop_scaffold.c", "-o", scaffold)
    run(compiler, standard, "-g", "-O2", "-fPIC", SOURCES / source, scaffold, *flags_of(package), "-pthread", "-o", target)
    return target


def build_rust(folder, release):
    target = folder / ("rust_release" if release else "rust_debug")
    run("rustc", "-g", *(["-O"] if release else []), "--crate-name", "rust_loops", SOURCES / "rust_loops.rs", "-o", target)
    return target


def build_go(folder):
    run("go", "build", "-o", folder / "go_loops", SOURCES / "go_loops.go")
    return folder / "go_loops"


def build_local_c(folder, level, shape):
    target = folder / f"local_{shape.name.lower()}_O{level}"
    run("cc", "-std=gnu17", "-g", f"-O{level}", f"-DSHAPE_{shape.name}", SOURCES / "local_loops.c", "-pthread", "-o", target)
    return target


def build_local_cpp(folder, level, shape):
    target = folder / f"local_cpp_{shape.name.lower()}_O{level}"
    run("c++", "-std=c++20", "-g", f"-O{level}", f"-DSHAPE_{shape.name}", SOURCES / "local_loops.cpp", "-pthread", "-o", target)
    return target


def build_local_rust(folder, release):
    target = folder / f"local_rust_{'release' if release else 'debug'}"
    run("rustc", "-g", *(["-O"] if release else []), "--crate-name", "rust_locals", SOURCES / "rust_locals.rs", "-o", target)
    return target


HARDENED = ["-O2", "-g", "-flto=auto", "-ffat-lto-objects", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-fPIE", "-pie",
            "-Wl,-z,relro", "-Wl,-z,now", "-Wl,--as-needed"]


def build_distribution(folder, shape):
    target = folder / f"distribution_{shape.name.lower()}"
    run("cc", "-std=gnu17", *HARDENED, f"-DSHAPE_{shape.name}", SOURCES / "distribution_loops.c", SOURCES / "loop_scaffold.c", "-pthread",
        "-o", target)
    return target


def build_more(folder, level, shape, language):
    target, scaffold = folder / f"more_{language}_{shape.name.lower()}_O{level}", folder / "scaffold.o"
    compiler, standard = ("cc", "-std=gnu17") if language == "c" else ("c++", "-std=c++17")
    run("cc", "-std=gnu17", "-g", "-O2", "-c", SOURCES / "loop_scaffold.c", "-o", scaffold)
    run(compiler, standard, "-g", f"-O{level}", f"-DSHAPE_{shape.name}", SOURCES / f"more_loops.{language}",
        *([scaffold] if language == "c" else []), "-pthread", "-o", target)
    return target


def build_guarded_rust(folder):
    run("rustc", "-g", "-O", "--crate-name", "rust_guarded", SOURCES / "rust_guarded.rs", "-o", folder / "rust_guarded")
    return folder / "rust_guarded"


def more_only():
    for level in (0, 2):
        for language, shapes in (("c", MORE_C_SHAPES), ("cpp", MORE_CPP_SHAPES)):
            for shape in shapes:
                yield Program(f"{'C' if language == 'c' else 'C++'} -O{level} more {shape.name.lower()}", shape,
                              lambda f, l=level, s=shape, n=language: build_more(f, l, s, n))


def distribution_only():
    for shape in DISTRIBUTION_SHAPES:
        yield Program(f"distribution {shape.name.lower()}", shape, lambda f, s=shape: build_distribution(f, s))
    for shape in GUARDED_RUST_SHAPES if shutil.which("rustc") else ():
        yield Program(f"distribution Rust {shape.name}", shape, build_guarded_rust, [shape.name])


def locals_only():
    for level in (0, 2):
        for shape in LOCAL_C_SHAPES:
            yield Program(f"C -O{level} local {shape.name.lower()}", shape, lambda f, l=level, s=shape: build_local_c(f, l, s))
        for shape in LOCAL_CPP_SHAPES:
            yield Program(f"C++ -O{level} local {shape.name.lower()}", shape, lambda f, l=level, s=shape: build_local_cpp(f, l, s))
    for release in (False, True) if shutil.which("rustc") else ():
        for shape in LOCAL_RUST_SHAPES:
            yield Program(f"Rust {'release' if release else 'debug'} local {shape.name}", shape,
                          lambda f, r=release: build_local_rust(f, r), [shape.name])


def build_shared(folder, level):
    run("cc", "-std=gnu17", "-g", f"-O{level}", SOURCES / "shared_memory.c", "-o", folder / f"c_shared_memory_O{level}")
    return folder / f"c_shared_memory_O{level}"


def build_pair(folder, level, shape, strip=False):
    """Two programs that share memory; the first one starts the second one."""
    client, server = folder / f"shared_client_{shape}_O{level}", folder / f"shared_server_O{level}"
    run("cc", "-std=gnu17", "-g", f"-O{level}", f"-DSHAPE_{shape}", SOURCES / "shared_client.c", "-o", client)
    run("cc", "-std=gnu17", "-g", f"-O{level}", SOURCES / "shared_server.c", "-pthread", "-o", server)
    if strip:
        for path in (client, server):
            run("strip", "--strip-all", "-o", f"{path}_stripped", path)
        return folder / f"{client.name}_stripped"
    return client


def pairs():
    answer = "shared memory+0x8"
    for level in (0, 2):
        for shape, name in (("GLOBAL", "board->0x8"), ("LOCAL", answer)):
            yield Program(f"C -O{level} two programs {shape.lower()}", Shape("", name, ["publish_answer"]),
                          lambda f, l=level, s=shape: build_pair(f, l, s), [f"./shared_server_O{level}"], lingers=True)
    yield Program("stripped two programs", Shape("", "board->0x8", ["publish_answer"]), lambda f: build_pair(f, 2, "GLOBAL", True),
                  ["./shared_server_O2_stripped"], symbols="shared_client_GLOBAL_O2", lingers=True)


def programs():
    for level in (0, 2):
        for shape in C_SHAPES:
            yield Program(f"C -O{level} {shape.name.lower()}", shape, lambda f, l=level, s=shape: build_c(f, l, s))
        for shape in CPP_SHAPES:
            yield Program(f"C++ -O{level} {shape.name.lower()}", shape, lambda f, l=level, s=shape: build_cpp(f, l, s))
        yield Program(f"C -O{level} shared memory", Shape("SHARED", "board->0x8", ["finish_work"]), lambda f, l=level: build_shared(f, l))
    yield from pairs()
    yield from locals_only()
    yield from distribution_only()
    for name in STRIPPED:
        shape = next(shape for shape in C_SHAPES if shape.name == name)
        yield Program(f"stripped {name.lower()}", shape, lambda f, s=shape: build_stripped(f, 2, s), symbols=f"c_{name.lower()}_O2")
    libraries, megabytes = large_libraries()
    for name in ("LIBRARY_VARIABLE", "LIBRARY_FUNCTION") if libraries else ():
        shape = next(shape for shape in C_SHAPES if shape.name == name)
        yield Program(f"{name.split('_')[1].lower()}, {megabytes} MB mapped", shape, lambda f, s=shape: build_large(f, s))
    if shutil.which("rustc"):
        for release in (False, True):
            kind = "release" if release else "debug"
            yield Program(f"Rust {kind} static", Shape("", "rust_loops::IS_DONE", ["rust_loops::finish_work"]),
                          lambda f, r=release: build_rust(f, r), ["static"])
            yield Program(f"Rust {kind} field", Shape("", "rust_loops::STATE+0x8", ["rust_loops::finish_work"]),
                          lambda f, r=release: build_rust(f, r), ["field"])
    if shutil.which("go"):
        yield Program("Go variable", Shape("", "main.isDone", ["main.finishWork"]), build_go, ["variable"])
        yield Program("Go field", Shape("", "main.current->0x10", ["main.(*job).finish", "main.finishWork"], has_more=None), build_go, ["field"])
    if flags_of("gtk+-3.0"):
        yield Program("GTK 3 main context", Shape("", "is_done", ["finish_work"]),
                      lambda f: build_toolkit(f, "cc", "-std=gnu17", "event_loop_gtk.c", "gtk+-3.0"))
    if flags_of("Qt5Core"):
        yield Program("Qt 5 processEvents", Shape("", "is_done", ["finish_work"]),
                      lambda f: build_toolkit(f, "c++", "-std=c++17", "event_loop_qt.cpp", "Qt5Core"))
    yield from more_only()


# --- recording ---

def record(argus, trace, batch):
    """Runs all programs of the batch under one recording. Returns their process ids."""
    run(argus, "start", "--ring-size", "512M", "--no-probes")
    try:
        started = [subprocess.Popen([program.path, *program.arguments], cwd=program.path.parent, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE if program.lingers else subprocess.DEVNULL) for program in batch]
        for program, process in zip(batch, started):
            if program.lingers:
                process.stdout.readline()
            else:
                process.wait(timeout=120)
    finally:
        run(argus, "stop", "-o", trace)
    for process in started:
        process.communicate(timeout=120)
    return [process.pid for process in started]


def record_once(argus, trace, batch):
    """The trace of an earlier run is used if it has the same programs."""
    beside, names = trace.with_suffix(".json"), [program.name for program in batch]
    kept = json.loads(beside.read_text()) if beside.exists() and trace.exists() else {}
    if list(kept) != names:
        kept = dict(zip(names, record(argus, trace, batch)))
        beside.write_text(json.dumps(kept))
    return list(kept.values())


def batches(all_programs):
    sleeping = [program for program in all_programs if not program.shape.busy]
    for at in range(0, len(sleeping), AT_A_TIME):
        yield sleeping[at:at + AT_A_TIME]
    for program in all_programs:
        if program.shape.busy:
            yield [program]


# --- judging ---

def address_name(program, folder, name):
    """The name of an address that a stripped program's answer has."""
    if program.symbols is None or not name.startswith("0x"):
        return name
    first, arrow, rest = name.partition("->")
    table = subprocess.run(["nm", folder / program.symbols], check=True, capture_output=True, text=True).stdout
    for line in table.splitlines():
        words = line.split()
        if len(words) == 3 and int(words[0], 16) == int(first, 16) and words[1] in "bBdD":
            return words[2] + arrow + rest
    return name


def symbol_of(program, folder, place):
    """The function of an answer's place: "finish_work (c_loops.c:33)", of a stripped program "c_global_O2_stripped+0x1234"."""
    name = place.split(" (")[0]
    if program.symbols is None or "+0x" not in name:
        return name
    address = int(name.rpartition("+")[2], 16)
    # "shared_server_O2_stripped+0x1234": also of the other one of two programs
    file = name.rpartition("+")[0].removesuffix("_stripped")
    found = subprocess.run(["addr2line", "-f", "-e", folder / file, hex(address)], capture_output=True, text=True, check=True)
    return found.stdout.splitlines()[0]


def sentences_without_may(answer, place):
    texts = [answer["summary"], *answer["uncertain"], *(cause["why"] for cause in answer["root_causes"])]
    return [text for text in texts if place in text and "may set" not in text]


def is_variable(name, wanted):
    """Libraries have members inside ("is_done._M_base._M_i"), and a compiler that splits a static numbers its parts."""
    members = MEMBERS.get(wanted, ())
    texts = (wanted, *((members,) if isinstance(members, str) else members))
    return any(name == text or name.startswith(text + ".") for text in texts)


class Verdict:
    def __init__(self, program, folder, answer, seconds):
        self.program, self.seconds = program, seconds
        loops = [cause["code_loop"] for cause in answer["root_causes"] if cause["code_loop"]]
        variables = loops[0]["variables"] if loops else []
        self.names = [address_name(program, folder, variable["name"]) for variable in variables]
        self.is_right = bool(self.names) and is_variable(self.names[0], program.shape.variable)
        writers = variables[0]["writers"] if self.is_right else []
        called = [(symbol_of(program, folder, writer["place"]), writer["place"]) for writer in writers]
        wanted = program.shape.writers
        self.writers = list(dict.fromkeys(name for name, place in called))
        says_more = bool(writers) and variables[0]["more_writers"]
        self.has_writer = any(name.startswith(tuple(wanted)) for name in self.writers) and program.shape.has_more in (None, says_more)
        self.wrong = [name for name, place in called
                      if not name.startswith(tuple(wanted)) and sentences_without_may(answer, place)]

    def print(self):
        variable = "right" if self.is_right else "WRONG" if self.names else "none"
        writer = "right" if self.has_writer else "WRONG" if self.writers else "none"
        print(f"{self.program.name:<28} {variable:<6} {' or '.join(self.names)[:34] or '-':<34} {writer:<6} "
              f"{', '.join(self.writers)[:44] or '-':<44} {self.seconds:>6.2f} s", flush=True)


def judge(argus, program, folder, trace, pid):
    command = [argus, "diagnose", trace, "--pid", str(pid), "--threshold", "1s", "--auto", "--json"]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    answer = json.loads(done.stdout) if done.returncode == 0 else {"root_causes": [], "uncertain": [], "summary": ""}
    return Verdict(program, folder, answer, seconds)


def sum_up(verdicts):
    right, writers = sum(v.is_right for v in verdicts), sum(v.has_writer for v in verdicts)
    wrong = [f"{v.program.name}: {name}" for v in verdicts for name in v.wrong]
    print(f"\n{len(verdicts)} programs: the variable is right in {right} ({100 * right / len(verdicts):.0f} %), the writer in {writers} "
          f"({100 * writers / len(verdicts):.0f} %); wrong writers without \"may\": {len(wrong)}{' ' + ', '.join(wrong) if wrong else ''}")
    return 0 if right >= LEAST_RIGHT * len(verdicts) and not wrong else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep programs and traces here, and use those that are there")
    parser.add_argument("--strict", action="store_true", help="succeed only if every variable and every writer is right")
    parser.add_argument("program", nargs="*", help="only those whose name contains one of these")
    options = parser.parse_args()
    reason = machine.reason_to_skip_beside_others()
    if reason:
        print(f"skipped: {reason}")
        return 77
    machine.enter_namespace()
    wanted = [p for p in programs() if not options.program or any(word in p.name for word in options.program)]
    argus, verdicts = options.build.resolve() / "bin/argus", []
    print(f"{'program':<28} {'variable':<41} {'writer':<51} {'time':>8}")
    with tempfile.TemporaryDirectory(prefix="argus-loops-") as temporary:
        folder = (options.keep or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        build_library(folder)
        for program in wanted:
            program.path = program.build(folder)
        for number, batch in enumerate(batches(wanted)):
            trace = folder / f"loops-{number}.argus"
            pids = record_once(argus, trace, batch)
            for program, pid in zip(batch, pids):
                verdicts.append(judge(argus, program, folder, trace, pid))
                verdicts[-1].print()
    failed = sum_up(verdicts)
    return int(not all(v.is_right and v.has_writer for v in verdicts)) if options.strict else failed


if __name__ == "__main__":
    sys.exit(main())
