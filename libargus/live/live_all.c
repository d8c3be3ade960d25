/* What is frozen, if nobody says which process: windows that do not answer, and main threads that
 * have not moved for a while, though another thread should have ended their wait.
 *
 * Most threads of a system wait for something all the time, so only waits count that have no good
 * reason to be long: for a lock, for an answer to a request that nobody has read, in the kernel. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "live/live_display.h"
#include "live/live_x11.h"

enum {
    PATIENCE_NS =
        600000000, /* for the answers to pings, and between two looks at the main threads */
    STATUS_BYTES = 4096,
    MOST_SUSPECTS = 16,
    RANK_WINDOW = 100, /* is added for a program with a connection to a display server */
};

struct suspect {
    uint32_t thread;
    uint32_t rank;
    uint64_t switches; /* how often it has waited so far */
};

struct around {
    struct argus_live *live;
    struct argus_live_overview *ret;
    VEC(struct suspect) suspects;
    VEC(struct argus_live_window) windows;
    VEC(uint32_t) threads;
};

/* How suspicious a wait is; 0: not at all. To add one: a row. */
static const uint8_t ranks[ARGUS_LIVE_KINDS] = {
    [ARGUS_LIVE_FUSE] = 90,      [ARGUS_LIVE_MUTEX] = 80,     [ARGUS_LIVE_RWLOCK] = 80,
    [ARGUS_LIVE_DISK] = 70,      [ARGUS_LIVE_FILE_LOCK] = 60, [ARGUS_LIVE_STOPPED] = 50,
    [ARGUS_LIVE_TRACED] = 40,    [ARGUS_LIVE_FROZEN] = 45,    [ARGUS_LIVE_MONITOR] = 80,
    [ARGUS_LIVE_REMOTE_FS] = 70, [ARGUS_LIVE_FROZEN_FS] = 65, [ARGUS_LIVE_MEMORY] = 65,
    [ARGUS_LIVE_PAGE] = 70,      [ARGUS_LIVE_USERFAULT] = 70,
};

/* For data or room: only if something is unread at the other end. A stopped program without a
 * window is most likely a job that a person stopped at a terminal (Ctrl+Z), or has under a
 * debugger. */
static uint32_t rank_of_wait(const struct argus_live_wait *wait, bool has_window)
{
    if (!has_window && (wait->kind == ARGUS_LIVE_STOPPED || wait->kind == ARGUS_LIVE_TRACED))
        return 0;
    if (wait->kind == ARGUS_LIVE_UNIX_SOCKET || wait->kind == ARGUS_LIVE_TCP)
        return wait->unread_there ? 65 : 0;
    return ranks[wait->kind];
}

static uint64_t switches_of(const struct argus_live *live, uint32_t thread)
{
    char text[STATUS_BYTES], name[48];
    uint64_t switches = 0;
    snprintf(name, sizeof(name), "task/%u/status", live->threads.data[thread].tid);
    if (live_read(live_pid_of(live, thread), name, text, sizeof(text)) > 0)
        live_field(text, "voluntary_ctxt_switches:", 10, &switches);
    return switches;
}

static void keep_thread(struct around *around, uint32_t thread)
{
    for (size_t i = 0; i < around->threads.length; i++)
        if (around->threads.data[i] == thread)
            return;
    if (thread != ARGUS_LIVE_NONE && !vec_push(&around->threads, thread))
        around->live->no_memory = true;
}

/* As a name: a title is what its program likes, and may have been cut off. */
static uint32_t title_of(struct argus_live *live, const struct x11_window *window)
{
    char title[X11_TITLE_BYTES];
    snprintf(title, sizeof(title), "%s", window->title);
    utf8_repair_name(title, strlen(title));
    return live_text(live, title);
}

/* A program in a container, or on another machine (ssh -X), tells the ID that it has there. Here,
 * that may be another process, which then has no connection to a display. */
static uint32_t owner_of(struct argus_live *live, const struct x11_window *window)
{
    uint32_t process = window->pid ? live_process(live, window->pid) : ARGUS_LIVE_NONE;
    bool is_another = process != ARGUS_LIVE_NONE && !live->processes.data[process].denied &&
                      live_display_of(live, process) == LIVE_DISPLAY_NONE;
    return is_another ? ARGUS_LIVE_NONE : process;
}

