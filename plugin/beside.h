/* Where files are kept that belong to a trace (a built graph, answers): beside it, or, where its folder cannot be
 * written, in the user's cache. */
#ifndef ARGUS_PLUGIN_BESIDE_H
#define ARGUS_PLUGIN_BESIDE_H

enum beside_place { BESIDE_TRACE, BESIDE_IN_CACHE, BESIDE_PLACES };

struct beside {
    char *path[BESIDE_PLACES]; /* owned; NULL: there is no such place */
    char *directory;           /* of BESIDE_IN_CACHE; owned */
};

/* `suffix` follows the trace's name: ".graph". */
void beside_init(struct beside *beside, const char *trace_path, const char *suffix);
void beside_deinit(struct beside *beside);

#endif
