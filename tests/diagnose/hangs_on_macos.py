"""Functions and flags of macOS that indicate a hang. MARKS is a shared library that has them."""
import functools
import subprocess

from hang_scene import Loop, hang, scene

MARKS = None  # test_hangs.py sets it
BASE = 0x7F0000000000


@functools.lru_cache
def symbols():
    lines = subprocess.run(["nm", MARKS], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {words[2]: int(words[0], 16) for words in map(str.split, lines) if len(words) == 3}


def address_of(name):
    return BASE + symbols()[name]


@functools.lru_cache
def image(pid):
    """Where the library's code is mapped; the trace does not tell where its data are."""
    notes = subprocess.run(["readelf", "-n", MARKS], stdout=subprocess.PIPE, text=True, check=True).stdout
    build_id = notes.split("Build ID:")[1].split()[0]
    headers = subprocess.run(["readelf", "-lW", MARKS], stdout=subprocess.PIPE, text=True, check=True).stdout
    loads = [line.split() for line in headers.splitlines() if line.split()[:1] == ["LOAD"] and " E " in line]
    parts = [(int(words[1], 16) & -4096, int(words[2], 16) & -4096, int(words[2], 16) + int(words[5], 16)) for words in loads]
    return "\n".join(f"image pid {pid} start {BASE + start:#x} end {BASE + (end + 4095 & -4096):#x} offset {offset:#x} "
                     f"build_id {build_id} path {MARKS}" for offset, start, end in parts)


@scene
def report_begun():
    """spindump is started while the editor has not answered for a second. No stretch is as long as the threshold."""
    s = Loop()
    s.key()
    s.for_ms(1000)
    spindump(s)
    s.for_ms(500)
    s.end()
    found = hang(indicators=["hang report begun"])
    return s, [([], [found]), (["--threshold=1s"], [hang(indicators=["event loop did not come back", "hang report begun"])])]


def spindump(s):
    s.type()
    s.raw(s.keyboard, "new_thread thread=77 pid=77 new_process=1 parent=20")
    s.raw(s.keyboard, "name_new name=spindump")
    s.cpus[77] = len(s.cpus)
    s._record(s.cpus[77], 0, "switch state=R next=77")
    s._record(s.cpus[77], 77, "switch state=S next=0")
    s.rest()


@scene
def spinning_cursor_requested():
    """Another thread of the editor calls CGSConnectionSetSpinning()."""
    s = Loop()
    address = address_of("CGSConnectionSetSpinning")
    s.thread(11, "events", pid=10)
    s.tables += image(10), f"stack 5 {address + 4:#x}"
    s.key()
    s.for_ms(900)
    s.raw(11, "sample user=5 pc=0x7f0000000000")
    s.for_ms(600)
    s.end()
    return s, [([], [hang(indicators=["spinning cursor requested"])])]


@scene
def other_function_of_that_library():
    s = Loop()
    s.thread(11, "events", pid=10)
    s.tables += image(10), f"stack 5 {address_of('CGSGetWindowCount') + 4:#x}"
    s.key()
    s.for_ms(900)
    s.raw(11, "sample user=5 pc=0x7f0000000000")
    s.for_ms(600)
    s.end()
    return s, [([], [])]


@scene
def flagged_as_spinning():
    s = Loop()
    s.thread(11, "events", pid=10)
    s.tables += image(10),
    s.key()
    s.for_ms(900)
    s.raw(11, f"flag_write flag={address_of('is_mainthread_spinning'):#x} value=1 bytes=4")
    s.for_ms(600)
    s.raw(11, f"flag_write flag={address_of('is_mainthread_spinning'):#x} value=0 bytes=4")
    s.end()
    return s, [([], [hang(indicators=["main thread flagged as spinning"])])]


@scene
def another_flag():
    s = Loop()
    s.thread(11, "events", pid=10)
    s.tables += image(10),
    s.key()
    s.for_ms(900)
    s.raw(11, f"flag_write flag={address_of('need_display'):#x} value=1 bytes=4")
    s.for_ms(600)
    s.end()
    return s, [([], [])]
