"""Cross-builds Argus for arm64 Linux, checks the result, and runs the quick tests of that build under qemu-user.

    cross_arm64.py SOURCE FOLDER

FOLDER gets the libraries of arm64 (root) and the build. Exit code 77: the cross compiler is not installed, or Debian's packages
cannot be downloaded. Where the emulator cannot be registered (scripts/arm64-run says why), the build is all that is checked.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys

SKIPPED = 77
AARCH64 = 183
LOAD = 1
LARGEST_PAGE = 0x10000  # arm64 kernels have pages of 4, 16 or 64 KB
BUILT = ("bin/argus", "bin/argus-recorder", "bin/argus-hook", "lib/libargus.so", "lib/libargus-hook.so",
         "examples/frozen-editor/editor")

# Tests that finish within a second or two under emulation, and need neither a recorder nor a debugger.
QUICK = "|".join((r"base\.", r"build\.", r"contexts\.inference", r"event\.", r"fuzz\.", r"graph\.(file|check|symbols)",
                  r"hooks\.(programs|table)", r"instruction\.", r"macos\.(kdebug|kdebug_file|macho)$",
                  r"recorder\.(clock_watch|hang_watch|event_format|kernel_btf|output|pace|perf_rows|protocol|rings|probe_list)",
                  r"slice\.account", r"steps\.(file|instruction)", r"trace\.(codec|memory|reader|writer)"))


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def run(words, **options):
    result = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False, **options)
    if result.returncode not in (0, SKIPPED):
        print(result.stdout[-20000:])
    return result


def make_root(source, root):
    result = run([source / "scripts/arm64-root", root])
    if result.returncode != 0:
        skip("there is no folder of arm64 libraries")


def build(source, root, folder):
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache")]
    for words in (["cmake", "-S", source, "-B", folder, "-G", "Ninja", "--toolchain", source / "cmake/aarch64-linux.cmake",
                   f"-DARGUS_SYSROOT={root}", "-DARGUS_WERROR=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", *launcher],
                  ["nice", "cmake", "--build", folder, "-j", str(os.cpu_count())]):
        if run(words).returncode != 0:
            sys.exit(f"'{' '.join(str(word) for word in words)}' failed")


def segments(data):
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<2H", data, 54)
    for i in range(count):
        yield struct.unpack_from("<2I6Q", data, table + i * size)


def check(path):
    """An ELF file for arm64 that every page size can map."""
    data = path.read_bytes()
    machine, = struct.unpack_from("<H", data, 18)
    assert data[:4] == b"\x7fELF" and machine == AARCH64, f"{path} is for machine {machine}"
    for kind, _, _, _, _, _, _, align in segments(data):
        assert kind != LOAD or align >= LARGEST_PAGE, f"{path}: segments are aligned to {align:#x} only"


def run_tests(source, root, folder):
    result = run([source / "scripts/arm64-run", root, "nice", "ctest", "--test-dir", folder, "-R", f"^({QUICK})", "-j",
                  str(os.cpu_count()), "--timeout", "300", "--output-on-failure", "--no-tests=error"])
    print("\n".join(result.stdout.splitlines()[-12:]))
    if result.returncode not in (0, SKIPPED):
        sys.exit("tests failed under qemu-user")


def main():
    source, folder = (pathlib.Path(word).absolute() for word in sys.argv[1:3])
    for tool in ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "apt-get"):
        if not shutil.which(tool):
            skip(f"{tool} is missing; run scripts/deps arm64")
    folder.mkdir(exist_ok=True)
    root = folder / "root"
    make_root(source, root)
    build(source, root, folder / "build")
    for name in BUILT:
        check(folder / "build" / name)
    run_tests(source, root, folder / "build")


main()
