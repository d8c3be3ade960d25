#include "server/probe_guard.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linux/function_starts.h"
#include "platform.h"
#include "server/clocks.h"

#define PATIENCE_NS 5000000000ull
#define TURN_MS     2
#define NOBODY      65534

/* Shared with the process that reads, by index of the probe. */
typedef _Atomic bool verdict;

static bool needs_check(const struct probe *probe)
{
    return !(probe->spec.flags & PROBE_HOOK);
}

static _Noreturn void read_files(const struct probe_list *list, verdict *good)
{
    platform_drop_rights(NOBODY);
    for (size_t i = 0; i < list->probes.length; i++) {
        const struct probe *probe = &list->probes.data[i];
        if (needs_check(probe) &&
            function_starts_allow(list->files.data[probe->file].fd, probe->offset,
                                  probe->spec.flags & PROBE_RETURN))
            atomic_store(&good[i], true);
    }
    _exit(0);
}

/* A process that a file system holds ends when that lets go of it, and is then init's. Others are
 * served meanwhile. */
static void wait_for(pid_t child, const struct outlet_waiter *waiter)
{
    uint64_t until_ns = clock_ns(TRACE_CLOCK) + PATIENCE_NS;
    bool goes_on = true;
    while (goes_on && clock_ns(TRACE_CLOCK) < until_ns) {
        if (waitpid(child, NULL, WNOHANG) != 0)
            return;
        goes_on = waiter->wait(waiter->context, TURN_MS);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, WNOHANG);
}

static struct argus_error *leave_out(struct probe_list *list, size_t i)
{
    char text[800];
    const struct argus_probe_entry *entry = &list->probes.data[i].entry;
    snprintf(text, sizeof(text),
             "probes: %s in %s is left out: byte %llu of the file is not known to begin a "
             "function, and inside an instruction a probe would change the program; root can "
             "place it (sudo argus)",
             entry->symbol, entry->library, (unsigned long long)list->probes.data[i].offset);
    probe_list_remove(list, i);
    return probe_list_add_absent(list, text);
}

static void take_verdicts(struct probe_list *list, const verdict *good)
{
    for (size_t i = list->probes.length; i > 0; i--) {
        if (!needs_check(&list->probes.data[i - 1]) || atomic_load(&good[i - 1]))
            continue;
        struct argus_error *error = leave_out(list, i - 1);
        argus_error_destroy(error); /* too many remarks: those before it say enough */
    }
}

static void say_whose(struct probe_list *list)
{
    char text[200];
    snprintf(text, sizeof(text),
             "probes and frames of interpreters: only of processes that user %u may inspect; those "
             "of other users need sudo argus",
             (unsigned)list->client);
    argus_error_destroy(probe_list_add_absent(list, text));
}

struct argus_error *probe_guard_check(struct probe_list *list, const struct outlet_waiter *waiter)
{
    size_t bytes = list->probes.length * sizeof(verdict);
    if (list->client == 0)
        return NULL;
    say_whose(list);
    if (bytes == 0)
        return NULL;
    verdict *good = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (good == MAP_FAILED)
        return argus_error_memory();
    pid_t child = fork();
    if (child == 0)
        read_files(list, good);
    if (child > 0)
        wait_for(child, waiter);
    take_verdicts(list, good); /* without a process: none is good */
    munmap(good, bytes);
    return NULL;
}
