"""The published schema of the rows, docs/schema/rows.json, from their table, libargus/export/rows.def.

    rows_schema.py [--write]        compares, or writes it
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[2]
SCHEMA = ROOT / "docs/schema/rows.json"
TYPES = {"NUMBER": "integer", "REAL": "number", "TEXT": "string", "FLAG": "boolean", "ID": "integer", "REFERENCE": "integer"}


def tables():
    """(name, what it is, [(column, type, what it says)]) of each table."""
    found = []
    text = (ROOT / "libargus/export/rows.def").read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"\s*\n\s*"', "", text)
    for kind, first, second, third in re.findall(r'(ROW|COLUMN)\((\w+),\s*(?:(\w+),\s*)?"([^"]*)"\)', text):
        if kind == "ROW":
            found.append((first, third, []))
        else:
            found[-1][2].append((first, second, third))
    return found


def schema():
    rows = []
    for name, about, columns in tables():
        properties = {"row": {"type": "string", "enum": [name]}}
        for column, kind, what in columns:
            types = TYPES[kind] if kind == "ID" else [TYPES[kind], "null"]
            properties[column] = {"type": types, "description": what}
        rows.append({"type": "object", "description": about, "required": list(properties), "additionalProperties": False,
                     "properties": properties})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "argus graph export --format=jsonl: each line",
            "description": "The first line is the row trace, whose members format and version tell these rows' format. "
                           "The tables and columns of --format=sqlite are the same; PRAGMA user_version is the version.",
            "oneOf": rows}


def text():
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        SCHEMA.write_text(text(), encoding="utf-8")
    elif SCHEMA.read_text(encoding="utf-8") != text():
        sys.exit("docs/schema/rows.json is not what rows.def says: run tests/export/rows_schema.py --write")
