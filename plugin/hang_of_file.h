/* Finds the hang that a trace was kept for (argus/kept_hang.h) in its graph. */
#ifndef ARGUS_PLUGIN_HANG_OF_FILE_H
#define ARGUS_PLUGIN_HANG_OF_FILE_H

#include "argus/hangs.h"
#include "argus/kept_hang.h"
#include "argus/symbols.h"
#include "plugin/session.h"

/* `*ret_found` false: the trace was not kept for a hang, or its records do not show that hang. */
struct argus_error *hang_of_file_find(const struct argus_graph *graph,
                                      struct argus_symbols *symbols, struct argus_hang *ret,
                                      bool *ret_found);

/* Tells a user who gets another hang instead that the records do not show the one that the trace
 * was kept for. Says nothing of other traces. */
void hang_of_file_warn(struct session *session, const struct argus_trace *trace);

/* What the records say about the hang that the recorder saw. The recorder only knows the returns
 * from poll calls. */
enum hang_standing {
    HANG_LISTED,  /* `argus hangs` lists it without a selection: somebody waited for this thread */
    HANG_UNCLEAR, /* it does not, but the thread was away, or the trace does not tell */
    /* for more than half of the recorded part, the thread was in the wait of its loop; or it took
     * events of its window all the time; or it was about to end, and ended by itself */
    HANG_REFUTED,
    HANG_UNRECORDED, /* the records begin after it was over */
};

/* HANG_UNCLEAR if the trace was not kept for a hang. */
struct argus_error *hang_of_file_standing(const struct argus_graph *graph,
                                          struct argus_symbols *symbols, enum hang_standing *ret);

#endif
