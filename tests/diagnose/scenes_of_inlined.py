"""Addresses in functions that the compiler inlined: the innermost one of the program's own sources is named."""
from scene import Scene
from scenes import scene

MAIN, EDITOR = "/src/editor/main.c", "/usr/bin/editor"
LIBC, TOOL = "/usr/lib/libc.so.6", "/usr/lib/libtool.so.1"
START = {LIBC: 0x100000, TOOL: 0x200000, EDITOR: 0x300000}


def names(s, path, place, *functions):
    """Functions at one place, as (name, source file), innermost first; the last one covers it. Returns the address behind the place."""
    for level, (name, source) in enumerate(functions):
        level = (level + 1) % len(functions)  # of the trace's table: 0 is the function that covers the place
        s.tables.append(f"name path {path} place {place - 1:#x} function {name} distance 15 line {level + 1}" +
                        (f" level {level}" if level else "") + (f" source {source}" if source else ""))
    return START[path] + place


def inlined(s, path, place, *functions):
    """Source files of the table belong to the calls: the covering function's row has the innermost line."""
    sources = [source for _, source in functions]
    rows = [(name, sources[(at + 1) % len(sources)]) for at, (name, _) in enumerate(functions)]
    return names(s, path, place, *rows)


def editor():
    s = Scene()
    s.thread(10, "editor")
    s.thread(90, "bystander")
    for path, start in START.items():
        s.tables.append(f"image pid 10 start {start:#x} end {start + 0x10000:#x} path {path}")
    for _ in range(3):
        s.sleep(10, 20)
    return s


def outer_frames(s):
    return [names(s, EDITOR, 0x2010, ("main", MAIN)), names(s, LIBC, 0x2010, ("_start", None))]


def busy(*stacks):
    """The editor is busy for 3 s; each of `stacks` makes the address of its innermost frame, and has 10 samples."""
    s = editor()
    outer = outer_frames(s)
    numbers = [s.stack([make(s) - 1, *outer]) for make in stacks]
    for at in range(30):
        s.for_ms(100)
        s._record(s.cpus[10], 10, f"sample user={numbers[at % len(numbers)]} pc=0x7f0000000000")
    s.sleep(10, 10)
    return s


def absorbs(s):
    return inlined(s, EDITOR, 0x1010, ("list_next", "/usr/include/list.h"), ("absorb", MAIN), ("squeeze", MAIN), ("load", MAIN))


def loads(s):
    return names(s, EDITOR, 0x1110, ("load", MAIN))


@scene
def busy_in_an_inlined_function():
    """Not in that of another source tree, which is inlined there as well."""
    return busy(absorbs), "editor", {
        "type": "LongRunning", "root": ("editor", "LongRunning"), "summary": "was busy on the cpu (absorb)",
        "functions": [("absorb", True, 30, 30), ("load", False, 0, 30), ("squeeze", True, 0, 30)]}


@scene
def busy_around_an_inlined_function():
    """Half of the samples are in the inlined function, so it is not the one to look at first."""
    return busy(absorbs, loads), "editor", {
        "type": "LongRunning", "root": ("editor", "LongRunning"), "summary": "was busy on the cpu (load)",
        "functions": [("load", False, 15, 30), ("absorb", True, 15, 15), ("squeeze", True, 0, 15)]}


def waits(*frames):
    s = editor()
    s.wait(10, "recvfrom", fd=6, inode=71, mode="socket family=2 socktype=1",
           frames=[frame(s) for frame in frames] + outer_frames(s))
    s._record(s.cpus[10], 10, "remote inode=71 address=0x0200630a port=5432 own_port=40001 protocol=6 version=4")
    s.for_ms(3000)
    s.sleep(90, 10)
    return s


def receives(s):
    names(s, LIBC, 0x1011, ("recv", None))
    return START[LIBC] + 0x1010


def opens(s):
    return inlined(s, EDITOR, 0x1210, ("ask", MAIN), ("document_open", MAIN))


@scene
def waiting_in_an_inlined_function():
    return waits(receives, opens), "editor", {
        "type": "LongWait", "root": ("editor", "LongWait"), "why": ", in ask):"}


@scene
def inlined_functions_around_a_call_of_a_library():
    """What the program called is the library's function that covers the address; the call is in an inlined one."""
    def tool(s):
        return inlined(s, TOOL, 0x1010, ("tool_read", "/src/tool/tool.c"), ("tool_load", "/src/tool/tool.c"))
    return waits(receives, tool, opens), "editor", {
        "type": "LongWait", "root": ("editor", "LongWait"), "why": ", in tool_load, called by ask):"}


def nameless(s, path, place, distance):
    """A place in a function without a name, of which the file tells where it begins: its code for unwinding has ranges."""
    s.tables.append(f"name path {path} place {place - 1:#x} distance {distance - 1} line 0")
    return START[path] + place


@scene
def busy_in_stripped_code():
    """Two places in a function without a name are one function."""
    return busy(lambda s: nameless(s, EDITOR, 0x1010, 0x10), lambda s: nameless(s, EDITOR, 0x1030, 0x30)), "editor", {
        "type": "LongRunning", "root": ("editor", "LongRunning"), "functions": [("editor+0x1000", False, 30, 30)]}


@scene
def waiting_in_stripped_code():
    """Neither the library's function nor its caller has a name."""
    return waits(receives, lambda s: nameless(s, TOOL, 0x1010, 0x10), lambda s: nameless(s, EDITOR, 0x1230, 0x30)), "editor", {
        "type": "LongWait", "root": ("editor", "LongWait"), "why": ", in libtool.so.1+0x1000, called by editor+0x1200):"}


@scene
def waiting_in_a_stripped_program():
    """The program's own function, and not main, which called it."""
    return waits(receives, lambda s: nameless(s, EDITOR, 0x1230, 0x30)), "editor", {
        "type": "LongWait", "root": ("editor", "LongWait"), "why": ", in editor+0x1200):"}
