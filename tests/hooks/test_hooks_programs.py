"""The generated libraries in programs that run: results unchanged, every hit counted, threads, removal, other versions."""
import pathlib
import shutil

import hooks_harness

PLACES = ("victim_short", "victim_rip", "victim_rip+9", "victim_red_zone+0xa", "victim_loop+2", "victim_call+5",
          "victim_call+0xd", "victim_call_register+1", "victim_tail", "victim_switch", "victim_switch+0x1e",
          "victim_entered+2", "victim_computed+2", "victim_with_data", "victim_taken", "victim_switch_inside+0x1a",
          "victim_entered_over+2", "victim_vector", "victim_vector+5", "victim_registers+0x2a", "victim_jrcxz+5",
          "victim_call_register+8 nounwind")
PLACES_ARM64 = ("victim_short", "victim_short+4", "victim_rip", "victim_rip+4", "victim_red_zone+0xc", "victim_red_zone+0x18",
                "victim_loop+4", "victim_loop+0xc", "victim_call+0xc", "victim_call+0x18", "victim_call_register+4",
                "victim_call_register+8", "victim_tail+4", "victim_switch", "victim_switch+0x10", "victim_jrcxz",
                "victim_jrcxz+4", "victim_entered", "victim_computed", "victim_with_data", "victim_taken",
                "victim_switch_inside", "victim_entered_over", "victim_vector", "victim_vector+0x10",
                "victim_vector+0x18", "victim_vector+0x20", "victim_registers+0x28")
# One round of hooked: the loop runs 10 times; with x = 0 victim_jrcxz+5 (arm64: +4) is never reached.
HITS, HITS_ARM64 = 36, 53


class Programs(hooks_harness.HooksTest):
    @property
    def places(self):
        return PLACES_ARM64 if self.machine == "aarch64" else PLACES

    @property
    def hits(self):
        return HITS_ARM64 if self.machine == "aarch64" else HITS

    def counting_table(self):
        shell = self.work / "libcounting-shell.so"
        return "".join(f"libargus-victims.so note {place} shell=counting_shell@{shell}\n" for place in self.places)

    def make_for_victims(self, text):
        path = str(self.path / "hooks.so")
        self.hook("make", self.table(text), "-o", path, "--image", self.victims)
        return path

    def preload(self, library):
        return self.environment([library])

    def test_each_place_once(self):
        text = self.run_program([str(self.work / "hooked"), "once"],
                                env=self.preload(self.make_for_victims(self.counting_table())))
        self.assertEqual(text, f"wrong 0\nhits {self.hits}\n")

    def test_our_own_shell_function(self):
        key, stack = ("x0", "sp") if self.machine == "aarch64" else ("rdi", "rsp")
        table = "".join(f"libargus-victims.so note {place} key={key} other={stack}->0\n" for place in self.places)
        text = self.run_program([str(self.work / "hooked"), "once"], env=self.preload(self.make_for_victims(table)))
        self.assertEqual(text, "wrong 0\nhits 0\n")

    def test_threads(self):
        library = self.make_for_victims(self.counting_table())
        text = self.run_program([str(self.work / "hooked"), "threads", library, "60"], env=self.environment())
        if self.machine == "aarch64":  # code under running threads is not changed, and the program reports that
            self.assertIn("other threads are running", text)
            self.assertIn("installed 0\nwrong 0\nhits 0\n", text)
            return
        self.assertIn(f"installed {len(PLACES)}\nwrong 0\nhits ", text)
        self.assertGreater(int(text.split("hits ")[1].split()[0]), 60)

    def test_another_version(self):
        library = self.make_for_victims(self.counting_table())
        other = self.path / "other"
        other.mkdir()
        data = bytearray(pathlib.Path(self.victims).read_bytes())
        at = data.find(b"GNU\0", data.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0"))
        data[at + 4] ^= 1  # the first byte of the build ID
        (other / "libargus-victims.so").write_bytes(data)
        (other / "libcounting-shell.so").symlink_to(self.work / "libcounting-shell.so")
        env = self.preload(library)
        env["LD_LIBRARY_PATH"] = str(other)
        program = shutil.copy(self.work / "hooked", other / "hooked")
        text = self.run_program([program, "once"], env=env)
        if "another version" not in text:  # the program's RPATH took precedence, so the hooks are in the right library
            self.skipTest("this linker writes an RPATH that cannot be overridden")
        self.assertIn("hits 0", text)

    def test_in_place_of_the_original(self):
        folder = self.path / "replaced"
        self.hook("make", self.table(self.counting_table()), "--replace", str(folder), "--image", self.victims)
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["libargus-victims.so", "libargus-victims.so.original"])
        env = self.environment(LD_LIBRARY_PATH=str(folder))
        text = self.run_program([str(self.work / "hooked"), "once"], env=env)
        self.assertIn(f"hits {self.hits}", text)

    def test_versions_of_symbols(self):
        """libz has symbol versions: a program that requests them finds them in the replacement."""
        self.skip_where_emulated()
        folder = self.path / "replaced"
        self.hook("make", self.table("libz.so.1 note adler32_z"), "--replace", str(folder))
        env = self.environment(LD_LIBRARY_PATH=str(folder))
        argv = ["python3", "-c", "import zlib; print(zlib.adler32(b'argus') )"]
        self.assertEqual(self.run_program(argv, env=env), self.run_program(argv))

    def test_run(self):
        self.skip_where_emulated()
        table = self.table("libc.so.6 note malloc key=rdi\nlibc.so.6 note free key=rdi\n")
        argv = ["run", table, "--", "python3", "-c", "print(sum(len(str(i)) for i in range(10000)))"]
        self.assertEqual(self.hook(*argv), "38890\n")
        self.hook("run", table, "--", "sh", "-c", "exit 7", code=7)


if __name__ == "__main__":
    hooks_harness.main()
