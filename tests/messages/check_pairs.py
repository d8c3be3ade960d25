#!/usr/bin/env python3
"""Checks `argus messages --pairs`: exchange is recorded, and each pair is compared with its log.

check_pairs.py ARGUS EXCHANGE [--count N] [--keep FOLDER] [KIND ...]

A pair that is reported as exact must always be right. The number of ambiguous or missing pairs depends on how often two
writers ran at the same moment. It is printed, and must stay the exception if the CPUs were free (load_retry.py). Needs
root; exits 77 (skipped) where the kernel or the user cannot record.
"""
import argparse
import bisect
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import load_retry  # noqa: E402
import machine  # noqa: E402

KINDS = ["pipe", "fifo", "unix_stream", "unix_seqpacket", "unix_datagram", "tcp", "udp", "eventfd", "mqueue"]
WRITERS = 3
UNORDERED = ["eventfd"]  # a receive tells how many messages it got, but not their order
DATAGRAMS = ["unix_seqpacket", "unix_datagram", "udp", "mqueue"]
MESSAGE = 0x60020010
EXCEPTIONS = 0.5  # the largest share of the bytes that may be ambiguous or unpaired, also on a busy machine


class Call:
    """A line of the log. Runs are (writer, message, offset, bytes), in the order of the stream."""

    def __init__(self, line):
        self.what, tid, before, after, *runs = line.split()
        self.tid, self.before, self.after = int(tid), int(before), int(after)
        self.runs = []
        for run in runs:
            place, size = run.split("+")
            self.runs.append((*map(int, place.split(".")), int(size)))

    def part(self, offset, size):
        """The runs of `size` bytes from `offset`, with neighbours joined; None if the call did not transfer that much."""
        result = []
        for writer, message, at, length in self.runs:
            if offset >= length:
                offset -= length
                continue
            taken = min(length - offset, size)
            last = result[-1] if result else None
            if last and last[:2] == (writer, message) and last[2] + last[3] == at + offset:
                result[-1] = (*last[:3], last[3] + taken)
            elif taken:
                result.append((writer, message, at + offset, taken))
            size, offset = size - taken, 0
        return None if size else result


class Log:
    def __init__(self, path):
        calls = collections.defaultdict(list)
        for number in range(WRITERS + 1):
            for line in open(f"{path}.{number}"):
                call = Call(line)
                calls[call.tid].append(call)
        self.calls = {tid: sorted(of, key=lambda call: call.before) for tid, of in calls.items()}
        self.starts = {tid: [call.before for call in of] for tid, of in self.calls.items()}

    def find(self, tid, time_ns):
        """The call that was in progress; None if it was not a call of the exchange."""
        at = bisect.bisect_right(self.starts.get(tid, []), time_ns) - 1
        call = self.calls[tid][at] if at >= 0 else None
        return call if call and time_ns <= call.after else None

    def received_bytes(self):
        return sum(run[3] for of in self.calls.values() for call in of if call.what == "R" for run in call.runs)


