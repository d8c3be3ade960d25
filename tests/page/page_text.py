"""What `argus report` writes: one complete page that loads nothing, escapes all names, states what it lacks, and is not too large.

    page_text.py MKTRACE ARGUS FOLDER MKKDEBUG
"""
import html.parser
import pathlib
import subprocess
import sys
import unittest

import page_scenes as scenes

PAGES, MKKDEBUG = None, ""
VOID = {"meta", "br"}
KDEBUG_SOURCE = pathlib.Path(__file__).resolve().parents[1] / "kdebug" / "records.trace"


class Parsed(html.parser.HTMLParser):
    """Checks that every element ends, links lead to a place on the page, and nothing is loaded."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.loads, self.texts, self.tags = [], set(), [], [], [], []
        self.feed(text)
        assert not self.open, f"not ended: {self.open}"
        assert not self.loads, f"loads {self.loads}"
        nowhere = [link for link in self.links if link not in self.ids]
        assert not nowhere, f"links to nowhere: {nowhere}"

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                assert value not in self.ids, f"{value} twice"
                self.ids.add(value)
            if name == "href" and value.startswith("#"):
                self.links.append(value[1:])
            elif name in ("href", "src", "action", "data") or "url(" in (value or ""):
                self.loads.append(value)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> ends {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.texts.append(data)

    def text(self):
        return " ".join("".join(self.texts).split())


class Page(unittest.TestCase):
    def assertIn(self, member, container, msg=None):  # without the whole page in the message
        self.assertTrue(member in container, msg or f"{member!r} is missing")

    def assertNotIn(self, member, container, msg=None):
        self.assertTrue(member not in container, msg or f"{member!r} is there")

    def parsed(self, lines, *words):
        return Parsed(PAGES.text(PAGES.trace(lines), *words))

    def test_a_hang_is_told_and_drawn(self):
        text = PAGES.text(PAGES.trace(scenes.hang()), "--process=alpha")
        page = Parsed(text)
        for words in ("alpha [100]: 3.00 s, LongWait", "What happened", "Where the time went", "beta [200]", "Root cause"):
            self.assertIn(words, page.text())
        self.assertIn('class="culprit root"', text)
        self.assertIn('class="edge weak"', text)
        self.assertIn('class="whose"', text)

    def test_names_are_text(self):
        page = PAGES.text(PAGES.trace(scenes.hang(scenes.EVIL, "'><img src=x onerror=alert(1)>") + [f'note "{scenes.EVIL}"']),
                          f"--process={scenes.EVIL}")
        parsed = Parsed(page)
        self.assertEqual((parsed.tags.count("script"), parsed.tags.count("img"), parsed.tags.count("b") > 0), (1, 0, True))
        self.assertIn(scenes.EVIL, parsed.text())
        self.assertNotIn(scenes.EVIL, page)

    def test_notes_about_packages_are_folded(self):
        packages = [f'note "package of /opt/{number}: shop 1.{number}"' for number in range(60)]
        text = PAGES.text(PAGES.trace(scenes.hang() + packages + ['note "imported: 7 samples were left out"']))
        begin, folded = text.split("<details><summary>Packages of the programs: 60</summary>")
        self.assertTrue("7 samples were left out" in begin and "shop" not in begin)
        self.assertTrue("shop 1.49" in folded and "shop 1.50" not in folded and "10 more are not shown" in folded)
        self.assertNotIn("Packages of the programs", PAGES.text(PAGES.trace(scenes.hang() + ['note "kept"'])))

    def test_no_hangs_and_no_stacks_are_said(self):
        page = self.parsed(["thread 100 pid 100 name alpha", "0 cpu0 t100 syscall_start nr=read", "1ms cpu0 t100 syscall_end nr=read"])
        self.assertIn("No event loop was away", page.text())
        self.assertIn("has no call stacks of what was chosen", page.text())

    def test_contexts_are_compared_with_the_base(self):
        base = PAGES.trace(scenes.calls(20))
        page = PAGES.text(PAGES.trace(scenes.calls(95)), f"--base={base}")
        self.assertIn("+75.0 ms", Parsed(page).text())
        self.assertIn('class="base"', page)
        same = Parsed(PAGES.text(base, f"--base={base}")).text()
        self.assertIn("No context is slower than in the base", same)

    def test_what_only_the_base_has_is_drawn(self):
        base = PAGES.trace(scenes.calls(20))
        lines = [line for line in scenes.calls(20) if "user=3" not in line]
        page = PAGES.text(PAGES.trace(lines), f"--base={base}")
        self.assertIn('class="gone"', page)
        self.assertIn("only in the base: 5.00 ms", page)

    def test_a_base_of_another_program_is_said(self):
        base = PAGES.trace(scenes.calls(20, "other", 301))
        self.assertIn("are both traces of the same program?", self.parsed(scenes.calls(20), f"--base={base}").text())

    def test_contexts_are_of_the_explained_hangs(self):
        """The trace names no command: a bystander that computes more than the frozen program is not in the list."""
        bystander = [line.replace("cpu0", "cpu1") for line in scenes.calls(9000)]
        page = self.parsed(scenes.busy_loop() + bystander).text()
        self.assertIn("only the processes of the explained hangs: delta (processes: 1)", page)
        contexts = page[page.index("Calling contexts"):]
        self.assertIn("delta", contexts)
        self.assertNotIn("gamma", contexts)
        self.assertIn("gamma", self.parsed(bystander).text())

    def test_the_size_is_bounded_and_what_is_left_out_is_said(self):
        text = PAGES.text(PAGES.trace(scenes.deep(6000)))
        self.assertLess(len(text), 2_500_000)
        page = Parsed(text)
        self.assertIn("5999 nodes that took little are left out", page.text())
        self.assertIn("5701 functions that cost less are left out", page.text())

    def test_times_at_the_end_of_the_clock(self):
        """The axis of the page ends there, too."""
        lines = [line.replace("3000ms", str(2**64 - 10)).replace("3001ms", str(2**64 - 5)).replace("3009ms", str(2**64 - 1))
                 for line in scenes.hang()]
        self.assertLess(len(PAGES.text(PAGES.trace(lines), "--process=alpha")), 2_500_000)

    def test_a_file_of_macos(self):
        plain = PAGES.folder / "records.argus"
        subprocess.run([PAGES.mktrace, KDEBUG_SOURCE, plain], check=True)
        file = PAGES.folder / "records.kdebug"
        subprocess.run([MKKDEBUG, "v3", plain, file], check=True)
        self.assertIn("Recording", Parsed(PAGES.text(str(file))).text())

    def test_the_same_trace_gives_the_same_bytes(self):
        trace = PAGES.trace(scenes.hang())
        self.assertEqual(PAGES.text(trace, "--process=alpha"), PAGES.text(trace, "--process=alpha"))

    def test_bad_words_are_sentences(self):
        trace = PAGES.trace(scenes.hang())
        done = subprocess.run([PAGES.argus, "report", trace], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, "-o FILE is missing" in done.stderr), (2, True))
        self.assertIn("is at most", PAGES.report(trace, "--top=100000", code=2)[1])
        self.assertIn("no process 'nobody'", PAGES.report(trace, "--process=nobody", code=1)[1])
        self.assertIn("--base:", PAGES.report(trace, "--base=/nonexistent", code=1)[1])


if __name__ == "__main__":
    PAGES, MKKDEBUG = scenes.Pages(*sys.argv[1:4]), sys.argv[4]
    unittest.main(argv=sys.argv[:1])
