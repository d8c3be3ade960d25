/* Writes a part of the graph for other programs. A writer gets a list of vertices and writes them
 * with all edges between them. An edge that leaves this part is not written, only counted.
 *
 * The formats are rows of a table (libargus/export/export_formats.c), which says for each one what
 * it is for. To add a format: a row there, and its writer in libargus/export.
 */
#ifndef ARGUS_EXPORT_H
#define ARGUS_EXPORT_H

#include "argus/contexts.h"
#include "argus/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A hang and what the diagnosis found, with all questions answered by their defaults. */
struct argus_export_hang {
    const struct argus_hang *hang;
    const struct argus_diagnosis *diagnosis; /* NULL: it was not diagnosed */
};

/* What is to be written. All of it is borrowed. */
struct argus_export {
    const uint32_t *vertices; /* ascending, without duplicates */
    size_t count;
    const struct argus_export_hang *hangs; /* the most urgent first */
    size_t hang_count;
    const struct argus_contexts *contexts; /* NULL: the trace has no stacks, or not asked for */
    const char *folder; /* for a writer's own files while it writes; NULL: TMPDIR or /tmp */
};

struct argus_export_format {
    const char *name;     /* as in --format=NAME */
    const char *suffixes; /* of files that get this format without --format, separated by blanks */
    const char *viewer;   /* what opens it */
    const char *lacks;    /* the library that this build lacks; NULL: none, it can be written */
    struct argus_error *(*write)(const struct argus_report_context *context,
                                 const struct argus_export *part, uint64_t *ret_edges_cut);
    uint64_t limit;                   /* the usual most vertices: what its viewers can handle */
    bool is_binary;                   /* not text: the sink gets any bytes */
    bool wants_hangs, wants_contexts; /* it shows these members of struct argus_export */
};

/* All formats; the first one is the usual one. */
size_t argus_export_formats(const struct argus_export_format **ret);
/* The format with this name; NULL: there is none. */
const struct argus_export_format *argus_export_format_named(const char *name);
/* The format for a file with this path, by its suffix; NULL: the suffix is no format's. */
const struct argus_export_format *argus_export_format_of(const char *path);

/* The contexts as pprof has profiles (gzip-packed, so the sink gets any bytes): the paths with
 * their costs in ns, and with a base the times of both traces. */
struct argus_error *argus_export_contexts_pprof(const struct argus_sink *sink,
                                                const struct argus_contexts_report *report);

/* Sorts the IDs and removes duplicates. */
void argus_export_order(uint32_t *vertices, size_t count);

#ifdef __cplusplus
}
#endif
#endif
