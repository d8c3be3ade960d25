#include "plugin/commands/recording_command.h"
#include "plugin/probes/interpreters.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "argus/frame_names.h"
#include "argus/recorded_host.h"
#include "argus/symbols.h"
#include "argus/unwind.h"
#include "plugin/arguments.h"
#include "plugin/flags/recording_flags.h"
#include "plugin/fleet/package_notes.h"
#include "plugin/probes/recording_probes.h"

#define DEFAULT_PATH "argus.argus"

static struct argus_error *recording_categories(const struct arguments *arguments, uint32_t *bits)
{
    const char *only = arguments_option(arguments, "only");
    const char *without = arguments_option(arguments, "without");
    uint32_t named = 0;
    struct argus_error *error = NULL;
    if (only) {
        error = categories_parse(only, &named);
        *bits &= named | CATEGORY_BIT(CATEGORY_SCHED);
    }
    if (!error && without) {
        error = categories_parse(without, &named);
        *bits &= ~named;
    }
    /* messages are read when a system call returns */
    if (!(*bits & CATEGORY_BIT(CATEGORY_SYSCALLS)))
        *bits &= ~CATEGORY_BIT(CATEGORY_MESSAGES);
    return error;
}

/* "1234" is a process id. Anything else is a name, which the kernel cuts off after 15 bytes. */
static struct argus_error *parse_unwind(const char *word, struct recorder_unwind *ret)
{
    *ret = (struct recorder_unwind){0};
    if (word[0] && word[strspn(word, "0123456789")] == '\0') {
        unsigned long pid = strtoul(word, NULL, 10);
        if (pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) < 0 && errno == ESRCH))
            return argus_error_create(ARGUS_ERROR_NOT_FOUND, "--unwind: there is no process %s",
                                      word);
        ret->pid = (uint32_t)pid;
        return NULL;
    }
    if (!word[0] || strchr(word, '/'))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "--unwind takes a process id or the name of a process or thread "
                                  "as ps shows it: '%s' is none",
                                  word);
    snprintf(ret->name, sizeof(ret->name), "%s", word);
    return NULL;
}

static struct argus_error *recording_unwind(const struct arguments *arguments,
                                            struct recorder_options *ret)
{
    uint64_t bytes = ret->unwind_bytes;
    const size_t most = sizeof(ret->unwind) / sizeof(ret->unwind[0]);
    struct argus_error *error = arguments_size_bytes(arguments, "unwind-size", &bytes);
    const char *word;
    for (size_t i = 0; !error && (word = arguments_option_at(arguments, "unwind", i)); i++) {
        if (i == most)
            return argus_error_create(ARGUS_ERROR_USAGE, "--unwind can be given at most %zu times",
                                      most);
        error = parse_unwind(word, &ret->unwind[i]);
        ret->unwind_count = (uint32_t)i + 1;
    }
    if (!error && (bytes < PROTOCOL_UNWIND_MIN || bytes > PROTOCOL_UNWIND_LIMIT))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%llu bytes of a stack cannot be copied: choose an --unwind-size "
                                  "of 1K to 64K",
                                  (unsigned long long)bytes);
    ret->unwind_bytes = (uint32_t)bytes;
    if (arguments_has(arguments, "frame-pointers"))
        ret->late_ns = 0;
    if (!error && !ret->late_ns && ret->unwind_count)
        return argus_error_create(ARGUS_ERROR_USAGE, "--frame-pointers and --unwind contradict");
    return error;
}

static struct argus_error *recording_backend(const struct arguments *arguments,
                                             enum backend_kind *ret)
{
    const char *name = arguments_option(arguments, "backend");
    if (!name)
        *ret = BACKEND_ANY;
    else if (strcmp(name, "bpf") == 0)
        *ret = BACKEND_BPF;
    else if (strcmp(name, "perf") == 0)
        *ret = BACKEND_PERF;
    else if (strcmp(name, "kdebug") == 0)
        *ret = BACKEND_KDEBUG;
    else
        return argus_error_create(
            ARGUS_ERROR_USAGE, "there is no backend \"%s\": choose bpf or perf, or kdebug on macOS",
            name);
    return NULL;
}

static struct argus_error *recording_codec(const struct arguments *arguments, enum argus_codec *ret)
{
    const char *name = arguments_option(arguments, "codec");
    if (name && !argus_codec_find(name, ret))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "there is no codec \"%s\": choose zlib or zstd", name);
    return NULL;
}

