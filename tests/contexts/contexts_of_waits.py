"""Waits, sleeps, and time off the CPU: how long they count, and which thread they are charged to."""
import json

from context_scene import LOAD, MAIN, PARSE, SAVE, Scene, WAIT, equal, names, text_lines, usual

CHAIN = """cpus 3
thread 100 pid 100 name alpha
thread 200 pid 200 name beta
thread 300 pid 300 name gamma
stack 1 0x5503 0x5501
0 cpu0 t0 switch state=R next=100
0 cpu1 t0 switch state=R next=200
0 cpu2 t0 switch state=R next=300
1ms cpu0 t100 syscall_start nr=read arg1=5
1ms cpu0 t100 switch state=S next=0
1ms cpu0 t100 stack user=1 why=block
5ms cpu1 t200 syscall_start nr=read arg1=6
5ms cpu1 t200 switch state=S next=0
85ms cpu2 t300 make_runnable thread=200 context=task
85.1ms cpu1 t0 switch state=R next=200
85.1ms cpu1 t200 syscall_end nr=read result=1 pid=200
91ms cpu1 t200 make_runnable thread=100 context=task
91.1ms cpu0 t0 switch state=R next=100
91.1ms cpu0 t100 syscall_end nr=read result=1 pid=100
92ms cpu2 t300 thread_exit
"""


def whom(context):
    return [(w["process"], w["wait_ns"], w["ended_ns"], w["count"]) for w in context["waits"]]


def test_a_wait_is_for_who_was_at_work_in_the_end(setup):
    trace = setup.make(CHAIN)
    found = whom(setup.json("--rank=total", "--process=alpha", trace)["contexts"][0])
    equal("for whom", found, [("gamma", 80_000_000, 0, 0), ("beta", 10_000_000, 90_100_000, 1)])
    text = setup.run("--rank=total", "--process=alpha", trace).stdout
    assert "waited 80.0 ms in the end for gamma [300], 89 % of the waits in read; it ended none" in text
    assert "waited 10.0 ms in the end for beta [200], 11 % of the waits in read; it ended 1, of 90.1 ms" in text


def test_what_the_diagnosis_names_is_looked_at(setup):
    trace = setup.make(WAIT)
    done = setup.run("--json", "--hang=1", "--process=alpha", trace)
    equal("the spinning vertex", names(json.loads(done.stdout)["contexts"][0]), ["0x5501", "0x5503", "read"])
    assert "alpha [100], the spinning vertex of the hang; no baseline of it was found" in done.stderr
    done = setup.run("--json", "--culprit", "--process=alpha", trace)
    answer = json.loads(done.stdout)
    equal("the culprit", {path["process"] for path in answer["contexts"]}, {"beta"})
    assert "beta [200], the culprit of the hang" in done.stderr
    assert "no hang 7" in setup.run("--hang=7", "--process=alpha", trace, code=1).stderr
    assert "contradict each other" in setup.run("--hang=1", "--vertex=v0", trace, code=2).stderr


def test_a_wait_is_charged_to_who_ended_it(setup):
    trace = setup.make(WAIT)
    total = setup.json("--rank=total", "--process=alpha", trace)["contexts"][0]
    equal("path", names(total), ["0x5501", "0x5503", "read"])
    equal("cost with the wait, and 1 ms to the sample", total["cost_ns"], 42_000_000)
    # until 2 ms it is unknown what beta did, and in the last one alpha was runnable
    equal("for whom", whom(total), [("beta", 39_000_000, 41_000_000, 1)])
    blamed = setup.json(trace)["contexts"]
    equal("without it", [p["cost_ns"] for p in blamed if p["process"] == "alpha"], [1_000_000])
    equal("the other one", blamed[0]["process"], "beta")


def test_a_wait_in_a_scheduler_is_nobodys(setup):
    """A thread of Go without a goroutine waits below runtime.mcall."""
    trace = setup.make(WAIT + "image pid 100 start 0x5000 end 0x6000 path /opt/alpha\n"
                              "name path /opt/alpha place 0x500 function runtime.mcall.abi0 source /go/runtime/asm.s line 3\n")
    program = next(program for program in setup.json("--process=alpha", trace)["programs"] if program["process"] == "alpha")
    equal("parts", [program["parts_ns"][part] for part in ("others", "scheduler", "cpu")], [0, 40_000_000, 1_000_000])
    waiting = setup.json("--process=alpha", "--rank=total", trace)["contexts"][0]
    equal("waits for others", whom(waiting), [])
    text = setup.run("--process=alpha", trace).stdout
    assert "40.0 ms in threads without a goroutine (blocked goroutines are not seen)" in text, text


