"""The form of the patches, and that tables, patches and decoder agree on the tracepoints."""
import pathlib
import re
import sys
import unittest

import patch_files

ROOT = pathlib.Path(sys.argv.pop())


def macros(text):
    return {name: int(value, 0) for name, value in re.findall(r"#define (\w+) +(0x[0-9a-f]+|\d+)u?\b", text)}


def calls(text):
    """The arguments of each KDBG_RELEASE(…), split at the commas outside of parentheses."""
    for start in (match.end() for match in re.finditer(r"KDBG_RELEASE\(", text)):
        depth, words, word = 1, [], ""
        for char in text[start:]:
            depth += (char == "(") - (char == ")")
            if depth == 0:
                break
            if char == "," and depth == 1:
                words.append(word.strip())
                word = ""
            else:
                word += char
        yield [*words, word.strip()]


class Patches(unittest.TestCase):
    def setUp(self):
        self.patches = patch_files.patches(ROOT)
        self.tracepoints = patch_files.tracepoints(ROOT)
        self.assertGreater(len(self.tracepoints), 20)

    def emitted(self):
        """{debugid: patch number}, of the calls in the patches."""
        values = macros(self.patches[0].added())
        found = {}
        for patch in self.patches:
            for words in calls(patch.added()):
                subclass, code = re.match(r"ARGUSDBG_CODE\((\w+), (\w+)\)", words[0]).groups()
                debugid = values["DBG_ARGUS"] << 24 | values[subclass] << 16 | values.get(code, 0) << 2
                found.setdefault(debugid, set()).add(patch.path.name[:4])
        return found

    def test_one_patch_for_each_group(self):
        self.assertEqual(len(self.patches), 8)

    def test_every_hunk_only_inserts(self):
        for patch in self.patches:
            for name, hunks in patch.hunks.items():
                shift = 0
                for hunk in hunks:
                    self.assertEqual(hunk.count_before, 0, f"{patch.path.name}: {name}")
                    self.assertEqual(hunk.after, hunk.before + 1 + shift, f"{patch.path.name}: {name}")
                    self.assertEqual(len(hunk.lines), hunk.count_after, f"{patch.path.name}: {name}")
                    shift += hunk.count_after

    def test_every_file_has_its_hashes_and_only_one_patch(self):
        seen = set()
        for patch in self.patches:
            self.assertEqual(set(patch.hashes), set(patch.hunks), patch.path.name)
            self.assertFalse(seen & set(patch.hashes), patch.path.name)
            seen |= set(patch.hashes)
            for name, (before, after) in patch.hashes.items():
                self.assertIsNotNone(after, name)
                self.assertNotEqual(before, after, name)

    def test_no_more_than_four_arguments(self):
        for patch in self.patches[1:]:
            found = list(calls(patch.added()))
            self.assertTrue(found, patch.path.name)
            for words in found:
                self.assertLessEqual(len(words), 5, words)
                self.assertTrue(words[0].startswith("ARGUSDBG_CODE("), words)

    def test_only_what_release_kernels_keep(self):
        for patch in self.patches[1:]:
            self.assertIsNone(re.search(r"\bKDBG(_DEBUG|_FILTERED)?\(|KERNEL_DEBUG", patch.added()), patch.path.name)

    def test_the_class_is_free(self):
        self.assertEqual(macros(self.patches[0].added())["DBG_ARGUS"], 0x60)
        record = (ROOT / "libargus/include/argus/record.h").read_text(encoding="utf-8")
        ours = {int(subclass, 0) for subclass in re.findall(r"ARGUS_DEBUGID\(ARGUS_CLASS, (\w+), ", record)}
        self.assertFalse(ours & {debugid >> 16 & 255 for debugid, *_ in self.tracepoints})

    def test_the_table_is_what_is_emitted(self):
        self.assertEqual(self.emitted(), {debugid: {patch} for debugid, _, _, _, patch in self.tracepoints})

    def test_the_table_is_what_is_decoded(self):
        text = (ROOT / "libargus/event/tracepoints_xnu.def").read_text(encoding="utf-8")
        rows = re.findall(r'^TRACEPOINT\((\w+), 0x([0-9a-f]{8})u, "(\w+)", ([01]), (.*)\)$', text, re.M)
        decoded = [(int(debugid, 16), paired == "1", name, re.findall(r'"([^"]*)"', arguments))
                   for symbol, debugid, name, paired, arguments in rows if symbol == name]
        self.assertEqual(decoded, [row[:4] for row in self.tracepoints])

    def test_the_table_is_what_trace_codes_gets(self):
        lines = [hunk.lines for hunk in self.patches[0].hunks["bsd/kern/trace_codes"]]
        self.assertEqual(lines, [[f"0x{debugid:x}\tARGUS_{name}" for debugid, _, name, _, _ in self.tracepoints]])


if __name__ == "__main__":
    unittest.main()
