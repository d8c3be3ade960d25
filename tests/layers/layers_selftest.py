"""layers.py finds the violations: a tree with one of each kind."""
import pathlib
import tempfile
import unittest

import layers


class Selftest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("libargus/include/argus/trace.h", "")
        self.write("libargus/include/argus/graph.h", '#include "argus/trace.h"\n')

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def findings(self):
        return layers.check(self.root)[1]

    def test_a_clean_tree(self):
        self.write("libargus/graph/build/build.c", '#include "argus/graph.h"\n#include "argus/trace.h"\n#include <stdio.h>\n')
        self.assertEqual(self.findings(), [])

    def test_upward_include(self):
        self.write("libargus/trace/reader.c", '#include "argus/graph.h"\n')
        self.assertEqual(len(self.findings()), 1)
        self.assertIn("libargus/trace/reader.c", self.findings()[0])

    def test_private_header_of_a_later_stage(self):
        self.write("libargus/graph/rules.h", "")
        self.write("libargus/event/decode.c", '#  include "graph/rules.h"\n')
        self.assertEqual(len(self.findings()), 1)

    def test_the_recorder_has_no_decoder(self):
        self.write("libargus/include/argus/event.h", "")
        self.write("recorder/core.c", '#include "argus/event.h"\n')
        self.assertEqual(len(self.findings()), 1)

    def test_public_header_without_a_stage(self):
        self.write("libargus/include/argus/surprise.h", "")
        self.assertEqual(len(self.findings()), 1)

    def test_a_sentence_of_the_analysis(self):
        self.write("libargus/diagnose/blame.c", 'char *why(void)\n{\n    return print("it slept "\n                 "for %s", time);\n}\n')
        self.assertEqual(len(self.findings()), 1)
        self.assertIn("libargus/diagnose/blame.c:3", self.findings()[0])

    def test_texts_that_are_no_sentence(self):
        self.write("libargus/diagnose/blame.c", '/* "it slept" */\n#include "diagnose/words.h"\nputs("%s [%llu]");\n'
                   'return argus_error_create(NOT_FOUND,\n    "there is no vertex v%u", vertex);\n')
        self.write("libargus/report/blame.c.h", 'puts("it slept for long");\n')
        self.assertEqual(self.findings(), [])

    def test_the_label_of_a_probe_is_no_sentence(self):
        self.write("libargus/diagnose/ping.c", 'is(label, "Wayland ping");\n')
        self.assertEqual(len(self.findings()), 1)
        self.write("share/probes.conf", '#lib.so  queue  post  label="Wayland ping"\n')
        self.assertEqual(self.findings(), [])

    def test_the_same_name_twice(self):
        self.write("libargus/graph/walk.c", "")
        self.write("libargus/slice/walk.c", "")
        self.assertEqual(len(self.findings()), 1)

    def test_a_row_for_each_folder_of_tests(self):
        self.write("tests/graph/golden.py", "")
        self.assertIn("no row for the folder graph", self.findings()[0])
        self.write("tests/README.md", "| folder | what |\n|---|---|\n| `graph` | graphs |\n")
        self.assertEqual(self.findings(), [])

    def test_a_row_without_a_folder(self):
        self.write("tests/graph/second/build.py", "")
        self.write("tests/README.md", "| `graph` | graphs |\n| `graph/second` | again |\n| `gone` | |\n| `graph` | twice |\n")
        self.assertEqual(len(self.findings()), 2)


if __name__ == "__main__":
    unittest.main()
