"""The units of systemd and the rule for polkit, as installed: systemd-analyze verifies them, and the commands in them work."""
import os
import re
import shlex
import shutil
import subprocess

from harness import Skip, expect, expect_equal, expect_in, main

UNITS = {"lib/systemd/system/argus.service": [], "lib/systemd/user/argus-on-hang.service": ["--user"]}


def install(setup):
    prefix = setup.folder / "prefix"
    if not prefix.exists():
        (setup.folder / "prefix").parent.chmod(0o755)  # another user runs the program from there
        subprocess.run(["cmake", "--install", str(setup.build), "--prefix", str(prefix)], check=True, timeout=120, stdout=subprocess.DEVNULL)
    return prefix


def program(name):
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin:/usr/lib/polkit-1")
    if not path:
        raise Skip(f"{name} is not installed")
    return path


def test_systemd_verifies_the_units(setup):
    prefix, analyze = install(setup), program("systemd-analyze")
    for unit, words in UNITS.items():
        done = subprocess.run([analyze, *words, "verify", "--man=no", str(prefix / unit)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60, env={**os.environ, "XDG_RUNTIME_DIR": str(setup.folder)})
        expect(done.returncode == 0 and unit.split("/")[-1] not in done.stdout, f"{unit}: {done.stdout}")


def test_nothing_is_enabled(setup):
    links = [path for path in install(setup).rglob("*") if path.is_symlink() and ".wants" in str(path)]
    expect_equal("links that enable a unit", links, [])


def test_paths_are_those_of_the_prefix(setup):
    prefix = install(setup)
    for unit in UNITS:
        for line in re.findall(r"^Exec(?:Start|Stop)=(.*)$", (prefix / unit).read_text(), re.M):
            expect_equal(f"program of {unit}", shlex.split(line)[0], str(prefix / "bin/argus"))
    expect_in(f'"{prefix}/bin/argus-recorder"', (prefix / f"share/doc/argus/examples/50-argus.rules").read_text())


def in_own_run(setup, script, *words):
    """Runs a script of this folder as root, in a mount namespace with an empty /run, so that it does not meet another recorder."""
    if os.geteuid() != 0 or subprocess.run([program("unshare"), "-m", "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("needs root and mount namespaces")
    done = subprocess.run([program("unshare"), "-m", "bash", str(setup.source / "tests/install" / script), *map(str, words)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200,
                          start_new_session=True)
    if done.returncode == 77:
        raise Skip(done.stdout.strip().splitlines()[-1])
    return done


def test_the_system_unit_records(setup):
    """Runs the unit's commands by hand with systemd's environment, because systemd does not run here."""
    done = in_own_run(setup, "run_unit.sh", install(setup) / "lib/systemd/system/argus.service")
    expect(done.returncode == 0, done.stdout)
    expect_in("recording into a ring of 64 MB in memory", done.stdout)
    expect_in("started by uid 0", done.stdout)
    expect_in("argus: stopped after", done.stdout)


def test_polkit_lets_the_group_record_and_nobody_else(setup):
    for name in "dbus-daemon", "polkitd", "pkexec", "setpriv":
        program(name)
    rule = install(setup) / "share/doc/argus/examples/50-argus.rules"
    member = in_own_run(setup, "run_polkit.sh", install(setup), rule, "alice")
    expect(member.returncode == 0, member.stdout)
    expect_in("looking for hangs of 2 s or more", member.stdout)
    expect_in("started by uid 4711", member.stdout)
    other = in_own_run(setup, "run_polkit.sh", install(setup), rule, "")
    expect(other.returncode == 1, other.stdout)
    expect_in("neither sudo nor polkit (pkexec) allowed it", other.stdout)


main()
