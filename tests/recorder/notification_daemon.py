"""A notification service for tests, on a private session bus: notification_daemon.py SOCKET ACTION

Prints each notification as a line of JSON. With an ACTION ("report", or "" for none) it then behaves as if the user had clicked there.
It implements the part of D-Bus's wire protocol that these few messages need (D-Bus specification, "Message Protocol"), because
Python's library has no module for it.
"""
import json
import os
import socket
import struct
import sys

CALL, REPLY, ERROR, SIGNAL = 1, 2, 3, 4
NAME = "org.freedesktop.Notifications"
FIELDS = {"path": (1, "o"), "interface": (2, "s"), "member": (3, "s"), "reply": (5, "u"), "to": (6, "s"), "signature": (8, "g")}


class Writer:
    def __init__(self):
        self.bytes = bytearray()

    def align(self, size):
        self.bytes += bytes(-len(self.bytes) % size)

    def put(self, kind, value):
        if kind == "u":
            self.align(4)
            self.bytes += struct.pack("<I", value)
        elif kind == "g":
            self.bytes += struct.pack("<B", len(value)) + value.encode() + b"\0"
        else:  # bytes 's', 'o'
            text = value.encode()
            self.put("u", len(text))
            self.bytes += text + b"\0"


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def align(self, size):
        self.at += -self.at % size

    def number(self):
        self.align(4)
        self.at += 4
        return struct.unpack_from("<I", self.data, self.at - 4)[0]

    def text(self):
        length = self.number()
        self.at += length + 1
        return self.data[self.at - length - 1:self.at - 1].decode()

    def signature(self):
        length = self.data[self.at]
        self.at += length + 2
        return self.data[self.at - length - 1:self.at - 1].decode()

    def texts(self):
        end = self.number() + self.at
        found = []
        while self.at < end:
            found.append(self.text())
        return found


class Bus:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.serial = 0
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.geteuid()).encode().hex().encode() + b"\r\n")
        assert self.socket.recv(4096).startswith(b"OK"), "the bus refuses us"
        self.socket.sendall(b"BEGIN\r\n")
        self.call("Hello", "", [])
        self.call("RequestName", "su", [NAME, 4])

    def send(self, kind, signature="", values=(), **fields):
        body, header = Writer(), Writer()
        for one, value in zip(signature, values):
            body.put(one, value)
        self.serial += 1
        header.bytes += struct.pack("<BBBBII", ord("l"), kind, 0, 1, len(body.bytes), self.serial)
        start = len(header.bytes) + 4
        array = Writer()
        array.bytes += bytes(start)  # so that alignment is relative to the beginning of the message
        for name, value in {**fields, **({"signature": signature} if signature else {})}.items():
            array.align(8)
            number, type_ = FIELDS[name]
            array.bytes += struct.pack("<B", number)
            array.put("g", type_)
            array.put(type_, value)
        header.put("u", len(array.bytes) - start)
        header.bytes += array.bytes[start:]
        header.align(8)
        self.socket.sendall(bytes(header.bytes + body.bytes))

    def exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                sys.exit(0)
            data += piece
        return data

    def receive(self):
        """kind, serial, member, sender, body"""
        first = self.exactly(16)
        kind, body_bytes, serial, fields_bytes = first[1], *struct.unpack("<III", first[4:])
        reader = Reader(first + self.exactly(fields_bytes + -fields_bytes % 8))
        body = self.exactly(body_bytes)
        member = sender = None
        reader.at = 16
        while reader.at < 16 + fields_bytes:
            reader.align(8)
            number = reader.data[reader.at]
            reader.at += 1
            type_ = reader.signature()
            value = reader.number() if type_ == "u" else reader.signature() if type_ == "g" else reader.text()
            member, sender = (value if number == 3 else member), (value if number == 7 else sender)
        return kind, serial, member, sender, Reader(body)

    def call(self, member, signature, values):
        self.send(CALL, signature, values, path="/org/freedesktop/DBus", interface="org.freedesktop.DBus", member=member,
                  to="org.freedesktop.DBus")
        while self.receive()[0] not in (REPLY, ERROR):
            pass


def main():
    bus = Bus(sys.argv[1])
    print("ready", flush=True)
    shown = 0
    while True:
        kind, serial, member, sender, body = bus.receive()
        if kind != CALL or member != "Notify":
            continue
        application, replaces, icon, title, text, actions = body.text(), body.number(), body.text(), body.text(), body.text(), body.texts()
        shown += 1
        bus.send(REPLY, "u", [shown], reply=serial, to=sender)
        print(json.dumps({"application": application, "title": title, "text": text, "actions": actions}), flush=True)
        signal = {"path": "/org/freedesktop/Notifications", "interface": NAME}
        if sys.argv[2]:
            bus.send(SIGNAL, "us", [shown + 1, sys.argv[2]], member="ActionInvoked", **signal)  # another notification
            bus.send(SIGNAL, "us", [shown, sys.argv[2]], member="ActionInvoked", **signal)
        bus.send(SIGNAL, "uu", [shown, 2], member="NotificationClosed", **signal)


main()
