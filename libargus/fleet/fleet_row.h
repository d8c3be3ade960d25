/* A hang as a row: what a fleet's database keeps of it.
 *
 * The row is a JSON object with the members of fleet_columns.def, and `shares`, an array of
 * {"reason", "ns"} that says how the whole time of the hang was spent: "running", "no cpu", the
 * kind of a wait, "unknown".
 *
 * The signature tells hangs of one kind from others across machines, builds and runs. It is the
 * hash of these parts, in which there is no address, no ID and no time:
 *   - the type of the hang, the program and its thread;
 *   - program and function of the root cause, and what it did (the culprit's type);
 *   - the programs on the path from the one to the other;
 *   - the kinds of the waits on this path.
 * argus_hang_signature() is coarser: it compares the places in which one program froze. */
#ifndef ARGUS_FLEET_ROW_H
#define ARGUS_FLEET_ROW_H

#include <jansson.h>

#include "argus/report.h"

/* What the file tells, and its diagnosis does not. */
struct fleet_source {
    const char *path;
    uint64_t content; /* hash of its bytes; for traces that do not name the boot */
    uint64_t number;  /* of the hang in the list of its file, from 1 on */
    bool damaged;
};

/* Makes the row of one diagnosed hang. `machine` and packages are as the trace has them. NULL
 * without memory; the caller owns it. */
json_t *fleet_row(const struct argus_report_context *context,
                  const struct argus_diagnosis *diagnosis, const struct fleet_source *source);

#endif
