"""Baselines: from another trace, and with the preceding vertices: test_baseline.py MKTRACE ARGUS FOLDER.

In the cold trace the client never got a reply, and nothing shows that the worker should have sent one: it got no request, and
its only connection with the client is a message that woke no thread. The warm trace, recorded the day before and with other IDs,
shows that the worker replies.
"""
import json
import pathlib
import subprocess
import sys

from scene import Scene
from scenes import chain, rounds


def cold():
    s = Scene()
    a, b = chain(s, "ask", "work")
    s.at(50)
    s.thread(90, "bystander")
    s.sleep(a, 20)
    s.thread(91, "starter")
    s.wake(91, b)  # keeps the worker busy
    s.send(a)
    s.wait(a, "recvfrom", timeout=True)
    s.for_ms(3000)
    s.timer(a)
    s.for_ms(100)
    s.wait(b, "read")
    s.sleep(a, 20)
    return s


def warm():
    s = Scene()
    s.thread(5, "idler")
    tids = [31, 32]
    for tid, name in zip(tids, ("ask", "work")):
        s.thread(tid, name)
    s.wait(32, "read")
    for _ in range(4):
        s.for_ms(50)
        s.wake(31, 32)
        s.wait(31, "recvfrom")
        s.for_ms(2)
        s.wake(32, 31)
        s.wait(32, "read")
        s.sleep(31, 20)
    return s


def similar_by_context():
    """Two kinds of turns end in the same wait; only the preceding vertices distinguish them."""
    s = Scene()
    client, server = chain(s, "client", "server")
    rounds(s, 6, client, [server])
    return s


def make(mktrace, folder, name, scene):
    text, trace = folder / f"{name}.trace", folder / f"{name}.argus"
    text.write_text(scene.text())
    subprocess.run([mktrace, text, trace], check=True)
    return trace


def ask(argus, *words):
    done = subprocess.run([argus, *words, "--json", "--no-cache"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"exit code {done.returncode} from {words}: {done.stderr}")
    return json.loads(done.stdout)


def expect(condition, text):
    if not condition:
        sys.exit(text)


def main():
    mktrace, argus, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    now, before = make(mktrace, folder, "cold", cold()), make(mktrace, folder, "warm", warm())

    alone = ask(argus, "diagnose", now, "--process=ask", "--auto")
    expect(alone["root_causes"][0]["process"] != "work", f"nothing in the cold trace says that it is the worker: {alone['summary']}")
    expect(alone["baseline"] is None, "the cold trace has no normal case")

    words = ["diagnose", now, "--process=ask", "--auto", f"--baseline={before}"]
    answer = ask(argus, *words)
    root = answer["root_causes"][0]
    expect((root["process"], root["type"]) == ("work", "LongRunning"), f"{root['process']} is blamed: {answer['summary']}")
    expect(answer["baseline"] and answer["baseline"]["tid"] == 31, f"the baseline is {answer['baseline']}, not one of the warm trace")
    work = [row for row in answer["comparison"] if row["normal"] and row["normal"]["tid"] == 32]
    expect(work and 1_000_000 < work[0]["normal_ns"] < 4_000_000, f"the worker's normal part is not told: {answer['comparison']}")
    expect(ask(argus, *words) == answer, "the second answer differs from the first")

    spinning = answer["spinning"]["vertex"]["id"]
    found = ask(argus, "similar", now, spinning, f"--baseline={before}", "--context=2")["similar"]
    expect(found and found[0]["different_outcome"] and found[0]["vertex"]["tid"] == 31, f"similar finds {found[:1]}")
    expect("the 2 before it" in found[0]["why"], f"the context is not in the score: {found[0]['why']}")

    repeated = make(mktrace, folder, "context", similar_by_context())
    hung = ask(argus, "diagnose", repeated, "--process=client", "--auto")["spinning"]["vertex"]["id"]
    plain = ask(argus, "similar", repeated, hung)["similar"]
    deep = ask(argus, "similar", repeated, hung, "--context=4")["similar"]
    expect(plain and deep and len(plain) >= len(deep), "context may only take candidates away")
    expect(all(0.4 <= item["score"] <= 1 for item in plain + deep), "a score is out of its range")
    print("ok")


if __name__ == "__main__":
    main()
