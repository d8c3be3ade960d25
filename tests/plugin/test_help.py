"""The help, the man pages and the command table agree."""
import re
import subprocess
import sys

from harness import expect, expect_equal, expect_in, main

OPTION = re.compile(r"^  (?:-(?P<short>.), |    )--(?P<long>[a-z-]+)(?:=(?P<argument>\S+))?\s+(?P<help>\S.*)$")
MAN_OPTION = re.compile(r"^(?:\*\*-(?P<short>.)\*\*, )?\*\*--(?P<long>[a-z-]+)\*\*(?:=\*(?P<argument>[^*]+)\*)?$")


def rows(setup):
    """The names in plugin/commands.def."""
    text = (setup.source / "plugin/commands.def").read_text()
    return [name.replace("_", " ") for name in re.findall(r"^ARGUS_COMMAND\((\w+)\)", text, re.M)]


def options_of_help(text):
    found = {match.groups()[:3] for match in map(OPTION.match, text.splitlines()) if match}
    return found - {("h", "help", None)}


def pages(setup):
    """Name of each page of a command → its Markdown, made as the build makes it (docs/man_pages.py)."""
    folder = setup.folder / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "help.json"
    table.write_text(setup.run("help", "--json", code=0).stdout)
    subprocess.run([sys.executable, "-B", setup.source / "docs/man_pages.py", table, setup.source / "docs/man", folder], check=True)
    return {path.name.removesuffix(".1.md"): path.read_text() for path in folder.glob("*.1.md")}


def page_of(made, name):
    return made["argus-" + name.split()[0]]


def part_of(page, name):
    """The part of the page about this command: for a subcommand, its part of COMMANDS."""
    return page.split(f"\n## argus {name}\n")[1].split("\n## ")[0] if " " in name else page.split("\n# COMMANDS\n")[0]


def options_of_man(text):
    found = {match.groups() for match in map(MAN_OPTION.match, text.replace("\\", "").splitlines()) if match}
    return found - {("h", "help", None)}


def graph_options(text):
    """The section of the page with the options of all commands that need the graph."""
    return text.split("\n# GRAPH OPTIONS\n")[1].split("\n# ")[0]


def split_help(text):
    """The text of a command's help before and after the heading of the shared options."""
    own, _, shared = text.partition("\noptions of all commands that need the graph:\n")
    return own, shared


def differences(help_text, man_text):
    ours, theirs = options_of_help(help_text), options_of_man(man_text)
    return [f"only in --help: {o}" for o in ours - theirs] + [f"only in the man page: {o}" for o in theirs - ours]


def own_options(text):
    return text.split("\n# GRAPH OPTIONS\n")[0]


def test_every_command_has_its_page(setup):
    heads = {"argus-" + name for name in rows(setup) if " " not in name}
    expect_equal("pages", sorted(pages(setup)), sorted(heads | {"argus"}))
    listed = subprocess.run([sys.executable, "-B", setup.source / "docs/man_pages.py", "--list", setup.source / "plugin/commands.def"],
                            check=True, stdout=subprocess.PIPE, text=True).stdout
    expect_equal("pages that the build expects", sorted(listed.split(";")), sorted(f"{name}.1" for name in heads | {"argus"}))


def test_every_page_has_its_sections(setup):
    for name, text in pages(setup).items():
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "SEE ALSO"] + ["OPTIONS", "EXAMPLES"] * (name != "argus"):
            expect(f"\n# {section}\n" in text, f"{name} has no section {section}")


def test_pages_refer_to_pages(setup):
    made = pages(setup)
    there = {f"{name}(1)" for name in made} | {"lldb(1)", "debuginfod-find(1)"}
    there |= {re.sub(r"^(.*)\.(\d)\.md$", r"\1(\2)", path.name) for path in (setup.source / "docs/man").glob("*.md")}
    for name, text in made.items():
        missing = set(re.findall(r"[a-z][a-z-]*\(\d\)", text)) - there
        expect(not missing, f"{name} refers to {', '.join(sorted(missing))}")


def test_options_are_those_of_the_page(setup):
    made = pages(setup)
    for name in rows(setup):
        text = setup.run("help", *name.split(), code=0).stdout
        own, shared = split_help(text)
        page = page_of(made, name)
        found = differences(own, own_options(part_of(page, name)))
        if shared:
            found += differences(shared, graph_options(page))
            found += differences(shared, graph_options(made["argus"]))
        expect(not found, f"argus {name}: {'; '.join(found)}")


def test_who_needs_the_graph_says_so(setup):
    shared = {name: split_help(setup.run("help", *name.split(), code=0).stdout)[1] for name in rows(setup)}
    expect(shared["graph"] and shared["diagnose"], "argus graph has no options of the graph")
    expect(not shared["dump"], "argus dump needs no graph")


def test_usage_is_that_of_the_page(setup):
    made = pages(setup)
    for name in rows(setup):
        text = setup.run("help", *name.split(), code=0).stdout
        usage = re.search(r"^usage: (.*)$", text, re.M).group(1)
        synopsis = page_of(made, name).split("\n# SYNOPSIS\n")[1].split("\n# ")[0]
        lines = [line.replace("**", "").replace("\\", "") for line in synopsis.splitlines()]
        expect(usage in lines or name == "load", f"usage of {name}: {usage} is not in {lines}")


def test_the_comparison_finds_a_difference(_):
    ours = "options:\n      --json                 text\n  -n, --limit=N  text\n  -h, --help   text\n"
    expect_equal("same", differences(ours, "**--json**\n: Text.\n\n**-n**, **--limit**=*N*\n: Text.\n"), [])
    expect_equal("missing one", len(differences(ours, "**--json**\n")), 1)
    expect_equal("other argument", len(differences(ours, "**--json**\n\n**-n**, **--limit**=*M*\n")), 2)


def test_help_is_complete(setup):
    for name in rows(setup):
        text = setup.run("help", *name.split(), code=0).stdout
        expect_in(f"argus {name}: ", text.splitlines()[0])
        expect(re.search(r"^example:\n  \S", text, re.M), f"argus {name} --help has no example")
        for line in text.splitlines():
            expect(len(line) <= 100, f"argus {name} --help has a line of {len(line)} columns: {line}")
        for line in text.split("\noptions:")[0].splitlines()[3:]:
            expect(len(line) <= 78, f"argus {name}: LLDB folds this line of the help: {line}")


def test_help_option_is_the_help_command(setup):
    for name in rows(setup):
        if name == "load":  # exists in LLDB only
            setup.run(*name.split(), "--help", code=2)
            continue
        expect_equal(f"argus {name} --help", setup.run(*name.split(), "--help", code=0).stdout,
                     setup.run("help", *name.split(), code=0).stdout)


def test_the_list_names_every_command_of_the_shell(setup):
    text = setup.run(code=0).stdout
    for name in rows(setup):
        listed = re.search(rf"^  {name}  +\S", text, re.M) is not None
        expect_equal(f"{name} is listed", listed, name != "load")
    expect_equal("argus --help", setup.run("--help", code=0).stdout, text)


main()
