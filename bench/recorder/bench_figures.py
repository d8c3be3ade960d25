"""Computes the figures from the runs. A ratio is taken within a round and then the median of the rounds, because other load on
the machine changes from minute to minute, and affects all recorders of a round equally."""
import statistics

RATE = 3000000  # records a second that none may be lost of

# DESIGN section 9. To add a target: name, most that is allowed, function of `Figures` that returns the value or None.
TARGETS = [
    ("ns a record (syscall, argus-ring)", 50, lambda f: f.ns("syscall", "argus-ring")),
    ("… ÷ an empty program", 1.7, lambda f: f.ns("syscall", "argus-ring", "empty")),
    ("… ÷ perf", 0.3, lambda f: f.ns("syscall", "argus-ring", "perf")),
    ("ns a record (syscall, argus-stream) ÷ an empty program", 1.7, lambda f: f.ns("syscall", "argus-stream", "empty")),
    ("… ÷ perf", 0.3, lambda f: f.ns("syscall", "argus-stream", "perf")),
    ("slow-down of pipe, argus-stream ÷ perf", 0.5, lambda f: f.added("pipe", "argus-stream", "perf")),
    ("slow-down of messaging, argus-stream ÷ perf", 0.5, lambda f: f.added("messaging", "argus-stream", "perf")),
    ("added cpu in editor, argus-default ÷ perf", 0.5, lambda f: f.added("editor", "argus-default", "perf")),
    ("… ÷ argus-frame-pointers", 1.1, lambda f: f.added("editor", "argus-default", "argus-frame-pointers")),
    ("… ÷ perf with call graphs by DWARF", 0.1, lambda f: f.added("editor", "argus-default", "perf-dwarf")),
    ("lost in the window kept, at 3 M records/s or more", 0, lambda f: f.lost("argus-ring")),
    ("lost by a stream at 3 M records/s", 0, lambda f: f.lost("argus-stream at 3 M/s")),
    ("bytes a record, editor, argus-default", 5, lambda f: f.bytes("editor", "argus-default")),
]


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


class Figures:
    def __init__(self, loads, runs, losses):
        self.loads = {load.name: load for load in loads}
        self.runs = runs  # (load, recorder) → one result or None for each round
        self.losses = losses

    def rounds(self, load, recorder):
        return self.runs.get((load, recorder), [])

    def over_rounds(self, load, names, value):
        """The median of value(result, …) over the rounds in which all of `names` ran."""
        rounds = zip(*(self.rounds(load, name) for name in names))
        return median(value(*results) for results in rounds if all(results))

    def slower(self, load, recorder, clock):
        return self.over_rounds(load, (recorder, "nothing"), lambda a, b: a[clock] / b[clock])

    def added(self, load, recorder, peer):
        """What recording adds to the load's time, as a share of what the peer adds."""
        clock = self.loads[load].clock if load in self.loads else None
        return self.over_rounds(load, (recorder, peer, "nothing"), lambda a, b, alone: (
            (a[clock] - alone[clock]) / (b[clock] - alone[clock]) if b[clock] > alone[clock] else None))

    def records(self, load, result):
        return self.loads[load].records or result.get("kept", 0) + result.get("lost", 0)

    def ns(self, load, recorder, peer=None):
        """Cpu time of the load that recording adds, for each record; or as a multiple of what the peer adds."""
        def one(result, alone):
            records = self.records(load, result)
            return (result["cpu_ns"] - alone["cpu_ns"]) / records if records else None

        def ratio(result, other, alone):
            a, b = one(result, alone), one(other, alone)
            return a / b if a is not None and b and b > 0 else None

        if peer:
            return self.over_rounds(load, (recorder, peer, "nothing"), ratio)
        return self.over_rounds(load, (recorder, "nothing"), one)

    def bytes(self, load, recorder):
        return self.over_rounds(load, (recorder,), lambda r: r["bytes"] / r["kept"] if r.get("kept") and "bytes" in r else None)

    def total(self, load, recorder, key):
        return self.over_rounds(load, (recorder,), lambda r: r.get(key))

    def lost(self, name):
        """Records missing where none may be, said or not; None as well when the machine was too busy to make as many."""
        for row in self.losses:
            missing = row["missing_in_window"] if "missing_in_window" in row else row["lost"] + row["lost_unsaid"]
            if row["what"] == name and (missing or row["records_a_second"] >= RATE):
                return missing
        return None

    def rows(self):
        for load, recorder in self.runs:
            if any(self.rounds(load, recorder)):
                yield {
                    "load": load, "recorder": recorder, "rounds": sum(map(bool, self.rounds(load, recorder))),
                    "seconds": self.total(load, recorder, "wall_ns") / 1e9,
                    "cpu_seconds": self.total(load, recorder, "cpu_ns") / 1e9,
                    "slower": self.slower(load, recorder, self.loads[load].clock),
                    "slowdown_of_perf": None if recorder in ("nothing", "perf") else self.added(load, recorder, "perf"),
                    "ns_per_record": None if recorder == "nothing" else self.ns(load, recorder),
                    "kept": self.total(load, recorder, "kept"), "lost": self.total(load, recorder, "lost"),
                    "bytes_per_record": self.bytes(load, recorder),
                    "own_cpu_seconds": scaled(self.total(load, recorder, "own_cpu_ns"), 1e-9),
                }

    def targets(self):
        for name, most, value in TARGETS:
            measured = value(self)
            if measured is not None and measured < 0:
                measured = None  # what is below nothing was done by others on this machine
            yield {"target": name, "at_most": most, "measured": measured,
                   "met": None if measured is None else measured <= most}


def scaled(value, factor):
    return None if value is None else value * factor


COLUMNS = [  # key, heading, format
    ("load", "load", "{:<10}"), ("recorder", "recorder", "{:<14}"), ("seconds", "seconds", "{:>8.3f}"),
    ("cpu_seconds", "cpu", "{:>7.3f}"), ("slower", "slower", "x{:>6.2f}"), ("slowdown_of_perf", "of perf's", "{:>9.2f}"),
    ("ns_per_record", "ns/record", "{:>9.1f}"), ("kept", "records", "{:>10.0f}"), ("lost", "lost", "{:>9.0f}"),
    ("bytes_per_record", "bytes", "{:>6.2f}"), ("own_cpu_seconds", "own cpu", "{:>7.3f}"),
]


def cell(form, value):
    width = int(form.split(":")[1].strip("<>").split(".")[0].rstrip("}")) + form.startswith("x")
    return " " * width if value is None else form.format(value)


def heading(form, text):
    return text.ljust(len(cell(form, None))) if "<" in form else text.rjust(len(cell(form, None)))


def show(figures, refused):
    print(" ".join(heading(form, text) for _, text, form in COLUMNS))
    for row in figures.rows():
        print(" ".join(cell(form, row[key]) for key, _, form in COLUMNS).rstrip())
    print()
    for row in figures.losses:
        print(f"{row['what']}: " + ", ".join(f"{key.replace('_', ' ')} {value:,}" for key, value in row.items() if key != "what"))
    print(f"\n{'target':<58} {'at most':>8} {'measured':>9}")
    for row in figures.targets():
        verdict = "not measured" if row["met"] is None else "met" if row["met"] else "missed"
        value = "" if row["measured"] is None else f"{row['measured']:.2f}"
        print(f"{row['target']:<58} {row['at_most']:>8} {value:>9}  {verdict}")
    for what, reason in refused.items():
        print(f"left out: {what}: {reason}")
