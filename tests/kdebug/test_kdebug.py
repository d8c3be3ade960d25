"""kdebug files of every version: test_kdebug.py MKTRACE MKKDEBUG ARGUS SOURCE SCRATCH.

The same records go into each version, as a 64-bit and as a 32-bit kernel would write them; what is read has to be the same. Then
the files are broken, one thing at a time, and the error has to say where.
"""
import json
import pathlib
import plistlib
import struct
import subprocess
import sys
import unittest

VERSIONS = ("v1", "v1+", "v2", "v3", "v3-new", "v3-kernel")
FORMATS = {"v1": "kdebug V1", "v1+": "kdebug V1", "v2": "kdebug V2", "v3": "kdebug V3", "v3-new": "kdebug V3",
           "v3-kernel": "kdebug V3 (kernel)"}
SAMPLE = pathlib.Path("/work/shared/data/kdebug/goios-coreprofile-v2.kdebug")
MKTRACE = MKKDEBUG = ARGUS = ""
SOURCE = SCRATCH = pathlib.Path()


def run(*words, code=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr + done.stdout


def records(path, mask=2**64 - 1):
    """Time, CPU, thread, ID and arguments of each record, in time order."""
    rows = [json.loads(line) for line in run(ARGUS, "dump", "--json", path).splitlines()]
    return [(row["ns"], row["cpu"], row["tid"], row["debugid"], *(arg & mask for arg in row["args"])) for row in rows]


def info(path, *words):
    return json.loads(run(ARGUS, "info", "--json", *words, path))


class Kdebug(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plain = SCRATCH / "records.argus"
        run(MKTRACE, SOURCE / "records.trace", cls.plain)
        cls.files = {}
        for version in VERSIONS:
            for width in ("", "-32"):
                cls.files[version + width] = SCRATCH / f"records-{version}{width}.kdebug"
                run(MKKDEBUG, version + width, cls.plain, cls.files[version + width])

    def test_records(self):
        """Each version has all records, in order; those of a 32-bit kernel have 32-bit arguments."""
        wide = records(self.plain)
        for name, path in self.files.items():
            mask = 2**32 - 1 if name.endswith("-32") else 2**64 - 1
            found = records(path, mask)
            # ticks of 125/3 ns, or of 1 ns where V1 is taken for Intel's
            ticks = [row[0] for row in wide]
            ratio = 1 if name == "v1-32" or name == "v1+-32" else 125 / 3
            self.assertEqual([row[0] for row in found], [int(tick * ratio + 1e-6) for tick in ticks], name)
            self.assertEqual([row[1:4] for row in found], [row[1:4] for row in wide], name)
            if name.endswith("-32"):
                self.assertEqual([row[4:] for row in found], [tuple(a & mask for a in row[4:]) for row in wide], name)
            else:
                self.assertEqual([row[4:] for row in found], [row[4:] for row in wide], name)

    def test_head(self):
        for name, path in self.files.items():
            found = info(path)
            version = name.replace("-32", "")
            self.assertEqual(found["trace_format"], FORMATS[version], name)
            self.assertEqual((found["os"], found["records"], found["threads"], found["cpus"]), ("darwin", 27, 3, 2), name)
            self.assertEqual(found["processes"], 3, name)  # the file gives kernel_task the process ID of launchd
            self.assertEqual(found["lost"], 1, name)
            self.assertEqual(found["stacks"], 1, name)
            self.assertTrue(found["complete"], name)
            notes = " ".join(found["notes"])
            self.assertEqual("how long a tick is" in notes, version.startswith("v1"), notes)
            self.assertEqual("time of day" in notes, version == "v2", notes)
            if version == "v3":
                self.assertIn("1 chunk of other kinds", notes)

    def test_processes(self):
        """kernel_task is not mistaken for launchd, and a name that the map cuts off is complete in the record."""
        text = run(ARGUS, "graph", "find", self.files["v2"])
        self.assertIn("launchd [1]", text)
        self.assertIn("com.apple.MapKit.SnapshotService", run(ARGUS, "dump", self.files["v2"]))

    def test_names(self):
        text = run(ARGUS, "dump", self.files["v3"])
        for words in ("BSC_read start", "BSC_read end error=0 result=64", "MSC_mach_msg2_trap start address=0x16f "
                      "options=SEND|RCV bits=0x1513 size=72 remote=0x903 local=0x707", "MACH_BLOCK", "MACH_SCHED reason=0 next=101",
                      "MACH_DISPATCH thread=200", "MACH_MKRUNNABLE thread=200", "INTERRUPT start", "TMR_TimerCallIntr start",
                      "PERF_STK_UHdr flags=0x0 frames=5", "DYLD_uuid_map_a", "VFS_LOOKUP start vnode=0xabc path=e/tm",
                      "TRACE_LOST_EVENTS", "TRACE_STRING_GLOBAL start for=0x1f050000"):
            self.assertIn(words, text)

    def test_import(self):
        """The .argus file has the same contents, and its records are in order."""
        for name, path in self.files.items():
            made = SCRATCH / f"{path.name}.argus"
            run(ARGUS, "import", path, "-o", made)
            self.assertEqual([r for r in records(made) if r[3] != 0x60ff_fffc],
                             [r for r in records(path) if r[3] != 0x60ff_fffc], name)
            ours, theirs = info(made), info(path)
            for key in ("records", "threads", "processes", "stacks", "arch", "start_ns", "end_ns", "start_wall_ns"):
                self.assertEqual(ours[key], theirs[key], (name, key))
            self.assertIn("sound", run(ARGUS, "verify", made))

    def test_timebase(self):
        made = SCRATCH / "timebase.argus"
        run(ARGUS, "import", "--timebase=125/3", self.files["v1-32"], "-o", made)
        self.assertEqual(info(made)["end_ns"], 9000 * 125 // 3)
        for wrong in ("125", "0/1", "1/0", "x/3", "1/2/3"):
            self.assertIn("two numbers are wanted", run(ARGUS, "import", f"--timebase={wrong}", self.plain, "-o", made, code=2))
        self.assertIn("an .argus file already", run(ARGUS, "import", self.plain, "-o", made, code=1))

    def test_image(self):
        """A path that is recorded before its image; the thread tells the process."""
        text = run(ARGUS, "dump", self.files["v2"])
        self.assertIn("address=0x100000000", text)

    def test_abilities(self):
        """Each rule states what it can do with this trace; if there are no wake-ups, the answer says so at its beginning."""
        stats = json.loads(run(ARGUS, "graph", "stats", "--json", self.files["v2"]))
        rules = {row["rules"]: row for row in stats["abilities"]["rules"]}
        self.assertEqual(rules["boundary.wait"]["how"], "yes")
        self.assertEqual(rules["message"]["how"], "guessed, weak: by port name and by the thread that the send wakes")
        self.assertFalse(rules["flag.written"]["works"])
        self.assertIn("reads and writes of data flags", rules["flag.written"]["missing"])
        argus = SCRATCH / "no-wakeups.argus"
        trace = SCRATCH / "no-wakeups.trace"
        trace.write_text("".join(line for line in (SOURCE / "records.trace").open() if "mach_wake" not in line))
        run(MKTRACE, trace, argus)
        done = subprocess.run([ARGUS, "graph", argus], capture_output=True, text=True, timeout=60, check=True)
        self.assertIn("no records of wake-ups", done.stderr)
        done = subprocess.run([ARGUS, "graph", self.files["v2"]], capture_output=True, text=True, timeout=60, check=True)
        self.assertNotIn("no records of wake-ups", done.stderr)

    @staticmethod
    def shared_cache():
        """dyld reports the libraries of the shared cache for one process; another process has a sampled stack in them."""
        lines = ["os darwin", "arch aarch64", "cpus 2", "thread 200 pid 57 name told", "thread 300 pid 58 name other",
                 "1000 cpu0 t200 record id=0x1f050028 arg1=0x2211 arg3=0x180000000", "1001 cpu0 t200 record id=0x1f05002c"]
        for at, (low, address) in enumerate(((0x4433, 0x180100000), (0x6655, 0x180200000), (0x8877, 0x100000000))):
            lines += [f"{1010 + at} cpu0 t200 record id=0x1f050000 arg1={low:#x} arg3={address:#x}",
                      f"{1010 + at} cpu0 t200 record id=0x1f050004"]
        frames = (0x180100040, 0x1802000f0, 0x100000040, 0x180000080)
        for at in (2000, 4000):
            lines += [f"{at} cpu1 t300 perf_event_start actions=9", f"{at + 1} cpu1 t300 perf_user_stack frames={len(frames)}",
                      f"{at + 2} cpu1 t300 perf_user_frames " + " ".join(f"arg{i + 1}={frame:#x}" for i, frame in enumerate(frames)),
                      f"{at + 3} cpu1 t300 perf_event_end actions=9"]
        lines += ["6000 cpu1 t300 syscall_start nr=3"]
        text, trace = SCRATCH / "cache.trace", SCRATCH / "cache.argus"
        text.write_text("\n".join(lines) + "\n")
        run(MKTRACE, text, trace)
        return trace

    def test_shared_cache(self):
        """The images that dyld reports for one process also name frames of another process."""
        trace = self.shared_cache()
        path = SCRATCH / "cache.kdebug"
        run(MKKDEBUG, "v2", trace, path)
        said = run(ARGUS, "contexts", path)
        for words in ("UUID 33440000-0000-0000-0000-000000000000+0x3f", "UUID 55660000-0000-0000-0000-000000000000+0xef",
                      "dyld shared cache UUID 11220000-0000-0000-0000-000000000000+0x7f", "0x100000040"):
            self.assertRegex(said, words.replace("+", "[+]").replace("3f", "(3f|40)").replace("ef", "(ef|f0)").replace("7f", "(7f|80)"))
        self.assertNotIn("--unwind", said)
        self.assertIn("no records of messages", run(ARGUS, "messages", path))

    @staticmethod
    def chunk(tag, data, length=None):
        return struct.pack("<IHHQ", tag, 0, 0, len(data) if length is None else length) + data + bytes(-len(data) % 8)

    def v3_with(self, name, *chunks, base=None):
        """The V3 file with further chunks at its end."""
        path = SCRATCH / f"{name}.kdebug"
        data = (base or self.files["v3"]).read_bytes()
        path.write_bytes(data + bytes(-len(data) % 8) + b"".join(chunks))
        return path

    def test_codes(self):
        """The names in a file are used for tracepoints that have none."""
        names = b"0x25990000\tPERF_Preamble\n0x1400000 MACH_another\nnonsense\n0x5550000 \"quoted\"\n"
        path = self.v3_with("codes", self.chunk(0x800f, names))
        text = run(ARGUS, "dump", path)
        self.assertIn("PERF_Preamble arg1=0x4", text)
        self.assertIn("MACH_SCHED reason=0 next=101", text)
        self.assertNotIn("25990000", text)
        self.assertIn("PERF_Preamble", [json.loads(line)["name"] for line in run(ARGUS, "dump", "--json", path).splitlines()])
        self.assertIn("sound", run(ARGUS, "verify", path))

    def test_property_lists(self):
        """Images and paths, in both forms, and the machine; what cannot be read is reported."""
        uuid = "33440000-0000-0000-0000-000000000000"
        cache = SCRATCH / "cache-v3.kdebug"
        run(MKKDEBUG, "v3", self.shared_cache(), cache)
        modules = {"Binaries": [{"UUID": uuid, "Path": "/usr/lib/told.dylib"}, {"UUID": "short"}, 7]}
        images = {"Processes": [{"pid": 58, "Images": [
            {"uuid": bytes(range(16)), "Path": "/Applications/Snap", "LoadAddress": 0x100000000, "Size": 0x800},
            {"uuid": bytes(range(1, 17)), "LoadAddress": 0x4000}]}]}
        machine = {"hw_model": "Mac14,2", "os_name": "macOS", "os_version": "15.5", "os_build": "24F74"}
        for form in (plistlib.FMT_BINARY, plistlib.FMT_XML):
            path = self.v3_with("lists", *(self.chunk(tag, plistlib.dumps(what, fmt=form)) for tag, what in (
                (0x8001, modules), (0x8004, images), (0x8c00, machine))), base=cache)
            said = run(ARGUS, "contexts", path)
            self.assertRegex(said, "Snap[+]0x(3f|40)")
            self.assertRegex(said, "told.dylib[+]0x(3f|40)")
            self.assertNotIn(uuid, said)
            notes = " ".join(info(path)["notes"])
            self.assertIn("the machine, as the file says: Mac14,2 macOS 15.5 24F74", notes)
        for broken in (b"bplist00", b"bplist00" + bytes(40), b"<plist><dict>", b"", b"bplist00" + b"\xff" * 64):
            path = self.v3_with("broken_list", self.chunk(0x8004, broken))
            self.assertIn("cannot be read", " ".join(info(path)["notes"]))
            self.assertEqual(info(path)["records"], 27)

    def test_to_the_end(self):
        """A length of all ones: the file was written as a stream, and its last chunk extends to the end of the file."""
        data = bytearray(self.files["v3"].read_bytes())
        last = data.rindex(struct.pack("<IHH", 0x1e00, 0, 0))
        struct.pack_into("<Q", data, last + 8, 2**64 - 1)
        path = SCRATCH / "stream.kdebug"
        path.write_bytes(data)
        self.assertEqual(info(path)["records"], 27)
        self.assertIn("sound", run(ARGUS, "verify", path))
        self.assertIn("cannot be read", run(ARGUS, "verify", self.v3_with("compressed", self.chunk(0x1f00, bytes(64))), code=4))

    def test_wall_clock_of_v2(self):
        data = bytearray(self.files["v2"].read_bytes())
        struct.pack_into("<QI", data, 8, 1_700_000_000, 500_000)
        path = SCRATCH / "wall.kdebug"
        path.write_bytes(data)
        found = info(path)
        first_ns = (9000 - 1000) * 125 // 3  # the first record in the file is not the earliest
        self.assertAlmostEqual(found["start_wall_ns"], 1_700_000_000_500_000_000 - first_ns, delta=100)
        self.assertNotIn("time of day", " ".join(found["notes"]))

    def test_contents(self):
        found = info(self.files["v2"])["darwin"]
        self.assertEqual(found, {"user_stacks": 1, "kernel_stacks": 0, "images": 1, "shared_caches": 0, "spawns": []})

    # --- broken files ---

    def broken(self, version, change, *words, code=1, command="info"):
        """Applies `change` to the bytes of a file, and expects the words in the output."""
        data = bytearray(self.files[version].read_bytes())
        data = change(data) or data
        path = SCRATCH / "broken.kdebug"
        path.write_bytes(data)
        said = run(ARGUS, command, path, code=code)
        for word in words:
            self.assertIn(word, said)
        if code == 1:
            self.assertIn("broken.kdebug", said)
        return said

    @staticmethod
    def poke(at, form, value):
        def change(data):
            struct.pack_into(form, data, at, value)
        return change

    def test_cut_off(self):
        for version, head in (("v1", 20), ("v2", 0x120), ("v3", 56), ("v3-kernel", 56)):
            for length in (4, 8, head - 1):
                self.broken(version, lambda data, n=length: data[:n], "offset 0", "cut off")

    def test_map_too_large(self):
        self.broken("v1", self.poke(4, "<i", 1 << 24), "offset 24", "16777216 entries")
        self.broken("v1", self.poke(4, "<i", -1), "offset 4", "-1 entries")
        self.broken("v2", self.poke(4, "<I", 0xffffffff), "offset 288", "4294967295 entries")

    def test_cpu_map(self):
        at = 24 + 3 * 32
        self.broken("v1+", self.poke(at + 4, "<I", 0), "offset 120", "0 cpus")
        self.broken("v1+", self.poke(at + 4, "<I", 400), "offset 120", "page of the records")

    def test_clock(self):
        self.broken("v3", self.poke(16, "<I", 0), "offset 16", "timebase is 0/3")
        self.broken("v2", self.poke(0x14, "<I", 7), "offset 20", "width of the records is 7")

    def test_head_length(self):
        self.broken("v3", self.poke(8, "<Q", 1 << 60), "offset 8", str(1 << 60))
        self.broken("v3", self.poke(8, "<Q", 8), "offset 8", "claims 8 bytes")

    def test_swapped(self):
        """Big-endian files come from machines that Argus does not support."""
        self.broken("v2", lambda data: data[3::-1] + data[4:], "not an Argus trace")

    def test_last_record(self):
        """The complete records count, and the rest is reported."""
        said = self.broken("v2", lambda data: data[:-10], "last record is not whole", code=4, command="verify")
        self.assertIn("26 records", said)
        said = self.broken("v3", lambda data: data[:-100], "cut off by the end of the file", code=4, command="verify")
        self.assertIn("25 records", said)

    def test_chunk_lengths(self):
        """A length that leads nowhere, or into another chunk: the reader finds the next chunk, and reports the damage."""
        data = self.files["v3"].read_bytes()
        threads = data.index(struct.pack("<IIQ", 0x1d00, 0, 96))
        strange = data.index(struct.pack("<IIQ", 0x8002, 0, 5))
        said = self.broken("v3", self.poke(strange + 8, "<Q", 1 << 40), "longer than the rest", code=4, command="verify")
        self.assertIn("27 records", said)
        said = self.broken("v3", self.poke(threads + 8, "<Q", 1 << 62), "longer than the rest", code=4, command="verify")
        self.assertIn("27 records", said)
        self.broken("v3", self.poke(strange + 8, "<Q", 40), code=4, command="verify")

    def test_impossible_cpu(self):
        data = self.files["v2"].read_bytes()
        self.broken("v2", self.poke(len(data) - 12, "<I", 1 << 20), "impossible cpu", "26 records", code=4, command="verify")

    def test_sample(self):
        """A real trace of an iOS device, if it is available."""
        if not SAMPLE.exists():
            self.skipTest("the sample is not here")
        found = info(SAMPLE)
        self.assertEqual((found["threads"], found["processes"], found["records"], found["cpus"], found["stacks"]),
                         (980, 237, 1966, 2, 3))
        self.assertEqual(round((found["end_ns"] - found["start_ns"]) / 1e6, 1), 185.8)
        times = [row[0] for row in records(SAMPLE)]
        self.assertEqual(times, sorted(times))
        self.assertEqual(found["darwin"], {
            "user_stacks": 3, "kernel_stacks": 0, "images": 117, "shared_caches": 2,
            "spawns": [{"pid": 312, "parent_pid": 1, "programs": ["xpcproxy", "sysmond"]}]})


if __name__ == "__main__":
    MKTRACE, MKKDEBUG, ARGUS = sys.argv[1:4]
    SOURCE, SCRATCH = pathlib.Path(sys.argv[4]), pathlib.Path(sys.argv[5])
    SCRATCH.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
