"""A recorded program that argus graph check suspects of batching: it names the function at which to split, and the rule that it
proposes does split there.

    live_inspection.py ARGUS PROGRAM E2E_FOLDER

Exits 77 where the kernel does not let us record.
"""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, sys.argv[3])
import load_retry  # noqa: E402  (of the e2e tests)
import machine  # noqa: E402


def suspect(argus, trace, name, *options):
    """The suspect that graph check reports for the process `name`; None if there is none."""
    answer = json.loads(machine.run(argus, "graph", "check", "--json", "--limit=1000", *options, trace))
    if not answer["sound"]:
        sys.exit(f"the graph contradicts itself: {answer['violation_examples']}")
    return next((item for item in answer["batching"] if item["process"] == name), None)


def check_suspect(found):
    if not found:
        sys.exit("the crier is no suspect")
    names = {item["process"] for item in found["applications"]}
    if names != {"crier_left", "crier_right"}:
        sys.exit(f"it deals with {names}")
    # A round that had to wait in between has two segments; that is rare.
    if found["causes_in_several"] < 8:
        sys.exit(f"only {found['causes_in_several']} of its 15 rounds tell both")
    if found["split"]["inside"] != "walk_round" or set(found["split"]["calls"]) != {"ring_bell"}:
        sys.exit(f"it is to be split in {found['split']}")


def check():
    argus, program = map(pathlib.Path, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        trace, rules = pathlib.Path(folder) / "crier.argus", pathlib.Path(folder) / "crier.rules"
        record = [argus, "record", "--unwind", program.name, "-o", trace]
        machine.run(*record, "--rules=none", "--", program)
        check_suspect(suspect(argus, trace, program.name, "--rules=none"))
        line = [line.split("a rule for that: ")[1] for line in
                machine.run(argus, "graph", "check", "--limit=1000", "--rules=none", trace).splitlines() if
                "begin ring_bell" in line]
        if not line:
            sys.exit("no rule is proposed")
        rules.write_text(line[0] + "\n")
        machine.run(*record, f"--rules={rules}", "--", program)
        left = suspect(argus, trace, program.name, f"--rules={rules}")
        if left:
            sys.exit(f"with the rule '{line[0]}' it is still a suspect: {left}")
    print(f"split by: {line[0]}")


def main():
    machine.enter_namespace_or_skip()
    load_retry.run_check(check)


main()