def test_sleeps_of_a_run_are_sleeps(setup):
    """The graph makes one vertex of ten turns. A turn runs for 1 ms, sleeps for 2 ms, and then waits 1 ms for a CPU."""
    scene = Scene()
    wait = scene.stack(MAIN, PARSE)
    for start in range(1, 41, 4):
        scene.at(start, "syscall_start nr=clock_nanosleep")
        scene.at(start, f"timer_armed timer=0xa function=0xf expiry={(start + 2) * 1000000}")
        scene.at(start, f"stack user={wait} why=block")
        scene.at(start, "switch state=S next=200")
        scene.at(start + 2, "interrupt_start irq=236", tid=200)
        scene.at(start + 2, "timer_fired_start timer=0xa function=0xf now=1", tid=200)
        scene.at(start + 2, "make_runnable thread=100 context=hardirq", tid=200)
        scene.at(start + 2, "timer_fired_end timer=0xa", tid=200)
        scene.at(start + 2, "interrupt_end irq=236", tid=200)
        scene.at(start + 3, "switch state=R next=100", tid=200)
        scene.at(start + 3, "syscall_end nr=clock_nanosleep result=0 pid=100")
    sleeps = [node for node in setup.json("--tree", "--process=alpha", setup.make(scene))["tree"] if node["function"] == "clock_nanosleep"]
    equal("calls", [node["count"] for node in sleeps], [10])
    equal("slept", sleeps[0]["waited_ns"]["slept"], 20_000_000)
    equal("wanted a cpu", sleeps[0]["waited_ns"]["cpu"], 10_000_000)
    equal("all of it", sleeps[0]["own_ns"]["conservative"], 30_000_000)


def test_a_vertex_is_its_run_and_its_wait(setup):
    answer = setup.json("--vertex=v0", setup.make(WAIT))
    equal("cost", answer["contexts"][0]["cost_ns"], 40_000_000)
    equal("threads", answer["counts"]["threads"], 1)


def sleeper(*sleeps_ms, late_ms=0, call="nanosleep"):
    """A loop that calls a function between its sleeps, and gets its CPU late."""
    scene, time = Scene(), 1
    scene.at(0, f"switch state=R next={scene.tid}", tid=0)
    for length in sleeps_ms:
        scene.calls(0, MAIN, LOAD)
        scene.at(time, f"syscall_start nr={call}")
        scene.at(time, "switch state=S next=0")
        scene.at(time, f"stack user={scene.stack(MAIN, SAVE)} why=block")
        time = round(time + length, 6)
        scene.at(time, f"make_runnable thread={scene.tid} context=hardirq", cpu=1, tid=0)
        scene.at(time + late_ms, f"switch state=R next={scene.tid}", tid=0)
        time = scene.time = round(time + late_ms + 1, 6)
        scene.at(time, f"syscall_end nr={call} result=1")
    return scene


def test_a_sleep_that_is_as_long_as_it_may_be_is_not_slow(setup):
    for call in ("nanosleep", "poll"):
        base = setup.make(sleeper(10, 30, 50, call=call))  # sometimes woken early

        def cost(*sleeps_ms, **how):
            answer = setup.json(f"--base={base}", setup.make(sleeper(*sleeps_ms, call=call, **how)))
            return [path for path in answer["contexts"] if names(path)[-1] == call][0]["cost_ns"]
        usual, longer = cost(50, 50, 50, 50, 50), cost(200, 200, 200)
        assert abs(usual) < 5_000_000, usual  # 1 ms each until the call returns
        assert longer > 300_000_000, longer
        equal("a cpu that comes late", cost(200, 200, 200, late_ms=40), longer)


def timed_out(*waits_ms):
    """A futex wait with a time-out after each of which the thread goes on by itself."""
    scene, time = Scene(), 1
    scene.at(0, f"switch state=R next={scene.tid}", tid=0)
    for number, length in enumerate(waits_ms):
        scene.at(time, "syscall_start nr=futex arg1=0x7000 arg2=128")
        scene.at(time, f"timer_armed timer=0xa function=0xf expiry={(time + length) * 1000000}")
        scene.at(time, "switch state=S next=0")
        scene.at(time, f"stack user={scene.stack(MAIN, LOAD)} why=block")
        time = round(time + length, 6)
        for text in ("interrupt_start irq=236", "timer_fired_start timer=0xa function=0xf now=1",
                     f"make_runnable thread={scene.tid} context=hardirq", "timer_fired_end timer=0xa", "interrupt_end irq=236"):
            scene.at(time, text, tid=0)
        scene.at(time, f"switch state=R next={scene.tid}", tid=0)
        scene.at(time, "syscall_end nr=futex result=-110")
        time += 1 + number  # other work, so that the waits are no run
        scene.time = time
        scene.calls(1, MAIN, PARSE)
        scene.time = time = scene.time + 1
    return scene


