#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/names/demangle.h"
#include "event/names/short_names.h"
#include "live/live_data.h"

/* Without the version of a symbol ("@@GLIBC_2.34"). */
uint32_t live_function_text(struct argus_live *live, const char *symbol)
{
    char text[512];
    char *readable = demangle(symbol);
    if (readable)
        short_name(readable);
    snprintf(text, sizeof(text), "%s", readable ? readable : symbol);
    free(readable);
    text[strcspn(text, "@")] = '\0';
    return live_text(live, text);
}

bool live_stack_has(struct argus_live *live, uint32_t thread, size_t most,
                    live_function_test *is_wanted, const void *context)
{
    uint64_t addresses[LIVE_STACK_FRAMES];
    bool is_cut;
    size_t count = live_stack(live, thread, addresses, &is_cut);
    for (size_t i = 0; i < count && i < most; i++) {
        struct argus_live_frame frame;
        live_stack_name(live, live_pid_of(live, thread), addresses[i], i > 0, &frame);
        if (is_wanted(strtab_get(live->texts, frame.function), context))
            return true;
    }
    return false;
}
