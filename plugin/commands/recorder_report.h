/* What a running recorder reports about itself. `argus status` requests, prints and writes it as
 * JSON. */
#ifndef ARGUS_PLUGIN_COMMANDS_RECORDER_REPORT_H
#define ARGUS_PLUGIN_COMMANDS_RECORDER_REPORT_H

#include <jansson.h>

#include "plugin/command.h"
#include "recorder/client/client.h"

struct recorder_report {
    struct recorder_status status;
    struct recorder_cpu *cpus; /* owned */
    size_t cpu_count;
    char *notes; /* owned; one per line */
};

/* Asks the running recorder. That no recorder is running is a result (RECORDER_IDLE), not an
 * error. */
struct argus_error *recorder_report_get(struct recorder_report *ret);
void recorder_report_deinit(struct recorder_report *report);

/* JSON as in docs/schema/status.json; NULL without memory. */
json_t *recorder_report_json(const struct recorder_report *report);
/* `verbose`: includes what only developers of the recorder need. */
void recorder_report_print(struct session *session, const struct recorder_report *report,
                           bool verbose);

#endif
