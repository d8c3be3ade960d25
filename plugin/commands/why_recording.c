#include "plugin/commands/why_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "argus/diagnose.h"
#include "plugin/analysis.h"
#include "plugin/commands/recording_command.h"

enum { PATH_BYTES = 4096 };

/* The snapshot. The file has no name, so that nothing stays behind, however the program ends: it is
 * opened again by its descriptor. */
struct snapshot {
    int fd; /* -1: no recorder keeps records in memory */
    char path[32];
};

/* A file that never had a name; -1: the system or the file system has none. */
static int open_without_name(const char *folder)
{
#ifdef O_TMPFILE
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
#else
    (void)folder;
    return -1;
#endif
}

static struct argus_error *create_file(struct snapshot *snapshot)
{
    char name[PATH_BYTES];
    const char *folder = getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    snprintf(name, sizeof(name), "%s/argus-why-XXXXXX", folder);
    snapshot->fd = open_without_name(folder);
    if (snapshot->fd < 0) {
        snapshot->fd = mkostemp(name, O_CLOEXEC);
        if (snapshot->fd < 0)
            return argus_error_os(errno, "cannot make a file %s", name);
        unlink(name);
    }
    snprintf(snapshot->path, sizeof(snapshot->path), "/proc/self/fd/%d", snapshot->fd);
    return NULL;
}

static void snapshot_deinit(struct snapshot *snapshot)
{
    if (snapshot->fd >= 0)
        close(snapshot->fd);
    snapshot->fd = -1;
}

static struct argus_error *write_ring(struct recorder_client *client, struct session *session,
                                      struct snapshot *snapshot)
{
    struct recorder_status status = {0};
    struct argus_error *error = create_file(snapshot);
    if (!error)
        error = recorder_snapshot(client, snapshot->fd, SNAPSHOT_PATIENCE_MS, &status);
    if (!error)
        recording_complete_file(session, snapshot->path, &status.key, true);
    else
        snapshot_deinit(snapshot);
    return error;
}

/* Leaves `ret->fd` at -1 if no recorder keeps records in memory. */
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
    if (!error && status.mode == RECORDER_MEMORY)
        error = write_ring(client, session, ret);
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

/* The live state is the answer, so what the recording cannot add is only a remark. */
static struct argus_error *remark(struct session *session, struct argus_error *error,
                                  const char *what)
{
    if (!error || error->code == ARGUS_ERROR_INTERRUPTED)
        return error;
    session_note(session, "a recorder runs, but %s: %s", what, error->message);
    argus_error_destroy(error);
    return NULL;
}

struct argus_error *why_recording_write(struct session *session, const struct arguments *arguments,
                                        uint32_t pid, uint32_t tid, const struct argus_sink *sink,
                                        bool json, bool *ret_written)
{
    const struct argus_hang_options wanted = {.pid = pid, .tid = tid, .at_least_one = true};
    struct snapshot snapshot = {.fd = -1};
    bool damage_seen = session->damage_seen;
    *ret_written = false;
    struct argus_error *error = take_snapshot(session, &snapshot);
    if (error || snapshot.fd < 0)
        return remark(session, error, "could not be asked");
    error = explain(session, arguments, snapshot.path, &wanted, sink, json, ret_written);
    snapshot_deinit(&snapshot);
    session->damage_seen = damage_seen; /* no file of the user's is damaged */
    return remark(session, error, "its records do not tell more");
}
