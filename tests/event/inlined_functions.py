#!/usr/bin/env python3
"""Inlined functions in programs of the compilers of this machine, also without .debug_aranges.

    inlined_functions.py PRINT_INLINES FOLDER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

C = """\
int work(int);
static inline __attribute__((always_inline)) int inner(int n) {
    return work(n) + 1;
}
static inline __attribute__((always_inline)) int middle(int n) {
    return inner(n) * 3;
}
__attribute__((noinline)) int outer(int n) {
    return middle(n) + 7;
}
__attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n; }
int main(int argc, char **argv) { (void)argv; return outer(argc); }
"""

# A label inside a function, as gcc's link-time optimization writes for each file.
LABEL = C.replace("return middle(n) + 7;", '__asm__ volatile("nop; file.c.1234:"); return middle(n) + 7;')

CPP = """\
int work(int);
namespace deep { namespace er {
struct Box {
    inline __attribute__((always_inline)) int inner(int n) {
        return work(n) + 1;
    }
};
__attribute__((noinline)) int outer(int n) {
    Box box;
    return box.inner(n) * 3;
}
} }
__attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n; }
int main(int argc, char **) { return deep::er::outer(argc); }
"""

# A function inside a function, which is not inlined itself.
LAMBDA = """\
int work(int);
static inline __attribute__((always_inline)) int inner(int n) {
    return work(n) + 1;
}
__attribute__((noinline)) int around(int n) {
    auto outer = [](int m) __attribute__((noinline)) {
        return inner(m) * 3;
    };
    return outer(n) + 7;
}
__attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n; }
int main(int argc, char **) { return around(argc); }
"""

RUST = """\
mod deep {
    #[inline(always)]
    fn inner(n: u32) -> u32 {
        super::work(n) + 1
    }
    #[inline(never)]
    pub fn outer(n: u32) -> u32 {
        inner(n) * 3
    }
}
#[inline(never)]
fn work(n: u32) -> u32 { std::hint::black_box(n) }
fn main() { std::process::exit(deep::outer(std::hint::black_box(5)) as i32); }
"""

GO = """\
package main

import "os"

func inner(n int) int {
	return work(n) + 1
}

//go:noinline
func outer(n int) int {
	return inner(n) * 3
}

//go:noinline
func work(n int) int { return n }

func main() { os.Exit(outer(len(os.Args))) }
"""

# Compiler, ending of the source file, source, arguments, part of the symbol, regular expression of a chain. To add one: a row.
C_CHAIN = r"inner:3 middle:6 outer:9"
CPP_CHAIN = r"_ZN4deep2er3Box5innerEi:5 outer:10"
GO_CHAIN = r"main\.inner:6 main\.outer:11"
ROWS = [
    ("gcc", "c", C, ["-O2", "-g", "-o"], "outer", C_CHAIN),
    ("gcc", "c", C, ["-O2", "-gdwarf-4", "-o"], "outer", C_CHAIN),
    ("gcc", "c", LABEL, ["-O2", "-g", "-o"], "outer", C_CHAIN),
    ("clang", "c", C, ["-O2", "-g", "-o"], "outer", C_CHAIN),
    ("g++", "cpp", CPP, ["-O2", "-g", "-o"], "outer", CPP_CHAIN),
    ("g++", "cpp", LAMBDA, ["-O2", "-g", "-o"], "aroundiENK", r"\w*inner\w*:3 aroundiENK:7"),
    ("rustc", "rs", RUST, ["-O", "-g", "-o"], "outer", r"\w*deep5inner\w*:4 outer:8"),
    ("go", "go", GO, ["build", "-o"], "main.outer", GO_CHAIN),
    ("go", "go", GO, ["build", "-ldflags=-s -w", "-o"], "main.outer", GO_CHAIN),  # by Go's own table
    ("go", "go", GO, ["build", "-ldflags=-s -w", "-buildmode=pie", "-o"], "main.outer", GO_CHAIN),
]


# Compiler, further arguments. The functions are in a file of their own (.dwo). To add one: a row.
SPLIT_ROWS = [("gcc", ["-gdwarf-5"]), ("gcc", ["-gdwarf-4"]), ("clang", ["-gdwarf-5"]), ("clang", ["-gdwarf-4"])]


def found(compiler):
    """The path of a compiler, perhaps with its version in the name. None: it is not here."""
    return next(filter(None, map(shutil.which, (compiler, *(f"{compiler}-{version}" for version in range(21, 13, -1))))), None)


def check(tool, program, symbol, chain):
    lines = subprocess.run([tool, program, symbol], check=True, capture_output=True, text=True).stdout.splitlines()
    if not any(re.fullmatch(chain, line) for line in lines):
        sys.exit(f"{program}: no {chain} in {lines}")
    if not any(re.fullmatch(re.escape(symbol) + r":\d+", line) for line in lines):
        sys.exit(f"{program}: {symbol} has no code of its own: {lines}")


def check_split(tool, folder, compiler, words):
    """With the .dwo; without it, and with a FIFO of its name, which nobody writes to."""
    (folder / "split.c").write_text(C)
    program, split = folder / "split", folder / "unit.dwo"
    subprocess.run([compiler, "-O2", *words, "-gsplit-dwarf", "-c", "split.c", "-o", "unit.o"], check=True, cwd=folder)
    subprocess.run([compiler, "unit.o", "-o", program], check=True, cwd=folder)
    check(tool, program, "outer", C_CHAIN)
    split.rename(folder / "kept.dwo")
    for make in (lambda: None, lambda: os.mkfifo(split)):
        make()
        out = subprocess.run([tool, program, "outer"], check=True, capture_output=True, text=True, timeout=60).stdout
        if "inner" in out or out.splitlines()[-1] != "missing 1: unit.dwo" or "outer:" not in out:
            sys.exit(f"{compiler} {words}, without {split}: {out}")
    split.unlink()
    print(f"{compiler} {' '.join(words)} -gsplit-dwarf: good")


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, (compiler, ending, source, words, symbol, chain) in enumerate(ROWS):
        if not found(compiler) or not shutil.which("objcopy"):
            print(f"{compiler}: not here")
            continue
        text, program, bare = (folder / f"program{number}{end}" for end in ("." + ending, "", ".bare"))
        text.write_text(source)
        subprocess.run([found(compiler), *words, program, text], check=True, cwd=folder, timeout=300)
        check(tool, program, symbol, chain)
        subprocess.run(["objcopy", "--remove-section=.debug_aranges", program, bare], check=True)
        check(tool, bare, symbol, chain)
        print(f"{compiler} {' '.join(words[:-1])}: good")
    for compiler, words in SPLIT_ROWS:
        if found(compiler):
            check_split(tool, folder, found(compiler), words)


main()
