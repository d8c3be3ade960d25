/* Vouchers: the process for which a message is sent or a thread works. osfmk/ipc/ipc_voucher.c,
 * osfmk/bank/bank.c.
 *
 * A voucher goes with a message, and a thread that works on the message *adopts* it
 * (MACH_thread_set_voucher; libdispatch does so around each item). The process that a voucher is
 * *for*, its origin, is the paper's beneficiary (section 4.2). It is found by, most reliable first:
 *
 *   - the contents of the voucher, which a kernel with ipc_voucher_trace_contents records after
 *     its creation. The bank's part of it is text: "… originator PID/persona: 412, …", or " Bank
 *     Context for a pid 412";
 *   - the creator's own voucher at that time: servers derive new vouchers from those that they
 *     received;
 *   - the process that created it or, if it is older than the trace, sent it first.
 *
 * This stage emits records of the hook ARGUS_PROBE_VOUCHER: arg1 is the voucher, arg2 the origin's
 * process (0: unknown), arg4 the operation (enum argus_voucher_use).
 */
#include "event/darwin/darwin.h"

#include <stdlib.h>
#include <string.h>

static uint32_t origin_of(const struct darwin *darwin, uint64_t voucher)
{
    return voucher ? idmap_get(&darwin->origin_by_voucher, voucher) : IDMAP_NONE;
}

/* The process for which a thread works: the origin of its voucher, else its own process;
 * IDMAP_NONE: unknown. */
static uint32_t works_for(const struct darwin *darwin, const struct darwin_thread *thread)
{
    uint32_t origin = origin_of(darwin, thread->voucher);
    if (origin != IDMAP_NONE || !thread->has_pid || thread->pid >= IDMAP_NONE)
        return origin;
    return (uint32_t)thread->pid;
}

static void say(struct darwin *darwin, const struct argus_record *record, uint64_t tid,
                uint64_t voucher, enum argus_voucher_use use)
{
    uint32_t origin = origin_of(darwin, voucher);
    const uint64_t arg[4] = {voucher, origin == IDMAP_NONE ? 0 : origin, ARGUS_PROBE_VOUCHER, use};
    darwin_emit_of(darwin, record, tid, ARGUS_ID_HOOK, arg);
}

uint64_t darwin_voucher_sent(struct darwin *darwin, const struct darwin_cpu *cpu,
                             const struct argus_record *record, uint64_t voucher)
{
    const struct darwin_thread *thread = voucher ? darwin_current(darwin, cpu) : NULL;
    if (!thread)
        return 0;
    if (origin_of(darwin, voucher) == IDMAP_NONE)
        darwin_put(darwin, &darwin->origin_by_voucher, voucher, works_for(darwin, thread));
    say(darwin, record, thread->tid, voucher, ARGUS_VOUCHER_SENT);
    uint32_t origin = origin_of(darwin, voucher);
    return origin == IDMAP_NONE ? 0 : origin;
}

uint64_t darwin_voucher_received(struct darwin *darwin, const struct darwin_cpu *cpu,
                                 const struct argus_record *record, uint64_t voucher)
{
    uint32_t origin = origin_of(darwin, voucher);
    if (!voucher || !cpu->tid)
        return 0;
    say(darwin, record, cpu->tid, voucher, ARGUS_VOUCHER_RECEIVED);
    return origin == IDMAP_NONE ? 0 : origin;
}

void darwin_on_voucher_set(struct darwin *darwin, struct darwin_cpu *cpu,
                           const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_thread(darwin, record->arg[0]);
    (void)cpu;
    if (!thread || thread->voucher == record->arg[2])
        return;
    thread->voucher = record->arg[2];
    say(darwin, record, thread->tid, thread->voucher, ARGUS_VOUCHER_ADOPTED);
}

/* --- the contents of vouchers --- */

/* The contents that `tid` is writing; an unused element if `make`. NULL: none, or no memory. */
static struct darwin_recipe *recipe_of(struct darwin *darwin, uint64_t tid, bool make)
{
    struct darwin_recipe *unused = NULL;
    for (size_t i = 0; i < darwin->recipes.length; i++) {
        struct darwin_recipe *recipe = &darwin->recipes.data[i];
        if (recipe->left && recipe->tid == tid)
            return recipe;
        unused = recipe->left ? unused : recipe;
    }
    if (unused || !make)
        return make ? unused : NULL;
    if (!vec_push(&darwin->recipes, (struct darwin_recipe){0})) {
        darwin->no_memory = true;
        return NULL;
    }
    return &darwin->recipes.data[darwin->recipes.length - 1];
}

void darwin_on_voucher_create(struct darwin *darwin, struct darwin_cpu *cpu,
                              const struct argus_record *record)
{
    const struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (!thread || !record->arg[0])
        return;
    darwin_put(darwin, &darwin->origin_by_voucher, record->arg[0], works_for(darwin, thread));
    uint64_t bytes = record->arg[2];
    if (!bytes || bytes > DARWIN_RECIPE_BYTES || darwin->recipes.length >= DARWIN_RECIPES)
        return;
    struct darwin_recipe *recipe = recipe_of(darwin, cpu->tid, true);
    if (recipe)
        *recipe = (struct darwin_recipe){
            .tid = cpu->tid, .voucher = record->arg[0], .left = (uint32_t)bytes};
}

/* The number that follows `words` in the bank's text; 0: they do not occur. */
static unsigned long number_behind(const struct darwin_recipe *recipe, const char *words)
{
    size_t length = strlen(words);
    for (size_t i = 0; i + length < recipe->length; i++)
        if (memcmp(recipe->text + i, words, length) == 0)
            return strtoul(recipe->text + i + length, NULL, 10);
    return 0;
}

void darwin_on_voucher_contents(struct darwin *darwin, struct darwin_cpu *cpu,
                                const struct argus_record *record)
{
    struct darwin_recipe *recipe = recipe_of(darwin, cpu->tid, false);
    if (!recipe)
        return;
    memcpy(recipe->text + recipe->length, record->arg, sizeof(record->arg));
    recipe->length += sizeof(record->arg);
    recipe->left -= recipe->left < sizeof(record->arg) ? recipe->left : sizeof(record->arg);
    if (recipe->left)
        return;
    recipe->text[recipe->length] = 0;
    unsigned long pid = number_behind(recipe, "originator PID/persona: ");
    if (!pid)
        pid = number_behind(recipe, "Bank Context for a pid ");
    if (pid && pid < INT32_MAX)
        darwin_put(darwin, &darwin->origin_by_voucher, recipe->voucher, (uint32_t)pid);
}

/* A patched kernel tells for whom a new voucher is; 0 or less: for nobody. */
void darwin_on_voucher_made(struct darwin *darwin, struct darwin_cpu *cpu,
                            const struct argus_record *record)
{
    const struct darwin_thread *thread = darwin_current(darwin, cpu);
    int32_t originator = (int32_t)record->arg[1];
    if (!thread || !record->arg[0])
        return;
    darwin_put(darwin, &darwin->origin_by_voucher, record->arg[0],
               originator > 0 ? (uint32_t)originator : (uint32_t)works_for(darwin, thread));
}

/* A later voucher may have the same ID. */
void darwin_on_voucher_destroy(struct darwin *darwin, struct darwin_cpu *cpu,
                               const struct argus_record *record)
{
    (void)cpu;
    if (record->arg[0])
        darwin_put(darwin, &darwin->origin_by_voucher, record->arg[0], IDMAP_NONE);
}
