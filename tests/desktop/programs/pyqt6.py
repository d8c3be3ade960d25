"""A text field; F2 calls a method of the service of the first argument, and waits for the answer."""
import sys

from PyQt6 import QtDBus, QtGui, QtWidgets


def call():
    name = sys.argv[1]
    QtDBus.QDBusConnection.sessionBus().call(QtDBus.QDBusMessage.createMethodCall(name, "/", name, "Held"))


application = QtWidgets.QApplication(sys.argv)
text = QtWidgets.QPlainTextEdit()
text.setWindowTitle("text")
QtGui.QShortcut(QtGui.QKeySequence("F2"), text, call)
text.show()
application.exec()
