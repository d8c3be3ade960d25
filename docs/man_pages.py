#!/usr/bin/env python3
"""Writes the man pages of the commands as Markdown, from what `argus help --json` says and what docs/man/commands adds.

    man_pages.py HELP.json MAN_FOLDER OUTPUT_FOLDER
    man_pages.py --list COMMANDS.def        the names of the pages, without writing any

A command has a page, argus-record(1); the commands of a group stand in the group's page, argus-graph(1). NAME, SYNOPSIS, DESCRIPTION,
OPTIONS and EXAMPLES come from the row of the command table (plugin/command.h). A file docs/man/commands/argus-record.md, which need not
be there, adds to it by section:

    # DESCRIPTION   paragraphs behind those of the row
    # OPTIONS       a paragraph in place of what the row says of that option
    # FILES, JSON   and others: as they are, in the order of ORDER; those that are not in it behind the options
    # EXIT STATUS   in place of the usual one
    # SEE ALSO      other pages

docs/man/commands/options.md has such OPTIONS for all commands that have options of these names.
docs/man/argus.1.md is the page of the program itself: its line @COMMANDS@ becomes the list of the commands.
"""
import json
import pathlib
import re
import sys

ORDER = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "GRAPH OPTIONS", "COMMANDS", None, "JSON", "EXAMPLES", "FILES", "EXIT STATUS",
         "SEE ALSO"]
ASKING = "answers"  # the option of commands that ask
EXIT_CODES = [(0, "Done."), (1, "The work failed."), (2, "Wrong usage.")]
SECTION = re.compile(r"^# (.+)$", re.M)


def escaped(text):
    return re.sub(r"([\\*_<>`\[\]|])", r"\\\1", text)


def paragraphs(text):
    """What is indented stays as it is typed; the lines of other paragraphs are joined, so that none begins with a roff request."""
    made = []
    for part in re.split(r"\n\s*\n", (text or "").strip("\n")):
        lines = part.splitlines()
        code = [line for line in lines if line.startswith("  ")]
        if code and len(code) == len(lines):
            made.append("\n".join("    " + line.removeprefix("    ") for line in lines))
        elif part.strip():
            made.append(escaped(" ".join(line.strip() for line in lines)))
    return "\n\n".join(made)


def sentence(text):
    return text if text.endswith(".") else text + "."


def capital(text):
    return text[0].upper() + text[1:]


def description(row):
    summary = escaped(sentence(capital(row["summary"])))
    return f"{summary}\n\n{paragraphs(row['details'])}" if row["details"] else summary


def option_head(option):
    short = f"**-{option['short']}**, " if option["short"] else ""
    argument = f"=*{escaped(option['argument'])}*" if option["argument"] else ""
    return f"{short}**--{option['name']}**{argument}"


def option_help(option):
    """As a sentence; a value that stands first stays as it is typed."""
    first, values = option["help"].split()[0], (option["argument"] or "").split("|")
    return sentence(escaped(capital(option["help"]) if first.isalpha() and first not in values else option["help"]))


def options_text(options, told):
    return "\n\n".join(f"{option_head(option)}\n: {told.get(option['name'], option_help(option))}" for option in options)


def usage(command):
    name = f"argus {command['name']}"
    return f"**{name}**{escaped(command['usage'].removeprefix(name))}"


def code(text):
    return "\n".join("    " + line for line in text.splitlines())


def sections(text):
    parts = SECTION.split(text)
    return {name: body.strip("\n") for name, body in zip(parts[1::2], parts[2::2])}


def told_options(text):
    """Of an OPTIONS section: the option's name → what stands behind ": "."""
    return {match[1]: match[2].strip() for match in re.finditer(r"^\*\*--([a-z-]+)\*\*\n: (.+?)(?=\n\n|\Z)", text, re.M | re.S)}


