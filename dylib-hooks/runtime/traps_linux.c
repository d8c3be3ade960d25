/* The int3 of poke.h, and membarrier(). The handler stays as long as the process lives: a thread
 * that was preempted in a window can take a trap at any later time. Other traps are passed to the
 * previous handler. */
#include "sync_cores.h"

#include <linux/membarrier.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "poke.h"

static struct sigaction before;
static bool is_prepared;

static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(signal_number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal_number);
        /* The trap repeats, and ends the process as it should. */
    } else if (before.sa_handler == SIG_DFL) {
        signal(SIGTRAP, SIG_DFL);
        raise(SIGTRAP);
    }
}

static void on_trap(int signal_number, siginfo_t *info, void *context)
{
#if defined(__x86_64__)
    ucontext_t *user = context;
    greg_t *pc = &user->uc_mcontext.gregs[REG_RIP];
    uint64_t redirected = hook_redirect((uint64_t)*pc - 1);
    if (redirected) {
        *pc = (greg_t)redirected;
        return;
    }
#endif
    pass_on(signal_number, info, context);
}

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

bool sync_cores_prepare(void)
{
    /* SA_NODEFER: a thread that is preempted in the handler would count as one that blocks the
     * signal. */
    struct sigaction action = {.sa_sigaction = on_trap,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (is_prepared)
        return true;
    sigemptyset(&action.sa_mask);
    is_prepared = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) == 0 &&
                  sigaction(SIGTRAP, &action, &before) == 0;
    return is_prepared;
}

void sync_cores(void)
{
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}
