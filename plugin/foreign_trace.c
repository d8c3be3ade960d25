#include "plugin/foreign_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "argus/frame_names.h"
#include "argus/unwind.h"
#include "base/compat.h"
#include "base/hash64.h"
#include "plugin/cache_trim.h"
#include "plugin/memory_limit.h"
#include "plugin/paths.h"
#include "recorder/client/output.h"

enum { IMPORTER_UNKNOWN_FORMAT = 3, IMPORTED_FD = 3, PROGRESS_EVERY_MS = 100 };

/* --- the importer --- */

/* Starts the importer with the new file as descriptor 3, and its messages in a pipe. */
static struct argus_error *start(const char *program, const char *path, int fd, int message_fd,
                                 pid_t *ret_pid)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", IMPORTED_FD);
    const char *const words[] = {program, number, path, NULL};
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, message_fd, STDERR_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, fd, IMPORTED_FD);
    if (!failed)
        failed = posix_spawn(ret_pid, program, &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed ? argus_error_os(failed, "cannot start %s", program) : NULL;
}

/* Waits until there is something to read from the importer, or it has ended. False: the session was
 * interrupted before that. */
static bool await_message(struct session *session, int fd)
{
    struct pollfd wanted = {fd, POLLIN, 0};
    do {
        session_progress(session, "importing", 0, 0);
        if (session_interrupted(session))
            return false;
    } while (poll(&wanted, 1, PROGRESS_EVERY_MS) <= 0);
    return true;
}

