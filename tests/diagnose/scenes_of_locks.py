"""File locks: polled for, waited for, and their holders."""
from scene import Scene
from scenes import scene


def lock_loop(holder_lists, pause=250, call="flock", turns=12):
    """The editor polls for a lock that a package manager has held since before the recording. `holder_lists`: when the kernel's list of
    locks was recorded."""
    s = Scene()
    s.thread(10, "editor")
    s.thread(20, "package")
    s.thread(30, "server")
    s.thread(90, "bystander")
    if "begin" in holder_lists:
        s.file_lock(20, "got", call=call, listed=True)
    s.wait(30, "read")
    s.wait(90, "read")
    s.at(50)
    s.wake(20, 30)
    s.wait(20, "read")
    s.wait(30, "clock_nanosleep", timeout=True)
    for _ in range(turns):
        s.file_lock(10, "refused", call=call)
        s.sleep(10, pause)
    return s


LOCK_LOOP = {"type": "RepeatedYield", "root": ("server", "LongWait"), "path": ["editor", "package", "server"]}


@scene
def lock_that_is_polled():
    """… and the package manager waits for a server, which sleeps. In the end it releases the lock."""
    s = lock_loop(["begin"])
    s.timer(30)
    s.wake(30, 20)
    s.file_lock(20, "released")
    s.file_lock(10, "got")
    s.wait(30, "read")
    s.wait(10, "read")
    return s, "editor", LOCK_LOOP


@scene
def lock_that_is_polled_fast():
    """The turns of the loop are merged into one vertex. Only its release shows that another process had the lock."""
    s = lock_loop([], pause=2, call="fcntl", turns=600)
    s.timer(30)
    s.wake(30, 20)
    s.file_lock(20, "released", call="fcntl")
    s.file_lock(10, "got", call="fcntl")
    s.wait(30, "read")
    s.wait(10, "read")
    return s, "editor", LOCK_LOOP


@scene
def lock_that_is_polled_to_the_end():
    """The lock is older than the records and is not released: the list at the end names its holder."""
    s = lock_loop([])
    s.file_lock(20, "got", listed=True)
    s.wait(10, "read")
    return s, "editor", LOCK_LOOP


@scene
def lock_of_somebody_unknown():
    """The trace has the path of the file."""
    s = lock_loop([])
    s.tables.append("image pid 20 start 0x400000 end 0x480000 inode 77 dev_minor 8 path /usr/bin/package")
    s.wait(10, "read")
    return s, "editor", {"type": "RepeatedYield", "root": ("editor", "RepeatedYield"), "path": ["editor"],
                         "why": "tried to lock /usr/bin/package, 12 times in a row (clock_nanosleep) for "}


@scene
def lock_of_another_kind_is_not_in_the_way():
    """The bystander holds a lock by fcntl(), which does not affect flock()."""
    s = lock_loop([])
    s.file_lock(90, "got", call="fcntl", listed=True)
    s.file_lock(20, "got", listed=True)
    s.wait(10, "read")
    return s, "editor", LOCK_LOOP


@scene
def lock_that_is_waited_for():
    """The editor waits in flock(), for ever."""
    s = lock_loop([], turns=0)
    s.timer(30)
    s.wake(30, 20)
    s.wait(30, "read")
    s.file_lock(20, "got")
    s.wake(20, 30)
    s.wait(20, "read")
    s.wait(30, "clock_nanosleep", timeout=True)
    s.wait(10, "flock", inode=77, mode="file")
    s.for_ms(3000)
    s.thread(91, "idler")
    return s, "editor", {"type": "LongWait", "root": ("server", "LongWait"), "path": ["editor", "package", "server"]}


@scene
def lease_that_is_waited_for():
    """The editor opens a file of which the package manager has a lease, for ever; only the kernel's list at the end shows it. An idler has a
    lock on the file, and a lease of another one."""
    s = Scene()
    s.thread(10, "editor")
    s.thread(20, "package")
    s.thread(91, "idler")
    s.wait(20, "clock_nanosleep")
    s.wait(91, "clock_nanosleep")
    s.for_ms(10)
    s.wait(10, "openat")
    s.goes_on(3000)
    for tid, what, inode, kind in ((91, "got", 77, 1), (91, "got", 78, 5), (20, "got", 77, 5), (10, "waits", 77, 5)):
        s._record(0, tid, f"file_lock inode={inode} device=8 what={what} kind={kind} last=-1 flags=held_exclusive")
    return s, "editor", {"type": "LongWait", "root": ("package", "LongWait"), "path": ["editor", "package"]}


