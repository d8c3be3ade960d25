"""Completion in bash, zsh and fish: each shell completes as if Tab was pressed, and must offer the contents of the command tables."""
import pathlib
import re
import shutil
import subprocess

from harness import Skip, Terminal, expect, expect_equal, expect_in, main

OPTION = re.compile(r"^  (?:-(?P<short>.), |    )--(?P<long>[a-z-]+)(?P<argument>=\S+)?\s", re.M)


def commands(setup):
    """The commands in the shell: each line of the help."""
    names = re.findall(r"^  ([a-z]+(?: [a-z]+)*)  +\S", setup.run(code=0).stdout, re.M)
    expect(len(names) > 30, f"the help has only {names}")
    return names


def folder(setup):
    """The folder in which the tests complete file names."""
    path = setup.folder / "files"
    if not path.exists():
        (path / "folder").mkdir(parents=True)
        for name in "one.argus", "two.argus", "text.txt", "good.steps":
            (path / name).touch()
    return path


def ask(setup, *words):
    """`argus --complete`: the candidates, without their help."""
    return [line.split("\t")[0] for line in setup.run("--complete", *words, code=0).stdout.splitlines()]


def shell(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f"{name} is not installed")
    return path


def output(setup, *words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60, cwd=folder(setup))
    expect(done.returncode == 0, f"{words[0]} ended with {done.returncode}: {done.stdout}")
    return done.stdout


