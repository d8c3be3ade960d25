/* What a thread in futex() waits on: the futex word, and the word in which a glibc mutex keeps its
 * owner (in 32-bit programs, too). Two words of 4 bytes are read from the user's memory, at an
 * address that the program gave to the kernel as a lock; if the page is not in memory, no record is
 * written.
 */
#ifndef ARGUS_BPF_LOCK_H
#define ARGUS_BPF_LOCK_H

#include "call.h"
#include "ring.h"

#define FUTEX_COMMAND_MASK 0x7f /* include/uapi/linux/futex.h */
#define FUTEX_WAIT         0
#define FUTEX_LOCK_PI      6
#define FUTEX_WAIT_BITSET  9
#define FUTEX_LOCK_PI2     13
#define MUTEX_OWNER_WORD   2

static __always_inline bool waits_for_lock(uint32_t operation)
{
    operation &= FUTEX_COMMAND_MASK;
    return operation == FUTEX_WAIT || operation == FUTEX_LOCK_PI ||
           operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI2;
}

/* Writes the lock record for the current thread, if `call`, which it is in, is a futex() that is
 * about to wait. */
static __always_inline void emit_lock(const struct moment *now, const struct call *call)
{
    uint32_t words[MUTEX_OWNER_WORD + 1];
    if (call->number != ARCH_FUTEX || !waits_for_lock((uint32_t)call->arguments[1]))
        return;
    uint64_t address = call->arguments[0];
    if (bpf_probe_read_user(words, sizeof(words), (const void *)address) == 0)
        emit(now, ARGUS_ID_LOCK, address, words[0], words[MUTEX_OWNER_WORD], 0);
}

#endif
