"""argus-hook on Mach-O libraries: the libraries that it reads, those that it refuses, and the library that replaces the original."""
import pathlib
import shutil
import struct
import subprocess

import hooks_harness
import macho

# add eax, edi … : push rbx; mov ebx, edi; mov eax, [rip + 0x2ff7] (0x4000); call 0x1020; pop rbx; ret
CODE_X86 = bytes.fromhex("53 89fb 8b05f72f0000 e812000000 5b c3".replace(" ", "")).ljust(0x20, b"\x90") + b"\x8d\x47\x01\xc3"
# adrp x1, 0x4000; ldr w1, [x1]; cbz w0, +8; bl 0x1020; ret; … add w0, w0, #1; ret
CODE_ARM = struct.pack("<5I", 0xF0000001 & ~0x60000000 | 3 << 29, 0xB9400021, 0x34000040, 0x94000005, 0xD65F03C0).ljust(
    0x20, b"\x1f") + struct.pack("<2I", 0x11000400, 0xD65F03C0)
ADHOC, LINKER_SIGNED = 0x2, 0x20000  # osfmk/kern/cs_blobs.h
SYMBOLS = (("victim", 0x1000), ("helper", 0x1020))


class MachO(hooks_harness.HooksTest):
    def write(self, data, name="libvictim.dylib"):
        path = self.path / name
        path.write_bytes(data)
        return str(path)

    def place(self, cpu, code, line, **options):
        """Makes the replacement of a library; returns its bytes."""
        image = self.write(macho.dylib(cpu, code, SYMBOLS, **options))
        folder = self.path / "placed"
        self.hook("make", self.table(f"/usr/lib/libvictim.dylib {line}"), "--image", image, "--replace", str(folder))
        self.assertEqual((folder / "libvictim.dylib.original").read_bytes(), pathlib.Path(image).read_bytes())
        return (folder / "libvictim.dylib").read_bytes(), str(folder / "libvictim.dylib")

    def check_library(self, data, path, cpu):
        self.assertEqual(struct.unpack_from("<IIII", data), (0xFEEDFACF, *cpu, 6))
        self.assertEqual(macho.names(data, "id"), ["/usr/lib/libvictim.dylib"])
        self.assertEqual(macho.names(data, "reexport"), [path + ".original"])
        self.assertEqual(macho.names(data, "load"), ["@rpath/libargus-hook.dylib", "/usr/lib/libSystem.B.dylib"])
        segments = [body[8:24].rstrip(b"\0") for name, body in macho.commands(data) if name == "segment"]
        self.assertEqual(segments, [b"__TEXT", b"__DATA", b"__LINKEDIT"])
        self.assertIn(struct.pack("<Q", 0x314B4F4F48475241), data)
        self.assertEqual(macho.signature(data), ("libvictim.dylib", ADHOC | LINKER_SIGNED))
        objdump = shutil.which("llvm-objdump-14") or shutil.which("llvm-objdump")
        if not objdump:
            return
        text = subprocess.run([objdump, "--macho", "--bind", "--rebase", "--exports-trie", path], capture_output=True, text=True,
                              check=True)
        self.assertEqual(text.stderr, "")
        for piece in ("_argus_hook_install", "_argus_hook_remove", "_argus_hook_plan", "__mod_init_func", "__mod_term_func"):
            self.assertIn(piece, text.stdout)

    def test_x86_64(self):
        data, path = self.place(macho.X86_64, CODE_X86, "note victim+3 key=rdi")
        self.check_library(data, path, macho.X86_64)

    def test_arm64(self):
        for offset in range(0, 20, 4):
            data, path = self.place(macho.ARM64, CODE_ARM, f"queue victim+{offset} key=x0")
            self.check_library(data, path, macho.ARM64)

    def test_the_same_twice_is_the_same(self):
        first, _ = self.place(macho.ARM64, CODE_ARM, "note victim")
        second, _ = self.place(macho.ARM64, CODE_ARM, "note victim")
        self.assertEqual(first, second)

    def test_image_in_the_present_folder(self):
        """--image is a file, also without a slash."""
        image = pathlib.Path(self.write(macho.dylib(macho.ARM64, CODE_ARM, SYMBOLS)))
        made = self.path / "hooks.dylib"
        self.hook("make", self.table("/usr/lib/libvictim.dylib note victim"), "--image", image.name, "-o", str(made), cwd=self.path)
        macho.signature(made.read_bytes())

    def test_signature_of_many_pages(self):
        """The pages are hashed one by one, the last one only as far as it goes; an instruction more changes their hashes."""
        code = CODE_ARM + struct.pack("<I", 0xD503201F) * 40
        for table in (f"note victim label={'x' * 40}", "queue helper key=x0"):
            data, _ = self.place(macho.ARM64, code, table)
            macho.signature(data)
            for at in (0x18, 0x1010, 0x4008, data.index(b"_argus_hook_plan")):
                with self.assertRaises(AssertionError):
                    macho.signature(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])

    def test_instructions(self):
        image = self.write(macho.dylib(macho.X86_64, CODE_X86, SYMBOLS))
        text = self.hook("show", image, "victim")
        for piece in ("mov eax, dword ptr [rip + 0x2ff7]", "call 0x1020", "build id 000102030405"):
            self.assertIn(piece, text)

    def test_pointers_into_the_window(self):
        pointer = struct.pack("<Q", 0x1001)
        image = self.write(macho.dylib(macho.X86_64, CODE_X86, SYMBOLS, data=pointer))
        message = self.hook("check", self.table("/usr/lib/libvictim.dylib note victim"), "--image", image, code=1)
        self.assertIn("a pointer or an exception table", message)

    def test_universal(self):
        both = self.write(macho.universal((macho.X86_64, macho.dylib(macho.X86_64, CODE_X86, SYMBOLS)),
                                          (macho.ARM64, macho.dylib(macho.ARM64, CODE_ARM, SYMBOLS))))
        self.assertIn("--arch", self.hook("show", both, "victim", code=2))
        self.assertIn("call 0x1020", self.hook("show", both, "victim", "--arch=x86_64"))
        self.assertIn("bl #0x1020", self.hook("show", both, "victim", "--arch=arm64"))

    def test_arm64e(self):
        """Its pointers are signed by the processor, and moved instructions may authenticate them: refused, also as part of a universal file."""
        arm64e = macho.dylib((macho.ARM64[0], 0x80000002), CODE_ARM, SYMBOLS)
        x86 = macho.universal((macho.X86_64, macho.dylib(macho.X86_64, CODE_X86, SYMBOLS)), ((macho.ARM64[0], 0x80000002), arm64e))
        for data in (arm64e, x86):
            self.assertIn("arm64e", self.hook("show", self.write(data), "victim", "--arch=arm64", code=1))
        both = macho.universal(((macho.ARM64[0], 0x80000002), arm64e), (macho.ARM64, macho.dylib(macho.ARM64, CODE_ARM, SYMBOLS)))
        self.assertIn("bl #0x1020", self.hook("show", self.write(both), "victim", "--arch=arm64"))

    def test_another_version(self):
        image = self.write(macho.dylib(macho.ARM64, CODE_ARM, SYMBOLS))
        table = self.table(f"/usr/lib/libvictim.dylib id {'00' * 16}\n/usr/lib/libvictim.dylib note victim")
        self.assertIn("another version: its build id is 0001", self.hook("check", table, "--image", image, code=2))

    def test_damage(self):
        whole = macho.dylib(macho.ARM64, CODE_ARM, SYMBOLS)
        for length in (64, 100, 200, 0x1000, 0x5000, 0x8010, len(whole) - 3):
            image = self.write(whole[:length])
            self.hook("show", image, "victim", code=1)
        for offset in range(16, 0x180, 4):
            broken = bytearray(whole)
            broken[offset:offset + 4] = b"\xff\xff\xff\x7f"
            result = subprocess.run([str(self.build / "bin/argus-hook"), "show", self.write(bytes(broken)), "victim"],
                                    capture_output=True, text=True, timeout=60, check=False)
            self.assertIn(result.returncode, (0, 1), f"offset {offset}: {result.stderr}")

    def test_tables_of_the_paper(self):
        """Every table can be read for both architectures: the only error is that the library is not on this machine."""
        tables = sorted((pathlib.Path(__file__).parent / "../../share/hooks/macos").glob("*.conf"))
        self.assertEqual(len(tables), 8)
        for table in tables:
            for arch in ("x86_64", "arm64"):
                self.assertIn("cannot open /", self.hook("check", str(table), f"--arch={arch}", code=1))


if __name__ == "__main__":
    hooks_harness.main()
