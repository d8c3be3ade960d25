"""The features tested on each kernel: the scripts for the guest, and functions that judge the guest's traces outside, by the
same checks as in the tests.

To add a feature, add a function that judges it and a row in FEATURES. A row's script runs in the guest with these variables:
ARGUS, RESULTS (where files go that are fetched), DISK (a file system on a disk). A judge gets a Context, and raises
AssertionError with a sentence, or returns a short text for the table.
"""
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import types

SOURCE = pathlib.Path(__file__).resolve().parents[2]
for folder in ("tests/e2e", "tests/recorder", "tests/messages", "tests/toolkits", "tests/trace"):
    sys.path.append(str(SOURCE / folder))

MESSAGE_COUNT = 300
ATOMICS = 100
DISK_TRIES = 3
STEPPED = ("factorial", "plain_work", "jumping_work")  # recursion; calls into libraries and signals; longjmp()
# Without tracepoints inside the calls of sockets (Linux 6.3), where three threads send as fast as they can through one unix socket:
# the share of the bytes whose send is known.
LEAST_WITHOUT_POINTS = 0.1


@dataclasses.dataclass
class Context:
    build: pathlib.Path    # of the programs that ran in the guest
    argus: str             # runs here
    results: pathlib.Path

    def ask(self, *arguments):
        done = subprocess.run([self.argus, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode in (0, 4), f"argus {arguments[0]}: {done.stderr.strip() or done.stdout.strip()}"
        return done.stdout

    def trace(self, name):
        path = self.results / name
        assert path.exists(), f"no {name}: {self.said(name)}"
        return path

    def text(self, name):
        path = self.results / name
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def said(self, name):
        """What the command that should have made the file printed; its last line that says something."""
        lines = [line for line in self.text(name + ".err").splitlines() if line.strip()]
        return lines[-1] if lines else "the command said nothing"

    def info(self, name):
        return json.loads(self.ask("info", "--json", self.trace(name)))

    def check_backend(self, name):
        notes = self.info(name)["notes"]
        for note in notes:
            assert "recorded by perf_event" not in note, note
            assert "refused by this kernel" not in note, note

    def check_nothing_lost(self, name):
        lost = self.info(name)["lost"]
        assert lost == 0, f"{lost} records lost"


# --- judges ---

def judge_load(context):
    text = context.text("load.txt")
    assert text, "bpf_variants did not run"
    if "skipped:" in text:
        return text.split("skipped: ")[1].splitlines()[0]
    refused = [line for line in text.splitlines() if " refused " in line]
    assert not refused and "done: 0 refused" in text, refused[0] if refused else text.splitlines()[-1]
    return f"{text.count(' ok: ')} variants"


def judge_freeze(context):
    context.check_backend("freeze.argus")
    context.check_nothing_lost("freeze.argus")
    answer = json.loads(context.ask("diagnose", context.trace("freeze.argus"), "--process", "editor", "--auto", "--json"))
    culprits = [cause["process"] for cause in answer["root_causes"]]
    assert culprits[:1] == ["dict-server"], f"blamed {culprits}"
    path = [vertex["process"] for vertex in answer["path"]]
    assert "spell-server" in path, f"the path is {path}"
    return "dict-server"


def graph_of(context, name):
    import causes  # pylint: disable=import-outside-toplevel
    causes.ARGUS = context.argus
    facts = causes.facts_of(context.text(name.replace(".argus", ".facts")))
    return causes, causes.Graph(context.trace(name)), facts


def judge_scenes(context, name, pick):
    context.check_backend(name)
    context.check_nothing_lost(name)
    causes, graph, facts = graph_of(context, name)
    wrong = []
    for scene, expected in pick(causes).items():
        try:
            assert scene in facts, "it said nothing"
            causes.Causes().check(graph, facts, scene, expected)
        except (AssertionError, StopIteration) as error:
            wrong.append(f"{scene}: {' '.join(str(error).split())[:300]}")
    assert not wrong, "; ".join(wrong)
    return f"{len(pick(causes))} kinds"


def judge_waits(context):
    return judge_scenes(context, "waits.argus", lambda causes: causes.SCENES)


def judge_disk(context):
    """One of the recordings: an emulated disk may have the bytes before the thread that asks for them has gone to sleep."""
    for number in range(1, DISK_TRIES + 1):
        try:
            return judge_scenes(context, f"disk-{number}.argus", lambda causes: causes.DISK_SCENES)
        except AssertionError:
            if number == DISK_TRIES:
                raise
    return None


def judge_messages(context):
    import check_pairs  # pylint: disable=import-outside-toplevel
    known = []
    has_points = not any("sk_data_ready" in note for note in context.info("messages-unix_stream.argus")["notes"])
    for kind in check_pairs.KINDS:
        name = f"messages-{kind}.argus"
        context.check_backend(name)
        log = check_pairs.Log(str(context.results / f"messages-{kind}"))
        pairs = json.loads(context.ask("messages", context.trace(name), "--process", "exchange", "--pairs", "--json"))["pairs"]
        records = check_pairs.Records(context.argus, str(context.trace(name)), log)
        counts, size = check_pairs.compare(kind, log, pairs, records)
        assert not counts["exact wrong"], f"{kind}: {counts['exact wrong']} pairs are said to be exact and are wrong"
        exact, right = (sum(size[name] for name in names) / max(log.received_bytes(), 1)
                        for names in (["exact"], ["exact", "ambiguous"]))
        if has_points or not kind.startswith("unix"):
            assert exact >= 1 - check_pairs.EXCEPTIONS, f"{kind}: only {100 * exact:.0f} % of the bytes have an exact pair"
        assert right > LEAST_WITHOUT_POINTS, f"{kind}: only {100 * right:.0f} % of the bytes have a right pair"
        known.append((exact, kind))
    return f"exact {100 * min(known)[0]:.0f} % ({min(known)[1]})" if min(known)[0] < 0.995 else "exact"


def judge_unwind(context):
    import unwind  # pylint: disable=import-outside-toplevel
    unwind.live.ARGUS = context.argus
    unwind.live.argus = lambda *arguments: types.SimpleNamespace(returncode=0, stdout=context.ask(*arguments), stderr="")
    for name, chain in {
            "unwind-chain.argus": ["target_wait", "target_middle", "target_outer", "case_chain", "main"],
            "unwind-signal.argus": ["target_wait", "target_middle", "target_outer", "handle"],
            "unwind-library.argus": ["target_wait", "callback", "library_inner", "library_outer", "case_library", "main"]}.items():
        context.check_backend(name)
        stacks = unwind.wait_stacks(context.trace(name), "--process", "unwind_target")
        assert any(unwind.is_chain(stack, chain) for stack in stacks), f"{name}: no stack has {chain}: {stacks[:2]}"
    return "whole"


def judge_stacks(context):
    text = context.text("stacks.txt")
    code = context.text("stacks.code").strip()
    assert code == "0", (text.splitlines() or ["did not run"])[-1]
    return "agree"


def judge_probes(context):
    context.check_backend("probes.argus")
    graph = json.loads(context.ask("graph", "find", context.trace("probes.argus"), "--process", "own-loop", "--json"))
    labels = set()
    for vertex in graph["vertices"]:
        shown = json.loads(context.ask("graph", "show", context.trace("probes.argus"), vertex["id"], "--json"))
        labels |= {callback["probe"] for callback in shown["callbacks"]}
    missing = {"own task", "own event", "own read"} - labels
    assert not missing, f"no record of {sorted(missing)}, only of {sorted(labels)}"
    return f"{len(labels)} kinds"


def judge_ring(context):
    for name in ("snapshot.argus", "stop.argus"):
        context.check_backend(name)
        vertices = json.loads(context.ask("graph", "find", context.trace(name), "--process", "unwind_target", "--json"))["vertices"]
        assert vertices, f"{name} has nothing of the program that ran before it"
    status = json.loads(context.text("status.json"))
    assert status["backend"] == "bpf", status["backend"]
    return "kept"


def judge_hang(context):
    files = sorted(context.results.glob("hangs/hang-*.argus"))
    assert files, f"no file was kept: {context.said('hangs')}"
    hangs = json.loads(context.ask("hangs", files[0], "--json"))
    named = [hang["process"] for hang in hangs["hangs"]]
    assert "editor" in named, f"the file has hangs of {named}"
    return "editor"


def judge_flags(context):
    listed = json.loads(context.text("flags.json") or '{"flags": []}')["flags"]
    assert listed, context.said("flags.argus")
    assert listed[0]["hits"] == 600, f"{listed[0]['hits']} of 600 hits"
    values = [record["args"][1] for record in flag_writes(context, "flags.argus")]
    assert len(values) == 600, f"{len(values)} of 600 writes are recorded"
    wrong = set(values) - {thread << 32 | i for thread in (1, 2) for i in range(1, 301)}
    assert not wrong, f"values that nobody wrote: {sorted(wrong)[:5]}"
    return "600 of 600"


def flag_writes(context, name):
    lines = context.ask("dump", "--json", context.trace(name)).splitlines()
    return [json.loads(line) for line in lines if '"flag_write"' in line]


def judge_atomics(context):
    """The counter of new instructions is followed; the watch of the other one, with which the program cannot go on, is ended."""
    said = context.text("atomics.txt").split("\n")
    assert f"done {ATOMICS} {ATOMICS}" in said, f"the program says {said}, the watches: {context.said('atomics.argus')}"
    values = [record["args"][1] for record in flag_writes(context, "atomics.argus")]
    expected = list(range(1, ATOMICS + 1))
    notes = [note for note in context.info("atomics.argus")["notes"] if "store-exclusive" in note]
    assert values in (expected, expected + expected), f"values {values[:5]} … {values[-5:]}, {len(values)} of them"
    assert bool(notes) == (values == expected), f"notes: {notes}"
    return "watch ended" if notes else "followed"


def judge_steps(context):
    text = context.text("steps.txt")
    assert (context.results / "out.steps").exists(), context.said("steps.txt")
    counted = re.search(r"(\d+) (?:instructions|steps)", text)
    assert counted and int(counted[1]) > 100, f"it says: {text.strip()[:200]}"
    for function in STEPPED:
        said = context.text(f"steps-{function}.txt")
        assert '"end": "return"' in said, f"{function}: {said.strip()[-300:]} {context.said(f'steps-{function}.txt')}"
    return f"{counted[1]} steps"


def judge_hooks(context):
    context.check_backend("hooks.argus")
    notes = [line for line in context.ask("dump", "--json", context.trace("hooks.argus")).splitlines() if '"hook"' in line]
    assert len(notes) >= 10, f"{len(notes)} records of hooks"
    return f"{len(notes)} hits"


def judge_fallback(context):
    notes = context.info("perf.argus")["notes"]
    assert any("perf_event" in note for note in notes) or context.info("perf.argus")["records"] > 0, "nothing recorded"
    answer = json.loads(context.ask("diagnose", context.trace("perf.argus"), "--process", "editor", "--auto", "--json"))
    culprits = [cause["process"] for cause in answer["root_causes"]]
    assert culprits[:1] == ["dict-server"], f"blamed {culprits}"
    return "dict-server"


def judge_groups(context):
    """A control group of version 2 that has used up its quota of CPU time."""
    context.check_backend("quota.argus")
    answer = json.loads(context.ask("diagnose", context.trace("quota.argus"), "--process", "ash", "--auto", "--json"))
    whys = [cause["why"] for cause in answer["root_causes"]]
    assert "its control group slow (20.0 ms of cpu in each 1.00 s) had used up its cpu quota" in " ".join(whys[:1]), whys or answer["summary"]
    return "quota"


def judge_lockdown(context):
    context.check_backend("integrity.argus")
    if not context.text("integrity.txt").strip():
        return "no lockdown here"
    said = context.text("confidentiality.argus.err")
    assert "locked down" in said, f"it says: {said.strip()[:200]}"
    return "perf" if context.text("confidentiality.code").strip() == "0" else "refused"


# --- what the guest runs ---

@dataclasses.dataclass(frozen=True)
class Feature:
    name: str
    judge: object
    script: str
    programs: tuple = ()   # below the build folder
    needs: tuple = ("bpf",)  # which kernels: "bpf" or "perf" (see kernels.py)
    architectures: tuple = ("amd64", "arm64")
    when_named: bool = False  # is a part of another feature, for who has less time


FREEZE_PROGRAMS = tuple(f"examples/frozen-editor/{name}" for name in
                        ("frozen-editor", "editor", "dict-server", "spell-server", "bystander"))

FEATURES = [
    Feature("load", judge_load, "$BUILD/bin/bpf_variants > $RESULTS/load.txt 2>&1", ("bin/bpf_variants",), ("bpf", "perf")),
    Feature("load-few", judge_load, "$BUILD/bin/bpf_variants default of-user frame-pointers unwind-64k on-hang > $RESULTS/load.txt 2>&1",
            ("bin/bpf_variants",), ("bpf", "perf"), when_named=True),
    Feature("freeze", judge_freeze,
            "$ARGUS record -o $RESULTS/freeze.argus -- $BUILD/examples/frozen-editor/frozen-editor 2> $RESULTS/freeze.argus.err",
            FREEZE_PROGRAMS),
    Feature("waits", judge_waits,
            "cd $DISK; $ARGUS record -o $RESULTS/waits.argus -- $BUILD/tests/recorder/bin/causes $SCENES > $RESULTS/waits.facts "
            "2> $RESULTS/waits.argus.err", ("tests/recorder/bin/causes",)),
    Feature("disk", judge_disk,
            f"cd $DISK; for i in $(seq {DISK_TRIES}); do $ARGUS record -o $RESULTS/disk-$i.argus -- "
            "$BUILD/tests/recorder/bin/causes fault direct > $RESULTS/disk-$i.facts 2> $RESULTS/disk-$i.argus.err; done",
            ("tests/recorder/bin/causes",)),
    Feature("messages", judge_messages,
            "cd /tmp; for kind in $KINDS; do $ARGUS record -o $RESULTS/messages-$kind.argus --no-stacks --rate 0 -- "
            f"$BUILD/bin/exchange $kind $RESULTS/messages-$kind {MESSAGE_COUNT} 2> $RESULTS/messages-$kind.argus.err; done",
            ("bin/exchange",)),
    Feature("unwind", judge_unwind,
            "for case in chain signal library; do $ARGUS record -o $RESULTS/unwind-$case.argus --no-probes --unwind unwind_target "
            "-- $BUILD/bin/unwind_target $case > /dev/null 2> $RESULTS/unwind-$case.argus.err; done",
            ("bin/unwind_target",)),
    Feature("stacks", judge_stacks,
            "$BUILD/bin/stacks_agree $BUILD/tests/recorder/stacks_agree.bpf.o > $RESULTS/stacks.txt 2>&1; echo $? > $RESULTS/stacks.code",
            ("bin/stacks_agree", "tests/recorder/stacks_agree.bpf.o"), architectures=("amd64",)),
    Feature("probes", judge_probes,
            "$ARGUS record -o $RESULTS/probes.argus --probes /own.conf -- $BUILD/tests/toolkits/own-loop "
            "> /dev/null 2> $RESULTS/probes.argus.err", ("tests/toolkits/own-loop",)),
    Feature("ring", judge_ring,
            "$ARGUS start --ring-size 64M > /dev/null 2> $RESULTS/snapshot.argus.err\n"
            "$BUILD/bin/unwind_target chain > /dev/null\n"
            "$ARGUS status --json > $RESULTS/status.json\n"
            "$ARGUS snapshot -o $RESULTS/snapshot.argus > /dev/null 2>> $RESULTS/snapshot.argus.err\n"
            "$ARGUS stop -o $RESULTS/stop.argus > /dev/null 2> $RESULTS/stop.argus.err", ("bin/unwind_target",)),
    Feature("on-hang", judge_hang,
            "mkdir $RESULTS/hangs\n"
            "$ARGUS start --on-hang 1s -o $RESULTS/hangs --ring-size 64M > $RESULTS/hangs.txt 2> $RESULTS/hangs.err\n"
            "$BUILD/examples/frozen-editor/frozen-editor > /dev/null\nsleep 3\n$ARGUS stop > /dev/null 2>> $RESULTS/hangs.err",
            FREEZE_PROGRAMS),
    Feature("flags", judge_flags,
            "mkfifo /tmp/go; $BUILD/bin/flag_target 300 < /tmp/go > /tmp/pid & exec 5> /tmp/go; sleep 2\n"
            "$ARGUS start -o $RESULTS/flags.argus --no-probes > /dev/null 2> $RESULTS/flags.argus.err\n"
            "$ARGUS watchflag $(head -n 1 /tmp/pid) flag_target written_flag --access w >> $RESULTS/flags.argus.err 2>&1\n"
            "echo >&5; sleep 3; $ARGUS watchflag list --json > $RESULTS/flags.json; $ARGUS stop > /dev/null 2>> $RESULTS/flags.argus.err\n"
            "exec 5>&-", ("bin/flag_target",)),
    Feature("atomics", judge_atomics,
            f"mkfifo /tmp/add; $BUILD/bin/flag_atomics {ATOMICS} < /tmp/add > $RESULTS/atomics.txt & exec 6> /tmp/add; sleep 2\n"
            "$ARGUS start -o $RESULTS/atomics.argus --no-probes > /dev/null 2> $RESULTS/atomics.argus.err\n"
            "for name in new_count old_count; do $ARGUS watchflag $(head -n 1 $RESULTS/atomics.txt) flag_atomics $name --access w "
            ">> $RESULTS/atomics.argus.err 2>&1; done\n"
            "echo >&6; sleep 5; $ARGUS watchflag list --json > $RESULTS/atomics.json\n"
            "$ARGUS stop > /dev/null 2>> $RESULTS/atomics.argus.err; exec 6>&-", ("bin/flag_atomics",)),
    Feature("hooks", judge_hooks,
            "case $(uname -m) in aarch64) place='victim_loop+4 key=x0';; *) place='victim_loop+2 key=rdi';; esac\n"
            "echo \"libargus-victims.so note $place label=round\" > /tmp/hooks.conf\n"
            "$BUILD/bin/argus-hook make /tmp/hooks.conf -o /tmp/hooks.so --image $BUILD/tests/hooks/libargus-victims.so "
            "> $RESULTS/hooks.argus.err 2>&1\n"
            "$ARGUS record -o $RESULTS/hooks.argus --hooks /tmp/hooks.so -- $BUILD/tests/hooks/hooked once > /dev/null "
            "2>> $RESULTS/hooks.argus.err",
            ("bin/argus-hook", "tests/hooks/hooked", "tests/hooks/libargus-victims.so", "lib/libargus-hook.so.0")),
    Feature("steps", judge_steps,
            "$BUILD/examples/frozen-editor/bystander > /dev/null 2>&1 & target=$!; sleep 1\n"
            "$ARGUS step --process $target --thread $target --max 2000 -o $RESULTS/out.steps > $RESULTS/steps.txt 2> $RESULTS/steps.txt.err\n"
            "kill $target\n"
            f"for function in {' '.join(STEPPED)}; do $ARGUS step --json -o $RESULTS/$function.steps --function $function -- "
            "$BUILD/tests/steps/step-odd-dynamic rounds > $RESULTS/steps-$function.txt 2> $RESULTS/steps-$function.txt.err; done",
            (*FREEZE_PROGRAMS, "tests/steps/step-odd-dynamic")),
    Feature("fallback", judge_fallback,
            "$ARGUS record --backend perf -o $RESULTS/perf.argus -- $BUILD/examples/frozen-editor/frozen-editor "
            "2> $RESULTS/perf.argus.err", FREEZE_PROGRAMS, ("bpf", "perf")),
    Feature("groups", judge_groups,
            "cd /sys/fs/cgroup; echo +cpu > cgroup.subtree_control; mkdir slow; echo '20000 1000000' > slow/cpu.max\n"
            "$ARGUS record -o $RESULTS/quota.argus -- ash -c 'echo $$ > slow/cgroup.procs; until [ -e /tmp/over ]; do :; done' "
            "2> $RESULTS/quota.argus.err &\n"
            "until grep -q . slow/cgroup.procs; do sleep 1; done; sleep 10; touch /tmp/over; wait"),
    # Last: a lockdown cannot be taken back.
    Feature("lockdown", judge_lockdown,
            "echo integrity > /sys/kernel/security/lockdown; cat /sys/kernel/security/lockdown > $RESULTS/integrity.txt\n"
            "$ARGUS record -o $RESULTS/integrity.argus -- true 2> $RESULTS/integrity.argus.err\n"
            "echo confidentiality > /sys/kernel/security/lockdown\n"
            "$ARGUS record -o $RESULTS/confidentiality.argus -- true 2> $RESULTS/confidentiality.argus.err\n"
            "echo $? > $RESULTS/confidentiality.code"),
]


def choose(names):
    unknown = [name for name in names if all(feature.name != name for feature in FEATURES)]
    assert not unknown, f"no feature '{unknown[0]}': there are {', '.join(f.name for f in FEATURES)}"
    return [feature for feature in FEATURES if feature.name in names or (not names and not feature.when_named)]


def scenes():
    import causes  # pylint: disable=import-outside-toplevel
    import check_pairs  # pylint: disable=import-outside-toplevel
    return " ".join(causes.SCENES), " ".join(check_pairs.KINDS)


def own_table(program):
    """The table of probes of tests/toolkits/test_own_loop.py, for `program`."""
    text = (SOURCE / "tests/toolkits/test_own_loop.py").read_text(encoding="utf-8")
    table = text.split('TABLE = """')[1].split('"""')[0]
    return table.format(p=program)
