#include "plugin/commands/recorder_report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/commands/recorder_rights.h"
#include "plugin/json_output.h"
#include "plugin/note.h"
#include "recorder/rates.h"

static const char *const mode_names[] = {
    [RECORDER_IDLE] = "idle",
    [RECORDER_STREAM] = "stream",
    [RECORDER_MEMORY] = "memory",
    [RECORDER_RING] = "ring",
};

static struct argus_error *ask_all(struct recorder_client *client, struct recorder_report *ret)
{
    struct argus_error *error = recorder_status(client, &ret->status);
    if (!error)
        error = recorder_notes(client, &ret->notes);
    return error ? error : recorder_cpus(client, &ret->cpus, &ret->cpu_count);
}

struct argus_error *recorder_report_get(struct recorder_report *ret)
{
    struct recorder_client *client;
    *ret = (struct recorder_report){.status = {.mode = RECORDER_IDLE}};
    struct argus_error *error = recorder_connect(&client);
    if (error && error->code == ARGUS_ERROR_NOT_FOUND) {
        argus_error_destroy(error);
        return NULL;
    }
    if (error)
        return error;
    error = ask_all(client, ret);
    recorder_close(client);
    if (error)
        recorder_report_deinit(ret);
    return error;
}

void recorder_report_deinit(struct recorder_report *report)
{
    free(report->cpus);
    free(report->notes);
    *report = (struct recorder_report){.status = {.mode = RECORDER_IDLE}};
}

/* --- figures of both formats --- */

static double span_s(const struct recorder_status *status)
{
    return status->newest_ns > status->oldest_ns && status->oldest_ns
               ? (double)(status->newest_ns - status->oldest_ns) / 1e9
               : 0.0;
}

/* The fill level, 0 to 1, of the ring that limits how far back the recording reaches. A stream has
 * no limit. */
static double fill_share(const struct recorder_report *report)
{
    const struct recorder_status *status = &report->status;
    double used = 0, room = 0;
    if (status->mode == RECORDER_RING) {
        used = (double)status->bytes;
        room = (double)status->file_ring_bytes;
    } else if (status->mode == RECORDER_MEMORY) {
        used = (double)status->records * 64;
        room = (double)status->ring_bytes;
    }
    return room <= 0 ? 0 : used < room ? used / room : 1;
}

/* The share of the time since the recording began. Loading the programs, before that, is not
 * counted: it would hide the running cost. */
static bool own_cpu_share(const struct recorder_status *status, double *ret)
{
    return rates_cpu_share(status->own_cpu_ns - status->start_cpu_ns, status->duration_ns, ret);
}

static json_t *own_cpu_share_json(const struct recorder_status *status)
{
    double share;
    return own_cpu_share(status, &share) ? json_real(share) : json_null();
}

/* --- JSON --- */

static json_t *notes_json(const char *notes)
{
    json_t *json = json_array();
    while (notes && *notes) {
        size_t length = strcspn(notes, "\n");
        json_array_append_new(json, note_json(notes, length));
        notes += length;
        notes += *notes == '\n';
    }
    return json;
}

static json_t *cpus_json(const struct recorder_report *report)
{
    json_t *json = json_array();
    for (size_t i = 0; i < report->cpu_count; i++) {
        const struct recorder_cpu *cpu = &report->cpus[i];
        json_array_append_new(json,
                              json_pack("{s:I, s:I, s:I, s:I}", "cpu", (json_int_t)i, "emitted",
                                        (json_int_t)cpu->emitted, "lost", (json_int_t)cpu->lost,
                                        "oldest_ns", (json_int_t)cpu->oldest_ns));
    }
    return json;
}

static json_t *categories_json(const struct recorder_status *status)
{
    json_t *json = json_object();
    for (int i = 0; i < CATEGORY_COUNT && status->mode != RECORDER_IDLE; i++)
        json_object_set_new(json, category_name(i),
                            json_pack("{s:b, s:I}", "on",
                                      (status->categories & CATEGORY_BIT(i)) != 0, "records_per_s",
                                      (json_int_t)status->category_rates[i]));
    return json;
}

/* null: there is no limit. `left_out` has the categories that are left out now, and for how long.
 */
static json_t *overhead_json(const struct recorder_status *status)
{
    json_t *out = json_object();
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (status->left_out & CATEGORY_BIT(i))
            json_object_set_new(out, category_name(i),
                                json_pack("{s:I}", "for_ns", (json_int_t)status->left_ns[i]));
    if (status->max_overhead)
        return json_pack("{s:f, s:f, s:o}", "limit", status->max_overhead / 1e4, "now",
                         status->overhead / 1e4, "left_out", out);
    json_decref(out);
    return json_null();
}

static json_t *hangs_json(const struct recorder_status *status)
{
    if (!status->hang_ms)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I}", "threshold_ms", (json_int_t)status->hang_ms, "seen",
                     (json_int_t)status->hangs_seen, "files", (json_int_t)status->hang_files,
                     "watcher_pid", (json_int_t)status->watcher_pid);
}