def lock_file_loop(creator, turns=12, lives=True):
    """The editor tries to create a lock file, which `creator` (None: unknown) has created; `lives`: it does so still."""
    s = Scene()
    s.thread(10, "editor")
    s.thread(20, "package")
    s.thread(30, "server")
    if creator:
        s.lock_file(creator, "got")
    s.wait(30, "read")
    s.at(50)
    s.wake(20, 30)
    s.wait(20, "read") if lives else s.exit(20)
    s.wait(30, "clock_nanosleep", timeout=True)
    for _ in range(turns):
        s.lock_file(10, "refused")
        s.sleep(10, 250)
    return s


@scene
def lock_file_that_is_polled():
    """The package manager has created it, waits for a server, which sleeps, and removes the file in the end."""
    s = lock_file_loop(20)
    s.timer(30)
    s.wake(30, 20)
    s.lock_file(20, "released")
    s.lock_file(10, "got")
    s.wait(30, "read")
    s.wait(10, "read")
    return s, "editor", LOCK_LOOP


@scene
def lock_file_that_is_older_than_the_records():
    """Its removal shows who had it."""
    s = lock_file_loop(None)
    s.timer(30)
    s.wake(30, 20)
    s.lock_file(20, "released")
    s.lock_file(10, "got")
    s.wait(30, "read")
    s.wait(10, "read")
    return s, "editor", LOCK_LOOP


@scene
def lock_file_of_an_unknown_process():
    s = lock_file_loop(None)
    s.wait(10, "read")
    return s, "editor", {"type": "RepeatedYield", "root": ("editor", "RepeatedYield"), "path": ["editor"],
                         "why": "tried to create the lock file /tmp/lock, 12 times in a row (clock_nanosleep) for "}


@scene
def lock_file_whose_pauses_double():
    """As QLockFile's do: the last pause makes more than half of the hang. Then the editor gets the lock."""
    s = lock_file_loop(20, turns=0)
    for pause in (100, 200, 400, 800):
        s.lock_file(10, "refused")
        s.sleep(10, pause)
    s.lock_file(10, "refused")
    s.sleep(10, 1600)
    s.timer(30)
    s.wake(30, 20)
    s.lock_file(20, "released")
    s.lock_file(10, "got")
    s.wait(30, "read")
    s.wait(10, "read")
    return s, "editor", LOCK_LOOP


@scene
def lock_file_whose_pauses_are_long():
    """As dotlockfile's are: two tries are refused, and the third one, after 10 s, gets the lock."""
    s = lock_file_loop(20, turns=0)
    s.lock_file(10, "refused")
    s.sleep(10, 5000)
    s.lock_file(10, "refused")
    s.sleep(10, 10000)
    s.timer(30)
    s.wake(30, 20)
    s.lock_file(20, "released")
    s.lock_file(10, "got")
    s.wait(30, "read")
    s.wait(10, "read")
    return s, "editor", LOCK_LOOP


@scene
def lock_file_that_was_left_behind():
    """Its creator has ended without removing it."""
    s = lock_file_loop(20, lives=False)
    s.wait(10, "read")
    return s, "editor", {"type": "RepeatedYield", "root": ("editor", "RepeatedYield"), "path": ["editor"],
                         "why": "package [20] had created it, and ended without removing it"}


@scene
def folder_that_exists_is_no_lock():
    """The editor makes sure again and again that a folder exists, and waits for the server in between."""
    s = Scene()
    s.thread(10, "editor")
    s.thread(30, "server")
    s.wait(30, "clock_nanosleep", timeout=True)
    for _ in range(3):
        s.lock_file(10, "refused")
        s.wait(10, "read")
        s.for_ms(800)
        s.timer(30)
        s.wake(30, 10)
        s.wait(30, "clock_nanosleep", timeout=True)
    s.lock_file(10, "refused")
    s.wait(10, "read")
    return s, "editor", {"type": "LongWait", "root": ("server", "LongWait"), "path": ["editor", "server"]}


