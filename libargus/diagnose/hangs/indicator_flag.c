/* Data flags by which a system notes that a program's main thread does not answer: the write of
 * such a flag is a sign of a hang at that time. Writes are recorded if the flag was watched or a
 * hook reports it. A record has only the flag's address, so the name must be in the trace's table
 * of flags (at the beginning of the label) or among the symbols of a file that was mapped there. */
#include <string.h>

#include "diagnose/hangs/finder.h"

/* To add a flag: the name of the variable. */
static const char *const flags[] = {
    "is_mainthread_spinning",       /* macOS; paper, sections 4.1 and 6 … */
    "sCGEventIsMainThreadSpinning", /* … and figure 3 */
};

static bool is_flag(const char *name)
{
    size_t length = name ? strcspn(name, " ") : 0; /* a label's first word is the name */
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (strlen(flags[i]) == length && strncmp(name, flags[i], length) == 0)
            return true;
    return false;
}

static bool is_watched(const struct finder *finder, const struct sign *sign, uint64_t address)
{
    const struct argus_flag_entry *flag = argus_graph_flag(
        finder->view->graph, finder->view->processes[sign->process].pid, address, sign->time_ns);
    return flag && is_flag(flag->label);
}

bool indicator_flag(struct finder *finder)
{
    const struct argus_flag_set *sets;
    size_t count = argus_graph_flag_sets(finder->view->graph, &sets);
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        struct sign sign = {.time_ns = sets[i].time_ns,
                            .process = finder->view->threads[sets[i].thread].process,
                            .indicator = ARGUS_INDICATOR_SPINNING_FLAG};
        bool known = finder->options->symbols &&
                     is_flag(argus_symbols_variable(finder->options->symbols, sign.process,
                                                    sets[i].time_ns, sets[i].address));
        if (known || is_watched(finder, &sign, sets[i].address))
            done = finder_add_sign(finder, &sign);
    }
    return done;
}
