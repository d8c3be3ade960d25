"""Which files `cmake --install` installs where, and that they work from there."""
import os
import pathlib
import shutil
import subprocess

from harness import expect, expect_equal, expect_in, freezes, main


def install(setup):
    prefix = setup.folder / "a prefix"
    if not prefix.exists():
        subprocess.run(["cmake", "--install", str(setup.build), "--prefix", str(prefix)], check=True, timeout=120,
                       stdout=subprocess.DEVNULL)
    return prefix


def test_files(setup):
    prefix = install(setup)
    for name in "bin/argus", "bin/argus-recorder", "share/argus/argus.lldbinit":
        expect((prefix / name).exists(), f"{name} is not installed")
    plugins = list(prefix.glob("lib*/**/argus/libargus.so"))
    expect_equal("plugins", len(plugins), 1)
    expect_in(f'plugin load "{plugins[0]}"', (prefix / "share/argus/argus.lldbinit").read_text())


def test_debug_finds_the_installed_plugin(setup):
    prefix, path = install(setup), setup.trace("one", freezes(3000))
    lldb = setup.lldb()
    done = subprocess.run([str(prefix / "bin/argus"), "debug", "--batch", "-o", "argus hangs", str(path)], cwd="/",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    expect_equal(f"exit code of {lldb}", done.returncode, 0)
    expect_in(str(prefix), done.stdout)
    expect_in("editor0", done.stdout)


def test_lldbinit(setup):
    prefix = install(setup)
    done = subprocess.run([setup.lldb(), "--no-lldbinit", "--batch", "-o",
                           f'command source -s true "{prefix}/share/argus/argus.lldbinit"', "-o", "argus version"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    expect_equal("exit code", done.returncode, 0)
    expect_in("trace format", done.stdout)


def test_lldbinit_at_the_start(setup):
    """Loads the plugin from ~/.lldbinit and from a program's own file, also twice, with commands on standard input: no command is lost."""
    line = f'command source "{install(setup)}/share/argus/argus.lldbinit"\n'
    program = pathlib.Path(shutil.which(setup.lldb())).resolve().name
    for name in ".lldbinit", f".lldbinit-{program}":
        home = setup.folder / f"home{name}"
        home.mkdir(exist_ok=True)
        (home / name).write_text(line * 2)
        done = subprocess.run([setup.lldb()], input="argus version\nversion\nquit\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120, env={**os.environ, "HOME": str(home)})
        expect_equal(f"exit code with {name}", done.returncode, 0)
        expect_in("trace format", done.stdout)
        expect_in("lldb version", done.stdout.split("(lldb) version")[1])


def test_lldbinit_by_name(setup):
    """A line without a path: the dynamic linker finds the link, as it does for a package in /usr/lib."""
    links = [path for path in install(setup).glob("lib*/**/libargus.so") if path.is_symlink() and "link" not in path.parts]
    expect_equal("links", len(links), 1)
    home = setup.folder / "home by name"
    home.mkdir(exist_ok=True)
    (home / ".lldbinit").write_text("plugin load libargus.so\n")
    done = subprocess.run([setup.lldb(), "--batch", "-o", "argus version"], cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120,
                          env={**os.environ, "HOME": str(home), "LD_LIBRARY_PATH": str(links[0].parent)})
    expect_equal("exit code", done.returncode, 0)
    expect_in("trace format", done.stdout)


main()
