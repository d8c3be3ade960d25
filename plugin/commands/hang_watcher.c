#include "plugin/commands/hang_watcher.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/compat.h"
#include "plugin/commands/hang_finisher.h"
#include "plugin/commands/hang_folder.h"
#include "recorder/background.h"

#define NS_PER_S     1000000000ull
#define MOST_REMARKS 10

/* hang-PROCESS-PID-TIME.argus. The result is a single file name, whatever the process's name
 * contains. */
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

/* Never opens an existing file or follows a link, because others may be able to write to the
 * directory. */
static struct argus_error *create_file(const char *folder, const struct reply_hang *hang,
                                       char *ret_name, size_t room, int *ret_fd)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        make_name(hang, attempt, ret_name, room);
        *ret_fd = open(ret_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (*ret_fd >= 0)
            return NULL;
        if (errno != EEXIST)
            break;
    }
    return argus_error_os(errno, "cannot write %s/%s", folder, ret_name);
}

/* The folder may have been removed since the start. */
static struct argus_error *enter_folder(const char *folder)
{
    struct stat here;
    int fd;
    if (stat(".", &here) == 0 && here.st_nlink)
        return NULL;
    struct argus_error *error = hang_folder_open(folder, &fd);
    if (error)
        return error;
    if (fchdir(fd) < 0)
        error = argus_error_os(errno, "cannot enter the folder %s", folder);
    close(fd);
    return error;
}

/* --- programs that freeze again and again --- */

/* A program may freeze all day with hangs of one kind, for which there are enough files already.
 * Recording each would cost time and disk space for files that replace each other. Then only one
 * hang in a while is kept, unless it is longer than the others. The same pauses follow a doubtful
 * hang that was none, in the same place of the same program. */
#define MOST_UNFINISHED  8
#define PATIENCE_MS      10000 /* while another snapshot is written */
#define FULL_TIMES       3     /* so many times in a row before the pauses begin */
#define FIRST_PAUSE_NS   (60ull * NS_PER_S)
#define LONGEST_PAUSE_NS (3600ull * NS_PER_S)
#define MOST_REPEATERS   256 /* then the one whose pause ends first is forgotten */

struct repeater {
    char process[PROTOCOL_COMM_BYTES];
    uint64_t doubt;      /* struct reply_hang; 0: its hangs that leave no doubt */
    unsigned full_times; /* times in a row that a file of a full kind was written */
    uint64_t pause_ns;   /* length of the latest pause */
    uint64_t until_ns;   /* CLOCK_MONOTONIC; earlier hangs are not kept … */
    uint64_t longest_ns; /* … unless they are longer */
};