class Records:
    """The facts that the message records tell about the calls of the exchange."""

    def __init__(self, argus, trace, log):
        self.before = {}  # for datagrams: the bytes of the same call's messages before this one, by thread and time
        count, calls = collections.Counter(), {}
        dump = subprocess.Popen([argus, "dump", "--json", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True)
        for line in dump.stdout:
            if '"message"' not in line:
                continue
            record = json.loads(line)
            call = log.find(record["tid"], record["ns"])
            if record["debugid"] != MESSAGE or not call:
                continue
            self.before[record["tid"], record["ns"]] = sum(run[3] for run in call.runs[:count[id(call)]])
            count[id(call)] += 1
            calls[id(call)] = call
        dump.wait()
        self.fewer = {number for number, call in calls.items() if call.what == "S" and count[number] < len(call.runs)}


def is_right(kind, pair, send, receive, records):
    """Whether the pair is right. A datagram is found by its record: if the recorder mistook another thread's buffer for it, the later
    offsets are wrong, too."""
    ends = pair["send"], pair["receive"]
    places = [records.before.get((end["tid"], end["time_ns"])) if kind in DATAGRAMS else end["offset"] for end in ends]
    if None in places:
        return False
    sent = send.part(places[0], pair["bytes"] if kind not in UNORDERED else 8)
    if kind in UNORDERED:
        return sent is not None and {run[:2] for run in sent} <= {run[:2] for run in receive.runs}
    return sent is not None and sent == receive.part(places[1], pair["bytes"])


def is_of_call(kind, send, pair, receive, records):
    """The position in the call is unknown: whether part of the received bytes are of messages that this call sent."""
    end = pair["receive"]
    place = records.before.get((end["tid"], end["time_ns"])) if kind in DATAGRAMS else end["offset"]
    part = None if place is None else receive.part(place, pair["bytes"])
    return part is not None and {run[:2] for run in part} <= {run[:2] for run in send.runs}


def compare(kind, log, pairs, records):
    """Counts the pairs, and the bytes of those that are not peeks, by result; prints the first wrong pairs."""
    counts, size = collections.Counter(), collections.Counter()
    for pair in pairs:
        send = log.find(pair["send"]["tid"], pair["send"]["time_ns"])
        receive = log.find(pair["receive"]["tid"], pair["receive"]["time_ns"])
        if send is None or receive is None:
            continue
        gone = kind in DATAGRAMS and id(send) in records.fewer
        if gone or pair["send"]["offset_is_guess"]:
            right = is_of_call(kind, send, pair, receive, records)
        else:
            right = is_right(kind, pair, send, receive, records)
        name = ("exact" if pair["exact"] else "ambiguous") + ("" if right else " wrong")
        counts[name] += 1
        counts["peek"] += pair["peek"]
        if not pair["peek"]:
            size[name] += pair["bytes"] if kind not in UNORDERED else 8
        if pair["exact"] and not right and counts[name] <= 3:
            print(f"{kind}: {json.dumps(pair)}\n  sent {send.runs[:6]}\n  received {receive.runs[:6]}")
    return counts, size


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def check(options, kind, folder, broken):
    """Checks one kind; returns whether everything is right. Errors that no foreign load excuses are also written to `broken`."""
    path, trace = os.path.join(folder, kind), os.path.join(folder, kind + ".argus")
    run([options.argus, "record", "-o", trace, "--no-stacks", "--rate", "0", "--", options.exchange, kind, path,
         str(options.count)])
    log = Log(path)
    name = os.path.basename(options.exchange)[:15]
    pairs = json.loads(run([options.argus, "messages", trace, "--process", name, "--pairs", "--json"]))["pairs"]
    counts, size = compare(kind, log, pairs, Records(options.argus, trace, log))
    total = log.received_bytes()
    known = size["exact"] / total
    print(f"{kind:15} {sum(counts.values()) - counts['peek']:7} pairs, {counts['peek']:5} of them peeks; of the bytes "
          f"{100 * known:7.3f} % exact, {100 * size['ambiguous'] / total:6.3f} % ambiguous and right, "
          f"{100 * size['ambiguous wrong'] / total:6.3f} % ambiguous and wrong", flush=True)
    if counts["exact wrong"]:
        print(f"{kind}: {counts['exact wrong']} pairs are said to be exact and are wrong")
        broken.write_text(kind)
        return False
    if known < 1 - EXCEPTIONS:
        print(f"{kind}: only {100 * known:.3f} % of the bytes have an exact pair")
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("argus")
    parser.add_argument("exchange")
    parser.add_argument("kinds", nargs="*", default=KINDS, metavar="KIND")
    parser.add_argument("--count", type=int, default=10000, help="messages")
    parser.add_argument("--keep", metavar="FOLDER", help="leave traces and logs there")
    options = parser.parse_args()
    machine.enter_namespace_or_skip()
    with tempfile.TemporaryDirectory(prefix="argus-pairs-") as folder:
        broken = pathlib.Path(folder) / "broken"

        def failures(kinds):
            return [kind for kind in kinds or options.kinds if not check(options, kind, options.keep or folder, broken)]

        settled = load_retry.passes(failures)
        return 0 if settled and not broken.exists() else 1


if __name__ == "__main__":
    sys.exit(main())
