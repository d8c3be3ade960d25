"""argus diverge on step files of a few instructions, which mksteps makes of text.

test_diverge.py ARGUS MKSTEPS. Each Code below is the output of `objdump -d` for a loop; a run of it is a list of offsets, each
with the registers that changed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "diagnose"))
from schema import misfits  # noqa: E402

ARGUS, MKSTEPS = "", ""
HEAP, STACK = 0x7F1000000000, 0x7FFC00001000


class Code:
    """Instructions at 0x1000 of /nowhere/prog, loaded at `base`."""

    def __init__(self, text, arch="x86_64"):
        self.arch = arch
        self.bytes = " ".join(text.split())

    def text(self, base, steps, build, end, begin):
        lines = [f"arch {self.arch}", f"process {base >> 20} {base >> 20} main /nowhere/prog", f"begin {begin} {base + 0x1000:#x} wait_here",
                 f"image {base + 0x1000:#x} {base + 0x2000:#x} 0x1000 /nowhere/prog xs {build}",
                 f"image {base + 0x4000:#x} {base + 0x5000:#x} 0x4000 /nowhere/prog w {build}",
                 f"image {base + 0x800000:#x} {base + 0x810000:#x} 0 /nowhere/libc.so x",
                 f"image {HEAP:#x} {HEAP + 0x10000:#x} 0 - w",
                 f"image {STACK - 0x1000:#x} {STACK + 0x1000:#x} 0 [stack] w",
                 f"code {base + 0x1000:#x} {self.bytes}"]
        for offset, registers in steps:
            if isinstance(offset, str):
                lines.append(f"skip none {base + 0x800010:#x} {registers}")
                continue
            values = "".join(f" {name}={value:#x}" for name, value in registers.items())
            lines.append(f"step {base + 0x1000 + offset:#x}{values}")
        return "\n".join(lines + [f"end {end}", ""])


def make(folder, name, *arguments, code, base=0x550000000000, build="0102", end="most the limit of instructions was reached", begin="place"):
    path = pathlib.Path(folder) / name
    text = code.text(base, *arguments, build, end, begin)
    made = subprocess.run([MKSTEPS, "-", path], input=text, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return path


def diverge(*arguments, code=0):
    ran = subprocess.run([ARGUS, "diverge", "--json", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert ran.returncode == code, (ran.returncode, ran.stderr)
    if code:
        return ran.stderr
    answer = json.loads(ran.stdout)
    assert not misfits(answer), misfits(answer)
    return answer


def skip(value):
    return ("skip", value)


# mov ebx, 1000; 5: mov eax, [rip+0x3000]; test eax, eax; jne 18; call usleep; dec ebx; jne 5; 18: ret
POLL = Code("bb e8030000 8b05 00300000 85c0 7509 e8 3b000000 ffcb 75ed c3")


def poll(turns, leaves):
    steps = [(0, {"rsp": STACK, "rbx": 7})]
    for turn in range(turns + leaves):
        out = leaves and turn == turns
        steps += [(5, {"rax": 99, "rbx": 1000 - turn}), (11, {"rax": int(out)}), (13, {"rflags": 0 if out else 0x40})]
        if not out:
            steps += [(15, {}), skip(0), (20, {}), (22, {"rflags": 0})]
    return steps + ([(24, {})] if leaves else [])


# mov rax, [rip+0x3000]; cmp byte [rax+0x18], 0; jne 14; call usleep; jmp 0; 14: ret
POINTER = Code("488b05 00300000 807818 00 7507 e8 3b000000 ebec c3")


def pointer(turns, leaves, registers=True):
    steps = []
    for turn in range(turns + leaves):
        out = leaves and turn == turns
        parts = [(0, {"rsp": STACK}), (7, {"rax": HEAP + 0x100}), (11, {"rflags": 0 if out else 0x40})]
        if not out:
            parts += [(13, {}), skip(0), (18, {})]
        steps += [part if registers or part[0] == "skip" else (part[0], {}) for part in parts]
    return steps + ([(20, {})] if leaves else [])


# mov eax, [rip+0x3000]; mov [rbp-4], eax; cmp dword [rbp-4], 0; jne 22; add dword [rip+0x3000], 1; cmp dword [the same], 1000;
# jl 0; 22: ret
SPILL = Code("8b05 00300000 8945 fc 837d fc 00 7513 8305 00300000 01 813d f62f0000 e8030000 7cde c3")


def spill(turns, leaves):
    steps = []
    for turn in range(turns + leaves):
        out = leaves and turn == turns
        steps += [(0, {"rsp": STACK, "rbp": STACK + 0x20}), (6, {"rax": int(out)}), (9, {}), (13, {"rflags": 0 if out else 0x40})]
        if not out:
            steps += [(15, {}), (22, {}), (32, {"rflags": 0x80})]
    return steps + ([(34, {})] if leaves else [])


# mov eax,[rdi+4]; mov edx,[rdi+8]; test edx,eax; je 1000; ret
BOTH = Code("8b4704 8b5708 85c2 74f6 c3")

# call f; test al, al; je 0; ret; 10: cmp dword [rdi+4], 3; jne 1c; mov eax, 1; ret; 1c: mov eax, 0; ret
GETTER = Code("e8 0b000000 84c0 74f7 c3 660f1f440000 837f 04 03 7506 b8 01000000 c3 b8 00000000 c3")


def getter(turns, leaves):
    steps = []
    for turn in range(turns + leaves):
        out = leaves and turn == turns
        steps += [(0, {"rsp": STACK, "rdi": HEAP + 0x40}), (16, {"rsp": STACK - 8}), (20, {"rflags": 0x40 if out else 0})]
        steps += [(22, {}), (27, {"rax": 1})] if out else [(28, {}), (33, {"rax": 0})]
        steps += [(5, {"rsp": STACK}), (7, {"rflags": 0 if out else 0x40})]
    return steps + ([(9, {})] if leaves else [])


# call poll; test eax, eax; je 0; ret
RESULT = Code("e8 3b000000 85c0 74f7 c3")

# call [rbp]; test eax, eax; jne 1e; add rbp, 8; cmp rbp, rcx; jne 0; mov rbp, rdx; jmp 0; 1e: ret; 30: mov eax, [rdi+8]; ret;
# 40: xor eax, eax; ret: a table of callbacks, the first of which tests the flag
TABLE = Code("ff5500 85c0 7517 4883c508 4839cd 75f0 4889d5 ebeb" + "90" * 9 + "c3" + "90" * 17 + "8b4708 c3" + "90" * 12 + "31c0 c3")


def table(turns, leaves):
    steps = []
    for turn in range(turns + leaves):
        out = leaves and turn == turns
        steps += [(0, {"rsp": STACK, "rbp": STACK + 0x100, "rdi": HEAP + 0x40}), (48, {"rsp": STACK - 8}), (51, {"rax": int(out)})]
        steps += [(3, {"rsp": STACK}), (5, {"rflags": 0 if out else 0x40})]
        if not out:
            steps += [(7, {}), (11, {"rbp": STACK + 0x108}), (14, {})]
            steps += [(0, {}), (64, {"rsp": STACK - 8}), (66, {"rax": 0}), (3, {"rsp": STACK}), (5, {"rflags": 0x40}),
                      (7, {}), (11, {"rbp": STACK + 0x110}), (14, {}), (16, {}), (19, {})]
    return steps + ([(30, {})] if leaves else [])


# arm64: adrp x1, .; ldr x1, [x1, #32]; ldrb w0, [x1, #8]; cbz w0, 0; ret
ARM = Code("01000090 211040f9 20204039 a0ffff34 c0035fd6", "aarch64")


class Diverge(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="argus-diverge-")
        self.addCleanup(self.folder.cleanup)

    def runs(self, code, good, bad, **more):
        return (make(self.folder.name, "good.steps", good, code=code, base=0x560000000000, **more),
                make(self.folder.name, "bad.steps", bad, code=code))

    def test_a_flag_in_the_program(self):
        good, bad = self.runs(POLL, poll(2, 1), poll(50, 0))
        answer = diverge(good, bad)
        best = answer["candidates"][0]
        self.assertEqual((best["where"], best["role"], best["image_offset"], best["address"]),
                         ("variable", "candidate", "0x400b", "0x55000000400b"))
        self.assertEqual((best["normal_value"], best["bad_value"], best["size"], best["loads"]), (1, 0, 4, 50))
        self.assertEqual(best["command"], "argus watchflag 89128960 prog 0x400b --size 1")  # 0x400b: no register holds more up to there
        decision = answer["decisions"][0]
        self.assertEqual((decision["branch"]["image_offset"], decision["leaves_loop"], decision["candidates"]), ("0x100d", True, [0]))
        self.assertEqual([(way["normal"], way["bad"]) for way in decision["ways"]], [(2, 50), (1, 0)])
        first = answer["first_divergence"]
        self.assertEqual([first[key]["image_offset"] for key in ("last_common", "normal", "bad")], ["0x100d", "0x1018", "0x100f"])
        self.assertEqual((len(answer["candidates"]), len(answer["decisions"]), answer["notes"]), (1, 1, []))

    def test_the_loop_alone(self):
        bad = make(self.folder.name, "bad.steps", poll(50, 0), code=POLL)
        answer = diverge("--spin", bad)
        self.assertEqual((answer["loop"]["turns"], answer["loop"]["turn_steps"], answer["loop"]["to_the_end"]), (49, 6, True))
        self.assertEqual([c["image_offset"] for c in answer["candidates"]], ["0x400b"])
        self.assertEqual([(d["branch"]["image_offset"], d["candidates"]) for d in answer["decisions"]],
                         [("0x100d", [0]), ("0x1016", [])])  # the second one tests ebx, which is not in memory
        self.assertEqual(diverge(bad), answer)

    def test_a_loop_that_only_goes_round_more_often(self):
        good, bad = self.runs(POLL, poll(3, 1), poll(40, 1))
        answer = diverge(good, bad)
        self.assertEqual((answer["first_divergence"], answer["decisions"]), (None, []))
        self.assertIn("the same ways", answer["notes"][0])

    def test_where_they_part_after_any_number_of_turns(self):
        for turns in range(8):
            good, bad = self.runs(POLL, poll(turns, 1), poll(30, 0))
            first = diverge(good, bad)["first_divergence"]
            self.assertEqual([first[key]["image_offset"] for key in ("last_common", "normal", "bad")], ["0x100d", "0x1018", "0x100f"])
            self.assertEqual(first["normal_step"], len(poll(turns, 1)) - turns - 2)  # the last one before the ret; skips are no steps

    def test_a_flag_that_is_set_at_once(self):
        good, bad = self.runs(POLL, poll(0, 1), poll(40, 0))
        self.assertEqual(diverge(good, bad)["candidates"][0]["image_offset"], "0x400b")

    def test_a_loop_that_is_cut_off_anywhere(self):
        for extra in range(6):
            good, bad = self.runs(POLL, poll(2, 1), poll(20, 0) + poll(1, 0)[1:][:extra])
            first = diverge(good, bad)["first_divergence"]
            self.assertEqual(first["normal"]["image_offset"], "0x1018")
            self.assertEqual(first["bad"]["image_offset"], "0x100f")

    def test_an_object_behind_a_pointer(self):
        good, bad = self.runs(POINTER, pointer(2, 1), pointer(30, 0))
        best = diverge(good, bad)["candidates"][0]
        self.assertEqual((best["where"], best["path"], best["address"]), ("heap", "0x4007->0x18", hex(HEAP + 0x118)))
        self.assertEqual(best["command"], "argus watchflag 89128960 prog '0x4007->0x18' --size 1")
        self.assertEqual((best["normal_value"], best["bad_value"]), (None, 0))  # "not 0" is not a value

    def test_without_registers(self):
        good, bad = self.runs(POINTER, pointer(2, 1, False), pointer(30, 0, False))
        best = diverge(good, bad)["candidates"][0]
        self.assertEqual((best["where"], best["address"], best["command"]), ("unknown", None, None))
        self.assertIn("registers were not recorded", best["detail"])

    def test_a_spilled_flag_and_a_counter_in_memory(self):
        good, bad = self.runs(SPILL, spill(2, 1), spill(30, 0))
        answer = diverge(good, bad)
        self.assertEqual([(c["role"], c["image_offset"]) for c in answer["candidates"]], [("candidate", "0x4006")])
        answer = diverge("--spin", bad)
        self.assertEqual([(c["role"], c["image_offset"]) for c in answer["candidates"]],
                         [("candidate", "0x4006"), ("counter", "0x4016")])

    def test_a_constant_of_a_called_function(self):
        good, bad = self.runs(GETTER, getter(2, 1), getter(30, 0))
        best = diverge(good, bad)["candidates"][0]
        self.assertEqual((best["where"], best["path"]), ("heap", "rdi->0x4"))
        self.assertIn("argument 1", best["detail"])
        self.assertEqual(diverge("--spin", bad)["candidates"][0]["path"], "rdi->0x4")
        self.assertEqual(best["normal_value"], 3)

    def test_the_result_of_a_library(self):
        def result(turns, leaves):
            steps = []
            for turn in range(turns + leaves):
                out = leaves and turn == turns
                steps += [(0, {"rsp": STACK}), skip(int(out)), (5, {"rax": int(out)}), (7, {"rflags": 0 if out else 0x40})]
            return steps + ([(9, {})] if leaves else [])
        good, bad = self.runs(RESULT, result(2, 1), result(30, 0))
        answer = diverge(good, bad)
        self.assertEqual(answer["candidates"], [])
        self.assertEqual(answer["decisions"][0]["results"], "libc.so+0x10()")

    def test_two_variables_that_one_branch_tests(self):
        """while (!(a & b)): the one that is set already does not end the loop."""
        for values in (0, 1), (1, 0):
            turn = [(0, {"rdi": HEAP + 0x100, "rsp": STACK}), (3, {"rax": values[0]}), (6, {"rdx": values[1]}), (8, {"rflags": 0x40})]
            _, bad = self.runs(BOTH, turn, turn * 30)
            answer = diverge("--spin", bad)
            self.assertEqual([c["bad_value"] for c in answer["candidates"]], [0, 1])
            self.assertIn("waits for another one as well", answer["candidates"][1]["why"])

    def test_one_of_several_callbacks(self):
        good, bad = self.runs(TABLE, table(2, 1), table(30, 0))
        for answer in diverge(good, bad), diverge("--spin", bad):
            self.assertEqual([c["path"] for c in answer["candidates"] if c["role"] == "candidate"], ["rdi->0x8"])

    def test_arm64(self):
        def run(turns, leaves):
            steps = []
            for turn in range(turns + leaves):
                out = leaves and turn == turns
                base = 0x560000000000 if leaves else 0x550000000000
                steps += [(0, {"sp": STACK}), (4, {"x1": base + 0x4000}), (8, {"x1": HEAP}), (12, {"x0": int(out)})]
            return steps + ([(16, {})] if leaves else [])
        good, bad = self.runs(ARM, run(1, 1), run(30, 0))
        best = diverge(good, bad)["candidates"][0]
        self.assertEqual((best["path"], best["size"], best["normal_value"], best["bad_value"]), ("0x4020->0x8", 1, 1, 0))

    def test_another_build(self):
        good = make(self.folder.name, "good.steps", poll(2, 1), code=POLL, base=0x560000000000, build="0908")
        bad = make(self.folder.name, "bad.steps", poll(30, 0), code=POLL)
        answer = diverge(good, bad)
        self.assertIn("another build", answer["notes"][0])
        self.assertEqual(answer["candidates"][0]["image_offset"], "0x400b")

    def test_one_that_began_within_the_loop(self):
        bad = make(self.folder.name, "bad.steps", poll(30, 0)[3:], code=POLL, begin="anywhere")
        good = make(self.folder.name, "good.steps", poll(2, 1), code=POLL)
        self.assertEqual(diverge(good, bad)["candidates"][0]["image_offset"], "0x400b")

    def test_what_cannot_be_compared(self):
        bad = make(self.folder.name, "bad.steps", poll(30, 0), code=POLL)
        line = make(self.folder.name, "line.steps", poll(0, 1), code=POLL)
        arm = make(self.folder.name, "arm.steps", [(0, {})], code=ARM)
        other = make(self.folder.name, "other.steps", pointer(2, 1), code=POINTER)
        text = pathlib.Path(self.folder.name) / "text"
        text.write_text("no steps at all, but long enough to be looked at closely\n", encoding="utf-8")
        for words, code, said in [((line,), 1, "executed twice"), ((arm, bad), 1, "different processors"),
                                  ((other, bad), 1, "no branch in common"), ((text, bad), 1, "text"),
                                  ((bad, "/nowhere/x.steps"), 1, "/nowhere/x.steps"), ((), 2, "usage: argus diverge"),
                                  (("--spin", line, bad), 2, "usage: argus diverge"), ((line, bad, bad), 2, "usage: argus diverge")]:
            self.assertIn(said, diverge(*words, code=code))


if __name__ == "__main__":
    ARGUS, MKSTEPS = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
