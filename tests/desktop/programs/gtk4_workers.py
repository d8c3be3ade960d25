"""A text field; F2 waits until a thread has done its work, or until the reader of a pipe has read a long text: gtk4_workers.py KIND PATH."""
import fcntl
import sys
import threading

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gtk  # noqa: E402


def condition(path):
    """A thread locks a file, and then wakes the caller up."""
    changed, done = threading.Condition(), []

    def work():
        with open(path, "w", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
        with changed:
            done.append(True)
            changed.notify()

    threading.Thread(target=work, name="worker").start()
    with changed:
        changed.wait_for(lambda: done)


def output(path):
    with open(path, "w", encoding="ascii") as file:
        file.write("some text\n" * 20000)


def handle(_, key, *_rest):
    if key == Gdk.KEY_F2:
        {"condition": condition, "output": output}[sys.argv[1]](sys.argv[2])


def open_window(application):
    text = Gtk.TextView()
    keys = Gtk.EventControllerKey()
    keys.connect("key-pressed", handle)
    text.add_controller(keys)
    Gtk.ApplicationWindow(application=application, title="text", child=text).present()


application = Gtk.Application()
application.connect("activate", open_window)
application.run()
