"""Cross-builds argus, its LLDB plugin and argus-recorder for macOS by zig, and checks the results.

    cross.py SOURCE BUILD_FOLDER aarch64|x86_64 [TEST_MACHO]

TEST_MACHO: the program that reads the results with our own reader (test_macho). Exit code 77: zig is missing and cannot be downloaded.
"""
import pathlib
import re
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "hooks"))
import macho as hooks_macho  # noqa: E402, pylint: disable=wrong-import-position

SKIPPED = 77
CPU = {"aarch64": 0x0100000C, "x86_64": 0x01000007}
EXECUTABLE, DYLIB = 2, 6
SYMTAB, LOAD_DYLIB, ID_DYLIB, UUID, SIGNATURE, BUILD_VERSION, MAIN = 0x2, 0xC, 0xD, 0x1B, 0x1D, 0x32, 0x80000028
MACOS = 1
SYSTEM = "/usr/lib/libSystem.B.dylib"
BREW = {"aarch64": "/opt/homebrew", "x86_64": "/usr/local"}

# file → kind, libraries that it may load besides libSystem ("{}": Homebrew's folder)
EXPECTED = {
    "bin/argus": (EXECUTABLE, {"/usr/lib/libz.1.dylib", "/usr/lib/libedit.3.dylib", "/usr/lib/libc++.1.dylib",
                               "/usr/lib/libsqlite3.dylib", "{}/opt/jansson/lib/libjansson.4.dylib", "{}/opt/popt/lib/libpopt.0.dylib",
                               "{}/opt/capstone/lib/libcapstone.5.dylib", "{}/opt/libplist/lib/libplist-2.0.4.dylib"}),
    # Runs as root: no library but the system's.
    "bin/argus-recorder": (EXECUTABLE, {"/usr/lib/libz.1.dylib"}),
    "bin/argus-hook": (EXECUTABLE, {"/usr/lib/libz.1.dylib", "/usr/lib/libsqlite3.dylib", "/usr/lib/libc++.1.dylib", "{}/opt/capstone/lib/libcapstone.5.dylib",
                                    "{}/opt/jansson/lib/libjansson.4.dylib", "{}/opt/libplist/lib/libplist-2.0.4.dylib"}),
    # Loaded into programs of users.
    "lib/argus/libargus-hook.dylib": (DYLIB, set()),
}
EXPECTED["lib/argus/libargus.dylib"] = (DYLIB, EXPECTED["bin/argus"][1])


class MachO:
    """The load commands and other facts of one 64-bit file that matter to a loader."""

    def __init__(self, path):
        data = path.read_bytes()
        magic, self.cpu, _, self.kind, count, _, _, _ = struct.unpack_from("<8I", data)
        assert magic == 0xFEEDFACF, f"{path}: magic {magic:#x}"
        self.commands, self.libraries, self.undefined, self.exported, self.platform = set(), [], set(), set(), None
        at = 32
        for _ in range(count):
            kind, length = struct.unpack_from("<2I", data, at)
            self.commands.add(kind)
            if kind in (LOAD_DYLIB, ID_DYLIB):
                name = data[at + struct.unpack_from("<I", data, at + 8)[0]:at + length].split(b"\0")[0].decode()
                self.libraries.append(name) if kind == LOAD_DYLIB else setattr(self, "name", name)
            elif kind == BUILD_VERSION:
                self.platform, self.oldest = struct.unpack_from("<2I", data, at + 8)
            elif kind == SYMTAB:
                self.read_symbols(data, *struct.unpack_from("<4I", data, at + 8))
            at += length

    def read_symbols(self, data, offset, count, names, _):
        for i in range(count):
            name, kind, _, _, _ = struct.unpack_from("<IBBHQ", data, offset + 16 * i)
            text = data[names + name:data.index(b"\0", names + name)].decode()
            if kind & 0x01 and not kind & 0xE0:
                (self.undefined if kind & 0x0E == 0 else self.exported).add(text)


def check(path, arch, kind, libraries):
    file = MachO(path)
    assert file.cpu == CPU[arch], f"{path}: cpu {file.cpu:#x}"
    assert file.kind == kind, f"{path}: kind {file.kind}"
    assert file.platform == MACOS and file.oldest == 13 << 16, f"{path}: platform {file.platform}, from {file.oldest:#x}"
    assert UUID in file.commands, f"{path}: no UUID"
    assert kind != EXECUTABLE or MAIN in file.commands, f"{path}: no entry"
    assert arch != "aarch64" or SIGNATURE in file.commands, f"{path}: Apple silicon runs nothing that is not signed"
    allowed = {SYSTEM, *(name.format(BREW[arch]) for name in libraries)}
    assert set(file.libraries) <= allowed, f"{path}: loads {set(file.libraries) - allowed}"
    assert SYSTEM in file.libraries, f"{path}: {file.libraries}"
    return file


def check_plugin(file):
    assert any("PluginInitialize" in name and "lldb" in name for name in file.exported), sorted(file.exported)[:20]
    others = {name for name in file.exported if "argus" in name and "lldb" not in name}
    assert len(file.exported) < 60, f"the plugin exports {len(file.exported)} names: {sorted(others)[:10]}"
    assert any("SBDebugger" in name for name in file.undefined), "the plugin must take LLDB from its host"


def build(source, folder, arch):
    """Builds and installs; returns the exit code."""
    done = subprocess.run([source / "scripts/macos-build", "--unoptimized", arch, folder], capture_output=True, text=True, check=False)
    if done.returncode:
        print("\n".join(line for line in done.stdout.splitlines() if re.search("error:|^FAILED|undefined", line)), done.stderr)
    return done.returncode


def check_names(folder, arch):
    """What finds the libraries: the name by which generated hooks load the runtime, and the plugin's place in the file for LLDB."""
    runtime = MachO(folder / "lib/argus/libargus-hook.dylib")
    assert runtime.name == "@rpath/libargus-hook.dylib", runtime.name
    text = (folder / "share/argus/argus.lldbinit").read_text(encoding="utf-8")
    assert "/usr/local/lib/argus/libargus.dylib" in text, text
    if arch == "aarch64":
        for name in EXPECTED:
            print(name, *hooks_macho.signature((folder / name).read_bytes()))


def main():
    source, folder, arch = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
    if subprocess.run([source / "scripts/zig", "--path"], stdout=subprocess.DEVNULL, check=False).returncode:
        print("zig (PyPI: ziglang) is not here and cannot be had: nothing is cross-built")
        return SKIPPED
    folder.mkdir(parents=True, exist_ok=True)
    if build(source, folder, arch):
        return 1
    folder = folder.resolve() / f"argus-macos-{arch}/usr/local"
    for name, (kind, libraries) in EXPECTED.items():
        file = check(folder / name, arch, kind, libraries)
        if name == "lib/argus/libargus.dylib":
            check_plugin(file)
        print(f"{name}: {arch}, {len(file.libraries)} libraries, {len(file.undefined)} undefined, {len(file.exported)} exported")
    check_names(folder, arch)
    if len(sys.argv) > 4:
        return subprocess.run([sys.argv[4], folder / "bin/argus-recorder", arch, "main", "kdebug_session_begin"], check=False).returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
