"""Data flags watched by LLDB itself: the process continues, nothing is printed, and every write is in a trace."""
import json
import re
import shutil
import subprocess
import time

from harness import Skip, Terminal, expect, expect_equal, expect_in, main

TIMES = 5


def target(setup):
    program = next(setup.build.rglob("bin/flag_window"), None)
    expect(program is not None, "flag_window is not built")
    probe = setup.run_lldb("script print('py' + 'thon')")
    if "python" not in probe:
        raise Skip("this lldb has no Python")
    return program


def begin(setup):
    return [f'target create "{target(setup)}"', "breakpoint set -n draw -o true", "run"]


def accesses(setup, path):
    lines = setup.run("dump", "--json", path, code=0).stdout.splitlines()
    return [record for record in map(json.loads, (line for line in lines if '"flag_' in line))]


def test_every_write_and_nothing_printed(setup):
    path = setup.folder / "flags.argus"
    text = setup.run_lldb(*begin(setup), f"argus watchflag did_reconfigure -o {path}", "argus watchflag obj->need_display",
                          "argus watchflag list", "continue")
    expect_in(f"seen {TIMES}", text)
    expect_equal("stops", len(re.findall("stop reason", text)), 1)
    expect_equal("watchpoints shown", text.count("Watchpoint"), 0)
    expect_in("exited with status = 0", text)
    records = accesses(setup, path)
    flags = {int(address, 16) for address in re.findall(r"bytes at (0x[0-9a-f]+), reads", text)}
    expect_equal("flags", {record["args"][0] for record in records}, flags)
    for flag in flags:
        writes = [r["args"][1] & 0xFFFFFFFF for r in records if r["args"][0] == flag and r["debugid"] == 0x60050004]
        expect_equal("values", writes, [1, 0] * TIMES)
        numbers = [r["args"][3] for r in records if r["args"][0] == flag]
        expect_equal("numbers", numbers, list(range(1, len(numbers) + 1)))
    expect(len({record["tid"] for record in records}) == 2, "two threads")
    expect_in("complete", setup.run("info", path, code=0).stdout)


def test_a_symbol_of_a_file_and_pointers(setup):
    path = setup.folder / "symbols.argus"
    text = setup.run_lldb(*begin(setup), f"argus watchflag flag_window 'window->0x18' --access w -o {path} --name drawn",
                          "argus watchflag flag_window did_reconfigure", "argus watchflag remove 2", "argus watchflag list",
                          "continue")
    expect_in("drawn of process", text)
    expect(" 2  " not in text, "the second flag is gone")
    writes = [record["args"][1] & 0xFFFFFFFF for record in accesses(setup, path)]
    expect_equal("values", writes, [1, 0] * TIMES)


def test_a_member_of_a_variable_of_a_file(setup):
    path = setup.folder / "members.argus"
    text = setup.run_lldb(*begin(setup), f"argus watchflag flag_window 'window->need_display' --access w -o {path}", "continue")
    expect_in("window->need_display in flag_window of process", text)
    expect_equal("values", [record["args"][1] & 0xFFFFFFFF for record in accesses(setup, path)], [1, 0] * TIMES)


def test_what_is_refused(setup):
    refused = {"nosuch": "undeclared identifier 'nosuch'", "flag_window nosuchone": "no variable 'nosuchone'",
               "libnosuch x": "no file 'libnosuch'", "0x10": "no memory at 0x10", "did_reconfigure+1": "not in memory",
               "did_reconfigure --size 3": "1, 2, 4 or 8", "'flag_window' window->0x18->0": "null or leads nowhere"}
    source = setup.folder / "refused"
    source.write_text("\n".join(["argus watchflag early", *begin(setup), *(f"argus watchflag {words}" for words in refused)]) + "\n")
    text = setup.run_lldb("settings set interpreter.stop-command-source-on-error false", f"command source {source}")
    for said in ["run or attach first", *refused.values()]:
        expect_in(said, text)


