"""What several processes share, and nobody owns: semaphores and queues of System V, words in shared memory. The waits do not end."""
from scene import Scene
from scenes import scene


def used(scene, tid, call, first, result=0):
    """A call of System V that returns at once."""
    error = f" error={-result}" if result < 0 else ""
    scene.raw(tid, f"syscall_start nr={call} arg1={first}")
    scene.raw(tid, f"syscall_end nr={call} result={result}{error}")


def shared():
    """The editor has often talked to a display, which is idle, and sleeps for most of the time itself."""
    s = Scene()
    s.thread(10, "editor")
    s.thread(20, "display")
    s.thread(30, "first")
    s.thread(40, "second")
    s.wait(20, "read", frames=[0x2000])
    s.wait(10, "read")
    for _ in range(8):
        s.for_ms(5)
        s.wake(30, 20)
        s.wake(20, 10)
        s.wait(20, "read", frames=[0x2000])
        s.wait(10, "read")
    s.wake(30, 10)
    return s


def waits(s, call, object, **more):
    """Both others sleep, and the editor waits until the end."""
    s.wait(30, "clock_nanosleep")
    s.wait(40, "clock_nanosleep")
    s.wait(10, call, fd=object, **more)
    s.goes_on(3000)


@scene
def semaphore_that_another_changed_last():
    """The second has taken it after the first; what it did with other semaphores, with a queue, or in vain, is no matter."""
    s = shared()
    used(s, 30, "semget", 99, result=42)
    used(s, 40, "semop", 42)
    used(s, 40, "semop", 42)
    used(s, 30, "semop", 43)
    used(s, 30, "msgsnd", 42)
    used(s, 30, "semtimedop", 42, result=-11)
    waits(s, "semop", 42)
    return s, "editor", {"type": "LongWait", "root": ("second", "LongWait"), "path": ["editor", "second"],
                         "uncertain": "has used the same semaphores"}


@scene
def semaphore_that_both_changed():
    s = shared()
    used(s, 40, "semop", 42)
    used(s, 30, "semtimedop", 42)
    used(s, 40, "semctl", 42)
    waits(s, "semop", 42)
    return s, "editor", {"type": "LongWait", "root": ("first", "LongWait"), "path": ["editor", "first"]}


@scene
def queue_to_which_nobody_sent():
    """The second made it, by its key."""
    s = shared()
    used(s, 40, "msgget", 99, result=42)
    used(s, 30, "msgget", 98, result=43)
    waits(s, "msgrcv", 42)
    return s, "editor", {"type": "LongWait", "root": ("second", "LongWait"), "path": ["editor", "second"]}


@scene
def queue_that_is_full():
    """The second takes messages from it, the first sends some as well."""
    s = shared()
    used(s, 40, "msgrcv", 42)
    used(s, 30, "msgsnd", 42)
    waits(s, "msgsnd", 42)
    return s, "editor", {"type": "LongWait", "root": ("second", "LongWait"), "path": ["editor", "second"]}


@scene
def word_in_shared_memory():
    """The editor has the file from its second page on, the second from its first one; the first has another page, and another file."""
    s = shared()
    waits(s, "futex", 0x8010)
    for tid, start, inode, offset, pages in ((10, 0x8001, 77, 4096, 1), (40, 0x20001, 77, 0, 2), (30, 0x8001, 77, 0, 1),
                                             (30, 0x9001, 78, 4096, 1)):
        s.raw(tid, f"shared_memory start={start:#x} inode={inode} offset={offset} device=25 pages={pages}")
    return s, "editor", {"type": "LongWait", "root": ("second", "LongWait"), "path": ["editor", "second"],
                         "uncertain": "shares the memory"}
