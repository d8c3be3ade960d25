/* Sidecar files: files that belong to a trace (a built graph, answers). They are next to the trace,
 * or, if its folder is not writable, in the user's cache. */
#ifndef ARGUS_PLUGIN_SIDECAR_H
#define ARGUS_PLUGIN_SIDECAR_H

enum sidecar_place { SIDECAR_NEXT_TO_TRACE, SIDECAR_IN_CACHE, SIDECAR_PLACES };

struct sidecar {
    char *path[SIDECAR_PLACES]; /* owned; NULL: there is no such place */
    char *directory;            /* of SIDECAR_IN_CACHE; owned */
};

/* `suffix` is appended to the trace's name, e.g. ".graph". */
void sidecar_init(struct sidecar *sidecar, const char *trace_path, const char *suffix);
void sidecar_deinit(struct sidecar *sidecar);

#endif