static json_t *numbers_json(const struct recorder_report *report)
{
    const struct recorder_status *status = &report->status;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:f, s:f}", "records",
                     (json_int_t)status->records, "emitted", (json_int_t)status->emitted, "lost",
                     (json_int_t)status->lost, "stacks_lost", (json_int_t)status->stacks_lost,
                     "ring_bytes", (json_int_t)status->ring_bytes, "file_ring_bytes",
                     (json_int_t)status->file_ring_bytes, "file_bytes", (json_int_t)status->bytes,
                     "duration_ns", (json_int_t)status->duration_ns, "own_cpu_ns",
                     (json_int_t)status->own_cpu_ns, "own_cpu_share", own_cpu_share_json(status),
                     "fill", fill_share(report), "span_s", span_s(status));
}

/* While it records: into memory, there is no file and no key yet. */
static bool writes_file(const struct recorder_status *status)
{
    return status->mode == RECORDER_STREAM || status->mode == RECORDER_RING;
}

json_t *recorder_report_json(const struct recorder_report *report)
{
    const struct recorder_status *status = &report->status;
    const struct recorder_rights rights = recorder_rights_get(status->recorder_pid);
    json_t *json = numbers_json(report);
    json_t *rest = json_pack(
        "{s:b, s:s, s:o, s:b, s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o}",
        "recording", status->mode != RECORDER_IDLE && !status->failed, "mode",
        mode_names[status->mode], "file", status->path[0] ? json_text(status->path) : json_null(),
        "file_gone", status->file_gone, "file_waiting_ns", (json_int_t)status->waiting_ns,
        "backend", backend_kind_name(status->backend), "rate_hz", (json_int_t)status->rate_hz,
        "starter_uid", (json_int_t)status->starter_uid, "starter_pid",
        (json_int_t)status->starter_pid, "recorder_pid", (json_int_t)status->recorder_pid, "cpus",
        (json_int_t)status->cpu_count, "started_wall_ns", (json_int_t)status->started_wall_ns,
        "per_cpu", cpus_json(report), "categories", categories_json(status), "overhead",
        overhead_json(status), "hangs", hangs_json(status), "notes", notes_json(report->notes),
        "rights", recorder_rights_json(&rights), "key_kept",
        writes_file(status) ? json_boolean(status->key_is_kept) : json_null());
    if (!json || !rest || json_object_update(rest, json) < 0) {
        json_decref(json);
        json_decref(rest);
        return NULL;
    }
    json_decref(json);
    return rest;
}

/* --- text --- */

static unsigned long long megabytes(uint64_t bytes)
{
    return (unsigned long long)(bytes >> 20);
}

static void print_since(struct session *session, const struct recorder_status *status)
{
    char since[32];
    time_t seconds = (time_t)(status->started_wall_ns / 1000000000u);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(since, sizeof(since), "%F %H:%M:%S", &local);
    session_printf(session, "recording  since %s (%.1f s), started by uid %u, pid %d\n", since,
                   (double)status->duration_ns / 1e9, status->starter_uid, status->starter_pid);
}

/* A file system is slow if it has taken nothing for so long. */
#define SLOW_FILE_NS 1000000000ull

static void print_mode(struct session *session, const struct recorder_report *report)
{
    const struct recorder_status *status = &report->status;
    if (status->mode == RECORDER_MEMORY)
        session_printf(session, "mode       ring in memory of %llu MB on %u cpus, %.0f %% full\n",
                       megabytes(status->ring_bytes), status->cpu_count, fill_share(report) * 100);
    else if (status->mode == RECORDER_RING)
        session_printf(session,
                       "mode       ring file of %llu MB, %.0f %% full; buffer of %llu MB\n",
                       megabytes(status->file_ring_bytes), fill_share(report) * 100,
                       megabytes(status->ring_bytes));
    else
        session_printf(session, "mode       stream to a file; buffer of %llu MB on %u cpus\n",
                       megabytes(status->ring_bytes), status->cpu_count);
    if (status->path[0])
        session_printf(session, "file       %s, %llu bytes written%s\n", status->path,
                       (unsigned long long)status->bytes,
                       status->file_gone ? "; it was removed, and its contents will be lost" : "");
    if (status->waiting_ns >= SLOW_FILE_NS)
        session_printf(session,
                       "           the recorder (pid %d) has been writing to %s for %.0f s: its "
                       "file system takes nothing\n",
                       status->recorder_pid, status->path, (double)status->waiting_ns / 1e9);
    session_printf(session, "backend    %s, %u cpu samples a second on each cpu\n",
                   backend_kind_name(status->backend), status->rate_hz);
}

static void print_key(struct session *session, const struct recorder_status *status)
{
    if (!writes_file(status) || status->backend != BACKEND_BPF)
        return;
    if (status->key_is_kept)
        session_printf(session,
                       "copies     of stacks in the file are encrypted; the key ring of its "
                       "user has the key for %d days\n",
                       ARGUS_SNAPSHOT_KEY_DAYS);
    else
        session_printf(session,
                       "copies     of stacks in the file are encrypted; the kernel has "
                       "refused to keep the key: if the recorder is killed, they are lost\n");
}

