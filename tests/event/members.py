#!/usr/bin/env python3
"""Members by the debug information of several compilers, against what the compiled programs print about themselves.

    members.py PRINT_MEMBERS FOLDER

A program prints lines "NUMBERS BYTES BITS NAME": NAME is expected for the numbers, and the other way round.
"""
import pathlib
import shutil
import subprocess
import sys

C = r"""
#include <stddef.h>
#include <stdio.h>
struct net { int unused; volatile int state; unsigned urgent : 1, closing : 3; unsigned char level;
             union { int code; struct { short low, high; }; }; };
typedef struct net net_t;
struct later;
struct app { long id; net_t *net; struct net nets[4]; int table[3][5]; void *private; int *counts; struct later *later; };
struct app *app, settings;
__thread struct net own;
struct net **list;
int plain;
#define TELL(format, bytes, bits, name, ...) printf(format " %d %d %s\n", __VA_ARGS__, bytes, bits, name)
#define NET(member) offsetof(struct net, member)
#define APP(member) offsetof(struct app, member)
extern int use_later(void);
int main(void) {
    static struct net hidden;
    hidden.state = own.state = plain;
    TELL("app->0x%zx", 8, 0, "app->id", APP(id));
    TELL("app->0x%zx->0x%zx", 4, 0, "app->net->state", APP(net), NET(state));
    TELL("app->0x%zx", 4, 0, "app->nets[2].state", APP(nets[2].state));
    TELL("app->0x%zx", 4, 0, "app->table[1][3]", APP(table[1][3]));
    TELL("app->0x%zx->0x8", 4, 0, "app->private->0x8", APP(private));
    TELL("app->0x%zx->0x8", 4, 0, "app->counts[2]", APP(counts));
    TELL("settings+0x%zx", 1, 0, "settings.nets[1].level", APP(nets[1].level));
    TELL("settings+0x%zx->0x%zx", 2, 0, "settings.net->high", APP(net), NET(high));
    TELL("settings+0x%zx->0x%zx", 4, 0, "settings.net->code", APP(net), NET(code));
    TELL("settings+0x%zx", 1, 1, "settings.nets[0].urgent", APP(nets[0]) + NET(level) - 1);
    TELL("settings+0x%zx", 1, 4, "settings.nets[0].closing", APP(nets[0]) + NET(level) - 1);
    TELL("own+0x%zx", 4, 0, "own.state", NET(state));
    TELL("list->0x0->0x%zx", 4, 0, "list[0]->state", NET(state));
    TELL("app->0x%zx->0x8", 8, 0, "app->later->second", APP(later));
    return (app != 0) + (list != 0) + use_later();
}
"""

# The unit that has the type, which the other one only declares.
LATER = "struct later { long first, second; } later; int use_later(void) { return (int)later.second; }\n"

CPP = r"""
#include <atomic>
#include <cstdio>
namespace shop {
struct Base { virtual ~Base() = default; long number = 0; };
struct Empty {};
template <class T> struct Holder { T *pointer = nullptr; T value{}; };
struct Net { int unused = 0; std::atomic<int> state{0}; };
class Window : public Base, private Empty {
public:
    int dirty = 0;
    Holder<Net> holder;
    static Window *instance;
    struct { int first, second; };
    size_t at(const void *member) const { return (const char *)member - (const char *)this; }
};
Window *Window::instance;
Holder<Window> open;
}
#define TELL(format, bytes, name, ...) printf(format " %d 0 %s\n", __VA_ARGS__, bytes, name)
int main() {
    shop::Window window;
    shop::Net net;
    size_t state = (const char *)&net.state - (const char *)&net;
    TELL("shop::Window::instance->0x%zx", 4, "shop::Window::instance->dirty", window.at(&window.dirty));
    TELL("shop::Window::instance->0x%zx", 8, "shop::Window::instance->number", window.at(&window.number));
    TELL("shop::Window::instance->0x%zx", 4, "shop::Window::instance->second", window.at(&window.second));
    TELL("shop::Window::instance->0x%zx->0x%zx", 4, "shop::Window::instance->holder.pointer->state._M_i",
         window.at(&window.holder.pointer), state);
    TELL("shop::open->0x%zx", 4, "shop::open.pointer->holder.value.state._M_i", window.at(&window.holder.value) + state);
    TELL("shop::open+0x%zx", 4, "shop::open.value.dirty", sizeof(void *) + window.at(&window.dirty));
    return shop::Window::instance != nullptr || shop::open.pointer != nullptr;
}
"""


def build(folder, name, compiler, sources, options):
    program = folder / name
    paths = []
    for i, (source, suffix) in enumerate(sources):
        paths.append(folder / f"{name}-{i}.{suffix}")
        paths[-1].write_text(source, encoding="ascii")
    subprocess.run([compiler, *options, "-o", program, *paths], check=True)
    return program


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout.strip()


def check(tool, program, failures):
    lines = run(program).splitlines()
    for line in lines:
        numbers, size, bits, name = line.split()
        is_field = bits != "0"
        told = run(tool, program, numbers, size, bits)
        wanted = f"{name} 0" + (" bits" if is_field else "")
        if told != wanted:
            failures.append(f"{program.name}: {numbers} is '{told}' instead of '{wanted}'")
        read = run(tool, program, "--read", name)
        if read != f"{numbers.replace('+0x0', '')} {size}" and ("0x8" not in name):
            failures.append(f"{program.name}: {name} is read as '{read}' instead of '{numbers} {size}'")
    return len(lines)


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    failures, count, last = [], 0, None
    for compilers, sources in (("gcc", "clang"), ((C, "c"), (LATER, "c"))), (("g++", "clang++"), ((CPP, "cpp"),)):
        for compiler in filter(shutil.which, compilers):
            for options in ("-O0", "-g"), ("-O2", "-g"), ("-O2", "-gdwarf-4"), ("-O1", "-g", "-fdebug-types-section"):
                program = build(folder, f"{compiler}{''.join(options)}", compiler, sources, ["-w", *options])
                count += check(tool, program, failures)
                last = last or program
    errors = {"app->stat": "'app' has no member 'stat'; it has id, net, nets, table, private, counts, later",
              "app->private->x": "does not tell the type at 'app->private->'",
              "plain->x": "'plain' is not a pointer",
              "nothing->x": "nothing->x 0"}
    for name, wanted in errors.items():
        if wanted not in (said := run(tool, last, "--read", name)):
            failures.append(f"{name}: '{said}' instead of '{wanted}'")
    stripped = folder / "stripped"
    run("strip", "-g", "-o", stripped, last)
    if (said := run(tool, stripped, "app->0x8", "8")) != "-":
        failures.append(f"without debug information: '{said}'")
    print(*failures, sep="\n")
    assert count, "no compiler"
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
