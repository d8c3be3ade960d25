"""argus contexts as a command, on traces made of text: schema, formats, ranking, waits, and errors in the input.

    test_contexts.py MKTRACE ARGUS FOLDER PROGRAM LINKED OPENED        the last three: files of different layers
"""
import json
import pathlib
import re
import subprocess
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "diagnose"))

from schema import mismatches  # noqa: E402

SCHEMA = json.loads((HERE.parents[1] / "docs/schema/contexts.json").read_text())
MAIN, PARSE, LOAD, SAVE = 0x5501, 0x5502, 0x5503, 0x5504


class Scene:
    """One thread of `name` that calls functions. Each call leaves a stack at its beginning and one at its end."""

    def __init__(self, name="alpha", pid=100):
        self.lines = ["cpus 2", f"thread {pid} pid {pid} name {name}", f"image pid {pid} start 0x5000 end 0x6000 path //anon"]
        self.stacks, self.time, self.tid = {}, 0, pid

    def at(self, time_ms, text, cpu=0, tid=None):
        self.lines.append(f"{time_ms}ms cpu{cpu} t{self.tid if tid is None else tid} {text}")

    def stack(self, *functions):
        return self.stacks.setdefault(functions, len(self.stacks) + 1)

    def calls(self, length_ms, *functions):
        """Two records of this stack: now, and `length_ms` later."""
        for _ in range(2):
            self.at(self.time, f"stack user={self.stack(*functions)} why=call")
            self.time += length_ms
        self.time -= length_ms
        return self

    def text(self):
        frames = [f"stack {number} " + " ".join(map(hex, reversed(stack))) for stack, number in self.stacks.items()]
        return "\n".join(self.lines + frames) + "\n"


def usual():
    return Scene().calls(10, MAIN, PARSE).calls(5, MAIN, LOAD).calls(3, MAIN, SAVE)


def slow():
    return Scene().calls(11, MAIN, PARSE).calls(95, MAIN, LOAD).calls(3, MAIN, SAVE)


