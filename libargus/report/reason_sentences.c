#include "report/reason_sentences.h"

/* To add a kind: see argus/diagnosis_reason.h. A field that does not apply is the empty string, so
 * it has its own blank or comma before it. */
static const char *const sentences[ARGUS_REASON_COUNT] = {
    [ARGUS_REASON_NONE] = "",

    [ARGUS_REASON_WAITED] = "waited for {ns}{many} ({wait}{callers}): {because}{more}",
    [ARGUS_REASON_WAITED_ALONE] = "waited for {ns}{many} ({wait}), which no other thread ended",
    [ARGUS_REASON_CIRCLE] =
        "waited for {ns} ({wait}) for {thread}, which in turn waited for it{more}",
    [ARGUS_REASON_SILENT] = "took what {waiter} had asked for and went back to its wait for "
                            "requests ({wait}) without an answer",
    [ARGUS_REASON_FORGOT] = "took what {waiter} had asked for and went back to its wait for "
                            "requests ({wait}) without {changing} {name}{last}",
    [ARGUS_REASON_ENDED] =
        "was started for {waiter} and ended after {ns} without {changing} {name}{last}",
    [ARGUS_REASON_TRIED_LOCK] = "{tries} ({wait}{callers}) for {ns}: {because}",
    [ARGUS_REASON_IDLE_HOLDER] =
        "held the lock on the file, and waited for new requests for {ns} ({wait})",
    [ARGUS_REASON_UNSEEN_HOLDER] = "held the lock on the file, and waited for {ns} for something: "
                                   "that wait is older than the recording",
    [ARGUS_REASON_POLLED] =
        "polled and waited {count} times in a row ({poll}{place}) for {ns}: {because}",
    [ARGUS_REASON_RAN] = "ran on a cpu for {run} of the {whole}{normal}{more}",
    [ARGUS_REASON_RAN_AND_WANTED] =
        "ran on a cpu for {run} of the {whole}, and wanted one for another {wanted}{normal}{more}",
    [ARGUS_REASON_NO_CPU] = "wanted a cpu and had none for {wanted} of the {whole}, and ran for "
                            "{run}: {because}{normal}",
    [ARGUS_REASON_TOOK_CPU] = "{user} ran for {ns} on {cpus} while {waiter} wanted it: {percent} % "
                              "of what others ran there{priority}",
    [ARGUS_REASON_TOOK_QUOTA] = "{user} used {percent} % of the cpu quota of the control group "
                                "{group}, which {waiter} needed",
    [ARGUS_REASON_TOOK_DISK] = "the disk was busy with its {transfers}{file} while {waiter} waited "
                               "for the disk: {bytes}, {percent} % of what it did then",
    [ARGUS_REASON_MAY_TAKE_DISK] =
        "the disk was busy with {transfers}{file}, which may be its own, while {waiter} waited for "
        "the disk: {bytes}, {percent} % of what it did then",
    [ARGUS_REASON_MEMORY] = "waited for memory, or took it",

    [ARGUS_REASON_SLEPT] = "it slept by its own clock",
    [ARGUS_REASON_STOPPED] =
        "it was stopped by a signal, a debugger, its control group or the machine's sleep",
    [ARGUS_REASON_DISK] = "it waited for the disk",
    [ARGUS_REASON_DEVICE] = "it waited for a device or the network",
    [ARGUS_REASON_DISK_SERVED] = "{thread} ended its wait for the disk",
    [ARGUS_REASON_DEVICE_SERVED] = "it waited for {device}, and {thread} ended the wait",
    [ARGUS_REASON_NO_ENDER] = "no other thread is known to have ended it",
    [ARGUS_REASON_NO_WAKEUPS] =
        "the trace has no records of wake-ups, so it does not tell for what",
    [ARGUS_REASON_NOT_SHOWN] = "the records do not show for which thread",
    [ARGUS_REASON_TOO_DEEP] = "the search ends at this depth",
    [ARGUS_REASON_ANSWER_STOPPED] = "an answer stopped the search here",
    [ARGUS_REASON_HOLDER_ABSENT] = "{process} held the lock, and did nothing in this recording",
    [ARGUS_REASON_OPENER_ABSENT] =
        "{process} has the other end open, and did nothing in this recording",
    [ARGUS_REASON_IDLE_SUSPECT] =
        "{thread}, which should have ended it, was idle: it was not asked, or did not answer",
    [ARGUS_REASON_OWN_TIMEOUT] =
        "its own time-out ended it; no thread is known that should have ended it",
    [ARGUS_REASON_USUAL_SUSPECTS] =
        "the threads that could have ended it did nothing unusual meanwhile",
    [ARGUS_REASON_NO_SUSPECT] = "no thread is known that could have ended it",
    [ARGUS_REASON_NO_TASK] =
        "this thread had no task to run, and the records do not show what tasks waited for: Go's "
        "goroutines sleep without a thread. While the program hangs, 'argus why' lists them",
    [ARGUS_REASON_NO_TASKS] =
        "no task could run, and the records do not show what the tasks waited for: Go's goroutines "
        "sleep without a thread. While the program hangs, 'argus why' lists them",
    [ARGUS_REASON_ONLY_TASK] =
        "only one task may run on this thread, and the records do not show what that task waited "
        "for: Go's goroutines sleep without a thread. While the program hangs, 'argus why' lists "
        "them",
    [ARGUS_REASON_REMOTE_LATE] = "{remote} answered only then",
    [ARGUS_REASON_REMOTE_SILENT] = "{remote} did not answer",

    [ARGUS_REASON_DISK_USERS] = ", of whose requests then were {disk users}",
    [ARGUS_REASON_TIMEOUT_ENDED] = "; its timeout ended it",

    [ARGUS_REASON_LOCK_HOLDER_UNKNOWN] = "the records do not show which process held it",
    [ARGUS_REASON_LOCK_CREATOR_UNKNOWN] = "the records do not show which process created it",
    [ARGUS_REASON_LOCK_CREATOR_ENDED] = "{process} had created it, and ended without removing it",
    [ARGUS_REASON_LOCK_OF_OWN_PROCESS] = "its own process held it",
    [ARGUS_REASON_LOCK_HOLDER_ABSENT] = "{process} held it, and did nothing in this recording",

    [ARGUS_REASON_FLAG_SETTER_ENDED] = "it waits for {name}, which no thread set meanwhile{last}, "
                                       "by {thread}, which had ended before the loop",
    [ARGUS_REASON_FLAG_SETTER_USUAL] = "it waits for {name}, which no thread set meanwhile{last}, "
                                       "by {thread}, which did nothing unusual meanwhile",
    [ARGUS_REASON_FLAG_NOT_ENOUGH] = "it waits for {name}, and what was stored there meanwhile did "
                                     "not end the loop{last}, by {thread}",
    [ARGUS_REASON_FLAG_NEVER_SET] =
        "it waits for the data flag {name}, which no thread set meanwhile, nor is known to have "
        "set before{writers}; a recording of a run without the hang shows which thread should set "
        "it",
    [ARGUS_REASON_FLAG_UNKNOWN] =
        "it waits for a data flag that another thread sets. To find the flag, run 'argus step "
        "{trace} v{vertex} --process PID -o good.steps' while the program works, the same with -o "
        "bad.steps while it spins, and 'argus diverge good.steps bad.steps' (or 'argus diverge "
        "--spin bad.steps' alone). It prints the command 'argus watchflag PID IMAGE VARIABLE', "
        "with "
        "which a recording shows which thread should have set the flag",
    [ARGUS_REASON_CODE_TELLS] =
        "by its code, the loop in {loop} ends when {variables} {change}{otherwise}{writers}; a "
        "recording with {commands} shows which thread should have changed it",
    [ARGUS_REASON_CODE_TELLS_STEPS] =
        "by its code, the loop in {loop} ends when {variables} {change}{otherwise}{writers}; "
        "while the thread is in this loop and a recording runs, {commands} finds and watches it",

    [ARGUS_REASON_ONLY_POLLED] = "; it only polled a variable: {because}",

    [ARGUS_REASON_CPU_IDLE] = "its cpu was idle for {held} of these, so that something held it "
                              "back, probably the cpu quota of its control group (cpu.max)",
    [ARGUS_REASON_CPU_UNFAIR] =
        "for {held} of these, others that have no higher priority ran on its cpu again and again, "
        "so that something held it back, probably the cpu quota of its control group (cpu.max) or "
        "that group's low share (cpu.weight)",
    [ARGUS_REASON_THROTTLED] =
        "its control group {group} had used up its cpu quota and was throttled for {held} of these",
    [ARGUS_REASON_THROTTLED_USED] = "its control group {group} had used up its cpu quota and was "
                                    "throttled for {held} of these; of the quota, others used: "
                                    "{users}",
    [ARGUS_REASON_TOO_BUSY] = "the machine was too busy",
    [ARGUS_REASON_OTHERS_RAN] = "others ran on {cpus}: {users}",

    [ARGUS_REASON_LOST_RECORDS] = "{count} records were lost while recording",
    [ARGUS_REASON_UNKNOWN_TIME] =
        "{ns} of the hang are unknown: the records do not show who ran then",
    [ARGUS_REASON_GAP] = "whether v{vertex} ran for another {ns} is unknown: no record shows who "
                         "had the cpu then",
    [ARGUS_REASON_WEAK_STEP] = "the step to v{vertex} follows a weak edge: it ended the wait, but "
                               "may not be the reason for it",
    [ARGUS_REASON_NO_SAMPLES] =
        "there are no cpu samples of v{vertex}: which of its functions were "
        "costly is not known",
    [ARGUS_REASON_NO_SIMILAR] = "the trace has no similar wait that ended well to compare with",
    [ARGUS_REASON_FLAG_UNTOUCHED] = "{name} was watched, but no thread read or wrote it while it "
                                    "was: the loop waits for something else",
    [ARGUS_REASON_FLAG_UNREAD] =
        "{name} was watched, but the loop did not read it: it waits for something else",
    [ARGUS_REASON_STEPPED] = "Argus itself stopped the loop's thread to step it (argus watchflag "
                             "--loop, argus step), for "
                             "{ns} in all; the turns took longer meanwhile",
    [ARGUS_REASON_GUESS_WAKER] = "that {thread} should have woken {waiter} is a guess: {because}",
    [ARGUS_REASON_GUESS_REMOTE] = "that the wait was for {remote} is a guess: the thread had "
                                  "connected or sent to it just before",
    [ARGUS_REASON_GUESS_PARENT] =
        "that {process} had the lock file is a guess: its child {child} had created it, and ended",
    [ARGUS_REASON_GUESS_SETTER] = "that {thread} should have {changed} {name} for which {waiter} "
                                  "polled is a guess: it did so the last time, in v{vertex}",
    [ARGUS_REASON_GUESS_SUCCESSOR] =
        "that {thread} should have {changed} {name} for which {waiter} polled is a guess: a thread "
        "of that name did so the last time, in v{vertex}",
    [ARGUS_REASON_GUESS_BY_CODE] =
        "that {thread} should have ended the loop of {waiter} is a guess from the program's code: "
        "the loop in {loop} ends when {variables} {change}; {functions} may set it; no other "
        "thread "
        "was seen in that code{more}",
    [ARGUS_REASON_GUESS_SYNCED] =
        "that {thread} wrote the data{file} that the disk was busy with is a guess: it was only "
        "seen "
        "to change the size of that file, or to wait until it was on the disk",
    [ARGUS_REASON_GUESS_TURN] =
        "that the loop of {waiter} waited until {thread} had changed {name} is a guess: {waiter} "
        "had set it just before, and the loop ended just after; the loop's looks are not recorded",
    [ARGUS_REASON_RECORDING_TELLS] = "; a recording with {commands} makes it certain",

    [ARGUS_REASON_WAS_SENT] = "it was sent a message just before",
    [ARGUS_REASON_HAS_NOT_READ] = "it has not yet read a message that was sent to it just before",
    [ARGUS_REASON_HANDED_ON] = "a server handed the request on to it, and it did not take it",
    [ARGUS_REASON_OWES_ANSWER] =
        "it was sent a message before the first of these waits, and has sent nothing since",
    [ARGUS_REASON_USES_WRITTEN_END] =
        "it uses the other end of the channel that was written to just before",
    [ARGUS_REASON_HAS_WRITTEN_END] = "it has the other end open of what was written to just before",
    [ARGUS_REASON_STOPPED_RECEIVER] =
        "it was stopped, and a message was sent that no thread received",
    [ARGUS_REASON_NO_OTHER_CHANNEL] = "a message was sent over a channel without a known receiver, "
                                      "and no other connection of the two is known",
    [ARGUS_REASON_IS_ASKED_CHILD] = "it is a child, and the loop asks for its end",
    [ARGUS_REASON_SETS_BY_CODE] = "by the program's code, it sets the variable",
    [ARGUS_REASON_SET_LAST] = "it set the variable the last time",
    [ARGUS_REASON_MADE_SET] = "the last time, its message made the waiting thread set the flag",
    [ARGUS_REASON_READ_AFTER_SENT] = "the request was read only after it had sent something",
    [ARGUS_REASON_HAD_REQUEST] = "it had the request for most of the time before the reply came",
    [ARGUS_REASON_PASSED_ON] = "the request was passed on to it",
    [ARGUS_REASON_LAST_CLIENT] = "it is the last client whose request was read; the waiting "
                                 "thread's request has been unread since then",
    [ARGUS_REASON_HELD_LOCK] = "it held the lock",
    [ARGUS_REASON_HELD_FILE_LOCK] = "it held the lock on the file",
    [ARGUS_REASON_ENDED_LATER] = "it ended the wait much later",
    [ARGUS_REASON_USES_OTHER_END] = "it uses the other end of the channel that was waited for",
    [ARGUS_REASON_HAS_OTHER_END] = "it has the other end open of what was waited for",
    [ARGUS_REASON_USED_SAME_IPC] = "it has used the same semaphores or message queue",
    [ARGUS_REASON_SHARES_WORD] = "it shares the memory that the wait is about",
    [ARGUS_REASON_JUST_CAUSED] = "the waiting thread had just caused it to run",
    [ARGUS_REASON_SHARES_MEMORY] = "it shares memory with the waiting thread",
    [ARGUS_REASON_IS_CHILD] = "it is the child that was waited for",
    [ARGUS_REASON_CHILD_HAS_PIPE] = "it is a child process, and may hold the other end of the pipe",
    [ARGUS_REASON_COMMUNICATED] = "it communicated with the waiting thread before",
    [ARGUS_REASON_ONLY_OTHER] = "it is the only other thread that is known to interact with it",
    [ARGUS_REASON_ENDED_SIMILAR] = "it took part in ending a similar wait",
    [ARGUS_REASON_SERVES_FILES] =
        "it serves files for which the process had asked before, and was busy",
};

const char *reason_sentence(enum argus_reason_kind kind)
{
    return (size_t)kind < ARGUS_REASON_COUNT && sentences[kind] ? sentences[kind] : "";
}
