"""`argus graph export` to Perfetto's own format, decoded here by the published field numbers alone, and read back by argus-import."""
import re
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/plugin")
from harness import Skip, expect, expect_equal, expect_in, freezes, main  # noqa: E402
from wire import message  # noqa: E402

# protos/perfetto/trace/trace_packet.proto
FTRACE, TREE, CLOCKS, TIME, EVENT, INTERNED, TRACK, SAMPLE = 1, 2, 6, 8, 11, 12, 60, 66
BEGIN, END, INSTANT = 1, 2, 3
EVIL = '\x1b]0;owned\x07"<b>\u202e'


def export(setup, trace, *words):
    path = setup.folder / "out.pftrace"
    done = setup.run("graph", "export", *words, trace, "-o", path)
    if "was built without libprotobuf-c" in done.stderr:
        raise Skip("built without libprotobuf-c")
    expect_equal("exit code", (done.returncode, done.stderr if done.returncode else ""), (0, ""))
    return [message(packet) for packet in message(path.read_bytes()).get(1, [])]


def text(fields, number):
    return fields.get(number, [b""])[0].decode("utf-8")


def events(packets):
    """(time, track, type, name, flows that begin, flows that end, arguments) of each track event."""
    for packet in packets:
        for data in packet.get(EVENT, []):
            event = message(data)
            arguments = {text(one, 10): text(one, 6) if 6 in one else one.get(3, [None])[0]
                         for one in map(message, event.get(4, []))}
            yield (packet[TIME][0], event[11][0], event[9][0], text(event, 23), event.get(47, []), event.get(48, []), arguments)


def slices(packets):
    """(begin, end, track, name, arguments), and a failure unless all slices are nested."""
    tracks = {}
    for time, track, kind, name, _, _, arguments in events(packets):
        if kind != INSTANT:
            tracks.setdefault(track, []).append((time, kind, name, arguments))
    for track, parts in tracks.items():
        open_slices = []
        for time, kind, name, arguments in sorted(parts, key=lambda part: part[0]):  # stable, as the trace processor sorts
            if kind == BEGIN:
                open_slices.append((time, name, arguments))
            else:
                expect(open_slices, f"track {track}: a slice ends at {time} that did not begin")
                begin, name, arguments = open_slices.pop()
                yield begin, time, track, name, arguments
        expect(not open_slices, f"track {track}: {open_slices} never ends")


def check_whole(packets):
    """What holds in each file: references lead somewhere, slices are nested, flows have two ends."""
    begun, ended, numbers = set(), set(), {}
    tracks = {message(data)[1][0] for packet in packets for data in packet.get(TRACK, [])}
    for _, track, _, _, starts, ends, _ in events(packets):
        expect(track in tracks, f"no descriptor of track {track}")
        begun |= set(starts)
        ended |= set(ends)
    expect_equal("flows with one end", begun ^ ended, set())
    for packet in packets:
        for data in packet.get(INTERNED, []):
            interned = message(data)
            for kind in (5, 6, 7, 17, 19):  # functions, frames, stacks, paths, mappings
                for entry in map(message, interned.get(kind, [])):
                    expect((kind, entry[1][0]) not in numbers, f"number {entry[1][0]} of kind {kind} is there twice")
                    numbers[kind, entry[1][0]] = entry
            for frame in map(message, interned.get(6, [])):
                expect((5, frame[2][0]) in numbers and (19, frame[3][0]) in numbers, "a frame without function or mapping")
            for stack in map(message, interned.get(7, [])):
                expect(all((6, number) in numbers for number in stack[2]), "a stack without a frame")
        for data in packet.get(SAMPLE, []):
            expect((7, message(data)[4][0]) in numbers, "a sample without a stack")
    return list(slices(packets))


def switches_of(setup, trace):
    """(cpu, thread, next thread, time within the trace) of each switch, as `argus dump` prints them."""
    lines = setup.run("dump", trace, code=0).stdout.splitlines()
    return [re.sub(r"^(\S+) (cpu\d+ \d+ switch state=\S+ next=\d+).*", r"\1 \2", line) for line in lines if " switch " in line]


def test_scheduling_is_that_of_the_records(setup):
    trace = setup.trace("freeze", freezes(3000))
    packets = export(setup, trace)
    got = []
    for packet in packets:
        for data in packet.get(FTRACE, []):
            bundle = message(data)
            for event in map(message, bundle.get(2, [])):
                for switch in map(message, event.get(4, [])):
                    got.append((bundle[1][0], switch[2][0], switch[6][0], text(switch, 1), text(switch, 5)))
    wanted = re.findall(r"cpu(\d+) (\d+) switch state=\S+ next=(\d+)", setup.run("dump", trace, code=0).stdout)
    expect_equal("switches", sorted(one[:3] for one in got), sorted(tuple(map(int, one)) for one in wanted))
    names = {0: "swapper", 100: "editor0", 101: "helper0", 102: "input0"}
    for _, tid, other, name, other_name in got:
        expect_equal("names", (name, other_name), (names[tid], names[other]))


