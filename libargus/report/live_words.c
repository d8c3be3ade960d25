#include "report/live_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "report/live_busy.h"

enum { NAME_BYTES = 2 * ARGUS_LIVE_NAME_BYTES + 48 };

const char *live_thread_text(const struct argus_live *live, uint32_t thread, char *buffer,
                             size_t bytes)
{
    const struct argus_live_thread *of = argus_live_thread_at(live, thread);
    const struct argus_live_process *process = argus_live_process_at(live, of->process);
    if (thread == process->first_thread)
        snprintf(buffer, bytes, "%s [%u]", process->name, process->pid);
    else if (!of->tid)
        snprintf(buffer, bytes, "a thread of %s [%u]", process->name, process->pid);
    else
        snprintf(buffer, bytes, "thread %s%s[%u] of %s [%u]", of->name, of->name[0] ? " " : "",
                 of->tid, process->name, process->pid);
    return buffer;
}

/* --- what is waited for --- */

enum detail {
    DETAIL_NONE,
    DETAIL_ADDRESS, /* of a lock */
    DETAIL_NUMBER,  /* inode, or ID of a child */
    DETAIL_PATH,
    DETAIL_NAME,  /* of a variable */
    DETAIL_COUNT, /* of descriptors */
    DETAIL_WORDS, /* what the main goroutine does */
    DETAIL_DISK,  /* name, path, requests in flight */
};