@scene
def lock_file_that_is_refused_once():
    """The second try, after 5 s, gets the lock."""
    s = lock_file_loop(20, turns=0)
    s.lock_file(10, "refused")
    s.sleep(10, 5000)
    s.timer(30)
    s.wake(30, 20)
    s.lock_file(20, "released")
    s.lock_file(10, "got")
    s.wait(30, "read")
    s.wait(10, "read")
    return s, "editor", LOCK_LOOP


@scene
def lock_of_somebody_unknown_that_is_refused_once():
    s = lock_loop([], turns=0)
    s.file_lock(10, "refused")
    s.sleep(10, 5000)
    s.file_lock(10, "got")
    s.wait(10, "read")
    return s, "editor", {"type": "RepeatedYield", "root": ("editor", "RepeatedYield"), "path": ["editor"],
                         "summary": "because it waited before it tried again to lock a file.",
                         "why": "tried once in vain to lock inode 77 of device 0:8, and got it at the next try (clock_nanosleep) for 5"}


@scene
def script_that_an_editor_waits_for():
    """until mkdir lock; do sleep 0.2; done"""
    s = Scene()
    for tid, name in (10, "editor"), (20, "package"), (30, "server"):
        s.thread(tid, name)
    s.lock_file(20, "got")
    s.wait(20, "read")
    s.wait(30, "clock_nanosleep", timeout=True)
    s.thread(35, "shell", parent=10)
    s.wait(10, "wait4")
    for turn in range(12):
        s.thread(40 + turn, "mkdir", parent=35)
        s.wait(35, "wait4")
        s.lock_file(40 + turn, "refused")
        s.wake(40 + turn, 35, call="exit_group")
        s.exit(40 + turn)
        s.thread(60 + turn, "sleep", parent=35)
        s.wait(35, "wait4")
        s.sleep(60 + turn, 250)
        s.wake(60 + turn, 35, call="exit_group")
        s.exit(60 + turn)
    s.timer(30)
    s.wake(30, 20)
    s.lock_file(20, "released")
    s.thread(59, "mkdir", parent=35)
    s.wait(35, "wait4")
    s.lock_file(59, "got")
    s.wake(59, 35, call="exit_group")
    s.wake(35, 10, call="exit_group")
    s.wait(30, "read")
    s.wait(10, "read")
    return s, "editor", {"type": "LongWait", "root": ("server", "LongWait"), "path": ["editor", "shell", "package", "server"]}


@scene
def lock_folder_of_a_script_that_complains():
    """Each mkdir writes an error message to the pipe that the editor reads, and the trace ends in a pause of the script."""
    s = Scene()
    for tid, name in (10, "editor"), (20, "package"), (30, "server"):
        s.thread(tid, name)
    s.lock_file(20, "got")
    s.wait(30, "read")
    s.wait(10, "poll", frames=[0x10])
    for _ in range(8):
        s.for_ms(20)
        s.wake(20, 10)
        s.wait(10, "poll", frames=[0x10])
    s.wake(20, 30)
    s.wait(20, "read")
    s.wait(30, "clock_nanosleep", timeout=True)
    s.thread(35, "shell", parent=10)
    s.wake(35, 10)
    s.wait(10, "read", inode=77, mode="fifo", frames=[0x20, 0x10])
    for turn in range(12):
        s.thread(40 + turn, "mkdir", parent=35)
        s.wait(35, "wait4")
        s.lock_file(40 + turn, "refused")
        s.wake(40 + turn, 10)
        s.wait(10, "read", inode=77, mode="fifo", frames=[0x20, 0x10])
        s.wake(40 + turn, 35, call="exit_group")
        s.exit(40 + turn)
        s.thread(60 + turn, "sleep", parent=35)
        s.wait(35, "wait4")
        s.wait(60 + turn, "clock_nanosleep", timeout=True)
        s.for_ms(240)
        if turn < 11:
            s.timer(60 + turn)
            s.wake(60 + turn, 35, call="exit_group")
            s.exit(60 + turn)
    s.goes_on(1)
    return s, "editor", {"type": "LongWait", "root": ("server", "LongWait"), "only": {"server"}}


