"""Many hangs of a fleet from few real ones: rows of the hang database, renamed. Also what the answers must be, in plain Python."""
import collections
import hashlib
import math
import random
import sqlite3

MACHINES, PROGRAMS, VERSIONS = 300, 7, ("1.0", "1.1", "2.0")


def multiply(path, count, seed=22):
    """Replaces the rows of the database at `path` by `count` rows made of them."""
    choose = random.Random(seed)
    with sqlite3.connect(path) as database:
        database.row_factory = sqlite3.Row
        real = [dict(row) for row in database.execute("SELECT * FROM hangs ORDER BY key")]
        spent = collections.defaultdict(list)
        for key, reason, ns in database.execute("SELECT key, reason, ns FROM shares ORDER BY key, reason"):
            spent[key].append((reason, ns))
        database.execute("DELETE FROM hangs")
        database.execute("DELETE FROM shares")
        for number in range(count):
            row, shares = one(dict(choose.choice(real)), spent, number, choose)
            database.execute(f"INSERT INTO hangs VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
            database.executemany("INSERT INTO shares VALUES (?, ?, ?)", [(row["key"], *share) for share in shares])


def one(row, spent, number, choose):
    shares = spent[row["key"]]
    program, machine = choose.randrange(PROGRAMS), choose.randrange(MACHINES)
    # machines were upgraded one after the other; one program has a hang that only the newest version has
    version = min(len(VERSIONS) - 1, int(number / 10000 * 3 + machine / MACHINES * .6))
    only_new = program == 3 and version < 2
    for column in "what", "parts", "program", "culprit_program", "path", "cause":
        text = row[column] and row[column].replace("editor", f"editor-{program}")
        row[column] = text.replace("portald", "helper") if text and only_new else text
    row["key"] = hashlib.sha256(str(number).encode()).hexdigest()[:16]
    row["signature"] = hashlib.sha256(row["parts"].encode()).hexdigest()[:16]
    # of some hangs, no package manager told the version
    row["machine"], row["version"] = f"desk-{machine}", None if choose.random() < .1 else VERSIONS[version]
    row["culprit_package"] = choose.choice([None, "portal", "libstore2"])
    row["wall_ns"] += number * 60 * 10**9
    day = 1 + number * 20 // 10000
    row["time"] = f"2026-11-{day:02d}T{number % 24:02d}:00:00.000000Z"
    factor = choose.randrange(1, 5)
    row["duration_ns"] *= factor
    return row, [(reason, ns * factor) for reason, ns in shares]


def answers(path):
    """What the queries of examples/fleet answer."""
    with sqlite3.connect(path) as database:
        database.row_factory = sqlite3.Row
        rows = [dict(row) for row in database.execute("SELECT * FROM hangs")]
        shares = database.execute("SELECT key, reason, ns FROM shares").fetchall()
    return {"top_signatures": grouped(rows, lambda row: row["signature"]),
            "culprit_packages": grouped(rows, lambda row: row["culprit_package"] or row["culprit_image"] or row["culprit_program"] or "unknown"),
            "time_by_reason": reasons(shares), "regressions": regressions(rows)}


def grouped(rows, key):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return {name: (len(group), len({row["machine"] for row in group}), sum(row["duration_ns"] for row in group)) for name, group in groups.items()}


def reasons(shares):
    sums, hangs = collections.Counter(), collections.defaultdict(set)
    for key, reason, ns in shares:
        sums[reason] += ns
        hangs[reason].add(key)
    return {reason: (ns, len(hangs[reason])) for reason, ns in sums.items()}


def fisher(with_before, before, with_after, after):
    """Exact, by integers."""
    all_, with_ = before + after, with_before + with_after
    ways = sum(math.comb(with_, k) * math.comb(all_ - with_, after - k) for k in range(with_after, min(with_, after) + 1) if with_ - k <= before)
    return ways / math.comb(all_, after)


def regressions(rows):
    """Hangs without a version are neither before nor after one."""
    first, rows = {}, [row for row in rows if row["version"] is not None]
    for row in rows:
        place = row["program"], row["version"]
        first[place] = min(first.get(place, row["wall_ns"]), row["wall_ns"])
    found = {}
    for program, version in first:
        older = {v for p, v in first if p == program and (first[p, v], v) < (first[program, version], version)}
        if not older:
            continue
        before = [row for row in rows if row["program"] == program and row["version"] in older]
        after = [row for row in rows if row["program"] == program and row["version"] == version]
        machines = [len({row["machine"] for row in part}) for part in (before, after)]
        for signature in {row["signature"] for row in after}:
            counts = [len({row["machine"] for row in part if row["signature"] == signature}) for part in (before, after)]
            found[signature, program, version] = (counts[0], machines[0], counts[1], machines[1],
                                                  fisher(counts[0], machines[0], counts[1], machines[1]))
    tests = len(found)
    return {key: (*value, min(1, value[4] * tests)) for key, value in found.items() if value[2] * value[1] > value[0] * value[3]}
