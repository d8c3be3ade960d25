/* Whose requests a disk was busy with while a thread waited for it.
 *
 * Mostly a kernel thread issues them: it writes back what programs have written before. Then the
 * file tells the program, which is a thread that was seen to write to this file. A thread that was
 * only seen to wait until the file was on the disk (fsync) is a guess: another program may have
 * written it. A request without a file is of the file system itself: its journal, or its metadata.
 */
#include "diagnose/suspects/disk_users.h"

#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "diagnose/suspects/disk_records.h"

/* So many are named. */
#define MOST_NAMED 3
/* A program is blamed if so much of what the disk did was for it … */
#define BLAMED_PERCENT 50u
/* … in so many requests: fewer keep no disk busy, and may be what the thread waits for … */
#define FEWEST_REQUESTS 4u
/* … and is named if it was at least this part. */
#define NAMED_PERCENT 5u

/* What the disk did for one program and file. */
struct share {
    uint32_t thread; /* of the program; ARGUS_NONE: of the file system, or not known */
    uint32_t issuer; /* ARGUS_NONE: not known */
    uint64_t inode;
    uint64_t bytes, requests;
    uint32_t processes; /* of the program's name */
    bool writes;
    bool guessed; /* that it is of this program */
};

struct shares {
    struct diagnoser *d;
    uint32_t process; /* of the thread that waited */
    uint64_t bytes, own_bytes;
    VEC(struct share) items; /* of other programs, the largest first */
};

static uint32_t thread_of(const struct view *view, uint64_t tid, struct window window)
{
    for (uint32_t i = 0; tid && i < view->thread_count; i++)
        if (view->threads[i].tid == tid && view->threads[i].start_ns < window.end_ns &&
            view->threads[i].end_ns > window.start_ns)
            return i;
    return ARGUS_NONE;
}

static bool is_of_program(const struct view *view, uint32_t thread)
{
    return thread != ARGUS_NONE && !view->threads[thread].idle &&
           !view->processes[view->threads[thread].process].kernel;
}

/* Whether `use` tells more about the writer of a file than `other`: a write tells more than a call
 * that may be for what others wrote, and the latest one tells most. */
static bool tells_more(const struct argus_object_use *use, const struct argus_object_use *other)
{
    return !other || use->wrote > other->wrote ||
           (use->wrote == other->wrote && use->last_ns >= other->last_ns);
}

/* How the thread used the file that wrote to it last; NULL. */
static const struct argus_object_use *writer_of(const struct view *view, uint64_t inode)
{
    const struct argus_object_use *uses, *found = NULL;
    size_t first, count = argus_graph_object_uses(view->graph, &uses);
    LOWER_BOUND(first, count, uses[first].inode < inode);
    for (size_t i = first; inode && i < count && uses[i].inode == inode; i++)
        if ((uses[i].wrote || uses[i].changed) && is_of_program(view, uses[i].thread) &&
            tells_more(&uses[i], found))
            found = &uses[i];
    return found;
}

static bool add_share(struct shares *shares, const struct share *share)
{
    const struct view *view = &shares->d->view;
    if (share->thread != ARGUS_NONE && view->threads[share->thread].process == shares->process) {
        shares->own_bytes += share->bytes;
        return true;
    }
    for (size_t i = 0; i < shares->items.length; i++) {
        struct share *other = &shares->items.data[i];
        bool same = share->thread == ARGUS_NONE
                        ? other->thread == ARGUS_NONE && other->issuer == share->issuer
                        : other->thread != ARGUS_NONE && view->threads[other->thread].process ==
                                                             view->threads[share->thread].process;
        if (!same || other->writes != share->writes || other->inode != share->inode)
            continue;
        other->bytes += share->bytes;
        other->requests += share->requests;
        other->guessed |= share->guessed;
        return true;
    }
    return vec_push(&shares->items, *share);
}

/* Adds up what several processes of one name did: copies by one script, say. */
static void merge_programs(struct shares *shares)
{
    const struct view *view = &shares->d->view;
    size_t kept = 0;
    for (size_t i = 0; i < shares->items.length; i++) {
        struct share *share = &shares->items.data[i], *other = NULL;
        for (size_t k = 0; k < kept && !other && share->thread != ARGUS_NONE; k++) {
            other = &shares->items.data[k];
            if (other->thread == ARGUS_NONE || other->inode != share->inode ||
                other->writes != share->writes ||
                strcmp(view->processes[view->threads[other->thread].process].name,
                       view->processes[view->threads[share->thread].process].name) != 0)
                other = NULL;
        }
        if (!other) {
            shares->items.data[kept++] = *share;
            continue;
        }
        other->bytes += share->bytes;
        other->requests += share->requests;
        other->guessed |= share->guessed;
        other->processes++;
    }
    shares->items.length = kept;
}

