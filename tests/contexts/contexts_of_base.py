"""Rankings: times by mode and by samples, and the differences from a base."""
import re

from context_scene import LOAD, MAIN, PARSE, SAVE, Scene, WAIT, equal, names, paths, slow, text_lines, usual


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


def samples(*stacks):
    """A thread that only computes, with one sample every 10 ms, and its exit."""
    scene = Scene()
    for turn, stack in enumerate(stacks):
        scene.at(10 * turn, f"sample user={scene.stack(*stack)} pc=0x5503")
    scene.at(10 * len(stacks), "thread_exit")
    return scene


def test_a_thread_without_a_wait_is_shared_out_by_samples(setup):
    answer = setup.json("--tree", setup.make(samples(*[(MAIN, LOAD), (MAIN, SAVE)] * 5)))
    own = {node["function"]: node["own_ns"]["conservative"] for node in answer["tree"]}
    equal("halves", [own[hex(function)] for function in (MAIN, LOAD, SAVE)], [0, 45_000_000, 45_000_000])


def callees(first, count):
    return [(MAIN, PARSE, 0x5600 + first + i) for i in range(count)]


def test_callees_that_are_beyond_chance_only_together_are_one_entry(setup):
    """Which callees the samples hit is chance: in the base, they are others."""
    work = [(MAIN, LOAD)] * 20
    base = setup.make(samples(*work, *callees(0x40, 4), *work))
    first, *rest = setup.json(f"--base={base}", setup.make(samples(*work, *callees(0, 20), *work)))["contexts"]
    bottleneck = next(function for function in first["functions"] if function["node"] == first["bottleneck"])
    equal("caller", (bottleneck["function"], first["spread"], first["by_chance"]), (hex(PARSE), 20, False))
    assert 140_000_000 < first["cost_ns"] < 180_000_000, first["cost_ns"]
    assert not any(hex(PARSE) in names(path) for path in rest), [names(path) for path in rest]
    base = setup.make(samples(*work, *callees(0x40, 20), *work))
    same = setup.json("--top=100", f"--base={base}", setup.make(samples(*work, *callees(0, 20), *work)))["contexts"]
    page = setup.run("--format=html", "--top=100", f"--base={base}", setup.make(samples(*work, *callees(0, 20), *work))).stdout
    equal("marked on the page", page.count("<small>may be chance</small>"), 20)
    equal("other callees, as long", [path["by_chance"] for path in same if path["cost_ns"] > 0], [True] * 20)


def test_the_entry_of_many_callees_is_the_deepest_with_most_of_their_time(setup):
    """10 callees of LOAD, which SAVE calls, as it calls 3 others; PARSE calls SAVE and 2 others."""
    def under(first, count, *callers):
        return [(MAIN, PARSE, *callers, 0x5600 + first + i) for i in range(count)]
    work = [(MAIN, 0x5510)] * 20
    trace = setup.make(samples(*work, *under(0, 10, SAVE, LOAD), *under(16, 3, SAVE), *under(32, 2), *work))
    first = setup.json(f"--base={setup.make(samples(*work, *work))}", trace)["contexts"][0]
    bottleneck = next(function for function in first["functions"] if function["node"] == first["bottleneck"])
    equal("function", (bottleneck["function"], first["spread"]), (hex(SAVE), 13))


def ways(setup, *stacks):
    """The entries of LOAD, against a base without it: the number of ways, and whether chance may have made them."""
    work = [(MAIN, 0x5510)] * 20
    base = setup.make(samples(*work, *work))
    found = setup.json("--top=100", f"--base={base}", setup.make(samples(*work, *stacks, *work)))["contexts"]
    return [(path["ways"], path["by_chance"]) for path in found if names(path)[-1] == hex(LOAD) and path["cost_ns"] > 0]


def test_ways_within_chance_stay_together(setup):
    equal("2 samples and 1", ways(setup, *[(MAIN, PARSE, LOAD)] * 2, (MAIN, SAVE, LOAD)), [(2, True)])
    equal("10 and 6", ways(setup, *[(MAIN, PARSE, LOAD)] * 10, *[(MAIN, SAVE, LOAD)] * 6), [(1, False), (1, False)])


def test_recursion_makes_no_other_way(setup):
    deep = [(MAIN, PARSE, PARSE, LOAD)] * 6
    equal("two depths", ways(setup, *[(MAIN, PARSE, LOAD)] * 10, *deep), [(2, False)])
    equal("and another caller", ways(setup, *[(MAIN, PARSE, LOAD)] * 10, *deep, *[(MAIN, SAVE, LOAD)] * 5), [(2, False), (1, False)])


