#!/usr/bin/env python3
"""The recorder in containers, without capabilities, with parts of /sys and /proc missing: docs/environments.md, row by row.
See recorder_harness.py; needs unshare and setpriv (util-linux)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from recorder_harness import ARGUS, MAKE_RUNNABLE, SWITCH, Live, Trace, argus, main

RECORD_ONLY = "+perfmon,+bpf"
PERF_ONLY = "+perfmon,+ipc_lock"
# Most systems mount tracefs when they boot. Otherwise perf_event needs CAP_SYS_ADMIN, to mount it itself.
MOUNT_TRACEFS = "{ mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing; }"
DOCKER = "+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_raw,+sys_chroot,+mknod,+setfcap"


def in_capabilities(capabilities, *command):
    return ["setpriv", f"--bounding-set=-all,{capabilities}", "--inh-caps=-all", *command]


def in_mounts(script, *command):
    return ["unshare", "--mount", "sh", "-c", script + ' && exec "$@"', "sh", *command]


class Environments(Live):
    def run_record(self, wrap, *options, command=("true",)):
        words = wrap(ARGUS, "record", "-o", str(self.path), *options, "--", *command)
        return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)

    def assert_recorded(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = Trace(self.path)
        self.assertTrue(trace.of(SWITCH))
        return trace

    def assert_refused(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        said = [line for line in done.stderr.splitlines() if "listening at" not in line and "warning: no callbacks" not in line]
        self.assertEqual(len([line for line in said if line.startswith("argus: ")]), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(self.path.exists())

    def test_without_capabilities_both_backends_say_why(self):
        self.assert_refused(self.run_record(lambda *c: in_capabilities(DOCKER, *c)),
                            "the kernel refuses BPF programs: root (or CAP_BPF and CAP_PERFMON) is needed",
                            "and perf_event does not work either", "CAP_PERFMON")

    def test_a_user_namespace_is_refused(self):
        probe = subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False)
        if probe.returncode:
            self.skipTest("no user namespaces here")
        self.assert_refused(self.run_record(lambda *c: ["unshare", "-Ur", *c]), "CAP_BPF")

    def test_a_user_without_sudo_is_told(self):
        home, programs = self.folder / "home", self.folder / "bin"
        home.mkdir(mode=0o755)
        programs.mkdir()
        for name in ("argus", "argus-recorder"):
            shutil.copy(pathlib.Path(ARGUS).parent / name, programs / name)
        os.chmod(self.folder, 0o755)
        os.symlink(shutil.which("true"), home / "true")
        os.chown(home, 65534, 65534)
        self.path = home / "t.argus"
        words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", f"HOME={home}", f"PATH={home}",
                 str(programs / "argus"), "record", "-o", str(self.path), "--", "true"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=home, check=False)
        self.assert_refused(done, "this needs root, and sudo cannot be started")

    def test_two_capabilities_are_enough(self):
        self.assert_recorded(self.run_record(lambda *c: in_capabilities(RECORD_ONLY, *c), "--backend", "bpf"))

    def test_two_capabilities_are_enough_for_perf(self):
        self.assert_recorded(self.run_record(lambda *c: in_mounts(MOUNT_TRACEFS, *in_capabilities(PERF_ONLY, *c)), "--backend", "perf"))

    def test_perf_without_the_right_to_lock_memory(self):
        if int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 0:
            self.skipTest("this kernel lets everybody lock memory for perf_event")
        self.assert_refused(self.run_record(lambda *c: in_mounts(MOUNT_TRACEFS, *in_capabilities("+perfmon", *c)), "--backend", "perf"), "CAP_IPC_LOCK")

    def test_tracefs_is_not_mounted(self):
        script = "for p in /sys/kernel/debug/tracing /sys/kernel/debug /sys/kernel/tracing; do umount -l $p 2>/dev/null; done; true"
        before = pathlib.Path("/proc/self/mounts").read_text()
        self.assert_recorded(self.run_record(lambda *c: in_mounts(script, *c), "--backend", "perf"))
        self.assertEqual(pathlib.Path("/proc/self/mounts").read_text(), before)

    def test_no_type_information(self):
        script = "mount -t tmpfs -o mode=755 tmpfs /sys/kernel/btf"
        self.assert_recorded(self.run_record(lambda *c: in_mounts(script, *c)))
        told = json.loads(argus("info", "--json", str(self.path)).stdout)
        self.assertEqual([m["what"] for m in told["missing"]], ["messages", "objects", "copied_stacks", "probes", "memory", "cpu_limits", "names", "open_ends",
                                                             "lasting"])
        self.assertIn("/sys/kernel/btf/vmlinux is missing", told["missing"][0]["reason"])
        answer = argus("messages", str(self.path)).stdout
        self.assertIn("What this trace cannot tell", answer)
        self.assertIn("recorded through perf_event", " ".join(answer.split()))

    def test_hidden_processes_are_seen_by_root(self):
        script = "mount -t proc -o hidepid=2 proc /proc"
        trace = self.assert_recorded(self.run_record(lambda *c: in_mounts(script, *c), "--backend", "bpf"))
        self.assertIn(1, {thread[0] for thread in trace.threads})

    def test_hidden_processes_are_said(self):
        script = "mount -t proc -o hidepid=4 proc /proc"
        done = self.run_record(lambda *c: in_mounts(script, *in_capabilities(RECORD_ONLY, *c)), "--backend", "bpf")
        self.assert_recorded(done)
        self.assertIn("/proc hides processes from the recorder", done.stderr)
        self.assertIn("complete list of threads", argus("info", str(self.path)).stdout)


class PidNamespaces(Environments):
    """A container. IDs in the records are the host's."""

    script = "echo $$; for i in 1 2 3; do sleep 0.02; done; ls -R /usr/share/doc > /dev/null"

    def in_container(self, backend, *unshare):
        done = self.run_record(lambda *c: ["unshare", "--pid", "--fork", *unshare, *c], "--backend", backend,
                               command=("sh", "-c", self.script))
        return done, self.assert_recorded(done)

    def names(self, trace):
        return {thread[5] for thread in trace.threads}

    def check_own_proc(self, backend):
        done, trace = self.in_container(backend, "--mount-proc")
        self.assertIn("pid namespace of its own (a container): thread ids are the host's", done.stderr)
        self.assertIn(" 0 lost", done.stderr)
        self.assertIn("sleep", self.names(trace))
        shell = int(done.stdout.split()[0])
        children = [thread for thread in trace.threads if thread[5] == "sleep"]
        self.assertFalse([thread for thread in children if thread[0] <= shell + 8], "an id of the namespace")
        self.assertFalse([thread for thread in trace.threads if thread[0] == 1], "the container's first process is not the host's")
        return trace

    def check_names_by_switches(self, trace):
        """The name of a thread that existed before the recording is known after it has left its CPU."""
        kernel = [name for name in self.names(trace) if name.startswith(("rcu_", "kworker/", "ksoftirqd/", "kcompactd"))]
        self.assertTrue(kernel, self.names(trace))

    def check_host_proc(self, backend):
        done, trace = self.in_container(backend)
        self.assertNotIn("pid namespace", done.stderr)
        self.assertTrue({"sleep", "kthreadd"} <= self.names(trace))
        self.assertTrue(trace.of(MAKE_RUNNABLE))

    def test_bpf_with_a_proc_of_its_own(self):
        self.check_own_proc("bpf")

    def test_bpf_with_the_proc_of_the_host(self):
        self.check_host_proc("bpf")

    def test_perf_with_a_proc_of_its_own(self):
        self.check_names_by_switches(self.check_own_proc("perf"))

    def test_perf_with_the_proc_of_the_host(self):
        self.check_host_proc("perf")


for inherited in [name for name in dir(Environments) if name.startswith("test_")]:
    setattr(PidNamespaces, inherited, None)

if __name__ == "__main__":
    if not (shutil.which("unshare") and shutil.which("setpriv")):
        print("skipped: unshare or setpriv is missing")
        sys.exit(77)
    main()