# Splits the line as readline does, calls the function that the script has registered, and prints its candidates.
BASH = r"""
source "$1"
line=$3${2#argus}
COMP_LINE=$line COMP_POINT=${#line} COMP_WORDS=() rest=$line
while [[ $rest ]]; do
    if [[ $rest =~ ^' '+ ]]; then :
    elif [[ $rest =~ ^('='|[^' '=]+) ]]; then COMP_WORDS+=("${BASH_REMATCH[0]}"); fi
    rest=${rest:${#BASH_REMATCH[0]}}
done
[[ $2 != *' ' ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
[[ $(complete -p argus) == *"-F _argus argus" ]] || exit 1
_argus argus "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def bash(setup, line):
    script = setup.source / "share/completion/argus.bash"
    return sorted(output(setup, shell("bash"), "--norc", "-c", BASH, "bash", str(script), line, str(setup.argus)).split("\n")[:-1])


def fish(setup, line):
    """The candidates, as fish itself prints them."""
    script = setup.source / "share/completion/argus.fish"
    text = output(setup, shell("fish"), "--no-config", "-c",
                  f"set PATH {setup.argus.parent} $PATH; source {script}; complete -C '{line}'")
    return sorted(row.split("\t")[0] for row in text.splitlines())


class Zsh:
    """An interactive zsh on a pseudo-terminal, without which it has no completion."""

    def __init__(self, setup):
        functions = setup.folder / "zsh"
        functions.mkdir(exist_ok=True)
        shutil.copy(setup.source / "share/completion/argus.zsh", functions / "_argus")
        self.terminal = Terminal([shell("zsh"), "--no-rcs", "--no-globalrcs"], ZDOTDIR=str(functions), PS1="")
        self.count = 0
        for line in (f"cd {folder(setup)}; PATH={setup.argus.parent}:$PATH; fpath=({functions} $fpath)",
                     f"autoload -U compinit && compinit -D -d {functions}/dump; zstyle ':completion:*' list-separator '--'",
                     "LISTMAX=1000; COLUMNS=200; LINES=1000; unsetopt always_last_prompt; bindkey '^T' list-choices"):
            self.run(line)

    def run(self, line):
        self.count += 1
        self.terminal.send(f"{line}; PS1='<{self.count}''>'\r")  # the quotes distinguish the prompt from the echo
        self.terminal.wait_for(f"<{self.count}>")

    def choices(self, line):
        """The text that zsh lists for the line."""
        start = len(self.terminal.text)
        self.terminal.send(line + "\x14")
        self.run("\x15true")
        return self.terminal.text[start:]


def test_a_word_becomes_commands(setup):
    expect_equal("di", ask(setup, "di"), ["diverge", "diagnose"])
    expect_equal("graph", set(ask(setup, "graph", "")) - {":files"}, {"show", "find", "check", "stats", "export"})
    expect_equal("help graph s", ask(setup, "help", "graph", "s"), ["show", "stats"])
    expect_equal("no such command", ask(setup, "nothing", ""), [])
    offered = set(ask(setup, ""))
    for name in commands(setup):
        first, _, rest = name.partition(" ")
        expect(first in offered, f"argus {first} is not offered")
        expect(not rest or rest in ask(setup, first, ""), f"argus {name} is not offered")


def test_every_option_of_every_help_is_completed(setup):
    for name in commands(setup):
        for short, long, argument in OPTION.findall(setup.run(*name.split(), "--help", code=0).stdout):
            wanted = f"--{long}" + ("=" if argument else "")
            expect(wanted in ask(setup, *name.split(), "-"), f"argus {name} -<TAB> does not offer {wanted}")
            expect_in(wanted, ask(setup, *name.split(), wanted[:-1]))
            expect(not short or f"-{short}" in ask(setup, *name.split(), "-"), f"argus {name} -<TAB> does not offer -{short}")


def test_every_listed_value_is_completed(setup):
    """--format=trace-events|dot: words in lower case are literal values."""
    found = 0
    for name in commands(setup):
        for _, long, argument in OPTION.findall(setup.run(*name.split(), "--help", code=0).stdout):
            values = [value for value in argument[1:].split("|") if not value[:1].isupper()] if argument else []
            found += len(values)
            for value in values:
                expect_in(f"--{long}={value}", ask(setup, *name.split(), f"--{long}="))
                expect_in(value, ask(setup, *name.split(), f"--{long}", ""))
    expect(found > 20, f"only {found} values are listed in the help")


def test_categories(setup):
    expect_equal("only", ask(setup, "start", "--only=sched,m"), ["--only=sched,messages"])
    known = setup.run("record", "--only=nothing", "-o", "x", "--", "true").stderr.split("choose from ")[1].strip().split(", ")
    expect_equal("categories", ask(setup, "record", "--without", ""), known)


def test_what_a_position_takes(setup):
    for words, wanted in [(["info", ""], ":files\t*.argus"), (["import", ""], ":files\t*"), (["import", "x", "-o", ""], ":files\t*"),
                          (["diverge", ""], ":files\t*.steps"), (["diverge", "a", ""], ":files\t*.steps"), (["diverge", "a", "b", ""], ""),
                          (["contexts", "--base="], ":files\t*.argus"), (["schema", "add", "a", ""], ":files\t*"),
                          (["record", "--", ""], ":command\t2"), (["record", "-o", "x", "ls", ""], ":command\t3"),
                          (["step", "x", "v1", "--", "ls", "-"], ":command\t4"), (["watchflag", "1", ""], ":files\t*"),
                          (["slice", "x", ""], ""), (["status", ""], "")]:
        expect_equal(" ".join(words), setup.run("--complete", *words, code=0).stdout.strip(), wanted)
    expect("1" in ask(setup, "watchflag", ""), "argus watchflag <TAB> does not offer process 1")


def check_shell(setup, complete):
    """The same checks for each shell: `complete` returns the words that would be on the command line."""
    def last(line):
        return [re.sub(r"^--[a-z-]+=", "", word) for word in complete(setup, line)]

    expect_equal("di", complete(setup, "argus di"), ["diagnose", "diverge"])
    expect_equal("graph e", complete(setup, "argus graph e"), ["export"])
    expect_equal("record --unw", complete(setup, "argus record --unw"), ["--unwind-size=", "--unwind="])
    expect_equal("format", last("argus graph export --format="), ["dot", "firefox", "jsonl", "jsonl-gz", "perfetto", "pprof", "sqlite", "trace-events"])
    expect_equal("format d", last("argus graph export --format=d"), ["dot"])
    expect_equal("categories", last("argus record --without=sched,me"), ["sched,messages"])
    expect_equal("traces", [name.rstrip("/") for name in complete(setup, "argus info ")], ["folder", "one.argus", "two.argus"])
    expect_equal("base", last("argus contexts --base=on"), ["one.argus"])
    expect_equal("steps", complete(setup, "argus diverge g"), ["good.steps"])
    expect_equal("nothing fits", complete(setup, "argus info te"), ["text.txt"])
    expect_in("mktemp", complete(setup, "argus record -o x.argus -- mktem"))
    expect_in("text.txt", complete(setup, "argus record -o x.argus -- ls te"))


def test_bash(setup):
    check_shell(setup, bash)


def test_bash_with_its_package(setup):
    package = pathlib.Path("/usr/share/bash-completion/bash_completion")
    if not package.exists():
        raise Skip("bash-completion is not installed")
    global BASH
    before, BASH = BASH, f"source {package}\n" + BASH
    try:
        check_shell(setup, bash)
    finally:
        BASH = before


def test_fish(setup):
    check_shell(setup, fish)


def test_zsh(setup):
    zsh = Zsh(setup)
    for line, wanted, absent in [("argus di", ["diagnose", "diverge"], "dump"), ("argus record --unw", ["--unwind=", "--unwind-size="], "--without"),
                                 ("argus graph export --format=", ["trace-events", "perfetto", "dot", "jsonl", "jsonl-gz", "sqlite"], "text.txt"),
                                 ("argus info ", ["one.argus", "two.argus", "folder"], "text.txt"),
                                 ("argus graph ", ["show", "export", "one.argus"], "text.txt"), ("argus schema re", ["remove"], "reload"),
                                 ("argus contexts --base=", ["one.argus", "two.argus"], "text.txt"),
                                 ("argus record -o x.argus -- ls ", ["text.txt", "good.steps"], "--unwind"),
                                 ("argus record --without=", ["sched", "messages"], "text.txt")]:
        text = zsh.choices(line)
        for word in wanted:
            expect(word in text, f"{line!r} does not offer {word!r}:\n{text}")
        expect(absent not in text, f"{line!r} offers {absent!r}:\n{text}")
    zsh.terminal.close()


main()
