"""Whose time counts: the processes of the recorded command, and threads that live for as long as others need them."""
from context_scene import LOAD, MADE, MAIN, PARSE, SAVE, Scene, equal, image, names

COMMAND = """cpus 2
{note}
thread 50 pid 50 name shell
thread 200 pid 200 name server
thread 300 pid 300 name stranger
thread 400 pid 400 name child
stack 1 0x5503 0x5501
stack 2 0x6603 0x6601
stack 3 0x7703 0x7701
0 cpu0 t0 switch state=R next=50
0 cpu1 t0 switch state=R next=200
1ms cpu0 t50 new_thread thread=100 pid=100 new_process=1 parent=50
1ms cpu0 t50 name_new name=alpha
1ms cpu0 t50 make_runnable thread=100 new=1 context=task
2ms cpu0 t50 switch state=S next=100
3ms cpu0 t100 syscall_start nr=read arg1=5
3ms cpu0 t100 switch state=S next=300
3ms cpu0 t100 stack user=1 why=block
10ms cpu0 t300 sample user=3 pc=0x7703
50ms cpu0 t300 sample user=3 pc=0x7703
90ms cpu0 t300 sample user=3 pc=0x7703
20ms cpu1 t200 sample user=2 pc=0x6603
{late}ms cpu1 t200 sample user=2 pc=0x6603
93ms cpu1 t200 make_runnable thread=100 context=task
93ms cpu1 t200 stack user=2 why=wake
94ms cpu0 t300 switch state=R next=100
94ms cpu0 t100 syscall_end nr=read result=1 pid=100
95ms cpu0 t100 sample user=1 pc=0x5503
"""
NOTE = 'note "the recorded command: pid 50"'


def programs(answer):
    return {path["process"] for path in answer["contexts"]}


def test_only_what_the_command_needed_is_listed(setup):
    trace = setup.make(COMMAND.format(note=NOTE, late=80))
    answer = setup.json(trace)
    equal("programs", programs(answer), {"alpha", "server"})
    equal("scope", answer["scope"], {"processes": 2, "waited_for": ["server"], "waited_for_processes": 1})
    assert "only the recorded command (processes: 2), and what it waited for: server (processes: 1)" in setup.run(trace).stdout
    everything = setup.json("--whole-system", trace)
    equal("the whole system", (programs(everything), everything["scope"]), ({"alpha", "server", "stranger"}, None))
    unknown = setup.json(setup.make(COMMAND.format(note="", late=80)))
    equal("without a note", (programs(unknown), unknown["scope"]), ({"alpha", "server", "stranger"}, None))


def test_a_process_that_the_user_chooses_may_be_any(setup):
    trace = setup.make(COMMAND.format(note=NOTE, late=80))
    equal("of another", programs(setup.json("--process=stranger", trace)), {"stranger"})
    equal("of the command", programs(setup.json("--process=alpha", trace)), {"alpha"})


def test_the_sentence_names_only_the_parts_that_there_are(setup):
    trace = setup.make(COMMAND.format(note=NOTE, late=80))
    hint = "; argus contexts --whole-system shows others of that name, too"

    def sentence(process):
        return [line for line in setup.run(f"--process={process}", trace).stdout.splitlines() if line.startswith("only ")]
    equal("a server", sentence("server"), ["only what the recorded command waited for: server (processes: 1)" + hint])
    equal("by ID", sentence("200"), ["only what the recorded command waited for: server (processes: 1)" + hint])
    equal("the command", sentence("alpha"), ["only the recorded command (processes: 1)" + hint])
    equal("another", sentence("stranger"), [])


def test_a_server_of_one_side_is_one_of_both(setup):
    base = COMMAND.replace("93ms cpu1", "3.1ms cpu1").replace("94ms cpu0", "3.2ms cpu0")
    quick = setup.make(base.format(note=NOTE, late=80))
    answer = setup.json(f"--base={quick}", setup.make(COMMAND.format(note=NOTE, late=80)))
    paths = [path for path in answer["contexts"] if path["process"] == "server"]
    equal("its work is compared", [path["is_new"] if "is_new" in path else path["new"] for path in paths], [False] * len(paths))