static void print_cpus(struct session *session, const struct recorder_report *report)
{
    const struct recorder_status *status = &report->status;
    for (size_t i = 0; i < report->cpu_count; i++) {
        const struct recorder_cpu *cpu = &report->cpus[i];
        if (cpu->emitted) /* a possible CPU need not exist */
            session_printf(session, "  cpu %-4zu %llu records, %llu lost, %.1f s in its ring\n", i,
                           (unsigned long long)cpu->emitted, (unsigned long long)cpu->lost,
                           cpu->oldest_ns ? (double)(status->newest_ns - cpu->oldest_ns) / 1e9 : 0);
    }
}

static void print_categories(struct session *session, const struct recorder_status *status)
{
    session_printf(session, "categories");
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        if (status->left_out & CATEGORY_BIT(i))
            session_printf(session, " %s left out%s", category_name(i),
                           i + 1 < CATEGORY_COUNT ? "," : "");
        else if (status->categories & CATEGORY_BIT(i))
            session_printf(session, " %s %llu/s%s", category_name(i),
                           (unsigned long long)status->category_rates[i],
                           i + 1 < CATEGORY_COUNT ? "," : "");
        else
            session_printf(session, " %s off%s", category_name(i),
                           i + 1 < CATEGORY_COUNT ? "," : "");
    }
    session_printf(session, "\n");
}

static void print_left_out(struct session *session, const struct recorder_status *status)
{
    time_t now = time(NULL);
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        char since[16];
        struct tm local;
        time_t from = now - (time_t)(status->left_ns[i] / 1000000000u);
        if (!(status->left_out & CATEGORY_BIT(i)))
            continue;
        localtime_r(&from, &local);
        strftime(since, sizeof(since), "%H:%M:%S", &local);
        session_printf(session, "           left out since %s (%.0f s): %s\n", since,
                       (double)status->left_ns[i] / 1e9, category_name(i));
    }
}

static void print_overhead(struct session *session, const struct recorder_status *status)
{
    if (!status->max_overhead)
        return;
    session_printf(session, "overhead   %.2f %% of the CPUs' time now, of %.2f %% allowed%s\n",
                   status->overhead / 100.0, status->max_overhead / 100.0,
                   status->left_out ? "" : "; nothing is left out");
    print_left_out(session, status);
}

static void print_hangs(struct session *session, const struct recorder_status *status)
{
    if (!status->hang_ms)
        return;
    session_printf(session, "hangs      of %.3g s or more: %u seen, %u files written",
                   status->hang_ms / 1e3, status->hangs_seen, status->hang_files);
    if (status->watcher_pid)
        session_printf(session, " by pid %d\n", status->watcher_pid);
    else
        session_printf(session, "; none are written any more\n");
}

static void print_cpu_time(struct session *session, const struct recorder_status *status)
{
    double share;
    session_printf(session, "recorder   pid %d, %.3f s of cpu time", status->recorder_pid,
                   (double)status->own_cpu_ns / 1e9);
    if (own_cpu_share(status, &share))
        session_printf(session, ", of it %.3f s to start; %.2f %% since then",
                       (double)status->start_cpu_ns / 1e9, share * 100);
    session_printf(session, "\n");
}

static void print_rights(struct session *session, const struct recorder_status *status)
{
    char text[640];
    const struct recorder_rights rights = recorder_rights_get(status->recorder_pid);
    if (!rights.known)
        return;
    recorder_rights_text(&rights, text, sizeof(text));
    session_printf(session, "rights     %s\n", text);
}

static void print_notes(struct session *session, const char *notes, bool detail)
{
    for (const char *line = notes; *line;) {
        size_t length = strcspn(line, "\n");
        note_print(session, line, length, detail);
        line += length;
        line += *line == '\n';
    }
}

void recorder_report_print(struct session *session, const struct recorder_report *report,
                           bool verbose)
{
    const struct recorder_status *status = &report->status;
    if (status->mode == RECORDER_IDLE) {
        session_printf(session, "not recording\n");
        return;
    }
    if (status->failed)
        session_printf(session, "the recording has ended by itself (see the notes); argus stop\n");
    print_since(session, status);
    print_mode(session, report);
    print_key(session, &report->status);
    session_printf(session, "span       %.1f s are kept\n", span_s(status));
    session_printf(session, "records    %llu %s of %llu, %llu lost, %llu stacks lost\n",
                   (unsigned long long)status->records,
                   status->mode == RECORDER_MEMORY ? "kept" : "written",
                   (unsigned long long)status->emitted, (unsigned long long)status->lost,
                   (unsigned long long)status->stacks_lost);
    print_cpus(session, report);
    print_categories(session, status);
    print_overhead(session, status);
    print_hangs(session, status);
    print_cpu_time(session, status);
    print_rights(session, status);
    print_notes(session, report->notes, verbose);
}
