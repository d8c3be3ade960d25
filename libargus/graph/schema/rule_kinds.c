/* To add a kind: a row here, a constant in argus/schema.h, a section in docs/man/argus-rules.5.md,
 * and the place where the kind is bound. For a probe this is its shape in
 * plugin/probes/rule_probes.c and graph/schema/rule_binding.c; for a wake-up, wakeup_effects[] in
 * graph/schema/rule_wakeups.c. */
#include "graph/schema/rule_kinds.h"

#define PLACE (RULE_PART_IN | RULE_PART_SPACE | RULE_PART_LABEL)
#define STACK (RULE_PART_FROM | RULE_PART_IN)

const struct rule_kind_row rule_kinds[ARGUS_RULE_KINDS] = {
    [ARGUS_RULE_ENQUEUE] =
        {
            .word = "enqueue",
            .stage = "edge",
            .meaning = "FUNCTION leaves work for later, which the key names",
            .description =
                "The thread that called %s caused what it enqueued; a wake-up from within the "
                "call means the same",
            .parts = PLACE | RULE_PART_KEY | RULE_PART_RAN | RULE_PART_WEAK | RULE_PART_FIFO |
                     RULE_PART_REPEATS,
            .needs = RULE_PART_KEY,
            .probed = true,
        },
    [ARGUS_RULE_CANCEL] =
        {
            .word = "cancel",
            .stage = "cull",
            .meaning = "FUNCTION takes back what was enqueued under the key",
            .description = "Work that %s takes back does not run",
            .parts = PLACE | RULE_PART_KEY,
            .needs = RULE_PART_KEY,
            .probed = true,
        },
    [ARGUS_RULE_EXECUTE] =
        {
            .word = "execute",
            .stage = "boundary",
            .meaning = "FUNCTION does the work that was enqueued under the key",
            .description = "A call of %s begins a vertex, which lasts until it returns",
            .parts = PLACE | RULE_PART_KEY | RULE_PART_RAN,
            .needs = RULE_PART_KEY,
            .probed = true,
        },
    [ARGUS_RULE_BEGIN] =
        {
            .word = "begin",
            .stage = "boundary",
            .meaning = "FUNCTION begins a unit of work",
            .description =
                "A call of %s begins a vertex, which lasts until it returns, or until an "
                "end rule of its space applies",
            .parts = PLACE | RULE_PART_RAN,
            .probed = true,
        },
    [ARGUS_RULE_END] =
        {
            .word = "end",
            .stage = "boundary",
            .meaning = "FUNCTION ends the unit of work that is open",
            .description = "A call of %s ends the unit of work that is open",
            .parts = PLACE,
            .probed = true,
        },
    [ARGUS_RULE_IGNORE_WAKEUPS] =
        {
            .word = "ignore-wakeups",
            .stage = "cull",
            .meaning = "wake-ups out of FUNCTION are not causality",
            .description = "A wake-up from within %s is dropped",
            .parts = STACK,
            .needs = RULE_PART_FROM,
        },
    [ARGUS_RULE_WEAK_WAKEUPS] =
        {
            .word = "weak-wakeups",
            .stage = "edge",
            .meaning = "wake-ups out of FUNCTION may or may not be causality",
            .description = "A wake-up from within %s is weak",
            .parts = STACK,
            .needs = RULE_PART_FROM,
        },
    [ARGUS_RULE_STRONG_WAKEUPS] =
        {
            .word = "strong-wakeups",
            .stage = "edge",
            .meaning = "wake-ups out of FUNCTION are causality",
            .description = "A wake-up from within %s is strong",
            .parts = STACK,
            .needs = RULE_PART_FROM,
        },
};

const char *argus_rule_kind_word(enum argus_rule_kind kind)
{
    return (unsigned)kind < ARGUS_RULE_KINDS ? rule_kinds[kind].word : "unknown";
}

const char *argus_rule_kind_meaning(enum argus_rule_kind kind)
{
    return (unsigned)kind < ARGUS_RULE_KINDS ? rule_kinds[kind].meaning : "unknown";
}

const char *argus_rule_kind_stage(enum argus_rule_kind kind)
{
    return (unsigned)kind < ARGUS_RULE_KINDS ? rule_kinds[kind].stage : "unknown";
}

bool argus_rule_kind_probed(enum argus_rule_kind kind)
{
    return (unsigned)kind < ARGUS_RULE_KINDS && rule_kinds[kind].probed;
}
