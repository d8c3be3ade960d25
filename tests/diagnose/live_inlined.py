"""Records a program of gcc and one of clang whose hot and waiting functions are inlined: live_inlined.py ARGUS SOURCE FOLDER.

`argus diagnose` and `argus contexts` must both name the inlined function. Exits 77 where this machine cannot record.
"""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import machine  # noqa: E402

# word: the inlined function, the one that contains it, what the summary says
CASES = {"busy": ("stir", "rebuild", "was busy on the cpu (stir)"), "wait": ("await_reply", "load_settings", "frozen for")}


def problems(argus, name, word, trace):
    inner, outer, says = CASES[word]
    answer = json.loads(machine.run(argus, "diagnose", "--auto", "--json", "--process", name, trace))
    if says not in answer["summary"]:
        yield f"the summary is {answer['summary']!r}"
    causes = [cause for cause in answer["root_causes"] if cause["process"] == name]
    functions = {f["name"]: f["inlined"] for cause in causes for f in cause["costly_functions"]}
    if word == "busy" and (functions.get(inner), functions.get(outer)) != (True, False):
        yield f"the costly functions are {functions}"
    story = machine.run(argus, "diagnose", "--auto", "--process", name, trace)
    if word == "wait" and f", in {inner}" not in story:
        yield f"the answer does not name {inner}: {story}"
    tree = json.loads(machine.run(argus, "contexts", "--json", "--tree", trace))["tree"]
    functions = {node["node"]: node["function"] for node in tree}
    if not any(node["function"] == inner and functions.get(node["parent"]) == outer for node in tree):
        yield f"contexts has no {inner} below {outer}"


def check_split(argus, source, folder):
    """Without the file that has the functions: one warning."""
    name, trace, split = "splitbusy", folder / "split.argus", folder / "split.dwo"
    machine.run("gcc", "-O2", "-g", "-gsplit-dwarf", "-c", source, "-o", folder / "split.o")
    machine.run("gcc", folder / "split.o", "-o", folder / name)
    split.unlink()
    machine.run(argus, "record", "-o", trace, "--", folder / name, "busy")
    done = subprocess.run([argus, "diagnose", "--auto", "--process", name, trace], capture_output=True, text=True, check=True)
    says = f"recorded without the inlined functions of {name}: its debug information is in "
    if done.stderr.count(says) != 1 or "split.dwo, which is missing" not in done.stderr or "(rebuild)" not in done.stdout:
        yield f"{done.stderr}{done.stdout}"


def main():
    argus, source, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    machine.enter_namespace_or_skip()
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for compiler in ("gcc", "clang-14"):
        if not shutil.which(compiler):
            print(compiler, "left out: not here")
            continue
        for word in CASES:
            name, trace = f"{compiler[:5]}{word}", folder / f"{compiler}.{word}.argus"
            machine.run(compiler, "-O2", "-g", "-o", folder / name, source)
            machine.run(argus, "record", "-o", trace, "--", folder / name, word)
            wrong = list(problems(argus, name, word, trace))
            print(compiler, word, "ok" if not wrong else "WRONG: " + "; ".join(wrong))
            failed |= bool(wrong)
    wrong = list(check_split(argus, source, folder)) if shutil.which("gcc") else []
    print("split", "ok" if not wrong else "WRONG: " + "; ".join(wrong))
    return failed or bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