def counter(setup):
    """A program that ends by itself after half a minute."""
    target(setup)
    program = setup.folder / "counter"
    source = setup.folder / "counter.c"
    source.write_text("#include <unistd.h>\nvolatile int turns;\nint main(void) { while (turns++ < 3000) usleep(10000); return 0; }\n")
    subprocess.run([shutil.which("cc") or "gcc", "-g", "-O0", source, "-o", program], check=True)
    return program


def attached(setup, *commands):
    """Runs commands in an LLDB that is attached to a program whose flag changes all the time, and leaves it; what LLDB said.
    Then the program must still run."""
    with subprocess.Popen([counter(setup)]) as process:
        text = setup.run_lldb("settings set interpreter.stop-command-source-on-error false", f"process attach -p {process.pid}",
                              f"argus watchflag turns -o {setup.folder}/turns.argus", *commands)
        address = int(re.search("turns of process .*?(0x[0-9a-f]+)", text)[1], 16)
        code = goes_on(process, address)
        process.kill()
    expect(code in (None, 0), f"the program has ended: {code}")
    return text


def goes_on(process, address):
    """Waits until the number at `address` has changed twice, or the program has ended; its exit code."""
    seen, end = set(), time.monotonic() + 60
    while process.poll() is None and len(seen) < 3:
        expect(time.monotonic() < end, "the program stands still")
        with open(f"/proc/{process.pid}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            seen.add(memory.read(4))
        time.sleep(0.01)
    return process.poll()


def test_leaving_does_not_end_the_program(setup):
    for commands in ["detach"], ["quit"], [], ["script lldb.process.Detach()"]:
        expect_in("flag 1, turns, is not watched any more: LLDB leaves the process", attached(setup, *commands))


def test_leaving_one_process_keeps_the_flags_of_another(setup):
    with subprocess.Popen(["/bin/sleep", "600"]) as other:
        text = attached(setup, 'target create "/bin/sleep"', f"process attach -p {other.pid}", "script lldb.process.Detach()",
                        *handled("argus watchflag list --json", "LIST"), "target select 0", "detach")
        other.kill()
    listed = json.loads(bytes.fromhex(re.search("LIST True ([0-9a-f]+)", text)[1]))["flags"]
    expect_equal("flags", [flag["label"] for flag in listed], ["turns"])
    expect_in("flag 1, turns, is not watched any more: LLDB leaves the process", text)


def handled(line, name):
    """Commands that print what HandleCommand() returned, as one line."""
    return [f"script r = lldb.SBCommandReturnObject(); lldb.debugger.GetCommandInterpreter().HandleCommand({line!r}, r); "
            f"print('{name}', r.Succeeded(), r.GetOutput().encode().hex() or '-', r.GetError())"]


def test_the_same_flag_again(setup):
    text = attached(setup, "argus watchflag turns", *handled("argus watchflag turns --size 2", "OTHER"),
                    *handled("argus watchflag $rip", "REGISTER"), *handled("argus watchflag list --json", "LIST"))
    expect_in("flag 1 watches it already", text)
    expect(re.search("OTHER False - error: flag 1 watches 0x[0-9a-f]+ in another way", text), text)
    expect_in("REGISTER False - error: $rip: it is a register", text)
    listed = json.loads(bytes.fromhex(re.search("LIST True ([0-9a-f]+)", text)[1]))["flags"]
    expect_equal("flags", [(flag["number"], flag["label"], flag["bytes"], flag["engine"]) for flag in listed], [(1, "turns", 4, "lldb")])


def test_flags_of_ended_processes_go(setup):
    text = setup.run_lldb(*begin(setup), f"argus watchflag did_reconfigure -o {setup.folder}/ended.argus", "continue",
                          *handled("argus watchflag list --json", "LIST"))
    expect("LIST False" in text or '"flags": []' in bytes.fromhex(re.search("LIST True ([0-9a-f]+)", text)[1]).decode(), text)


def test_hits_of_a_target_that_is_not_selected(setup):
    path = setup.folder / "unselected.argus"
    text = setup.run_lldb(*begin(setup), f"argus watchflag did_reconfigure --access w -o {path}", 'target create "/bin/true"',
                          "script lldb.debugger.SetAsync(False)", "script lldb.debugger.GetTargetAtIndex(0).GetProcess().Continue()",
                          "script print('STATE', lldb.debugger.GetTargetAtIndex(0).GetProcess().GetExitStatus())")
    expect_in("STATE 0", text)
    expect_equal("values", [record["args"][1] & 0xFFFFFFFF for record in accesses(setup, path)], [1, 0] * TIMES)


def test_five_are_too_many(setup):
    commands = [f"argus watchflag window->before[{i}] --size 8 -o {setup.folder}/five.argus" for i in range(3)]
    text = setup.run_lldb(*begin(setup), *commands, "argus watchflag did_reconfigure", "argus watchflag obj->need_display",
                          code=1)
    expect_in("the processor has four", text)


def test_beside_another_trace(setup):
    """A trace that the debugger recorded is joined with the trace of the system, but only with one of the same machine."""
    threads = "cpus 1\nthread 10 pid 10 ppid 1 name main\nthread 11 pid 10 ppid 1 name worker\n"
    base = setup.trace("base", threads + """1ms cpu0 t0 switch state=R next=11
+1ms cpu0 t11 switch state=S next=10
+1ms cpu0 t10 switch state=S next=0
""")
    hits = setup.trace("hits", threads + """flag 1 10 0x7000 "done in main" bytes 4
2500us cpu0 t11 flag_write flag=0x7000 value=1 bytes=4 by=3 sequence=1
+1ms cpu0 t10 flag_read flag=0x7000 value=1 bytes=4 by=3 sequence=2
""")

    def written(*words):
        rules = json.loads(setup.run("schema", str(base), *words, "--json", code=0).stdout)["rules"]
        return next(rule["count"] for rule in rules if rule["name"] == "flag.written")
    expect_equal("without", written(), 0)
    expect_equal("with", written("--with", str(hits)), 1)
    expect_in("done in main", setup.run("graph", "show", str(base), "v0", "--with", str(hits), code=0).stdout)
    text = setup.run_lldb(f"argus load {base} --with {hits}", "argus graph show v0")
    expect_in("done in main", text)
    other = setup.trace("other", "os darwin\n" + threads + "1ms cpu0 t10 flag_read flag=0x7000 value=1 bytes=4 by=3\n")
    expect_in("not from one boot", setup.run("schema", str(base), "--with", str(other), code=2).stderr)
    expect_in("No such file", setup.run("schema", str(base), "--with", "/nosuch.argus", code=1).stderr)
    cut = base.with_name("cut.argus")
    cut.write_bytes(base.read_bytes()[:300])
    said = setup.run("hangs", str(cut), "--with", str(hits), code=1).stderr
    expect_in(str(cut), said)
    expect("argus-with" not in said, f"the copy is named: {said}")


def test_the_prompt_stays_as_it_is(setup):
    program = target(setup)
    terminal = Terminal([setup.lldb(), "--no-lldbinit", "--no-use-colors", program])
    try:
        terminal.wait_for("(lldb)")
        terminal.send(f'plugin load "{setup.plugin}"\rbreakpoint set -n draw -o true\rrun\r')
        terminal.wait_for("stop reason")
        terminal.text = terminal.text[terminal.text.index("stop reason"):]
        terminal.wait_for("(lldb)")  # earlier input would go to the process
        terminal.send(f"argus watchflag did_reconfigure -o {setup.folder}/prompt.argus\r")
        terminal.wait_for("flag 1: did_reconfigure")
        terminal.text = ""
        terminal.send("continue\r")
        terminal.wait_for("exited with status = 0")
        expect("Watchpoint" not in terminal.text and "stopped" not in terminal.text, terminal.text)
        terminal.send("\r")  # the first character after the end of a process is still read for that process
        terminal.wait_for("(lldb)", count=terminal.text.count("(lldb)") + 1)
        terminal.send("quit\r")
        expect_equal("exit code", terminal.end(), 0)
    finally:
        terminal.close()


main()
