#!/usr/bin/env python3
"""find_flag.py with a toolkit's window; the program handles events while it waits: gtk_main_iteration(), processEvents().

find_flag_toolkits.py ARGUS FOLDER. Needs root and Xvfb; exits 77 (skipped) without. A variant that was not built is skipped.
"""
import os
import pathlib
import sys

import find_flag
import reconfigure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "toolkits"))
from display import Display  # noqa: E402


class Toolkits(find_flag.Walk):
    def check(self, variant):
        if not (reconfigure.FOLDER / variant).exists():
            self.skipTest(f"{variant} was not built")
        with Display() as display:
            os.environ.update(display.environment)
            self.find(variant, ["variable", "did_reconfigure", None])

    def test_gtk(self):
        self.check("settings-gtk")

    def test_qt(self):
        self.check("settings-qt")


if __name__ == "__main__":
    reconfigure.run(["Xvfb"])
