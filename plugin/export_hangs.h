/* The hangs of a trace and their diagnoses, with all questions answered by their defaults, for
 * formats that show them. */
#ifndef ARGUS_PLUGIN_EXPORT_HANGS_H
#define ARGUS_PLUGIN_EXPORT_HANGS_H

#include "argus/export.h"
#include "plugin/vertex_filter.h"

struct export_hangs {
    struct argus_hangs hangs;          /* owned */
    struct argus_diagnosis *diagnoses; /* owned: one for each of `items` */
    struct argus_export_hang *items;   /* owned: those in the time of the filter */
    size_t count;
};

/* Finds the hangs of the chosen process and time, the most urgent first, and diagnoses the
 * first 50. A hang that cannot be diagnosed is listed without a diagnosis. To be ended by
 * export_hangs_deinit(), also after an error. */
struct argus_error *export_hangs_find(struct analysis *analysis, const struct vertex_filter *filter,
                                      struct export_hangs *ret);
void export_hangs_deinit(struct export_hangs *hangs);

#endif
