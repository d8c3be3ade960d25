"""The real programs of evaluate.py, and what is made slow in them.

To add a case: a function that writes what the program needs into a folder and returns the shell command that runs it (preloaded()
where that is one program), and a row in CASES.
"""
import dataclasses
import pathlib
import re
import subprocess

PORT = 8977

HTTPD = """ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule mime_module {modules}/mod_mime.so
LoadModule filter_module {modules}/mod_filter.so
LoadModule deflate_module {modules}/mod_deflate.so
TypesConfig /etc/mime.types
AddOutputFilterByType DEFLATE text/plain
ErrorLog {folder}/error
LogFormat "%h %r %s %b" common
CustomLog {folder}/access common
DocumentRoot {folder}/htdocs
StartServers 1
ServerLimit 2
ThreadsPerChild 8
MaxRequestWorkers 16
User daemon
Group daemon
"""
SERVE = """set -e
LD_PRELOAD="$PRELOAD" apache2 -f {folder}/httpd.conf -DFOREGROUND & server=$!
sleep 1
ab -q -n 100 -c 2 -H 'Accept-Encoding: gzip' http://127.0.0.1:{port}/page.txt > {folder}/ab.log 2>&1
kill $server
wait $server
"""
MARIADB = """set -e
client="mariadb --no-defaults --user=root --socket={folder}/socket"
LD_PRELOAD="$PRELOAD" mariadbd --no-defaults --user=root --datadir={folder}/data --socket={folder}/socket --skip-networking \\
    > {folder}/server.log 2>&1 & server=$!
until $client -e 'select 1' > {folder}/client.log 2>&1; do sleep 0.1; done
$client people < {folder}/$LOAD.sql >> {folder}/client.log 2>&1
$client -e shutdown
wait $server
"""


def preloaded(command):
    return f'LD_PRELOAD="$PRELOAD" {command}'


def shown(program, file):
    """A program with a window, which is closed some time after that was there."""
    return (f"HOME=$PLACE {preloaded(f'{program} {file}')} >/dev/null 2>&1 & program=$!; turns=0; "
            f"until [ $turns = 60 ] || xdotool search --onlyvisible --class {program} >/dev/null 2>&1; do sleep 0.5; turns=$((turns+1)); done; "
            "sleep 5; kill $program && { wait $program || true; }")


def apache(folder):
    (folder / "htdocs").mkdir(exist_ok=True)
    (folder / "htdocs/page.txt").write_text("".join(f"{i}\n" for i in range(3000)))
    (folder / "httpd.conf").write_text(HTTPD.format(folder=folder, port=PORT, modules="/usr/lib/apache2/modules"))
    return SERVE.format(folder=folder, port=PORT)


