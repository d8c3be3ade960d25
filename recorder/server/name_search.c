#include "server/name_search.h"

#include <stdio.h>
#include <string.h>

#include "base/edit_distance.h"

/* The edit distance between a name and the wanted name; above `limit` they are not similar. */
static unsigned distance_of(const char *wanted, const char *name, unsigned *ret_limit)
{
    size_t shorter = strlen(wanted), longer = strlen(name);
    *ret_limit = (unsigned)(longer + 2) / 3;
    if (shorter >= 3 && shorter < longer && strstr(name, wanted))
        return 1; /* "code" of "code-oss" */
    return edit_distance(wanted, name);
}

void name_search_offer(struct name_search *search, const char *name)
{
    unsigned limit, distance = distance_of(search->wanted, name, &limit);
    if (strcmp(search->wanted, name) == 0)
        search->found = true;
    for (size_t i = 0; i < search->like_count; i++)
        if (strcmp(search->like[i], name) == 0)
            return;
    size_t at = 0;
    while (at < search->like_count && search->distances[at] <= distance)
        at++;
    if (distance > limit || at == NAME_SEARCH_LIKE || !*name)
        return;
    search->like_count += search->like_count < NAME_SEARCH_LIKE;
    for (size_t i = search->like_count - 1; i > at; i--) {
        search->distances[i] = search->distances[i - 1];
        memcpy(search->like[i], search->like[i - 1], sizeof(search->like[i]));
    }
    search->distances[at] = distance;
    snprintf(search->like[at], sizeof(search->like[at]), "%s", name);
}

void name_search_write(const struct name_search *search, char *ret, size_t room)
{
    size_t at = (size_t)snprintf(ret, room,
                                 "--unwind %s: no process or thread of this name was seen, so no "
                                 "stacks of it were copied",
                                 search->wanted);
    for (size_t i = 0; i < search->like_count && at < room; i++)
        at += (size_t)snprintf(ret + at, room - at, "%s%s",
                               i ? ", " : "; names like it: ", search->like[i]);
}