def test_a_shared_caller_counts_in_one_entry(setup):
    """PARSE computes 50 ms itself, and calls LOAD and SAVE for 100 and 70 ms."""
    work = [(MAIN, 0x5510)] * 20
    base = setup.make(samples(*work, *work))
    stacks = [(MAIN, PARSE)] * 5 + [(MAIN, PARSE, LOAD)] * 10 + [(MAIN, PARSE, SAVE)] * 7
    trace = setup.make(samples(*work, *stacks, *work))
    found = setup.json(f"--base={base}", trace)["contexts"]
    equal("entries", [names(path)[-1] for path in found[:2]], [hex(LOAD), hex(SAVE)])
    assert sum(path["cost_ns"] for path in found if path["cost_ns"] > 0) <= 220_000_000, found
    assert "of its callers count in another entry" in setup.run(f"--base={base}", trace).stdout


def test_less_than_one_sample_may_be_chance(setup):
    def trace(length_ms):
        scene = Scene()
        for turn in range(20):
            scene.at(10 * turn, f"sample user={scene.stack(MAIN, PARSE)} pc=0x5502")
        scene.time = 200
        return setup.make(scene.calls(length_ms, MAIN, LOAD).calls(1, MAIN, SAVE))

    for length_ms, by_chance in ((9, True), (30, False)):
        first = setup.json(f"--base={trace(2)}", trace(length_ms))["contexts"][0]
        equal("by chance", (names(first)[-1], first["by_chance"]), (hex(LOAD), by_chance))


def test_a_thousandth_of_the_run_may_be_chance(setup):
    base = setup.make(Scene().calls(1000, MAIN, PARSE).calls(5, MAIN, LOAD))
    done = setup.run(f"--base={base}", setup.make(Scene().calls(1000, MAIN, PARSE).calls(5.5, MAIN, LOAD))).stdout
    assert "may be chance: less than a thousandth of the run's time" in done, done
    assert "no entry is slower than in the base beyond chance" in done, done
    done = setup.run(f"--base={base}", setup.make(Scene().calls(1000, MAIN, PARSE).calls(9, MAIN, LOAD))).stdout
    assert "chance" not in done, done


def test_a_base_of_another_program_is_said(setup):
    other = setup.make(Scene("other", 300).calls(1, MAIN))
    done = setup.run(f"--base={other}", setup.make(usual()))
    assert "are both traces of the same program?" in done.stderr
    assert "1 programs are not in the base" in done.stdout


def test_another_build_is_said_and_compared_by_function(setup):
    def with_build(identity):
        scene = usual()
        scene.lines.append(f"image pid 100 start 0x7000 end 0x8000 inode {identity} build_id {identity:02x}{identity:02x} path /opt/libodd.so")
        return setup.make(scene.calls(2, MAIN, 0x7100))
    base, now = with_build(1), with_build(2)
    equal("other builds", setup.json(f"--base={base}", now)["base"]["other_builds"], ["/opt/libodd.so"])
    equal("the same build", setup.json(f"--base={base}", base)["base"]["other_builds"], [])
    equal("paths", setup.json(f"--base={base}", now)["base"]["equal_paths"], 3)  # an offset is no name
    assert "other builds or names than in the base, compared by function: libodd.so\n" in setup.run(f"--base={base}", now).stdout


def version(number, *calls, names=(), program="alpha"):
    """A library whose file's name has the number, and which is called from MAIN: how long, and through which functions."""
    scene, file = Scene(f"{program}-{number}"), f"/opt/libodd.so.1.{number}"
    scene.lines.append(f"image pid 100 start 0x7000 end 0x8000 offset 0x7000 inode {number} path {file}")
    for place, function in names:
        scene.lines.append(f'name path {file} inode {number} place {place:#x} function "{function}"')
    for length_ms, *functions in calls:
        scene.calls(length_ms, MAIN, *functions).calls(1, MAIN, PARSE)
    return scene


