"""The end-to-end cases: the programs and the expected diagnoses. Run as a program, this file lists their names.

To add a case, add a row. To add a cause, add a program in programs/ (scene.h says how) and its name in CMakeLists.txt.
"""
import sys
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Who:
    """A thread that an answer may name: its process, and its own name where that matters."""

    process: str
    thread: str = ""  # a prefix; empty: any thread of the process

    def matches(self, vertex):
        return vertex["process"] == self.process and vertex["thread"].startswith(self.thread)


@dataclass(frozen=True)
class Case:
    program: str  # of programs/, or a path below the build folder
    variant: str
    type: str  # of the spinning vertex
    culprits: tuple  # one of these must be the first root cause
    also: tuple = ()  # these may be root causes as well
    through: tuple = ()  # the path must lead through these processes
    cycle: tuple = ()  # processes of the circular wait
    function: str = ""  # must be among the culprit's costly functions or in its stack
    victim: str = "victim"
    args: tuple = field(default=())

    @property
    def name(self):
        words = [self.program.rsplit("/", 1)[-1], self.variant.replace(",", ".")]
        return ".".join(word for word in words if word)

    def argv(self, seed, hang_ms):
        if self.args:
            return list(self.args)
        variant = ["--variant", self.variant] if self.variant else []
        return ["--seed", str(seed), "--hang-ms", str(hang_ms)] + variant


WAIT, RUN, YIELD = "LongWait", "LongRunning", "RepeatedYield"

