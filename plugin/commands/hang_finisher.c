#include "plugin/commands/hang_finisher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compat.h"
#include "plugin/commands/hang_explain.h"
#include "plugin/commands/hang_folder.h"
#include "plugin/commands/hang_notice.h"
#include "plugin/commands/recording_command.h"

#define NICE 10 /* yields to the user's programs; a higher value would delay `argus stop` */

void hang_job_end(const struct hang_job *job)
{
    hang_folder_set_finished(job->fd);
    close(job->fd);
}

/* Keeps the first failure for `argus status`; the file is useful even so. */
static void remark(struct hang_finished *ret, const char *name, struct argus_error *error)
{
    if (error && !ret->remark[0])
        snprintf(ret->remark, sizeof(ret->remark), "%s: %s", name, error->message);
    argus_error_destroy(error);
}

static struct argus_kept_hang kept_hang(const struct reply_hang *hang)
{
    struct argus_kept_hang kept = {.pid = hang->pid,
                                   .tid = hang->tid,
                                   .start_ns = hang->start_ns,
                                   .duration_ns = hang->duration_ns,
                                   .over = hang->ended != 0};
    snprintf(kept.process, sizeof(kept.process), "%s", hang->process);
    return kept;
}

static struct argus_error *diagnose(const struct hang_finisher *finisher, const char *name,
                                    struct argus_kept_hang *kept, enum hang_standing *ret_standing)
{
    /* graphs are as large as traces, and few of these are ever examined */
    finisher->session->no_cache = true;
    const struct argus_kept_hang seen = *kept;
    struct argus_error *error =
        hang_explain_file(finisher->session, finisher->wanted->arguments, name, kept, ret_standing);
    if (error)
        *ret_standing = HANG_LISTED; /* it is not known, so the file is kept */
    if (!error && (kept->start_ns != seen.start_ns || kept->duration_ns != seen.duration_ns))
        error = argus_kept_hang_append(name, kept);
    return error || !kept->diagnosed ? error : argus_kept_hang_append_diagnosis(name, kept);
}

/* Whether it was no hang, or one of which nothing is recorded. The recorder does not know what is
 * pending for a worker, and can take the wait of a nested loop, such as a prompt's, for one in a
 * handler. If the user named the process, only doubtful hangs are none: the others are kept
 * whatever they mean. */
static bool is_none(const struct hang_finisher *finisher, const struct reply_hang *hang,
                    enum hang_standing standing)
{
    bool is_named = arguments_has(finisher->wanted->arguments, "process");
    if (standing == HANG_LISTED)
        return false;
    return hang->doubt || (!is_named && (hang->tid != hang->pid || standing != HANG_UNCLEAR));
}

static void finish(const struct hang_finisher *finisher, const struct hang_job *job,
                   struct hang_finished *ret)
{
    struct argus_kept_hang kept = kept_hang(&job->hang);
    enum hang_standing standing = HANG_LISTED;
    *ret = (struct hang_finished){.hang = job->hang};
    remark(ret, job->name, argus_kept_hang_append(job->name, &kept));
    remark(ret, job->name,
           recording_finish_file(finisher->session, job->name, &job->status,
                                 finisher->wanted->with_names));
    remark(ret, job->name, diagnose(finisher, job->name, &kept, &standing));
    if (is_none(finisher, &job->hang, standing)) {
        ret->is_none = true;
        if (standing == HANG_UNRECORDED && !job->hang.doubt)
            remark(ret, job->name,
                   argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                      "removed: the ring held nothing of the hang any more; "
                                      "--ring-size makes it larger"));
        unlink(job->name);
        return;
    }
    remark(ret, job->name, hang_quota_apply(&finisher->wanted->quota, job->name, &ret->full));
    hang_job_end(job); /* the process of the notification stays for longer */
    bool is_kept = access(job->name, F_OK) == 0;
    ret->is_none = !is_kept && !ret->full; /* of the same freeze as another file */
    if (!finisher->wanted->quiet && is_kept)
        remark(ret, "no desktop notification", hang_notice_send(job->name, &kept));
}

/* Finishes one file in the child process. Closes the copy of the watcher's connection first,
 * because the recorder treats any process that holds the connection as the watcher; and the files
 * that others will finish. */
static void finish_alone(const struct hang_finisher *finisher, const struct hang_job *job, int fd)
{
    struct hang_finished finished;
    recorder_close(finisher->client);
    for (size_t i = finisher->next; i < finisher->jobs.length; i++)
        if (&finisher->jobs.data[i] != job)
            close(finisher->jobs.data[i].fd);
    setpriority(PRIO_PROCESS, 0, NICE);
    finish(finisher, job, &finished);
    _exit(write(fd, &finished, sizeof(finished)) != (ssize_t)sizeof(finished));
}

bool hang_finisher_add(struct hang_finisher *finisher, const struct hang_job *job)
{
    if (finisher->next == finisher->jobs.length)
        finisher->next = finisher->jobs.length = 0;
    return vec_push(&finisher->jobs, *job);
}

bool hang_finisher_begin(struct hang_finisher *finisher)
{
    int ends[2];
    if (finisher->fd >= 0 || finisher->next == finisher->jobs.length || pipe2(ends, O_CLOEXEC) < 0)
        return finisher->fd >= 0;
    finisher->pid = fork();
    if (finisher->pid == 0)
        finish_alone(finisher, &finisher->jobs.data[finisher->next], ends[1]);
    close(ends[1]);
    finisher->fd = ends[0];
    return true;
}

void hang_finisher_wait(struct hang_finisher *finisher, struct hang_finished *ret)
{
    const struct hang_job *job = &finisher->jobs.data[finisher->next++];
    ssize_t got;
    while ((got = read(finisher->fd, ret, sizeof(*ret))) < 0 && errno == EINTR)
        ;
    if (got != (ssize_t)sizeof(*ret)) {
        *ret = (struct hang_finished){.hang = job->hang};
        snprintf(ret->remark, sizeof(ret->remark), "%.200s is not finished: its process failed",
                 job->name);
    }
    hang_job_end(job);
    close(finisher->fd);
    finisher->fd = -1;
    if (finisher->pid > 0)
        waitpid(finisher->pid, NULL, 0);
}

void hang_finisher_deinit(struct hang_finisher *finisher)
{
    vec_deinit(&finisher->jobs);
}
