/* Data flags by which a system notes that a program's main thread does not answer: who sets one of these says when. Their
 * writes are on record where somebody watched the flag, or a hook tells of it. A flag is known by its address, so its name must
 * be among the symbols of a file that the trace says was mapped there. */
#include <string.h>

#include "diagnose/finder.h"

/* To add a flag: the name of the variable. */
static const char *const flags[] = {
    "is_mainthread_spinning", /* macOS, AppKit; paper, sections 2 and 5 */
};

static bool is_flag(const char *name)
{
    for (size_t i = 0; name && i < sizeof(flags) / sizeof(*flags); i++)
        if (strcmp(name, flags[i]) == 0)
            return true;
    return false;
}

bool indicator_flag(struct finder *finder)
{
    const struct argus_flag_set *sets;
    size_t count = argus_graph_flag_sets(finder->view->graph, &sets);
    bool done = true;
    for (size_t i = 0; done && finder->options->symbols && i < count; i++) {
        struct sign sign = {.time_ns = sets[i].time_ns,
                            .process = finder->view->threads[sets[i].thread].process,
                            .indicator = ARGUS_INDICATOR_SPINNING_FLAG};
        if (is_flag(argus_symbols_variable(finder->options->symbols, sign.process, sets[i].time_ns,
                                           sets[i].address)))
            done = finder_sign(finder, &sign);
    }
    return done;
}
