"""The help, the man page and the command table say the same."""
import re

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


def man_sections(text):
    """Name of each command's section of the man page → its text."""
    commands = text.split("\n# COMMANDS\n")[1].split("\n# ")[0]
    pieces = re.split(r"^## (.+)$", commands, flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2]))


def options_of_man(text):
    return {match.groups() for match in map(MAN_OPTION.match, text.splitlines()) if match}


def graph_options(text):
    """The section of the man page with the options of all commands that need the graph."""
    return text.split("\n# GRAPH OPTIONS\n")[1].split("\n# ")[0]


def split_help(text):
    """What a command's help says before, and behind, the heading of the options that it shares with others."""
    own, _, shared = text.partition("\noptions of all commands that need the graph:\n")
    return own, shared


def differences(help_text, man_text):
    ours, theirs = options_of_help(help_text), options_of_man(man_text)
    return [f"only in --help: {o}" for o in ours - theirs] + [f"only in the man page: {o}" for o in theirs - ours]


def man_page(setup):
    return (setup.source / "docs/man/argus.1.md").read_text()


def test_every_command_has_its_man_section(setup):
    expect_equal("sections of argus.1.md", sorted(man_sections(man_page(setup))), sorted(rows(setup)))


def test_options_are_those_of_the_man_page(setup):
    sections = man_sections(man_page(setup))
    for name in rows(setup):
        text = setup.run("help", *name.split(), code=0).stdout
        own, shared = split_help(text)
        found = differences(own, sections.get(name, ""))
        if shared:
            found += differences(shared, graph_options(man_page(setup)))
        expect(not found, f"argus {name}: {'; '.join(found)}")


def test_who_needs_the_graph_says_so(setup):
    shared = {name: split_help(setup.run("help", *name.split(), code=0).stdout)[1] for name in rows(setup)}
    expect(shared["graph"] and shared["diagnose"], "argus graph has no options of the graph")
    expect(not shared["dump"], "argus dump needs no graph")


def test_usage_is_that_of_the_man_page(setup):
    sections = man_sections(man_page(setup))
    for name in rows(setup):
        text = setup.run("help", *name.split(), code=0).stdout
        usage = re.search(r"^usage: (.*)$", text, re.M).group(1)
        line = next(l for l in sections[name].splitlines() if l.startswith(f"**argus {name}**"))
        expect_equal(f"usage of {name}", line.replace("**", ""), usage)


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
