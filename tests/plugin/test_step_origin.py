"""Where argus step begins for a vertex whose innermost own function is of the language's library."""
import re
import shutil
import subprocess

from harness import Skip, expect, expect_equal, expect_in, main

BASE = 0x555500000000
SOURCE = """#include <chrono>
#include <thread>
volatile bool ready;
__attribute__((noinline)) void wait_until_ready()
{
    while (!ready)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
}
int main() { wait_until_ready(); }
"""


def program(setup):
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        raise Skip("there is no C++ compiler")
    source, path = setup.folder / "poller.cpp", setup.folder / "poller"
    source.write_text(SOURCE)
    subprocess.run([compiler, "-O0", "-g", "-Wl,--build-id", source, "-o", path, "-pthread"], check=True)
    return path


def return_addresses(path):
    """Behind the calls in sleep_for() and in wait_until_ready(): in the file."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout
    found = []
    for function in "sleep_for", "wait_until_ready":
        body = re.search(rf"<[^>]*{function}[^>]*>:\n(.*?)\n\n", code, re.S)[1].splitlines()
        calls = [i for i, line in enumerate(body) if re.search(r"\scall", line)]
        found.append(int(body[calls[-1] + 1].split(":")[0], 16))
    return found


def script(setup, *options):
    path = program(setup)
    notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
    build = re.search(r"Build ID: ([0-9a-f]+)", notes)
    if not build:
        raise Skip("the linker writes no build ID")
    frames = [0x7F0000001000] + [BASE + address for address in return_addresses(path)]
    lines = ["cpus 1", "thread 10 pid 10 ppid 1 name poller", f"image pid 10 start {BASE:#x} end {BASE + 0x10000:#x} build_id {build[1]} path {path}",
             "image pid 10 start 0x7f0000000000 end 0x7f0000010000 path /usr/lib/libc.so.6", "stack 1 " + " ".join(map(hex, frames)),
             "1ms cpu0 t0 switch state=R next=10", "+1ms cpu0 t10 syscall_start nr=clock_nanosleep", "+1us cpu0 t10 stack user=1 why=block",
             "+1us cpu0 t10 switch state=S next=0", "+3s cpu0 t0 switch state=R next=10", "+1us cpu0 t10 syscall_end nr=clock_nanosleep"]
    trace = setup.trace("poller", "\n".join(lines) + "\n")
    return setup.run("step", trace, "v0", "--script", *options, code=0)


def test_the_caller_of_a_library_function(setup):
    done = script(setup)
    expect_in("stepping begins in a caller of", done.stderr)
    expect_in("sleep_for", done.stderr)
    begin = [line for line in done.stdout.splitlines() if "argus_begin" in line or "wait_until_ready" in line]
    expect(any("wait_until_ready" in line for line in begin), done.stdout)


def test_as_asked(setup):
    done = script(setup, "--frame=0")
    expect_equal("note", done.stderr.count("stepping begins"), 0)
    expect_in("sleep_for", done.stdout.splitlines()[0])
    expect_in("wait_until_ready", script(setup, "--frame=1").stdout.splitlines()[0])


if __name__ == "__main__":
    main()