def test_waits_that_timed_out_are_compared_with_the_base(setup):
    base, slow_trace = setup.make(timed_out(10, 10, 10, 10)), setup.make(timed_out(300, 300, 300, 300))
    first = setup.json(f"--base={base}", slow_trace)["contexts"][0]
    equal("the wait", names(first), [hex(MAIN), hex(LOAD), "futex"])
    equal("longer", first["cost_ns"], 4 * 290_000_000)
    programs = setup.json(f"--base={base}", slow_trace)["programs"]
    equal("first line", programs[0]["parts_ns"]["idle"], 4 * 290_000_000)
    again = setup.json("--every", f"--base={base}", setup.make(timed_out(10, 10, 10, 10, 10, 10)))["contexts"]
    equal("more of them", [path["functions"][-1]["cost_ns"] for path in again if names(path)[-1] == "futex"], [0])
    alone = setup.json("--every", slow_trace)["contexts"]
    equal("nothing to compare with", [path["functions"][-1]["cost_ns"] for path in alone if names(path)[-1] == "futex"], [0])


def test_a_short_wait_is_charged_until_its_end(setup):
    """It ends with the wake-up; what follows is a wait for a CPU."""
    late = WAIT + "30000ms cpu1 t200 thread_exit\n"  # a wait of 41 ms is short in so long a trace
    late = late.replace("1ms cpu0 t100", "40.5ms cpu0 t100").replace("42ms cpu0", "42.5ms cpu0").replace("\n2ms", "\n40.6ms")
    text = setup.run("--rank=total", "--process=alpha", setup.make(late)).stdout
    assert "waited 500 us in the end for beta [200], 100 % of the waits in read; it ended 1, of 2.00 ms" in text, text


def test_a_wait_shows_the_context_of_who_ended_it(setup):
    trace = setup.make(WAIT)
    wakers = next(p for p in setup.json(trace)["programs"] if p["process"] == "alpha")["wakers"]
    equal("pairs", [(w["function"], w["waker_function"], w["waker_process"], w["wait_ns"], w["count"]) for w in wakers],
          [("0x5503", "0x6603", "beta", 40_000_000, 1)])
    assert "  waits for others: 40.0 ms in 0x5503 < 0x5501, ended in 0x6603 < 0x6601 of beta (waits: 1)\n" in setup.run(trace).stdout


def test_waits_that_a_line_shows_alike_are_one_line(setup):
    """Two contexts that differ only in the fourth caller, of which the line says nothing."""
    def wait(start, stack):
        return "".join(f"{start + time}ms {text}\n" for time, text in (
            (1, "cpu0 t100 syscall_start nr=read arg1=5"), (1, "cpu0 t100 switch state=S next=0"), (1, f"cpu0 t100 stack user={stack} why=block"),
            (41, "cpu1 t200 make_runnable thread=100 context=task"), (41, "cpu1 t200 stack user=2 why=wake"),
            (42, "cpu0 t0 switch state=R next=100"), (42, "cpu0 t100 syscall_end nr=read result=1 pid=100")))
    head = [line for line in WAIT.splitlines() if line.startswith(("cpus", "thread", "stack 2"))]
    stacks = ["stack 1 0x5503 0x5502 0x5501 0x5510", "stack 3 0x5503 0x5502 0x5501 0x5511"]
    start = ["0 cpu0 t0 switch state=R next=100", "0 cpu1 t0 switch state=R next=200"]
    trace = setup.make("\n".join(head + stacks + start) + "\n" + wait(0, 1) + wait(50, 3))
    lines = [line for line in setup.run(trace).stdout.splitlines() if "waits for others: " in line and "ended in" in line]
    equal("lines", lines, ["  waits for others: 80.0 ms in 0x5503 < 0x5502 < 0x5501, ended in 0x6603 < 0x6601 of beta (waits: 2)"])


def test_what_the_kernel_does_after_a_threads_exit_is_no_part_of_its_life(setup):
    scene = Scene()
    scene.at(0, "switch state=R next=100", tid=0)
    scene.calls(4, MAIN, PARSE)
    scene.at(5, "thread_exit thread=100 last=1")
    for time in (6, 8):
        scene.at(time, f"stack user={scene.stack(MAIN, PARSE)} why=wake")
    program = setup.json(setup.make(scene))["programs"][0]
    equal("life", (program["thread_ns"], sum(program["parts_ns"].values())), (5_000_000, 5_000_000))