/* The words for reading and writing; NULL: the same. */
static const struct {
    const char *reading, *writing;
    enum detail detail;
} kinds[ARGUS_LIVE_KINDS] = {
    [ARGUS_LIVE_RUNS] = {"runs", NULL, DETAIL_NONE},
    [ARGUS_LIVE_STOPPED] = {"was stopped by a signal (SIGSTOP or the like)", NULL, DETAIL_NONE},
    [ARGUS_LIVE_TRACED] = {"was stopped by its tracer", NULL, DETAIL_NONE},
    [ARGUS_LIVE_FROZEN] = {"was frozen with its control group", NULL, DETAIL_PATH},
    [ARGUS_LIVE_ZOMBIE] = {"has ended", NULL, DETAIL_NONE},
    [ARGUS_LIVE_MUTEX] = {"waits for mutex", NULL, DETAIL_ADDRESS},
    [ARGUS_LIVE_GIL] = {"waits for Python's global interpreter lock (GIL)", NULL, DETAIL_NONE},
    [ARGUS_LIVE_GOROUTINE] = {"has no goroutine to run", NULL, DETAIL_WORDS},
    [ARGUS_LIVE_MONITOR] = {"waits for a lock of its Java program", NULL, DETAIL_PATH},
    [ARGUS_LIVE_RWLOCK] = {"waits for read-write lock", NULL, DETAIL_ADDRESS},
    [ARGUS_LIVE_POLLED_LOCK] = {"tries again and again to take the lock", NULL, DETAIL_NAME},
    [ARGUS_LIVE_JOIN] = {"waits for the end of a thread", NULL, DETAIL_NONE},
    [ARGUS_LIVE_CONDITION] = {"waits for condition variable", NULL, DETAIL_ADDRESS},
    [ARGUS_LIVE_FUTEX] = {"waits for a change of the futex", NULL, DETAIL_ADDRESS},
    [ARGUS_LIVE_PIPE] = {"waits for data from a pipe", "waits for room in a full pipe",
                         DETAIL_PATH},
    [ARGUS_LIVE_FIFO_OPEN] = {"waits for a writer of the FIFO", "waits for a reader of the FIFO",
                              DETAIL_PATH},
    [ARGUS_LIVE_UNIX_SOCKET] = {"waits for data from a unix socket",
                                "waits for room in a unix socket", DETAIL_PATH},
    [ARGUS_LIVE_TCP] = {"waits for data from a TCP connection",
                        "waits for a TCP connection to take data", DETAIL_PATH},
    [ARGUS_LIVE_UDP] = {"waits for a UDP packet", "waits to send a UDP packet", DETAIL_PATH},
    [ARGUS_LIVE_SOCKET] = {"waits for data from a socket", "waits for room in a socket",
                           DETAIL_NONE},
    [ARGUS_LIVE_DBUS] = {"waits for the answer to a D-Bus call", NULL, DETAIL_PATH},
    [ARGUS_LIVE_SELECTION] = {"waits for the contents of an X11 selection", NULL, DETAIL_PATH},
    [ARGUS_LIVE_ACCEPT] = {"waits for a connection", NULL, DETAIL_PATH},
    [ARGUS_LIVE_EVENTFD] = {"waits for an eventfd", NULL, DETAIL_NONE},
    [ARGUS_LIVE_IO] = {"waits for asynchronous I/O (io_uring or the like)", NULL, DETAIL_NONE},
    [ARGUS_LIVE_EVENTS] = {"waits for events of descriptors:", NULL, DETAIL_COUNT},
    [ARGUS_LIVE_TERMINAL] = {"waits for input at the terminal",
                             "waits for room in the output of the terminal", DETAIL_PATH},
    [ARGUS_LIVE_FILE_LOCK] = {"waits for a lock of the file", NULL, DETAIL_PATH},
    [ARGUS_LIVE_CHILD] = {"waits for the end of a process", NULL, DETAIL_NUMBER},
    [ARGUS_LIVE_SIGNAL] = {"waits for a signal", NULL, DETAIL_NONE},
    [ARGUS_LIVE_SLEEP] = {"sleeps by its own clock", NULL, DETAIL_NONE},
    [ARGUS_LIVE_FUSE] = {"waits for the server of a FUSE file system", NULL, DETAIL_PATH},
    [ARGUS_LIVE_REQUEST] = {"waits for the next request to its FUSE file system", NULL,
                            DETAIL_NONE},
    [ARGUS_LIVE_REMOTE_FS] = {"waits for the server of a network file system", NULL, DETAIL_PATH},
    [ARGUS_LIVE_FROZEN_FS] = {"waits to write to a frozen file system", NULL, DETAIL_PATH},
    [ARGUS_LIVE_MEMORY] = {"waits because its control group is at its memory limit", NULL,
                           DETAIL_NONE},
    [ARGUS_LIVE_PAGE] = {"waits for a page of its memory to be read", NULL, DETAIL_PATH},
    [ARGUS_LIVE_USERFAULT] = {"waits for a page of its memory from a userfaultfd handler", NULL,
                              DETAIL_NONE},
    [ARGUS_LIVE_DISK] = {"waits in the kernel for a disk or another device", NULL, DETAIL_DISK},
    [ARGUS_LIVE_DEVICE] = {"waits for the device", NULL, DETAIL_PATH},
    [ARGUS_LIVE_SUSPENDED] = {"was suspended (task_suspend or thread_suspend)", NULL, DETAIL_NONE},
    [ARGUS_LIVE_ULOCK] = {"waits for a change of the word at", NULL, DETAIL_ADDRESS},
    [ARGUS_LIVE_SEMAPHORE] = {"waits for a semaphore", NULL, DETAIL_PATH},
    [ARGUS_LIVE_DISPATCH] = {"waits for its turn in the dispatch queue whose state is at", NULL,
                             DETAIL_ADDRESS},
    [ARGUS_LIVE_MACH_REPLY] = {"waits for the answer to a Mach message to port", NULL,
                               DETAIL_ADDRESS},
    [ARGUS_LIVE_MACH_SEND] = {"waits for room in the queue of Mach port", NULL, DETAIL_ADDRESS},
    [ARGUS_LIVE_MACH_RECEIVE] = {"waits for the next message at Mach port", NULL, DETAIL_ADDRESS},
    [ARGUS_LIVE_KERNEL_REPLY] = {"waits for the kernel's answer to a Mach message", NULL,
                                 DETAIL_NONE},
    [ARGUS_LIVE_KQUEUE] = {"waits for events of a kqueue", NULL, DETAIL_NONE},
    [ARGUS_LIVE_WORKER] = {"is a worker thread without work", NULL, DETAIL_NONE},
    [ARGUS_LIVE_OTHER] = {"waits for something that argus why does not know", NULL, DETAIL_PATH},
    [ARGUS_LIVE_UNREADABLE] = {"waits for something that this user may not see", NULL, DETAIL_NONE},
};

