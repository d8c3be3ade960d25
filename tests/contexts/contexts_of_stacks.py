"""Stacks: inlined functions, stacks that were cut off, recursion, names, and libraries."""
from context_scene import LOAD, MADE, MAIN, PARSE, SAVE, Scene, equal, folded, names, paths, usual


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


def cut(scene, length_ms, *functions):
    """Like scene.calls(), for a stack without its outermost functions."""
    for _ in range(2):
        scene.at(scene.time, f"stack user={scene.stack(1, *functions)} why=call")  # 1: the mark of a copy that was too short
        scene.time += length_ms
    scene.time -= length_ms
    return scene


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


def test_a_cut_stack_below_a_scheduler_stays_there(setup):
    """Go's monitoring thread sleeps below runtime.mstart; not all of its stacks reach that."""
    scene = Scene().calls(2, MAIN, PARSE, LOAD)
    cut(scene, 3, PARSE, LOAD, SAVE)
    scene.lines += ["image pid 100 start 0x5000 end 0x6000 path /opt/alpha",
                    f"name path /opt/alpha place {hex(MAIN - 0x5000)} function runtime.mstart.abi0 source /go/runtime/asm.s line 3"]
    start = scene.time = scene.time + 1
    scene.at(start, "syscall_start nr=nanosleep")
    scene.at(start, "switch state=S next=0")
    scene.at(start, f"stack user={scene.stack(1, PARSE, LOAD, SAVE)} why=block")
    scene.at(start + 20, "make_runnable thread=100 context=hardirq", cpu=1, tid=0)
    scene.at(start + 20, "switch state=R next=100", tid=0)
    scene.at(start + 21, "syscall_end nr=nanosleep result=0")
    parts = setup.json(setup.make(scene))["programs"][0]["parts_ns"]
    equal("parts", (parts["scheduler"], parts["slept"]), (20_000_000, 0))


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


def test_code_made_at_run_time_without_names_is_one_function(setup):
    """In memory, or in a file that is only memory; what has a name is a function of its own."""
    for path, lack in (("//anon", ""), ("/memfd:code", "lack 5")):
        scene = Scene()
        scene.lines += [f"image pid 100 start 0x8000 end 0x9000 path {path}", "name pid 100 place 0x8010 function compiled"]
        if lack:
            scene.lines += [f"name pid 100 place {place:#x} {lack}" for place in (0x80ff, 0x81ff)]
        trace = setup.make(scene.calls(9, MAIN, 0x8100, 0x8200, 0x8011, 0x8100, PARSE))
        functions = setup.json(trace)["contexts"][0]["functions"]
        if path == "//anon":
            equal("names", [function["function"] for function in functions], [hex(MAIN), MADE, "compiled", MADE, hex(PARSE)])
        equal("made", {(function["function"], function["image"], function["layer"]) for function in functions[1:2]}, {(MADE, "[anon]", "unknown")})
        assert "addresses are in code made at run time" in setup.run(trace).stdout


def test_a_library_is_linked_and_a_plug_in_opened(setup):
    scene = Scene("layer_host")
    for number, path in enumerate((*setup.files, "/usr/bin/env", "/usr/lib/x86_64-linux-gnu/libz.so.1", "/gone/odd.so")):
        scene.lines.append(f"image pid 100 start {hex(0x10000 * (number + 1))} end {hex(0x10000 * (number + 2))} path {path}")
    scene.calls(3, *(0x10000 * (number + 1) + 0x100 for number in range(6)))
    layers = [function["layer"] for function in setup.json(setup.make(scene))["contexts"][0]["functions"]]
    equal("layers", layers, ["main", "library", "plug-in", "main", "library", "plug-in"])
