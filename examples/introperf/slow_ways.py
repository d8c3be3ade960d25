"""Eight real programs, each slow in three of the six ways of delay_ways.c: `evaluate.py --set ways`.

Each way is that of four programs: two of them lose 5 ms in about a hundred calls of the function, two lose 100 ms in one of a hundred
calls. `--set all` has each program slow in each way, both often and seldom. To add a program: a function that writes what
it needs into a folder and returns the shell command that runs it, and a row in PROGRAMS.
"""
import dataclasses

from slow_programs import PORT, Case, apache, preloaded, sqlite

WAYS = ("compute", "poll", "lock", "sleep", "fsync", "timeout")
SELDOM = {"DELAY_EVERY": "100", "DELAY_MS": "100"}
UNTIL_SERVED = f"until python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {PORT}))' 2>/dev/null; do sleep 0.1; done"

MEMCACHED_CLIENT = f"""import socket
server = socket.create_connection(("127.0.0.1", {PORT}))
answers = server.makefile("rb")
server.sendall(b"set key 0 0 1000\\r\\n" + b"x" * 1000 + b"\\r\\n")
answers.readline()
for _ in range(600):
    server.sendall(b"get key\\r\\n")
    while answers.readline() != b"END\\r\\n":
        pass
"""


def served(server, client):
    return f"set -e\n{server} & server=$!\n{UNTIL_SERVED}\n{client}\nkill $server\nwait $server || true\n"


def curl(folder):
    (folder / "page").write_bytes(bytes(range(256)) * 160000)
    return served(f"python3 -m http.server --bind 127.0.0.1 --directory {folder} {PORT} >/dev/null 2>&1",
                  preloaded(f"curl -s -o /dev/null http://127.0.0.1:{PORT}/page"))


def memcached(folder):
    (folder / "client.py").write_text(MEMCACHED_CLIENT)
    return served(preloaded(f"memcached -u root -t 2 -l 127.0.0.1 -p {PORT}"), f"python3 {folder}/client.py")


def many_packed(folder):
    script = folder / "pack.py"
    script.write_text("import zlib\nfor number in range(600):\n    packer = zlib.compressobj()\n    packer.compress(b'%d' % number * 500)\n"
                      "    packer.flush()\n")
    return f"ln -sf /usr/bin/python3 {folder}/packer; " + preloaded(f"{folder}/packer {script}")  # no other python3 has this name


def many_files(folder):
    (folder / "in").mkdir(exist_ok=True)
    for number in range(300):
        (folder / f"in/file{number}").write_text("".join(f"{i}\n" for i in range(number, 1000)))
    return f"rm -f {folder}/out.7z; " + preloaded(f"7zz a -mmt=2 {folder}/out.7z {folder}/in >/dev/null")


def openssl(folder):
    (folder / "data").write_bytes(bytes(range(256)) * 20000)
    return preloaded(f"openssl dgst -sha256 {folder}/data >/dev/null")


def php(folder):
    script = folder / "unpack.php"
    script.write_text("<?php $packed = gzcompress(str_repeat('some text ', 500));\n"
                      "for ($i = 0; $i < 15; $i++) { $text = gzuncompress($packed); }\n")
    return preloaded(f"/usr/bin/php -n {script}")


@dataclasses.dataclass
class Program:
    name: str
    programs: tuple  # which have to be installed
    process: str
    prepare: callable
    function: str  # this is slow,
    file: str  # when called by this file
    calls: int  # so often, about
    external: bool = False


PROGRAMS = [
    Program("python", ("/usr/bin/python3",), "packer", many_packed, "deflate", "python3", 1200),
    Program("sqlite", ("sqlite3",), "sqlite3", sqlite, "pread64", "libsqlite3.so", 900, True),
    Program("7zip", ("7zz",), "7zz", many_files, "read", "7zz", 600),
    Program("curl", ("curl",), "curl", curl, "recv", "libcurl.so", 600, True),
    Program("apache", ("apache2", "ab"), "apache2", apache, "deflate", "mod_deflate.so", 500, True),
    Program("memcached", ("memcached",), "memcached", memcached, "sendmsg", "memcached", 600),
    Program("openssl", ("openssl",), "openssl", openssl, "BIO_read", "openssl", 600),
    Program("php", ("/usr/bin/php",), "php", php, "inflate", "php8", 600),
]


def slow_case(program, way, seldom):
    often = {"DELAY_EVERY": str(max(program.calls // 100, 1)), "DELAY_MS": "5"}
    slow = {"DELAY_FUNCTION": program.function, "DELAY_CALLER": program.file, "DELAY_HOW": way, **(SELDOM if seldom else often)}
    return Case(f"{program.name}-{way}{'-seldom' * seldom}", program.programs, program.process, program.prepare, slow, program.file,
                external=program.external, least_ns=50_000_000, holder="hold_lock" if way == "lock" else "")


def all_cases():
    return [slow_case(program, way, seldom) for program in PROGRAMS for way in WAYS for seldom in (False, True)]


def some_cases():
    """Half of the ways of each program; the seldom delays are those of every second pair of programs."""
    return [slow_case(program, way, i // 2 % 2 == 1) for i, program in enumerate(PROGRAMS) for way in WAYS[i % 2 * 3:i % 2 * 3 + 3]]