static void keep_window(struct around *around, const struct x11_window *window)
{
    struct argus_live *live = around->live;
    uint32_t process = owner_of(live, window);
    struct argus_live_window kept = {.thread = process == ARGUS_LIVE_NONE
                                                   ? ARGUS_LIVE_NONE
                                                   : live->processes.data[process].first_thread,
                                     .title = title_of(live, window),
                                     .pings = window->pings,
                                     .answers = window->has_answered};
    if (!vec_push(&around->windows, kept))
        live->no_memory = true;
    if (window->pings && !window->has_answered)
        keep_thread(around, kept.thread);
}

static void ask_windows(struct around *around)
{
    static const enum argus_live_display displays[] = {
        [X11_ANSWERED] = ARGUS_LIVE_DISPLAY_ANSWERS,
        [X11_NO_SERVER] = ARGUS_LIVE_DISPLAY_NONE,
        [X11_DENIED] = ARGUS_LIVE_DISPLAY_DENIED,
        [X11_SILENT] = ARGUS_LIVE_DISPLAY_SILENT,
    };
    char display[LIVE_DISPLAY_BYTES];
    struct x11_authority authority;
    x11_windows windows = {0};
    if (!live_find_display(around->live, display, &authority))
        return;
    enum x11_answer answer = x11_ping(display, &authority, PATIENCE_NS, &windows);
    around->ret->display = displays[answer];
    if (answer == X11_SILENT) {
        around->ret->server = live_display_server(around->live, display);
        keep_thread(around, around->ret->server);
    }
    for (size_t i = 0; answer == X11_ANSWERED && i < windows.length; i++)
        keep_window(around, &windows.data[i]);
    vec_deinit(&windows);
}

/* --- main threads --- */

static bool is_looked_at(struct argus_live *live, uint32_t process)
{
    enum { KTHREADD = 2 };
    uint32_t pid = live->processes.data[process].pid;
    return pid != KTHREADD && live_parent_of(live, process) != KTHREADD &&
           pid != (uint32_t)getppid() && live_load(live, process) &&
           !live->processes.data[process].denied;
}

static void look_at_main_threads(struct around *around)
{
    struct argus_live *live = around->live;
    for (uint32_t i = 0; i < live->processes.length; i++) {
        if (!is_looked_at(live, i))
            continue;
        uint32_t thread = live->processes.data[i].first_thread;
        const struct argus_live_wait wait = live_wait(live, thread);
        enum live_display display = live_display_of(live, i);
        struct suspect suspect = {thread, rank_of_wait(&wait, display != LIVE_DISPLAY_NONE), 0};
        around->ret->has_wayland |= display == LIVE_DISPLAY_WAYLAND;
        if (wait.kind == ARGUS_LIVE_RUNS && display)
            suspect.rank = 30;
        if (!suspect.rank)
            continue;
        suspect.rank += display ? RANK_WINDOW : 0;
        suspect.switches = switches_of(live, thread);
        if (!vec_push(&around->suspects, suspect))
            live->no_memory = true;
    }
}

static int by_rank(const void *left, const void *right)
{
    const struct suspect *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? 1 : -1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* Those that have not moved since the first look. */
static void keep_suspects(struct around *around)
{
    if (around->suspects.length)
        qsort(around->suspects.data, around->suspects.length, sizeof(struct suspect), by_rank);
    for (size_t i = 0; i < around->suspects.length && around->threads.length < MOST_SUSPECTS; i++) {
        const struct suspect *suspect = &around->suspects.data[i];
        bool is_still_there = around->live->threads.data[suspect->thread].state == 'R' ||
                              live_is_still_there(around->live, suspect->thread);
        if (is_still_there && switches_of(around->live, suspect->thread) == suspect->switches)
            keep_thread(around, suspect->thread);
    }
}

struct argus_error *argus_live_look_around(struct argus_live *live, struct argus_live_overview *ret)
{
    struct around around = {.live = live, .ret = ret};
    *ret = (struct argus_live_overview){.server = ARGUS_LIVE_NONE};
    look_at_main_threads(&around);
    uint64_t end = live_now_ns() + PATIENCE_NS;
    ask_windows(&around);
    if (live_now_ns() < end)
        usleep((useconds_t)((end - live_now_ns()) / 1000));
    keep_suspects(&around);
    vec_deinit(&around.suspects);
    ret->windows = around.windows.data;
    ret->window_count = around.windows.length;
    ret->threads = around.threads.data;
    ret->thread_count = around.threads.length;
    if (!live->no_memory)
        return NULL;
    argus_live_overview_deinit(ret);
    return argus_error_memory();
}

void argus_live_overview_deinit(struct argus_live_overview *overview)
{
    free(overview->windows);
    free(overview->threads);
    *overview = (struct argus_live_overview){.server = ARGUS_LIVE_NONE};
}
