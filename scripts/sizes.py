"""Sizes of files and functions: reads file names from stdin, prints medians, and fails on what is too long.

A function is found by the formatter's own style: it opens with "{" in the first column and ends with "}" there.
Tables (.def) are exempt.
"""
import pathlib
import statistics
import sys

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 80


def functions(lines):
    """Yields (line number, name, lines) of each function."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield start - 1, lines[start - 2].strip(), number - start - 1
            start = None


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main():
    files, bodies, findings = [], [], []
    for name in sys.stdin.read().split():
        lines = pathlib.Path(name).read_text(encoding="utf-8").splitlines()
        files.append(len(lines))
        if len(lines) > FILE_LINES_MAX:
            findings.append(f"{name}: {len(lines)} lines, more than {FILE_LINES_MAX}")
        for number, text, length in functions(lines):
            bodies.append(length)
            if length > FUNCTION_LINES_MAX:
                findings.append(f"{name}:{number}: {length} lines, more than {FUNCTION_LINES_MAX}: {text}")
    print("\n".join(findings), end="\n" if findings else "")
    print(f"{len(files)} files, median {statistics.median(files):.0f}, longest {max(files)};"
          f" {len(bodies)} functions, median {statistics.median(bodies):.0f},"
          f" p90 {percentile(bodies, 0.9)}, longest {max(bodies)}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
