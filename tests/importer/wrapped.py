"""Files of Android and Chrome with the text of ftrace in them."""
import json
import zlib

TRACER = "# tracer: nop"
PAGE = """<!DOCTYPE html>
<html><head><title>Android System Trace</title>
<script>var shown = "# of threads"; if (a[0] > b) show(" sh-7 [000] ..... 1.000000: sched_switch: prev_pid=0 ==> next_pid=7");</script>
</head><body>
%s
</body></html>
"""


def text_of(path, events, write_text):
    write_text(path, events)
    return path.read_text()


def systrace(write_text):
    def write(path, events):
        text = text_of(path, events, write_text)
        processes = "USER PID PPID VSZ RSS WCHAN PC NAME\nroot 1 0 2288 900 0 0 init\n"
        script = '<script class="trace-data" type="application/text">\n%s</script>\n'
        path.write_text(PAGE % (script % processes + script % text))
    return write


def old_systrace(path, events, write_text):
    """Before 2015: a string of JavaScript."""
    text = text_of(path, events, write_text)
    path.write_text(PAGE % ('<script>var linuxPerfData = "\\\n%s";\n</script>' % text.replace("\n", "\\n\\\n")))


def atrace(write_text):
    def write(path, events):
        packed = zlib.compress(text_of(path, events, write_text).encode())
        path.write_bytes(b"capturing trace... done\nTRACE:\n" + packed)
    return write


def chrome(write_text):
    def write(path, events):
        path.write_text(chrome_of(text_of(path, events, write_text)))
    return write


def chrome_of(text):
    """As Chromium writes JSON: each < is escaped (base/json/string_escape.cc)."""
    marks = [{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "name": '"systemTraceEvents": "no"'}]
    return json.dumps({"traceEvents": marks, "systemTraceEvents": text, "metadata": {}}).replace("<", "\\u003C")


def zstd(content):
    """A frame of zstd with blocks that are not compressed (RFC 8878)."""
    blocks, size = b"", 100000
    for at in range(0, len(content), size):
        piece = content[at:at + size]
        is_last = at + size >= len(content)
        blocks += (is_last | len(piece) << 3).to_bytes(3, "little") + piece
    return b"\x28\xb5\x2f\xfd\xa0" + len(content).to_bytes(4, "little") + blocks
