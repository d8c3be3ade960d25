"""Two cases of the Argus paper, as records of an unpatched Mac, and their diagnoses: test_paper.py MKTRACE MKKDEBUG ARGUS
SCRATCH.

Chromium (section 2.3): the browser's main thread waits for the renderer, with a timeout of 1.5 s; the renderer's main thread
waits by a semaphore for the browser. In the normal case the path has five threads.

System Preferences (section 6): the main thread yields until _gCGDidReconfigureSeen is written, which happens when a datagram arrives;
in the bad case none arrives.
"""
import json
import pathlib
import subprocess
import sys
import unittest

import darwin_scene as darwin

MKTRACE = MKKDEBUG = ARGUS = ""
SCRATCH = pathlib.Path()


def make(name, scene):
    text, trace = SCRATCH / f"{name}.trace", SCRATCH / f"{name}.argus"
    text.write_text(scene.text())
    subprocess.run([MKTRACE, text, trace], check=True, timeout=60)
    return trace


def diagnose(trace, *options):
    done = subprocess.run([ARGUS, "diagnose", trace, "--threshold", "1s", "--auto", "--json", *options], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout)


class Chromium(darwin.Scene):
    """WindowServer, a browser and a renderer, each with a main thread and a worker, and fontd."""

    browser, renderer, cv_main = 100, 200, 0x1000
    javascript, loop = 0x33, 0x1f03  # ports of the renderer: a semaphore, and the port that wakes its main thread's run loop

    def __init__(self):
        super().__init__()
        self.process(88, "WindowServer")
        self.server = self.thread(880)
        self.process(self.browser, "Chromium")
        self.main, self.worker = self.thread(1001, "CrBrowserMain"), self.thread(1002, "Chrome_IOThread")
        self.process(self.renderer, "Chromium Helper")
        self.render, self.io = self.thread(2001, "CrRendererMain"), self.thread(2002, "Chrome_ChildIO")
        self.process(300, "fontd")
        self.fonts = self.thread(3001)
        self.block(self.server, darwin.receive())
        self.block(self.main, darwin.receive())
        self.block(self.worker, darwin.receive())
        self.block(self.render, darwin.receive())
        self.block(self.io, darwin.receive())
        self.block(self.fonts, darwin.receive())

    def signal(self, waker, wakee, cv, pid):
        self.begin(waker, darwin.cv_signal(cv, pid))
        self.wakes(waker, wakee)
        self.end(waker)

    def message(self, sender, receiver, port):
        self.begin(sender, darwin.send(port))
        self.wakes(sender, receiver)
        self.end(sender)

    def relay(self, thread):
        """A worker that has passed a message on waits at its port again."""
        self.block(thread, darwin.receive())

    def key(self):
        """A key is pressed: WindowServer sends it to the browser's main thread, which asks the renderer for the position of the text."""
        self.say(self.server, "interrupt_start", on=0)
        self.say(self.server, f"mach_wake thread={self.server}", on=0)
        self.say(self.server, "interrupt_end", on=0)
        self.comes(self.server)
        self.message(self.server, self.main, 0x501)
        self.block(self.server, darwin.receive())
        self.comes(self.main)
        self.message(self.main, self.worker, 0x601)
        self.block(self.main, darwin.cv_wait(self.cv_main, self.browser), timeout_ms=1500)
        self.comes(self.worker)
        self.message(self.worker, self.io, 0x701)
        self.relay(self.worker)
        self.comes(self.io)

    def answer(self):
        """The renderer's main thread sends its reply through both workers to the browser's main thread."""
        self.message(self.render, self.io, 0x801)
        self.block(self.render, darwin.receive())
        self.comes(self.io)
        self.message(self.io, self.worker, 0x901)
        self.relay(self.io)
        self.comes(self.worker)
        self.signal(self.worker, self.main, self.cv_main, self.browser)
        self.relay(self.worker)
        self.comes(self.main)
        self.block(self.main, darwin.receive())

    def normal(self, at_ms):
        """fontd knows the font, and the key is handled in time."""
        self.at(at_ms)
        self.key()
        self.message(self.io, self.render, self.loop)
        self.relay(self.io)
        self.comes(self.render)
        self.begin(self.render, darwin.ask(0xa01))
        self.wakes(self.render, self.fonts)
        self.say(self.render, "mach_block")
        self.say(self.render, "mach_sched next=0")
        self.say(self.render, f"mach_dispatch thread={self.render} state=1", on=0)
        self.comes(self.fonts)
        self.now += 2_000_000
        self.message(self.fonts, self.render, 0xb01)
        self.block(self.fonts, darwin.receive())
        self.comes(self.render)
        self.answer()

    def bad(self, at_ms):
        """A key is pressed while the renderer waits for the browser; the timeout of the browser's wait breaks the circular wait."""
        self.at(at_ms)
        # a page loads: the renderer's worker starts the script, which sends a request to the browser
        self.say(self.io, "interrupt_start", on=0)
        self.say(self.io, f"mach_wake thread={self.io}", on=0)
        self.say(self.io, "interrupt_end", on=0)
        self.comes(self.io)
        self.message(self.io, self.render, self.loop)
        self.relay(self.io)
        self.comes(self.render)
        self.message(self.render, self.worker, 0xc01)
        self.block(self.render, darwin.semaphore_wait(self.javascript))
        self.comes(self.worker)
        self.relay(self.worker)
        # and now the key
        self.key()
        self.begin(self.io, darwin.send(self.loop))  # this message wakes no thread
        self.end(self.io)
        self.relay(self.io)
        self.at(at_ms + 1510)
        self.fires(self.main)
        self.comes(self.main, 60)
        # only now the browser handles the renderer's request
        self.message(self.main, self.worker, 0x601)
        self.block(self.main, darwin.receive())
        self.comes(self.worker)
        self.message(self.worker, self.io, 0x701)
        self.relay(self.worker)
        self.comes(self.io)
        self.begin(self.io, darwin.semaphore_signal(self.javascript))
        self.wakes(self.io, self.render)
        self.end(self.io)
        self.relay(self.io)
        self.comes(self.render)
        self.message(self.render, self.io, 0x801)
        self.block(self.render, darwin.receive())
        self.comes(self.io)
        self.relay(self.io)


