"""macOS semantics in the graph: test_semantics.py MKTRACE MKKDEBUG ARGUS SCRATCH. The scenes are in semantics_scenes.py."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

import semantics_scenes as scenes
import semantics_waits as waits

MKTRACE = MKKDEBUG = ARGUS = ""
SCRATCH = pathlib.Path()


def argus(*words):
    done = subprocess.run([ARGUS, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


class Graph:
    """The graph of a scene, read back from argus."""

    def __init__(self, name, scene):
        text, self.trace = SCRATCH / f"{name}.trace", SCRATCH / f"{name}.argus"
        text.write_text(scene.text())
        subprocess.run([MKTRACE, text, self.trace], check=True, timeout=60)
        rows = json.loads(argus("graph", "find", "--json", self.trace))["vertices"]
        self.vertices = [json.loads(argus("graph", "show", "--json", self.trace, row["id"])) for row in rows]

    def of(self, tid):
        return [vertex for vertex in self.vertices if vertex["tid"] == tid]

    def named(self, identifier):
        return next(vertex for vertex in self.vertices if vertex["id"] == identifier)


def causes(vertex, rule=None):
    """The causes of a vertex: thread, rule, strength; without the previous vertex of its own thread."""
    return [(cause["from"]["tid"], cause["rule"], cause["strong"]) for cause in vertex["causes"]
            if not cause["rule"].startswith("sequence") and (rule is None or cause["rule"] == rule)]


def begun_by(graph, tid):
    """For each vertex in which the thread received a reply: the threads in the chain of requests that led to the reply."""
    chains = []
    for vertex in graph.of(tid):
        for cause in vertex["causes"]:
            if cause["message"] and cause["from"]["tid"] != tid:
                server = graph.named(cause["from"]["id"])
                chains.append([edge["from"]["tid"] for edge in server["causes"] if edge["message"]])
    return chains


class Semantics(unittest.TestCase):
    def test_batching(self):
        """Each client's reply results from its own request and from no other, both with IDs and without."""
        for ids in (True, False):
            scene = scenes.Batching(ids)
            scene.alone(scene.beta, 0x601, 0x1903)
            scene.both()
            graph = Graph(f"batching{ids:d}", scene)
            pieces = graph.of(scene.server)[-2:]
            self.assertEqual([row for row in causes(pieces[0]) if row[1] != "split.peers"], [(scene.alpha, "wake.task", True)], ids)
            self.assertIn((scene.beta, "message", ids), causes(pieces[1]))
            self.assertIn((scene.server, "split.peers", False), causes(pieces[1]))
            self.assertNotIn(scene.alpha, [row[0] for row in causes(pieces[1])])
            self.assertEqual(begun_by(graph, scene.alpha), [[scene.alpha]], ids)
            self.assertEqual(begun_by(graph, scene.beta)[-1], [scene.beta], ids)

    def test_network(self):
        """Who waited for the network says so, and names the kernel's thread that passed the data on."""
        cases = ((("dlil_input_en0",), waits.RECVFROM, "the network interface en0"),
                 (("AppleBCMWLANCore", "dlil_input_poll_en1"), waits.CONNECT, "the network interface en1"),
                 (("skywalk_doorbell_en0_tx",), waits.CONNECT, "the network interface en0"), (("fsw_rx_utun3_1",), waits.RECVFROM, "the network interface utun3"),
                 (("IOUSBMassStorageDriver",), waits.IOCTL, "the driver IOUSBMassStorageDriver"),
                 (("thread_call_high #2",), waits.IOCTL, "a device or the network"),
                 (("IONVMeController",), waits.READ, "the disk"))
        for number, (names, call, what) in enumerate(cases):
            scene = waits.Network(*names, call=call)
            for ms in (3, 3, 3000, 3):
                scene.fetch(ms)
                scene.work(100)
            answer = json.loads(argus("diagnose", "--auto", "--json", Graph(f"network{number}", scene).trace))
            cause = answer["root_causes"][0]
            self.assertEqual((cause["tid"], cause["type"]), (scene.loader, "LongWait"))
            thread = f"thread {names[-1]} of kernel_task"
            self.assertIn(f"{thread} ended its wait for the disk" if call == waits.READ else f"it waited for {what}, and {thread} ended the wait",
                          cause["why"])
            self.assertIn("Mail's main thread was frozen", answer["summary"])
            self.assertIn(f"because it waited for its thread loader, which waited for {what}", answer["summary"])

    def test_workers(self):
        """A worker that is given an item ends its wait by EJUSTRETURN, and has received the request; a call that is to start again has not."""
        scene = waits.Workers()
        for worker in (*scene.workers, scene.workers[0]):
            scene.serve(worker, waits.PARK_ENDS)
        graph = Graph("workers", scene)
        received = [cause for worker in scene.workers for vertex in graph.of(worker) for cause in vertex["causes"]
                    if cause["message"] and cause["from"]["tid"] == scene.alpha]
        self.assertEqual(len(received), 3)
        again = waits.Workers()
        again.serve(again.workers[0], -1)
        outcomes = [vertex["outcome"] for vertex in Graph("ends_again", again).of(again.workers[0]) if vertex["wait_on"] == "workq_kernreturn"]
        self.assertEqual(outcomes[0], "interrupted")

    def test_ends_of_calls(self):
        """docs/macos-calls.md: the ways in which calls end, each as the kernel records it."""
        for number, (call, end, outcome) in enumerate(waits.ENDS):
            scene = waits.Ends(call, end)
            outcomes = [vertex["outcome"] for vertex in Graph(f"end{number}", scene).of(scene.main) if vertex["wait_on"] == call[2]]
            self.assertEqual(outcomes, [outcome], (call, end))
        scene = waits.FirstItem()
        first = Graph("first_item", scene).of(scene.worker)[0]
        self.assertIn(scene.creator, [tid for tid, _, _ in causes(first)])

    def test_counts_and_errors(self):
        """info, graph and report count the same processes; dump names errors."""
        trace = Graph("counts", waits.SamplesAlone(4)).trace
        page = SCRATCH / "counts.html"
        argus("report", str(trace), "-o", str(page))
        counts = {json.loads(argus("info", "--json", str(trace)))["processes"], json.loads(argus("graph", "--json", str(trace)))["processes"],
                  int(re.search(r"Processes</dt><dd[^>]*>(\d+)", page.read_text(encoding="utf-8"))[1])}
        self.assertEqual(counts, {2})
        for end, text in (("error=0x13c", "error=ETIMEDOUT|0x100 "), ("error=0", "error=0 "), ("error=4", "error=EINTR "), ("error=9999", "error=9999 ")):
            text_of = argus("dump", str(Graph("errors", waits.Ends(("bsd", 305, ""), end)).trace))
            self.assertIn(f"BSC_psynch_cvwait end {text}", text_of)

    def test_samples_alone(self):
        """What such a trace cannot tell is said, and what it can tell is offered; the idle threads did not run."""
        scene = waits.SamplesAlone()
        graph = Graph("samples", scene)
        tids = {vertex["tid"] for vertex in graph.vertices}
        self.assertEqual(tids & {*scene.idle, scene.bound}, {scene.bound})
        for words in (["hangs"], ["diagnose", "--auto", "--process=editor"], ["hangs", "--threshold=50ms", "--process=editor"]):
            text = argus(*words, str(graph.trace))
            self.assertIn("no records of wake-ups and system calls", text)
            self.assertRegex(text, r"10\d ms +\d+  editor \[500\]")
            for false in ("No hangs", "did not come", "was frozen", "no other thread is known", "idle in its wait"):
                self.assertNotIn(false, text)

    def test_window_server(self):
        for ids in (True, False):
            scene = scenes.WindowServer(ids)
            if not ids:  # without IDs only wake-ups tell to which client a port belongs
                for number, client in enumerate(scene.clients):
                    asked = scene.request(client, 0x501 + number, scene.server)
                    scene.runs(scene.server)
                    scene.end(scene.server)
                    scene.begin(scene.server, scenes.answer_and_receive(0x1903 + asked % 7))
                    scene.wakes(scene.server, client)
                    scene.sleeps(scene.server)
                    scene.gets_answer(client, 0)
            scene.turn()
            graph = Graph(f"window_server{ids:d}", scene)
            for client in scene.clients:
                self.assertEqual(begun_by(graph, client)[-1], [client], (ids, client))
            splits = [vertex for vertex in graph.of(scene.server) if causes(vertex, "split.peers")]
            self.assertEqual(len(splits), 2, ids)

    def test_answers(self):
        """A reply that wakes no thread belongs to the client that asked, although its port name has belonged to another
        client."""
        scene = scenes.Answers()
        scene.slow(scene.alpha, 0x501, 0x1703)
        scene.slow(scene.beta, 0x601, 0x1803)
        scene.fast(scene.beta, 0x601, 0x1703)
        graph = Graph("answers", scene)
        last = graph.of(scene.beta)[-1]
        self.assertIn((scene.server, "message", False), causes(last))
        late = [cause for vertex in graph.of(scene.alpha) for cause in vertex["causes"] if cause["rule"] == "message"]
        self.assertEqual(late, [])

    def test_answer_and_message(self):
        """A thread that waits for a reply receives it, whatever else has arrived. A port name that was used for a reply leads to no
        receiver."""
        scene = scenes.Answers()
        scene.tells(scene.beta, scene.alpha, 0x903)
        scene.meanwhile(scene.alpha, 0x501, 0x1703, scene.beta, 0x903)
        scene.tells(scene.server, None, 0x1703)
        scene.tells(scene.beta, scene.alpha, 0x903)
        graph = Graph("answer_and_message", scene)
        answered = next(vertex for vertex in graph.of(scene.alpha) if (scene.server, "wake.task", True) in causes(vertex))
        by_message = [(cause["from"]["tid"], cause["rule"]) for cause in answered["causes"] if cause["message"]]
        self.assertEqual(by_message, [(scene.server, "wake.task")])
        later = [row for vertex in graph.of(scene.alpha) for row in causes(vertex, "message")]
        self.assertEqual(later, [(scene.beta, "message", False)])

    def test_voucher_of_the_receiver(self):
        scene = scenes.Vouchers()
        scene.redeemed()
        graph = Graph("redeemed", scene)
        self.assertEqual([row for vertex in graph.of(scene.database) for row in causes(vertex, "split.peers")], [])

    def test_vouchers(self):
        """Each part of the broker's work is for one client, and so is each part of the database's."""
        for contents, patched in ((False, False), (True, False), (True, True)):
            scene = scenes.Vouchers(contents, patched)
            scene.interleaved()
            graph = Graph(f"vouchers{contents:d}{patched:d}", scene)
            works_for = [[note["for"].split(",")[0] for note in vertex["callbacks"] if note["what"] == "works for"]
                         for vertex in graph.of(scene.database)[1:3]]
            self.assertEqual(works_for, [["beta [200]"], ["alpha [100]"]])
            pieces = [vertex for vertex in graph.of(scene.broker) if causes(vertex, "split.peers")]
            self.assertTrue(pieces)
            # the message about alpha to the database comes from the piece that received alpha's request, or from one that belongs to it
            told = next(cause for cause in graph.of(scene.database)[2]["causes"] if cause["message"])
            teller = graph.named(told["from"]["id"])
            self.assertIn(scene.alpha, [row[0] for row in self.back(graph, teller, scene.broker)])

    @staticmethod
    def back(graph, vertex, tid):
        """The causes of a vertex of the thread, and the causes of the earlier vertices of the thread whose request it continues."""
        rows, seen, todo = [], set(), [vertex]
        while todo:
            vertex = todo.pop()
            if vertex["id"] in seen:
                continue
            seen.add(vertex["id"])
            rows += causes(vertex)
            todo += [graph.named(cause["from"]["id"]) for cause in vertex["causes"]
                     if cause["from"]["tid"] == tid and cause["rule"] == "dispatch.request"]
        return rows

    def test_voucher_handed_on(self):
        scene = scenes.Vouchers()
        scene.creates(scene.alpha, scene.of_alpha)
        scene.handed_on()
        scene.adopted_again()
        graph = Graph("handed_on", scene)
        helped, *again = graph.of(scene.helper)[1:]
        self.assertEqual([row for vertex in again for row in causes(vertex)], [])
        self.assertIn((scene.broker, "voucher", False), causes(helped))
        self.assertEqual([note["for"] for note in helped["callbacks"]], ["alpha [100], by its voucher"])
        # the message already shows that the broker itself has received the request
        self.assertEqual([row for vertex in graph.of(scene.broker) for row in causes(vertex, "voucher")], [])
        text = argus("graph", "show", graph.trace, helped["id"])
        self.assertIn("works for alpha [100], by its voucher", text)

    def test_spinning_cursor(self):
        """The hook's record points at the main thread, whatever the threshold; the call that ends the spinning does not."""
        for told in (True, False):
            scene = scenes.Cursor()
            for _ in range(4):
                scene.event()
                scene.home(scene.events)
                scene.home(scene.main)
                scene.work(100)
            scene.hang(1500, told)
            graph = Graph(f"cursor{told:d}", scene)
            hangs = json.loads(argus("hangs", "--json", graph.trace))["hangs"]
            found = [(hang["tid"], hang["indicators"]) for hang in hangs]
            self.assertEqual(found, [(scene.main, ["spinning cursor requested"])] if told else [])
        found = json.loads(argus("hangs", "--json", "--threshold=1s", SCRATCH / "cursor1.argus"))["hangs"][0]
        self.assertEqual(found["indicators"], ["event loop did not come back", "spinning cursor requested"])
        answer = json.loads(argus("diagnose", "--auto", "--json", SCRATCH / "cursor1.argus"))
        self.assertEqual(answer["root_causes"][0]["process"], "authd")

    def test_run_loop(self):
        """Observers, timers, sources and blocks: each callout is caused by the thread that requested it."""
        scene = scenes.RunLoop()
        scene.device(scene.main)
        for kind in ("observer", "timer"):
            scene.asks_for(scene.main, kind)
        scene.home(scene.main)
        scene.device(scene.worker)
        scene.work(1)
        for kind in ("source 0", "block"):
            scene.asks_for(scene.worker, kind)
        scene.wakes(scene.worker, scene.main)
        scene.home(scene.worker)
        scene.runs(scene.main)
        scene.end(scene.main)
        scene.turn("observer", "timer", "source 0", "block")
        graph = Graph("run_loop", scene)
        found = {}
        for vertex in graph.of(scene.main):
            for note in vertex["callbacks"]:
                found[note["probe"].removeprefix("run loop ")] = causes(vertex, "dispatch.queued")
        self.assertEqual(found, {kind: [(thread, "dispatch.queued", True)] for kind, thread in (
            ("observer", scene.main), ("timer", scene.main), ("source 0", scene.worker), ("block", scene.worker))})

    def test_timers(self):
        """A timer leads, by its ID, from the thread that armed it through the kernel's thread to the thread that is woken."""
        for patched in (False, True):
            scene = scenes.Timers()
            (scene.patched if patched else scene.armed_for_another)()
            graph = Graph(f"timers{patched:d}", scene)
            kernel = graph.of(scene.daemon)[-1]
            self.assertIn((scene.worker, "work.executed" if patched else "timer.fired", True), causes(kernel))
            self.assertIn((scene.daemon, "wake.task", True), causes(graph.of(scene.other)[-1]))

    def test_wake_ups(self):
        """By clear_wait(), as shown by the result or by a patched kernel; by the kernel's housekeeping; by the event for which the thread
        waited."""
        expected = (
            ({}, "wake.task", True, "satisfied"),
            ({"result": 2}, "wake.clear_wait", False, "satisfied"),
            ({"how": 4}, "wake.clear_wait", False, "satisfied"),
            ({"how": 2}, "wake.task", True, "satisfied"),
            ({"how": 3, "result": 2}, "wake.task", True, "satisfied"),
            ({"due": True}, None, None, "satisfied"),
        )
        for number, (how, rule, strong, outcome) in enumerate(expected):
            scene = scenes.Timers()
            scene.wakes_by(**how)
            graph = Graph(f"wakes{number}", scene)
            before, woken = graph.of(scene.other)[-2:]
            self.assertEqual(causes(woken), [(scene.worker, rule, strong)] if rule else [], how)
            self.assertEqual(before["outcome"], outcome, how)

    def test_wake_up_result(self):
        """If no system call tells how a wait ended, the wake-up does."""
        for result, outcome in ((0, "satisfied"), (1, "timed out"), (2, "interrupted")):
            scene = scenes.Timers()
            scene.records = [line for line in scene.records if "trap_" not in line and "mach_msg2" not in line]
            for text in ("interrupt_start", f"mach_wake thread={scene.other} result={result}", "interrupt_end"):
                scene.say(scene.other, text, on=0)
            scene.runs(scene.other)
            scene.work(1)
            scene.sleeps(scene.other)
            graph = Graph(f"result{result}", scene)
            self.assertEqual(graph.of(scene.other)[0]["outcome"], outcome)

    def test_files(self):
        """The wait in open() names the file: a long path is shortened in the graph and complete in the dump."""
        for before in (True, False):
            for path in ("/a", "/Users/someone/Pictures/2026/a long name of a picture.jpeg", "/x" * 300 + "/the end ü"):
                scene = scenes.Files()
                scene.opens(path, before)
                graph = Graph("files", scene)
                wait = graph.of(scene.main)[1]["wait_on"]
                self.assertTrue(wait.startswith("open, \"") and wait.endswith(path[-100:] + "\""), wait)
                self.assertEqual("…" in wait, len(path.encode()) > 128)
                whole = [row["text"] for row in map(json.loads, argus("dump", "--json", graph.trace).splitlines()) if row["text"]]
                self.assertEqual(whole, [path])

    def test_kdebug(self):
        """The same graph from the file that a kernel would write."""
        scene = scenes.Batching(True)
        scene.both()
        graph = Graph("again", scene)
        path = SCRATCH / "again.kdebug"
        subprocess.run([MKKDEBUG, "v3", graph.trace, path], check=True, timeout=60)
        texts = [[line.split(":")[0].split(" ", 1)[1] for line in argus("graph", "find", trace).splitlines()]
                 for trace in (graph.trace, path)]
        self.assertEqual(*texts)


if __name__ == "__main__":
    MKTRACE, MKKDEBUG, ARGUS, SCRATCH = *sys.argv[1:4], pathlib.Path(sys.argv[4])
    SCRATCH.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
