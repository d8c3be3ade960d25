/* The process that a user means. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_data.h"

static bool is_number(const char *word)
{
    return word[0] && word[strspn(word, "0123456789")] == '\0';
}

static struct argus_error *find_named(struct argus_live *live, const char *name, uint32_t *ret)
{
    uint32_t found = ARGUS_LIVE_NONE, second = ARGUS_LIVE_NONE;
    for (uint32_t i = 0; i < live->processes.length; i++) {
        if (!live_has_name(live, i, name))
            continue;
        if (found == ARGUS_LIVE_NONE || live_descends_from(live, found, i))
            found = i;
        else if (!live_descends_from(live, i, found))
            second = i;
    }
    if (found == ARGUS_LIVE_NONE)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process '%s'", name);
    if (second != ARGUS_LIVE_NONE)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "several processes have the name '%s', e.g. %u and %u: give the "
                                  "ID of one",
                                  name, live->processes.data[found].pid,
                                  live->processes.data[second].pid);
    if (!live_load(live, found))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "process '%s' has ended", name);
    *ret = live->processes.data[found].first_thread;
    return NULL;
}

struct argus_error *argus_live_find(struct argus_live *live, const char *word, uint32_t *ret)
{
    if (!is_number(word))
        return find_named(live, word, ret);
    *ret = live_thread_of_tid(live, (uint32_t)strtoul(word, NULL, 10));
    if (*ret == ARGUS_LIVE_NONE)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process or thread %s", word);
    return NULL;
}
