"""check_apply.sh on a small tree with a small patch: applies, refuses, undoes, and changes nothing when it refuses."""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop())
BEFORE = "one\ntwo\nthree\n"
AFTER = "one\nours\ntwo\nthree\n"
HUNK = "--- a/{0}\n+++ b/{0}\n@@ -1,0 +2 @@\n+ours\n"


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Apply(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.tree, self.patches = pathlib.Path(self.folder.name, "xnu tree"), pathlib.Path(self.folder.name, "patches")
        self.patches.mkdir()
        for name in ("bsd/a.c", "osfmk/b.c"):
            (self.tree / name).parent.mkdir(parents=True)
            (self.tree / name).write_text(BEFORE, encoding="utf-8")
        self.patch("0001.patch", "bsd/a.c")
        self.patch("0002.patch", "osfmk/b.c")

    def tearDown(self):
        self.folder.cleanup()

    def patch(self, patch, name, after=AFTER, hunk=HUNK):
        (self.patches / patch).write_text(
            f"Text.\n\nbefore {sha256(BEFORE)} {name}\nafter  {sha256(after)} {name}\n\n{hunk.format(name)}", encoding="utf-8")

    def run_it(self, *options):
        command = [ROOT / "xnu-patch/check_apply.sh", *options, "--patches", self.patches, self.tree]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def texts(self):
        return [(self.tree / name).read_text(encoding="utf-8") for name in ("bsd/a.c", "osfmk/b.c")]

    def assert_refused(self, *words, options=()):
        was = self.texts()
        done = self.run_it(*options)
        self.assertEqual(done.returncode, 1, done.stdout)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(self.texts(), was)

    def test_applies_and_undoes(self):
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 files by 2 patches", done.stdout)
        self.assertEqual(self.texts(), [AFTER, AFTER])
        self.assertEqual(self.run_it("--undo").returncode, 0)
        self.assertEqual(self.texts(), [BEFORE, BEFORE])

    def test_a_dry_run_changes_nothing(self):
        done = self.run_it("--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.texts(), [BEFORE, BEFORE])

    def test_twice_is_said(self):
        self.run_it()
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("already", done.stdout)
        self.assertEqual(self.texts(), [AFTER, AFTER])

    def test_another_version_of_one_file_is_refused_by_hash(self):
        other = BEFORE.replace("two", "2")
        (self.tree / "osfmk/b.c").write_text(other, encoding="utf-8")
        self.assert_refused("osfmk/b.c", sha256(other), sha256(BEFORE), "nothing was changed")

    def test_another_version_is_told_hunk_by_hunk(self):
        """Where each hunk would go: lines were added before one, and the place of the other one has changed."""
        original = pathlib.Path(self.folder.name, "original")
        for name in ("bsd/a.c", "osfmk/b.c"):
            (original / name).parent.mkdir(parents=True)
            (original / name).write_text(BEFORE, encoding="utf-8")
        (self.tree / "bsd/a.c").write_text("new\nnew\n" + BEFORE, encoding="utf-8")
        (self.tree / "osfmk/b.c").write_text(BEFORE.replace("one", "1"), encoding="utf-8")
        self.assert_refused("--original FOLDER")
        moved = "0001.patch 1: bsd/a.c: 1 line behind line 1: line 3 (+2)"
        gone = "0002.patch 1: osfmk/b.c: 1 line behind line 1: no place; the line before it is gone: see lines 1 to 1"
        self.assert_refused(moved, gone, "1 hunk needs a look", options=("--original", original))
        (self.tree / "osfmk/b.c").unlink()
        (self.tree / "osfmk/new").mkdir()
        (self.tree / "osfmk/new/b.c").write_text(BEFORE, encoding="utf-8")
        done = self.run_it("--original", original)
        self.assertIn("the file is not there: perhaps osfmk/new/b.c", done.stderr)

    def test_the_original_comes_from_git(self):
        def git(*words):
            subprocess.run(["git", "-C", self.tree, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "1")
        git("tag", "xnu-11417.121.6")
        (self.tree / "bsd/a.c").write_text("one\nnew\ntwo\nthree\n", encoding="utf-8")
        self.assert_refused("the same place; 1 lines were added at this place: look there", "1 hunk needs a look")

    def test_a_missing_file_is_named(self):
        (self.tree / "bsd/a.c").rename(self.tree / "bsd/c.c")
        done = self.run_it()
        self.assertEqual(done.returncode, 1)
        self.assertIn("bsd/a.c: not there", done.stderr)
        self.assertEqual((self.tree / "osfmk/b.c").read_text(encoding="utf-8"), BEFORE)

    def test_a_patch_that_lands_in_the_wrong_place_is_noticed(self):
        self.patch("0002.patch", "osfmk/b.c", hunk=HUNK.replace("-1,0 +2", "-2,0 +3"))
        self.assert_refused("osfmk/b.c", "nothing was changed")

    def test_undo_of_what_was_never_applied_is_refused(self):
        self.assert_refused("nothing was changed", options=("--undo",))

    def test_a_file_that_cannot_be_written_leaves_all_alone(self):
        target = self.tree / "osfmk/b.c"
        target.chmod(0o444)
        if os.access(target, os.W_OK):
            self.skipTest("root can write everything")
        self.assert_refused("osfmk/b.c: cannot be written", "nothing was changed")

    def test_a_file_without_a_hash_is_refused(self):
        text = (self.patches / "0002.patch").read_text(encoding="utf-8")
        (self.patches / "0002.patch").write_text(text + HUNK.format("bsd/c.c"), encoding="utf-8")
        self.assert_refused("named by hash")

    def test_two_patches_for_one_file_are_refused(self):
        self.patch("0003.patch", "bsd/a.c")
        self.assert_refused("two patches", "bsd/a.c")

    def test_no_patches(self):
        for patch in self.patches.iterdir():
            patch.unlink()
        self.assert_refused("no patches")


if __name__ == "__main__":
    unittest.main()
