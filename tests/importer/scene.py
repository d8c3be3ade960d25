"""One freeze as a list of kernel events, which writers.py writes in the format of every tracer.

The main thread 100 of "window" (process 100) asks thread 201 of "server" (process 200), which computes for 3 s and then wakes
it. CPU 0 runs the client, CPU 1 the server. An event: (time in ns, cpu, current thread, name, fields).
"""
SECOND = 1000000000
START = 50 * SECOND
CLIENT, SERVER, IDLE = 100, 201, 0
NAMES = {100: "window", 200: "server", 201: "worker", 0: "swapper"}
PROCESSES = {100: 100, 200: 200, 201: 200}
# x86-64
READ, WRITE, POLL = 0, 1, 7


def switch(time, cpu, previous, state, following):
    return (time, cpu, previous, "sched_switch", {
        "prev_comm": NAMES[previous], "prev_pid": previous, "prev_prio": 120, "prev_state": state,
        "next_comm": NAMES[following], "next_pid": following, "next_prio": 120})


def waking(time, cpu, waker, woken):
    return (time, cpu, waker, "sched_waking", {"comm": NAMES[woken], "pid": woken, "prio": 120, "target_cpu": 1 - cpu})


def enter(time, cpu, thread, number, *arguments):
    return (time, cpu, thread, "sys_enter", {"id": number, "args": list(arguments) + [0] * (6 - len(arguments))})


def leave(time, cpu, thread, number, result):
    return (time, cpu, thread, "sys_exit", {"id": number, "ret": result})


def turn(time, wait):
    """The client asks and waits in read(); the server reads the request, works for `wait` ns and answers."""
    step = 10000
    end = time + 4 * step + wait
    return [
        enter(time, 0, CLIENT, WRITE, 5, 0x1000, 64),
        waking(time + step // 2, 0, CLIENT, SERVER),
        leave(time + step, 0, CLIENT, WRITE, 64),
        switch(time + step + 1, 1, IDLE, 0, SERVER),
        enter(time + step + 2, 0, CLIENT, READ, 6, 0x2000, 64),
        switch(time + step + 3, 0, CLIENT, 1, IDLE),
        leave(time + 2 * step, 1, SERVER, READ, 64),
        enter(end, 1, SERVER, WRITE, 8, 0x3000, 64),
        waking(end + 1, 1, SERVER, CLIENT),
        leave(end + 2, 1, SERVER, WRITE, 64),
        switch(end + 3, 0, IDLE, 0, CLIENT),
        enter(end + 4, 1, SERVER, READ, 7, 0x3000, 64),
        switch(end + 5, 1, SERVER, 1, IDLE),
        leave(end + 6, 0, CLIENT, READ, 64),
    ]


def scene():
    events = []
    time = START
    for number in range(12):
        wait = 3 * SECOND if number == 8 else 100000
        events += turn(time, wait)
        time += wait + SECOND // 100
    return sorted(events, key=lambda event: event[0])
