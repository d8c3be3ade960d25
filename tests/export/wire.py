"""Protocol buffers as they are on disk (protobuf.dev/programming-guides/encoding), read without their .proto."""
import struct


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


def fields(data):
    """(number, value) of each field: an int, or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if len(value) != length:
                raise ValueError(f"field {number} is cut off")
        elif kind == 5:
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        else:
            raise ValueError(f"field {number} has kind {kind}")
        yield number, value


def message(data):
    """The fields by number: a list of values each."""
    found = {}
    for number, value in fields(data):
        found.setdefault(number, []).append(value)
    return found


def numbers(values):
    """A repeated number, packed or not."""
    for value in values:
        at = 0
        if isinstance(value, int):
            yield value
        else:
            while at < len(value):
                number, at = varint(value, at)
                yield number


def signed(number):
    return number - (1 << 64) if number >> 63 else number
