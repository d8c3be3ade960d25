"""The part of JSON Schema that docs/schema uses: mismatches(value, schema) lists what does not fit."""
import json
import pathlib

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs/schema"
TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool,
         "null": type(None)}


def misfits(answer):
    """What does not fit in what a command printed with --json: its member "format" names the schema and its version."""
    name, version = answer["format"].split()
    if version != "1":
        return [f"an unknown version: {answer['format']}"]
    return mismatches(answer, json.loads((SCHEMAS / f"{name.removeprefix('argus-')}.json").read_text(encoding="utf-8")))


def has_type(value, name):
    return isinstance(value, TYPES[name]) and not (isinstance(value, bool) and name in ("integer", "number"))


def mismatches(value, schema, root=None, at="$"):
    root = root or schema
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    if "oneOf" in schema:
        tried = [mismatches(value, option, root, at) for option in schema["oneOf"]]
        return [] if sum(not wrong for wrong in tried) == 1 else [f"{at}: fits not just one: {tried}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{at}: {value!r} is not one of {schema['enum']}"]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(has_type(value, name) for name in types):
        return [f"{at}: {value!r} is no {types}"]
    return members(value, schema, root, at)


def members(value, schema, root, at):
    wrong = []
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        wrong += [f"{at}: {key} is missing" for key in schema.get("required", []) if key not in value]
        if schema.get("additionalProperties", True) is False:
            wrong += [f"{at}: {key} is not in the schema" for key in value if key not in properties]
        for key in value.keys() & properties.keys():
            wrong += mismatches(value[key], properties[key], root, f"{at}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            wrong += mismatches(item, schema["items"], root, f"{at}[{i}]")
    return wrong