static void add_disk(struct text *text, const struct argus_live *live,
                     const struct argus_live_wait *wait)
{
    const char *path = argus_live_text(live, wait->text);
    if (path[0])
        text_add(text, " (%s%s%s)", path, wait->device ? " on disk " : "",
                 argus_live_text(live, wait->device));
    if (wait->device)
        text_add(text, "; requests in flight there: %u", wait->in_flight);
}

static const char *const goroutines[ARGUS_LIVE_GOROUTINE_STATES] = {
    [ARGUS_LIVE_GOROUTINE_NONE] = "",
    [ARGUS_LIVE_GOROUTINE_RUNS] = "runs",
    [ARGUS_LIVE_GOROUTINE_SYSCALL] = "is in a system call or in C code",
    [ARGUS_LIVE_GOROUTINE_READY] = "can run, but waits for a thread",
    [ARGUS_LIVE_GOROUTINE_ENDED] = "has ended",
    [ARGUS_LIVE_GOROUTINE_RECEIVES] = "waits to receive from a channel",
    [ARGUS_LIVE_GOROUTINE_SENDS] = "waits to send to a channel",
    [ARGUS_LIVE_GOROUTINE_SELECTS] = "waits in a select",
    [ARGUS_LIVE_GOROUTINE_BLOCKS] = "waits in a select without cases",
    [ARGUS_LIVE_GOROUTINE_MUTEX] = "waits for a sync.Mutex",
    [ARGUS_LIVE_GOROUTINE_RWMUTEX] = "waits for a sync.RWMutex",
    [ARGUS_LIVE_GOROUTINE_WAITGROUP] = "waits for a sync.WaitGroup",
    [ARGUS_LIVE_GOROUTINE_COND] = "waits for a sync.Cond",
    [ARGUS_LIVE_GOROUTINE_SLEEPS] = "waits in time.Sleep",
    [ARGUS_LIVE_GOROUTINE_READS] = "waits to read",
    [ARGUS_LIVE_GOROUTINE_WRITES] = "waits to write",
    [ARGUS_LIVE_GOROUTINE_SIGNAL] = "waits for a signal",
    [ARGUS_LIVE_GOROUTINE_WAITS] = "waits in Go's runtime",
};

const char *live_goroutine_text(enum argus_live_goroutine state)
{
    return goroutines[state];
}

static void add_detail(struct text *text, const struct argus_live *live,
                       const struct argus_live_wait *wait)
{
    const char *path = argus_live_text(live, wait->text);
    switch (kinds[wait->kind].detail) {
    case DETAIL_ADDRESS:
        text_add(text, " 0x%" PRIx64, wait->object);
        break;
    case DETAIL_NUMBER:
        if (wait->object)
            text_add(text, " %" PRIu64, wait->object);
        break;
    case DETAIL_PATH:
        if (path[0])
            text_add(text, " (%s)", path);
        break;
    case DETAIL_NAME:
        text_add(text, " %s", path);
        break;
    case DETAIL_COUNT:
        text_add(text, " %u", wait->fd_count);
        break;
    case DETAIL_WORDS:
        if (wait->goroutine)
            text_add(text, "; its main goroutine %s", live_goroutine_text(wait->goroutine));
        break;
    case DETAIL_DISK:
        add_disk(text, live, wait);
        break;
    case DETAIL_NONE:
        break;
    }
}

const char *live_wait_text(const struct argus_live *live, const struct argus_live_wait *wait,
                           char *buffer, size_t bytes)
{
    struct text text = {.buffer = buffer, .bytes = bytes};
    const char *writing = kinds[wait->kind].writing;
    buffer[0] = '\0';
    text_add(&text, "%s", wait->is_write && writing ? writing : kinds[wait->kind].reading);
    add_detail(&text, live, wait);
    return buffer;
}