class Preferences(darwin.Scene):
    """System Preferences, the WindowServer, and the flags for the progress of a display's change."""

    will_seen, did_seen = 0x7f0010, 0x7f0014
    messages = 0x900

    def __init__(self):
        super().__init__()
        self.process(88, "WindowServer")
        self.server, self.events = self.thread(880), self.thread(881)
        self.process(500, "System Preferenc")
        self.main = self.thread(5001)
        self.sequence = 0
        self.block(self.server, darwin.receive())
        self.block(self.events, darwin.receive())
        self.block(self.main, darwin.receive())

    def flag(self, access, address, value):
        self.sequence += 1
        self.say(self.main, f"flag_{access} flag={address:#x} value={value} bytes=4 by=1 sequence={self.sequence}")

    def message(self, sender, receiver, port):
        """Kernels of Intel Macs record the ID of each message."""
        self.messages += 1
        self.begin(sender, darwin.send(port))
        self.say(sender, f"msg_send message={self.messages:#x}")
        if receiver:
            self.wakes(sender, receiver)
        self.end(sender)

    def received(self, tid):
        self.say(tid, f"mach_sched next={tid}", on=0)
        self.say(tid, f"msg_recv message={self.messages:#x}")
        self.end(tid)

    def turn(self):
        """The main thread reads the flag, which is not set, and yields for a millisecond."""
        self.flag("read", self.did_seen, 0)
        self.block(self.main, ("trap_start nr=61 arg1=0 arg2=1 arg3=1", ("trap", 61, 0)), timeout_ms=1)
        self.now += 1_000_000
        self.fires(self.main)
        self.comes(self.main)

    def reconfigures(self, at_ms, answered):
        """A click: the WindowServer is asked to change the display. It announces the change, and then either reports its end or does
        not."""
        self.at(at_ms)
        self.say(self.events, "interrupt_start", on=0)
        self.say(self.events, f"mach_wake thread={self.events}", on=0)
        self.say(self.events, "interrupt_end", on=0)
        self.comes(self.events)
        self.message(self.events, self.main, 0x501)
        self.block(self.events, darwin.receive())
        self.received(self.main)
        self.flag("write", self.did_seen, 0)
        self.flag("write", self.will_seen, 1)
        self.message(self.main, self.server, 0x601)
        self.received(self.server)
        for _ in range(5):
            self.turn()
        if answered:
            self.message(self.server, None, 0x501)
            self.block(self.server, darwin.receive())
            self.begin(self.main, darwin.receive())
            self.say(self.main, f"msg_recv message={self.messages:#x}")
            self.end(self.main)
            self.flag("write", self.did_seen, 1)
            self.flag("read", self.did_seen, 1)
        else:
            self.block(self.server, darwin.receive())
            for _ in range(2000):
                self.turn()
        self.block(self.main, darwin.receive())


