/* From the table of probes to requests: which libraries there are, where their functions are, and what is missing. */
#ifndef ARGUS_PLUGIN_PROBE_SENDER_H
#define ARGUS_PLUGIN_PROBE_SENDER_H

#include "plugin/probes/probe_table.h"

/* Sends every probe of `table` that this machine has to the recorder, before its recording begins, and a sentence about each
 * library or symbol that it lacks. `*ret_probes`: how many are there, in `*ret_files` files. */
struct argus_error *probes_send(struct probe_table *table, struct recorder_client *client,
                                size_t *ret_probes, size_t *ret_files);

#endif
