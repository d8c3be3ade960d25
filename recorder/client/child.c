#include "client/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compat.h"
#include "platform.h"

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Searches PATH as execvp() does, so that a mistyped name is an error before anything is
 * attached. */
static struct argus_error *check_program(const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/')) {
        if (is_program(name))
            return NULL;
        return argus_error_os(access(name, X_OK) < 0 ? errno : EACCES, "cannot run %s", name);
    }
    char *directories = strdup(path ? path : "/bin:/usr/bin"), *save = NULL;
    if (!directories)
        return argus_error_memory();
    bool found = false;
    for (char *d = strtok_r(directories, ":", &save); d && !found; d = strtok_r(NULL, ":", &save)) {
        char candidate[PATH_MAX];
        if (snprintf(candidate, sizeof(candidate), "%s/%s", d, name) < (int)sizeof(candidate))
            found = is_program(candidate);
    }
    free(directories);
    if (found)
        return NULL;
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "cannot run %s: there is no such program in PATH", name);
}

/* In the child: waits for the go byte, then executes the program. Does not return. */
static void run(char *const *argv, int go_fd, int error_fd)
{
    char word;
    if (read(go_fd, &word, 1) != 1)
        _exit(127);
    execvp(argv[0], argv);
    int failed = errno;
    if (write(error_fd, &failed, sizeof(failed)) < 0)
        _exit(126);
    _exit(127);
}

struct argus_error *child_create(char *const *argv, struct child *ret)
{
    int go[2], failure[2];
    struct argus_error *error = check_program(argv[0]);
    if (error)
        return error;
    if (pipe2(go, O_CLOEXEC) < 0)
        return argus_error_os(errno, "cannot make a pipe");
    if (pipe2(failure, O_CLOEXEC) < 0) {
        close(go[0]);
        close(go[1]);
        return argus_error_os(errno, "cannot make a pipe");
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(go[1]); /* otherwise the child would never see that its parent is gone */
        run(argv, go[0], failure[1]);
    }
    int failed = errno;
    close(go[0]);
    close(failure[1]);
    *ret = (struct child){.pid = pid, .go_fd = go[1], .error_fd = failure[0], .pid_fd = -1};
    if (pid > 0)
        ret->pid_fd = platform_watch_process(pid);
    if (pid > 0 && ret->pid_fd >= 0)
        return NULL;
    if (pid > 0)
        failed = errno;
    child_deinit(ret);
    return argus_error_os(failed, "cannot start a process");
}

struct argus_error *child_go(struct child *child, const char *name)
{
    int failed = 0;
    if (write(child->go_fd, "g", 1) != 1)
        return argus_error_os(errno, "cannot start %s", name);
    close(child->go_fd);
    child->go_fd = -1;
    ssize_t got;
    do
        got = read(child->error_fd, &failed, sizeof(failed));
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return NULL; /* a successful exec has closed the pipe */
    child_exit_code(child);
    return argus_error_os(failed, "cannot run %s", name);
}

bool child_wait(struct child *child, int other_fd)
{
    struct pollfd polled[2] = {{.fd = child->pid_fd, .events = POLLIN},
                               {.fd = other_fd, .events = POLLIN}};
    while (poll(polled, 2, -1) < 0 && errno == EINTR)
        ;
    return polled[0].revents != 0;
}

int child_exit_code(struct child *child)
{
    int status = 0;
    if (child->pid <= 0)
        return 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    child->pid = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_deinit(struct child *child)
{
    if (child->go_fd >= 0)
        close(child->go_fd);
    child->go_fd = -1;
    child_exit_code(child); /* a child that was never started exits by itself */
    if (child->error_fd >= 0)
        close(child->error_fd);
    if (child->pid_fd >= 0)
        close(child->pid_fd);
    child->error_fd = child->pid_fd = -1;
}
