#!/usr/bin/env python3
"""The parts of scripts/kernel-matrix that need neither QEMU nor a network."""
import lzma
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "scripts/kernel_matrix"))
import features  # noqa: E402  pylint: disable=wrong-import-position
import guest  # noqa: E402  pylint: disable=wrong-import-position
import kernels  # noqa: E402  pylint: disable=wrong-import-position

MODULES_DEP = """kernel/drivers/block/virtio_blk.ko.xz: kernel/drivers/virtio/virtio.ko.xz
kernel/drivers/virtio/virtio.ko.xz:
kernel/fs/ext4/ext4.ko.xz: kernel/fs/jbd2/jbd2.ko.xz kernel/lib/crc16.ko.xz
kernel/fs/jbd2/jbd2.ko.xz:
kernel/lib/crc16.ko.xz:
"""


class Kernels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="argus-kernels-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def unpacked(self):
        modules = self.folder / "lib/modules/6.1.0-test"
        modules.mkdir(parents=True)
        (modules / "modules.dep").write_text(MODULES_DEP)
        (self.folder / "boot").mkdir()
        (self.folder / "boot/vmlinuz-6.1.0-test").write_text("kernel")
        return kernels.find_parts(self.folder)

    def test_names(self):
        self.assertEqual([k.key for k in kernels.choose(["6.1", "arm64-6.1"])], ["6.1", "arm64-6.1"])
        self.assertEqual(kernels.choose([]), kernels.KERNELS)
        self.assertEqual({k.name for k in kernels.choose(["ci"])}, {"5.15", "6.1", "6.8", "newest"})
        with self.assertRaisesRegex(kernels.Missing, "no kernel '4.4'"):
            kernels.choose(["4.4"])

    def test_keys_are_unique(self):
        keys = [k.key for k in kernels.KERNELS]
        self.assertEqual(len(keys), len(set(keys)))

    def test_modules_come_behind_what_they_need(self):
        order = [path.name for path in kernels.module_order(self.unpacked(), ["virtio-blk", "ext4", "not_there"])]
        self.assertEqual(order, ["virtio.ko.xz", "virtio_blk.ko.xz", "jbd2.ko.xz", "crc16.ko.xz", "ext4.ko.xz"])

    def test_modules_are_unpacked(self):
        path = self.folder / "a.ko.xz"
        path.write_bytes(lzma.compress(b"module"))
        self.assertEqual(kernels.read_module(path), b"module")

    def test_a_folder_without_a_kernel(self):
        with self.assertRaisesRegex(kernels.Missing, "no kernel in"):
            kernels.find_parts(self.folder)

    def test_every_judge_fails_on_nothing(self):
        context = features.Context(self.folder, "/bin/false", self.folder)
        for feature in features.FEATURES:
            with self.subTest(feature.name), self.assertRaises((AssertionError, OSError)):
                feature.judge(context)

    def test_a_kernel_unpacked_by_hand(self):
        self.unpacked()
        row = kernels.unpacked_row(self.folder)
        self.assertEqual((row.key, row.architecture, row.records), (self.folder.name, "amd64", "bpf"))
        (self.folder / "lib/modules/6.1.0-test").rename(self.folder / "lib/modules/5.10.0-9-arm64")
        row = kernels.unpacked_row(self.folder)
        self.assertEqual((row.architecture, row.records), ("arm64", "perf"))

    def test_which_panics_are_the_emulators(self):
        self.assertTrue(guest.is_emulator_fault(b"int3: 0000 [#1] SMP\nKernel panic - not syncing"))
        self.assertTrue(guest.is_emulator_fault(b"watchdog: BUG: soft lockup"))
        self.assertFalse(guest.is_emulator_fault(b"Kernel panic - not syncing: Attempted to kill init"))

    def test_a_guest_that_locks_up_is_ended(self):
        class Guest:
            killed = False

            def poll(self):
                return None

            def kill(self):
                self.killed = True

            def wait(self):
                pass

        console, stuck = self.folder / "console", Guest()
        console.write_text("watchdog: BUG: soft lockup - CPU#0 stuck for 26s!")
        self.assertFalse(guest.wait_for(stuck, console, 60))
        self.assertTrue(stuck.killed)


if __name__ == "__main__":
    unittest.main()
