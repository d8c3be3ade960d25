#include "likeness_of_names.h"

#include <stdio.h>
#include <string.h>

#include "base/edit_distance.h"

/* Similarity score; 0: not similar. */
static unsigned score(const char *wanted, const char *name)
{
    size_t length = strlen(wanted), other = strlen(name);
    size_t difference = length > other ? length - other : other - length;
    if (length > 3 && strstr(name, wanted))
        return 1000u - (difference < 500 ? (unsigned)difference : 500u);
    if (difference > 3 || length < 3)
        return 0;
    unsigned edits = edit_distance(wanted, name);
    return edits <= 1 + length / 5 ? 400 - edits : 0;
}

void like_names_look(struct like_names *like, const char *name)
{
    unsigned points = score(like->wanted, name);
    for (unsigned i = 0; i < LIKE_NAMES_MOST && points; i++) {
        if (like->names[i] && strcmp(like->names[i], name) == 0)
            return;
        if (points <= like->scores[i])
            continue;
        for (unsigned k = LIKE_NAMES_MOST - 1; k > i; k--) {
            like->names[k] = like->names[k - 1];
            like->scores[k] = like->scores[k - 1];
        }
        like->names[i] = name;
        like->scores[i] = points;
        return;
    }
}

void like_names_say(const struct like_names *like, size_t room, char *ret)
{
    size_t used = 0;
    *ret = '\0';
    for (unsigned i = 0; i < LIKE_NAMES_MOST && like->names[i] && used < room; i++)
        used += (size_t)snprintf(ret + used, room - used, "%s%s",
                                 i ? ", " : "; similar: ", like->names[i]);
}
