"""Waits for a disk: whose requests it was busy with. Waits for a file that a program serves (FUSE)."""
from scene import Scene
from scenes import scene

EDITOR, WORKER, COPIER, FLUSHER, BYSTANDER = 10, 11, 20, 30, 40
DISK, OTHER_DISK = "device=0x800000", "device=0xfe00000"


def start():
    s = Scene()
    s.thread(EDITOR, "editor")
    s.thread(COPIER, "copier")
    s.tables.append(f"thread {FLUSHER} kernel name kworker/u8:2-flush-8:0")
    s.cpus[FLUSHER] = len(s.cpus)
    s._record(s.cpus[FLUSHER], 0, f"switch state=R next={FLUSHER}")
    s.thread(BYSTANDER, "bystander")
    for _ in range(3):
        s.sleep(EDITOR, 20)
    return s


def writes(s, tid, inode, folder, name, ms, call="write"):
    """Writes to a file, throttled by the kernel; or waits in another `call` for what it has written."""
    s._record(s.cpus[tid], tid, f"syscall_start nr={call} arg1=4")
    s._record(s.cpus[tid], tid, "switch state=D next=0")
    s._record(s.cpus[tid], tid, f"object fd=4 inode={inode} mode=file")
    at = s.now
    for piece in name, folder:
        s._record(s.cpus[tid], tid, f"file_name inode={inode} name=/{piece}")
        s.now = at  # all pieces have one time
    s.for_ms(ms)
    s._record(s.cpus[BYSTANDER], BYSTANDER, f"make_runnable thread={tid} context=hardirq")
    s._record(s.cpus[tid], 0, f"switch state=R next={tid}")
    s._record(s.cpus[tid], tid, f"syscall_end nr={call} result={4096 if call == 'write' else 0}")


def request(s, tid, number, size, inode=0, op=1, disk=DISK):
    s._record(s.cpus[tid], tid, f"block_issued request={number:#x} sector=8 bytes={size} {disk} op={op}")
    if inode:
        s.now -= 1000
        s._record(s.cpus[tid], tid, f"block_file request={number:#x} inode={inode} {disk}")


def queued(s, tid, issuer, number, size):
    """Direct I/O of `tid`, which a kernel worker issues."""
    s._record(s.cpus[tid], tid, f"block_queued request={number:#x} sector=8")
    request(s, issuer, number, size)


def ends_by_interrupt(s):
    s._record(s.cpus[BYSTANDER], BYSTANDER, "interrupt_start irq=30")
    s._record(s.cpus[BYSTANDER], BYSTANDER, "block_completed request=0x100 bytes=8192")
    s._record(s.cpus[BYSTANDER], BYSTANDER, f"make_runnable thread={EDITOR} context=hardirq")
    s._record(s.cpus[BYSTANDER], BYSTANDER, "interrupt_end irq=30")


def ends_by_worker(s):
    """A kernel worker completes the request, after it has waited for a bystander, who slept."""
    s._record(s.cpus[BYSTANDER], BYSTANDER, "syscall_end nr=nanosleep")
    s._record(s.cpus[BYSTANDER], BYSTANDER, f"make_runnable thread={FLUSHER} context=task")
    s._record(s.cpus[FLUSHER], 0, f"switch state=R next={FLUSHER}")
    s._record(s.cpus[FLUSHER], FLUSHER, "block_completed request=0x100 bytes=8192")
    s._record(s.cpus[FLUSHER], FLUSHER, f"make_runnable thread={EDITOR} context=task")


def syncs(s, ms, others, own_inode=600, end=ends_by_interrupt):
    """fsync() of the editor's own file; `others` issues what is in the way."""
    s._record(s.cpus[EDITOR], EDITOR, "syscall_start nr=fsync arg1=5")
    request(s, EDITOR, 0x100, 8192, inode=own_inode)
    s._record(s.cpus[EDITOR], EDITOR, "switch state=D next=0")
    s._record(s.cpus[EDITOR], EDITOR, "object fd=5 inode=600 mode=file")
    others()
    s.for_ms(ms)
    end(s)
    s._record(s.cpus[EDITOR], 0, f"switch state=R next={EDITOR}")
    s._record(s.cpus[EDITOR], EDITOR, "syscall_end nr=fsync")
    s.sleep(EDITOR, 20)