/* The last line of what the importer says; empty: it said nothing. False: interrupted. */
static bool read_message(struct session *session, int fd, char *ret, size_t room)
{
    size_t length = 0;
    ssize_t got = 1;
    bool go_on;
    while ((go_on = await_message(session, fd)) &&
           ((got = read(fd, ret + length, room - 1 - length)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0 && (length += (size_t)got) == room - 1)
            length = 0; /* only the end matters */
    while (length && ret[length - 1] == '\n')
        length--;
    ret[length] = '\0';
    const char *line = strrchr(ret, '\n');
    if (line)
        memmove(ret, line + 1, strlen(line));
    return go_on;
}

/* The libraries that read trace.dat, CTF and the formats of tracepoints do not check all that they
 * read. */
static const char *cause_of_end(int status)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool is_crash = number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGFPE;
    return is_crash ? "; the file is probably damaged in a way that its reader does not check" : "";
}

static struct argus_error *judge(const char *path, pid_t pid, const char *message, bool *ret_known)
{
    int status;
    pid_t ended;
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        ;
    if (ended < 0) /* the host ignores SIGCHLD */
        return argus_error_os(errno, "cannot tell how argus-import ended");
    *ret_known = !WIFEXITED(status) || WEXITSTATUS(status) != IMPORTER_UNKNOWN_FORMAT;
    if (!*ret_known || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return NULL;
    if (*message && WIFEXITED(status))
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s", message);
    return argus_error_create(ARGUS_ERROR_FORMAT,
                              "cannot import %s: argus-import ended by %s %d%s%s%s", path,
                              WIFEXITED(status) ? "exit code" : "signal",
                              WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
                              cause_of_end(status), *message ? ": " : "", message);
}

/* Ends the importer, which has nothing to clean up. */
static struct argus_error *interrupt(pid_t pid)
{
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return session_interrupt_error();
}

static struct argus_error *run(struct session *session, const char *program, const char *path,
                               int fd, bool *ret_known)
{
    int message[2];
    char text[1024];
    pid_t pid;
    if (pipe2(message, O_CLOEXEC) < 0)
        return argus_error_os(errno, "cannot make a pipe");
    struct argus_error *error = start(program, path, fd, message[1], &pid);
    close(message[1]);
    if (!error)
        error = read_message(session, message[0], text, sizeof(text))
                    ? judge(path, pid, text, ret_known)
                    : interrupt(pid);
    close(message[0]);
    return error;
}

struct argus_error *foreign_trace_import(struct session *session, const char *path, int fd,
                                         bool *ret_known)
{
    char *program = paths_find_importer();
    *ret_known = false;
    if (!program)
        return NULL;
    struct argus_error *error = run(session, program, path, fd, ret_known);
    free(program);
    return error;
}

/* --- completing the file --- */

static bool show_progress(void *context, const char *what, double share)
{
    struct session *session = context;
    session_progress(session, what, (uint64_t)(share * 100), 100);
    return !session_interrupted(session);
}

void foreign_trace_finish(struct session *session, const char *path)
{
    struct argus_error *error = argus_unwind_file(path, NULL, show_progress, session, NULL);
    if (!error)
        error = argus_names_append(path, show_progress, session, NULL);
    session_end_progress(session);
    if (error)
        session_warn(session, "names of functions may be missing: %s", error->message);
    argus_error_destroy(error);
}

/* --- the cache --- */

static uint64_t add_status(uint64_t hash, const struct stat *status)
{
    const uint64_t words[] = {(uint64_t)status->st_size, (uint64_t)status->st_ino,
                              (uint64_t)status->st_mtim.tv_sec, (uint64_t)status->st_mtim.tv_nsec};
    return hash64(hash, words, sizeof(words));
}

enum { MOST_DEPTH = 4 }; /* of the folders of a trace: LTTng has ust/uid/1000/64-bit */

/* A trace in a folder changes with any of its files. The order of directory entries is no part of
 * the result. Takes `fd`. */
static uint64_t sum_folder(int fd, int depth)
{
    uint64_t sum = 0;
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder && fd >= 0)
        close(fd);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat status;
        if (entry->d_name[0] == '.' ||
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISREG(status.st_mode))
            sum += add_status(0, &status);
        else if (S_ISDIR(status.st_mode) && depth < MOST_DEPTH)
            sum += sum_folder(openat(dirfd(folder), entry->d_name,
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                              depth + 1);
    }
    if (folder)
        closedir(folder);
    return sum;
}

static uint64_t add_folder(uint64_t hash, const char *path)
{
    uint64_t sum = sum_folder(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0);
    return hash64(hash, &sum, sizeof(sum));
}

/* Another importer may read the same file in another way. */
static uint64_t add_importer(uint64_t hash)
{
    struct stat status;
    char *program = paths_find_importer();
    if (program && stat(program, &status) == 0)
        hash = add_status(hash, &status);
    free(program);
    return hash;
}

/* Where the imported trace is kept. NULL: there is no cache, or no such file. */
static char *place_of(const char *path, const char *folder)
{
    char whole[PATH_MAX], *place;
    struct stat status;
    if (!folder || !realpath(path, whole) || stat(whole, &status) != 0)
        return NULL;
    uint64_t hash = add_status(hash64(0, whole, strlen(whole)), &status);
    if (S_ISDIR(status.st_mode))
        hash = add_folder(hash, whole);
    hash = add_importer(hash);
    const char *slash = strrchr(whole, '/');
    return asprintf(&place, "%s/%.150s-%016" PRIx64 ".argus", folder, slash + 1, hash) < 0 ? NULL
                                                                                           : place;
}

static struct argus_error *import_to(struct session *session, const char *path, const char *place,
                                     bool *ret_known)
{
    struct output output;
    struct argus_error *error = output_create(place, &output);
    if (error)
        return error;
    session_progress(session, "importing", 0, 0);
    error = foreign_trace_import(session, path, output.fd, ret_known);
    if (!error && *ret_known)
        error = output_commit(&output);
    output_deinit(&output);
    if (!error && *ret_known) {
        foreign_trace_finish(session, place);
        if (session_interrupted(session)) { /* names may be missing: no copy for later commands */
            unlink(place);
            error = session_interrupt_error();
        }
    }
    session_end_progress(session);
    return error;
}

static struct argus_error *open_imported(struct session *session, const char *path,
                                         const char *folder, const char *place,
                                         struct argus_error *refused, struct argus_trace **ret)
{
    bool known = true;
    struct argus_error *error = NULL;
    if (access(place, R_OK) != 0) {
        paths_make_directories(folder);
        cache_trim(folder, ".argus", FOREIGN_TRACE_MOST_BYTES);
        cache_trim(folder, ".part", FOREIGN_TRACE_MOST_BYTES / 4); /* of imports that were killed */
        error = import_to(session, path, place, &known);
    }
    if (!error && !known)
        return refused;
    argus_error_destroy(refused);
    if (error)
        return error;
    memory_limit_for(session, place); /* so far it was that of the foreign file */
    error = memory_limit_open(session, place, ret);
    if (error)
        return argus_error_context(error, "the imported copy of %s", path);
    error = argus_trace_set_name(*ret, path);
    if (error) {
        argus_trace_close(*ret);
        *ret = NULL;
    }
    return error;
}

struct argus_error *foreign_trace_open(struct session *session, const char *path,
                                       struct argus_error *refused, struct argus_trace **ret)
{
    char *cache = paths_cache_directory(), *folder = NULL;
    if (cache && asprintf(&folder, "%s/imported", cache) < 0)
        folder = NULL;
    char *place = place_of(path, folder);
    struct argus_error *error =
        place ? open_imported(session, path, folder, place, refused, ret) : refused;
    free(place);
    free(folder);
    free(cache);
    return error;
}
