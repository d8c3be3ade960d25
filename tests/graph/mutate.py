#!/usr/bin/env python3
"""Breaks each rule of the graph, one at a time, and checks that a test notices.

    mutate.py BUILD MKTRACE SCRATCH [--all [--sample N]] [--only TEXT] [--verbose]

A mutant is the library's source with one small change, compiled and linked as raw_graph is (so nothing in the product knows
about it). It is *killed* if the graph of any fixture or random trace differs from that of the unchanged library. golden.py and
property.py test that those graphs are right. A mutant that survives is a rule, or a part of one, that no test needs: add a
fixture.

Mutants come from three places:

  the tables   each row of wake_rules.def and signs[] is left out, has its strength flipped, and changes places with the next
  RULES        by hand: one wrong version of each other rule; a rule without one gets the name of another rule instead
  --all        in addition: each condition in rules/*.c negated, each && made ||, each comparison off by one … (takes minutes)

To add a mutant: a row of RULES. Its text must be in the file exactly once; otherwise the test reports it.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GRAPH = HERE.parents[1] / "libargus" / "graph"
EVENT = GRAPH.parent / "event"
sys.path.insert(0, str(HERE / "second"))

import random_trace  # noqa: E402

RANDOM_TRACES = 150

# rule: file, text, replacement
RULES = [
    ("BOUNDARY_WAIT", "build/on_switch.c", "thread_block(builder, thread, os_state);", "thread_preempt(builder, thread);"),
    ("BOUNDARY_WAIT", "build/on_syscall.c", "if (!continues || !(row->flags & SYSCALL_RESTART))", "if (true)"),
    ("BOUNDARY_WAIT", "build/on_syscall.c", "== ERESTART_RESTARTBLOCK &&", ">= 0 &&"),
    ("BOUNDARY_WAIT", "build/on_syscall.c", "        memcpy(ret->arg, state->restart.arg, sizeof(state->restart.arg));\n", "        (void)0;\n"),
    ("BOUNDARY_FORK", "build/on_life.c", "builder->now_ns, ARGUS_VERTEX_FORKED)", "builder->now_ns, 0)"),
    ("BOUNDARY_EXIT", "build/on_switch.c", "os_state & ARGUS_LINUX_STATE_DEAD", "false"),
    ("BOUNDARY_FIRST", "build/activity.c", "builder->now_ns, ARGUS_VERTEX_FIRST)", "builder->now_ns, 0)"),
    ("BOUNDARY_LAST", "build/finish.c", "vertex_end(builder, thread, end_ns, ARGUS_VERTEX_LAST);",
     "vertex_end(builder, thread, end_ns, 0);"),
    ("BOUNDARY_INTERRUPT", "build/activity.c", "if (!cpu_interrupted(&builder->cpus.data[state->cpu]))", "if (true)"),
    ("BOUNDARY_CALLBACK", "build/on_callback.c", "if (is_open(open) && !is_unit)", "if (false)"),
    ("BOUNDARY_CALLBACK", "build/on_callback.c", "if (polled && !state->open.has_turns)", "if (false)"),
    ("BOUNDARY_LOOP", "build/on_callback.c", "if (cuts && vertex_cut(", "if (false && vertex_cut("),
    ("BOUNDARY_WORK", "build/vertex.c", "if (is_fresh(builder, state, cause))", "if (true)"),
    ("BOUNDARY_WORK", "build/vertex.c", "if (is_fresh(builder, state, cause))", "if (false)"),
    ("TIMER", "rules/timer.c", ".self_timed = timer->owner == wakeup->wakee && ", ".self_timed = "),
    ("TIMER", "build/on_interrupt.c", "    if (is_rearmed(cpu, record->arg[0]))\n        return;\n", ""),
    ("TIMER", "build/on_interrupt.c", "timer->owner = timer->slot = ARGUS_NONE;\n        return;", "return;"),
    ("BLOCK", "rules/wakeups.c", "return by_thread ? ARGUS_CONTEXT_HARDIRQ : context;", "return context;"),
    ("BLOCK", "build/on_switch.c", "    graph_block_defer(builder, cpu, wakee);\n", ""),
    ("BLOCK", "build/on_switch.c", "    graph_block_defer(builder, cpu, cpu->thread);\n", ""),
    ("BLOCK", "build/on_interrupt.c", "    graph_block_allow_record(cpu);\n    if", "    if"),
    ("BLOCK", "build/on_block.c", "is_stacked(cpu, request) ? cpu->completion.issuer : request->issuer", "request->issuer"),
    ("BLOCK", "rules/block.c", "ret->by_device = true;", "ret->by_device = false;"),
    ("SIGNAL_SENT", "build/build.c", " || id == TRACEPOINT_timer_armed", ""),
    ("DISPATCH_QUEUED", "rules/callback.c", "if (queued && queued->waits)", "if (queued)"),
    ("DISPATCH_QUEUED", "rules/callback.c", "if (queued && queued->waits)", "if (false)"),
    ("DISPATCH_READ", "rules/callback.c", "if (read && read->waiting)", "if (false)"),
    ("DISPATCH_READ", "rules/callback.c", "        read->waiting--;\n", ""),
    ("DISPATCH_READ", "rules/callback.c", "    if (read->by.slot != slot)\n        read->waiting = 0;\n", ""),
    ("DISPATCH_READY", "build/on_callback.c", "if (!(follows && state->open.has_turns && known))", "if (true)"),
    ("WORK", "build/on_work.c", "        queuer->thread = queuer->slot = ARGUS_NONE; /* a queuing causes one execution */\n", ""),
    ("SIGNAL_SENT", "build/on_signal.c", "cause->edge.kind = ARGUS_EDGE_SIGNAL;", "cause->edge.kind = ARGUS_EDGE_WAKE;"),
    ("SIGNAL_SENT", "build/on_signal.c", "cause->edge.strong = true;", "(void)0;"),
    ("SIGNAL_SENT", "build/on_signal.c", "threads.data[thread].process != process)", "threads.data[thread].process == UINT32_MAX)"),
    ("SIGNAL_TAKEN", "build/on_signal.c", "if (signal->woke || signal->sender.thread == thread)", "if (signal->woke)"),
    ("SIGNAL_TAKEN", "build/on_signal.c", "if (signal->woke || signal->sender.thread == thread)",
     "if (signal->sender.thread == thread)"),
    ("MESSAGE", "rules/message_edge.c", ".strong = pair->exact,", ".strong = true,"),
    ("MESSAGE", "rules/message_edge.c", ".strong = pair->exact,", ".strong = false,"),
    ("FLAG", "rules/flag.c", "comes_before(write, read) && write->value == read->value", "comes_before(write, read)"),
    ("FLAG", "rules/flag.c", "comes_before(write, read) && write->value == read->value", "write->value == read->value"),
    ("FLAG", "rules/flag.c", "sees_first(builder, flag, read->by.thread, write) && ", ""),
    ("FLAG", "rules/flag.c", " || overtaken)", ")"),
    ("FLAG", "rules/flag.c", "before != write->value && ", ""),
    ("FLAG", "rules/flag.c", "<= FLAG_MOST_OVERTAKEN_NS", ">= 0"),
    ("VOUCHER", "rules/voucher.c", "cause.edge.strong = false;", "(void)0;"),
    ("VOUCHER", "rules/voucher.c", "voucher->known && voucher->last.thread != thread;", "voucher->known;"),
    ("VOUCHER", "rules/voucher.c", "record->arg[3] == ARGUS_VOUCHER_ADOPTED && other", "other"),
    ("SPLIT_PEERS", "rules/split.c", "point->behalf != ARGUS_NONE ? point->behalf : acts_for;", "acts_for;"),
    ("SPLIT_PEERS", "rules/split.c", "is_disjoint(state->set, facts->set) || facts->other_request", "is_disjoint(state->set, facts->set)"),
    ("MESSAGE", "event/darwin/darwin_guesses.c", "!thread->inbox[index].answers", "false"),
    ("MESSAGE", "event/darwin/darwin_guesses.c", "remote_port(sender) != NO_PORT && !answers", "remote_port(sender) != NO_PORT"),
    ("MESSAGE", "event/darwin/darwin_guesses.c", "receiver = oldest_asker(darwin, thread);", "receiver = IDMAP_NONE;"),
    ("MESSAGE", "event/darwin/darwin_guesses.c", "bool answers = remote_type(thread) == MOVE_SEND_ONCE;", "bool answers = false;"),
    ("MESSAGE", "event/darwin/darwin_vouchers.c", "return origin == IDMAP_NONE ? 0 : origin;\n}\n\nvoid darwin_on_voucher_set",
     "return 0;\n}\n\nvoid darwin_on_voucher_set"),
    ("WORK", "event/darwin/darwin_patch.c", "!cpu->interrupts && cpu->tid", "cpu->tid"),
    ("WAKE_CLEAR_WAIT", "event/darwin/darwin_sched.c", "(wake == DARWIN_WAKE_UNKNOWN && result == THREAD_INTERRUPTED)",
     "result == THREAD_INTERRUPTED"),
    ("CULL_HOUSEKEEPING", "rules/cull.c", "if (wakeup->wake_flags & ARGUS_WAKE_MAINTENANCE)\n        return true;\n", ""),
    ("BOUNDARY_WAIT", "build/path_lookup.c", "wait->syscall == state->syscall && ", "false && "),
    ("FORK", "rules/fork.c", ".strong = true,", ".strong = false,"),
    ("SEQUENCE", "rules/sequence.c", ".strong = continues,", ".strong = true,"),
    ("SEQUENCE_CALLBACK", "rules/sequence.c", ".strong = continues,", ".strong = false,"),
    ("SEQUENCE_CALLBACK", "build/on_callback.c", "is_open(&state->open) || in_turn ?", "is_open(&state->open) ?"),
    ("BOUNDARY_FIRST", "build/on_waiting.c", " || thread_at(builder, thread)->activity != THREAD_UNSEEN", ""),
    ("BOUNDARY_FIRST", "build/on_waiting.c", "    builder->now_ns = builder->graph->start_ns;\n", ""),
    ("BOUNDARY_FIRST", "build/on_waiting.c", "        note_object(builder, cpu, thread);\n", "        (void)note_object;\n"),
    ("CULL_TIMER", "rules/cull.c", "ret->by_timer = ret->self_timed = true;", "ret->by_timer = true;"),
    ("CULL_HOUSEKEEPING", "event/machine.c", "return machine->processes.data[at->process].kernel && at->name &&",
     "return at->name &&"),
    ("CULL_DEVICE", "rules/cull.c", "    ret->by_device = true;\n", ""),
    ("MERGE_REWAIT", "rules/rewait.c", "state->acted || ", ""),
    ("MERGE_REWAIT", "rules/rewait.c", "state->ops.length ||", "false ||"),
    ("MERGE_REWAIT", "rules/rewait.c", "vertex->run_ns >= REWAIT_RUN_NS", "false"),
    ("MERGE_MESSAGE", "rules/message_edge.c", "if (message && wake)", "if (false)"),
    ("MERGE_MESSAGE", "rules/message_edge.c", "wake->strong |= edge.strong;", "(void)0;"),
    ("MERGE_YIELD", "rules/yield.c", "(vertex->flags & VERTEX_SELF_TIMED) && ", ""),
    ("MERGE_YIELD", "rules/yield.c", "vertex->run_ns / vertex->repeat <= YIELD_RUN_NS", "true"),
    ("MERGE_YIELD", "rules/yield.c", "meant_wait_ns(&vertex->wait, vertex->end_ns) <= YIELD_WAIT_NS", "true"),
    ("MERGE_YIELD", "build/wait.c", "        rule_yield_told(builder, thread);\n", ""),
    ("MERGE_YIELD", "rules/yield.c", "wait->timeout_ns < wait_ns && ", "false && "),
    ("MERGE_YIELD", "rules/yield.c", " && wait_ns <= LATE_NS", ""),
    ("MERGE_YIELD", "rules/yield.c", "a->wait.object == b->wait.object && ", ""),
]

# Changes of the tables that have no effect, and why.
EQUAL = {
    "CULL_DEVICE: tried after WAKE_SIGNAL",  # one needs an interrupt, the other excludes it
    "WAKE_SIGNAL: tried after WAKE_EXIT",    # a thread dies outside of kill(), on its way back to user mode
    "WAKE_CONDITION: the sign {inherits, false}, asked after the next one",  # both mean unlock
    "WAKE_CONDITION: the sign {wakes_many, true}, asked after the next one",  # both mean condition
}


class Mutant:
    def __init__(self, rule, what, edits):
        self.rule, self.what, self.edits = rule, what, edits  # edits: {file: whole new text}

    def __str__(self):
        return f"{self.rule}: {self.what}"


class Sources:
    def __init__(self):
        self.missing = []
        self.texts = {str(path.relative_to(GRAPH)): path.read_text() for path in sorted(GRAPH.rglob("*.c"))}
        events = [EVENT / "machine.c", *sorted((EVENT / "darwin").glob("*.c"))]
        self.texts |= {f"event/{path.relative_to(EVENT)}": path.read_text() for path in events}

    def edit(self, file, old, new):
        text = self.texts.get(file, "")
        if text.count(old) != 1:
            self.missing.append(f"{file} has {text.count(old)} times, not once: {old!r}; mend the row in RULES")
        return {file: text.replace(old, new)}


def rules():
    return re.findall(r"^(?:RULE|EDGE_INSIDE)\((\w+),", (GRAPH / "rules.def").read_text(), re.MULTILINE)


def shorten(text):
    return " ".join(text.split())[:90]


def table_rows(text, name):
    """The rows of a table, one initialiser in braces each, and where they are."""
    begin = text.index(name + "[] = {") + len(name + "[] = {")
    end = text.index("\n};", begin)
    return [(begin + m.start(), begin + m.end()) for m in re.finditer(r"\{[^{}]*\},?", text[begin:end])]


def without(text, span):
    return text[:span[0]] + text[span[1]:]


def of_wake_rules(sources):
    file = "rules/wakeups.c"
    include = '#include "graph/rules/wake_rules.def"\n'
    text = sources.texts[file]
    rows = re.findall(r"^WAKE_RULE\(.*\)\n", (GRAPH / "rules" / "wake_rules.def").read_text(), re.MULTILINE)
    names = [row.split(", ")[2] for row in rows]

    def with_rows(changed):
        return {file: text.replace(include, "".join(changed))}

    for i, (row, rule) in enumerate(zip(rows, names)):
        yield Mutant(rule, "left out of wake_rules.def", with_rows(rows[:i] + rows[i + 1:]))
        if "act_waker" in row:
            flipped = row.replace("false", "TRUE").replace("true", "false").replace("TRUE", "true")
            yield Mutant(rule, "with the other strength", with_rows(rows[:i] + [flipped] + rows[i + 1:]))
        if i + 1 < len(rows):
            yield Mutant(rule, f"tried after {names[i + 1]}", with_rows(rows[:i] + [rows[i + 1], row] + rows[i + 2:]))


def of_signs(sources):
    file = "rules/condition.c"
    text = sources.texts[file]
    for span in table_rows(text, "signs"):
        row = text[span[0]:span[1]]
        yield Mutant("WAKE_CONDITION", f"without the sign {row}", {file: without(text, span)})
    spans = table_rows(text, "signs")
    for one, two in zip(spans, spans[1:]):
        swapped = text[:one[0]] + text[two[0]:two[1]] + text[one[1]:two[0]] + text[one[0]:one[1]] + text[two[1]:]
        yield Mutant("WAKE_CONDITION", f"the sign {text[one[0]:one[1]]} asked after the next one", {file: swapped})


def by_hand(sources):
    for rule, file, old, new in RULES:
        yield Mutant(rule, f"{file}: {shorten(old)} -> {shorten(new) or 'nothing'}", sources.edit(file, old, new))


def by_name(sources, rule):
    """Replaces every use of the rule's number by that of another rule."""
    names = rules()
    other = names[(names.index(rule) + 1) % len(names)]
    edits = {file: re.sub(rf"\bRULE_{rule}\b", f"RULE_{other}", text) for file, text in sources.texts.items()
             if re.search(rf"\bRULE_{rule}\b", text)}
    return Mutant(rule, f"under the name of {other}", edits)