def test_another_version_is_compared_by_function(setup):
    """In the new one, `wrapper` calls `work`, and a function without a name lies elsewhere."""
    base = setup.make(version(2, (10, 0x7100), (20, 0x7400), names=[(0x7100, "work")]))
    now = setup.make(version(3, (15, 0x7300, 0x7200), (20, 0x7500), names=[(0x7200, "work"), (0x72ff, "wrapper")]))
    answer = setup.json("--tree", f"--base={base}", now)
    renamed = {entry["name"]: entry["base_name"] for entry in answer["base"]["renamed"]}
    equal("renamed", renamed, {"/opt/libodd.so.1.3": "/opt/libodd.so.1.2", "alpha-3": "alpha-2"})
    equal("programs", answer["base"]["programs_missing"], 0)
    first = answer["contexts"][0]
    equal("first", (names(first)[-1], first["cost_ns"], first["new"], first["by_function"]), ("work", 5_000_000, True, True))
    costs = {function["function"]: function["cost_ns"] for function in answer["functions"]}
    equal("without a name", costs["libodd.so.1.3+0x7500"], 0)
    equal("all", answer["total_cost_ns"], 5_000_000)
    text = setup.run(f"--base={base}", now).stdout
    assert "libodd.so.1.3 (there libodd.so.1.2)" in text and "30.0 ms of the base are in paths that are not here" in text, text
    assert "another path than in the base" in text, text
    lines = [line.rsplit(" ", 2) for line in setup.run("--format=folded", f"--base={base}", now).stdout.splitlines()]
    equal("folded", sum(int(line[2]) - int(line[1]) for line in lines), 5000)
    page = setup.run("--format=html", f"--base={base}", now).stdout
    assert "work" in page and re.search(r'<td class="f">work <small>.*?<span>15.0 ms <small>\(10.0 ms in other paths\)', page), page
    tips = re.findall(r'data-w="(\d+)" data-i="[^"]*"[^>]*?(?:alpha-3)[^>]*>', page)
    equal("the program in the tree: the larger of both sides", tips, ["37000000"])


def test_copies_of_a_generic_function_are_compared_as_one_with_another_build(setup):
    """Copies of a generic function of Rust differ in their hashes, which are others in each build."""
    def copies(number, first, *callers):
        names = [(place, f"work::h{first + i:016x}") for i, place in enumerate((0x7200, 0x7400))]
        return setup.make(version(number, (10, *callers, 0x7200), (20, *callers, 0x7400), names=[*names, (0x72ff, "wrapper")]))
    answer = setup.json(f"--base={copies(2, 1)}", copies(3, 3, 0x7300))
    equal("all", (answer["total_cost_ns"], answer["only_in_base_ns"]), (0, 0))


def test_a_file_that_both_have_is_no_other_version(setup):
    scene = version(2, (10, 0x7100), names=[(0x7100, "work")])
    scene.lines.append("image pid 100 start 0x9000 end 0xa000 offset 0x9000 path /opt/libodd.so.1.3")
    base = setup.make(scene.calls(4, MAIN, 0x9100))
    now = setup.json(f"--base={base}", setup.make(version(3, (15, 0x7200), names=[(0x7200, "work")])))
    equal("renamed", [entry["name"] for entry in now["base"]["renamed"]], ["alpha-3"])


def test_a_name_of_numbers_is_no_version_of_another(setup):
    base, now = (setup.make(Scene(name).calls(2, MAIN, LOAD).calls(1, MAIN, PARSE)) for name in ("kworker/0:1", "kworker/1:2"))
    answer = setup.json(f"--base={base}", now)["base"]
    equal("renamed", (answer["renamed"], answer["programs_missing"]), ([], 1))


def test_the_callees_of_another_version_are_compared_together(setup):
    """The samples hit other callees of `work` than in the base: none of them is in both."""
    def trace(number, wrapper, first, count):
        stacks = [(MAIN, *wrapper, 0x7100, 0x7600 + first + i) for i in range(count)]
        scene = samples(*[(MAIN, LOAD)] * 20, *stacks, *[(MAIN, LOAD)] * 20)
        file = f"/opt/libodd.so.1.{number}"
        scene.lines.append(f"image pid 100 start 0x7000 end 0x8000 offset 0x7000 path {file}")
        for place, name in [(0x70ff, "work"), (0x72ff, "wrapper"), *((0x7600 + i, f"callee{i}") for i in range(first, first + count))]:
            scene.lines.append(f'name path {file} place {place:#x} function "{name}"')
        return setup.make(scene)
    base = trace(2, [], 0x80, 20)
    found = setup.json("--top=100", f"--base={base}", trace(3, [0x7300], 0, 20))["contexts"]
    equal("as long", [path["by_chance"] for path in found if path["cost_ns"] > 0], [True] * 20)
    first = setup.json(f"--base={base}", trace(3, [0x7300], 0, 60))["contexts"][0]
    equal("three times as long", (first["spread"] > 1, first["by_chance"]), (True, False))
    assert 300_000_000 < first["cost_ns"] < 500_000_000, first["cost_ns"]


