"""Graphs that are kept between commands: used when valid, reported when not, and never a reason for a command to fail."""
import json
import os
import stat
import subprocess

from harness import Skip, expect, expect_equal, expect_in, freezes, main

RECORDS = 120000


def big_trace(setup):
    """A trace that is large enough for its graph to be kept, alone in a new folder, and its own cache."""
    program = setup.build / "bin/graph_bench"
    if not program.exists():
        raise Skip("graph_bench is not built")
    folder = setup.folder / f"cache-{len(list(setup.folder.iterdir()))}"
    folder.mkdir()
    trace = folder / "big.argus"
    subprocess.run([str(program), "generate", str(trace), str(RECORDS)], check=True, timeout=60)
    return trace, folder / "big.argus.graph"


def summary(setup, trace, *options, **environment):
    done = setup.run("graph", *options, trace, code=0, **environment)
    return done.stdout, done.stderr


def test_the_second_time_it_is_loaded(setup):
    trace, graph = big_trace(setup)
    first, _ = summary(setup, trace)
    expect_in("built in ", first)
    expect_in(f"kept as {graph}", first)
    expect_equal("mode", stat.S_IMODE(graph.stat().st_mode), 0o600)
    second, errors = summary(setup, trace)
    expect_in(f", from {graph}", second)
    expect_equal("remarks", errors, "")
    figures = [line for line in first.splitlines() if not line.startswith(("built in", " "))]
    expect(all(line in second.splitlines() for line in figures), f"the loaded graph differs:\n{first}{second}")


def test_answers_are_the_same(setup):
    trace, _ = big_trace(setup)
    summary(setup, trace)
    for words in (["graph", "show"], ["graph", "find"], ["graph", "check"], ["graph", "stats"], ["slice"], ["hangs"],
                  ["schema"], ["similar"]):
        vertex = ["v5000"] if words[-1] in ("show", "slice", "similar") else []
        options = ["--auto"] if words == ["slice"] else []
        kept = setup.run(*words, *options, "--json", trace, *vertex)
        built = setup.run(*words, *options, "--json", "--no-cache", trace, *vertex)
        expect_equal(f"argus {' '.join(words)}", kept.stdout, built.stdout)
        expect_equal(f"argus {' '.join(words)}", kept.returncode, built.returncode)
        expect(len(kept.stdout) > 10, "nothing was printed")


def test_no_cache_means_none(setup):
    trace, graph = big_trace(setup)
    text, _ = summary(setup, trace, "--no-cache")
    expect("kept" not in text and not graph.exists(), "a graph was kept")
    summary(setup, trace)
    text, _ = summary(setup, trace, "--no-cache")
    expect_in("built in ", text)
    expect_equal("loaded_from", json.loads(summary(setup, trace, "--no-cache", "--json")[0])["loaded_from"], None)
    expect_equal("loaded_from", json.loads(summary(setup, trace, "--json")[0])["loaded_from"], str(graph))


def test_small_traces_leave_nothing_behind(setup):
    trace = setup.trace("small", freezes(3000))
    text, _ = summary(setup, trace)
    expect("kept" not in text and not trace.with_name("small.argus.graph").exists(), "a graph was kept")


def flip_in_the_middle(data):
    at = len(data) // 2  # among the vertices
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def test_a_broken_graph_is_built_again(setup):
    trace, graph = big_trace(setup)
    summary(setup, trace)
    for damage in (lambda data: data[:-5000], flip_in_the_middle, lambda data: b"",
                   lambda data: b"ARGUSGRF" + bytes(8192)):
        graph.write_bytes(damage(graph.read_bytes()))
        text, errors = summary(setup, trace)
        expect_in("built in ", text)
        expect_equal("remarks", errors.count("the graph is built again"), 1)
        text, errors = summary(setup, trace)
        expect_in("loaded in ", text)
        expect_equal("remarks", errors, "")


def test_a_changed_trace_is_built_again(setup):
    trace, _ = big_trace(setup)
    summary(setup, trace)
    subprocess.run([str(setup.build / "bin/graph_bench"), "generate", str(trace), str(RECORDS + 1000)], check=True)
    text, errors = summary(setup, trace)
    expect_in("built in ", text)
    expect_in("the trace has changed", errors)


def test_where_it_cannot_be_written_the_cache_is_used(setup):
    trace, graph = big_trace(setup)
    graph.mkdir()  # a file that cannot be replaced; permissions do not restrict root
    cache = trace.parent / "cache"
    for attempt in ("built in ", "loaded in "):
        text, _ = summary(setup, trace, XDG_CACHE_HOME=str(cache))
        expect_in(attempt, text)
    expect_equal("kept graphs", len(list((cache / "argus").glob("big.argus-*.graph"))), 1)
    expect_equal("mode", stat.S_IMODE((cache / "argus").stat().st_mode), 0o700)


def test_without_any_place_it_works(setup):
    trace, graph = big_trace(setup)
    graph.mkdir()
    blocked = trace.parent / "file"
    blocked.write_text("")
    text, _ = summary(setup, trace, XDG_CACHE_HOME=str(blocked))
    expect_in("not kept: ", text)
    expect_equal("left behind", sorted(os.listdir(trace.parent)), ["big.argus", "big.argus.graph", "file"])


main()
