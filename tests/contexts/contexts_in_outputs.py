"""The outputs: list, functions, folded lines, speedscope, page and tree, which all show the same times."""
import json
import re

from context_scene import LOAD, MAIN, PARSE, SAVE, Scene, WAIT, equal, folded, image, names, slow, usual


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
    gone = setup.make(usual().calls(7, MAIN, 0x5510))
    equal("only in the base", setup.json(f"--base={gone}", now)["only_in_base_ns"], 7_000_000)
    assert "\nall contexts together: +100 ms; contexts that only the base has: -7.00 ms; " in setup.run("--top=1", f"--base={gone}", now).stdout


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
    assert re.search(r"410 ms +410 ms +410 ms +410 ms +10 +10 +[a-z-]+ +0x5503", setup.run(setup.make(scene)).stdout)


def test_folded_lines_add_up(setup):
    lines = setup.run("--format=folded", setup.make(usual())).stdout.splitlines()
    equal("lines", lines, ["alpha;0x5501;0x5502 10000", "alpha;0x5501;0x5503 5000", "alpha;0x5501;0x5504 3000"])


def test_folded_lines_have_both_sides_of_a_base(setup):
    base = setup.make(usual().calls(7, MAIN, 0x5510))
    lines = folded(setup, f"--base={base}", setup.make(slow()))
    equal("both", lines["alpha;0x5501;0x5503"], "5000 95000")
    equal("the base only", lines["alpha;0x5501;0x5510"], "7000 0")
    done = setup.run("--format=folded", "--rank=mean", base, code=2)
    assert "means do not add up in a flame graph" in done.stderr, done.stderr
    for form in ("folded", "speedscope", "html"):
        assert "contradict each other" in setup.run("--json", f"--format={form}", base, code=2).stderr
    assert "is not text" in setup.run("--format=pprof", base, code=2).stderr


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
        equal("what was sampled", own[hex(LOAD)], 59_000_000)


def test_speedscope_shows_the_costliest_program_first(setup):
    scene = Scene().calls(10, MAIN, PARSE)
    scene.lines += ["thread 200 pid 200 name beta", image(200)]
    scene.tid = 200
    trace = setup.make(scene.calls(95, MAIN, LOAD))
    for words in ((), (f"--base={setup.make(usual())}",)):
        answer = json.loads(setup.run("--format=speedscope", *words, trace).stdout)
        equal("shown", answer["profiles"][answer["activeProfileIndex"]]["name"].split(",")[0], "beta")


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