/* Requests that the other end has not read, or an answer that the thread itself has not. */
static void add_queues(struct text *text, const struct argus_live_wait *wait)
{
    /* a connection to a D-Bus daemon and a Mach port have the messages of all senders */
    bool is_port = wait->kind == ARGUS_LIVE_MACH_REPLY || wait->kind == ARGUS_LIVE_MACH_SEND;
    if (wait->unread_there)
        text_add(text,
                 wait->kind == ARGUS_LIVE_DBUS
                     ? "; %" PRIu64 " bytes of messages, of all its clients, are still unread there"
                 : is_port ? "; messages of all senders that are still unread there: %" PRIu64
                           : "; %" PRIu64 " bytes that it sent are still unread there",
                 wait->unread_there);
    if (wait->unread_here)
        text_add(text, "; %" PRIu64 " bytes have arrived, but it has not taken them",
                 wait->unread_here);
}

/* --- steps --- */

/* What stands before and behind the name of the next thread. */
static const struct {
    const char *before, *behind;
} links[] = {
    [ARGUS_LIVE_LINK_NONE] = {"", ""},
    [ARGUS_LIVE_LINK_HOLDS] = {", which ", " holds"},
    [ARGUS_LIVE_LINK_JOINED] = {": ", ""},
    [ARGUS_LIVE_LINK_WRITES] = {", to which ", " can write"},
    [ARGUS_LIVE_LINK_READS] = {", from which ", " can read"},
    [ARGUS_LIVE_LINK_PEER] = {", whose other end ", " has"},
    [ARGUS_LIVE_LINK_ACCEPTS] = {", whose connection ", " has not accepted"},
    [ARGUS_LIVE_LINK_CHILD] = {": ", ""},
    [ARGUS_LIVE_LINK_TRACES] = {", ", ""},
    [ARGUS_LIVE_LINK_SERVES] = {", which is ", ""},
    [ARGUS_LIVE_LINK_TERMINAL] = {", which ", " shows"},
    [ARGUS_LIVE_LINK_BUS] = {", which ", " has to send"},
    [ARGUS_LIVE_LINK_UNREAD] = {"; ", " has not read what it sent"},
    [ARGUS_LIVE_LINK_SHARES] = {"", ""},
    [ARGUS_LIVE_LINK_BACKS] = {"; the disk is a file which ", " serves"},
    [ARGUS_LIVE_LINK_OWNS] = {", which ", " owns"},
    [ARGUS_LIVE_LINK_PROVIDES] = {", which ", " provides"},
    [ARGUS_LIVE_LINK_SIGNALS] = {", which ", " signals"},
    [ARGUS_LIVE_LINK_CAUSES] = {", which ", " can cause"},
    [ARGUS_LIVE_LINK_EXECUTES] = {", in ", ""},
    [ARGUS_LIVE_LINK_HEARD] = {", and reads requests only of a few clients, such as ", ""},
    [ARGUS_LIVE_LINK_REPLIES] = {", which ", " has to send"},
    [ARGUS_LIVE_LINK_HALTED] = {", one of which leads to ", ""},
    [ARGUS_LIVE_LINK_QUEUED] = {"; ", " has not accepted its connection"},
    [ARGUS_LIVE_LINK_ANSWERS] = {", and sent a request last, which ", " has to answer"},
};

static uint32_t next_of(const struct argus_live_answer *answer, size_t step)
{
    if (step + 1 < answer->step_count)
        return answer->steps[step + 1].thread;
    return answer->circle != ARGUS_LIVE_NONE ? answer->steps[answer->circle].thread
                                             : ARGUS_LIVE_NONE;
}

static void add_link(struct text *text, const struct argus_live_step *step, const char *name)
{
    const char *before = links[step->link].before, *behind = links[step->link].behind;
    /* that something is unread or stopped is certain; that it is waited for, the doubts say. In the
     * queue of a Mach port, the request may not be among the unread messages. */
    bool is_certain =
        step->link == ARGUS_LIVE_LINK_UNREAD && step->wait.kind != ARGUS_LIVE_MACH_REPLY;
    bool is_guess = step->is_guess && !is_certain && step->link != ARGUS_LIVE_LINK_HALTED &&
                    step->link != ARGUS_LIVE_LINK_HEARD && step->link != ARGUS_LIVE_LINK_QUEUED;
    text_add(text, "%s%s%s%s%s", before, is_guess && !behind[0] ? "probably " : "", name,
             is_guess && behind[0] ? " probably" : "", behind);
}