def test_clones_and_parts_of_a_function_are_the_function(setup):
    scene = Scene()
    parts = {0x7100: "load.constprop.0", 0x7200: "load.part.0", 0x7300: "load.cold", 0x7400: "save(int) [clone .isra.0]", 0x7500: "app.load"}
    scene.lines.append("image pid 100 start 0x7000 end 0x8000 offset 0x7000 path /opt/libodd.so")
    for place, name in parts.items():
        for distance in (0, 1):  # as the innermost function, and as a caller
            scene.lines.append(f'name path /opt/libodd.so place {place - distance:#x} function "{name}"')
    for stack in ((0x7100,), (0x7100, 0x7200), (0x7300,), (0x7400,), (0x7500,)):
        scene.calls(10, MAIN, *stack).calls(1, MAIN, PARSE)
    functions = {f["function"]: f for f in setup.json(setup.make(scene))["functions"]}
    equal("names", sorted(name for name in functions if not name.startswith("0x")), ["app.load", "load", "save(int)"])
    equal("one function", (functions["load"]["own_ns"], functions["load"]["contexts"]), (30_000_000, 1))


def test_a_function_of_go_that_is_called_cold_is_one(setup):
    def functions(source):
        scene = Scene()
        scene.lines.append("image pid 100 start 0x7000 end 0x8000 offset 0x7000 path /opt/service")
        for place in (0x7100, 0x70ff):  # as the innermost function, and as a caller
            scene.lines.append(f"name path /opt/service place {place:#x} function main.cold source {source} line 3")
        found = setup.json(setup.make(scene.calls(10, MAIN, 0x7100)))["functions"]
        return sorted(f["function"] for f in found if not f["function"].startswith("0x"))
    equal("Go", functions("/src/main.go"), ["main.cold"])
    equal("C", functions("/src/main.c"), ["main"])


def sleeps(scene, length_ms, count, *stack):
    for _ in range(count):
        start, wait = scene.time, scene.stack(*stack)
        scene.at(start, "syscall_start nr=clock_nanosleep")
        scene.at(start, f"stack user={wait} why=block")
        scene.at(start, "switch state=S next=0")
        scene.at(start + length_ms, f"switch state=R next={scene.tid}", tid=0)
        scene.at(start + length_ms, "syscall_end nr=clock_nanosleep result=0")
        scene.time = start + length_ms
        scene.calls(1, MAIN, PARSE)
    return scene


def test_a_wait_that_is_longer_wherever_it_is_called_from_is_one_entry(setup):
    def trace(here_ms, there_ms):
        return setup.make(sleeps(sleeps(Scene(), here_ms, 10, MAIN, 0x5510, LOAD), there_ms, 4, MAIN, 0x5520, LOAD))
    base = trace(5, 5)
    first = setup.json(f"--base={base}", trace(30, 30))["contexts"][0]
    equal("both", (first["ways"], first["cost_ns"], first["charged_function"]), (2, 14 * 25_000_000, hex(LOAD)))
    found = setup.json(f"--base={base}", trace(30, 8))["contexts"]
    equal("one of them", [(path["ways"], path["cost_ns"]) for path in found[:2]], [(1, 250_000_000), (1, 12_000_000)])


def test_ways_of_one_caller_of_the_c_library_are_named_by_it(setup):
    """`release` calls itself; below it, free() is slow."""
    def trace(length_ms, *callers):
        scene, file = Scene(), "/usr/lib/libc.so.6"
        scene.lines.append(f"image pid 100 start 0x7000 end 0x8000 offset 0x7000 path {file}")
        for place in (0x7100, 0x70ff):
            scene.lines.append(f'name path {file} place {place:#x} function "free"')
        for functions in callers:
            scene.calls(length_ms, *functions, 0x7100).calls(1, MAIN, PARSE)
        return setup.make(scene)
    recursion = [(MAIN, *[LOAD] * depth) for depth in (1, 2, 3)]
    for callers, charged in ((recursion, hex(LOAD)), ([(MAIN, LOAD), (MAIN, SAVE), (MAIN, 0x5510)], "free")):
        first = setup.json(f"--base={trace(1, *callers)}", trace(30, *callers))["contexts"][0]
        found = (first["ways"], first["cost_ns"], first["charged_function"].replace("code+", ""))
        equal("charged", found, (len(callers), len(callers) * 29_000_000, charged))
