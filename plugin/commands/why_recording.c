#include "plugin/commands/why_recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "argus/diagnose.h"
#include "plugin/analysis.h"
#include "plugin/commands/recording_command.h"

enum { PATH_BYTES = 64 };

/* The snapshot, in a folder of its own that nobody else can reach. */
struct snapshot {
    char folder[PATH_BYTES], path[PATH_BYTES + 16];
    bool is_written;
};

static struct argus_error *write_ring(struct recorder_client *client, struct session *session,
                                      struct snapshot *snapshot)
{
    struct recorder_status status = {0};
    struct output output = {.fd = -1};
    struct argus_error *error = output_create(snapshot->path, &output);
    if (!error)
        error = recorder_snapshot(client, output.fd, &status);
    if (!error)
        error = output_commit(&output);
    output_deinit(&output);
    if (error)
        return error;
    snapshot->is_written = true;
    recording_finish_file(session, snapshot->path, &status, true);
    return NULL;
}

/* Leaves `ret->is_written` false if no recorder keeps records in memory. */
static struct argus_error *take_snapshot(struct session *session, struct snapshot *ret)
{
    struct recorder_client *client;
    struct recorder_status status = {0};
    struct argus_error *error = recorder_connect(&client);
    if (error && error->code == ARGUS_ERROR_NOT_FOUND) {
        argus_error_destroy(error);
        return NULL;
    }
    if (error)
        return error;
    error = recorder_status(client, &status);
    snprintf(ret->folder, sizeof(ret->folder), "/tmp/argus-why-XXXXXX");
    if (!error && status.mode == RECORDER_MEMORY && mkdtemp(ret->folder)) {
        snprintf(ret->path, sizeof(ret->path), "%s/ring.argus", ret->folder);
        error = write_ring(client, session, ret);
        if (!ret->is_written)
            rmdir(ret->folder);
    }
    recorder_close(client);
    return error;
}

/* The longest hang of the thread that has not ended. */
static const struct argus_hang *ongoing(const struct argus_hangs *hangs)
{
    const struct argus_hang *found = NULL;
    for (size_t i = 0; i < hangs->count; i++) {
        const struct argus_hang *hang = &hangs->items[i];
        if (hang->ongoing &&
            (!found || hang->end_ns - hang->start_ns > found->end_ns - found->start_ns))
            found = hang;
    }
    return found;
}

static struct argus_error *write_diagnosis(struct analysis *analysis, const struct argus_hang *hang,
                                           const struct argus_sink *sink, bool json)
{
    const struct argus_diagnose_options options = {.threshold_ns = 0};
    struct argus_diagnosis diagnosis;
    struct argus_report_context context = analysis->report;
    context.sink = sink;
    struct argus_error *error = argus_diagnose(analysis->graph, analysis->report.symbols, hang,
                                               &options, argus_asker_auto(), &diagnosis);
    if (error)
        return error;
    error = argus_report_diagnosis(&context, &diagnosis, json);
    argus_diagnosis_deinit(&diagnosis);
    return error;
}

static struct argus_error *explain(struct session *session, const struct arguments *arguments,
                                   const char *path, const struct argus_hang_options *wanted,
                                   const struct argus_sink *sink, bool json, bool *ret_written)
{
    struct analysis analysis;
    struct argus_hangs hangs;
    struct argus_hang_options options = *wanted;
    bool no_cache = session->no_cache;
    session->no_cache = true;
    struct argus_error *error = analysis_begin_file(session, arguments, path, &analysis);
    session->no_cache = no_cache;
    if (error)
        return error;
    options.symbols = analysis.report.symbols;
    error = argus_hangs_find(analysis.graph, &options, &hangs);
    if (error)
        return error;
    const struct argus_hang *hang = ongoing(&hangs);
    if (hang && !json)
        argus_sink_printf(sink, "\nWhat the running recorder has recorded\n");
    if (hang)
        error = write_diagnosis(&analysis, hang, sink, json);
    else
        session_note(session, "a recorder runs, but its records show no hang of the thread that "
                              "is still going on");
    *ret_written = hang && !error;
    argus_hangs_deinit(&hangs);
    return error;
}

struct argus_error *why_recording_write(struct session *session, const struct arguments *arguments,
                                        uint32_t pid, uint32_t tid, const struct argus_sink *sink,
                                        bool json, bool *ret_written)
{
    const struct argus_hang_options wanted = {.pid = pid, .tid = tid, .at_least_one = true};
    struct snapshot snapshot = {.is_written = false};
    *ret_written = false;
    struct argus_error *error = take_snapshot(session, &snapshot);
    if (error) {
        session_note(session, "a recorder runs, but could not be asked: %s", error->message);
        argus_error_destroy(error);
        return NULL;
    }
    if (!snapshot.is_written)
        return NULL;
    error = explain(session, arguments, snapshot.path, &wanted, sink, json, ret_written);
    unlink(snapshot.path);
    rmdir(snapshot.folder);
    return error;
}