@scene
def disk_busy_for_another_program():
    """A kernel thread writes back what a copier has written."""
    s = start()
    writes(s, COPIER, 500, "var", "big", 30)
    syncs(s, 3000, lambda: [request(s, FLUSHER, 0x200 + i, 1 << 20, inode=500) for i in range(50)])
    return s, "editor", {"type": "LongWait", "root": ("copier", "LongWait"), "only": {"copier", "editor"},
                         "why": "its writes of /var/big while editor's main thread waited for the disk: 52 MB, 100 % of what"}


@scene
def disk_that_a_worker_serves():
    """The same, but a worker of the kernel ends the wait, as for a loop device. Before, it waited for a program that has nothing to do
    with the disk."""
    s = start()
    writes(s, COPIER, 500, "var", "big", 30)

    def others():
        for i in range(50):
            request(s, FLUSHER, 0x200 + i, 1 << 20, inode=500)
        s._record(s.cpus[FLUSHER], FLUSHER, "switch state=D next=0")
        s._record(s.cpus[BYSTANDER], BYSTANDER, "syscall_start nr=nanosleep")
        s._record(s.cpus[BYSTANDER], BYSTANDER, "switch state=S next=0")
        s.for_ms(2900)
        s._record(s.cpus[BYSTANDER], 0, f"switch state=R next={BYSTANDER}")
    syncs(s, 10, others, end=ends_by_worker)
    return s, "editor", {"type": "LongWait", "root": ("copier", "LongWait"), "only": {"copier", "editor"},
                         "why": "its writes of /var/big while editor's main thread waited for the disk: 52 MB, 100 % of what"}


@scene
def disk_that_lies_on_another_one():
    """A loop device: the requests that the disk below it has are no others. The copier waits only in fsync(), so that they are its
    writes is a guess."""
    s = start()
    writes(s, COPIER, 500, "var", "big", 30, call="fsync")
    writes(s, BYSTANDER, 950, "srv", "film", 30)
    syncs(s, 3000, lambda: [[request(s, FLUSHER, 0x200 + i, 1 << 20, inode=500),
                             request(s, BYSTANDER, 0x300 + i, 2 << 20, inode=950, disk=OTHER_DISK)] for i in range(50)])
    return s, "editor", {"type": "LongWait", "root": ("copier", "LongWait"), "only": {"copier", "editor"},
                         "summary": "probably",
                         "uncertain": "that copier's main thread wrote the data of /var/big that the disk was busy with is a guess",
                         "why": "writes of /var/big, which may be its own, while editor's main thread waited for the disk: 52 MB, 100 %"}


@scene
def disk_of_a_file_with_the_same_inode():
    """A film of another file system has the inode of the editor's file. The request that ended the wait tells which disk is meant."""
    s = start()
    writes(s, COPIER, 500, "var", "big", 30)
    writes(s, BYSTANDER, 600, "srv", "film", 30)
    syncs(s, 3000, lambda: [[request(s, FLUSHER, 0x200 + i, 1 << 20, inode=500),
                             request(s, BYSTANDER, 0x300 + i, 2 << 20, inode=600, disk=OTHER_DISK)] for i in range(50)])
    return s, "editor", {"type": "LongWait", "root": ("copier", "LongWait"), "only": {"copier", "editor"},
                         "why": "its writes of /var/big while editor's main thread waited for the disk: 52 MB, 100 % of what"}


@scene
def disk_of_which_file_is_unknown():
    """Two files have the inode, others issued their requests, and a request of the file system's own ended the wait. So both disks
    count."""
    s = start()
    writes(s, COPIER, 500, "var", "big", 30)
    syncs(s, 3000, lambda: [[request(s, FLUSHER, 0x200 + i, 2 << 20, inode=500 if i else 600, disk=OTHER_DISK),
                             request(s, BYSTANDER, 0x300 + i, 1 << 20, inode=950 if i else 600)] for i in range(50)],
          own_inode=0)
    return s, "editor", {"type": "LongWait", "root": ("copier", "LongWait"), "only": {"copier", "editor"},
                         "why": "its writes of /var/big while editor's main thread waited for the disk: 103 MB, 65 % of what"}


