#include "steps/loops/code_times.h"

#include <string.h>

#include "steps/loops/code_calls.h"
#include "steps/loops/code_paths.h"

/* Functions that store the time where an argument points to. To add one: a row, and one in
 * code_is_clock(). */
static const struct {
    const char *name;
    unsigned argument; /* 0: the first one */
} fillers[] = {
    {"clock_gettime", 1},
    {"__clock_gettime", 1},
    {"gettimeofday", 0},
    {"time", 0},
};

/* The register with the pointer; REGISTER_NONE: it is no such call. */
static uint8_t filled_through(const struct code_function *function, uint32_t node)
{
    static const uint8_t x86[] = {REGISTER_RDI, REGISTER_RSI};
    struct code_target target;
    if (!code_is_call(&function->nodes.data[node]) || !code_call_target(function, node, &target) ||
        !target.name)
        return REGISTER_NONE;
    for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++)
        if (strcmp(target.name, fillers[i].name) == 0)
            return function->is_arm64 ? (uint8_t)fillers[i].argument : x86[fillers[i].argument];
    return REGISTER_NONE;
}

bool code_slot_has_time(struct code_budget *budget, const struct code_scope *scope,
                        struct code_slot slot)
{
    enum { BYTES = 16 }; /* struct timespec, struct timeval */
    for (uint32_t node = 0; node < scope->function->nodes.length; node++) {
        struct code_path filled;
        uint8_t reg = filled_through(scope->function, node);
        if (reg == REGISTER_NONE)
            continue;
        code_path_find_pointed(budget, scope, node, reg, &filled);
        if (filled.root == CODE_STACK && filled.links == 0 && filled.function == scope->function &&
            filled.slot.reg == slot.reg && slot.displacement >= filled.slot.displacement &&
            slot.displacement < filled.slot.displacement + BYTES)
            return true;
    }
    return false;
}
