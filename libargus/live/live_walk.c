/* From thread to thread, to the end. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_dbus.h"
#include "live/live_go.h"
#include "live/live_java.h"
#include "live/live_python.h"
#include "live/live_sample.h"
#include "live/live_selection.h"
#include "live/live_wait.h"

enum { MOST_STEPS = 64 };

struct path {
    struct argus_live *live;
    VEC(struct argus_live_step) steps;
    VEC(struct argus_live_frame) frames;
    VEC(struct argus_live_candidate) candidates;
    struct goroutines goroutines; /* of the last step's program; owned */
    enum argus_live_end end;
    bool is_end_guess, is_any;
    uint32_t circle;
};

static void add_frame(struct path *path, const struct argus_live_frame *frame)
{
    if (!vec_push(&path->frames, *frame))
        path->live->no_memory = true;
}

/* The next Python functions, up to the end of a call of the C function that runs them. */
static size_t add_python(struct path *path, const struct python_frame *frames, size_t at,
                         size_t count)
{
    bool ends = false;
    for (; at < count && !ends; at++) {
        ends = frames[at].is_outermost;
        if (frames[at].frame.is_script)
            add_frame(path, &frames[at].frame);
    }
    return at;
}

/* The main goroutine's stack, in place of that of the thread that has none to run. */
static void add_goroutine_stack(struct path *path, struct argus_live_step *step)
{
    uint64_t addresses[LIVE_STACK_FRAMES];
    uint32_t pid = live_pid_of(path->live, step->thread);
    size_t count =
        live_go_stack(path->live, pid, &path->goroutines.items.data[0], addresses, &step->is_cut);
    step->first_frame = (uint32_t)path->frames.length;
    step->frame_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct argus_live_frame frame;
        live_stack_name(path->live, pid, addresses[i], true, &frame);
        add_frame(path, &frame);
    }
}

/* Python functions stand in place of the C function that runs them. */
static void add_stack(struct path *path, struct argus_live_step *step)
{
    uint64_t addresses[LIVE_STACK_FRAMES];
    struct python_frame python[PYTHON_FRAMES];
    uint32_t pid = live_pid_of(path->live, step->thread);
    size_t count = live_stack(path->live, step->thread, addresses, &step->is_cut);
    size_t python_count = live_python_frames(path->live, step->thread, python), taken = 0;
    step->first_frame = (uint32_t)path->frames.length;
    for (size_t i = 0; i < count; i++) {
        struct argus_live_frame frame;
        live_stack_name(path->live, pid, addresses[i], i > 0, &frame);
        bool is_call = live_is_python_call(strtab_get(path->live->texts, frame.function));
        size_t before = taken;
        if (is_call)
            taken = add_python(path, python, taken, python_count);
        if (taken == before)
            add_frame(path, &frame);
    }
    while (taken < python_count)
        taken = add_python(path, python, taken, python_count);
    step->frame_count = (uint32_t)path->frames.length - step->first_frame;
}

static uint32_t place_of(const struct path *path, uint32_t thread)
{
    for (uint32_t i = 0; i < path->steps.length; i++)
        if (path->steps.data[i].thread == thread)
            return i;
    return ARGUS_LIVE_NONE;
}

/* Both ends of one connection that read: no lock, but a message that neither side sends. */
static bool is_mutual(const struct path *path, uint32_t from)
{
    const struct argus_live_step *a = &path->steps.data[from];
    const struct argus_live_step *b = &path->steps.data[path->steps.length - 1];
    bool is_pair = from + 2 == path->steps.length && a->wait.kind == b->wait.kind;
    if (!is_pair || a->wait.is_write || b->wait.is_write ||
        (a->wait.kind != ARGUS_LIVE_UNIX_SOCKET && a->wait.kind != ARGUS_LIVE_TCP))
        return false;
    const struct live_socket *socket = live_socket(path->live, a->wait.object);
    return socket && socket->peer == b->wait.object;
}

static void keep_candidate(struct path *path, uint32_t thread, enum argus_live_link link)
{
    if (!vec_push(&path->candidates, (struct argus_live_candidate){thread, link, ARGUS_LIVE_NONE}))
        path->live->no_memory = true;
}

/* The main thread stands for a process, but none that waits itself: then the other threads do, as
 * far as there are places. */
static void keep_process(struct path *path, uint32_t waiter, uint32_t process,
                         enum argus_live_link link)
{
    const struct argus_live_process of = path->live->processes.data[process];
    uint32_t count = 1;
    if (path->live->threads.data[waiter].process == process)
        count = of.thread_count < LIVE_CANDIDATES ? of.thread_count : LIVE_CANDIDATES;
    for (uint32_t i = of.first_thread; i < of.first_thread + count; i++)
        if (i != waiter)
            keep_candidate(path, i, link);
}

