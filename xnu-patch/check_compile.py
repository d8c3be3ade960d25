#!/usr/bin/env python3
"""Compiles what the patches add to xnu, as far as that goes without Apple's build.

    xnu-patch/check_compile.py XNU_DIR [--clang CLANG]

XNU_DIR is the source without the patches; it is not changed. The patched files are given to clang -fsyntax-only with
the kernel's own headers, for arm64 and x86_64 and with the tracing level of the release kernels (IST). What only a
build makes (MIG's headers, sys/sysproto.h …) is empty here, so there are errors in Apple's lines. None may be in ours.

That clang came as far as our lines at all is checked as well: once more with an undeclared name in each of our
KDBG_RELEASE, of which each must be reported.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = {"arm64": ["-target", "arm64e-apple-macos15", "-DARM64_BOARD_CONFIG_T8101"],
           "x86_64": ["-target", "x86_64-apple-macos15"]}
DEFINES = ["KERNEL", "KERNEL_PRIVATE", "XNU_KERNEL_PRIVATE", "MACH_KERNEL_PRIVATE", "BSD_KERNEL_PRIVATE", "MACH_KERNEL", "PRIVATE",
           "APPLE", "MACH", "NEXT", "KDEBUG=1", "IST_KDEBUG=1", "KPERF=1", "CONFIG_MACF=1", "CONFIG_DTRACE=0", "MACH_BSD=1",
           "SCHED_HYGIENE_DEBUG=0", "CONFIG_SCHED_TIMESHARE_CORE=1", "CONFIG_REQUIRES_U32_MUNGING=1", "CONFIG_THREAD_GROUPS=1"]
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wshorten-64-to-32", "-Wsign-compare"]
FOLDERS = ["osfmk", "bsd", "libkern", "iokit", "pexpert", "security", ".", "EXTERNAL_HEADERS", "libkdd", "osfmk/libsa"]
PROBE = "argus_was_here"


def added_lines(patch):
    """{file: the numbers of our lines in it}, from the heads of the hunks."""
    added, name = {}, None
    for line in patch.read_text(encoding="utf-8").split("\n"):
        if line.startswith("+++ b/"):
            name = line[len("+++ b/"):]
            added[name] = set()
        head = re.match(r"@@ -\d+,0 \+(\d+)(?:,(\d+))? @@", line)
        if head:
            first, count = int(head[1]), int(head[2] or 1)
            added[name].update(range(first, first + count))
    return added


def architectures(name):
    if "/arm" in name:
        return ["arm64"]
    return ["x86_64"] if "/i386/" in name else ["arm64", "x86_64"]


class Workshop:
    """The patched files, headers that a build would make, and a way to compile."""

    def __init__(self, xnu, clang, folder):
        self.xnu, self.clang = xnu, clang
        self.patched, self.made = folder / "patched", folder / "made"
        (self.made / "san").mkdir(parents=True)
        for header in [*xnu.glob("san/memory/*.h"), *xnu.glob("san/coverage/*.h")]:
            shutil.copy(header, self.made / "san")
        (self.made / "sys").mkdir()
        self.make_syscalls()
        for patch in sorted(HERE.glob("*.patch")):
            self.apply(patch)

    def make_syscalls(self):
        """sys/syscall.h: the numbers, as bsd/kern/makesyscalls.sh makes them of syscalls.master."""
        lines = []
        for line in (self.xnu / "bsd/kern/syscalls.master").read_text(encoding="utf-8").split("\n"):
            row = re.match(r"(\d+)\s+\S+\s+\S+\s+\{\s*[\w\s*]*?\**(\w+)\(", line)
            if row:
                lines.append(f"#define SYS_{row[2]} {row[1]}")
        (self.made / "sys/syscall.h").write_text("\n".join(dict.fromkeys(lines)) + "\n", encoding="utf-8")

    def apply(self, patch):
        for name in added_lines(patch):
            (self.patched / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.xnu / name, self.patched / name)
        subprocess.run(["patch", "-d", self.patched, "-p1", "-s", "-F0", "-i", patch], check=True)

    def errors(self, name, arch, source):
        """clang's messages, headers that are missing made (empty) until there are none."""
        first = [name.split("/")[0], "osfmk", "bsd"]
        include = [self.patched / folder for folder in first] + [self.made]
        include += [self.xnu / folder for folder in [first[0], *FOLDERS]]
        command = [self.clang, *TARGETS[arch], "-fsyntax-only", "-ferror-limit=0", "-nostdlibinc", "-std=gnu11", "-fblocks",
                   "-fno-builtin", *WARNINGS, *("-D" + define for define in DEFINES)]
        command += [word for folder in include for word in ("-I", str(folder))]
        while True:
            done = subprocess.run([*command, "-x", "c", str(source)], capture_output=True, text=True, check=False)
            missing = re.search(r"fatal error: '([^']+)' file not found", done.stderr)
            if not missing:
                return done.stderr
            made = self.made / missing[1]
            if made.exists():
                sys.exit(f"{name}: {done.stderr}")
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text("", encoding="utf-8")


def ours(messages, source, lines):
    for message in messages.split("\n"):
        place = re.match(r"(.*?):(\d+):\d+: (?:error|warning): ", message)
        if place and place[1] == str(source) and int(place[2]) in lines:
            yield message


def probe(source, lines):
    """A copy of the source with an undeclared name in each of our KDBG_RELEASE; and how many there are."""
    text = source.read_text(encoding="utf-8").split("\n")
    count = 0
    for number in lines:
        text[number - 1], here = re.subn(r"KDBG_RELEASE\(", f"KDBG_RELEASE({PROBE}{number} + ", text[number - 1])
        count += here
    other = source.with_suffix(".probe.c")
    other.write_text("\n".join(text), encoding="utf-8")
    return other, count


def check(workshop, name, lines, arch):
    source = workshop.patched / name
    messages = workshop.errors(name, arch, source)
    findings = list(ours(messages, source, lines))
    other, count = probe(source, lines)
    seen = set(re.findall(PROBE + r"\d+", workshop.errors(name, arch, other)))
    if len(seen) != count:
        findings.append(f"{name}: clang reached {len(seen)} of {count} tracepoints for {arch}")
    return count, len(re.findall(": error: ", messages)), findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("xnu", type=pathlib.Path)
    parser.add_argument("--clang", default="clang-19")
    options = parser.parse_args()
    if not shutil.which(options.clang):
        sys.exit(f"{options.clang} is not here: install the package of that name (apt install {options.clang}; brew install llvm), "
                 "or name another clang from 14 on: --clang clang-14")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(options.xnu.resolve(), options.clang, pathlib.Path(folder))
        for patch in sorted(HERE.glob("*.patch")):
            for name, lines in added_lines(patch).items():
                for arch in architectures(name) if name.endswith(".c") else []:
                    count, others, findings = check(workshop, name, lines, arch)
                    bad += len(findings)
                    print(f"{name} {arch}: {count} tracepoints, {len(findings)} findings ({others} errors in Apple's lines)")
                    for finding in findings:
                        print("   ", finding)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
