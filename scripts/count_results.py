"""Adds up ctest's JUnit files: names the failed and the skipped tests, and ends with "N passed, N failed, N skipped".

    count_results.py FILE…

A test that failed in FILE and passed in FILE.again, where ctest ran it once more, has passed and is named as unsteady.
Exits 1 when a test failed, when a file is missing, or when nothing passed.
"""
import pathlib
import sys
import xml.etree.ElementTree


def outcome(case):
    """passed, skipped or failed; what ctest could not run is failed."""
    if case.get("status") == "run":
        return "passed"
    if case.get("status") == "disabled" or (case.find("skipped") is not None and "SKIP" in skip_message(case)):
        return "skipped"
    return "failed"


def skip_message(case):
    return case.find("skipped").get("message", "")


def reason(case):
    """The line of a skipped test that says why."""
    output = case.findtext("system-out") or ""
    lines = [line.strip() for line in output.splitlines() if "skip" in line.lower()]
    return lines[0] if lines else "it says no reason"


def cases(path):
    return list(xml.etree.ElementTree.parse(path).getroot().iter("testcase")) if path.exists() else []


def passed_later(path):
    """Names of the tests that passed when they were run once more."""
    return {case.get("name") for case in cases(path.with_name(path.name + ".again")) if outcome(case) == "passed"}


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        if not path.exists():
            print(f"FAILED   ctest wrote no {path}")
            counts["failed"] += 1
            continue
        later = passed_later(path)
        for case in cases(path):
            result = outcome(case)
            if result == "failed" and case.get("name") in later:
                print(f"UNSTEADY {path.parent.name} {case.get('name')}: failed, then passed alone")
                result = "passed"
            counts[result] += 1
            if result != "passed":
                why = f": {reason(case)}" if result == "skipped" else ""
                print(f"{result.upper():8} {path.parent.name} {case.get('name')}{why}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
