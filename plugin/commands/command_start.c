/* Starts a recording that lasts until `argus stop`: into a ring in memory, or into a ring file. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "plugin/commands/hang_folder.h"
#include "plugin/commands/hang_watcher.h"
#include "plugin/commands/recording_command.h"

#define RING_FILE_BYTES (2ull << 30)
#define FILES_OF_KIND   3
#define FILES_BYTES     (4ull << 30)

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write FILE, a ring on disk; with --on-hang the folder of snapshots"},
    {"on-hang", 0, "TIME", "look for hangs that long, and keep a snapshot of each"},
    {"process", 'p', "NAME", "with --on-hang: look only at this process"},
    {"max-files", 0, "N", "with --on-hang: keep N of each program and kind of hang (3)"},
    {"max-size", 0, "SIZE", "with --on-hang: keep at most SIZE of files in all (4G)"},
    {"quiet", 'q', NULL, "with --on-hang: show no desktop notifications"},
    {"ring-size", 0, "SIZE", "limit the ring to SIZE: in memory (512M), in FILE (2G)"},
    {"buffer", 0, "SIZE", "use SIZE of memory for records that are not yet in FILE (256M)"},
    RECORDING_OPTIONS,
    {"no-symbols", 0, NULL, "with --on-hang: add no names of functions to the files"},
    COMMAND_OPTIONS_END,
};

static struct argus_error *memory_options(const struct arguments *arguments,
                                          struct recorder_options *ret)
{
    *ret = RECORDER_OPTIONS_MEMORY;
    if (arguments_has(arguments, "buffer"))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "--buffer goes with -o FILE; in memory --ring-size is all");
    return arguments_size_bytes(arguments, "ring-size", &ret->ring_bytes);
}

static struct argus_error *file_options(const struct arguments *arguments,
                                        struct recorder_options *ret)
{
    *ret = RECORDER_OPTIONS_STREAM;
    ret->mode = RECORDER_RING;
    ret->owned = false;
    ret->file_ring_bytes = RING_FILE_BYTES;
    struct argus_error *error = arguments_size_bytes(arguments, "ring-size", &ret->file_ring_bytes);
    return error ? error : arguments_size_bytes(arguments, "buffer", &ret->ring_bytes);
}

static struct argus_error *options_without_hang(const struct arguments *arguments)
{
    static const char *const names[] = {"process", "max-files", "max-size", "quiet"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (arguments_has(arguments, names[i]))
            return argus_error_create(ARGUS_ERROR_USAGE, "--%s goes with --on-hang", names[i]);
    return NULL;
}

static struct argus_error *kept_files(const struct arguments *arguments, struct hang_files *ret)
{
    *ret = (struct hang_files){.arguments = arguments,
                               .quota = {FILES_OF_KIND, FILES_BYTES},
                               .with_names = !arguments_has(arguments, "no-symbols"),
                               .quiet = arguments_has(arguments, "quiet")};
    struct argus_error *error = arguments_number(arguments, "max-files", &ret->quota.most_of_kind);
    if (!error)
        error = arguments_size_bytes(arguments, "max-size", &ret->quota.most_bytes);
    if (!error && !ret->quota.most_of_kind)
        error = argus_error_create(ARGUS_ERROR_USAGE, "--max-files is 1 or more");
    return error;
}

static struct argus_error *hang_options(const struct arguments *arguments,
                                        struct recorder_options *ret)
{
    const char *process = arguments_option(arguments, "process");
    uint64_t threshold_ns = 0;
    if (!arguments_has(arguments, "on-hang"))
        return options_without_hang(arguments);
    if (process && strlen(process) >= sizeof(ret->hang_name))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "a process has a name of at most 15 characters, not \"%s\"",
                                  process);
    struct argus_error *error = arguments_duration_ns(arguments, "on-hang", &threshold_ns);
    if (error)
        return error;
    if (threshold_ns < 10000000 || threshold_ns > 3600000000000)
        return argus_error_create(ARGUS_ERROR_USAGE, "a hang lasts 10 ms to an hour");
    ret->hang_ms = (uint32_t)(threshold_ns / 1000000);
    snprintf(ret->hang_name, sizeof(ret->hang_name), "%s", process ? process : "");
    return NULL;
}

/* `fd`: -1 in memory mode. */
static struct argus_error *start(struct session *session, const struct recorder_options *chosen,
                                 int fd, struct recorder_status *ret)
{
    struct recorder_client *client;
    struct argus_error *error = recorder_launch(&client);
    if (error)
        return error;
    error = recording_begin(session, client, chosen, fd, ret);
    recorder_close(client);
    return error;
}