def test_a_stack_that_is_taken_after_the_switch_splits_no_wait(setup):
    trace = setup.make(WAIT.replace("1ms cpu0 t100 stack user=1 why=block", "1.2ms cpu0 t100 stack user=1 why=block"))
    tree = {node["function"]: node for node in setup.json("--tree", "--process=alpha", trace)["tree"]}
    equal("the wait", (tree["read"]["own_ns"]["conservative"], tree["read"]["waited_ns"]["others"]), (40_800_000, 39_800_000))
    equal("waited", [node["function"] for node in tree.values() if sum(node["waited_ns"].values()) > node["own_ns"]["conservative"]], [])


def test_time_off_the_cpu_without_a_stack_is_no_work(setup):
    scene = Scene()
    scene.at(0, "switch state=R next=100", tid=0)
    scene.calls(1, MAIN, PARSE)
    scene.at(2, "switch state=S next=0")
    scene.at(42, "make_runnable thread=100 context=hardirq", cpu=1, tid=0)
    scene.at(45, "switch state=R next=100", tid=0)
    scene.time = 50
    scene.calls(1, MAIN, PARSE)
    answer = setup.json("--tree", "--rank=total", setup.make(scene))
    parts = answer["programs"][0]["parts_ns"]
    equal("on a cpu", parts["on_cpu"], 8_000_000)
    equal("wanted one", parts["cpu"], 3_000_000)
    equal("neither", sum(parts.values()) - parts["on_cpu"] - parts["cpu"], 40_000_000)