const char *live_step_text(const struct argus_live *live, const struct argus_live_answer *answer,
                           size_t index, char *buffer, size_t bytes)
{
    const struct argus_live_step *step = &answer->steps[index];
    struct text text = {.buffer = buffer, .bytes = bytes};
    char name[NAME_BYTES], wait[LIVE_TEXT_BYTES / 2];
    uint32_t next = next_of(answer, index);
    buffer[0] = '\0';
    text_add(&text, "%s %s", live_thread_text(live, step->thread, name, sizeof(name)),
             live_wait_text(live, &step->wait, wait, sizeof(wait)));
    if (next != ARGUS_LIVE_NONE && step->link != ARGUS_LIVE_LINK_NONE)
        add_link(&text, step, live_thread_text(live, next, name, sizeof(name)));
    add_queues(&text, &step->wait);
    return buffer;
}

/* --- frames --- */

const char *live_frame_text(const struct argus_live *live, const struct argus_live_frame *frame,
                            char *buffer, size_t bytes)
{
    const char *function = argus_live_text(live, frame->function);
    const char *file = argus_live_text(live, frame->file), *slash = strrchr(file, '/');
    if (!function[0])
        snprintf(buffer, bytes, "0x%" PRIx64 " in %s%s", frame->address,
                 frame->image ? argus_live_text(live, frame->image) : "code without a file",
                 frame->is_left_out ? " (not read: its file system may not answer)" : "");
    else if (file[0])
        snprintf(buffer, bytes, "%s (%s:%u)", function, slash ? slash + 1 : file, frame->line);
    else
        snprintf(buffer, bytes, "%s (%s)", function, argus_live_text(live, frame->image));
    return buffer;
}