static int largest_first(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static bool make_shares(struct shares *shares, const struct disk_use *use, struct window window)
{
    const struct view *view = &shares->d->view;
    shares->bytes = use->bytes;
    for (size_t i = 0; i < use->users.length; i++) {
        const struct disk_user *user = &use->users.data[i];
        uint32_t issuer = thread_of(view, user->tid, window);
        bool issued = is_of_program(view, issuer);
        const struct argus_object_use *writer =
            !issued && user->writes ? writer_of(view, user->inode) : NULL;
        struct share share = {
            .thread = issued   ? issuer
                      : writer ? writer->thread
                               : ARGUS_NONE,
            .issuer = issuer,
            .inode = user->inode,
            .bytes = user->bytes,
            .requests = user->requests,
            .processes = 1,
            .writes = user->writes,
            .guessed = writer && !writer->wrote,
        };
        if (!add_share(shares, &share))
            return false;
    }
    if (shares->items.length)
        qsort(shares->items.data, shares->items.length, sizeof(*shares->items.data), largest_first);
    merge_programs(shares);
    if (shares->items.length)
        qsort(shares->items.data, shares->items.length, sizeof(*shares->items.data), largest_first);
    return true;
}

/* --- for the answer --- */

static unsigned percent(const struct shares *shares, uint64_t bytes)
{
    return shares->bytes ? (unsigned)(bytes * 100.0 / (double)shares->bytes + .5) : 0;
}

static struct argus_reason_user user_of_share(const struct shares *shares,
                                              const struct share *share)
{
    return (struct argus_reason_user){.thread = share->thread == ARGUS_NONE ? share->issuer
                                                                            : share->thread,
                                      .count = share->processes,
                                      .percent = percent(shares, share->bytes),
                                      .inode = share->inode,
                                      .bytes = share->bytes,
                                      .writes = share->writes};
}

/* Puts what the disk did into `why`; false without memory. */
static bool add_users(const struct shares *shares, struct argus_reason *why)
{
    why->users = calloc(MOST_NAMED, sizeof(*why->users));
    if (!why->users)
        return false;
    for (size_t i = 0; i < shares->items.length && i < MOST_NAMED; i++) {
        if (percent(shares, shares->items.data[i].bytes) < NAMED_PERCENT)
            break;
        struct argus_reason_user *user = &why->users[why->user_count++];
        *user = user_of_share(shares, &shares->items.data[i]);
        if (shares->items.data[i].guessed) /* the thread that issued them is certain */
            user->thread = shares->items.data[i].issuer;
    }
    if (why->user_count)
        why->more = ARGUS_REASON_DISK_USERS;
    return true;
}

/* --- the blame --- */

/* The program for which the disk did most; NULL: none in particular. */
static const struct share *taker(const struct shares *shares)
{
    const struct share *first = shares->items.length ? &shares->items.data[0] : NULL;
    if (!first || first->thread == ARGUS_NONE ||
        shares->d->view.threads[first->thread].vertex_count == 0 ||
        percent(shares, first->bytes) < BLAMED_PERCENT || first->requests < FEWEST_REQUESTS ||
        first->bytes / 2 < shares->own_bytes)
        return NULL;
    return first;
}

static struct argus_error *blame_taker(struct shares *shares, const struct share *share,
                                       uint32_t vertex, struct window part, uint64_t wait_ns)
{
    struct diagnoser *d = shares->d;
    const struct argus_thread *thread = &d->view.threads[share->thread];
    uint32_t taken = timeline_before(&d->view, share->thread, part.end_ns);
    taken = taken == ARGUS_NONE ? thread->first_vertex : taken;
    struct argus_reason_user user = user_of_share(shares, share);
    struct argus_reason why = {.kind = share->guessed ? ARGUS_REASON_MAY_TAKE_DISK
                                                      : ARGUS_REASON_TOOK_DISK,
                               .thread = share->thread,
                               .waiter = d->view.vertices[vertex].thread,
                               .users = &user,
                               .user_count = 1};
    size_t before = d->culprits.length;
    struct argus_error *error = diagnoser_add_culprit(d, taken, ARGUS_TYPE_LONG_WAIT, part,
                                                      wait_ns / 100 * user.percent, &why);
    if (!error && d->culprits.length > before)
        d->culprits.data[before].took_disk = true;
    if (error || !share->guessed)
        return error;
    d->guessed = true;
    why.kind = ARGUS_REASON_GUESS_SYNCED;
    return diagnoser_add_uncertain(d, &why);
}

static struct argus_error *read_shares(struct shares *shares, uint32_t vertex, struct window part,
                                       struct disk_use *ret)
{
    struct diagnoser *d = shares->d;
    shares->process = d->view.threads[d->view.vertices[vertex].thread].process;
    struct argus_error *error = disk_use_read(d, part, vertex, ret);
    return error || make_shares(shares, ret, part) ? error : argus_error_memory();
}

struct argus_error *disk_is_taken(struct diagnoser *d, uint32_t vertex, struct window part,
                                  bool *ret)
{
    struct disk_use use;
    struct shares shares = {.d = d};
    struct argus_error *error = read_shares(&shares, vertex, part, &use);
    *ret = !error && use.one_disk && taker(&shares);
    vec_deinit(&shares.items);
    vec_deinit(&use.users);
    return error;
}

struct argus_error *disk_users_blame(struct diagnoser *d, uint32_t vertex, struct window part,
                                     uint64_t wait_ns, struct argus_reason *why)
{
    struct disk_use use;
    struct shares shares = {.d = d};
    struct argus_error *error = read_shares(&shares, vertex, part, &use);
    const struct share *first = error ? NULL : taker(&shares);
    if (first)
        error = blame_taker(&shares, first, vertex, part, wait_ns);
    if (!error && !add_users(&shares, why))
        error = argus_error_memory();
    vec_deinit(&shares.items);
    vec_deinit(&use.users);
    return error;
}
