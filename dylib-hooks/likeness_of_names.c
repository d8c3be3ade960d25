#include "likeness_of_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 64

/* Levenshtein's distance of the first 64 characters, without case. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[LONGEST + 1];
    size_t columns = strnlen(b, LONGEST), rows = strnlen(a, LONGEST);
    for (size_t k = 0; k <= columns; k++)
        row[k] = (unsigned)k;
    for (size_t i = 1; i <= rows; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= columns; k++) {
            unsigned same =
                corner + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[k - 1]));
            unsigned other = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;
            corner = row[k];
            row[k] = same < other ? same : other;
        }
    }
    return row[columns];
}

/* 0: not like it. Otherwise the more, the better. */
static unsigned score(const char *wanted, const char *name)
{
    size_t length = strlen(wanted), other = strlen(name);
    size_t difference = length > other ? length - other : other - length;
    if (length > 3 && strstr(name, wanted))
        return 1000u - (difference < 500 ? (unsigned)difference : 500u);
    if (difference > 3 || length < 3)
        return 0;
    unsigned edits = distance(wanted, name);
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
