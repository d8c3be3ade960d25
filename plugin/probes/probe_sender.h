/* Turns the probe table into requests: finds the libraries and their functions, and reports what is
 * missing. */
#ifndef ARGUS_PLUGIN_PROBE_SENDER_H
#define ARGUS_PLUGIN_PROBE_SENDER_H

#include "plugin/probes/probe_table.h"

/* Sends every probe of `table` that exists on this machine to the recorder, before its recording
 * begins, and a sentence about each missing library or symbol. `*ret_probes`: number of probes
 * found, in `*ret_files` files. */
struct argus_error *probes_send(struct probe_table *table, struct recorder_client *client,
                                size_t *ret_probes, size_t *ret_files);

#endif
