"""argus contexts says the same in each of its outputs, on random traces, with and without a base.

    outputs_property.py MKTRACE ARGUS FOLDER [FIRST [COUNT]]

JSON's tree is what the others are compared with: the tables of text (calls x mean = total), folded lines, speedscope's profiles, pprof's
samples, the lists by function, layer and file, and the heat map and tree of the page.
"""
import gzip
import json
import pathlib
import re
import subprocess
import sys

sys.path.append(__file__.rsplit("/", 2)[0] + "/export")
from wire import message, numbers, signed  # noqa: E402

from context_property import Trace  # noqa: E402
from context_wild import Wild  # noqa: E402
from seeds import run_seeds  # noqa: E402

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
ROW = re.compile(r"^ [* ] *\d+ +(\S+ \S+) +(\S+ \S+) +(\S+ \S+) +(\S+ \S+) +(\d+)  \S+ +(.+?)(?:  \(.*)?$")
EVERYTHING = ("--top=100000", "--every")


def ns(text):
    """"+1.23 ms"; three digits are printed."""
    value, unit = text.split()
    return float(value) * UNITS[unit]


def differ(left, right, share=0.006):
    return abs(left - right) > share * max(abs(left), abs(right)) + 1


class Outputs:
    def __init__(self, argus, files, rank, with_base):
        self.command = [argus, "contexts", "--no-cache", f"--rank={rank}", *([f"--base={files[1]}"] if with_base else [])]
        self.file, self.with_base = str(files[0]), with_base
        self.answer = json.loads(self.run("--json", "--tree", *EVERYTHING))
        self.tree = {node["node"]: node for node in self.answer["tree"]}

    def run(self, *words):
        return subprocess.run([*self.command, *words, self.file], check=True, capture_output=True, text=True, timeout=60).stdout

    def path(self, node):
        names = []
        while node:
            names.insert(0, self.tree[node]["function"])
            node = self.tree[node]["parent"]
        return ";".join(names)

    def costs(self):
        """Path → cost, of functions."""
        result = {}
        for node in self.tree.values():
            if node["parent"]:
                result[self.path(node["node"])] = node["cost_ns"]
        return result


def sums(outputs):
    answer, total = outputs.answer, sum(outputs.costs().values())
    rounding = len(outputs.tree) + 1
    lists = {
        "total_cost_ns": answer["total_cost_ns"],
        "functions": sum(function["cost_ns"] for function in answer["functions"]),
        "layers": sum(layer["cost_ns"] for layer in answer["layers"]),
        "charged layers": sum(layer["charged_ns"] for layer in answer["layers"]),
        "files": sum(file["charged_ns"] for file in answer["files"]),
    }
    for name, value in lists.items():
        if abs(value - total) > rounding:
            yield f"{name}: {value} ns, the tree {total}"
    own = sum(node["own_ns"]["conservative"] for node in outputs.tree.values() if node["parent"])
    if sum(function["own_ns"] for function in answer["functions"]) != own:
        yield "the own times of the functions are not those of the tree"


def contexts(outputs):
    """The costs of a context are those of its nodes, without those that count in another one."""
    for context in outputs.answer["contexts"]:
        for function in context["functions"]:
            same = outputs.tree[function["node"]]
            if any(function[key] != same[key] for key in ("cost_ns", "own_ns", "total_ns", "count", "mean_ns")):
                yield f"context {context['bottleneck']}: {function} is {same} in the tree"
        if abs(sum(function["cost_ns"] for function in context["functions"]) - context["cost_ns"] - context["elsewhere_ns"]) > len(context["functions"]):
            yield f"context {context['bottleneck']}: its functions' costs are not {context['cost_ns']}"


def text(outputs):
    rows = [match.groups() for match in map(ROW.match, outputs.run(*EVERYTHING).splitlines()) if match]
    expected = [f for context in outputs.answer["contexts"] if context["cost_ns"] > 0 for f in context["functions"]]
    if len(rows) != len(expected):
        yield f"text has {len(rows)} rows, JSON {len(expected)}"
    for (cost, own, total, mean, calls, name), function in zip(rows, expected):
        printed = (ns(cost), ns(own), ns(total), ns(mean), int(calls))
        exact = (function["cost_ns"], function["own_ns"]["conservative"], function["total_ns"]["conservative"],
                 function["mean_ns"]["conservative"], function["count"])
        if name != function["function"] or any(map(differ, printed, exact)):
            yield f"text: {name} {printed}, JSON {function['function']} {exact}"
        if int(calls) and abs(int(calls) * ns(mean) - ns(total)) > 0.012 * ns(total) + int(calls) + 1:
            yield f"text: {calls} x {mean} is not {total}"


def folded(outputs):
    """In whole us: the difference of both sides is the cost, within the rounding of each."""
    costs = outputs.costs()
    for line in outputs.run("--format=folded").splitlines():
        words = line.split(" ")
        numbers = [int(word) for word in words if word.isdigit()]
        path = line[:-len(" ".join(map(str, numbers[-1 - outputs.with_base:]))) - 1]
        difference = numbers[-1] - (numbers[-2] if outputs.with_base else 0)
        cost = costs.pop(path, None)
        if cost is None and ";" in path and not (outputs.with_base and numbers[-1] == 0):
            yield f"folded: {path} is not in the tree"
        if cost is not None and abs(difference * 1000 - cost) >= 2000:
            yield f"folded: {line}, cost {cost}"
    for path, cost in costs.items():
        if abs(cost) >= 2000:
            yield f"folded: {path} with {cost} is missing"