static void keep_candidates(struct path *path, uint32_t waiter,
                            const struct live_candidates *candidates)
{
    for (uint32_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].thread != ARGUS_LIVE_NONE)
            keep_candidate(path, candidates->items[i].thread, candidates->link);
        else
            keep_process(path, waiter, candidates->items[i].process, candidates->link);
}

/* Whether the step behind this link may be about any goroutine of a Go program: a request to it is
 * probably not the main one's. Its end is. */
static bool is_for_any_goroutine(const struct argus_live_step *before)
{
    return before->is_guess && before->link != ARGUS_LIVE_LINK_CHILD;
}

/* Adds a step; returns the thread of the next one, or ARGUS_LIVE_NONE with path->end set. */
static uint32_t take_step(struct path *path, uint32_t thread)
{
    struct live_candidates candidates;
    live_settle(path->live, thread);
    struct argus_live_step step = {.thread = thread, .wait = live_wait(path->live, thread)};
    const struct argus_live_step *before =
        path->steps.length ? &path->steps.data[path->steps.length - 1] : NULL;
    bool is_for_any = before && is_for_any_goroutine(before);
    /* that the main goroutine runs in this thread is over if the thread has none */
    bool follows = !is_for_any && (!before || before->link != ARGUS_LIVE_LINK_EXECUTES);
    live_go_deinit(&path->goroutines);
    if (!live_go_wait(path->live, thread, follows, &step.wait, &candidates, &path->goroutines) &&
        !live_dbus_call(path->live, thread, &step.wait, &candidates) &&
        !live_python_lock(path->live, thread, &step.wait, &candidates) &&
        !live_java_lock(path->live, thread, &step.wait, &candidates) &&
        !live_selection(path->live, thread, &step.wait, &candidates) &&
        !live_polled_mutex(path->live, thread, &step.wait, &candidates))
        live_resolve(path->live, thread, &step.wait, &candidates);
    if (is_for_any && path->goroutines.items.length)
        candidates.end = ARGUS_LIVE_END_UNKNOWN;
    struct live_choice choice = {false, false, false};
    uint32_t next = candidates.count
                        ? live_choose(path->live, thread, &step.wait, &candidates, &choice)
                        : ARGUS_LIVE_NONE;
    step.is_guess = choice.is_guess;
    step.is_shared = choice.is_shared;
    step.is_pool = choice.is_pool;
    path->end = candidates.count ? ARGUS_LIVE_END_SEVERAL : candidates.end;
    path->is_end_guess = !candidates.count && candidates.is_end_guess;
    path->is_any = candidates.is_any;
    if (step.wait.kind == ARGUS_LIVE_SLEEP)
        live_polled_locks(path->live, thread,
                          path->goroutines.items.length ? path->goroutines.items.data[0].sp
                                                        : path->live->threads.data[thread].sp,
                          &candidates);
    if (next == ARGUS_LIVE_NONE) {
        keep_candidates(path, thread, &candidates);
        step.is_guess = false; /* there is no next step that it could be about */
    } else {
        step.link = candidates.link;
    }
    step.is_goroutine = path->goroutines.items.length > 0;
    if (step.is_goroutine)
        add_goroutine_stack(path, &step);
    else
        add_stack(path, &step);
    if (step.frame_count && !path->live->no_memory)
        live_nested_loop(path->live, path->frames.data + step.first_frame, &step);
    if (!vec_push(&path->steps, step))
        path->live->no_memory = true;
    return next;
}

static void keep_sibling(void *context, uint32_t thread, uint32_t client)
{
    struct path *path = context;
    if (!vec_push(&path->candidates,
                  (struct argus_live_candidate){thread, ARGUS_LIVE_LINK_SHARES, client}))
        path->live->no_memory = true;
}

/* Those that do the same work as the last thread, and may hold what it waits for. */
static void add_siblings(struct path *path)
{
    if (!path->steps.length)
        return;
    uint32_t last = path->steps.data[path->steps.length - 1].thread;
    if (path->end == ARGUS_LIVE_END_IDLE)
        live_siblings(path->live, path->live->threads.data[last].process, keep_sibling, path);
    else if (path->end == ARGUS_LIVE_END_UNKNOWN)
        live_sessions(path->live, last, keep_sibling, path);
}

/* Whether all steps from `at` on, and the link back to it, are about the same threads and
 * goroutines. A main goroutine that changed its thread meanwhile is no circle. */
static bool is_whole_circle(const struct path *path, uint32_t at)
{
    const struct argus_live_step *before = &path->steps.data[path->steps.length - 1];
    if (before->link == ARGUS_LIVE_LINK_EXECUTES)
        return false;
    for (uint32_t i = at; i < path->steps.length; i++) {
        if (path->steps.data[i].is_goroutine && is_for_any_goroutine(before))
            return false;
        before = &path->steps.data[i];
    }
    return true;
}