@scene
def disk_busy_with_what_another_program_syncs():
    """The copier writes. Afterwards a bystander waits until its file is on the disk, as sync(1) does."""
    s = start()
    writes(s, COPIER, 500, "var", "big", 30)
    writes(s, BYSTANDER, 500, "var", "big", 30, call="fsync")
    writes(s, EDITOR, 500, "var", "big", 30, call="fsync")
    syncs(s, 3000, lambda: [request(s, FLUSHER, 0x200 + i, 1 << 20, inode=500) for i in range(50)])
    return s, "editor", {"type": "LongWait", "root": ("copier", "LongWait"), "only": {"copier", "editor"},
                         "why": "its writes of /var/big while editor's main thread waited for the disk: 52 MB, 100 % of what"}


@scene
def disk_busy_with_little_that_was_synced():
    """That is not blamed, and only the thread that issued the requests is named."""
    s = start()
    writes(s, COPIER, 700, "var", "other", 1, call="fsync")
    writes(s, EDITOR, 500, "var", "big", 1)
    syncs(s, 3000, lambda: [request(s, FLUSHER, 0x200 + i, 1 << 20, inode=500 if i else 700) for i in range(10)])
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"},
                         "why": "of whose requests then were 10 % writes of /var/other by kworker/u8:2-flush-8:0"}


@scene
def disk_busy_before_the_wait():
    """The copier's requests were done before the editor's wait."""
    s = start()
    writes(s, COPIER, 500, "var", "big", 30)
    for i in range(50):
        request(s, FLUSHER, 0x200 + i, 1 << 20, inode=500)
        s._record(s.cpus[BYSTANDER], BYSTANDER, f"block_completed request={0x200 + i:#x} bytes={1 << 20}")
    syncs(s, 3000, lambda: None)
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"}, "why": "it waited for the disk"}


@scene
def disk_busy_for_the_program_itself():
    """Most of the requests are for what the editor itself has written."""
    s = start()
    writes(s, EDITOR, 500, "var", "big", 1)
    writes(s, COPIER, 700, "var", "other", 1)
    syncs(s, 3000, lambda: [request(s, FLUSHER, 0x200 + i, 1 << 20, inode=500 if i else 700) for i in range(10)])
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"},
                         "why": "of whose requests then were 10 % writes of /var/other by copier [20] (1049 kB)"}


@scene
def disk_that_discards():
    """A discard tells the disk what is free. It moves no data, however many bytes it names."""
    s = start()
    syncs(s, 3000, lambda: request(s, COPIER, 0x300, 1 << 30, op=3))
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"}}


@scene
def disk_that_answers_late():
    """Few requests keep no disk busy: another program's two are as late as the editor's."""
    s = start()
    syncs(s, 3000, lambda: [request(s, COPIER, 0x200 + i, 1 << 20) for i in range(2)])
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"},
                         "why": "of whose requests then were 100 % writes by copier [20] (2097 kB)"}


@scene
def disk_busy_with_queued_requests():
    """Direct I/O has no file in its requests, and a kernel worker issues them. The copier queued them."""
    s = start()
    syncs(s, 3000, lambda: [queued(s, COPIER, FLUSHER, 0x200 + i, 1 << 20) for i in range(50)])
    return s, "editor", {"type": "LongWait", "root": ("copier", "LongWait"), "only": {"copier", "editor"},
                         "why": "the disk was busy with its writes while editor's main thread waited for the disk: 52 MB"}


@scene
def disk_that_refuses_a_request():
    """The driver's queue is full, and a kernel worker issues the requests again. Two copiers share the blame."""
    s = start()
    s.thread(50, "copier")
    def others():
        for i in range(20):
            request(s, (COPIER, 50)[i % 2], 0x200 + i, 1 << 20)
        for i in range(20):
            request(s, FLUSHER, 0x200 + i, 1 << 20)
    syncs(s, 3000, others)
    return s, "editor", {"type": "LongWait", "root": ("copier", "LongWait"), "only": {"copier", "editor"},
                         "why": "waited for the disk: 21 MB, 100 % of what"}


# --- file systems in user space ---

FILE_SERVER, DISPLAY = 60, 61


def waits_for_requests(s):
    s.wait(FILE_SERVER, "read", fd=3, inode=900, mode="device")


def faults(s):
    """The editor needs a page and waits for it, outside of any call."""
    s._record(s.cpus[EDITOR], EDITOR, "switch state=D next=0")


def faults_on_served_file(s):
    """The kernel hands the request for the page to the server."""
    s._record(s.cpus[EDITOR], EDITOR, f"make_runnable thread={FILE_SERVER} context=task")
    faults(s)
    s._comes_back(FILE_SERVER, 80)