def mariadb(folder):
    names = " ".join(f"insert into names values ({i}, 'name{i}');" for i in range(100))
    loads = {
        "rows": f"truncate names; {names}" + "select max(length(name)) from names;" * 50,
        # bug 49491, "Much overhead for MD5() and SHA1() on short strings": the same rows with and without
        "lengths": "select max(length(name)) from many;" * 4,
        "sums": "select max(md5(name)) from many;" * 4,
    }
    for name, text in loads.items():
        (folder / f"{name}.sql").write_text(text)
    if not (folder / "data").exists():
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={folder}/data", "--user=root", "--skip-test-db",
                        "--auth-root-authentication-method=normal"], check=True, stdout=subprocess.DEVNULL)
        setup = ("create database people; use people; create table names(id int primary key, name varchar(20)); create table many like names; "
                 "insert into many values (0, 'name0');" + "".join(f"insert into many select id + {1 << i}, concat('name', id + {1 << i}) from many;"
                                                                   for i in range(18)))
        subprocess.run(["mariadbd", "--no-defaults", "--bootstrap", "--user=root", f"--datadir={folder}/data"], check=True,
                       input=setup.replace(";", ";\n"), text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return MARIADB.format(folder=folder)


def seven_zip(folder):
    (folder / "in").mkdir(exist_ok=True)
    for number in range(60):
        (folder / f"in/file{number}").write_text("".join(f"{i}\n" for i in range(number, 5000)))
    return f"rm -f {folder}/out.7z; " + preloaded(f"7zz a -mmt=2 {folder}/out.7z {folder}/in >/dev/null")


def sqlite(folder):
    base = folder / "numbers.db"
    if not base.exists():
        subprocess.run(["sqlite3", base, "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) "
                                         "insert into t select i, hex(randomblob(40)) from n;"], check=True)
    return preloaded(f"sqlite3 {base} 'pragma cache_size = 10; select count(*), max(b) from t; select count(*) from t where b > 5;' >/dev/null")


def python(folder):
    script = folder / "pack.py"
    script.write_text("import zlib\ndata = bytes(range(256)) * 3000\nfor level in range(1, 10):\n"
                      "    packer = zlib.compressobj(level)\n    packer.compress(data)\n    packer.flush()\n")
    return preloaded(f"/usr/bin/python3 {script}")


def write_pdf(path, pages):
    """Pages of text."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>",
               f"<< /Type /Pages /Count {pages} /Kids [{' '.join(f'{4 + 2 * i} 0 R' for i in range(pages))}] >>",
               "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for page in range(pages):
        lines = "BT /F1 12 Tf 14 TL 50 780 Td " + "".join(f"(page {page} line {i}) Tj T* " for i in range(50)) + "ET"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * page} 0 R "
                       "/Resources << /Font << /F1 3 0 R >> >> >>")
        objects.append(f"<< /Length {len(lines)} >> stream\n{lines}\nendstream")
    text, places = "%PDF-1.4\n", []
    for number, what in enumerate(objects, 1):
        places.append(len(text))
        text += f"{number} 0 obj\n{what}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    path.write_text(f"{text}xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}trailer << /Size {len(places) + 1} /Root 1 0 R >>\n"
                    f"startxref\n{len(text)}\n%%EOF\n")


def pdf_in(program):
    def prepare(folder):
        write_pdf(folder / "pages.pdf", 30)
        return shown(program, folder / "pages.pdf")
    return prepare


def gpicview(folder):
    circles = "".join(f'<circle cx="{i * 7 % 400}" cy="{i * 13 % 400}" r="20" fill="#{i % 1000:03}"/>' for i in range(3000))
    (folder / "picture.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400">{circles}</svg>')
    return shown("gpicview", folder / "picture.svg")


def address_of(file, symbol):
    """Where `file` has a function, for DELAY_AT."""
    names = subprocess.run(["nm", "-DC", "--defined-only", file], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(rf"^0*([0-9a-f]+) [TtWi] {re.escape(symbol)}(@.*)?$", names, re.MULTILINE)[1]


@dataclasses.dataclass
class Case:
    name: str
    programs: tuple  # which have to be installed
    process: str
    prepare: callable
    slow: dict  # of its environment: what delay.c reads
    file: str  # the root cause is a function in it:
    function: str = ""  # this; else the one that calls DELAY_FUNCTION
    base: dict = dataclasses.field(default_factory=dict)
    slow_at: tuple = ()  # DELAY_AT: file, symbol
    external: bool = True  # not in the program's own file
    note: str = ""
    least_ns: int = 0  # a smaller cost is not the delay
    holder: str = ""  # the function of delay_ways.c that is the cause instead, if the delayed one waits for what it holds

    def environment(self):
        if not self.slow_at:
            return self.slow
        file, symbol = self.slow_at
        return {"DELAY_AT": f"{pathlib.Path(file).name}+0x{address_of(file, symbol)}", **self.slow}


APACHE, WINDOWS, MARIA = ("apache2", "ab"), ("Xvfb", "xdotool"), ("mariadbd", "mariadb", "mariadb-install-db")
DEFLATE = {"DELAY_FUNCTION": "deflate", "DELAY_CALLER": "mod_deflate"}
MARIADBD, POPPLER_QT = "/usr/sbin/mariadbd", "/usr/lib/x86_64-linux-gnu/libpoppler-qt5.so.1"
PAGES = "Poppler::Page::renderToImage(double, double, int, int, int, int, Poppler::Page::Rotation) const"
ROWS = {"LOAD": "rows"}

CASES = [
    Case("apache-deflate", APACHE, "apache2", apache, DEFLATE, "mod_deflate.so"),
    Case("apache-deflate-cpu", APACHE, "apache2", apache, {**DEFLATE, "DELAY_HOW": "compute"}, "mod_deflate.so"),
    # Debian's httpd has mod_log_config inside; during requests only its ap_default_log_writer() calls apr_file_write()
    Case("apache-log", APACHE, "apache2", apache, {"DELAY_FUNCTION": "apr_file_write", "DELAY_CALLER": "apache2"}, "apache2",
         external=False, note="mod_log_config's ap_default_log_writer"),
    Case("mariadb-disk", MARIA, "mariadbd", mariadb, {"DELAY_FUNCTION": "fdatasync", "DELAY_CALLER": "mariadbd", **ROWS}, "mariadbd",
         base=ROWS, external=False, note="InnoDB, which flushes its log"),
    Case("mariadb-storage", MARIA, "mariadbd", mariadb, ROWS, "mariadbd", "handler::ha_write_row", base=ROWS,
         slow_at=(MARIADBD, "handler::ha_write_row(unsigned char const*)"), external=False),
    Case("mariadb-network", MARIA, "mariadbd", mariadb, {"DELAY_MS": "5", **ROWS}, "mariadbd", "vio_write", base=ROWS,
         slow_at=(MARIADBD, "vio_write"), external=False),
    Case("mariadb-md5", MARIA, "mariadbd", mariadb, {"LOAD": "sums"}, "mariadbd", "Item_func_md5::val_str_ascii", base={"LOAD": "lengths"},
         external=False, note="bug 49491; no delay"),
    Case("7zip-list", ("7zz",), "7zz", seven_zip, {"DELAY_FUNCTION": "readdir64", "DELAY_MS": "10"}, "7zz", external=False),
    Case("7zip-list-cpu", ("7zz",), "7zz", seven_zip, {"DELAY_FUNCTION": "readdir64", "DELAY_MS": "10", "DELAY_HOW": "compute"}, "7zz",
         external=False),
    Case("sqlite-read", ("sqlite3",), "sqlite3", sqlite, {"DELAY_FUNCTION": "pread64", "DELAY_MS": "1"}, "libsqlite3.so"),
    Case("python-zlib", ("/usr/bin/python3",), "python3", python, {"DELAY_FUNCTION": "deflate", "DELAY_MS": "40"}, "python3", external=False),
    Case("qt-plugin", ("qpdfview", *WINDOWS), "qpdfview", pdf_in("qpdfview"),
         {"DELAY_FUNCTION": "_ZNK7Poppler8Document4pageEi", "DELAY_MS": "50"}, "libqpdfview_pdf.so"),
    Case("qt-library", ("qpdfview", *WINDOWS), "qpdfview", pdf_in("qpdfview"), {"DELAY_MS": "300"}, "libpoppler-qt5.so", "Poppler::Page::renderToImage",
         slow_at=(POPPLER_QT, PAGES)),
    Case("gtk-plugin", ("evince", *WINDOWS), "evince", pdf_in("evince"),
         {"DELAY_FUNCTION": "poppler_document_get_page", "DELAY_CALLER": "libpdfdocument"}, "libpdfdocument.so"),
    Case("gtk-loader", ("gpicview", *WINDOWS), "gpicview", gpicview, {"DELAY_FUNCTION": "rsvg_handle_write", "DELAY_CALLER": "pixbufloader-svg"},
         "libpixbufloader-svg.so"),
]
