"""The cases: real programs, and how each is frozen. To add a case, add a row, and its packages to the group "desktop" of scripts/deps.

A command or an action may name in braces: what its means offers, {folder} (the run's own), {text}, {long}, {picture}, {document}. An
action is a word and what it is about: "key" or "type" (xdotool), "run" (a command, not waited for), "sleep", "copy" (makes a file the
clipboard's contents).
"""
from dataclasses import dataclass

import means


@dataclass(frozen=True)
class Case:
    name: str
    toolkit: str
    command: tuple
    means: type
    arguments: tuple = ()
    before: tuple = ()  # actions in the program before anything is recorded
    use: tuple = ("type hello",)  # ordinary use, recorded
    freeze: tuple = ()  # what makes the program run into its freeze
    start_up: bool = False  # the program freezes while it starts
    thread: str = "main"  # which thread freezes; a row of THREADS in run.py
    also: tuple = ()  # further culprits, by process name: who hands the fault on
    environment: tuple = ()
    paper: str = ""  # the row of table 1 of the Argus paper of which this is the closest counterpart
    settle_s: float = 3  # how long the program starts


EMACS = ("emacs", "-Q", "{text}")


def lisp(code):
    """Makes emacs evaluate `code`."""
    return ("key alt+colon", "sleep 0.5", f"type {code}", "sleep 0.3", "key Return")


CASES = [
    Case("geany-slow-file", "GTK 3", ("geany", "-i", "{text}"), means.SlowFiles, freeze=("key ctrl+o", "sleep 1.5", "type {slow}/slow.c", "sleep 0.5", "key Return")),
    Case("mousepad-slow-file", "GTK 3", ("mousepad", "{text}"), means.SlowFiles, freeze=("run mousepad {slow}/slow.txt",)),
    Case("emacs-paste", "GTK 3 (own loop)", EMACS, means.StoppedClipboard, freeze=("key ctrl+y",)),
    Case("featherpad-paste", "Qt 5", ("featherpad", "{text}"), means.StoppedClipboard, freeze=("key ctrl+v",)),
    Case("emacs-flock", "GTK 3 (own loop)", EMACS, means.Held, ("flock", "{folder}/lock"),
         freeze=("key alt+exclam", "sleep 0.5", "type flock {held} true", "key Return")),
    Case("qpdfview-database", "Qt 5", ("qpdfview", "{document}"), means.Held, ("database", "{folder}/home/.local/share/qpdfview/qpdfview/database"),
         freeze=("key ctrl+w",), use=("key Page_Down",), paper="1-SystemPref"),
    Case("geany-replace", "GTK 3", ("geany", "-i", "{long}"), means.Itself, before=("key ctrl+a",), use=("sleep 1",), freeze=("key ctrl+alt+u",)),
    Case("mousepad-accessibility", "GTK 3", ("mousepad", "{text}"), means.StoppedAccessibility, start_up=True,
         environment=(("NO_AT_BRIDGE", "0"),), paper="4-Installer"),
]
