"""Passes on those file names from stdin that a build's compile_commands.json compiles: compiled_files.py BUILD_FOLDER"""
import json
import pathlib
import sys

with open(pathlib.Path(sys.argv[1]) / "compile_commands.json", encoding="utf-8") as commands:
    compiled = {pathlib.Path(command["file"]).resolve() for command in json.load(commands)}
for name in sys.stdin.read().split():
    if pathlib.Path(name).resolve() in compiled:
        print(name)
