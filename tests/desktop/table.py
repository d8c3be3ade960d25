"""The table of results, as text for a terminal and for docs/cases.md."""

MARKS = ("<!-- table: begins -->", "<!-- table: ends -->")
HEAD = ("case", "toolkit", "mode", "frozen", "found", "rank", "culprit", "asked", "invented", "blamed")
SHORTEST_S = 2.1  # the shortest freeze that has to be found


def is_valid(result):
    return "failed" not in result and result["frozen_s"] >= SHORTEST_S


def yes(value):
    return "yes" if value else "no"


def cells(result):
    name = result["case"] + (f" ({result['paper']})" if result["paper"] else "")
    first = (name, result["toolkit"], result["mode"])
    if "failed" in result:
        return (*first, "-", "-", "-", "-", "-", "-", "not run: " + result["failed"])
    frozen = f"{result['frozen_s']:.1f} s"
    if not is_valid(result):
        return (*first, frozen, "-", "-", "-", "-", "-", "no freeze")
    blamed = result["blamed"] or result["note"]
    return (*first, frozen, yes(result["found"]), result["rank"] or "-", yes(result["culprit"]), result["questions"],
            len(result["invented"]), blamed)


def line(result):
    return "{:38} {:18} {:8} {:>7} {:>5} {:>4} {:>7} {:>5} {:>8}  {}".format(*map(str, cells(result)))


def sums(results):
    for mode in dict.fromkeys(result["mode"] for result in results):
        rows = [result for result in results if result["mode"] == mode and is_valid(result)]
        right = sum(result["culprit"] for result in rows)
        first = sum(result["rank"] == 1 for result in rows)
        found = sum(result["found"] for result in rows)
        asked = sum(result["questions"] for result in rows)
        invented = sum(len(result["invented"]) for result in rows)
        yield (f"{mode}: {len(rows)} freezes, {found} found, {first} first, {right} with the right culprit, {asked} questions,"
               f" {invented} invented hangs")


def table(results):
    head = "{:38} {:18} {:8} {:>7} {:>5} {:>4} {:>7} {:>5} {:>8}  {}".format(*HEAD)
    return "\n".join([head, *map(line, results), "", *sums(results)])


def markdown(results):
    """One row for each run."""
    head = ("case", "table 1", "toolkit", "mode", "frozen", "found", "rank", "culprit", "asked", "invented", "blamed")
    rows = [(result["case"], result["paper"], *cells(result)[1:]) for result in results]
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join([*lines, "", *(f"- {text}" for text in sums(results))])


def write(path, results):
    """Puts the table between the marks of a page."""
    before, _, rest = path.read_text(encoding="utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    path.write_text(f"{before}{MARKS[0]}\n\n{markdown(results)}\n\n{MARKS[1]}{after}", encoding="utf-8")


def ordinary(outcome):
    """What became of ordinary use, as lines."""
    yield (f"{outcome['minutes']:g} minutes of ordinary use, {outcome['actions']} actions ({outcome['late']} more did not end in time), {outcome['snapshots']} snapshots of a ring"
           f" ({outcome['wrapped']} had wrapped): {outcome['hangs']} hangs in snapshots, {outcome['files']} files of --on-hang,"
           f" {len(outcome['invented'])} of these invented")
    yield from (f"  invented: {text}" for text in outcome["invented"])
    yield from (f"  really away: {text}" for text in outcome["real"])
    if outcome["elsewhere"]:
        yield f"  {outcome['elsewhere']} hangs of other processes of this machine are not judged"