def test_slices_and_diagnosis(setup):
    packets = export(setup, setup.trace("freeze", freezes(3000)))
    found = check_whole(packets)
    waits = [one for one in found if one[4].get("kind") == "read" and one[1] - one[0] > 2_900_000_000]
    expect(waits and waits[0][3].startswith("read fd 6"), f"no long wait: {waits}")
    expect(any(one[3] == "write, read" for one in found), "a segment is named by its system calls")
    expect(not any(re.fullmatch(r"v\d+", one[3]) for one in found), "a slice is called v1234")
    expect(any("editor0's main thread was frozen for 3.00 s because it waited for helper0" in one[3] for one in found), f"no slice of the hang: {[one for one in found if one[2] < 2000]}")
    expect(any("helper0 [101]" in one[3] and "LongRunning" in one[3] for one in found), "no slice of the root cause")
    short = export(setup, setup.folder / "freeze.argus", "--threshold=10s")
    expect(not any("frozen" in one[3] for one in slices(short)), "a hang below --threshold is shown")


def test_clock(setup):
    trace = setup.trace("clock", "wall 1700000000000000000\n" + freezes(3000))
    snapshot = next(message(data) for packet in export(setup, trace) for data in packet.get(CLOCKS, []))
    clocks = {clock[1][0]: clock[2][0] for clock in map(message, snapshot[1])}
    expect_equal("time of day", clocks[1] - clocks[6], 1700000000000000000)


def test_samples(setup):
    lines = freezes(3000) + "stack 7 0x400010 0x400020 0x400030\n"
    lines += 'image pid 101 start 0x400000 end 0x500000 path "/usr/bin/helper"\n'
    lines += "".join(f'name path "/usr/bin/helper" place {0x10 * (i + 1) - (i > 0)} function "{name}"\n'
                     for i, name in enumerate(("inner", "middle", "outer")))
    lines += "".join(f"{(500 + 10 * i) * 1_000_000} cpu1 t101 sample pc=0x400010 user=7\n" for i in range(20))
    packets = export(setup, setup.trace("samples", lines))
    check_whole(packets)
    samples = [message(data) for packet in packets for data in packet.get(SAMPLE, [])]
    expect_equal("samples", {(one[2][0], one[3][0]) for one in samples}, {(101, 101)})
    expect_equal("number of samples", len(samples), 20)
    interned = {}
    for packet in packets:
        for data in packet.get(INTERNED, []):
            for kind, entries in message(data).items():
                interned.update({(kind, message(entry)[1][0]): message(entry) for entry in entries})
    stack = interned[7, samples[0][4][0]]
    names = [text(interned[5, interned[6, number][2][0]], 2) for number in stack[2]]
    expect_equal("outermost function first", names, ["outer", "middle", "inner"])


def test_strange_names(setup):
    lines = freezes(3000).replace("name editor0", f'name "{EVIL.replace(chr(34), chr(39))}"')
    packets = export(setup, setup.trace("names", lines))
    check_whole(packets)
    expect(any(EVIL[-1].encode() in data for packet in packets for data in packet.get(TREE, [])), "the name is lost")


def test_fixtures(setup):
    for source in sorted((setup.source / "tests/graph/fixtures").glob("*.trace"))[::2]:
        try:
            check_whole(export(setup, setup.trace_of(source, setup.folder / f"{source.stem}.argus"), "--threshold=1ms"))
        except Exception as reason:
            raise type(reason)(f"{source.name}: {reason}") from reason


def test_read_back(setup):
    trace = setup.trace("freeze", freezes(3000))
    export(setup, trace)
    done = setup.run("dump", setup.folder / "out.pftrace", XDG_CACHE_HOME=str(setup.folder / "cache"))
    if done.returncode:
        expect_in("argus-import", done.stderr)
        raise Skip("argus-import is not built")
    wanted = re.findall(r"cpu\d+ \d+ switch state=\S+ next=\d+", setup.run("dump", trace, code=0).stdout)
    expect_equal("switches read back", sorted(re.findall(r"cpu\d+ \d+ switch state=\S+ next=\d+", done.stdout)), sorted(wanted))


def test_words(setup):
    trace = setup.trace("freeze", freezes(3000))
    done = setup.run("graph", "export", "--format=perfetto", trace)
    expect_equal("exit code", done.returncode, 2 if "built without" not in done.stderr else 1)
    done = setup.run("graph", "export", "--format=nothing", trace, code=2)
    expect_in("'nothing' is none of trace-events, perfetto, pprof, firefox, dot, jsonl, jsonl-gz, sqlite", done.stderr)
    setup.run("graph", "export", trace, "-o", setup.folder / "a.dot", code=0)
    expect((setup.folder / "a.dot").read_text().startswith("digraph"), "the suffix .dot chooses the format")
    setup.run("graph", "export", trace, "-o", setup.folder / "a.json", code=0)
    expect((setup.folder / "a.json").read_text().startswith('{"displayTimeUnit"'), "the suffix .json chooses the format")


if __name__ == "__main__":
    main()
