"""The ABI of libargus.so.1: the symbols that it exports, and the offset of each member of each structure in api/argus.h.

    abi.py LIBRARY HEADER            prints it
    abi.py LIBRARY HEADER --write    writes tests/api/abi.txt, after symbols or members were added
"""
import pathlib
import re
import subprocess
import sys
import tempfile

LIST = pathlib.Path(__file__).with_name("abi.txt")
STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.M | re.S)
ENUM = re.compile(r"^enum \w+ \{\n(.*?)^\};", re.M | re.S)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def symbols(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True, text=True).stdout
    return sorted("symbol " + line.split()[-1] for line in lines.splitlines())


def members(body):
    """Of a structure: the names before a comma or semicolon, and those of function pointers."""
    for line in body.split(";"):
        if "(*" in line:
            yield re.search(r"\(\*(\w+)\)", line).group(1)
        else:
            yield from re.findall(r"(\w+)\s*(?:,|$)", line.strip())


def layout(header):
    text = COMMENT.sub("", header.read_text(encoding="utf-8"))
    lines = ["#include <stdio.h>", f'#include "{header.resolve()}"', "int main(void)", "{"]
    for name, body in STRUCT.findall(text):
        for member in members(body):
            lines.append(f'    printf("member {name}.{member} %zu %zu\\n", offsetof(struct {name}, {member}), '
                         f'sizeof(((struct {name} *)0)->{member}));')
    for body in ENUM.findall(text):
        for name in re.findall(r"(\w+) = ", body):
            lines.append(f'    printf("value {name} %d\\n", (int){name});')
    lines += ["    return 0;", "}", ""]
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "layout.c"), pathlib.Path(folder, "layout")
        source.write_text("\n".join(lines))
        subprocess.run(["cc", "-std=c17", "-o", str(program), str(source)], check=True)
        return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()


def abi(library, header):
    return symbols(library) + layout(pathlib.Path(header))


if __name__ == "__main__":
    text = "\n".join(abi(sys.argv[1], sys.argv[2])) + "\n"
    if "--write" in sys.argv:
        LIST.write_text(text)
    else:
        print(text, end="")
