"""Checks that a BPF program shows the verifier how many bytes a helper is to copy.

    bpf_bounds.py SOURCE_FOLDER

A number of bytes is a constant, or was made by at_most() or bounded() (recorder/linux/bpf/ring.h). An ordinary comparison is not
enough: when the compiler keeps the number on the stack between the comparison and the call, verifiers before Linux 6.9 lose its bound,
and every changed line can change which numbers are kept there. The newest kernel accepts them, so no other quick test detects this.
"""
import pathlib
import re
import sys

CALL = re.compile(r"\b(bpf_probe_read_\w+|bpf_get_stack)\(")
# Compared before the call. In a loop at_most() makes two paths of each round, and the verifier of 6.8 follows all combinations. These calls
# load unchanged on 5.15, 6.1, 6.8 and the newest kernel (kernels.load). To add one, load it there.
COMPARED = {("flag.h", "bytes"), ("kernel_stack.h", "bytes"), ("probe.h", "bytes"), ("snapshot.h", "part"), ("snapshot.h", "wanted")}
BYTES_AT = {"bpf_get_stack": 2}  # the number's position among the arguments, from 0; for all others it is the second one
VISIBLE = re.compile(r"\b(at_most|bounded)\(")


def arguments_of(text, start):
    """The arguments of the call whose opening bracket comes before `start`."""
    depth, parts, begin = 0, [], start
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}" and depth:
            depth -= 1
        elif text[at] in ",)" and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
            if text[at] == ")":
                break
    return parts


def is_visible(number, text):
    """Whether the verifier sees the bound of `number`, an expression in the file `text`."""
    if VISIBLE.search(number):
        return True
    names = re.findall(r"\b[a-z_]\w*\b", re.sub(r"sizeof\([^()]*\)", "", number))
    return all(re.search(rf"\b{name} = (at_most|bounded)\(", text) for name in names)


def wrong_calls(text):
    """(offset, helper, number of bytes) of each call whose bound is not visible."""
    text = re.sub(r"/\*.*?\*/", lambda comment: re.sub(r"[^\n]", " ", comment[0]), text, flags=re.DOTALL)
    for call in CALL.finditer(text):
        number = arguments_of(text, call.end())[BYTES_AT.get(call[1], 1)]
        if not is_visible(number, text):
            yield call.start(), call[1], number


def selftest():
    assert not list(wrong_calls("bpf_probe_read_user(&word, sizeof(word), (void *)place)"))
    assert not list(wrong_calls("n = at_most(n, 8);\nbpf_probe_read_user(&words[f(1, 2)], n * sizeof(struct word), 0)"))
    assert not list(wrong_calls("bpf_probe_read_kernel(to, LIMIT_BYTES, bounded(at, 8))"))
    assert [number for _, _, number in wrong_calls("if (n > 8) n = 8;\nbpf_probe_read_user(to, n, from)")] == ["n"]


def main():
    selftest()
    folder = pathlib.Path(sys.argv[1]) / "recorder/linux/bpf"
    calls = wrong = 0
    for path in sorted(folder.glob("*.h")):
        text = path.read_text(encoding="utf-8")
        calls += len(CALL.findall(text))
        for offset, helper, number in wrong_calls(text):
            if (path.name, number) in COMPARED:
                continue
            wrong += 1
            print(f"{path}:{text.count(chr(10), 0, offset) + 1}: {helper}() with '{number}': use at_most() or bounded()")
    print(f"{calls} calls, {wrong} without a visible bound")
    return 1 if wrong or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