OPERATORS = [(r"&&", "||"), (r"\|\|", "&&"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"==", "!="), (r"!=", "=="),
             (r"(?<=\s)<=(?=\s)", "<"), (r"(?<=\s)>=(?=\s)", ">"), (r"(?<=\s)<(?=\s)", "<="), (r"(?<=\s)>(?=\s)", ">="),
             (r"\bif \((?!!?error)", "if (!!"), (r"(?<=return )!(?=\w)", "")]


def strip_comments(text):
    """Replaces comments and strings by blanks, so that offsets stay the same."""
    return re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|^#.*?$", lambda m: re.sub(r"[^\n]", " ", m.group()), text,
                  flags=re.DOTALL | re.MULTILINE)


def by_operators(sources):
    skip = re.compile(r"no_memory|full = |ARGUS_NONE - 1|vec_push|static inline")
    for file, text in sources.texts.items():
        if not (file.startswith("rules/") or file.startswith("on_") or file in ("build/activity.c", "build/wait.c", "build/vertex.c", "build/actor.c")):
            continue
        bare = strip_comments(text)
        for pattern, new in OPERATORS:
            for m in re.finditer(pattern, bare):
                line = text[text.rfind("\n", 0, m.start()) + 1:text.find("\n", m.start())]
                number = text.count("\n", 0, m.start()) + 1
                put = "if (!(" if new == "if (!!" else new
                changed = text[:m.start()] + put + text[m.end():]
                if put == "if (!(":
                    changed = close_negation(text, m)
                if skip.search(line) or not changed:
                    continue
                yield Mutant(file, f"line {number}: {shorten(line)}: {m.group()} -> {new.replace('!!', '!')}", {file: changed})


