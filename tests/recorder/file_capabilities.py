#!/usr/bin/env python3
"""A recorder with capabilities of its file instead of root. See recorder_harness.py."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

from recorder_harness import ARGUS, SWITCH, Live, Trace, eventually, main

USER, OTHER = 12345, 12346
DAC_READ_SEARCH, SYS_PTRACE, SYSLOG, PERFMON, BPF = 2, 19, 34, 38, 39
SOCKET = pathlib.Path(f"/run/user/{USER}/argus/recorder.socket")


def set_capabilities(path, *numbers):
    """As setcap(8) with "=ep": struct vfs_ns_cap_data of include/uapi/linux/capability.h, revision 2."""
    bits = sum(1 << number for number in numbers)
    os.setxattr(path, "security.capability", struct.pack("<5I", 0x02000001, bits & 0xffffffff, 0, bits >> 32, 0))


class FileCapabilities(Live):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="argus-caps-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)
        for name in ("argus", "argus-recorder"):
            shutil.copy(pathlib.Path(ARGUS).parent / name, self.folder)
        self.out = self.folder / "out"
        self.out.mkdir()
        os.chown(self.out, USER, USER)
        self.runtime = SOCKET.parent.parent
        self.addCleanup(shutil.rmtree, self.runtime, ignore_errors=True)
        self.runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chown(self.runtime, USER, USER)

    def allow(self, *numbers):
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            raise unittest.SkipTest("capabilities of files have no effect here")
        try:
            set_capabilities(self.folder / "argus-recorder", *numbers)
        except OSError as error:
            raise unittest.SkipTest("no capabilities of files here") from error

    @staticmethod
    def run_as(user, *words, **options):
        return subprocess.run(words, capture_output=True, text=True, timeout=60, user=user, group=user, extra_groups=[], cwd="/",
                              check=False, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
                              **{"stdin": subprocess.DEVNULL, **options})

    def as_user(self, *words, user=USER):
        return self.run_as(user, self.folder / "argus", *words)

    def test_recording(self):
        self.allow(DAC_READ_SEARCH, SYS_PTRACE, SYSLOG, PERFMON, BPF)
        path = self.out / "t.argus"
        done = self.as_user("record", "-o", str(path), "--only", "sched", "--", "sleep", "0.2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(Trace(path).of(SWITCH))
        self.assertEqual(path.stat().st_uid, USER)
        self.assertNotIn("lacks CAP_", self.as_user("info", str(path)).stdout)

    def test_rights_that_are_said(self):
        self.allow(SYS_PTRACE, PERFMON, BPF)
        self.assertEqual(self.as_user("start", "--ring-size", "16M", "--only", "sched").returncode, 0)
        self.addCleanup(self.as_user, "stop")
        rights = json.loads(self.as_user("status", "--json").stdout)["rights"]
        self.assertEqual(rights, {"uid": USER, "capabilities": ["sys_ptrace", "perfmon", "bpf"], "calls_filtered": True})
        text = self.as_user("status").stdout
        self.assertIn("the recorder lacks CAP_SYSLOG: functions of the kernel have no names", text)
        self.assertIn("the recorder lacks CAP_DAC_READ_SEARCH", text)
        self.assertNotIn("CAP_SYS_PTRACE", text)
        self.assertTrue(SOCKET.is_socket())
        self.assertIn("not recording", self.as_user("status", user=OTHER).stdout)
        self.check_memory(json.loads(self.as_user("status", "--json").stdout)["recorder_pid"])

    def test_rights_of_the_one_who_starts_it(self):
        """Ambient capabilities, as of a service of systemd: the process itself has to forbid that its user looks into it."""
        names = ",".join("+" + name for name in ("sys_ptrace", "perfmon", "bpf"))
        rights = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", f"--inh-caps={names}", f"--ambient-caps={names}"]
        if subprocess.run([*rights, "true"], check=False, capture_output=True).returncode:
            raise unittest.SkipTest("no ambient capabilities here")
        done = subprocess.run([*rights, self.folder / "argus", "start", "--ring-size", "16M", "--only", "sched"], capture_output=True,
                              text=True, timeout=60, cwd="/", check=False, stdin=subprocess.DEVNULL,
                              env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
        self.addCleanup(self.as_user, "stop")
        self.assertEqual(done.returncode, 0, done.stderr)
        status = json.loads(self.as_user("status", "--json").stdout)
        self.assertEqual(status["rights"]["uid"], USER)
        self.assertIn("bpf", status["rights"]["capabilities"])
        self.check_memory(status["recorder_pid"])

    def test_on_hang_needs_to_see_windows(self):
        self.allow(DAC_READ_SEARCH, SYSLOG, PERFMON, BPF)
        done = self.as_user("start", "--on-hang", "500ms", "--ring-size", "16M", "-o", str(self.out))
        self.addCleanup(self.as_user, "stop")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--on-hang needs CAP_SYS_PTRACE", done.stderr)

    def test_a_folder_of_others(self):
        """That is said: sudo would start a recorder, and hide it."""
        self.allow(SYS_PTRACE, PERFMON, BPF)
        SOCKET.parent.mkdir()
        os.chmod(SOCKET.parent, 0o777)
        done = self.as_user("start", "--ring-size", "16M", "--only", "sched")
        self.addCleanup(self.as_user, "stop")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not a directory that only its user can write to", done.stderr)

    def check_memory(self, recorder):
        """It can read what its user cannot, so its user may not look into it."""
        for name in ("mem", "environ", "maps", "fd/0"):
            done = self.run_as(USER, "dd", f"if=/proc/{recorder}/{name}", "of=/dev/null", "count=1")
            self.assertIn("Permission denied", done.stderr, name)
        # the refusals above are for the reader's lack of capabilities, too
        self.assertEqual(os.stat(f"/proc/{recorder}/environ").st_uid, 0, "the recorder can be dumped by its user")

    def test_a_step_has_no_capabilities(self):
        """Otherwise it could look into processes that gained rights, and past Yama."""
        self.allow(SYS_PTRACE, PERFMON, BPF)
        stepper = subprocess.Popen([self.folder / "argus-recorder", "step"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, user=USER,
                                   group=USER, extra_groups=[])
        self.addCleanup(stepper.wait)
        self.addCleanup(stepper.kill)
        status = pathlib.Path(f"/proc/{stepper.pid}/status")
        self.assertTrue(eventually(lambda: "step-engine" in status.read_text(encoding="utf-8"), 20))
        self.assertIn("CapPrm:\t0000000000000000", status.read_text(encoding="utf-8"))
        stepper.stdin.close()

    def test_no_place_for_the_socket(self):
        self.allow(PERFMON, BPF)
        shutil.rmtree(self.runtime)
        done = self.as_user("start")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"there is no place for {SOCKET.parent}", done.stderr)


if __name__ == "__main__":
    main()
