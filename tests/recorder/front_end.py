#!/usr/bin/env python3
"""What the commands say and do around a recording: where the trace goes, what was not seen. See recorder_harness.py."""
import json

from recorder_harness import Live, argus, main


class DefaultFile(Live):
    def record(self, *words):
        return argus("record", *words, "--", "true", cwd=self.folder)

    def test_the_trace_before_is_kept(self):
        self.assertEqual(self.record().returncode, 0)
        first = (self.folder / "argus.argus").read_bytes()
        done = self.record()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the trace that was argus.argus before is argus.argus.old now", done.stderr)
        self.assertEqual((self.folder / "argus.argus.old").read_bytes(), first)
        self.assertNotEqual((self.folder / "argus.argus").read_bytes(), first)
        done = argus("info", "--json", cwd=self.folder)
        self.assertIn("using argus.argus (the only trace here", done.stderr)
        self.assertEqual(json.loads(done.stdout)["lost"], 0)

    def test_a_named_file_is_replaced(self):
        self.assertEqual(self.record("-o", "x.argus").returncode, 0)
        self.assertEqual(self.record("-o", "x.argus").returncode, 0)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["x.argus"])

    def test_a_program_that_there_is_not_moves_nothing(self):
        (self.folder / "argus.argus").write_text("precious")
        self.assertEqual(argus("record", "--", "/no/such/program", cwd=self.folder).returncode, 1)
        self.assertEqual([(path.name, path.read_text()) for path in self.folder.iterdir()], [("argus.argus", "precious")])


if __name__ == "__main__":
    main()
