/* What is uncertain about a path, step by step. */
#include <stdio.h>

#include "report/live_words.h"

enum { NAME_BYTES = 2 * ARGUS_LIVE_NAME_BYTES + 48 };

static const char *const denials[] = {
    [ARGUS_LIVE_READABLE] = "",
    [ARGUS_LIVE_DENIED_OWNER] = "it belongs to another user; run argus with sudo",
    [ARGUS_LIVE_DENIED_PTRACE] = "the kernel allows that only to a debugger "
                                 "(kernel.yama.ptrace_scope, or the program forbids it); run argus "
                                 "with sudo",
    [ARGUS_LIVE_DENIED_TASK] =
        "the kernel gives the memory, registers and Mach ports of a process only to root (sudo "
        "argus "
        "why) and to debuggers (task_for_pid), and those of Apple's and of hardened programs to "
        "nobody while System Integrity Protection is on",
    [ARGUS_LIVE_DENIED_32_BIT] = "it is a 32-bit program, whose calls argus why does not decode",
};

/* Words before and behind the name of the thread that waits. */
struct doubt {
    const char *before, *behind;
};

/* Why the next step is only likely, by the link that leads there. To add a link: a row, if the last
 * words of guess_doubt() do not fit. */
static const struct doubt guesses[] = {
    [ARGUS_LIVE_LINK_UNREAD] = {"", " polls several descriptors; that it waits for the process "
                                    "which has not read what it sent is only likely"},
    [ARGUS_LIVE_LINK_BUS] = {"to whom ", " sent its D-Bus call is only likely: by names in its "
                                         "memory, unread messages, and who is busy"},
    [ARGUS_LIVE_LINK_QUEUED] = {"", " polls several descriptors; that it waits for the server "
                                    "which has not accepted its connection is only likely"},
    [ARGUS_LIVE_LINK_HALTED] = {"", " polls several descriptors, and may have nothing to do; the "
                                    "next step is at the other end of one of them, and was "
                                    "stopped"},
    [ARGUS_LIVE_LINK_HEARD] = {"", " waits for no data from most of its clients, of which some "
                                   "have sent requests, as an X server does that was grabbed; by "
                                   "whom is only likely"},
    [ARGUS_LIVE_LINK_OWNS] = {"that ", " waits for this owner's contents is only likely: by its "
                                       "stack, and because the X server names that owner"},
    [ARGUS_LIVE_LINK_ANSWERS] = {"", " polls several descriptors; that it waits for an answer is "
                                     "only likely: it sent data on that connection, and has "
                                     "received nothing since"},
    [ARGUS_LIVE_LINK_CAUSES] = {"all descriptors that ", " polls lead to processes that it "
                                                         "started; the next step is the only one "
                                                         "that is not idle"},
};

static const struct doubt *guess_doubt(const struct argus_live_step *step)
{
    static const struct doubt
        of_port = {"the unread messages are those of all senders; that the request of ",
                   " is among them, and that the next thread has to read it, is only likely"},
        of_pool = {"that a worker of the other process should answer ",
                   " is only likely; the next step is one of its workers, which are all blocked, "
                   "and wait for the same"},
        of_shared = {"several processes have what ",
                     " waits for; the next step is the only one that is not idle"},
        of_idle = {"nothing proves that the next thread should end the wait of ",
                   "; it is the only one there that is not idle, that works for a client, or that "
                   "has run since the request"};
    if (step->link == ARGUS_LIVE_LINK_UNREAD && step->wait.kind == ARGUS_LIVE_MACH_REPLY)
        return &of_port;
    if (step->link < sizeof(guesses) / sizeof(guesses[0]) && guesses[step->link].behind)
        return &guesses[step->link];
    return step->is_pool ? &of_pool : step->is_shared ? &of_shared : &of_idle;
}

/* The doubts about a step, number `which`; false: it has no such doubt. */
static bool step_doubt(const struct argus_live *live, const struct argus_live_step *step,
                       size_t which, char *buffer, size_t bytes)
{
    char name[NAME_BYTES];
    const struct argus_live_thread *of = argus_live_thread_at(live, step->thread);
    const struct argus_live_process *process = argus_live_process_at(live, of->process);
    const struct doubt *doubt;
    live_thread_text(live, step->thread, name, sizeof(name));
    switch (which) {
    case 0:
        snprintf(buffer, bytes, "what %s waits for was not read: %s", name,
                 denials[process->denied]);
        return process->denied != ARGUS_LIVE_READABLE;
    case 1:
        doubt = guess_doubt(step);
        snprintf(buffer, bytes, "%s%s%s", doubt->before, name, doubt->behind);
        return step->is_guess;
    case 2:
        snprintf(buffer, bytes, "%s went on while argus looked, so it is not stuck there", name);
        return step->went_on;
    case 3:
        snprintf(buffer, bytes, "the call of %s has a time-out, so its wait ends by itself", name);
        return step->wait.has_timeout && step->wait.kind != ARGUS_LIVE_SLEEP;
    case 4:
        snprintf(buffer, bytes, "the stack of %s is not complete", name);
        return step->is_cut && step->frame_count > 0;
    case 5:
        snprintf(buffer, bytes, "the goroutines of %s were not found in its memory", name);
        return step->wait.kind == ARGUS_LIVE_GOROUTINE && !step->wait.goroutine;
    default:
        return false;
    }
}

const char *live_uncertain_text(const struct argus_live *live,
                                const struct argus_live_answer *answer, size_t index, char *buffer,
                                size_t bytes)
{
    enum { DOUBTS = 6 };
    for (size_t i = 0; i < answer->step_count; i++)
        for (size_t which = 0; which < DOUBTS; which++)
            if (step_doubt(live, &answer->steps[i], which, buffer, bytes) && index-- == 0)
                return buffer;
    return NULL;
}
