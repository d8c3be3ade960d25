"""libargus.so.1 as it is installed: its header alone in C and C++, its ABI, and examples/api with pkg-config, outside the tree."""
import os
import shlex
import shutil
import subprocess

import abi
from harness import Skip, expect, expect_equal, expect_in, freezes, main
from manifest import cmake, keep_manifest


def succeed(*words, **environment):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})
    expect(done.returncode == 0, f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def flags(prefix):
    if not shutil.which("pkg-config"):
        raise Skip("pkg-config is not installed")
    file = next(prefix.rglob("argus.pc"))
    return shlex.split(succeed("pkg-config", "--cflags", "--libs", "argus", PKG_CONFIG_PATH=str(file.parent),
                               PKG_CONFIG_ALLOW_SYSTEM_LIBS="1", PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1"))


def check_installed(setup, prefix):
    header, library = next(prefix.rglob("argus.h")), next(prefix.rglob("libargus.so.1"))
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-include", header, "/dev/null"]
    succeed("cc", "-std=c17", "-x", "c", *strict)
    succeed("c++", "-std=c++11", "-x", "c++", *strict)
    program = setup.folder / "list_hangs"
    source = shutil.copy(setup.source / "examples/api/list_hangs.c", setup.folder)
    sanitized = ["-fsanitize=address,undefined"] if b"__asan_init" in library.read_bytes() else []
    succeed("cc", "-Wall", "-Werror", *sanitized, source, *flags(prefix), "-o", program)
    expect_in("libargus.so.1", succeed("readelf", "-d", program))
    return program, str(library.parent)


def test_installed(setup):
    prefix = setup.folder / "prefix"
    trace = setup.trace("freeze", freezes(3000, 2500))

    def work():
        cmake(setup, "--install", setup.build, "--prefix", prefix)
        program, folder = check_installed(setup, prefix)
        shown = succeed(program, trace, LD_LIBRARY_PATH=folder)
        expect_in("editor0 (3.00 s)\n  editor0's main thread was frozen for 3.00 s because it waited for helper0", shown)
        expect_in("\n  helper1 [111]: helper1 [111]", shown)
        failed = subprocess.run([str(program), "/etc/passwd"], capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": folder})
        expect_equal("exit code", failed.returncode, 1)
        expect_in("/etc/passwd is not an Argus trace: it is plain text", failed.stderr)

    keep_manifest(setup, work)


def test_abi(setup):
    got = abi.abi(setup.build / "lib/api/libargus.so.1", setup.source / "api/argus.h")
    wanted = (setup.source / "tests/api/abi.txt").read_text(encoding="utf-8").splitlines()
    expect_equal("no longer there, or changed", [line for line in wanted if line not in got], [])
    expect_equal("not in tests/api/abi.txt (abi.py --write)", [line for line in got if line not in wanted], [])


if __name__ == "__main__":
    main()
