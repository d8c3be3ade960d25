"""The plugin behind the Debug Adapter Protocol, as an editor drives LLDB: nothing may read or write the protocol's streams."""
import json
import os
import select
import shutil
import subprocess
import time

from harness import Skip, expect, expect_equal, expect_in, freezes, main

QUESTION = "Which hang is to be explained?"


class Adapter:
    """lldb-dap, and its console output."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.sequence, self.console, self.buffer = 0, "", b""

    def request(self, command, **arguments):
        """Sends a request and waits for its response; output in between goes to the console."""
        self.sequence += 1
        body = json.dumps({"seq": self.sequence, "type": "request", "command": command, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()
        return self.wait_for(lambda message: message.get("request_seq") == self.sequence)

    def wait_for(self, wanted, seconds=60):
        end = time.monotonic() + seconds
        while True:
            message = self.next_message(end)
            if message.get("event") == "output":
                self.console += message["body"]["output"]
            if wanted(message):
                return message

    def next_message(self, end):
        while b"\r\n\r\n" not in self.buffer or len(self.buffer) < self.needed():
            expect(time.monotonic() < end, f"lldb-dap says no more; its console:\n{self.console}")
            if select.select([self.process.stdout], [], [], 1)[0]:
                piece = os.read(self.process.stdout.fileno(), 65536)
                expect(piece, f"lldb-dap has ended; its console:\n{self.console}")
                self.buffer += piece
        needed, head = self.needed(), self.buffer.index(b"\r\n\r\n") + 4
        body, self.buffer = self.buffer[head:needed], self.buffer[needed:]
        return json.loads(body)

    def needed(self):
        """Reads up to the end of the first message, whose header has been read."""
        header, _ = self.buffer.split(b"\r\n\r\n", 1)
        expect(header.startswith(b"Content-Length: "), f"this is none of the protocol's: {header!r}")
        return len(header) + 4 + int(header.split(b"\r\n")[0].split(b":")[1])

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def test_a_question_and_its_answer(setup):
    program = next(filter(None, map(shutil.which, ["lldb-dap"] + [f"lldb-dap-{n}" for n in range(22, 17, -1)])), None)
    if not program:
        raise Skip("no lldb-dap is installed")
    path = setup.trace("dap", freezes(3000, 4000))
    adapter = Adapter(program)
    try:
        expect(adapter.request("initialize", adapterID="lldb")["success"], "no beginning")
        commands = [f'plugin load "{setup.plugin}"', f"argus load {path}", "argus diagnose", "argus answer 2", "argus answers"]
        launched = adapter.request("launch", program="/bin/true", initCommands=commands)
        expect_in(QUESTION, adapter.console)
        expect_in("argus answer N", adapter.console)
        expect_in("editor0's main thread was frozen", adapter.console)
        expect_in("kept in", adapter.console)
        expect(launched["type"] == "response", "the launch was not answered")
        expect_equal("its end", adapter.request("disconnect", terminateDebuggee=True)["command"], "disconnect")
    finally:
        adapter.close()


main()
