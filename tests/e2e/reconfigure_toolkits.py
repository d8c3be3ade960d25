#!/usr/bin/env python3
"""reconfigure.py with a toolkit's window; the program handles events while it waits: gtk_main_iteration(), processEvents().

reconfigure_toolkits.py ARGUS FOLDER. Needs root and Xvfb; exits 77 (skipped) without. A variant that was not built is skipped.
"""
import pathlib
import sys
import unittest

import reconfigure

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "toolkits"))
from display import Display  # noqa: E402


class Toolkits(reconfigure.Silent):
    def check(self, variant):
        if not (reconfigure.FOLDER / variant).exists():
            self.skipTest(f"{variant} was not built")
        with Display() as display:
            answer = reconfigure.diagnose(variant, environment=display.environment)
            self.check_silent(answer, variant)
            self.assertTrue(answer["guessed"])
            answer = reconfigure.diagnose(variant, variant, "did_reconfigure", environment=display.environment)
            self.check_silent(answer, variant)

    def test_gtk(self):
        self.check("settings-gtk")

    def test_qt(self):
        self.check("settings-qt")


if __name__ == "__main__":
    reconfigure.run(["Xvfb"])
