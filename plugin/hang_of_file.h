/* Finds the hang that a trace was kept for (argus/kept_hang.h) in its graph. */
#ifndef ARGUS_PLUGIN_HANG_OF_FILE_H
#define ARGUS_PLUGIN_HANG_OF_FILE_H

#include "argus/hangs.h"
#include "argus/kept_hang.h"
#include "argus/symbols.h"

/* `*ret_found` false: the trace was not kept for a hang, or its records do not show that hang. */
struct argus_error *hang_of_file_find(const struct argus_graph *graph,
                                      struct argus_symbols *symbols, struct argus_hang *ret,
                                      bool *ret_found);

/* Whether `argus hangs` would list that hang without a selection: somebody waited for this thread. */
struct argus_error *hang_of_file_is_listed(const struct argus_graph *graph,
                                           struct argus_symbols *symbols, bool *ret);

#endif