static void forget_circle(struct path *path)
{
    struct argus_live_step *last = &path->steps.data[path->steps.length - 1];
    path->circle = ARGUS_LIVE_NONE;
    path->end = ARGUS_LIVE_END_UNKNOWN;
    last->link = ARGUS_LIVE_LINK_NONE; /* there is no next step */
    last->is_guess = last->is_shared = false;
}

static void close_circle(struct path *path, uint32_t at)
{
    if (!is_whole_circle(path, at)) {
        forget_circle(path);
        return;
    }
    path->circle = at;
    path->end = is_mutual(path, at) ? ARGUS_LIVE_END_MUTUAL : ARGUS_LIVE_END_CIRCLE;
}

/* A thread that does something else by now was not stuck there. What a thread without a goroutine
 * does tells nothing about the main goroutine. */
static void look_again(struct path *path)
{
    for (size_t i = 0; i < path->steps.length; i++) {
        struct argus_live_step *step = &path->steps.data[i];
        step->went_on = !step->is_goroutine && step->wait.kind != ARGUS_LIVE_RUNS &&
                        step->wait.kind != ARGUS_LIVE_POLLED_LOCK &&
                        !live_is_still_there(path->live, step->thread);
    }
}

/* That a wait never ends is refuted if it has ended meanwhile, unless by its own time-out. */
static void doubt_end(struct path *path)
{
    uint32_t count = (uint32_t)path->steps.length;
    bool is_circle = path->circle != ARGUS_LIVE_NONE, has_ended = false;
    for (uint32_t i = is_circle ? path->circle : count ? count - 1 : 0; i < count; i++)
        has_ended |= path->steps.data[i].went_on && !path->steps.data[i].wait.has_timeout;
    if (has_ended && is_circle)
        forget_circle(path);
    else if (has_ended && (path->end == ARGUS_LIVE_END_NOBODY ||
                           path->end == ARGUS_LIVE_END_STUCK || path->end == ARGUS_LIVE_END_LOST))
        path->end = ARGUS_LIVE_END_UNKNOWN;
}

/* Those of the last step, with their frames behind those of the steps. */
static void add_goroutines(struct path *path, struct argus_live_answer *ret)
{
    struct live_go_groups groups = {0};
    uint32_t first = (uint32_t)path->frames.length;
    if (path->goroutines.items.length) {
        uint32_t last = path->steps.data[path->steps.length - 1].thread;
        live_go_group(path->live, path->live->threads.data[last].process, &path->goroutines,
                      &groups);
    }
    for (size_t i = 0; i < groups.frames.length; i++)
        add_frame(path, &groups.frames.data[i]);
    for (size_t i = 0; i < groups.items.length; i++)
        groups.items.data[i].first_frame += first;
    vec_deinit(&groups.frames);
    live_go_deinit(&path->goroutines);
    ret->goroutines = groups.items.data;
    ret->goroutine_count = groups.items.length;
    ret->goroutines_left_out = groups.left_out;
}

struct argus_error *argus_live_walk(struct argus_live *live, uint32_t thread,
                                    struct argus_live_answer *ret)
{
    struct path path = {.live = live, .circle = ARGUS_LIVE_NONE};
    uint32_t at = thread;
    while (!live->no_memory && at != ARGUS_LIVE_NONE) {
        if (place_of(&path, at) != ARGUS_LIVE_NONE) {
            close_circle(&path, place_of(&path, at));
            break;
        }
        if (path.steps.length == MOST_STEPS) {
            path.end = ARGUS_LIVE_END_LONG;
            break;
        }
        at = take_step(&path, at);
    }
    look_again(&path);
    doubt_end(&path);
    add_siblings(&path);
    *ret = (struct argus_live_answer){0};
    add_goroutines(&path, ret);
    *ret = (struct argus_live_answer){
        .goroutines = ret->goroutines,
        .goroutine_count = ret->goroutine_count,
        .goroutines_left_out = ret->goroutines_left_out,
        .steps = path.steps.data,
        .step_count = path.steps.length,
        .frames = path.frames.data,
        .frame_count = path.frames.length,
        .candidates = path.candidates.data,
        .candidate_count = path.candidates.length,
        .end = path.end,
        .is_end_guess = path.is_end_guess,
        .is_any = path.is_any && path.end == ARGUS_LIVE_END_SEVERAL,
        .circle = path.circle,
    };
    if (!live->no_memory)
        return NULL;
    argus_live_answer_deinit(ret);
    return argus_error_memory();
}

void argus_live_answer_deinit(struct argus_live_answer *answer)
{
    free(answer->steps);
    free(answer->frames);
    free(answer->candidates);
    free(answer->goroutines);
    if (answer->samples)
        live_samples_deinit(answer->samples);
    free(answer->samples);
    *answer = (struct argus_live_answer){0};
}