class Page:
    """The page of a command and of those below it."""

    def __init__(self, rows, graph_options, more, shared):
        self.rows, self.head, self.graph_options, self.more = rows, rows[0], graph_options, dict(more)
        self.name = page_name(self.head)
        own = told_options(self.more.pop("OPTIONS", ""))
        self.told = {**shared, **own}
        strange = own.keys() - {option["name"] for row in rows for option in row["options"]}
        if strange:
            sys.exit(f"docs/man/commands/{self.name}.md: no such option: {', '.join(sorted(strange))}")

    def made(self):
        first = self.head
        made = {"NAME": f"{self.name} - {escaped(first['summary'])}",
                "SYNOPSIS": "\n\n".join(map(usage, self.rows)),
                "DESCRIPTION": description(first),
                "OPTIONS": options_text(first["options"] + [HELP], self.told),
                "EXAMPLES": code(first["examples"]),
                "EXIT STATUS": self.exit_status(),
                "SEE ALSO": "argus(1)"}
        if any(row["needs_graph"] for row in self.rows):
            made["GRAPH OPTIONS"] = options_text(self.graph_options, {}) + "\n\nargus(1), GRAPH OPTIONS, says more."
        if len(self.rows) > 1:
            made["COMMANDS"] = "\n\n".join(map(self.below, self.rows[1:]))
        return made

    def below(self, row):
        parts = [f"## argus {row['name']}", description(row), options_text(row["options"], self.told), "Example:\n\n" + code(row["examples"])]
        return "\n\n".join(filter(None, parts))

    def exit_status(self):
        codes = list(EXIT_CODES)
        if any(option["name"] == ASKING for row in self.rows for option in row["options"]) or self.head["name"] in ("answer", "undo"):
            codes.append((3, "A question is open."))
        if any(row["reads_trace"] for row in self.rows):
            codes.append((4, "The trace is damaged: the command used what could be read, and says so."))
        return "\n\n".join(f"**{number}**\n: {text}" for number, text in codes)

    def text(self):
        made = self.made()
        for name, body in self.more.items():
            joined = {"DESCRIPTION": "\n\n", "SEE ALSO": ", ", "EXAMPLES": "\n\n"}.get(name)
            made[name] = made[name] + joined + body if joined and name in made else body
        others = [name for name in made if name not in ORDER]
        names = [name for known in ORDER for name in ([known] if known else others) if name in made]
        title = f'{self.name} 1 "{DATE}" "Argus" "User commands"'
        return "\n\n".join([f"{title}\n{'=' * len(title)}"] + [f"# {name}\n\n{made[name]}" for name in names]) + "\n"


HELP = {"name": "help", "short": "h", "argument": None, "help": "print a summary of this page"}
DATE = "November 2026"


def page_name(command):
    return "argus-" + command["name"].replace(" ", "-")


def groups(commands):
    """Each command with those below it."""
    heads = [row for row in commands if " " not in row["name"]]
    return [[head] + [row for row in commands if row["name"].startswith(head["name"] + " ")] for head in heads]


def command_list(commands):
    return "\n\n".join(f"**argus {rows[0]['name']}**\n: {sentence(escaped(capital(rows[0]['summary'])))} {page_name(rows[0])}(1)"
                       for rows in groups(commands))


def write(help_file, man, output):
    table = json.loads(help_file.read_text())
    output.mkdir(parents=True, exist_ok=True)
    shared = told_options((man / "commands" / "options.md").read_text())
    known = {"options.md"}
    for rows in groups(table["commands"]):
        more = man / "commands" / f"{page_name(rows[0])}.md"
        known.add(more.name)
        page = Page(rows, table["graph_options"], sections(more.read_text()) if more.exists() else {}, shared)
        (output / f"{page.name}.1.md").write_text(page.text())
    strange = {path.name for path in (man / "commands").glob("*.md")} - known
    if strange:
        sys.exit(f"docs/man/commands: no such command: {', '.join(sorted(strange))}")
    program = (man / "argus.1.md").read_text()
    (output / "argus.1.md").write_text(program.replace("@COMMANDS@", command_list(table["commands"])))


def main():
    if sys.argv[1] == "--list":
        names = re.findall(r"^ARGUS_COMMAND\(([a-z]+)\)", pathlib.Path(sys.argv[2]).read_text(), re.M)
        print(";".join(["argus.1"] + [f"argus-{name}.1" for name in names]), end="")
        return
    write(*map(pathlib.Path, sys.argv[1:4]))


main()
