"""examples/introperf/evaluate.py finds functions that were made slow, each among the first three contexts."""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import load_retry  # noqa: E402
import machine  # noqa: E402

CASES = {"sqlite-read": "libsqlite3.so", "python-zlib": "python3", "sqlite-timeout": "libsqlite3.so", "python-lock": "hold_lock"}


def reason_to_skip():
    missing = [program for program in ("sqlite3", "/usr/bin/python3", "cc") if not shutil.which(program)]
    return f"not installed: {', '.join(missing)}" if missing else machine.reason_to_skip_beside_others()


def wrong_cases(names):
    script = HERE.parent.parent / "examples/introperf/evaluate.py"
    done = subprocess.run([sys.executable, "-B", script, "--argus", sys.argv[1], *(names or CASES)], capture_output=True, text=True, timeout=100)
    print(done.stdout, done.stderr)
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line}
    wrong = [case for case in names or CASES if CASES[case] not in rows.get(case, "")]
    if wrong:
        print("no root cause:", *wrong)
    return wrong or (["?"] if done.returncode else [])


def main():
    reason = reason_to_skip()
    if reason:
        print("skipped:", reason)
        return 77
    return 0 if load_retry.passes(wrong_cases) else 1


if __name__ == "__main__":
    sys.exit(main())