CASES = [
    Case("examples/frozen-editor/frozen-editor", "", WAIT, (Who("dict-server"),), victim="editor",
         through=("spell-server",), function="rebuild_index", args=("3500",)),
    Case("busy_server", "unix", WAIT, (Who("backend"),), through=("front", "middle"),
         function="compact_database"),
    Case("busy_server", "pipe", WAIT, (Who("backend"),), through=("front", "middle"),
         function="compact_database"),
    Case("busy_server", "tcp", WAIT, (Who("backend"),), through=("front", "middle"),
         function="compact_database"),
    Case("busy_server", "pty", WAIT, (Who("backend"),), through=("front", "middle"),
         function="compact_database"),
    Case("circular_wait", "timeout", WAIT, (Who("partner"), Who("victim")),
         also=(Who("partner"), Who("victim")), cycle=("partner", "victim")),
    Case("circular_wait", "kill", WAIT, (Who("partner"), Who("victim")),
         also=(Who("partner"), Who("victim"), Who("watchdog")), cycle=("partner", "victim")),
    Case("lock_holder", "sleep", WAIT, (Who("journald"),), also=(Who("victim", "saver"),),
         function="flush_journal"),
    Case("lock_holder", "busy", WAIT, (Who("journald"),), also=(Who("victim", "saver"),),
         function="flush_journal"),
    Case("lock_holder", "holder", WAIT, (Who("victim", "saver"),), function="save_document"),
    # The program's code tells which thread sets the flag. If that does not explain the loop, the walk stops at the loop itself.
    Case("polling_loop", "usleep", YIELD, (Who("victim", "loader"),), also=(Who("victim", "victim"),)),
    # A call of sched_yield() has no stack, so this loop is read from the samples. If they are too few, the loop itself is the cause.
    Case("polling_loop", "yield", YIELD, (Who("victim", "loader"), Who("victim", "victim")), also=(Who("victim", "victim"),)),
    Case("set_flag", "busy", YIELD, (Who("victim", "loader"),), function="decode_picture"),
    Case("set_flag", "locked", YIELD, (Who("victim", "saver"),), function="save_pictures"),
    Case("set_flag", "forgets", YIELD, (Who("victim", "loader"),)),
    Case("set_flag", "several", YIELD, (Who("victim", "victim"),)),
    Case("set_flag", "reset", YIELD, (Who("victim", "victim"),)),
    Case("set_flag", "busy,spin", RUN, (Who("victim", "loader"),), function="decode_picture"),
    Case("set_flag", "forgets,spin", RUN, (Who("victim", "loader"),)),
    Case("set_flag", "several,spin", RUN, (Who("victim", "victim"),), function="spin_until_loaded"),
    Case("set_flag", "locked,sched", YIELD, (Who("victim", "saver"),), function="save_pictures"),
    Case("batching_server", "unix", WAIT, (Who("batcher"),), also=(Who("greedy"),),
         function="render_page"),
    Case("batching_server", "pipe", WAIT, (Who("batcher"),), also=(Who("greedy"),),
         function="render_page"),
    Case("long_run", "plain", RUN, (Who("victim", "victim"),), function="measure_lines"),
    Case("long_run", "chatty", RUN, (Who("victim", "victim"),), function="measure_lines"),
    Case("late_producer", "busy", WAIT, (Who("victim", "producer"),), function="decode_picture"),
    Case("late_producer", "sleep", WAIT, (Who("victim", "producer"),), function="decode_picture"),
    Case("thread_pool", "", WAIT, (Who("victim", "pool-"),), also=(Who("victim", "pool-"),),
         function="import_photos"),
    Case("child_wait", "fork", WAIT, (Who("compiler"),), function="compile_document"),
    Case("child_wait", "exec", WAIT, (Who("compiler"),), function="compile_document"),
    Case("slow_reader", "busy", WAIT, (Who("printer"),), function="print_page"),
    Case("slow_reader", "sleep", WAIT, (Who("printer"),), function="print_page"),
    Case("fork_server", "unix", WAIT, (Who("query"),), also=(Who("forkserver"),),
         function="run_query"),
    Case("fork_server", "tcp", WAIT, (Who("query"),), also=(Who("forkserver"),),
         function="run_query"),
    Case("multiplex", "select", WAIT, (Who("display"),), function="draw_window"),
    Case("multiplex", "poll", WAIT, (Who("display"),), function="draw_window"),
    Case("multiplex", "epoll", WAIT, (Who("display"),), function="draw_window"),
    # The same without an event loop: the only indicator is the longest wait or run.
    Case("busy_server", "unix,script", WAIT, (Who("backend"),), through=("front", "middle"),
         function="compact_database"),
    Case("circular_wait", "timeout,script", WAIT, (Who("partner"), Who("victim")),
         also=(Who("partner"), Who("victim")), cycle=("partner", "victim")),
    Case("lock_holder", "sleep,script", WAIT, (Who("journald"),), also=(Who("victim", "saver"),),
         function="flush_journal"),
    # One stack is kept of the waits of a loop, and that may be the one of the script's own sleep: then the code tells nothing.
    Case("polling_loop", "usleep,script", YIELD, (Who("victim", "loader"), Who("victim", "victim")),
         also=(Who("victim", "victim"),)),
    Case("long_run", "plain,script", RUN, (Who("victim", "victim"),), function="measure_lines"),
    # A stopped process neither runs nor waits for another: it is the culprit, or the process that stopped it.
    Case("stopped_peer", "unix", WAIT, (Who("peer"), Who("stopper")),
         also=(Who("peer"), Who("stopper"))),
    # Difficult ones.
    Case("baton_three", "", WAIT, (Who("victim", "lane-0"),), also=(Who("victim", "lane-"),), function="draw_relief"),
    Case("nested_vaults", "", WAIT, (Who("appraiser"),), also=(Who("victim", "keeper-"),), function="weigh_gold"),
    Case("quiet_deadlock", "", WAIT, (Who("registrar"),), also=(Who("registrar"),), through=("registrar",),
         cycle=("registrar",)),
    Case("sync_archive", "", WAIT, (Who("archivist"),), function="be_archivist"),
    Case("paged_ledger", "", WAIT, (Who("ledger"),), function="add_up_pages"),
    Case("frozen_link", "", WAIT, (Who("vault"), Who("jailer")), also=(Who("vault"), Who("jailer")), through=("relay",)),
    Case("drip_server", "", WAIT, (Who("tileserver"),), function="render_tile"),
    Case("ring_of_three", "", WAIT, (Who("victim"), Who("notary"), Who("surveyor")),
         also=(Who("victim"), Who("notary"), Who("surveyor")), cycle=("victim", "notary", "surveyor")),
    Case("ring_of_three", "first", WAIT, (Who("victim"), Who("notary"), Who("surveyor")),
         also=(Who("victim"), Who("notary"), Who("surveyor")), cycle=("victim", "notary", "surveyor")),
    Case("jammed_pool", "", WAIT, (Who("registry"),), also=(Who("victim", "tasker"),), function="rewrite_registry"),
    Case("sieve_chain", "", WAIT, (Who("unpacker"),), through=("sorter", "painter"), function="unpack_block"),
    Case("switchboard", "", WAIT, (Who("almanac"),), function="compute_tides"),
    Case("choir_singers", "", WAIT, (Who("victim", "soloist"),), function="sing_solo"),
    Case("three_desks", "", WAIT, (Who("desk-green"),), function="stamp_forms"),
    Case("starving_clerk", "", WAIT, (Who("clerk"), Who("furnace")), also=(Who("clerk"), Who("furnace"))),
    Case("shared_bell", "", WAIT, (Who("bellringer"),), function="polish_brass"),
    Case("door_file", "", YIELD, (Who("victim", "victim"), Who("porter")), also=(Who("porter"),)),
    Case("deaf_porter", "", WAIT, (Who("steward"),)),
    Case("locked_book", "", WAIT, (Who("poet"),), through=("scribe",), function="find_rhyme"),
]

# These are recorded over perf_event as well, which records less (argus-recorder(8), WITHOUT BPF): one of each cause. The other
# cases give the same answers there, but test nothing more.
WITHOUT_BPF = ("frozen-editor", "late_producer.sleep", "thread_pool", "child_wait.exec", "lock_holder.busy", "long_run.plain")

if __name__ == "__main__":
    for name in WITHOUT_BPF if "--without-bpf" in sys.argv else [case.name for case in CASES]:
        print(name)