def close_negation(text, m):
    """`if (x)` as `if (!(x))`."""
    depth, at = 1, m.end()
    while at < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[:m.end()] + "!(" + text[m.end():at - 1] + ")" + text[at - 1:]


def mutants(options):
    sources = Sources()
    made = list(of_wake_rules(sources)) + list(of_signs(sources)) + list(by_hand(sources))
    if sources.missing:
        sys.exit("\n".join(sources.missing))
    known = {mutant.rule for mutant in made}
    made += [by_name(sources, rule) for rule in rules() if rule not in known]
    if options.all:
        more = list(by_operators(sources))
        made += random.Random(1).sample(more, min(options.sample, len(more))) if options.sample else more
    return [mutant for mutant in made if str(mutant) not in EQUAL and options.only in str(mutant)]


class Workshop:
    """Compiles, links and runs, with the commands of the build folder."""

    def __init__(self, options):
        self.build, self.scratch = options.build.resolve(), options.scratch.resolve()
        commands = json.loads((self.build / "compile_commands.json").read_text())
        self.compile = {entry["file"]: entry for entry in commands}
        ninja = subprocess.run(["ninja", "-C", self.build, "-t", "commands", "raw_graph"], check=True, text=True,
                               stdout=subprocess.PIPE)
        self.link = shlex.split(ninja.stdout.splitlines()[-1].removeprefix(": && ").removesuffix(" && :"))
        self.traces = self.make_traces(options.mktrace)
        self.expected = self.run(self.build / "bin" / "raw_graph")
        if self.expected is None:
            sys.exit("raw_graph itself fails")

    def make_traces(self, mktrace):
        texts = [(path.stem, path.read_text()) for path in sorted((HERE / "fixtures").glob("*.trace"))]
        for seed in range(RANDOM_TRACES):
            texts.append((f"random{seed}", "\n".join(sum(random_trace.random_trace(seed), [])) + "\n"))
        made = []
        for name, text in texts:
            source, trace = self.scratch / f"{name}.trace", self.scratch / f"{name}.argus"
            source.write_text(text)
            subprocess.run([mktrace, source, trace], check=True)
            made.append(trace)
        return made

    def run(self, program):
        """The graphs as text; None: the program failed, which a test would notice too."""
        try:
            done = subprocess.run([program, *self.traces], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
        except subprocess.TimeoutExpired:
            return None
        return done.stdout.splitlines() if done.returncode == 0 else None

    def build_mutant(self, mutant, folder):
        link = list(self.link)
        for file, text in mutant.edits.items():
            original = (GRAPH.parent if file.startswith("event/") else GRAPH) / file
            entry = self.compile[str(original)]
            made = folder / (original.stem + ".c")
            made.write_text(text)
            words = shlex.split(entry["command"])
            out = words[words.index("-o") + 1]
            words[words.index("-o") + 1] = str(made.with_suffix(".o"))
            words = [str(made) if word == str(original) else word for word in words]
            words += ["-O0", "-g0", "-w", f"-I{original.parent}"]
            subprocess.run(words, check=True, cwd=entry["directory"], stderr=subprocess.PIPE, text=True)
            link = [str(made.with_suffix(".o")) if word == out else word for word in link]
        link[link.index("-o") + 1] = str(folder / "mutant")
        subprocess.run(link, check=True, cwd=self.build)
        return folder / "mutant"

    def killer(self, number, mutant):
        """The trace that detects the mutant; None: it survives."""
        folder = self.scratch / f"mutant{number}"
        folder.mkdir(exist_ok=True)
        try:
            program = self.build_mutant(mutant, folder)
        except subprocess.CalledProcessError as error:
            return "the compiler" if error.stderr else "the linker"
        graphs = self.run(program)
        for file in folder.iterdir():
            file.unlink()
        if graphs is None:
            return "a failure"
        differ = [trace.stem for trace, a, b in zip(self.traces, self.expected, graphs) if a != b]
        return differ[0] if differ else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("mktrace")
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    workshop = Workshop(options)
    made = mutants(options)
    alive, by_random = [], []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for mutant, killer in zip(made, pool.map(lambda pair: workshop.killer(*pair), enumerate(made))):
            if options.verbose or not killer:
                print(f"{mutant}: {'killed by ' + killer if killer else 'LIVES'}", flush=True)
            if not killer:
                alive.append(mutant)
            elif killer.startswith("random"):
                by_random.append(mutant)
            elif killer in ("the compiler", "the linker"):
                print(f"{mutant}: does not build", flush=True)
                alive += [] if options.all else [mutant]
    print(f"{len(made)} mutants of {len(rules())} rules, {len(alive)} live, {len(by_random)} only random traces notice")
    return 1 if alive else 0


sys.exit(main())
