/* "Did you mean …?": finds the name that is closest to a mistyped word. */
#ifndef ARGUS_PLUGIN_NEAREST_H
#define ARGUS_PLUGIN_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *given;
    const char *best; /* the closest so far, borrowed; NULL: none is close */
    size_t distance;  /* edits from `given` to `best` */
};

void nearest_init(struct nearest *nearest, const char *given);
/* Offers one more name. A name is close if at most a third of its letters differ, or if `given` is
 * its beginning. */
void nearest_offer(struct nearest *nearest, const char *name);

#endif
