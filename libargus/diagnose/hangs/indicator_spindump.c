/* Programs that a system starts when another program does not answer. Only their command line says
 * which one, and no record has it. So their launch confirms every hang at that time; if there is
 * none, it points at the longest stretch of an event loop around it. */
#include <string.h>

#include "diagnose/hangs/finder.h"

/* To add one: the name of its process, as the kernel has it (Linux: 15 bytes). */
static const char *const launched[] = {
    "spindump",  /* macOS, paper section 5 */
    "tailspind", /* macOS, which keeps the trace that spindump reads */
    /* KDE: kwin_killer_helper asks whether to end a program that did not answer _NET_WM_PING */
    "kwin_killer_hel",
};

static bool is_launched(const struct argus_process *process)
{
    for (size_t i = 0; i < sizeof(launched) / sizeof(*launched); i++)
        if (strcmp(process->name, launched[i]) == 0)
            return process->exec_ns || process->start_ns;
    return false;
}

bool indicator_spindump(struct finder *finder)
{
    bool done = true;
    for (size_t i = 0; done && i < finder->view->process_count; i++) {
        const struct argus_process *process = &finder->view->processes[i];
        struct sign sign = {.time_ns = process->exec_ns ? process->exec_ns : process->start_ns,
                            .process = ARGUS_NONE,
                            .indicator = ARGUS_INDICATOR_SPINDUMP};
        if (is_launched(process))
            done = finder_add_sign(finder, &sign);
    }
    return done;
}