static struct argus_error *start_in_memory(struct session *session,
                                           const struct recorder_options *chosen)
{
    struct recorder_status status = {0};
    struct argus_error *error = start(session, chosen, -1, &status);
    if (error)
        return error;
    session_printf(session,
                   "recording into a ring of %llu MB in memory (recorder: pid %d)\n"
                   "argus stop -o FILE  ends it and keeps what is in it; argus snapshot  keeps it "
                   "and continues\n",
                   (unsigned long long)(status.ring_bytes >> 20), status.recorder_pid);
    return NULL;
}

static struct argus_error *start_on_hang(struct session *session, const struct arguments *arguments,
                                         const struct recorder_options *chosen)
{
    struct recorder_status status = {0};
    const char *directory = arguments_option(arguments, "output");
    char folder[PATH_MAX];
    struct hang_files kept;
    int fd = -1;
    pid_t watcher = -1;
    struct argus_error *error = kept_files(arguments, &kept);
    if (!error)
        error = hang_folder_open(directory ? directory : ".", &fd);
    if (error)
        return error;
    kept.folder = folder;
    error = hang_folder_path(fd, folder, sizeof(folder));
    if (!error)
        error = start(session, chosen, -1, &status);
    if (error) {
        close(fd);
        return error;
    }
    error = hang_watcher_start(session, fd, &kept, &watcher);
    if (error)
        return error;
    session_printf(session,
                   "looking for hangs of %.3g s or more, in a ring of %llu MB (recorder: pid %d)\n"
                   "pid %d keeps a snapshot of each, as hang-PROCESS-PID-TIME.argus in %s\n"
                   "argus stop  ends it\n",
                   chosen->hang_ms / 1e3, (unsigned long long)(status.ring_bytes >> 20),
                   status.recorder_pid, watcher, folder);
    return NULL;
}

static struct argus_error *start_into_file(struct session *session,
                                           const struct recorder_options *chosen, const char *path)
{
    struct output output;
    struct recorder_status status = {0};
    struct argus_error *error = output_create(path, &output);
    if (error)
        return error;
    error = start(session, chosen, output.fd, &status);
    if (!error)
        error = output_commit(&output);
    output_deinit(&output);
    if (error)
        return error;
    session_printf(session,
                   "recording into %s, a ring of %llu MB (recorder: pid %d)\n"
                   "argus stop  ends it\n",
                   path, (unsigned long long)(chosen->file_ring_bytes >> 20), status.recorder_pid);
    return NULL;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct recorder_options chosen;
    const char *path = arguments_option(arguments, "output");
    /* it is a directory */
    if (arguments_has(arguments, "on-hang"))
        path = NULL;
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error)
        error = path ? file_options(arguments, &chosen) : memory_options(arguments, &chosen);
    if (!error)
        error = recording_options(session, arguments, &chosen);
    if (!error)
        error = hang_options(arguments, &chosen);
    if (error)
        return error;
    if (chosen.hang_ms)
        return start_on_hang(session, arguments, &chosen);
    return path ? start_into_file(session, &chosen, path) : start_in_memory(session, &chosen);
}

const struct command command_start = {
    .name = "start",
    .summary = "begin to record the system into a ring, in memory or in a file",
    .details = "The ring keeps the newest records and overwrites the oldest, so it can stay\n"
               "on. In memory, take a snapshot after a freeze; a ring in FILE survives a\n"
               "crash, and holds days. With --on-hang, each hang of an event loop that is away\n"
               "from its wait for at least that long is kept, half a second after the loop is\n"
               "back, or after 10 s more. Idle, stopped and suspended threads do not count as\n"
               "hangs. The folder is created if it does not exist; 'argus hangs FOLDER' lists\n"
               "its files. A hang that only the analysis can tell from normal work is kept if\n"
               "the analysis finds it; programs without a window count only if named. Of\n"
               "several hangs of one program in one place, the longest and the\n"
               "newest are kept. The desktop shows a notification with the cause of each hang.\n"
               "Needs root, or sudo. Only one recording can run at a time.",
    .example = "argus start\nargus start --ring-size 1G --rate 0\nargus start -o day.argus\n"
               "argus start --on-hang 2s --process gedit -o ~/hangs",
    .options = options,
    .flags = COMMAND_SHELL,
    .run = run,
};