/* "3%", "0.5": per cent of the time of all CPUs. */
static struct argus_error *recording_overhead(const struct arguments *arguments, uint32_t *ret)
{
    const char *text = arguments_option(arguments, "max-overhead");
    char *end = NULL;
    if (!text)
        return NULL;
    double percent = strtod(text, &end);
    if (end != text && *end == '%')
        end++;
    if (end == text || *end || !(percent >= 0.01 && percent <= 100))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "--max-overhead takes a share of the CPUs' time from 0.01%% to "
                                  "100%%, not \"%s\"",
                                  text);
    *ret = (uint32_t)(percent * 100 + 0.5);
    return NULL;
}

struct argus_error *recording_options(struct session *session, const struct arguments *arguments,
                                      struct recorder_options *ret)
{
    uint64_t rate_hz = ret->rate_hz;
    struct argus_error *error = arguments_number(arguments, "rate", &rate_hz);
    if (error)
        return error;
    error = recording_unwind(arguments, ret);
    if (error)
        return error;
    ret->rate_hz = rate_hz > UINT32_MAX ? UINT32_MAX : (uint32_t)rate_hz;
    if (arguments_has(arguments, "no-stacks"))
        ret->categories &= ~CATEGORY_BIT(CATEGORY_STACKS);
    ret->call_stacks = arguments_has(arguments, "call-stacks");
    if (ret->call_stacks && arguments_has(arguments, "no-stacks"))
        return argus_error_create(ARGUS_ERROR_USAGE, "--call-stacks and --no-stacks contradict");
    error = recording_backend(arguments, &ret->backend);
    if (!error)
        error = recording_codec(arguments, &ret->codec);
    if (!error)
        error = recording_categories(arguments, &ret->categories);
    if (!error)
        error = recording_overhead(arguments, &ret->max_overhead);
    if (!error)
        error = recording_flags_choose(arguments, ret);
    return error ? error : recording_probes_choose(session, arguments, ret);
}

static bool begins(const char *line, const char *words)
{
    return strncmp(line, words, strlen(words)) == 0;
}

/* Whether a note is shown at the begin: those about what could not be attached, and what is
 * switched off. No machine has all libraries, so missing ones are left to `argus status` and the
 * trace. Programs named by --unwind may still start. */
static bool is_of_begin(const char *line)
{
    return !begins(line, "probes: ") && !begins(line, "--unwind ");
}

static bool is_of_end(const char *line)
{
    return begins(line, "--unwind ") || begins(line, "recorded partly without ");
}

/* Prints the recorder's notes, or some of them, as warnings. */
static struct argus_error *warn_notes(struct session *session, struct recorder_client *client,
                                      bool (*wanted)(const char *line))
{
    char *notes;
    struct argus_error *error = recorder_notes(client, &notes);
    if (error)
        return error;
    for (const char *line = notes; *line;) {
        int length = (int)strcspn(line, "\n");
        if (wanted(line))
            session_warn(session, "%.*s", length, line);
        line += length;
        line += *line == '\n';
    }
    free(notes);
    return NULL;
}

/* Whether the recorder has failed. It has then already sent the reason, which recorder_stop() has
 * to read: it is not the reply to another request. */
static bool has_failed(const struct recorder_client *client)
{
    struct pollfd fd = {.fd = recorder_poll_fd(client), .events = POLLIN};
    return poll(&fd, 1, 0) != 0;
}

void recording_warn_missed(struct session *session, struct recorder_client *client)
{
    if (has_failed(client))
        return;
    argus_error_destroy(warn_notes(session, client, is_of_end));
}

struct argus_error *recording_begin(struct session *session, struct recorder_client *client,
                                    const struct recorder_options *chosen, int fd,
                                    struct recorder_status *ret)
{
    struct argus_error *error = recording_probes_send(session, client, chosen);
    if (!error && chosen->categories & CATEGORY_BIT(CATEGORY_STACKS))
        error = interpreters_send(client, chosen->program);
    if (!error)
        error = recorder_start(client, chosen, fd, ret);
    if (!error)
        recording_flags_send(session, client, chosen);
    return error ? error : warn_notes(session, client, is_of_begin);
}

struct argus_error *recording_output_path(const struct arguments *arguments, const char **ret)
{
    const char *name = arguments_command(arguments)->name;
    *ret = arguments_option(arguments, "output");
    if (*ret && **ret)
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "%s: -o FILE is missing: say where to write the trace, e.g. argus %s "
                              "-o freeze.argus",
                              name, name);
}

struct argus_error *recording_create_output(const char *path, struct output *ret)
{
    struct argus_error *error =
        path ? output_create(path, ret) : output_create_keeping(DEFAULT_PATH, ret);
    if (!error || path || error->code != ARGUS_ERROR_PERMISSION)
        return error;
    return argus_error_context(error, "choose another place with -o FILE");
}

void recording_note_replaced(struct session *session, const struct output *output)
{
    if (output->replaced)
        session_note(session, "the earlier trace %s was renamed to %s", output->path, output->old);
}