@scene
def launcher_of_programs_with_one_folder():
    """What a server's client waits for is not what the programs do that were started as the server was: each makes sure that a folder
    exists, and lives on."""
    s = Scene()
    s.thread(10, "editor")
    s.thread(20, "launcher")
    s.thread(30, "server", parent=20)
    s.wait(20, "poll", timeout=True)
    for tid in 41, 42, 43, 44:
        s.thread(tid, "program", parent=20)
        if tid == 41:
            s.lock_file(41, "got", path="/tmp/folder")
    s.wait(30, "read")
    s.wake(10, 30)
    s.wait(10, "read")
    s.wait(30, "clock_nanosleep", timeout=True)
    for tid in 42, 43, 44:
        s.for_ms(800)
        s.lock_file(tid, "refused", path="/tmp/folder")
        s.wait(tid, "clock_nanosleep", timeout=True)
    s.for_ms(600)
    s.timer(30)
    s.wake(30, 10)
    s.wait(30, "read")
    s.wait(10, "read")
    return s, "editor", {"type": "LongWait", "root": ("server", "LongWait"), "path": ["editor", "server"]}


def shell_that_makes_a_folder(pause, rounds, makes=lambda turn: True):
    """while :; do mkdir -p folder; sleep …; done"""
    s = Scene()
    s.thread(10, "editor")
    for turn in range(rounds):
        if makes(turn):
            s.thread(40 + turn, "mkdir", parent=10)
            s.wait(10, "wait4")
            s.lock_file(40 + turn, "refused", path="/tmp/folder")
            s.wake(40 + turn, 10, call="exit_group")
            s.exit(40 + turn)
        s.thread(60 + turn, "sleep", parent=10)
        s.wait(10, "wait4")
        s.sleep(60 + turn, pause)
        s.wake(60 + turn, 10, call="exit_group")
        s.exit(60 + turn)
    s.wait(10, "read")
    return s, "editor", {"type": "LongWait", "root": ("sleep", "LongWait"), "path": ["editor", "sleep"]}


@scene
def folder_that_a_shell_makes_now_and_then():
    """It exists; between two looks are 10 minutes."""
    return shell_that_makes_a_folder(600000, 4)


@scene
def folder_that_a_shell_makes_twice():
    """It exists; no process is seen to have made it, and two looks are no loop."""
    return shell_that_makes_a_folder(10000, 3, makes=lambda turn: turn != 1)


@scene
def lock_that_a_service_tries_every_hour():
    s = lock_loop(["begin"], pause=3600000, turns=3)
    s.wait(10, "read")
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "path": ["editor"], "why": "it slept by its own clock"}


@scene
def condition_that_is_waited_for_in_pieces():
    """The editor's writer waits for a block with a time-out of a second, six times: glibc's condition takes turns with two futexes. The
    worker waits for a server that sleeps for all of that time."""
    s = Scene()
    s.thread(10, "editor")
    s.thread(11, "writer", pid=10)
    s.thread(12, "worker", pid=10)
    s.thread(30, "server")
    where = [0x400500, 0x400200, 0x400100]
    s.wait(11, "futex", fd=0x7000, timeout=True, frames=where, condition=True)
    s.wait(30, "read")
    for turn in range(4):
        s.for_ms(20)
        s.wake(12, 11, call="futex")
        s.wait(11, "futex", fd=0x7004 - 4 * (turn % 2), timeout=True, frames=where, condition=True)
    s.for_ms(20)
    s.wake(12, 30)
    s.wait(12, "read", fd=7)
    s.wait(30, "clock_nanosleep", timeout=True)
    s.wait(10, "futex", fd=0x9000)
    for turn in range(6):
        s.for_ms(1000)
        s.timer(11)
        s.wait(11, "futex", fd=0x7004 - 4 * (turn % 2), timeout=True, frames=where, condition=True)
    s.for_ms(500)
    s.timer(30)
    s.wake(30, 12)
    s.wake(12, 11, call="futex")
    s.wake(11, 10, call="futex")
    s.wait(10, "read")
    return s, "editor", {"type": "LongWait", "root": ("server", "LongWait"), "path": ["editor", "editor", "editor", "server"],
                         "why": "waited for 6.50 s (clock_nanosleep): it slept by its own clock"}