def test_waits_for_a_cpu_without_a_stack_are_attributable(setup):
    """Before the first stack, between two stacks without a common function, and after the last one."""
    scene = Scene()
    scene.at(0, "switch state=R next=100", tid=0)
    scene.at(1, "switch state=R next=0")
    scene.at(8, "switch state=R next=100", tid=0)
    scene.time = 10
    scene.calls(1, MAIN)
    scene.at(12, "switch state=R next=0")
    scene.at(17, "switch state=R next=100", tid=0)
    scene.time = 20
    scene.calls(1, PARSE)
    scene.at(22, "switch state=R next=0")
    scene.at(25, "switch state=R next=100", tid=0)
    scene.at(26, "thread_exit")
    program = setup.json(setup.make(scene))["programs"][0]
    parts = {part: ns // 1_000_000 for part, ns in program["parts_ns"].items() if ns}
    equal("parts", parts, {"on_cpu": 2, "cpu": 15, "between": 4, "before": 3, "after": 2})
    equal("in no context", program["cpu_wait_without_stack_ns"], 10_000_000)


def test_waits_for_a_disk_that_differ_as_in_the_base_are_marked(setup):
    base = setup.make(sleeper(10, 30, 50, call="fsync"))

    def first(*waits_ms):
        now = setup.make(sleeper(*waits_ms, call="fsync"))
        path = [path for path in setup.json(f"--base={base}", now)["contexts"] if names(path)[-1] == "fsync"][0]
        return path["by_chance"], text_lines(setup, now, "may be chance: waits for disks", f"--base={base}")
    equal("the spread of the base", first(20, 40, 60), (True, 1))
    equal("beyond it", first(200, 200, 200), (False, 0))
    equal("one that is much longer", first(10, 30, 350), (False, 0))


def test_a_long_wait_is_certain_although_its_callers_time_is_not(setup):
    """Its caller computes for 0.3 s, of which samples know little; waits below what one sample stands for are no more certain."""
    def scene(samples, *waits_ms):
        scene = sleeper(*waits_ms, call="fsync")
        for turn in range(samples):
            scene.at(scene.time + 1 + 10 * turn, f"sample user={scene.stack(MAIN, SAVE)} pc=0x5504")
        scene.at(scene.time + 1 + 10 * samples, "thread_exit")
        return setup.make(scene)

    def is_chance(*waits_ms):
        found = setup.json("--every", f"--base={scene(30)}", scene(28, *waits_ms))["contexts"]
        return [path["by_chance"] for path in found if names(path)[-1] == "fsync" and path["cost_ns"] > 0]
    equal("80 ms", is_chance(40, 40), [False])
    equal("one of 6 ms", is_chance(26), [True])


def test_a_disk_that_is_three_times_slower_is_no_chance(setup):
    """Below what one sample stands for, the base's spread says what may be chance."""
    def scene(*waits_us):
        scene = sleeper(*[round(us / 1000, 3) for us in waits_us], call="fsync")
        for turn in range(4):
            scene.at(scene.time + 1 + 10 * turn, f"sample user={scene.stack(MAIN, SAVE)} pc=0x5504")
        scene.at(scene.time + 41, "thread_exit")
        return setup.make(scene)

    def is_chance(base, now):
        found = setup.json("--every", f"--base={scene(*base)}", scene(*now))["contexts"]
        return [path["by_chance"] for path in found if names(path)[-1] == "fsync" and path["cost_ns"] > 0]
    usual = [380, 400, 420] * 3
    equal("three times", is_chance(usual, [3 * us for us in usual]), [False])
    equal("a quarter more", is_chance(usual, [1.25 * us for us in usual]), [True])
    equal("as differs in the base", is_chance([100, 100, 1000] * 3, [100, 1000, 1000] * 3), [True])
    equal("of an unknown spread", is_chance([400], [4000]), [True])


def test_lost_records_end_what_goes_on(setup):
    def scene(*between):
        lines = Scene().lines + ["stack 1 0x5502 0x5501", "1ms cpu0 t100 sample user=1 pc=0x5502", "3ms cpu0 t100 sample user=1 pc=0x5502"]
        return "\n".join([*lines, *between, "9ms cpu0 t100 sample user=1 pc=0x5502", "10ms cpu0 t100 sample user=1 pc=0x5502"]) + "\n"

    def of_parse(text):
        node = setup.json("--tree", setup.make(text))["tree"][-1]
        return node["function"], node["count"], node["total_ns"]["conservative"], node["total_ns"]["aggressive"]
    equal("nothing lost", of_parse(scene()), (hex(PARSE), 1, 9_000_000, 9_000_000))
    equal("on its cpu", of_parse(scene("lost cpu0 5")), (hex(PARSE), 2, 3_000_000, 3_000_000))
    equal("on another cpu", of_parse(scene("2ms cpu1 t0 timer_armed", "lost cpu1 5", "4ms cpu1 t0 timer_armed")), (hex(PARSE), 1, 9_000_000, 9_000_000))


def test_a_call_and_its_wrapper_end_at_its_return(setup):
    """Ten sleeps of 1 ms, 9 ms apart, must not count as one of 91 ms; the time between them belongs to the caller."""
    wrapper = 0x7100
    scene = Scene()
    scene.lines.append("image pid 100 start 0x7000 end 0x8000 path /nowhere/libc.so.6")
    for turn in range(10):
        scene.at(10 * turn, "syscall_start nr=clock_nanosleep")
        scene.at(10 * turn, f"stack user={scene.stack(MAIN, PARSE, wrapper)} why=call")
        scene.at(10 * turn + 1, "syscall_end nr=clock_nanosleep")
    trace = setup.make(scene)

    def of(*words):
        return [(node["count"], node["own_ns"]["conservative"] // 1_000_000) for node in setup.json("--tree", *words, trace)["tree"][1:]]
    equal("main, parse, wrapper, call", of(), [(1, 0), (1, 81), (10, 0), (10, 10)])
    equal("as in the paper", of("--no-returns"), [(1, 0), (1, 0), (1, 0), (1, 90)])


def test_what_a_call_to_exec_took_is_the_old_programs(setup):
    lines = Scene().lines + ["stack 1 0x5502 0x5501", "1ms cpu0 t100 syscall_start nr=execve", "1ms cpu0 t100 stack user=1 why=call",
                             "5ms cpu0 t100 exec pid=100", "5ms cpu0 t100 name_exec name=gamma", "6ms cpu0 t100 syscall_end nr=execve pid=100",
                             "9ms cpu0 t100 sample user=1 pc=0x5502"]
    tree = setup.json("--tree", setup.make("\n".join(lines) + "\n"))["tree"]
    found = {node["node"]: node for node in tree}
    exec_node = next(node for node in tree if node["function"] == "execve")
    root = exec_node
    while root["parent"] in found:
        root = found[root["parent"]]
    equal("program", root["function"], "gamma, before its exec")
    equal("time", exec_node["total_ns"], {"conservative": 4_000_000, "aggressive": 4_000_000})
    # without a stack after the exec, that time is still the new program's
    programs = setup.json(setup.make("\n".join(lines[:-1]) + "\n9ms cpu0 t100 thread_exit\n"))["programs"]
    equal("lives", {program["process"]: program["thread_ns"] for program in programs}, {"gamma": 4_000_000, "gamma, before its exec": 4_000_000})