static bool finish_progress(void *context, const char *what, double share)
{
    struct session *session = context;
    session_progress(session, what, (uint64_t)(share * 100), 100);
    return !session_interrupted(session);
}

/* If this is interrupted or fails, nothing is lost: the trace can be unwound whenever it is
 * opened. */
static void finish_stacks(struct session *session, const char *path,
                          const struct argus_snapshot_key *key)
{
    struct argus_unwind_totals totals;
    struct argus_error *error = argus_unwind_file(path, key, finish_progress, session, &totals);
    unsigned long long too_long = totals.cut + totals.deep;
    if (error)
        session_warn(session,
                     "stack snapshots, which are encrypted copies of the programs' memory, remain "
                     "in %s: %s",
                     path, error->message);
    else if (totals.snapshots)
        session_note(session,
                     "%llu stacks unwound: %llu whole, %llu longer than what was copied (%llu "
                     "continued as others of the thread), %llu to code without unwind information",
                     (unsigned long long)totals.snapshots, (unsigned long long)totals.whole,
                     too_long, (unsigned long long)totals.continued,
                     (unsigned long long)totals.unknown);
    if (!error && !totals.locked)
        argus_snapshot_key_forget(key); /* there is nothing left that it can read */
    argus_error_destroy(error);
}

/* Without names in the file, they are looked up when it is read, if the programs are still
 * installed. */
static void finish_names(struct session *session, const char *path)
{
    struct argus_names_totals totals;
    struct argus_error *error = argus_names_append(path, finish_progress, session, &totals);
    if (error)
        session_warn(session, "%s has no names of functions: %s", path, error->message);
    else if (totals.left_out)
        session_warn(
            session,
            "%s does not have the names of all %llu frames: %llu took too long or too much room",
            path, (unsigned long long)totals.frames, (unsigned long long)totals.left_out);
    argus_error_destroy(error);
}

/* By which a fleet tells machines and versions apart (argus-fleet(1)). */
static void finish_origin(struct session *session, const char *path)
{
    struct argus_error *error = argus_recorded_machine_append(path);
    if (!error)
        error = package_notes_append(path);
    if (error)
        session_warn(session, "%s does not name its machine or its packages: %s", path,
                     error->message);
    argus_error_destroy(error);
}

void recording_complete_file(struct session *session, const char *path,
                             const struct argus_snapshot_key *key, bool with_names)
{
    /* without build ids images are still found by path */
    struct argus_error *error = argus_build_ids_append(path);
    if (error)
        session_warn(session, "no build ids were added: %s", error->message);
    argus_error_destroy(error);
    finish_stacks(session, path, key);
    if (with_names)
        finish_names(session, path);
    finish_origin(session, path);
    session_end_progress(session);
}

/* A disk that fails can take every write(). Its error comes when the system writes what it kept in
 * memory, and only to a caller of fsync(). */
static struct argus_error *check_disk(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return argus_error_os(errno, "cannot open the finished trace %s", path);
    bool has_failed = fsync(fd) != 0 && errno != EINVAL && errno != ENOSYS;
    struct argus_error *error =
        has_failed
            ? argus_error_os(errno, "%s is lost, or incomplete: its disk did not take it", path)
            : NULL;
    close(fd);
    return error;
}

struct argus_error *recording_finish_file(struct session *session, const char *path,
                                          const struct recorder_status *status, bool with_names)
{
    recording_complete_file(session, path, &status->key, with_names);
    session_note(session, "%s: %llu records, %llu lost, %.3f s, %.2f bytes per record", path,
                 (unsigned long long)status->records, (unsigned long long)status->lost,
                 (double)status->duration_ns / 1e9,
                 status->records ? (double)status->bytes / (double)status->records : 0.0);
    if (status->lost)
        session_warn(session, "%llu records were lost: a larger --buffer keeps them",
                     (unsigned long long)status->lost);
    if (status->stacks_lost)
        session_warn(session,
                     "%llu call stacks were lost: a larger --buffer keeps more of --unwind",
                     (unsigned long long)status->stacks_lost);
    return check_disk(path);
}

/* The recorder only sees whether the file was removed. A file system that was unmounted meanwhile
 * (umount -l, a disk that was unplugged) still has the file, but under no path. */
static struct argus_error *check_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return NULL;
    return argus_error_context(argus_error_os(errno, "its folder was removed or unmounted"),
                               "cannot find the recording %s any more", path);
}

struct argus_error *recording_finish(struct session *session, const char *path,
                                     const struct recorder_status *status, bool with_names)
{
    if (status->file_gone)
        return argus_error_create(ARGUS_ERROR_IO,
                                  "%s was removed while it was written: nothing is left of the "
                                  "recording",
                                  path);
    struct argus_error *error = check_path(path);
    return error ? error : recording_finish_file(session, path, status, with_names);
}
