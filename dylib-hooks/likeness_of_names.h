/* "Did you mean": the existing names most similar to a missing one. */
#ifndef ARGUS_HOOKS_LIKENESS_OF_NAMES_H
#define ARGUS_HOOKS_LIKENESS_OF_NAMES_H

#include <stddef.h>

enum { LIKE_NAMES_MOST = 3 };

struct like_names {
    const char *wanted;
    const char *names[LIKE_NAMES_MOST]; /* borrowed; best first */
    unsigned scores[LIKE_NAMES_MOST];
};

void like_names_look(struct like_names *like, const char *name);
/* ": did you mean a, b, c?", or nothing. */
void like_names_say(const struct like_names *like, size_t room, char *ret);

#endif