struct watcher {
    struct session *session;
    struct recorder_client *client;
    const struct hang_files *kept;
    struct hang_finisher finisher;
    VEC(struct repeater) repeaters;
    unsigned remark_count;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct repeater *find_repeater(const struct watcher *watcher, const struct reply_hang *hang)
{
    for (size_t i = 0; i < watcher->repeaters.length; i++) {
        struct repeater *repeater = &watcher->repeaters.data[i];
        if (strcmp(repeater->process, hang->process) == 0 && repeater->doubt == hang->doubt)
            return repeater;
    }
    return NULL;
}

/* NULL without memory. */
static struct repeater *add_repeater(struct watcher *watcher, const struct reply_hang *hang)
{
    struct repeater new = {.doubt = hang->doubt}, *first = watcher->repeaters.data;
    memcpy(new.process, hang->process, sizeof(new.process));
    if (watcher->repeaters.length < MOST_REPEATERS) {
        bool added = vec_push(&watcher->repeaters, new);
        return added ? &watcher->repeaters.data[watcher->repeaters.length - 1] : NULL;
    }
    for (size_t i = 1; i < watcher->repeaters.length; i++)
        if (watcher->repeaters.data[i].until_ns < first->until_ns)
            first = &watcher->repeaters.data[i];
    *first = new;
    return first;
}

static bool is_paused(const struct watcher *watcher, const struct reply_hang *hang)
{
    const struct repeater *repeater = find_repeater(watcher, hang);
    return repeater && now_ns() < repeater->until_ns &&
           (hang->doubt || hang->duration_ns <= repeater->longest_ns);
}

/* Whether files of this program come faster than they can be finished. */
static bool has_unfinished_files(const struct watcher *watcher, const struct reply_hang *hang)
{
    size_t count = 0;
    for (size_t i = watcher->finisher.next; i < watcher->finisher.jobs.length; i++)
        count += strcmp(watcher->finisher.jobs.data[i].hang.process, hang->process) == 0;
    return count >= MOST_UNFINISHED;
}

static void note_repeated(struct watcher *watcher, const struct hang_finished *finished)
{
    struct repeater *repeater = find_repeater(watcher, &finished->hang);
    if (!repeater)
        repeater = add_repeater(watcher, &finished->hang);
    if (!repeater)
        return;
    if (finished->hang.duration_ns > repeater->longest_ns)
        repeater->longest_ns = finished->hang.duration_ns;
    repeater->full_times = finished->full ? repeater->full_times + 1 : 0;
    if (repeater->full_times < FULL_TIMES && !finished->is_none) {
        repeater->pause_ns = repeater->until_ns = 0;
        return;
    }
    repeater->pause_ns = repeater->pause_ns ? 2 * repeater->pause_ns : FIRST_PAUSE_NS;
    if (repeater->pause_ns > LONGEST_PAUSE_NS)
        repeater->pause_ns = LONGEST_PAUSE_NS;
    repeater->until_ns = now_ns() + repeater->pause_ns;
}

/* --- one hang --- */

static struct argus_error *take_snapshot(struct watcher *watcher, const struct reply_hang *hang,
                                         struct hang_job *ret)
{
    const char *folder = watcher->kept->folder;
    *ret = (struct hang_job){.hang = *hang};
    struct argus_error *error = enter_folder(folder);
    if (!error)
        error = create_file(folder, hang, ret->name, sizeof(ret->name), &ret->fd);
    if (error)
        return error;
    hang_folder_set_unfinished(ret->fd);
    error = recorder_snapshot(watcher->client, ret->fd, PATIENCE_MS, &ret->status);
    if (!error)
        return NULL;
    hang_job_end(ret);
    unlink(ret->name);
    return error;
}

static struct argus_error *drop_doubt(struct watcher *watcher)
{
    struct argus_error *error = recorder_hang_done(watcher->client, WATCHED_TAKEN, NULL);
    return error ? error : recorder_hang_done(watcher->client, WATCHED_NO_HANG, NULL);
}

/* An error is one of the connection: the recording has ended. */
static struct argus_error *keep(struct watcher *watcher, const struct reply_hang *hang)
{
    struct hang_job job;
    if (hang->doubt && is_paused(watcher, hang))
        return drop_doubt(watcher);
    if (is_paused(watcher, hang))
        return recorder_hang_done(watcher->client, WATCHED_NOT_KEPT,
                                  "its program freezes in the same place again and again, and "
                                  "as many files as --max-files allows have that");
    if (has_unfinished_files(watcher, hang))
        return recorder_hang_done(watcher->client, WATCHED_NOT_KEPT,
                                  "the files of earlier ones of its program are not finished yet");
    /* no pause: the recorder reports the end of a hang half a second late (hang_watch.c) */
    struct argus_error *failed = take_snapshot(watcher, hang, &job);
    if (!failed && !hang_finisher_add(&watcher->finisher, &job)) {
        hang_job_end(&job);
        failed = argus_error_memory();
    }
    struct argus_error *error =
        recorder_hang_done(watcher->client, failed ? WATCHED_NOT_KEPT : WATCHED_TAKEN,
                           failed ? failed->message : NULL);
    argus_error_destroy(failed);
    return error;
}

/* --- the watcher's loop --- */

static struct argus_error *say_remark(struct watcher *watcher, const char *remark)
{
    if (!remark[0] || watcher->remark_count == MOST_REMARKS)
        return NULL;
    watcher->remark_count++;
    return recorder_hang_done(watcher->client, WATCHED_REMARK, remark);
}

static struct argus_error *end_file(struct watcher *watcher)
{
    struct hang_finished finished;
    hang_finisher_wait(&watcher->finisher, &finished);
    note_repeated(watcher, &finished);
    struct argus_error *error = recorder_hang_done(
        watcher->client, finished.is_none ? WATCHED_NO_HANG : WATCHED_KEPT, NULL);
    return error ? error : say_remark(watcher, finished.remark);
}

/* Handles the next event: a hang, or a finished file. */
static struct argus_error *step(struct watcher *watcher)
{
    struct reply_hang hang;
    bool works = hang_finisher_begin(&watcher->finisher);
    struct pollfd fds[2] = {{.fd = recorder_poll_fd(watcher->client), .events = POLLIN},
                            {.fd = works ? watcher->finisher.fd : -1, .events = POLLIN}};
    if (!recorder_has_hang(watcher->client) && poll(fds, 2, -1) < 0)
        return errno == EINTR ? NULL : argus_error_os(errno, "cannot wait for hangs");
    if (recorder_has_hang(watcher->client) || fds[0].revents) {
        struct argus_error *error = recorder_next_hang(watcher->client, &hang);
        return error ? error : keep(watcher, &hang);
    }
    return fds[1].revents ? end_file(watcher) : NULL;
}

/* Runs until the recording has ended and all written files are finished. */
static void watch(struct watcher *watcher)
{
    struct hang_finished finished;
    struct argus_error *error = NULL;
    while (!error)
        error = step(watcher);
    argus_error_destroy(error);
    while (hang_finisher_begin(&watcher->finisher))
        hang_finisher_wait(&watcher->finisher, &finished);
    hang_finisher_deinit(&watcher->finisher);
    vec_deinit(&watcher->repeaters);
}

/* Runs in the child: connects, sends the parent one byte when it watches, and continues in the
 * background. */
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
        struct watcher watcher = {
            .session = session,
            .client = client,
            .kept = kept,
            .finisher = {.session = session, .client = client, .wanted = kept, .fd = -1}};
        watch(&watcher);
    }
    argus_error_destroy(error);
    recorder_close(client);
}

/* The child sends a message only if it failed. */
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
