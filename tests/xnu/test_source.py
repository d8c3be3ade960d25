"""The patches on Apple's source in ARGUS_XNU_DIR: all of them apply, and the added code compiles; and the lines that docs/macos-calls.md names.
Nothing in that folder is changed."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
SKIPPED = 77


def wrong_lines(source):
    """The rows of docs/macos-calls.md whose word is not near its line, since lines move between tags; without those of libpthread."""
    text = (ROOT / "docs/macos-calls.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| ([\w/.]+):(\d+) `(\w+)`", text)
    assert len(rows) > 10
    for name, number, word in rows:
        lines = (pathlib.Path(source) / name).read_text(encoding="utf-8").split("\n")
        if not any(word in line for line in lines[max(0, int(number) - 40):int(number) + 40]):
            yield f"{name}:{number} has no {word}"


def main():
    source = os.environ.get("ARGUS_XNU_DIR")
    if not source:
        print("skipped: ARGUS_XNU_DIR is not set: xnu-11417.121.6 is not here to apply the patches to")
        return SKIPPED
    wrong = list(wrong_lines(source))
    if wrong:
        print("docs/macos-calls.md:", *wrong, sep="\n")
        return 1
    done = subprocess.run([ROOT / "xnu-patch/check_apply.sh", "--dry-run", source], check=False)
    if done.returncode or not shutil.which("clang-19"):
        return done.returncode
    return subprocess.run([ROOT / "xnu-patch/check_compile.py", source], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
