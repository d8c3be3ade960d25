/* Messages by channel, and pair by pair, as text. */
#include "report/report_messages.h"
#include "report/report_limits.h"

#include <inttypes.h>
#include <string.h>

/* --- the selection --- */

static bool has_process(const struct message_report *report, const uint32_t *threads, uint8_t count)
{
    for (uint8_t i = 0; i < count; i++)
        if (!strcmp(report->processes[report->threads[threads[i]].process].name,
                    report->options->process))
            return true;
    return false;
}

bool message_report_wants(const struct message_report *report, uint32_t channel)
{
    const struct argus_message_channel *at = &report->channels[channel];
    return !report->options->process || has_process(report, at->senders, at->sender_count) ||
           has_process(report, at->receivers, at->receiver_count);
}

struct pair_writer {
    struct message_report *report;
    void (*write)(struct message_report *report, const struct argus_message_pair *pair);
};

static bool write_pair(void *context, const struct argus_messages *messages,
                       const struct argus_message_pair *pair)
{
    const struct pair_writer *writer = context;
    (void)messages;
    if (message_report_wants(writer->report, pair->channel)) {
        writer->write(writer->report, pair);
        writer->report->written++;
    }
    return true;
}

struct argus_error *message_report_pairs(struct message_report *report,
                                         void (*write)(struct message_report *report,
                                                       const struct argus_message_pair *pair))
{
    struct pair_writer writer = {report, write};
    struct argus_messages *again;
    report->written = 0;
    struct argus_error *error = argus_messages_read(report->trace, write_pair, &writer, &again);
    if (!error)
        argus_messages_destroy(again);
    return error;
}

/* --- text --- */

static void end_text(const struct message_report *report, const uint32_t *threads, uint8_t count,
                     bool more)
{
    if (!count)
        argus_sink_printf(report->sink, "nobody in this trace");
    uint32_t last = ARGUS_NONE;
    for (uint8_t i = 0; i < count; i++) {
        uint32_t process = report->threads[threads[i]].process;
        if (process != last)
            argus_sink_printf(report->sink, "%s%s [%" PRIu64 "]", i ? ", " : "",
                              report->processes[process].name, report->processes[process].pid);
        last = process;
    }
    if (more)
        argus_sink_printf(report->sink, " …");
}

static void unpaired_text(const struct message_report *report, const char *what,
                          const uint64_t *reasons)
{
    for (int i = 0; i < ARGUS_UNPAIRED_REASONS; i++)
        if (reasons[i])
            argus_sink_printf(report->sink, "    %" PRIu64 " %s unpaired: %s\n", reasons[i], what,
                              argus_unpaired_name((enum argus_unpaired)i));
}

static void counts_text(const struct message_report *report,
                        const struct argus_message_counts *counts, bool reasons)
{
    argus_sink_printf(report->sink,
                      "    %" PRIu64 " sent (%" PRIu64 " bytes), %" PRIu64 " received (%" PRIu64
                      " bytes), %" PRIu64 " pairs exact, %" PRIu64 " ambiguous",
                      counts->sends, counts->sent_bytes, counts->receives, counts->received_bytes,
                      counts->exact, counts->ambiguous);
    if (counts->peeks)
        argus_sink_printf(report->sink, ", %" PRIu64 " peeks", counts->peeks);
    argus_sink_printf(report->sink, "\n");
    if (!reasons)
        return;
    unpaired_text(report, "sends", counts->unpaired_sends);
    unpaired_text(report, "receives", counts->unpaired_receives);
}

static void channel_text(const struct message_report *report, uint32_t channel)
{
    const struct argus_message_channel *at = &report->channels[channel];
    argus_sink_printf(report->sink, "#%" PRIu32 " %s 0x%" PRIx64 "  ", channel,
                      argus_channel_name(at->kind), at->id);
    end_text(report, at->senders, at->sender_count, at->more_senders);
    argus_sink_printf(report->sink, " -> ");
    end_text(report, at->receivers, at->receiver_count, at->more_receivers);
    argus_sink_printf(report->sink, "\n");
    counts_text(report, &at->counts, true);
}

static void pair_end_text(const struct message_report *report, const struct argus_message_end *end)
{
    const struct argus_thread *thread = &report->threads[end->thread];
    char time[32];
    argus_sink_printf(report->sink, "%s %s [%" PRIu64 "]",
                      argus_time_text(report->trace, end->time_ns, time, sizeof(time)),
                      thread->name, thread->tid);
}

static void pair_text(struct message_report *report, const struct argus_message_pair *pair)
{
    argus_sink_printf(report->sink, "#%" PRIu32 "  ", pair->channel);
    pair_end_text(report, &pair->send);
    argus_sink_printf(report->sink, " sent %" PRIu64 "  ->  ", pair->send.bytes);
    pair_end_text(report, &pair->receive);
    argus_sink_printf(report->sink, " %s %" PRIu64 " of it%s\n", pair->peek ? "looked at" : "got",
                      pair->bytes, pair->exact ? "" : "  (ambiguous)");
}

static struct argus_error *write_text(struct message_report *report)
{
    for (size_t i = 0; i < report->channel_count; i++)
        if (message_report_wants(report, (uint32_t)i)) {
            channel_text(report, (uint32_t)i);
            report->written++;
        }
    argus_sink_printf(report->sink, "%" PRIu64 " of %zu channels; all of them:\n", report->written,
                      report->channel_count);
    counts_text(report, argus_messages_counts(report->messages), true);
    bool darwin = argus_trace_header(report->trace)->os == ARGUS_OS_DARWIN;
    if (darwin && !report->channel_count)
        argus_sink_printf(report->sink,
                          "The trace has no records of messages. Records of Mach messages are "
                          "MACH_IPC_msg_send and _recv (kernels of Intel Macs), kmsg_sent and "
                          "_received (xnu-patch), or, by guessing, MSC_mach_msg2_trap with "
                          "MACH_MKRUNNABLE.\n");
    struct argus_error *error =
        report->options->pairs ? message_report_pairs(report, pair_text) : NULL;
    return error ? error
                 : report_limits(report->sink, report->trace, ARGUS_GAP_MESSAGES, ARGUS_GAP_ANY);
}

struct argus_error *argus_report_messages(const struct argus_sink *sink,
                                          const struct argus_trace *trace,
                                          const struct argus_report_messages_options *options,
                                          bool json)
{
    struct message_report report = {.sink = sink, .trace = trace, .options = options};
    struct argus_messages *messages;
    struct argus_error *error = argus_messages_read(trace, NULL, NULL, &messages);
    if (error)
        return error;
    report.messages = messages;
    report.channel_count = argus_messages_channels(messages, &report.channels);
    argus_messages_threads(messages, &report.threads);
    argus_messages_processes(messages, &report.processes);
    error = json ? message_report_json(&report) : write_text(&report);
    argus_messages_destroy(messages);
    return error;
}
