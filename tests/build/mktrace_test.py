#!/usr/bin/env python3
"""mktrace_test.py MKTRACE DUMP_RECORDS: the traces that mktrace makes, and its errors for wrong lines."""
import subprocess
import sys
import tempfile

GOOD = """\
cpus 2
thread 12 pid 10 ppid 1 name "my editor" # a comment
thread 3 kernel name kworker
image pid 10 start 0x400000 end 0x480000 offset 4096 time 2us inode 7 dev_major 8 dev_minor 1 build_id 0aff path /bin/x
stack 0x11 0x401000 0x402000
ksym 0x10 read ext4
note "two words"
counter records 3
1us cpu0 t12 syscall_start nr=futex arg1=-1
+1.5us cpu0 t12 object fd=5 mode=fifo family=1 socktype=2
chunk
lost cpu1 9
3ms cpu1 t0 name_thread name=abc
+0 cpu1 t0 record id=0x60000008 arg3=7
"""

EXPECTED = """\
chunk - - 0 2 0 1000 2500
record 1000 12 040c0329 0 18446744073709551615 0 0 0
record 2500 12 60020008 0 5 0 0 8590004224
chunk - - 1 2 9 3000000 3000000
record 3000000 0 07010010 1 6513249 0 0 0
record 3000000 0 60000008 1 0 0 7 0
thread 12 10 1 0 0 6d7920656469746f72
thread 3 3 0 1 0 6b776f726b6572
image 10 4194304 4718592 4096 2000 7 8 1 0aff 2f62696e2f78
stack 17 4198400 4202496
symbol 16 72656164 65787434
note 74776f20776f726473
counter 7265636f726473 3
loss 1 9 0 3000000
total 4 9 1000 3000000 complete
"""

WRONG = {
    "1ms cpu0 t1 nothing": "'nothing' is not a tracepoint",
    "1ms cpu0 t1 switch foo=1": "switch has no argument 'foo'",
    "1ms cpu0 t1 switch next": "'next' should be ARGUMENT=VALUE",
    "1ms cpu0 t1 switch next=x": "'x' is neither a number nor a known name",
    "1ms cpu9 t1 switch": "this trace has only 4 cpus",
    "1ms cpux t1 switch": "'cpux' should be cpuNUMBER",
    "1parsec cpu0 t1 switch": "is not a time",
    "1ms cpu0": "a record is TIME",
    "thread": "'thread' needs more words",
    "image pid 1 path /x start 2 end 1": "an image needs start, end and path",
    "note x\ncpus 3": "must come before",
    "ring 100": "a ring has at least",
}


def run(program, *arguments, text=""):
    return subprocess.run([program, *arguments], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)


def main():
    mktrace, dump_records = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as directory:
        path = directory + "/t.argus"
        made = run(mktrace, "-", path, text=GOOD)
        if made.returncode != 0:
            sys.exit(made.stderr)
        dumped = run(dump_records, path).stdout.split("\n", 1)[1]
        if without_places(dumped) != without_places(EXPECTED):
            sys.exit(f"expected\n{EXPECTED}\ngot\n{dumped}")
        for text, expected in WRONG.items():
            made = run(mktrace, "-", path, text="# first\n" + text + "\n")
            place = f"-:{2 + text.count(chr(10))}: "
            if made.returncode != 1 or not made.stderr.startswith(place) or expected not in made.stderr:
                sys.exit(f"{text!r}: expected {place}…{expected}…, got {made.returncode} {made.stderr!r}")


def without_places(text):
    """The writer decides the offsets of chunks."""
    return [line.split()[3:] if line.startswith("chunk") else line for line in text.splitlines()]


if __name__ == "__main__":
    main()