def timed_out(scene, start, length, end="timer", call="nr=futex arg1=0x7000 arg2=128", path=(MAIN, LOAD)):
    """A wait, usually for a lock. `end`: a timer, another thread, or another thread that ends the process."""
    scene.at(start, f"syscall_start {call}")
    scene.at(start, f"timer_armed timer=0xa function=0xf expiry={round((start + length) * 1000000)}")
    scene.at(start, "switch state=S next=0")
    scene.at(start, f"stack user={scene.stack(*path)} why=block")
    if end == "timer":
        for text in ("interrupt_start irq=236", "timer_fired_start timer=0xa function=0xf now=1",
                     f"make_runnable thread={scene.tid} context=hardirq", "timer_fired_end timer=0xa", "interrupt_end irq=236"):
            scene.at(start + length, text, tid=0)
    else:
        how = {"thread": "futex arg1=0x7000 arg2=129", "exit": "exit_group", "write": "write arg1=4"}[end]
        scene.at(start + length, f"syscall_start nr={how}", cpu=1, tid=101)
        scene.at(start + length, f"make_runnable thread={scene.tid} context=task", cpu=1, tid=101)
    late = 0 if end == "timer" else 0.1
    scene.at(start + length + late, f"switch state=R next={scene.tid}", tid=0)


def worker(*waits_ms, is_killed=True, end="thread", path=(MAIN, LOAD)):
    """A thread that waits, until the main thread ends it or their process (`end`); or that goes on by itself."""
    scene, time = Scene(), 1
    scene.lines[1:2] = ["thread 101 pid 101 name alpha", "thread 100 pid 101 name alpha"]
    scene.lines = [line.replace("image pid 100", "image pid 101") for line in scene.lines]
    scene.at(0, f"switch state=R next={scene.tid}", tid=0)
    scene.at(0, "switch state=R next=101", tid=0, cpu=1)
    for number, length in enumerate(waits_ms):
        is_last = number + 1 == len(waits_ms)
        timed_out(scene, time, length, end if is_last and is_killed else "timer", path=path)
        time += length
        if is_last and is_killed:
            break
        scene.at(time, "syscall_end nr=futex result=-110")
        scene.time = time = time + 1 + number
        scene.calls(1, MAIN, PARSE)
        time = scene.time + 1
    if not is_killed:
        scene.at(time, "syscall_start nr=exit")
    elif end == "exit":
        scene.at(time + 0.1, "syscall_end nr=futex result=-512")
        scene.at(time + 0.1, "thread_exit thread=101 last=0", cpu=1, tid=101)
        scene.at(time + 0.1, "switch state=X next=0", cpu=1, tid=101)
    scene.at(time + 0.2, "thread_exit thread=100 last=0")
    scene.at(time + 0.3, "switch state=X next=0")
    return scene


def cost(setup, base, now):
    paths = setup.json("--every", f"--base={setup.make(base)}", setup.make(now))["contexts"]
    return sum(function["cost_ns"] for path in paths for function in path["functions"] if function["function"] == "futex")


def test_a_thread_that_others_end_waits_for_as_long_as_it_is_needed(setup):
    assert abs(cost(setup, worker(60, 12), worker(500, 80))) < 10_000_000
    assert abs(cost(setup, worker(60, 12, end="exit"), worker(500, 80, end="exit"))) < 10_000_000
    longer = cost(setup, worker(60, 12, is_killed=False), worker(500, 80, is_killed=False))
    assert longer > 400_000_000, longer


def test_where_a_thread_waits_for_work_is_known_on_another_path(setup):
    assert abs(cost(setup, worker(60, 12), worker(500, 80, path=(MAIN, SAVE, LOAD)))) < 10_000_000
    for here, there in (((MAIN, LOAD), (MAIN, SAVE)), ((MAIN, PARSE, LOAD), (MAIN, SAVE, LOAD))):
        longer = cost(setup, worker(60, 12, path=here), worker(500, 80, path=there))
        assert longer > 400_000_000, longer


def test_a_server_waits_for_as_long_as_the_command_lasts(setup):
    """Its background thread looks for work after a time-out, and lives on. Without a command, the trace's end says nothing."""
    def trace(wait_ms, note):
        lines = [COMMAND.format(note=note, late=80).replace("cpus 2", "cpus 3"), "thread 201 pid 200 name server",
                 "stack 9 0x6604 0x6602", "0 cpu2 t0 switch state=R next=201"]
        for number in range(5):
            start = 1 + number * (wait_ms + 1)
            end = start + wait_ms
            lines += [f"{start}ms cpu2 t201 syscall_start nr=futex arg1=0x7000 arg2=128", f"{start}ms cpu2 t201 timer_armed timer=0xa function=0xf expiry={end}000000",
                      f"{start}ms cpu2 t201 switch state=S next=0", f"{start}ms cpu2 t201 stack user=9 why=block"]
            if number == 4:  # open
                break
            lines += [f"{end}ms cpu2 t0 {text}" for text in (
                "interrupt_start irq=236", "timer_fired_start timer=0xa function=0xf now=1", "make_runnable thread=201 context=hardirq",
                "timer_fired_end timer=0xa", "interrupt_end irq=236", "switch state=R next=201")]
            lines.append(f"{end}ms cpu2 t201 syscall_end nr=futex result=-110")
        return setup.make("\n".join(lines) + "\n")

    def longer_ms(note):
        found = setup.json("--every", f"--base={trace(10, note)}", trace(20, note))["contexts"]
        return sum(path["cost_ns"] for path in found if names(path)[-1] == "futex") / 1e6
    equal("of a command", longer_ms(NOTE), 0)
    assert longer_ms("") > 30, longer_ms("")


