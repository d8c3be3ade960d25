/* Messages as JSON (docs/schema/messages.json). There may be millions of pairs, so they are written
 * one by one. */
#include <stdio.h>
#include <stdlib.h>

#include "report/json.h"
#include "report/report_limits.h"
#include "report/report_messages.h"

/* Writes one element of an array, or of the enclosing object. */
static void write_item(const struct message_report *report, const char *before, json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    argus_sink_printf(report->sink, "%s%s", before, text ? text : "null");
    free(text);
    json_decref(json);
}

static json_t *threads_json(const struct message_report *report, const uint32_t *threads,
                            uint8_t count)
{
    json_t *list = json_array();
    for (uint8_t i = 0; i < count; i++) {
        const struct argus_thread *thread = &report->threads[threads[i]];
        const struct argus_process *process = &report->processes[thread->process];
        json_t *json = json_object();
        json_put(json, "tid", json_ns(thread->tid));
        json_put(json, "thread", json_text(thread->name));
        json_put(json, "pid", json_ns(process->pid));
        json_put(json, "process", json_text(process->name));
        json_add(list, json);
    }
    return list;
}

static json_t *reasons_json(const uint64_t *reasons)
{
    json_t *json = json_object();
    for (int i = 0; i < ARGUS_UNPAIRED_REASONS; i++)
        if (reasons[i])
            json_put(json, argus_unpaired_name((enum argus_unpaired)i), json_ns(reasons[i]));
    return json;
}

static void put_counts(json_t *json, const struct argus_message_counts *counts)
{
    json_put(json, "sends", json_ns(counts->sends));
    json_put(json, "sent_bytes", json_ns(counts->sent_bytes));
    json_put(json, "receives", json_ns(counts->receives));
    json_put(json, "received_bytes", json_ns(counts->received_bytes));
    json_put(json, "peeks", json_ns(counts->peeks));
    json_put(json, "exact", json_ns(counts->exact));
    json_put(json, "ambiguous", json_ns(counts->ambiguous));
    json_put(json, "unpaired_sends", reasons_json(counts->unpaired_sends));
    json_put(json, "unpaired_receives", reasons_json(counts->unpaired_receives));
}

static json_t *channel_json(const struct message_report *report, uint32_t channel)
{
    const struct argus_message_channel *at = &report->channels[channel];
    char id[24];
    snprintf(id, sizeof(id), "0x%llx", (unsigned long long)at->id);
    json_t *json = json_object();
    json_put(json, "index", json_integer(channel));
    json_put(json, "id", json_text(id));
    json_put(json, "kind", json_text(argus_channel_name(at->kind)));
    json_put(json, "senders", threads_json(report, at->senders, at->sender_count));
    json_put(json, "more_senders", json_boolean(at->more_senders));
    json_put(json, "receivers", threads_json(report, at->receivers, at->receiver_count));
    json_put(json, "more_receivers", json_boolean(at->more_receivers));
    put_counts(json, &at->counts);
    return json;
}

static json_t *end_json(const struct message_report *report, const struct argus_message_end *end)
{
    json_t *json = json_object();
    json_put(json, "tid", json_ns(report->threads[end->thread].tid));
    json_put(json, "time_ns", json_ns(end->time_ns));
    json_put(json, "call_ns", json_ns(end->call_ns));
    json_put(json, "offset", json_ns(end->call_bytes));
    json_put(json, "offset_is_guess", json_boolean(end->offset_is_guess));
    json_put(json, "bytes", json_ns(end->bytes));
    return json;
}

static void pair_json(struct message_report *report, const struct argus_message_pair *pair)
{
    json_t *json = json_object();
    json_put(json, "channel", json_integer(pair->channel));
    json_put(json, "send", end_json(report, &pair->send));
    json_put(json, "receive", end_json(report, &pair->receive));
    json_put(json, "bytes", json_ns(pair->bytes));
    json_put(json, "exact", json_boolean(pair->exact));
    json_put(json, "peek", json_boolean(pair->peek));
    write_item(report, report->written ? ",\n" : "\n", json);
}

struct argus_error *message_report_json(struct message_report *report)
{
    json_t *totals = json_object();
    put_counts(totals, argus_messages_counts(report->messages));
    write_item(report, "{\"format\":\"argus-messages 1\",\n\"totals\":", totals);
    argus_sink_printf(report->sink, ",\n\"channels\":[");
    for (size_t i = 0; i < report->channel_count; i++)
        if (message_report_wants(report, (uint32_t)i))
            write_item(report, report->written++ ? ",\n" : "\n", channel_json(report, (uint32_t)i));
    argus_sink_printf(report->sink, "]");
    struct argus_error *error = NULL;
    if (report->options->pairs) {
        argus_sink_printf(report->sink, ",\n\"pairs\":[");
        error = message_report_pairs(report, pair_json);
        argus_sink_printf(report->sink, "]");
    }
    write_item(report,
               ",\n\"limits\":", json_limits(report->trace, ARGUS_GAP_MESSAGES, ARGUS_GAP_ANY));
    argus_sink_printf(report->sink, "}\n");
    return error;
}
