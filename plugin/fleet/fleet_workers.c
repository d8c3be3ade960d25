#include "plugin/fleet/fleet_workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compat.h"
#include "base/vec.h"
#include "plugin/fleet/fleet_analysis.h"
#include "report/json.h"

enum { MOST_JOBS = 64 };

struct worker {
    const struct fleet_path *file; /* NULL: it has nothing to do */
    pid_t pid;
    int fd; /* from which the answer is read */
    VEC(char) text;
};

struct pool {
    const struct fleet_work *work;
    struct worker workers[MOST_JOBS];
    unsigned jobs;
    size_t next, done; /* files */
};

/* --- in the child --- */

static void remark_nothing(void *data, const char *level, const char *text)
{
    (void)data, (void)level, (void)text;
}

static void show_nothing(void *data, const char *what, uint64_t done, uint64_t total)
{
    (void)data, (void)what, (void)done, (void)total;
}

static bool write_text(int fd, const char *text)
{
    size_t left = text ? strlen(text) : 0;
    for (ssize_t got; left; text += got, left -= (size_t)got)
        if ((got = write(fd, text, left)) < 0) {
            if (errno != EINTR)
                return false;
            got = 0;
        }
    return true;
}

/* Whether a file is nothing that any tool traces with, and has not the name of a trace either. */
static bool is_other_file(const char *path, const struct argus_error *error)
{
    size_t length = strlen(path);
    bool is_named = length > 6 && strcmp(path + length - 6, ".argus") == 0;
    return !is_named && error->code == ARGUS_ERROR_FORMAT &&
           strstr(error->message, "is not an Argus trace") &&
           (!strstr(error->message, ": it is ") ||
            strstr(error->message, "name a file that argus record"));
}

static void analyse(const struct pool *pool, const struct fleet_path *file, int fd)
{
    struct session *session = pool->work->session;
    json_t *answer = json_object(), *rows = NULL;
    session->host.remark = remark_nothing;
    session->host.progress = show_nothing;
    session->no_cache = true; /* few of these files are ever looked at again */
    struct argus_error *error = fleet_analyse(session, pool->work->arguments, file->path, &rows);
    if (error) {
        json_put(answer, "why", json_text(error->message));
        json_put(answer, "other", json_boolean(is_other_file(file->path, error)));
    } else {
        json_put(answer, "rows", rows);
    }
    char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
    _exit(text && write_text(fd, text) ? 0 : 1);
}

/* --- in the parent --- */

static struct argus_error *start(struct pool *pool, struct worker *worker)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return argus_error_os(errno, "cannot make a pipe");
    worker->file = pool->work->files[pool->next++];
    worker->text.length = 0;
    worker->pid = fork();
    if (worker->pid == 0)
        analyse(pool, worker->file, ends[1]);
    close(ends[1]);
    worker->fd = ends[0];
    if (worker->pid > 0)
        return NULL;
    close(worker->fd);
    worker->file = NULL;
    return argus_error_os(errno, "cannot start a process");
}

/* How a process ended that gave no answer. */
static const char *end_text(int status, char *buffer, size_t bytes)
{
    if (WIFSIGNALED(status))
        snprintf(buffer, bytes, "its analysis was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(buffer, bytes, "its analysis ended without an answer");
    return buffer;
}

static struct argus_error *finish(struct pool *pool, struct worker *worker)
{
    const struct fleet_work *work = pool->work;
    char how[160];
    int status = 0;
    close(worker->fd);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        ;
    json_t *answer =
        worker->text.length ? json_loadb(worker->text.data, worker->text.length, 0, NULL) : NULL;
    struct fleet_result result = {.file = worker->file,
                                  .rows = json_object_get(answer, "rows"),
                                  .why = json_string_value(json_object_get(answer, "why")),
                                  .is_other = json_is_true(json_object_get(answer, "other"))};
    worker->file = NULL;
    if (!result.rows && !result.why)
        result.why = end_text(status, how, sizeof(how));
    session_progress(work->session, "analysing", ++pool->done, work->count);
    struct argus_error *error = work->take(work->context, &result);
    json_decref(answer);
    return error;
}

/* `*ret_ended`: there is no more to read. */
static struct argus_error *take_bytes(struct worker *worker, bool *ret_ended)
{
    char block[65536];
    ssize_t got = read(worker->fd, block, sizeof(block));
    *ret_ended = got == 0 || (got < 0 && errno != EINTR);
    for (ssize_t i = 0; i < got; i++)
        if (!vec_push(&worker->text, block[i]))
            return argus_error_memory();
    return NULL;
}

static struct argus_error *wait_for_some(struct pool *pool)
{
    struct pollfd waits[MOST_JOBS];
    struct argus_error *error = NULL;
    for (unsigned i = 0; i < pool->jobs; i++)
        waits[i] = (struct pollfd){.fd = pool->workers[i].file ? pool->workers[i].fd : -1,
                                   .events = POLLIN};
    if (poll(waits, pool->jobs, -1) < 0 && errno != EINTR)
        return argus_error_os(errno, "cannot wait for the analysis");
    for (unsigned i = 0; !error && i < pool->jobs; i++) {
        bool ended = false;
        if (waits[i].fd < 0 || !waits[i].revents)
            continue;
        error = take_bytes(&pool->workers[i], &ended);
        if (!error && ended)
            error = finish(pool, &pool->workers[i]);
    }
    return error;
}

static void end_all(struct pool *pool)
{
    for (unsigned i = 0; i < pool->jobs; i++) {
        struct worker *worker = &pool->workers[i];
        if (worker->file) {
            kill(worker->pid, SIGKILL);
            while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
                ;
            close(worker->fd);
        }
        vec_deinit(&worker->text);
    }
}

struct argus_error *fleet_workers_run(const struct fleet_work *work)
{
    struct pool pool = {.work = work,
                        .jobs = work->jobs < 1           ? 1
                                : work->jobs > MOST_JOBS ? MOST_JOBS
                                                         : work->jobs};
    struct argus_error *error = NULL;
    while (!error && pool.done < work->count) {
        for (unsigned i = 0; !error && i < pool.jobs && pool.next < work->count; i++)
            if (!pool.workers[i].file)
                error = start(&pool, &pool.workers[i]);
        if (!error)
            error = session_interrupted(work->session) ? session_interrupt_error()
                                                       : wait_for_some(&pool);
    }
    end_all(&pool);
    session_end_progress(work->session);
    return error;
}