class Setup:
    def __init__(self, mktrace, argus, folder, *files):
        self.mktrace, self.argus, self.folder, self.count, self.files = mktrace, argus, folder, 0, files

    def make(self, scene):
        self.count += 1
        text = self.folder / f"scene{self.count}.trace"
        text.write_text(scene if isinstance(scene, str) else scene.text())
        subprocess.run([self.mktrace, text, text.with_suffix(".argus")], check=True)
        return str(text.with_suffix(".argus"))

    def run(self, *words, code=0):
        done = subprocess.run([self.argus, "contexts", "--no-cache", *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {done.stderr}"
        return done

    def json(self, *words):
        answer = json.loads(self.run("--json", *words).stdout)
        wrong = mismatches(answer, SCHEMA)
        assert not wrong, f"not as docs/schema/contexts.json says: {wrong}"
        return answer


def equal(what, found, expected):
    assert found == expected, f"{what}: {found!r}, not {expected!r}"


def names(path):
    return [function["function"] for function in path["functions"]]


def test_the_slow_function_is_first_against_a_base(setup):
    answer = setup.json("--tree", f"--base={setup.make(usual())}", setup.make(slow()))
    first = answer["contexts"][0]
    equal("path", names(first), [hex(MAIN), hex(LOAD)])
    equal("cost", first["cost_ns"], 90_000_000)
    equal("distances", [f["distance"] for f in first["functions"]], [1, 0])
    equal("ranks", [f["rank"] for f in first["functions"]], [2, 1])
    equal("paths of the base", answer["base"]["equal_paths"], 3)
    equal("second", names(answer["contexts"][1]), [hex(MAIN), hex(PARSE)])


def test_the_same_trace_as_base_leaves_nothing(setup):
    trace = setup.make(usual())
    equal("costs", [path["cost_ns"] for path in setup.json(f"--base={trace}", trace)["contexts"]], [0, 0, 0])
    assert "no context is slower than in the base" in setup.run(f"--base={trace}", trace).stdout


def test_modes_differ_where_the_stack_changes(setup):
    scene = Scene()
    for time_ms, function in ((0, LOAD), (4, LOAD), (10, SAVE), (12, SAVE)):
        scene.at(time_ms, f"stack user={scene.stack(MAIN, function)} why=call")
    tree = {node["function"]: node for node in setup.json("--tree", setup.make(scene))["tree"]}
    equal("load", tree[hex(LOAD)]["total_ns"], {"conservative": 4_000_000, "aggressive": 10_000_000})
    equal("main's own", tree[hex(MAIN)]["own_ns"], {"conservative": 6_000_000, "aggressive": 0})


def inlined(place, level, function, source, line):
    return f"name path /opt/alpha place {place} level {level} function {function} source {source} line {line}"


INLINED = """cpus 2
thread 100 pid 100 name alpha
image pid 100 start 0x5000 end 0x6000 path /opt/alpha
stack 1 0x5503 0x5501
0 cpu0 t100 stack user=1 why=call
10ms cpu0 t100 stack user=1 why=call
name path /opt/alpha place 0x500 function main source /src/alpha/main.c line 9
name path /opt/alpha place 0x503 function work source /usr/include/list.h line 3
"""


def test_inlined_functions_are_functions(setup):
    """The innermost one is of a library's header, so it stays part of its user."""
    trace = setup.make(INLINED + "\n".join([
        inlined(0x503, 1, "list_next", "/src/alpha/main.c", 40),
        inlined(0x503, 2, "search", "/src/alpha/main.c", 50),
        inlined(0x503, 3, "parse", "/src/alpha/main.c", 60)]) + "\n")
    path = setup.json(trace)["contexts"][0]
    equal("path", names(path), ["main", "work", "parse", "search"])
    equal("inlined", [f["inlined"] for f in path["functions"]], [False, False, True, True])
    text = setup.run(trace).stdout
    assert "search  (alpha, inlined)" in text and "work  (alpha)" in text, text


WAIT = """cpus 2
thread 100 pid 100 name alpha
thread 200 pid 200 name beta
stack 1 0x5503 0x5501
stack 2 0x6603 0x6601
0 cpu0 t0 switch state=R next=100
1ms cpu0 t100 syscall_start nr=read arg1=5
1ms cpu0 t100 switch state=S next=0
1ms cpu0 t100 stack user=1 why=block
2ms cpu1 t0 switch state=R next=200
41ms cpu1 t200 make_runnable thread=100 context=task
41ms cpu1 t200 stack user=2 why=wake
42ms cpu0 t0 switch state=R next=100
42ms cpu0 t100 syscall_end nr=read result=1 pid=100
43ms cpu0 t100 sample user=1 pc=0x5503
50ms cpu1 t200 sample user=2 pc=0x6603
"""


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


def test_time_between_calls_is_shared_out_by_samples(setup):
    """Ten times 3 ms between two calls; two of the ten have a sample, each in another function. In the last one the thread has no CPU for 2
    ms."""
    scene = Scene()
    for turn in range(11):
        time, wait = 4 * turn, scene.stack(MAIN, PARSE)
        scene.at(time, "syscall_start nr=read arg1=5")
        scene.at(time, f"stack user={wait} why=call")
        scene.at(time + 1, "syscall_end nr=read result=1")
        if turn in (3, 4):
            scene.at(time + 3, f"sample user={scene.stack(MAIN, LOAD if turn == 3 else SAVE)} pc=0x5503")
        if turn == 9:
            scene.at(time + 1, "switch state=R next=0")
            scene.at(time + 3, f"switch state=R next={scene.tid}", tid=0)
    trace = setup.make(scene)
    tree = {node["function"]: node for node in setup.json("--tree", trace)["tree"]}
    equal("by stacks alone", [tree[hex(f)]["inferred_ns"]["conservative"] for f in (LOAD, SAVE)], [0, 0])
    equal("own", [tree[hex(f)]["own_ns"]["conservative"] for f in (LOAD, SAVE)], [14_000_000, 14_000_000])
    equal("by samples", [tree[hex(f)]["sampled_ns"] for f in (LOAD, SAVE)], [14_000_000, 14_000_000])
    equal("without a cpu", sum(node["waited_ns"]["cpu"] for node in tree.values()), 2_000_000)
    equal("shared out", sum(node["sampled_ns"] for node in tree.values()), 0)
    answer = setup.json(trace)
    equal("one sample is not first", [(names(path)[-1], path["by_chance"]) for path in answer["contexts"]],
          [("read", False), (hex(LOAD), True), (hex(SAVE), True)])
    equal("twice the deviation", [path["chance_ns"] for path in answer["contexts"]], [0, 28_000_000, 28_000_000])
    assert text_lines(setup, trace, "may be chance: too few CPU samples") == 2
    without = {node["function"]: node for node in setup.json("--tree", "--no-samples", trace)["tree"]}
    equal("without samples", {node["sampled_ns"] for node in without.values()}, {0})


def sleeper(*sleeps_ms, late_ms=0, call="nanosleep"):
    """A loop that calls a function between its sleeps, and gets its CPU late."""
    scene, time = Scene(), 1
    scene.at(0, f"switch state=R next={scene.tid}", tid=0)
    for length in sleeps_ms:
        scene.calls(0, MAIN, LOAD)
        scene.at(time, f"syscall_start nr={call}")
        scene.at(time, "switch state=S next=0")
        scene.at(time, f"stack user={scene.stack(MAIN, SAVE)} why=block")
        time += length
        scene.at(time, f"make_runnable thread={scene.tid} context=hardirq", cpu=1, tid=0)
        scene.at(time + late_ms, f"switch state=R next={scene.tid}", tid=0)
        time = scene.time = time + late_ms + 1
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
        time += length
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


def test_the_first_line_adds_up(setup):
    trace = setup.make(WAIT)
    line = next(line for line in setup.run("--process=alpha", trace).stdout.splitlines() if line.startswith("alpha: "))
    equal("line", line, "alpha: 50.0 ms in all threads (wall 50.0 ms, threads 1) = 1.00 ms own work (1.00 ms on a CPU), 40.0 ms waits for others (beta 39.0 ms), "
          "1.00 ms waits for a CPU, 8.00 ms not attributable (1.00 ms before a thread's first stack, 7.00 ms after a thread's last stack)")
    program = setup.json("--process=alpha", trace)["programs"][0]
    equal("sum", sum(program["parts_ns"].values()), program["thread_ns"])
    longer = setup.json("--process=alpha", f"--base={trace}", trace)["programs"][0]
    equal("with itself as the base", (longer["thread_ns"], set(longer["parts_ns"].values())), (0, {0}))


def test_what_the_list_leaves_out_is_said(setup):
    base, now = setup.make(usual()), setup.make(slow().calls(9, MAIN, SAVE))
    answer = setup.json("--top=1", f"--base={base}", now)
    equal("total", answer["total_cost_ns"], sum(layer["cost_ns"] for layer in answer["layers"]))
    equal("of all, not only the first", (answer["total_cost_ns"], len(answer["contexts"])), (100_000_000, 1))
    assert "\nall contexts together: +100 ms; 2 more entries (--top), of which 0 may be chance\n" in setup.run("--top=1", f"--base={base}", now).stdout


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


def test_samples_are_said_apart_and_can_be_left_out(setup):
    trace = setup.make(WAIT)
    equal("with", setup.json(trace)["counts"]["moments"]["cpu_samples"], 2)
    equal("without", setup.json("--no-samples", trace)["counts"]["moments"]["cpu_samples"], 0)
    assert "2 cpu samples" in setup.run(trace).stdout


def test_enough_samples_are_beyond_chance(setup):
    scene = Scene()
    for start in (0, 100):
        scene.at(start, "syscall_start nr=read arg1=5")
        scene.at(start, f"stack user={scene.stack(MAIN, PARSE)} why=call")
        scene.at(start, "syscall_end nr=read result=1")
        for turn in range(10 if start == 0 else 0):
            scene.at(10 * turn + 5, f"sample user={scene.stack(MAIN, LOAD if turn < 5 else SAVE)} pc=0x5503")
    paths = {names(path)[-1]: path for path in setup.json(setup.make(scene))["contexts"]}
    equal("five", [paths[hex(f)]["by_chance"] for f in (LOAD, SAVE)], [False, False])
    base = setup.make(scene)
    scene.at(110, f"sample user={scene.stack(MAIN, LOAD)} pc=0x5503")
    scene.at(120, "syscall_start nr=read arg1=5")
    scene.at(120, f"stack user={scene.stack(MAIN, PARSE)} why=call")
    paths = setup.json(f"--base={base}", setup.make(scene))["contexts"]
    equal("a sixth", {(names(path)[-1], path["by_chance"]) for path in paths if path["cost_ns"] > 0}, {(hex(LOAD), True), (hex(SAVE), True)})


def test_ways_that_are_beyond_chance_only_together_are_one_entry(setup):
    """Four samples in each of two callers; the costlier of two ways would stay alone otherwise."""
    scene, outer = Scene(), 0x5510
    for start in (0, 80):
        scene.at(start, "syscall_start nr=read arg1=5")
        scene.at(start, f"stack user={scene.stack(MAIN, outer)} why=call")
        scene.at(start, "syscall_end nr=read result=1")
        for turn in range(8 if start == 0 else 0):
            scene.at(10 * turn + 5, f"sample user={scene.stack(MAIN, (PARSE, SAVE)[turn % 2], LOAD)} pc=0x5503")
    first = setup.json(setup.make(scene))["contexts"][0]
    equal("both ways", (names(first)[-1], first["ways"], first["cost_ns"], first["by_chance"]), (hex(LOAD), 2, 80_000_000, False))


def test_waits_for_a_disk_that_differ_as_in_the_base_are_marked(setup):
    base = setup.make(sleeper(10, 30, 50, call="fsync"))

    def first(*waits_ms):
        now = setup.make(sleeper(*waits_ms, call="fsync"))
        path = [path for path in setup.json(f"--base={base}", now)["contexts"] if names(path)[-1] == "fsync"][0]
        return path["by_chance"], text_lines(setup, now, "may be chance: waits for disks", f"--base={base}")
    equal("the spread of the base", first(20, 40, 60), (True, 1))
    equal("beyond it", first(200, 200, 200), (False, 0))
    equal("one that is much longer", first(10, 30, 350), (False, 0))


def text_lines(setup, trace, text, *words):
    return sum(text in line for line in setup.run(*words, trace).stdout.splitlines())


def many_callers(length_ms):
    """Eight functions call the same one."""
    scene = Scene()
    for caller in range(8):
        scene.calls(1, MAIN, 0x5600 + caller).calls(length_ms, MAIN, 0x5600 + caller, LOAD)
    return scene


def test_paths_that_differ_above_the_culprit_are_one_entry(setup):
    base, now = setup.make(many_callers(1)), setup.make(many_callers(50))
    first = setup.json(f"--base={base}", now)["contexts"][0]
    equal("ways, cost", (first["ways"], first["cost_ns"]), (8, 8 * 49_000_000))
    equal("culprit", first["charged_function"], hex(LOAD))
    assert "8 ways lead there, this one costs most" in setup.run(f"--base={base}", now).stdout
    each = [path for path in setup.json(f"--base={base}", "--every", now)["contexts"] if names(path)[-1] == hex(LOAD)]
    equal("every path", [(path["ways"], path["cost_ns"]) for path in each], 8 * [(1, 49_000_000)])


def test_one_of_several_callers_with_most_of_the_cost_stays_alone(setup):
    scene = many_callers(10).calls(300, MAIN, PARSE, LOAD)
    found = setup.json(f"--base={setup.make(many_callers(1).calls(1, MAIN, PARSE, LOAD))}", setup.make(scene))["contexts"]
    equal("entries", [(names(path)[-2], path["ways"], path["cost_ns"]) for path in found[:2]],
          [(hex(PARSE), 1, 299_000_000), (hex(0x5600), 8, 72_000_000)])


def test_functions_are_summed_over_their_contexts(setup):
    scene = many_callers(50).calls(10, MAIN, LOAD, LOAD)  # recursion
    functions = {f["function"]: f for f in setup.json("--tree", setup.make(scene))["functions"]}
    load, main_function = functions[hex(LOAD)], functions[hex(MAIN)]
    equal("contexts", (load["contexts"], load["calls"]), (10, 10))
    equal("own", (load["own_ns"], load["total_ns"]), (410_000_000, 410_000_000))
    equal("with callees", main_function["inclusive_cost_ns"], main_function["total_ns"])
    assert main_function["total_ns"] >= 418_000_000, main_function
    assert re.search(r"410 ms +410 ms +410 ms +410 ms +10 +10 +unknown +0x5503", setup.run(setup.make(scene)).stdout)


def test_folded_lines_add_up(setup):
    lines = setup.run("--format=folded", setup.make(usual())).stdout.splitlines()
    equal("lines", lines, ["alpha;0x5501;0x5502 10000", "alpha;0x5501;0x5503 5000", "alpha;0x5501;0x5504 3000"])


def folded(setup, *words):
    return dict(line.split(" ", 1) for line in setup.run("--format=folded", *words).stdout.splitlines())


def test_folded_lines_have_both_sides_of_a_base(setup):
    base = setup.make(usual().calls(7, MAIN, 0x5510))
    lines = folded(setup, f"--base={base}", setup.make(slow()))
    equal("both", lines["alpha;0x5501;0x5503"], "5000 95000")
    equal("the base only", lines["alpha;0x5501;0x5510"], "7000 0")
    done = setup.run("--format=folded", "--rank=mean", base, code=2)
    assert "means do not add up in a flame graph" in done.stderr, done.stderr


def test_one_time_in_all_outputs(setup):
    """Folded lines, speedscope's weights, the tree, and the list of functions, with samples, by each rank."""
    scene = Scene()
    for turn in range(20):
        scene.at(4 * turn, "syscall_start nr=read arg1=5")
        scene.at(4 * turn, f"stack user={scene.stack(MAIN, PARSE)} why=call")
        scene.at(4 * turn + 1, "syscall_end nr=read result=1")
        scene.at(4 * turn + 3, f"sample user={scene.stack(MAIN, LOAD)} pc=0x5503")
    trace = setup.make(scene)
    for rank in ("total", "blame"):
        answer = setup.json("--tree", f"--rank={rank}", trace)
        own = {node["function"]: node["own_ns"]["conservative"] for node in answer["tree"] if node["own_ns"]["conservative"]}
        equal("functions", {f["function"]: f["own_ns"] for f in answer["functions"] if f["own_ns"]}, own)
        equal("folded", {path.split(";")[-1]: int(us) * 1000 for path, us in folded(setup, f"--rank={rank}", trace).items()}, own)
        scope = json.loads(setup.run("--format=speedscope", f"--rank={rank}", trace).stdout)
        weights = {scope["shared"]["frames"][stack[-1]]["name"]: weight
                   for profile in scope["profiles"] for stack, weight in zip(profile["samples"], profile["weights"])}
        equal("speedscope", weights, own)
        equal("what was sampled", own[hex(LOAD)], 57_000_000)


def test_speedscope_tells_slower_from_faster(setup):
    answer = json.loads(setup.run("--format=speedscope", f"--base={setup.make(usual())}", setup.make(slow().calls(2, MAIN, SAVE))).stdout)
    equal("profiles", [p["name"] for p in answer["profiles"]], ["alpha, slower than in the base", "alpha, faster than in the base"])
    equal("slower", answer["profiles"][0]["endValue"], 93_000_000)


def test_speedscope_has_a_profile_for_each_program(setup):
    answer = json.loads(setup.run("--format=speedscope", setup.make(WAIT)).stdout)
    equal("profiles", sorted(p["name"] for p in answer["profiles"]), ["alpha", "beta"])
    for profile in answer["profiles"]:
        equal("weights", len(profile["weights"]), len(profile["samples"]))
        equal("sum", sum(profile["weights"]), profile["endValue"])
        assert all(index < len(answer["shared"]["frames"]) for stack in profile["samples"] for index in stack)


def test_the_page_has_the_heat_map(setup):
    page = setup.run("--format=html", f"--base={setup.make(usual())}", setup.make(slow())).stdout
    row = re.search(r'<tr data-c="0">.*</tr>', page).group(0)
    equal("distances of the first row", re.findall(r"<td[^>]*>(\d+)</td>", row), ["1", "0"])
    assert "What was recorded" not in page and 'id="hangs"' not in page


def test_the_heat_map_folds_recursion(setup):
    even, odd = 0x5601, 0x5602
    page = setup.run("--format=html", setup.make(Scene().calls(20, MAIN, even, odd, even, odd, even, odd, SAVE, SAVE))).stdout
    row = re.search(r'<tr data-c="0">.*</tr>', page).group(0)
    equal("main, a circle of two, one that calls itself", re.findall(r"<td[^>]*>(\d+\S*)</td>", row), ["3", "2↺", "1↺", "0↺"])
    assert f"{hex(even)}, 3 times in itself" in row and f"{hex(SAVE)}, 2 times in itself" in row, row


def test_the_tree_shows_what_the_list_costs(setup):
    """Waits for others are in neither, except with --rank=total."""
    trace = setup.make(WAIT)

    def of_alpha(*words):
        page = setup.run("--format=html", "--process=alpha", *words, trace).stdout
        return [int(ns) for ns in re.findall(r'data-w="(\d+)"', page)]
    equal("as the list", of_alpha(), [1_000_000] * 3 + [0])
    equal("means do not add up", of_alpha("--rank=mean"), of_alpha())
    equal("the program, two functions, the wait", of_alpha("--rank=total"), [42_000_000] * 3 + [41_000_000])


def test_cut_and_missing_stacks_are_counted(setup):
    scene = usual()
    scene.stack(1, MAIN, LOAD)  # the outermost address marks a stack that was cut off
    scene.at(20, f"stack user={scene.stack(1, MAIN, LOAD)} why=call")
    scene.at(21, "stack user=999 why=call")
    trace = setup.make(scene)
    counts = setup.json(trace)["counts"]
    equal("cut, missing", (counts["cut"], counts["missing"]), (1, 1))
    equal("why", counts["cut_by"], {"copy": 1, "memory": 0, "code": 0, "depth": 0, "pointers": 0})
    text = setup.run(trace).stdout
    assert "1 stacks are cut short, below [stack cut]: 1 longer than what was copied (--unwind-size)\n" in text and "1 stacks are not in the trace" in text


def test_what_is_no_code_stands_in_no_answer(setup):
    """Frame pointers of code that keeps none lead to data: the stack ends there."""
    scene = usual()
    garbage = 0x7ffc12345678
    trace = setup.make(scene.calls(4, MAIN, garbage, LOAD))
    counts = setup.json(trace)["counts"]
    equal("cut", (counts["cut"], counts["cut_by"]["pointers"]), (2, 2))
    folded = setup.run("--format=folded", trace).stdout
    assert hex(garbage) not in folded and f"[stack cut];{hex(LOAD)}" in folded, folded
    assert "without frame pointers" in setup.run(trace).stdout


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


def cut(scene, length_ms, *functions):
    """Like scene.calls(), for a stack without its outermost functions."""
    for _ in range(2):
        scene.at(scene.time, f"stack user={scene.stack(1, *functions)} why=call")  # 1: the mark of a copy that was too short
        scene.time += length_ms
    scene.time -= length_ms
    return scene


def paths(answer):
    nodes, found = {node["node"]: node for node in answer["tree"]}, {}
    for node in answer["tree"]:
        path, at = [], node
        while at["parent"] in nodes:
            path.insert(0, at["function"])
            at = nodes[at["parent"]]
        if node["count"]:
            found["/".join(path)] = node["count"]
    return found


def test_a_cut_stack_goes_on_where_the_thread_had_its_functions(setup):
    scene = Scene().calls(2, MAIN, PARSE, LOAD)
    cut(scene, 3, PARSE, LOAD, SAVE)
    cut(scene, 3, LOAD, SAVE, 0x5510)  # continues on the previous stack
    answer = setup.json("--tree", setup.make(scene))
    main, parse, load, save = (hex(f) for f in (MAIN, PARSE, LOAD, SAVE))
    equal("counts", (answer["counts"]["cut"], answer["counts"]["grafted"]), (4, 4))
    equal("paths", paths(answer), {main: 1, f"{main}/{parse}": 1, f"{main}/{parse}/{load}": 1, f"{main}/{parse}/{load}/{save}": 1,
                                   f"{main}/{parse}/{load}/{save}/{hex(0x5510)}": 1})
    assert "4 of them go on where their thread's whole stacks have" in setup.run(setup.make(scene)).stdout


def test_a_cut_stack_that_fits_at_several_places_stays_cut(setup):
    scene = Scene().calls(2, MAIN, PARSE, LOAD).calls(2, MAIN, SAVE, PARSE, LOAD)
    cut(scene, 3, PARSE, LOAD, SAVE)
    answer = setup.json("--tree", setup.make(scene))
    equal("counts", (answer["counts"]["cut"], answer["counts"]["grafted"]), (2, 0))
    assert any(path.startswith("[stack cut]/" + hex(PARSE)) for path in paths(answer))


def test_a_cut_stack_is_not_put_into_another_thread(setup):
    scene = Scene().calls(2, MAIN, PARSE, LOAD)
    scene.lines.append("thread 101 pid 100 name other")
    scene.tid = 101
    cut(scene, 3, PARSE, LOAD, SAVE)
    equal("grafted", setup.json(setup.make(scene))["counts"]["grafted"], 0)


def test_one_function_is_not_enough_to_know_where(setup):
    scene = Scene().calls(2, MAIN, PARSE)
    cut(scene, 3, PARSE)
    equal("grafted", setup.json(setup.make(scene))["counts"]["grafted"], 0)


def test_recursion_keeps_its_depth(setup):
    scene = Scene().calls(2, MAIN, LOAD, LOAD, LOAD)
    equal("path", names(setup.json(setup.make(scene))["contexts"][0]), [hex(MAIN)] + 3 * [hex(LOAD)])


def test_code_made_at_run_time_is_named_by_address(setup):
    function = setup.json(setup.make(usual()))["contexts"][0]["functions"][1]
    equal("name", (function["function"], function["image"], function["layer"]), (hex(PARSE), "[anon]", "unknown"))


def test_a_library_is_linked_and_a_plug_in_opened(setup):
    scene = Scene("layer_host")
    for number, path in enumerate((*setup.files, "/usr/bin/env", "/usr/lib/x86_64-linux-gnu/libz.so.1", "/gone/odd.so")):
        scene.lines.append(f"image pid 100 start {hex(0x10000 * (number + 1))} end {hex(0x10000 * (number + 2))} path {path}")
    scene.calls(3, *(0x10000 * (number + 1) + 0x100 for number in range(6)))
    layers = [function["layer"] for function in setup.json(setup.make(scene))["contexts"][0]["functions"]]
    equal("layers", layers, ["main", "library", "plug-in", "main", "library", "plug-in"])


def test_a_base_of_another_program_is_said(setup):
    other = setup.make(Scene("other", 300).calls(1, MAIN))
    done = setup.run(f"--base={other}", setup.make(usual()))
    assert "are both traces of the same program?" in done.stderr
    assert "1 programs are not in the base" in done.stdout


def test_another_build_is_said_and_compared_by_names(setup):
    def with_build(identity):
        scene = usual()
        scene.lines.append(f"image pid 100 start 0x7000 end 0x8000 inode {identity} build_id {identity:02x}{identity:02x} path /opt/libodd.so")
        return setup.make(scene.calls(2, MAIN, 0x7100))
    base, now = with_build(1), with_build(2)
    equal("other builds", setup.json(f"--base={base}", now)["base"]["other_builds"], ["/opt/libodd.so"])
    equal("the same build", setup.json(f"--base={base}", base)["base"]["other_builds"], [])
    equal("paths", setup.json(f"--base={base}", now)["base"]["equal_paths"], 4)
    assert "other builds than in the base, compared by names: libodd.so\n" in setup.run(f"--base={base}", now).stdout


def test_bad_input_is_a_sentence(setup):
    trace = setup.make(usual())
    silent = setup.make("thread 100 pid 100 name alpha\n0 cpu0 t100 syscall_start nr=read\n")
    assert "has no call stacks" in setup.run(silent, code=1).stderr
    assert "--base: " in setup.run(f"--base={silent}", trace, code=1).stderr
    assert "no process 'nobody'" in setup.run("--process=nobody", trace, code=1).stderr
    assert "'sometimes' is none of" in setup.run("--mode=sometimes", trace, code=2).stderr
    assert "no vertex v99" in setup.run("--vertex=v99", trace, code=1).stderr


def test_the_same_input_gives_the_same_bytes(setup):
    words = ["--json", "--tree", f"--base={setup.make(usual())}", setup.make(slow())]
    equal("second time", setup.run(*words).stdout, setup.run(*words).stdout)


def main():
    setup = Setup(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), *sys.argv[4:])
    setup.folder.mkdir(parents=True, exist_ok=True)
    tests = [(name, function) for name, function in globals().items() if name.startswith("test_")]
    failed = 0
    for name, function in tests:
        try:
            function(setup)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}")
    print(f"{len(tests)} tests, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
