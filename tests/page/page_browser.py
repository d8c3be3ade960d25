"""The page in a browser, by chromedriver (WebDriver over HTTP): no errors, nothing wider than the window, and the controls work.

    page_browser.py MKTRACE ARGUS FOLDER [MKKDEBUG]

Skipped (77) where chromium or chromedriver is not installed.
"""
import json
import os
import shutil
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

import page_scenes as scenes

SKIP = 77
SIZES = [(500, 900), (1280, 900), (3840, 2160)]  # Chromium's narrowest window
PAGE = ""


class Driver:
    """The part of the W3C's WebDriver protocol that this test needs."""

    def __init__(self, folder):
        self.process = subprocess.Popen(["chromedriver", "--port=0", f"--log-path={folder}/driver.log"], stdout=subprocess.PIPE, text=True)
        self.port, self.session = None, None
        try:
            self.begin(folder)
        except BaseException:
            self.process.kill()
            raise

    def begin(self, folder):
        for line in self.process.stdout:
            if "successfully on port " in line:
                self.port = int(line.rsplit("on port ", 1)[1].rstrip(".\n"))
                break
        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile"]}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = answer["sessionId"]

    def call(self, method, path, body=None):
        path = path if self.session is None else f"/session/{self.session}{path}"
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.read()[:600]!r}") from error

    def run(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def until(self, script):
        """Returns the result of the script as soon as it is not empty."""
        for _ in range(200):
            found = self.run(script)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"never: {script}")

    def press(self, selector, key):
        element = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{next(iter(element.values()))}/value", {"text": key})

    def close(self):
        if self.session:
            self.call("DELETE", "")
        self.process.terminate()
        self.process.wait(timeout=20)


DRIVER = None


class Browser(unittest.TestCase):
    def setUp(self):
        DRIVER.call("POST", "/window/rect", {"width": 1280, "height": 900})
        DRIVER.call("POST", "/url", {"url": f"file://{PAGE}"})
        DRIVER.until("return document.querySelectorAll('.tree .labels text').length")

    def test_no_errors(self):
        logged = DRIVER.call("POST", "/se/log", {"type": "browser"})
        self.assertEqual([entry["message"] for entry in logged], [])

    def test_nothing_is_wider_than_the_window(self):
        for width, height in SIZES:
            DRIVER.call("POST", "/window/rect", {"width": width, "height": height})
            wide, window = DRIVER.run("return [document.documentElement.scrollWidth, innerWidth]")
            self.assertLessEqual(wide, window, f"at {width}")

    def test_a_context_is_gone_to(self):
        before = DRIVER.run("return document.querySelector('.tree').getAttribute('viewBox')")
        DRIVER.run("document.querySelectorAll('.heat tr')[1].cells[1].click()")
        self.assertNotEqual(DRIVER.run("return document.querySelector('.tree').getAttribute('viewBox')"), before)
        self.assertEqual(DRIVER.run("return document.querySelectorAll('.tree .worst').length > 0"), True)
        labels = DRIVER.run("return Array.from(document.querySelectorAll('.labels text'), text => text.textContent)")
        self.assertTrue(any(label.startswith(f"code+{scenes.LOAD:#x}") for label in labels), labels)
        DRIVER.press(".tree", "0")
        self.assertEqual(DRIVER.run("return document.querySelectorAll('.tree .worst').length"), 0)

    def test_the_costliest_context_is_chosen_at_first(self):
        DRIVER.until("return document.querySelector('.tree.chosen') !== null")
        self.assertEqual(DRIVER.run("return document.querySelector('.picture select').value"), "0")

    def test_the_heat_map_scrolls_to_the_bottleneck(self):
        DRIVER.run("const row = document.querySelector('.heat tr'), frame = row.closest('.scroll'); frame.scrollLeft = 0; "
                   "frame.style.width = row.cells[0].offsetWidth + 40 + 'px'; row.cells[1].click()")
        left, right = DRIVER.run("const row = document.querySelector('.heat tr'), place = row.querySelector('.worst').getBoundingClientRect(); "
                                 "return [place.left - row.cells[0].getBoundingClientRect().right, "
                                 "row.closest('.scroll').getBoundingClientRect().right - place.right]")
        self.assertGreaterEqual(min(left, right), -1, (left, right))

    def test_a_link_goes_there_too(self):
        DRIVER.run("location.hash = '#c1'")
        DRIVER.until("return document.querySelector('.tree.chosen') !== null")

    def test_keys_zoom_the_lanes(self):
        DRIVER.press(".lanes", "++")
        self.assertGreater(DRIVER.run("const lanes = document.querySelector('.lanes'); return lanes.scrollWidth / lanes.clientWidth"), 2)
        DRIVER.press(".lanes", "0")
        self.assertEqual(DRIVER.run("return document.querySelector('.lanes svg').style.width"), "100%")

    def test_a_table_sorts_both_ways(self):
        read = "return Array.from(document.querySelectorAll('.sortable tbody tr'), row => Number(row.cells[4].dataset.s))"
        press = "document.querySelectorAll('.sortable th button')[4].click()"
        DRIVER.run(press)
        first = DRIVER.run(read)
        DRIVER.run(press)
        self.assertEqual((first, DRIVER.run(read)), (sorted(first, reverse=True), sorted(first)))

    def test_arrows_walk_the_heat_map_and_tell(self):
        DRIVER.run("document.querySelector('.heat td').focus()")
        DRIVER.press(".heat td", "\ue014")  # right
        self.assertEqual(DRIVER.run("return document.activeElement.cellIndex"), 2)
        shown = DRIVER.run("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.textContent")
        self.assertIn("itself", shown)

    def test_names_stay_text(self):
        self.assertEqual(DRIVER.run("return [window.evil === undefined, document.images.length]"), [True, 0])


def main():
    global DRIVER, PAGE
    if not shutil.which("chromedriver") or not shutil.which("chromium"):
        print("chromium or chromedriver is not installed")
        return SKIP
    pages = scenes.Pages(*sys.argv[1:4])
    evil = "</script><img src=x onerror=evil=1>"
    base = pages.trace(scenes.calls(20))
    hang = [line.replace("user=1 ", "user=9 ").replace("stack 1 ", "stack 9 ") for line in scenes.hang(evil)]
    page, _ = pages.report(pages.trace(hang + scenes.calls(95)), f"--base={base}", "--time=+1s")
    PAGE = os.path.abspath(page)
    DRIVER = Driver(os.path.abspath(pages.folder))
    try:
        return 0 if unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() else 1
    finally:
        DRIVER.close()


if __name__ == "__main__":
    sys.exit(main())
