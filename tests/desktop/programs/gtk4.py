"""A text field; F2 writes to the database of the first argument."""
import sqlite3
import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gtk  # noqa: E402


def insert(_, key, *_rest):
    if key == Gdk.KEY_F2:
        sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None).execute("insert into t values(2)")


def open_window(application):
    text = Gtk.TextView()
    keys = Gtk.EventControllerKey()
    keys.connect("key-pressed", insert)
    text.add_controller(keys)
    Gtk.ApplicationWindow(application=application, title="text", child=text).present()


application = Gtk.Application()
application.connect("activate", open_window)
application.run()
