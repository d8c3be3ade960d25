"""Traces for the page: a wait that another thread ended late, stacks, and names that a page must escape."""
import pathlib
import subprocess

EVIL = "<script>x</script>"  # a thread's name has at most 15 bytes in the kernel, but a file may have more
MAIN, PARSE, LOAD, SAVE = 0x5501, 0x5502, 0x5503, 0x5504


def hang(name="alpha", waker="beta", seconds=3):
    """`name` waits on a futex until `waker`, which runs all that time, wakes it."""
    end = seconds * 1000
    return [
        "cpus 2", f'thread 100 pid 100 name "{name}"', f'thread 200 pid 200 name "{waker}"',
        'image pid 200 start 0x5000 end 0x6000 path "/opt/<b>bold&\'\\</b>.so"',
        "0 cpu0 t100 switch state=R next=100", "0 cpu1 t200 switch state=R next=200",
        "1ms cpu0 t100 syscall_start nr=futex arg1=0x1000",
        "2ms cpu0 t100 switch state=S next=0",
        *(f"{10 * i + 5}ms cpu1 t200 sample user=1 pc=0x5501" for i in range(1, end // 10)),
        f"{end}ms cpu1 t200 syscall_start nr=futex arg1=0x1000",
        f"{end}ms cpu1 t200 make_runnable thread=100",
        f"{end}ms cpu1 t200 syscall_end nr=futex result=1",
        f"{end + 1}ms cpu0 t0 switch state=R next=100",
        f"{end + 1}ms cpu0 t100 syscall_end nr=futex",
        f"{end + 9}ms cpu0 t100 thread_exit", "stack 1 0x5501 0x5100"]


def calls(load_ms, name="gamma", pid=300):
    """Stacks at calls: parse, load, save below main."""
    lines, time = [f'thread {pid} pid {pid} name "{name}"', f"image pid {pid} start 0x5000 end 0x6000 offset 0x5000 path /nowhere/code"], 0
    for number, length in ((1, 10), (2, load_ms), (3, 5)):
        lines.append(f"{time}ms cpu0 t{pid} stack user={number} why=call")
        time += length
        lines.append(f"{time}ms cpu0 t{pid} stack user={number} why=call")
    frames = [hex(MAIN), hex(PARSE), hex(LOAD), hex(SAVE)]
    return lines + [f"stack {i} {frames[i]} {frames[0]}" for i in (1, 2, 3)]


def busy_loop(name="delta", pid=400, seconds=3):
    """An event loop that goes home five times, then computes in SAVE for some seconds, and goes home."""
    lines, time = [f'thread {pid} pid {pid} name "{name}"', f"image pid {pid} start 0x5000 end 0x6000 path //anon"], 0
    for turn in range(7):
        lines += [f"{time}ms cpu0 t{pid} syscall_start nr=poll arg1=5 arg2=1", f"{time}ms cpu0 t{pid} switch state=S next=0"]
        lines += [f"{time + 10}ms cpu0 t0 {what}" for what in ("interrupt_start irq=1", f"make_runnable thread={pid} context=hardirq",
                                                                "interrupt_end irq=1", f"switch state=R next={pid}")]
        lines.append(f"{time + 10}ms cpu0 t{pid} syscall_end nr=poll result=1")
        time += 20
        if turn == 5:
            lines += [f"{time + 10 * i}ms cpu0 t{pid} sample user=9 pc={hex(SAVE)}" for i in range(seconds * 100)]
            time += seconds * 1000
    return ["cpus 2", *lines, f"stack 9 {hex(SAVE)} {hex(MAIN)}"]


def deep(functions, pid=300):
    """Many functions, each called once below main."""
    lines = [f"thread {pid} pid {pid} name gamma", f"image pid {pid} start 0x10000 end 0x900000 path /nowhere/code"]
    for i in range(functions):
        lines.append(f"{i}ms cpu0 t{pid} stack user={i + 1} why=call")
        lines.append(f"{i}.5ms cpu0 t{pid} stack user={i + 1} why=call")
        lines.append(f"stack {i + 1} {hex(0x20000 + 16 * i)} 0x10010")
    return lines


class Pages:
    def __init__(self, mktrace, argus, folder, *_):
        self.mktrace, self.argus, self.folder, self.count = mktrace, argus, pathlib.Path(folder), 0
        self.folder.mkdir(parents=True, exist_ok=True)

    def trace(self, lines):
        self.count += 1
        text = self.folder / f"scene{self.count}.trace"
        text.write_text("\n".join(lines) + "\n")
        subprocess.run([self.mktrace, text, text.with_suffix(".argus")], check=True)
        return str(text.with_suffix(".argus"))

    def report(self, trace, *words, code=0):
        """The page's path, and the command's messages."""
        page = self.folder / f"page{self.count}.html"
        done = subprocess.run([self.argus, "report", "--no-cache", trace, "-o", page, *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {done.stderr}"
        return page, done.stdout + done.stderr

    def text(self, trace, *words):
        return self.report(trace, *words)[0].read_text(encoding="utf-8")
