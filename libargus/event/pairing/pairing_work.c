/* Tracks which threads are running in a call that can send or receive. The operations of such a
 * thread may be recorded later. So a message is settled, that is, everything simultaneous with it
 * or earlier is known, once all threads that were running then have stopped.
 */
#include "event/pairing/pairing.h"

#include <string.h>

/* A thread that runs longer than this is not waited for: the end of its call may have no record. A
 * thread that wants a CPU gets one sooner, even on a busy machine, and few calls that move messages
 * compute for so long. */
#define LONGEST_WORK_NS 1000000000u

static bool is_at_work(const struct pairing *pairing, const struct at_work *at, uint64_t now_ns)
{
    bool long_ago = at->since_ns < now_ns && now_ns - at->since_ns > LONGEST_WORK_NS;
    return !long_ago && pairing->turns.data[at->thread].turn == at->turn;
}

void pairing_find_settled(struct pairing *pairing, uint64_t now_ns)
{
    size_t first = pairing->first_at_work, count = pairing->at_work.length;
    const struct at_work *at_work = pairing->at_work.data;
    while (first < count && !is_at_work(pairing, &at_work[first], now_ns))
        first++;
    pairing->settled_ns = first < count ? at_work[first].since_ns : now_ns;
    if (first > 64 && first > count / 2) {
        memmove(pairing->at_work.data, at_work + first, (count - first) * sizeof(*at_work));
        pairing->at_work.length = count - first;
        first = 0;
    }
    pairing->first_at_work = first;
}

void pairing_thread_works(struct pairing *pairing, uint32_t thread, uint64_t now_ns)
{
    while (pairing->turns.length <= thread)
        if (!vec_push(&pairing->turns, (struct turn){0})) {
            pairing->no_memory = true;
            return;
        }
    if (pairing->at_work.length == pairing->at_work.capacity) /* most of them have ended */
        pairing_find_settled(pairing, now_ns);
    if (!++pairing->last_turn)
        pairing->last_turn = 1;
    pairing->turns.data[thread] = (struct turn){now_ns, pairing->last_turn};
    if (!vec_push(&pairing->at_work, (struct at_work){now_ns, thread, pairing->last_turn}))
        pairing->no_memory = true;
}

void pairing_thread_runs(struct pairing *pairing, uint32_t thread, uint64_t now_ns)
{
    if (thread >= pairing->turns.length || !pairing->turns.data[thread].turn)
        pairing_thread_works(pairing, thread, now_ns);
}

void pairing_thread_rests(struct pairing *pairing, uint32_t thread)
{
    if (thread < pairing->turns.length)
        pairing->turns.data[thread].turn = 0;
}
