"""Checks that docs/macos.md has the table that follows from abilities.def: abilities.py ABILITIES_DEF MACOS_MD [--write]."""
import pathlib
import re
import sys

COLUMNS = ("stock Intel", "stock Apple silicon", "+ introspection libdispatch", "+ hooks", "+ patch")
BEGIN, END = "<!-- abilities.def -->", "<!-- end of abilities.def -->"


def parse(text):
    """Sources: symbol → whether each column has it. Abilities: rules → rows, the best first."""
    sources = {"ALWAYS": (True,) * 5}
    for symbol, flags in re.findall(r"^SOURCE\((\w+), .*?\"((?:, \w+)+)\)$", text, re.M):
        intel, silicon, dispatch, hooks, patch = (flag == "1" for flag in flags.split(", ")[3:])
        sources[symbol] = (intel, silicon, silicon or dispatch, silicon or hooks, silicon or patch)
    abilities = {}
    for rules, how, source, second in re.findall(r"^ABILITY\(\"(.*?)\", \"(.*?)\", (\w+), (\w+)\)$", text, re.M):
        abilities.setdefault(rules, []).append((how, source, second))
    return sources, abilities


def table(text):
    sources, abilities = parse(text)
    assert len(sources) > 10 and len(abilities) > 10, "abilities.def is not what this script expects"
    lines = ["| rules | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for rules, rows in abilities.items():
        cells = []
        for column in range(len(COLUMNS)):
            works = [how for how, source, second in rows if sources[source][column] and sources[second][column]]
            cells.append(works[0] if works else "no")
        lines.append(f"| {rules} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    made = f"{BEGIN}\n{table(pathlib.Path(sys.argv[1]).read_text())}\n{END}"
    page = pathlib.Path(sys.argv[2])
    text = page.read_text()
    found = re.search(re.escape(BEGIN) + ".*?" + re.escape(END), text, re.S)
    if not found:
        sys.exit(f"{page} has no table between {BEGIN} and {END}")
    if "--write" in sys.argv:
        page.write_text(text.replace(found.group(), made))
    elif found.group() != made:
        sys.exit(f"{page}: its table is not that of abilities.def (abilities.py … --write makes it)")


main()
