"""scripts/deps --sizes: the size of each group on a bare system; the demo stays small."""
import re
import shutil
import subprocess

from harness import Skip, expect, expect_equal, main

DEMO_MB = 400
ROW = re.compile(r"^ *([0-9.]+) MB  (\S+)$")


def sizes(setup, *groups):
    if not shutil.which("apt-get") or not subprocess.run(["apt-cache", "madison", "libelf-dev"], capture_output=True).stdout:
        raise Skip("apt knows no packages here (apt-get update)")
    done = subprocess.run([str(setup.source / "scripts/deps"), "--sizes", *groups], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=500)
    expect_equal("exit code", done.returncode, 0)
    total, *rows = done.stdout.splitlines()
    return float(total.split()[0]), [(float(mb), name) for mb, name in (ROW.match(row).groups() for row in rows)]


def test_the_demo_is_small(setup):
    total, rows = sizes(setup, "demo", "clang")
    names = {name for _, name in rows}
    expect("cmake" in names and "libbpf-dev" in names, f"the demo needs cmake and libbpf, not only {names}")
    expect("apt" not in names and "dpkg" not in names, "a bare system has apt and dpkg already")
    expect_equal("order", rows, sorted(rows, key=lambda row: -row[0]))
    expect(abs(total - sum(mb for mb, _ in rows)) < 0.1 * len(rows), f"{total} is not the sum of the rows")
    expect(total <= DEMO_MB, f"scripts/demo brings {total} MB of packages")


main()
