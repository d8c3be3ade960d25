/* Finds the threads that share what a thread waits for, where the kernel knows no owner: semaphores
 * and message queues of System V, and a word in memory that several processes have mapped (a named
 * semaphore of POSIX, a lock or condition that processes share).
 *
 * Each of them could have ended the wait. Of semaphores, who changed them last probably has them;
 * of a queue, who sent before will send again, and who receives makes room. So these come first,
 * the latest before the others. Who only opened it comes last.
 */
#include "diagnose/suspects/suspect_search.h"
#include "event/syscalls.h"

#define MOST_USERS 16

/* --- System V --- */

/* The use that ends such a wait. */
static uint8_t ending_use(const struct argus_wait *wait)
{
    return wait->kind == ARGUS_WAIT_WRITE ? ARGUS_IPC_RECEIVED : ARGUS_IPC_CHANGED;
}

/* Whether `use` comes before `other`: ending ones before opening ones, the latest first. */
static bool comes_before(const struct argus_ipc_use *use, const struct argus_ipc_use *other)
{
    if (use->how != other->how)
        return use->how > other->how;
    return use->last_ns != other->last_ns ? use->last_ns > other->last_ns : use < other;
}

/* The next use after `last` (NULL: the first one) in this order; NULL: there is none. */
static const struct argus_ipc_use *next_use(const struct view *view, const struct argus_wait *wait,
                                            const struct argus_ipc_use *last)
{
    const struct argus_ipc_use *uses, *next = NULL;
    size_t count = argus_graph_ipc_uses(view->graph, &uses);
    const bool is_queue = wait->kind != ARGUS_WAIT_FUTEX;
    for (size_t i = 0; i < count; i++) {
        const struct argus_ipc_use *use = &uses[i];
        const bool can_end = use->how == ending_use(wait) || use->how == ARGUS_IPC_OPENED;
        if (use->id == (uint32_t)wait->object && use->is_queue == is_queue && can_end &&
            (!last || comes_before(last, use)) && (!next || comes_before(use, next)))
            next = use;
    }
    return next;
}

static bool waits_for_ipc(const struct view *view, const struct argus_wait *wait)
{
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(view->graph));
    return wait->syscall != ARGUS_NO_SYSCALL &&
           syscall_row(header->os, header->arch, wait->syscall)->flags & SYSCALL_IPC;
}

static bool add_ipc_users(struct suspect_search *search, const struct argus_wait *wait)
{
    const struct argus_ipc_use *use = next_use(&search->d->view, wait, NULL);
    for (int i = 0; use && i < MOST_USERS; i++, use = next_use(&search->d->view, wait, use))
        if (!suspect_search_add(search, use->thread, ARGUS_REASON_USED_SAME_IPC))
            return false;
    return true;
}

/* --- memory --- */

static bool has_word(const struct argus_shared_memory *memory, uint64_t address)
{
    return address >= memory->start && address - memory->start < memory->bytes;
}

static bool has_place(const struct argus_shared_memory *memory,
                      const struct argus_shared_memory *own, uint64_t position)
{
    return memory->inode == own->inode && memory->device == own->device && memory->writable &&
           position >= memory->offset && position - memory->offset < memory->bytes;
}

/* Adds the main threads of other processes that may write at `address` of `own`. */
static bool add_mappers(struct suspect_search *search, const struct argus_shared_memory *own,
                        uint64_t address)
{
    const struct argus_shared_memory *all;
    size_t count = argus_graph_shared_memory(search->d->view.graph, &all);
    for (size_t i = 0; i < count; i++)
        if (has_place(&all[i], own, own->offset + (address - own->start)) &&
            is_other_process(search, all[i].thread) &&
            !suspect_search_add(search, all[i].thread, ARGUS_REASON_SHARES_WORD))
            return false;
    return true;
}

static bool add_word_sharers(struct suspect_search *search, uint64_t address)
{
    const struct argus_shared_memory *all;
    size_t count = argus_graph_shared_memory(search->d->view.graph, &all);
    for (size_t i = 0; i < count; i++)
        if (!is_other_process(search, all[i].thread) && has_word(&all[i], address) &&
            !add_mappers(search, &all[i], address))
            return false;
    return true;
}

struct argus_error *find_sharers(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    const struct argus_wait *wait = &view->vertices[search->vertex].wait;
    bool good = true;
    if (waits_for_ipc(view, wait))
        good = add_ipc_users(search, wait);
    else if (wait->kind == ARGUS_WAIT_FUTEX)
        good = add_word_sharers(search, wait->object);
    return good ? NULL : argus_error_memory();
}
