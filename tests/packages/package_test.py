"""Makes the Debian packages of this build and checks their contents: package_test.py CPACK BUILD_FOLDER PREFIX"""
import pathlib
import subprocess
import sys
import tempfile

cpack, build, prefix = sys.argv[1:]


def run(*arguments):
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout


def expect(condition, message):
    if not condition:
        sys.exit(message)


def listing(package):
    """path → its line in the output of `dpkg-deb -c`"""
    lines = (line.split(maxsplit=5) for line in run("dpkg-deb", "-c", package).splitlines())
    return {line[5].split(" -> ")[0].lstrip("."): " ".join(line) for line in lines}


def check_contents(package):
    files = listing(package)
    for name in ("bin/argus", "bin/argus-recorder", "bin/argus-hook", "lib/argus/libargus.so", "lib/argus/libargus-hook.so.0",
                 "share/argus/argus.lldbinit", "share/argus/probes.conf", "include/argus.h"):
        expect(f"{prefix}/{name}" in files, f"{prefix}/{name} is not in {package}")
    links = [line for path, line in files.items() if path.endswith("/libargus.so") and "/argus/link/" not in path and " -> " in line]
    expect(len(links) == 1, f"one link by which LLDB finds the plugin, not {links}")
    expect(all("root/root" in line for line in files.values()), "a file does not belong to root")
    expect(not any(path.startswith(("/etc", "/var", "/tmp", build)) for path in files), "a file of the build is in the package")


def check_fields(package):
    depends = run("dpkg-deb", "-f", package, "Depends")
    for library in "libbpf", "libdw", "libelf", "libcapstone", "libjansson", "libedit", "zlib1g", "libzstd1", "libsodium", "libc6":
        expect(library in depends, f"{library} is not among the dependencies: {depends}")
    expect("lldb" not in depends, f"the package depends on a version of LLDB: {depends}")
    expect("lldb" in run("dpkg-deb", "-f", package, "Recommends"), "LLDB is not recommended")


def check_lldbinit(package, folder):
    run("dpkg-deb", "-x", package, str(folder))
    text = (folder / prefix.lstrip("/") / "share/argus/argus.lldbinit").read_text()
    expect(f'plugin load "{prefix}/lib/argus/libargus.so"' in text, f"argus.lldbinit loads another file:\n{text}")


with tempfile.TemporaryDirectory() as name:
    done = subprocess.run([cpack, "--config", f"{build}/CPackConfig.cmake", "-B", name], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    expect(done.returncode == 0, done.stdout)
    packages = list(pathlib.Path(name).glob("argus_*.deb"))
    expect(len(packages) == 1, f"not one package: {done.stdout}")
    check_contents(str(packages[0]))
    check_fields(str(packages[0]))
    check_lldbinit(str(packages[0]), pathlib.Path(name) / "unpacked")
    symbols = list(pathlib.Path(name).glob("argus-dbgsym_*.ddeb"))
    expect(len(symbols) == 1, "no package with debug symbols")
    expect(any(path.endswith(".debug") for path in listing(str(symbols[0]))), "argus-dbgsym has no debug symbols")
