"""The documents that the programs open."""
import pathlib
import struct
import subprocess
import zlib


def picture(path, side=64):
    """A PNG of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x40\x80\xc0" * side for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def document(path, pages):
    """A PDF; the text of a page is its content stream."""
    kids = " ".join(f"{3 + 2 * i} 0 R" for i in range(len(pages)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>"]
    for index, content in enumerate(pages):
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {4 + 2 * index} 0 R >>")
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    data, offsets = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n"
    path.write_bytes(data + f"{trailer}startxref\n{len(data)}\n%%EOF\n".encode())


def sound(path):
    """One second of silence."""
    data = bytes(16000)
    header = struct.pack("<4sIHHIIHH4sI", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16, b"data", len(data))
    path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(header) + len(data)) + b"WAVE" + header + data)


PAGE = "<!DOCTYPE html><title>page</title><body onkeydown=\"if (event.key == 'F2') { %s }\"><textarea autofocus></textarea></body>"


def repository(folder):
    """A git repository whose hook reports what has changed; the hook reads from a pipe."""
    hook = folder / "hook"
    hook.write_text(f"#!/bin/sh\ncat {folder}/fifo\n")
    hook.chmod(0o755)
    script = f"git init -q {folder}/repository && cd {folder}/repository && echo a >a && git add a && " \
             f"git -c user.name=a -c user.email=a commit -qm a && git config core.fsmonitor {hook}"
    subprocess.run(["sh", "-c", script], check=True, stdout=subprocess.DEVNULL)


# Long texts, by their number of lines; made only for the cases that name them.
TEXTS = {"text": 300, "pages": 80_000, "long": 200_000, "longer": 600_000, "huge": 1_400_000, "enormous": 5_000_000}


def lines(count):
    block = "".join(f"word{i * 7919 % 100000} and some other words in line {i}\n" for i in range(min(count, 100_000)))
    return block * max(1, count // 100_000)


def make_texts(session, case):
    for name, count in TEXTS.items():
        session.values[name] = session.folder / f"{name}.txt"
        if f"{{{name}}}" in repr(case):
            session.values[name].write_text(lines(count))


def make(session, case):
    """All files that the row of a case may name."""
    folder = session.folder
    session.picture, session.document = folder / "picture.png", folder / "document.pdf"
    session.values = {"programs": pathlib.Path(__file__).parent / "programs", "picture": session.picture, "document": session.document, "heavy": folder / "heavy.pdf",
                      "line": folder / "one-line.c"}
    make_texts(session, case)
    (folder / "one-line.c").write_text("int value[] = {" + ", ".join(map(str, range(300000))) + "};\n")
    (folder / "loop.html").write_text(PAGE % "var end = Date.now() + 5000; while (Date.now() < end) Math.sqrt(end);")
    (folder / "ask.html").write_text(PAGE % "var r = new XMLHttpRequest(); r.open('GET', 'http://127.0.0.1:7801/', false); r.send();")
    picture(session.picture)
    session.sound = folder / "sound.wav"
    sound(session.sound)
    curve = " ".join(f"{i % 600} {i * 7 % 800} m {i * 3 % 600} {i * 11 % 800} {i * 5 % 600} 9 300 400 c S" for i in range(4000))
    document(session.document, ["0 0 m 600 800 l S"] * 20)
    document(folder / "heavy.pdf", ["0 0 m 600 800 l S", curve])
    subprocess.run(["sqlite3", folder / "source.db", "create table t(a); insert into t values(1)"], check=True)
    (folder / "apt").mkdir()
    (folder / "apt/status").touch()
    repository(folder)


def make_for_use(session):
    """The files of ordinary use: of cases, a program to build, and a document with several pages."""
    folder = session.folder
    make(session, "{text}")
    session.values |= {"pages_pdf": session.document, "database": folder / "source.db", "source": folder / "build/part0.c"}
    (folder / "build").mkdir()
    for part in range(4):
        code = "".join(f"int f{part}_{i}(int a) {{ for (int j = 0; j < a; j++) a ^= j * {i}; return a; }}\n" for i in range(400))
        (folder / f"build/part{part}.c").write_text(code)
    objects = " ".join(f"part{part}.o" for part in range(4))
    (folder / "build/Makefile").write_text(f"CFLAGS = -O2\nlib.a: {objects}\n\tar rc $@ $^\n")
