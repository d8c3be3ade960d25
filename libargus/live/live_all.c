/* What is frozen, if nobody says which process: windows that do not answer, and main threads that
 * have not moved for a while, though another thread should have ended their wait.
 *
 * Most threads of a system wait for something all the time, so only waits count that have no good
 * reason to be long: for a lock, for an answer to a request that nobody has read, in the kernel. */
#include <stdlib.h>
#include <unistd.h>

#include "live/live_around.h"
#include "live/live_display.h"

enum {
    MOST_SUSPECTS = 16,
    RANK_WINDOW = 100, /* is added for a program with a connection to a display server */
};

struct suspect {
    uint32_t thread;
    uint32_t rank;
    uint64_t moves; /* live_moves() at the first look */
};

void live_keep_thread(struct around *around, uint32_t thread)
{
    for (size_t i = 0; i < around->threads.length; i++)
        if (around->threads.data[i] == thread)
            return;
    if (thread != ARGUS_LIVE_NONE && !vec_push(&around->threads, thread))
        around->live->no_memory = true;
}

/* How suspicious a wait is; 0: not at all. To add one: a row. */
static const uint8_t ranks[ARGUS_LIVE_KINDS] = {
    [ARGUS_LIVE_FUSE] = 90,      [ARGUS_LIVE_MUTEX] = 80,      [ARGUS_LIVE_RWLOCK] = 80,
    [ARGUS_LIVE_DISK] = 70,      [ARGUS_LIVE_FILE_LOCK] = 60,  [ARGUS_LIVE_STOPPED] = 50,
    [ARGUS_LIVE_TRACED] = 40,    [ARGUS_LIVE_FROZEN] = 45,     [ARGUS_LIVE_MONITOR] = 80,
    [ARGUS_LIVE_REMOTE_FS] = 70, [ARGUS_LIVE_FROZEN_FS] = 65,  [ARGUS_LIVE_MEMORY] = 65,
    [ARGUS_LIVE_PAGE] = 70,      [ARGUS_LIVE_USERFAULT] = 70,  [ARGUS_LIVE_DISPATCH] = 80,
    [ARGUS_LIVE_MACH_SEND] = 65, [ARGUS_LIVE_MACH_REPLY] = 60,
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

static bool is_looked_at(struct argus_live *live, uint32_t process)
{
    return !live_is_kernels(live, process) &&
           live->processes.data[process].pid != (uint32_t)getppid() && live_load(live, process) &&
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
        suspect.moves = live_moves(live, thread);
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
        if (is_still_there && live_moves(around->live, suspect->thread) == suspect->moves)
            live_keep_thread(around, suspect->thread);
    }
}

struct argus_error *argus_live_look_around(struct argus_live *live, struct argus_live_overview *ret)
{
    struct around around = {.live = live, .ret = ret};
    *ret = (struct argus_live_overview){.server = ARGUS_LIVE_NONE};
    look_at_main_threads(&around);
    uint64_t end = live_now_ns() + LIVE_PATIENCE_NS;
    live_ask_windows(&around);
    uint64_t now = live_now_ns();
    if (now < end)
        usleep((useconds_t)((end - now) / 1000));
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
