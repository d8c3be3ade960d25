/* The names of what the analysis returns as enums. */
#include "argus/report.h"

const char *argus_stretch_state_name(enum argus_stretch_state state)
{
    static const char *const names[] = {
        [ARGUS_STRETCH_RUNNING] = "running",
        [ARGUS_STRETCH_RUNNABLE] = "waiting for a cpu",
        [ARGUS_STRETCH_WAITING] = "waiting",
        [ARGUS_STRETCH_UNKNOWN] = "unknown",
    };
    return (size_t)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

const char *argus_nature_name(enum argus_hang_nature nature)
{
    static const char *const names[] = {
        [ARGUS_NATURE_PLAIN] = NULL,
        [ARGUS_NATURE_STOPPED] = "stopped",
        [ARGUS_NATURE_NO_CPU] = "waits for a cpu",
        [ARGUS_NATURE_PAGE_IN] = "page-in storm",
        [ARGUS_NATURE_DISK] = "waits for a disk",
        [ARGUS_NATURE_IDLE] = "idle",
    };
    return (size_t)nature < sizeof(names) / sizeof(names[0]) ? names[nature] : NULL;
}