static bool is_of_library(const char *image)
{
    static const char *const libraries[] = {"libc.so", "libc-", "ld-", "libpthread", "[vdso]"};
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        if (strncmp(image, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return false;
}

/* Functions of Go's library in which all goroutines wait, by the beginning of their names. */
static bool is_of_go(const char *function)
{
    static const char *const packages[] = {"runtime.", "sync.", "time.", "internal/", "syscall."};
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
        if (strncmp(function, packages[i], strlen(packages[i])) == 0)
            return true;
    return false;
}

/* The innermost function of a script, else outside the C library; NULL: none has a name. */
static const char *own_function(const struct argus_live *live,
                                const struct argus_live_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (frames[i].function && frames[i].is_script)
            return argus_live_text(live, frames[i].function);
    for (size_t i = 0; i < count; i++)
        if (frames[i].function && !is_of_library(argus_live_text(live, frames[i].image)) &&
            !is_of_go(argus_live_text(live, frames[i].function)))
            return argus_live_text(live, frames[i].function);
    return NULL;
}

/* Of the most frequent stack of the samples. */
static const char *busy_function(const struct argus_live *live,
                                 const struct argus_live_samples *samples)
{
    return samples->stack_count ? own_function(live, samples->frames + samples->stacks->first_frame,
                                               samples->stacks->frame_count)
                                : NULL;
}

/* --- the answer --- */

static const char *const ends[] = {
    [ARGUS_LIVE_END_RUNS] = "it waits for no other thread",
    [ARGUS_LIVE_END_SLEEPS] = "it waits for no other thread",
    [ARGUS_LIVE_END_STOPPED] = "it goes on with SIGCONT (kill -CONT); the kernel does not keep "
                               "which process stopped it",
    [ARGUS_LIVE_END_IDLE] =
        "its stack tells whether it has nothing to do, or waits for something in particular",
    [ARGUS_LIVE_END_PERSON] = "a person has to type",
    [ARGUS_LIVE_END_DEVICE] = "the device has to answer",
    [ARGUS_LIVE_END_REMOTE] = "the other end is on another machine",
    [ARGUS_LIVE_END_SIGNAL] = "any process could send it",
    [ARGUS_LIVE_END_ZOMBIE] = "its parent has not taken its exit status, or other threads of it "
                              "still live",
    [ARGUS_LIVE_END_CIRCLE] = "",
    [ARGUS_LIVE_END_NOBODY] = "no other process has what could end this wait, so it may never end",
    [ARGUS_LIVE_END_SEVERAL] = "it is not known which of several should end this wait",
    [ARGUS_LIVE_END_UNKNOWN] = "it is not known who should end this wait",
    [ARGUS_LIVE_END_DENIED] = "it is not known who should end this wait, because this user may "
                              "not see it",
    [ARGUS_LIVE_END_MUTUAL] = "",
    [ARGUS_LIVE_END_STUCK] = "all threads of its process wait for conditions, locks or each other, "
                             "so none of them can go on",
    [ARGUS_LIVE_END_LOST] = "",
    [ARGUS_LIVE_END_LONG] = "the chain goes on",
};

/* Ends that the kind of the last wait tells better. To add one: a row. */
static const char *const kind_ends[ARGUS_LIVE_KINDS] = {
    [ARGUS_LIVE_FROZEN] =
        ("it goes on when the group is thawed (docker unpause, systemctl thaw, or 0 in its file "
         "cgroup.freeze); the kernel does not keep who froze it"),
    [ARGUS_LIVE_FROZEN_FS] = ("it goes on when the file system is thawed (fsfreeze -u, or the end "
                              "of a snapshot); the kernel does not keep who froze it"),
    [ARGUS_LIVE_MEMORY] =
        ("it goes on when the group gets more memory (memory.max, memory.high) or "
         "another process of the group frees some"),
    [ARGUS_LIVE_REQUEST] = "it has nothing to do",
    [ARGUS_LIVE_SUSPENDED] = "it goes on when the process that suspended it resumes it, often a "
                             "debugger; no public interface tells which one that is",
    [ARGUS_LIVE_KERNEL_REPLY] = "the kernel or a driver has to answer",
    [ARGUS_LIVE_KQUEUE] = "no public interface tells for which events; its stack tells whether it "
                          "has nothing to do, or waits for something in particular",
    [ARGUS_LIVE_WORKER] = "it has nothing to do",
};

/* Of a path that ends with a Go program. Only its end is surely the main goroutine's matter; the
 * thread that runs the main goroutine may have changed while argus looked. */
static const char *goroutine_end(const struct argus_live_answer *answer)
{
    const struct argus_live_step *last = &answer->steps[answer->step_count - 1];
    enum argus_live_goroutine state = last->wait.goroutine;
    if (answer->step_count > 1 && last[-1].is_guess && last[-1].link != ARGUS_LIVE_LINK_CHILD)
        return "Go does not keep which goroutine should act";
    if (state >= ARGUS_LIVE_GOROUTINE_RECEIVES)
        return "Go does not keep which goroutine should end a wait";
    if (state == ARGUS_LIVE_GOROUTINE_READY)
        return "it waits for no other goroutine";
    if (state == ARGUS_LIVE_GOROUTINE_ENDED)
        return "the program goes on with its other goroutines";
    return ends[answer->end];
}

static const char *end_by_kind(const struct argus_live_answer *answer)
{
    enum argus_live_kind kind = answer->steps[answer->step_count - 1].wait.kind;
    if (answer->is_any)
        return "any process that has the pipe can end it";
    return kind == ARGUS_LIVE_GOROUTINE ? goroutine_end(answer) : kind_ends[kind];
}

static void add_circle(struct text *text, const struct argus_live *live,
                       const struct argus_live_answer *answer)
{
    char name[NAME_BYTES];
    size_t count = answer->step_count - answer->circle;
    bool is_guess = false;
    for (size_t i = answer->circle; i < answer->step_count; i++)
        is_guess |= answer->steps[i].is_guess;
    if (answer->end == ARGUS_LIVE_END_MUTUAL)
        text_add(text, "Both ends of a connection wait for the other to send: ");
    else
        text_add(text, "%s: each of %zu threads waits for the next, and the last for the first: ",
                 is_guess ? "Probably a deadlock" : "Deadlock", count);
    for (size_t i = answer->circle; i < answer->step_count; i++)
        text_add(text, "%s%s", i > answer->circle ? ", " : "",
                 live_thread_text(live, answer->steps[i].thread, name, sizeof(name)));
    text_add(text, ".");
}

static void add_function(struct text *text, const struct argus_live *live,
                         const struct argus_live_answer *answer, const struct argus_live_step *step)
{
    const char *function =
        answer->samples ? busy_function(live, answer->samples)
                        : own_function(live, answer->frames + step->first_frame, step->frame_count);
    if (step->nested_loop && !answer->samples)
        text_add(text, ", in a nested event loop of %s, called by %s",
                 argus_live_text(live, step->nested_loop),
                 argus_live_text(live, step->nested_caller));
    else if (function)
        text_add(text, ", in %s", function);
}

/* Whether the last thread itself could not be read: the doubts say why, and what to do. */
static bool is_denied(const struct argus_live *live, const struct argus_live_answer *answer)
{
    uint32_t thread = answer->steps[answer->step_count - 1].thread;
    uint32_t process = argus_live_thread_at(live, thread)->process;
    return argus_live_process_at(live, process)->denied != ARGUS_LIVE_READABLE;
}

/* Of a sleeper, candidates are those with a lock that it may want. */
static void add_end(struct text *text, const struct argus_live *live,
                    const struct argus_live_answer *answer)
{
    char name[NAME_BYTES];
    bool shares = answer->candidate_count && answer->candidates[0].link == ARGUS_LIVE_LINK_SHARES;
    if (shares) {
        text_add(text, "; %s that share its memory may hold what it waits for: see below.",
                 answer->end == ARGUS_LIVE_END_IDLE ? "processes" : "threads");
        return;
    }
    const char *by_kind = end_by_kind(answer);
    if (by_kind) {
        text_add(text, "; %s.", by_kind);
        return;
    }
    if (answer->end == ARGUS_LIVE_END_LOST) {
        text_add(text,
                 "; thread %u holds it, which the process does not have: it has ended without "
                 "unlocking, or held it when fork() copied the process. Nobody will unlock it.",
                 answer->steps[answer->step_count - 1].wait.lost_owner);
        return;
    }
    if (answer->end == ARGUS_LIVE_END_STUCK && answer->is_end_guess) {
        text_add(text, "; all threads of its process wait for conditions, locks or each other, so "
                       "probably none of them can go on (a signal's handler could end a wait).");
        return;
    }
    if (answer->end != ARGUS_LIVE_END_SLEEPS || !answer->candidate_count) {
        bool may_help =
            answer->end == ARGUS_LIVE_END_DENIED && !is_denied(live, answer) && geteuid() != 0;
        text_add(text, "; %s%s.", ends[answer->end], may_help ? ": run argus with sudo" : "");
        return;
    }
    live_thread_text(live, answer->candidates[0].thread, name, sizeof(name));
    text_add(text, "; perhaps it tries again and again to lock a file that %s", name);
    if (answer->candidate_count > 1)
        text_add(text, " (and others: %zu)", answer->candidate_count - 1);
    text_add(text, " has locked.");
}

const char *live_summary_text(const struct argus_live *live, const struct argus_live_answer *answer,
                              char *buffer, size_t bytes)
{
    struct text text = {.buffer = buffer, .bytes = bytes};
    const struct argus_live_step *last = &answer->steps[answer->step_count - 1];
    char name[NAME_BYTES], sentence[LIVE_TEXT_BYTES];
    buffer[0] = '\0';
    if (answer->step_count > 1 || answer->circle != ARGUS_LIVE_NONE)
        text_add(&text, "%s. ", live_step_text(live, answer, 0, sentence, sizeof(sentence)));
    if (answer->circle != ARGUS_LIVE_NONE) {
        add_circle(&text, live, answer);
        return buffer;
    }
    text_add(&text, "%s%s %s", answer->step_count > 2 ? "At the end of the chain, " : "",
             live_thread_text(live, last->thread, name, sizeof(name)),
             live_wait_text(live, &last->wait, sentence, sizeof(sentence)));
    add_function(&text, live, answer, last);
    bool polls_lock = answer->end == ARGUS_LIVE_END_SLEEPS && answer->candidate_count;
    if (!answer->loop.flag_count || polls_lock)
        add_end(&text, live, answer);
    if (answer->loop.flag_count)
        text_add(&text, polls_lock ? " Otherwise %s." : "; %s.",
                 live_loop_text(live, &answer->loop, sentence, sizeof(sentence)));
    return buffer;
}