class Paper(unittest.TestCase):
    def test_chromium(self):
        scene = Chromium()
        for at_ms in (100, 300, 500):
            scene.normal(at_ms)
        scene.bad(1000)
        scene.normal(3000)
        answer = diagnose(make("chromium", scene), "--process", "Chromium")
        spinning = answer["spinning"]["vertex"]
        self.assertEqual((spinning["tid"], spinning["type"]), (scene.main, "LongWait"))
        self.assertIn("psynch_cvwait", spinning["wait_on"])
        self.assertIsNotNone(answer["baseline"])
        cycle = [vertex["tid"] for vertex in answer["cycle"]]
        self.assertEqual(cycle, [scene.main, scene.worker, scene.io, scene.render])
        waits = {vertex["tid"]: vertex["wait_on"] for vertex in answer["cycle"]}
        self.assertIn("semaphore_wait_trap", waits[scene.render])
        # the fifth thread is on the path only in the normal case
        text = subprocess.run([ARGUS, "diagnose", SCRATCH / "chromium.argus", "--process", "Chromium", "--threshold", "1s", "--auto"],
                              capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertIn("fontd [300], thread fontd [3001]: nothing instead of 2.01 ms", text)

    def test_kdebug(self):
        """The same from a file as the kernel of an Intel Mac writes it; there a tick is 1 ns."""
        scene = Chromium()
        for at_ms in (100, 300, 500):
            scene.normal(at_ms)
        scene.bad(1000)
        scene.normal(3000)
        path = SCRATCH / "chromium.kdebug"
        subprocess.run([MKKDEBUG, "v1+", make("intel", scene), path], check=True, timeout=60)
        cycle = [vertex["tid"] for vertex in diagnose(path, "--process", "Chromium")["cycle"]]
        self.assertEqual(cycle, [scene.main, scene.worker, scene.io, scene.render])

    def test_system_preferences(self):
        scene = Preferences()
        for at_ms in (100, 400, 700):
            scene.reconfigures(at_ms, True)
        scene.reconfigures(1500, False)
        answer = diagnose(make("preferences", scene), "--process", "System Preferenc")
        self.assertEqual(answer["spinning"]["vertex"]["tid"], scene.main)
        self.assertEqual(answer["spinning"]["type"], "RepeatedYield")
        cause = answer["root_causes"][0]
        self.assertEqual((cause["process"], cause["tid"]), ("WindowServer", scene.server))
        self.assertIn("without an answer", cause["why"])


if __name__ == "__main__":
    MKTRACE, MKKDEBUG, ARGUS, SCRATCH = *sys.argv[1:4], pathlib.Path(sys.argv[4])
    SCRATCH.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