def poll_in_pieces(between=(), end="write"):
    """A poll that looks three times whether there is an answer, until another thread sends it, or a timer ends it, too."""
    scene = Scene()
    scene.lines.append("thread 101 pid 101 name beta")
    scene.at(0, f"switch state=R next={scene.tid}", tid=0)
    scene.at(0, "switch state=R next=101", tid=0, cpu=1)
    for number, (start, length) in enumerate(((1, 20), (21.2, 40), (61.4, 30))):
        for line in between if number == 1 else ():
            scene.at(21.1, line)
        is_last = number == 2
        timed_out(scene, start, length, end if is_last else "timer", "nr=poll arg1=0x7000 arg2=1 arg3=20")
        if is_last and end != "timer":
            scene.at(start + length, f"stack user={scene.stack(0x6601, 0x6603)} why=wake", cpu=1, tid=101)
        scene.at(start + length + 0.1 * (is_last and end != "timer"), f"syscall_end nr=poll result={int(is_last and end != 'timer')}")
    scene.at(92, f"sample user={scene.stack(MAIN, SAVE)} pc=0x5504")
    return scene


def test_pieces_of_a_poll_are_one_wait_unless_it_asks_again(setup):
    def parts(*words):
        answer = setup.json("--process=alpha", "--tree", setup.make(poll_in_pieces(*words)))
        return [sum(node["waited_ns"][kind] for node in answer["tree"]) for kind in ("others", "idle")]
    looks = ["syscall_start nr=recvfrom arg1=4", "syscall_end nr=recvfrom result=-11"]
    asks = ["syscall_start nr=sendto arg1=4", "syscall_end nr=sendto result=100"]
    equal("answered at last", parts(looks), [90_000_000, 0])
    equal("asked again", parts(asks), [70_000_000, 20_000_000])
    equal("never answered", parts(looks, "timer"), [0, 90_000_000])
    alpha = next(program for program in setup.json(setup.make(poll_in_pieces(looks)))["programs"] if program["process"] == "alpha")
    equal("by whom", [(waker["waker_process"], waker["wait_ns"], waker["count"]) for waker in alpha["wakers"]], [("beta", 90_000_000, 1)])


def test_pieces_of_a_wait_are_one_wait_for_the_thread_that_ends_it(setup):
    def parts(end, result=0):
        scene = Scene()
        scene.lines.append("thread 101 pid 101 name beta")
        scene.at(0, f"switch state=R next={scene.tid}", tid=0)
        scene.at(0, "switch state=R next=101", tid=0, cpu=1)
        for number, (start, length) in enumerate(((1, 20), (21.2, 40), (61.4, 30))):
            timed_out(scene, start, length, end if number == 2 else "timer")
            scene.at(start + length + 0.1 * (number == 2), f"syscall_end nr=futex result={result if number == 2 else -110}")
        scene.at(92, f"sample user={scene.stack(MAIN, SAVE)} pc=0x5504")
        answer = setup.json("--process=alpha", "--tree", setup.make(scene))
        return {kind: sum(node["waited_ns"][kind] for node in answer["tree"]) for kind in ("others", "idle")}
    equal("ended by a thread", parts("thread"), {"others": 90_000_000, "idle": 0})
    equal("timed out", parts("timer"), {"others": 0, "idle": 90_000_000})
    equal("interrupted by a signal", parts("thread", -4), {"others": 30_000_000, "idle": 60_000_000})


def test_code_made_at_run_time_is_the_same_at_another_address(setup):
    """The base's time counts, although the code is elsewhere, and in several places."""
    def scene(start, length):
        lines = Scene()
        lines.lines[2] = f"image pid 100 start {start:#x} end {start + 0x1000:#x} path //anon"
        lines.lines.append(image(100))
        return lines.calls(length, MAIN, start + 0x501, start + 0x602).calls(length, MAIN, start + 0x507, LOAD)
    answer = setup.json(f"--base={setup.make(scene(0x8000, 10))}", setup.make(scene(0x19000, 50)))
    equal("paths", answer["base"]["equal_paths"], 2)
    equal("contexts", [(names(path), path["cost_ns"]) for path in answer["contexts"]],
          [([hex(MAIN), MADE, hex(LOAD)], 80_000_000)])
