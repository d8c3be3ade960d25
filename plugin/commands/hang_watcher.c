#include "plugin/commands/hang_watcher.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/compat.h"
#include "plugin/commands/hang_folder.h"
#include "plugin/commands/recording_command.h"
#include "recorder/background.h"

/* hang-PROCESS-PID-TIME.argus; whatever is in the process's name, it is one name in this directory. */
static void make_name(const struct reply_hang *hang, unsigned attempt, char *ret, size_t room)
{
    char process[sizeof(hang->process)], when[32], again[16] = "";
    time_t now = time(NULL);
    struct tm local;
    size_t i = 0;
    for (; hang->process[i]; i++) {
        unsigned char c = (unsigned char)hang->process[i];
        process[i] = isalnum(c) || c == '-' || c == '_' ? (char)c : '_';
    }
    process[i] = '\0';
    localtime_r(&now, &local);
    strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &local);
    if (attempt)
        snprintf(again, sizeof(again), "-%u", attempt + 1);
    snprintf(ret, room, "hang-%s-%u-%s%s.argus", process, hang->pid, when, again);
}

/* Never an existing file, never through a link: the directory may be one that others can write to. */
static struct argus_error *create_file(const struct reply_hang *hang, char *ret_name, size_t room,
                                       int *ret_fd)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        make_name(hang, attempt, ret_name, room);
        *ret_fd = open(ret_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (*ret_fd >= 0)
            return NULL;
        if (errno != EEXIST)
            break;
    }
    return argus_error_os(errno, "cannot write %s", ret_name);
}

static struct argus_error *keep(struct session *session, struct recorder_client *client,
                                const struct reply_hang *hang, bool with_names)
{
    char name[NAME_MAX];
    int fd;
    struct recorder_status status = {0};
    struct argus_error *error = create_file(hang, name, sizeof(name), &fd);
    if (error)
        return error;
    error = recorder_snapshot(client, fd, &status);
    close(fd);
    if (error) {
        unlink(name);
        return error;
    }
    recording_finish_file(session, name, &status, with_names);
    return NULL;
}

/* A loop that comes back takes all that has piled up, one input after the other, before it waits again: only then is the
 * hang over for an analysis too. */
static void let_settle(const struct reply_hang *hang)
{
    const struct timespec moment = {.tv_nsec = 500000000};
    if (hang->ended)
        nanosleep(&moment, NULL);
}

/* Ends with the recording. */
static void watch(struct session *session, struct recorder_client *client,
                  const struct hang_files *kept)
{
    struct reply_hang hang;
    uint64_t files = 0;
    struct argus_error *error = NULL;
    while (!error && !(error = recorder_next_hang(client, &hang))) {
        if (files >= kept->most) {
            error = recorder_hang_done(client, "as many files as --max-files allows are written");
            continue;
        }
        let_settle(&hang);
        struct argus_error *failed = keep(session, client, &hang, kept->with_names);
        files += failed == NULL;
        error = recorder_hang_done(client, failed ? failed->message : NULL);
        argus_error_destroy(failed);
    }
    argus_error_destroy(error);
}

/* In the child: connects, tells the parent by one byte that it watches, and goes on alone. */
static void watcher_main(struct session *session, int directory_fd, const struct hang_files *kept,
                         int ready_fd)
{
    struct recorder_client *client = NULL;
    setsid();
    if (fchdir(directory_fd) < 0 || !hang_folder_become_invoker())
        return;
    struct argus_error *error = recorder_connect(&client);
    if (!error)
        error = recorder_watch(client);
    if (error) {
        dprintf(ready_fd, "%s", error->message);
    } else {
        background_leave_terminal();
        close(ready_fd);
        watch(session, client, kept);
    }
    argus_error_destroy(error);
    recorder_close(client);
}

/* The child says nothing when all is well. */
static struct argus_error *read_failure(int fd)
{
    char text[1024];
    size_t length = background_hear(fd, text, sizeof(text));
    return length ? argus_error_create(ARGUS_ERROR_IO, "cannot watch for hangs: %s", text) : NULL;
}

struct argus_error *hang_watcher_start(struct session *session, int fd,
                                       const struct hang_files *kept, pid_t *ret_pid)
{
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) < 0) {
        close(fd);
        return argus_error_os(errno, "cannot make a pipe");
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ready[0]);
        watcher_main(session, fd, kept, ready[1]);
        _exit(0);
    }
    int failed = pid < 0 ? errno : 0;
    close(fd);
    close(ready[1]);
    struct argus_error *error =
        failed ? argus_error_os(failed, "cannot start a process") : read_failure(ready[0]);
    close(ready[0]);
    *ret_pid = pid;
    return error;
}
