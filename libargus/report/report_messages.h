/* What the two writers of messages share. */
#ifndef ARGUS_REPORT_REPORT_MESSAGES_H
#define ARGUS_REPORT_REPORT_MESSAGES_H

#include "argus/report.h"

/* The messages of a trace while they are written. Thread and channel indices are the same in every
 * reading of a trace, so the names from the first reading serve for the pairs, which come from a
 * second one. */
struct message_report {
    const struct argus_sink *sink;
    const struct argus_trace *trace;
    const struct argus_report_messages_options *options;
    const struct argus_messages *messages;
    const struct argus_message_channel *channels;
    const struct argus_thread *threads;
    const struct argus_process *processes;
    size_t channel_count;
    uint64_t written; /* pairs, or channels, so far */
};

/* Whether the user wants a channel. */
bool message_report_wants(const struct message_report *report, uint32_t channel);

/* Calls `write` for each pair that the user wants. */
struct argus_error *message_report_pairs(struct message_report *report,
                                         void (*write)(struct message_report *report,
                                                       const struct argus_message_pair *pair));

struct argus_error *message_report_json(struct message_report *report);

#endif
