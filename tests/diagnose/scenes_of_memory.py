"""Threads that get no memory: how long, at which limit, and which process took most."""
from scene import Scene
from scenes import scene

EDITOR, HOG, BYSTANDER, OTHER = 10, 20, 30, 40
MB = 1 << 20
GROUP = 77
RECLAIM, GROUP_RECLAIM, COMPACTION = 1, 2, 3


def start():
    s = Scene()
    s.thread(EDITOR, "editor")
    s.thread(HOG, "hog")
    s.thread(BYSTANDER, "bystander")
    s.thread(OTHER, "other")
    for tid in HOG, BYSTANDER, OTHER:
        size(s, tid, 50)
    for _ in range(3):
        s.sleep(EDITOR, 20)
    return s


def size(s, tid, megabytes):
    s._record(s.cpus[tid], tid, f"memory_size pid={tid} own={megabytes * MB}")


def stalled(s, tid, ms, why, freed=1, group=0, limit=100):
    """The stall ended just now."""
    at = f" group={group} limit={limit * MB}" if group else ""
    s._record(s.cpus[tid], tid, f"memory_stall why={why} bytes={freed * MB} length={int(ms * 1e6)}{at}")
    if group:
        s._record(s.cpus[tid], tid, "memory_group name=app.slice")


def hangs(s, why, turn=lambda s: None, group=0, times=30):
    """The editor is on its CPU for 3 s, and in reclaim nearly all the time."""
    for _ in range(times):
        s.for_ms(100)
        turn(s)
        if why:
            stalled(s, EDITOR, 95, why, group=group)
    s.sleep(EDITOR, 20)
    return s


def found(root, why, only, kind="LongRunning"):
    return "editor", {"type": kind, "root": (root, "LongRunning"), "why": why, "only": only}


@scene
def memory_taken_by_one_that_grows():
    """The machine has no free memory. The hog grows, and kernel threads free what it gets."""
    s = start()
    grown = [50]

    def turn(s):
        grown[0] += 40
        size(s, HOG, grown[0])
    return hangs(s, RECLAIM, turn), *found("hog", "took 1258 MB of memory (98 % of what all took), and grew by 1258 MB to 1311 MB, "
                                           "while editor's main thread waited for memory for 2.85 s", {"hog", "editor"})


@scene
def memory_of_a_group_at_its_limit():
    """The hog goes through more memory than its group may have, without growing. The other process grows outside of the group."""
    s = start()
    grown = [50]

    def turn(s):
        stalled(s, HOG, 50, GROUP_RECLAIM, freed=20, group=GROUP)
        grown[0] += 100
        size(s, OTHER, grown[0])
    return hangs(s, GROUP_RECLAIM, turn, GROUP), *found(
        "hog", "took 629 MB of memory (95 % of what all took), while editor's main thread waited for memory for 2.85 s; "
        "their control group app.slice was at its limit of 105 MB", {"hog", "editor"})


@scene
def memory_taken_by_itself():
    """The editor is alone at the limit of its group."""
    s = start()
    return hangs(s, GROUP_RECLAIM, group=GROUP), *found(
        "editor", "waited for memory for 2.85 s: it freed memory of its control group for 2.85 s; "
        "its control group app.slice was at its limit of 105 MB", {"editor"})


@scene
def memory_that_is_in_pieces():
    s = start()
    return hangs(s, COMPACTION), *found("editor", "waited for memory for 2.85 s: it moved memory to make a large block for 2.85 s",
                                        {"editor"})


@scene
def memory_is_no_matter():
    """The hog is short of memory, the editor is not."""
    s = start()
    return hangs(s, 0, lambda s: stalled(s, HOG, 50, RECLAIM, freed=20)), *found("editor", "ran on a cpu for", {"editor"})


@scene
def memory_that_is_swapped_out():
    """The editor waits for its pages, which a disk has to read. The hog took their place."""
    s = start()
    s._record(s.cpus[EDITOR], EDITOR, "block_issued request=0x100 sector=8 bytes=4096 device=0x800000 op=0")
    s._record(s.cpus[EDITOR], EDITOR, "switch state=D next=0")
    for _ in range(30):
        s.for_ms(100)
        stalled(s, HOG, 50, RECLAIM, freed=20)
    s._record(s.cpus[BYSTANDER], BYSTANDER, "interrupt_start irq=30")
    s._record(s.cpus[BYSTANDER], BYSTANDER, "block_completed request=0x100 bytes=4096")
    s._record(s.cpus[BYSTANDER], BYSTANDER, f"make_runnable thread={EDITOR} context=hardirq")
    s._record(s.cpus[BYSTANDER], BYSTANDER, "interrupt_end irq=30")
    s._record(s.cpus[EDITOR], 0, f"switch state=R next={EDITOR}")
    s.sleep(EDITOR, 20)
    return s, *found("hog", "took 629 MB of memory (100 % of what all took), while editor's main thread waited for memory for 3.00 s",
                     {"hog", "editor"}, "LongWait")


@scene
def memory_and_cpus_that_others_have():
    """The editor lacks memory, and for nearly half of the time a CPU, which the hog has. Its waits for pages are told once."""
    s = start()

    def home():
        s.wait(EDITOR, "poll", timeout=True)
        s.for_ms(20)
        s.timer(EDITOR)
    for _ in range(20):
        home()
    for turn in range(3):
        s._record(s.cpus[EDITOR], EDITOR, f"block_issued request={turn + 256} sector=8 bytes=4096 device=0x800000 op=0")
        s._record(s.cpus[EDITOR], EDITOR, "switch state=D next=0")
        s.for_ms(400)
        stalled(s, HOG, 200, RECLAIM, freed=200)
        s._record(s.cpus[BYSTANDER], BYSTANDER, "interrupt_start irq=30")
        s._record(s.cpus[BYSTANDER], BYSTANDER, f"block_completed request={turn + 256} bytes=4096")
        s._record(s.cpus[BYSTANDER], BYSTANDER, f"make_runnable thread={EDITOR} context=hardirq")
        s._record(s.cpus[BYSTANDER], BYSTANDER, "interrupt_end irq=30")
        s.for_ms(380)
        s._record(s.cpus[EDITOR], 0, f"switch state=R next={EDITOR}")
        s.for_ms(220)
    home()
    return s, *found("hog", "took 629 MB of memory (100 % of what all took), while editor's main thread waited for memory for 1.20 s",
                     {"hog", "editor"})
