"""argus-hook on places that can be hooked, and on those that cannot: each refusal says why."""
import pathlib
import shutil
import subprocess

import hooks_harness


class Places(hooks_harness.HooksTest):
    def refused(self, line, *pieces):
        message = self.hook("check", self.table(line), code=2 if "line 1: note" in pieces else 1)
        for piece in pieces:
            self.assertIn(piece, message)

    def error(self, line):
        result = subprocess.run([str(self.build / "bin/argus-hook"), "check", self.table(line)], capture_output=True,
                                text=True, timeout=60, check=False)
        self.assertIn(result.returncode, (1, 2))
        return result.stderr

    def test_what_would_be_replaced(self):
        text = self.hook("check", self.table("VICTIMS note victim_call+5"))
        self.assertIn("build id", text)
        self.assertIn("+0x5      call", text)
        self.assertIn("5 bytes for a jump", text)

    def test_jumps_into_the_window(self):
        self.assertIn("the branch at", self.error("VICTIMS note victim_loop"))
        self.assertIn("the branch at", self.error("VICTIMS note victim_entered"))
        self.assertIn("a pointer or an exception table", self.error("VICTIMS note victim_computed"))

        self.assertIn("an instruction that takes the address at", self.error("VICTIMS note victim_taken_middle"))
        self.assertIn("a jump table at", self.error("VICTIMS note victim_switch_inside+0x18"))
        self.assertIn("the branch at", self.error("VICTIMS note victim_entered_over"))

    def test_what_follows_a_table_of_jumps_is_no_entry(self):
        self.assertIn("no instruction begins at +0x19", self.error("VICTIMS note victim_switch+0x19"))

    def test_vector_instructions(self):
        lines = self.hook("show", self.victims, "victim_vector").splitlines()
        offsets = {line.split()[0]: line for line in lines if line.startswith("+")}
        for offset in ("+0x5", "+0xc", "+0x17"):
            self.assertTrue(offsets[offset].endswith(" ok"), offsets[offset])

    def test_data_among_the_code(self):
        for place in ("victim_with_data+0xe", "victim_switch_inside+0x10", "victim_taken+0xd"):
            self.assertIn("nothing in the image leads to", self.error(f"VICTIMS note {place}"))
        text = self.hook("show", self.victims, "victim_with_data")
        self.assertEqual([line.split()[0] for line in text.splitlines() if line.endswith(" ok")], ["+0x0", "+0x6"])

    def test_what_cannot_be_moved(self):
        self.assertIn("its branch only reaches 128 bytes", self.error("VICTIMS note victim_jrcxz"))
        self.assertIn("would return into the middle", self.error("VICTIMS note victim_call_register+8"))

    def test_too_short(self):
        self.assertIn("too short", self.error("VICTIMS note victim_tiny"))

    def test_not_an_instruction(self):
        message = self.error("VICTIMS note victim_rip+3")
        self.assertIn("no instruction begins at +0x3", message)
        self.assertIn("the next one is at +0x7", message)
        self.assertIn("is not in it", self.error("VICTIMS note victim_rip+0x1000"))

    def test_names(self):
        self.assertIn("similar: victim_loop", self.error("VICTIMS note victim_lop"))
        self.assertIn("has no function nothing_like_it", self.error("VICTIMS note nothing_like_it"))

    def test_stripped(self):
        stripped = self.path / "libstripped.so"
        shutil.copy(self.victims, stripped)
        subprocess.run(["strip", "-R", ".comment", "--strip-all", str(stripped)], check=True)
        # exported functions still have their names
        self.hook("check", self.table(f"{stripped} note victim_short"))
        message = self.error(f"{stripped} note add_two")
        self.assertIn("has no function add_two", message)

    def test_patterns(self):
        self.hook("check", self.table('VICTIMS note victim_red_zone find="40 f6 c7 01"'))
        self.hook("check", self.table('VICTIMS note victim_red_zone find="test dil, 1; mov rax, *"'))
        self.assertIn("fits 2 places", self.error('VICTIMS note victim_red_zone find="add rax, *"'))
        self.assertIn("most like it: victim_red_zone+0xa",
                      self.error('VICTIMS note victim_red_zone find="40 f6 c7 02"'))
        self.assertIn("fits nowhere", self.error('VICTIMS note * find="48 b8 77 77 77 77 77 77 77 77"'))

    def test_overlap(self):
        message = self.error("VICTIMS note victim_short\nVICTIMS note victim_short+2")
        self.assertIn("line 2", message)
        self.assertIn("that the hook of line 1 covers too", message)

    def test_version(self):
        message = self.error(f"VICTIMS id {'ab' * 20}\nVICTIMS note victim_short")
        self.assertIn("another version", message)

    def test_bad_tables(self):
        for line, piece in (("VICTIMS note", "a line is"), ("VICTIMS knot victim_short", "unknown shape"),
                            ("VICTIMS note victim_short key=eax", "not a number like"),
                            ("VICTIMS queue victim_short", "key=… is missing"),
                            ('VICTIMS note victim_short label="x', "a quote has no end"),
                            ("VICTIMS note victim_short colour=red", "unknown word"),
                            ("VICTIMS note * ", "needs find"),
                            ("VICTIMS id xyz", "not a build id")):
            self.assertIn(piece, self.error(line))
            self.assertIn("line 1", self.error(line))
        self.assertIn("has no line with a hook", self.error("# nothing\n"))

    def test_bad_images(self):
        empty = self.path / "empty"
        empty.write_bytes(b"")
        self.assertIn("neither a library nor a program", self.error(f"{empty} note x"))
        text = self.path / "text"
        text.write_text("x" * 5000, encoding="ascii")
        self.assertIn("neither an ELF nor a Mach-O", self.error(f"{text} note x"))
        self.assertIn("in no folder of libraries", self.error("libsurely-not-there.so.7 note x"))
        whole = pathlib.Path(self.victims).read_bytes()
        for length in (64, 100, 1000, len(whole) // 2):
            torn = self.path / "torn.so"
            torn.write_bytes(whole[:length])
            self.assertTrue(self.error(f"{torn} note victim_short"))


if __name__ == "__main__":
    hooks_harness.main()
