/* Writes a jump over instructions that other threads may be executing.
 *
 * x86-64. While the process has one thread, as usual when a library is loaded with the program, the
 * bytes are simply written: no other thread can be in the window, and neither is the loading
 * thread, because a window has no call before its last instruction. With other threads the method
 * is that of the kernel's text_poke_bp():
 *
 *   1. int3 over the first byte of every instruction of the window, one store each. A thread that
 * reaches one gets a SIGTRAP, and the runtime's handler continues it at the same instruction in the
 * trampoline.
 *   2. membarrier(PRIVATE_EXPEDITED_SYNC_CORE): from now on every core has seen that.
 *   3. the other bytes of the jump; membarrier again; then its first byte over the first int3;
 * membarrier.
 *
 * The kernel needs only this, because it patches only single instructions. A window can have
 * several, and a thread may have been preempted before the second one for as long as the scheduler
 * likes. So the int3 there must never go away: memory for the trampoline is chosen such that the
 * displacement of the jump has the byte 0xcc at each such place (struct near_wish).
 *
 * Why not stop the threads? A signal to each of them makes their system calls return EINTR, and a
 * thread that blocks the signal never stops; ptrace needs another process and a permission. The
 * drawback of int3: it kills a thread that blocks SIGTRAP. So threads are checked first, and if one
 * blocks it, only a window of one instruction within one aligned word is patched (a single store,
 * which AMD's manual, volume 2, 7.6.1, allows); any other is refused.
 *
 * arm64. The window is one instruction, one aligned word, one store; then the instruction cache is
 * cleared. The architecture promises only for some pairs of instructions that a core executes the
 * old one or the new one (B2.2.5 of the manual); so with other threads it is refused.
 */
#ifndef ARGUS_HOOKS_POKE_H
#define ARGUS_HOOKS_POKE_H

#include <stdbool.h>

#include "near_memory.h"
#include "running_hook.h"

/* How a window can be written now. */
enum poke_way { POKE_PLAIN, POKE_WORD, POKE_TRAPS, POKE_REFUSED };

/* Call this before the hooks of a plan are written or removed, under the lock of install.c: then
 * waiting for a thread that blocks SIGTRAP happens once per plan, not once per hook. */
void poke_begin(void);
/* `*ret_reason` is set with POKE_REFUSED. */
enum poke_way poke_choose(const struct hook_entry *entry, uint64_t victim, const char **ret_reason);
/* The bits of the displacement that POKE_TRAPS requires; none for the others. */
struct near_wish poke_wish(const struct hook_entry *entry, enum poke_way way);

/* Writes the jump to hook->code, or the original bytes. Restores the page protection. NULL, or why
 * it failed. */
const char *poke_jump(const struct argus_hook *hook, enum poke_way way);
const char *poke_original(const struct argus_hook *hook, enum poke_way way);

/* Where a thread at `pc` in the window of a running hook continues; 0: `pc` is in no window
 * (install.c). */
uint64_t hook_redirect(uint64_t pc);

#endif
