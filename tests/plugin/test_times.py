"""Times of day: local in texts, UTC in JSON; and a printed time is accepted as an option."""
import json
import re

from harness import expect, expect_equal, expect_in, freezes, main

# Names of zones need no tables of the system; the last one has summer time, but not at the time of the trace.
ZONES = {"UTC0": "+0000", "IST-5:30": "+0530", "EST5": "-0500", "CET-1CEST,M3.5.0,M10.5.0/3": "+0100"}
MOMENT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [+-]\d{4}"


def hang(setup, path, *words, **environment):
    return json.loads(setup.run("hangs", "--json", *words, path, code=0, **environment).stdout)["hangs"]


def told(setup, path, zone):
    """The beginning of the hang as `argus diagnose` prints it (with date) and as `argus hangs` prints it (without)."""
    story = setup.run("diagnose", "--auto", path, code=0, TZ=zone).stdout
    lines = setup.run("hangs", path, code=0, TZ=zone).stdout
    moment = re.search(rf"What happened, from ({MOMENT}) on", story)
    expect(moment is not None, story)
    return moment[1], re.search(r"^  1  (\S+)", lines, re.M)[1]


def test_local_in_text(setup):
    path = setup.trace("one", freezes(3000))
    for zone, distance in ZONES.items():
        moment, clock = told(setup, path, zone)
        expect_equal(f"distance of {zone} from UTC", moment[-5:], distance)
        expect_in(moment[11:23], clock)
        expect_in(distance, setup.run("info", path, code=0, TZ=zone).stdout)


def test_utc_in_json(setup):
    path = setup.trace("one", freezes(3000))
    times = {hang(setup, path, TZ=zone)[0]["time"] for zone in ZONES}
    expect_equal("different times", len(times), 1)
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", times.pop()), "no time in UTC")


def test_what_is_printed_is_understood(setup):
    path = setup.trace("one", freezes(3000))
    (first,) = hang(setup, path)
    utc = first["time"]
    for zone in ZONES:
        moment, clock = told(setup, path, zone)
        later = f"{moment[:17]}{int(moment[17:19]) + 1:02}{moment[19:]}"  # a second later, inside the hang
        for text in (later, later[:-6], later.replace(" ", "T", 1), later[:-2] + ":" + later[-2:], clock, clock[:8], utc,
                     utc.replace("T", " ").replace("Z", " +0000"), later[11:], clock[:5], f"{moment[:16]}{moment[-6:]}"):
            expect_equal(f"hangs at {text} in {zone}", hang(setup, path, f"--time={text}", TZ=zone), [first])


def test_the_last_digit_is_cut_off(setup):
    """The hang begins 789 ns after what is printed."""
    path = setup.trace("odd", "wall 1795446804000000789\n" + freezes(3000))
    (first,) = hang(setup, path)
    _, clock = told(setup, path, "UTC")
    for text in clock, clock[:-3], first["time"]:
        expect_equal(f"hangs at {text}", hang(setup, path, f"--time={text}", TZ="UTC"), [first])
    expect_equal("a threshold as durations are printed", hang(setup, path, "--threshold=2.50 s", TZ="UTC"), [first])


def test_all_of_a_minute_and_of_a_second(setup):
    """The trace begins at 15:13:24 and ends in the same minute. A second of it is a part."""
    path = setup.trace("late", "wall 1795446804000000000\n" + freezes(3000))

    def found(*words):
        return [v["id"] for v in json.loads(setup.run("graph", "find", "--json", *words, path, code=0, TZ="UTC").stdout)["vertices"]]

    everything = found()
    for option in "time", "from", "to":
        expect_equal(f"--{option} of a minute", found(f"--{option}=15:13"), everything)
    expect_equal("--time of a second", found("--time=15:13:24"), found("--to=+1s"))
    expect(0 < len(found("--time=15:13:24")) < len(everything), "not all of it is in the first second")
    expect_equal("--to of a second", found("--to=15:13:24"), found("--time=15:13:24"))


def test_outside_and_nonsense(setup):
    path = setup.trace("one", freezes(3000))
    for text in ("1960-01-01 00:00:00", "1999-01-01 00:00:00", "2100-01-01T00:00:00Z"):
        expect_in("outside the trace", setup.run("hangs", f"--time={text}", path, code=1).stderr)
    for text in ("noon", "25:00:00", "00:61:00", "00:61", "+1:20", "1:+2", "-1:20", " 1:20", "1:2:", "12:3x", "00:00:00 +1", "2026-11-23", "00:00:01 Zulu", "00:00:01Z5"):
        expect_in("is not a time such as", setup.run("hangs", f"--time={text}", path, code=2).stderr)


main()