def answers_fault(s):
    s._record(s.cpus[FILE_SERVER], FILE_SERVER, "syscall_start nr=write arg1=3")
    s._record(s.cpus[FILE_SERVER], FILE_SERVER, f"make_runnable thread={EDITOR} context=task")
    s._record(s.cpus[FILE_SERVER], FILE_SERVER, "syscall_end nr=write result=4096")
    s._record(s.cpus[EDITOR], 0, f"switch state=R next={EDITOR}")


def with_file_server():
    s = start()
    s.thread(FILE_SERVER, "fileserver")
    waits_for_requests(s)
    for _ in range(3):
        faults_on_served_file(s)
        s.for_ms(1)
        answers_fault(s)
        waits_for_requests(s)
        s.sleep(EDITOR, 20)
    return s


@scene
def page_of_a_served_file():
    """The server is busy and owes the page when the recording ends."""
    s = with_file_server()
    faults_on_served_file(s)
    s.goes_on(3000)
    return s, "editor", {"type": "LongWait", "root": ("fileserver", "LongRunning"), "only": {"fileserver"}}


@scene
def data_of_a_served_file():
    """A signal can end this wait. The editor has sent something to a display before, which owes no answer."""
    s = with_file_server()
    s.thread(DISPLAY, "display")
    s.wait(DISPLAY, "poll")
    s.wake(EDITOR, DISPLAY)
    s.message(EDITOR, 70)
    s.message(DISPLAY, 70, received=True)
    s._record(s.cpus[EDITOR], EDITOR, "syscall_start nr=read arg1=4")
    s._record(s.cpus[EDITOR], EDITOR, f"make_runnable thread={FILE_SERVER} context=task")
    s._record(s.cpus[EDITOR], EDITOR, "object fd=4 inode=2 mode=file")
    s._record(s.cpus[EDITOR], EDITOR, "switch state=S next=0")
    s._comes_back(FILE_SERVER, 80)
    s.goes_on(3000)
    return s, "editor", {"type": "LongWait", "root": ("fileserver", "LongRunning"), "only": {"fileserver"}}


def read_beside_a_worker(goes_back):
    """The server takes the request of a worker of the editor, and not the editor's own."""
    s = with_file_server()
    s.thread(WORKER, "worker", pid=EDITOR)
    for tid in WORKER, EDITOR:
        s._record(s.cpus[tid], tid, "syscall_start nr=read arg1=4")
        if tid == WORKER:
            s._record(s.cpus[tid], tid, f"make_runnable thread={FILE_SERVER} context=task")
        s._record(s.cpus[tid], tid, "object fd=4 inode=2 mode=file")
        s._record(s.cpus[tid], tid, "switch state=S next=0")
        if tid == WORKER:
            s._comes_back(FILE_SERVER, 80)
            s.for_ms(10)
    if goes_back:
        waits_for_requests(s)
    s.goes_on(3000)
    return s


@scene
def data_of_a_busy_file_server():
    return read_beside_a_worker(False), "editor", \
        {"type": "LongWait", "root": ("fileserver", "LongRunning"), "path": ["editor", "fileserver"], "uncertain": "serves files"}


@scene
def data_of_an_idle_file_server():
    """A server that waits for requests again is not to blame."""
    return read_beside_a_worker(True), "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"}}


@scene
def late_page_of_a_served_file():
    """The same, but the page comes after 3 s."""
    s = with_file_server()
    faults_on_served_file(s)
    s.for_ms(3000)
    answers_fault(s)
    waits_for_requests(s)
    s.sleep(EDITOR, 20)
    return s, "editor", {"type": "LongWait", "root": ("fileserver", "LongRunning"), "only": {"fileserver"}}


@scene
def page_of_a_disk_after_a_served_file():
    """The editor has closed a served file, which the server is told, too. The page that it then waits for is on a disk."""
    s = with_file_server()
    s._record(s.cpus[EDITOR], EDITOR, "syscall_start nr=close arg1=5")
    s._record(s.cpus[EDITOR], EDITOR, f"make_runnable thread={FILE_SERVER} context=task")
    s._record(s.cpus[EDITOR], EDITOR, "syscall_end nr=close result=0")
    s._comes_back(FILE_SERVER, 80)
    faults(s)
    s.goes_on(3000)
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"}, "why": "it waited for the disk"}
