#include "plugin/flags/flag_session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "argus/trace.h"
#include "base/hash64.h"
#include "base/vec.h"
#include "recorder/client/client.h"
#include "recorder/client/output.h"

#define RECORDS_OF_CHUNK 512 /* a crash of LLDB loses at most so many */

struct session_flag {
    struct flag_session_row row;
    uint64_t window_ns; /* begin of the second in which hits are being counted */
    uint32_t window_hits;
    uint64_t sequence, value;
    bool warned; /* a warning about the rate was printed */
};

struct flag_session {
    pthread_mutex_t lock;
    VEC(struct session_flag) flags;
    uint32_t next_number; /* number of the next flag in the file */
    struct output output;
    struct argus_writer *writer;      /* NULL: no file is open */
    VEC(struct argus_record) records; /* not yet written to the file */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct argus_error *flag_session_create(struct flag_session **ret)
{
    struct flag_session *flags = calloc(1, sizeof(*flags));
    if (!flags)
        return argus_error_memory();
    pthread_mutex_init(&flags->lock, NULL);
    *ret = flags;
    return NULL;
}

/* --- the file --- */

static void flush(struct flag_session *flags)
{
    if (!flags->writer)
        return;
    argus_error_destroy(
        argus_writer_records(flags->writer, 0, flags->records.data, flags->records.length, 0));
    flags->records.length = 0;
    argus_error_destroy(argus_writer_flush(flags->writer));
}

static void end_file(struct flag_session *flags)
{
    if (!flags->writer)
        return;
    flush(flags);
    const struct argus_counter counter = {"records", argus_writer_records_written(flags->writer)};
    argus_error_destroy(argus_writer_end(flags->writer, &counter, 1));
    argus_writer_destroy(flags->writer);
    flags->writer = NULL;
    output_deinit(&flags->output);
}

static struct argus_error *begin_file(struct flag_session *flags, const char *path)
{
    struct argus_trace_header header;
    struct argus_error *error = recorder_host_header(&header);
    if (!error)
        error = output_create(path, &flags->output);
    if (error)
        return error;
    error = argus_writer_create(flags->output.fd, &header, &flags->writer);
    if (!error)
        error = argus_writer_note(flags->writer, "written by LLDB's watchpoints: values and times "
                                                 "are those of the stop after each access");
    if (!error)
        error = output_commit(&flags->output);
    if (error) {
        argus_writer_destroy(flags->writer);
        flags->writer = NULL;
        output_deinit(&flags->output);
    }
    return error;
}

static struct argus_error *note_flag(struct flag_session *flags,
                                     const struct flag_session_wish *wish)
{
    uint64_t now = now_ns();
    const struct argus_flag_entry entry = {
        .address = wish->address,
        .since_ticks = now,
        .pid = wish->pid,
        .value = wish->value,
        .number = ++flags->next_number,
        .bytes = wish->bytes,
        .semantics = wish->semantics,
        .label = wish->label,
    };
    const struct argus_thread_entry process = {
        .tid = wish->pid, .pid = wish->pid, .seen_ticks = now, .name = wish->process};
    struct argus_error *error = argus_writer_flags(flags->writer, &entry, 1);
    return error ? error : argus_writer_threads(flags->writer, &process, 1);
}

/* --- flags --- */

void flag_session_destroy(struct flag_session *flags)
{
    if (!flags)
        return;
    end_file(flags);
    vec_deinit(&flags->flags);
    vec_deinit(&flags->records);
    pthread_mutex_destroy(&flags->lock);
    free(flags);
}

/* Each target of the debugger numbers its watchpoints from 1. */
static struct session_flag *find(struct flag_session *flags, uint64_t pid, uint32_t watch)
{
    for (size_t i = 0; i < flags->flags.length; i++)
        if (flags->flags.data[i].row.watch == watch && flags->flags.data[i].row.pid == pid)
            return &flags->flags.data[i];
    return NULL;
}

static struct argus_error *add(struct flag_session *flags, const struct flag_session_wish *wish,
                               const char *path)
{
    struct session_flag flag = {.row = {.pid = wish->pid,
                                        .address = wish->address,
                                        .watch = wish->watch,
                                        .bytes = wish->bytes,
                                        .writes_only = wish->writes_only},
                                .value = wish->value};
    snprintf(flag.row.label, sizeof(flag.row.label), "%s", wish->label);
    if (flags->writer && strcmp(flags->output.path, path) != 0)
        return argus_error_create(ARGUS_ERROR_BUSY,
                                  "hits are already written to %s: all flags share one file",
                                  flags->output.path);
    struct argus_error *error = flags->writer ? NULL : begin_file(flags, path);
    if (!error)
        error = note_flag(flags, wish);
    if (!error && !vec_push(&flags->flags, flag))
        error = argus_error_memory();
    if (error && !flags->flags.length)
        end_file(flags);
    return error;
}

struct argus_error *flag_session_add(struct flag_session *flags,
                                     const struct flag_session_wish *wish, const char *path)
{
    pthread_mutex_lock(&flags->lock);
    struct argus_error *error = add(flags, wish, path);
    pthread_mutex_unlock(&flags->lock);
    return error;
}

bool flag_session_remove(struct flag_session *flags, uint64_t pid, uint32_t watch)
{
    pthread_mutex_lock(&flags->lock);
    struct session_flag *flag = find(flags, pid, watch);
    if (flag)
        *flag = flags->flags.data[--flags->flags.length];
    if (flag && !flags->flags.length)
        end_file(flags);
    pthread_mutex_unlock(&flags->lock);
    return flag != NULL;
}

/* --- hits --- */

/* Counts a hit. True when the rate becomes too high. */
static bool count(struct session_flag *flag, uint64_t time_ns)
{
    flag->row.hits++;
    if (time_ns - flag->window_ns >= 1000000000u) {
        flag->window_ns = time_ns;
        flag->window_hits = 0;
    }
    flag->window_hits++;
    double seconds = (double)(time_ns - flag->window_ns) / 1e9;
    double rate = flag->window_hits > 20 && seconds > 0 ? flag->window_hits / seconds : 0;
    if (rate > flag->row.hits_per_s)
        flag->row.hits_per_s = rate;
    bool first = !flag->warned && flag->window_hits >= FLAG_SESSION_FAST;
    flag->warned |= first;
    return first;
}

static uint64_t stack_id(const struct flag_session_hit *hit)
{
    uint64_t id = hash64(0, hit->frames, hit->frame_count * sizeof(hit->frames[0]));
    return id ? id : 1;
}

static bool keep(struct flag_session *flags, struct session_flag *flag,
                 const struct flag_session_hit *hit, uint64_t time_ns)
{
    const struct flag_session_row *row = &flag->row;
    uint64_t stack = stack_id(hit), pc = hit->frame_count ? hit->frames[0] : 0;
    const struct argus_record access = {
        .timestamp = time_ns,
        .arg = {row->address, hit->value,
                ARGUS_FLAG_WHERE(pc, row->bytes,
                                 row->writes_only ? ARGUS_FLAG_BY_DEBUGGER_WRITES
                                                  : ARGUS_FLAG_BY_DEBUGGER),
                ++flag->sequence},
        .tid = hit->tid,
        .debugid = row->writes_only || hit->value != flag->value ? ARGUS_ID_FLAG_WRITE
                                                                 : ARGUS_ID_FLAG_READ,
    };
    const struct argus_record note = {
        .timestamp = time_ns,
        .arg = {stack, 0, ARGUS_STACK_FLAG, 0},
        .tid = hit->tid,
        .debugid = ARGUS_ID_STACK,
    };
    flag->value = hit->value;
    if (!vec_push(&flags->records, access))
        return false;
    if (hit->frame_count && vec_push(&flags->records, note))
        argus_error_destroy(
            argus_writer_stack(flags->writer, stack, hit->frames, hit->frame_count));
    if (flags->records.length >= RECORDS_OF_CHUNK)
        flush(flags);
    return true;
}

bool flag_session_on_hit(struct flag_session *flags, const struct flag_session_hit *hit)
{
    uint64_t time_ns = now_ns();
    pthread_mutex_lock(&flags->lock);
    struct session_flag *flag = find(flags, hit->pid, hit->watch);
    bool too_fast = flag && count(flag, time_ns);
    if (flag && flags->writer)
        keep(flags, flag, hit, time_ns);
    pthread_mutex_unlock(&flags->lock);
    return too_fast;
}

void flag_session_end_file(struct flag_session *flags)
{
    enum { TRIES = 100, PAUSE_NS = 1000000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (unsigned i = 0; i < TRIES; i++) {
        if (pthread_mutex_trylock(&flags->lock) == 0) {
            end_file(flags);
            pthread_mutex_unlock(&flags->lock);
            return;
        }
        nanosleep(&pause, NULL);
    }
}

size_t flag_session_rows(struct flag_session *flags, struct flag_session_row *ret, size_t room)
{
    size_t rows = 0;
    pthread_mutex_lock(&flags->lock);
    for (; rows < flags->flags.length && rows < room; rows++)
        ret[rows] = flags->flags.data[rows].row;
    pthread_mutex_unlock(&flags->lock);
    return rows;
}

const char *flag_session_path(struct flag_session *flags)
{
    pthread_mutex_lock(&flags->lock);
    flush(flags);
    const char *path = flags->writer ? flags->output.path : NULL;
    pthread_mutex_unlock(&flags->lock);
    return path;
}