def only_in_base(outputs):
    """Path → us of the folded lines that only the base has."""
    known, found = outputs.costs(), {}
    for line in outputs.run("--format=folded").splitlines() if outputs.with_base else ():
        path, base, now = line.rsplit(" ", 2)
        if now == "0" and path not in known:
            found[path] = found.get(path, 0) + int(base)
    return found


def speedscope(outputs):
    scope, costs = json.loads(outputs.run("--format=speedscope")), {}
    for profile in scope["profiles"]:
        sign = -1 if profile["name"].endswith((", faster than in the base", ", only in the base")) else 1
        name = profile["name"].split(", slower than")[0].split(", faster than")[0].split(", only in")[0]
        if sum(profile["weights"]) != profile["endValue"]:
            yield f"speedscope: {profile['name']} does not add up"
        for stack, weight in zip(profile["samples"], profile["weights"]):
            names = [scope["shared"]["frames"][frame]["name"] for frame in stack]
            path = ";".join([name] + names)
            costs[path] = costs.get(path, 0) + sign * weight
    for path, cost in outputs.costs().items():
        if abs(costs.get(path, 0) - cost) > 1:
            yield f"speedscope: {path} {costs.get(path, 0)} ns, cost {cost}"
    for path, us in only_in_base(outputs).items():
        if ";" in path and abs(costs.get(path, 0) + us * 1000) >= 3000:
            yield f"speedscope: {path} of the base {costs.get(path, 0)} ns, folded {us} us"


def samples(data):
    """(path, values) of each sample of a pprof profile, and the names of the values."""
    profile = message(gzip.decompress(data))
    texts = [text.decode() for text in profile[6]]
    functions = {one[1][0]: texts[one[2][0]] for one in map(message, profile[5])}
    names = {one[1][0]: functions[message(one[4][0])[1][0]] for one in map(message, profile[4])}
    found = [(";".join(names[number] for number in reversed(list(numbers(one[1])))), [signed(value) for value in numbers(one[2])])
             for one in map(message, profile.get(2, []))]
    return found, [texts[message(kind)[1][0]] for kind in profile[1]]


def pprof(outputs):
    """The cost of each path, and with a base the times of both traces. What only the base has is less than nothing."""
    file = pathlib.Path(outputs.file + ".pb.gz")
    outputs.run("--format=pprof", "-o", str(file))
    found, kinds = samples(file.read_bytes())
    file.unlink()
    if kinds != ["cost", "time", "base"][:3 if outputs.with_base else 1]:
        yield f"pprof: the values are {kinds}"
    costs, gone = outputs.costs(), 0
    for path, values in found:
        if len(values) > 1 and abs(values[1] - values[2] - values[0]) > 1:
            yield f"pprof: {path} {values} does not add up"
        if path not in costs and ";" in path:
            gone += -values[0]
        elif ";" in path and abs(costs.pop(path) - values[0]) > 1:
            yield f"pprof: {path} {values}, cost {outputs.costs()[path]}"
    if abs(gone - (outputs.answer["only_in_base_ns"] or 0)) > len(found):
        yield f"pprof: {gone} ns only in the base, JSON {outputs.answer['only_in_base_ns']}"
    yield from (f"pprof: {path} with {cost} is missing" for path, cost in costs.items() if abs(cost) > 1)


def page(outputs):
    """The heat map's rows are the contexts of JSON, in their order."""
    written = outputs.run("--format=html", "--top=100000", "--every")
    rows = re.findall(r'<tr data-c="\d+">.*?<b>([^<]*)</b> (?:<small>may be chance</small> )?([^<]*)</a>', written)
    expected = [context for context in outputs.answer["contexts"] if context["cost_ns"] > 0]
    if rows and len(rows) != len(expected):
        yield f"the heat map has {len(rows)} rows, JSON {len(expected)} contexts"
    for (cost, name), context in zip(rows, expected):
        if name != context["charged_function"] or differ(ns(cost), context["cost_ns"]):
            yield f"heat map: {cost} in {name}, JSON {context['cost_ns']} in {context['charged_function']}"


def traces(mktrace, folder, seed):
    """Two of one kind: `now` and its base."""
    make, files = (Trace, Wild)[seed % 2], []
    for name, number in (("now", seed), ("base", seed + 1000003)):
        source = folder / f"outputs{seed}-{name}.trace"
        source.write_text("\n".join(make(number).lines) + "\n")
        files.append(source.with_suffix(".argus"))
        subprocess.run([mktrace, source, files[-1]], check=True)
    return files


def has_stacks(argus, file):
    return subprocess.run([argus, "contexts", "--no-cache", file], capture_output=True, timeout=60).returncode == 0


def check(mktrace, argus, folder, seed):
    files, found = traces(mktrace, folder, seed), []
    if all(has_stacks(argus, file) for file in files):
        for rank, with_base in (("total", False), ("blame", False), ("total", True), ("blame", True)):
            outputs = Outputs(argus, files, rank, with_base)
            for part in (sums, contexts, text, folded, speedscope, pprof, page):
                found += [f"--rank={rank}{' with a base' if with_base else ''}: {each}" for each in part(outputs)]
    for file in files if not found else ():
        file.unlink()
        file.with_suffix(".trace").unlink()
    return found[:6]


if __name__ == "__main__":
    sys.exit(run_seeds(check, 20, "random"))
