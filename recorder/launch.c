#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "background.h"
#include "base/compat.h"
#include "base/own_path.h"

/* Beside our own program (build/bin, or where both are installed); else what PATH has. Inside LLDB "our own program" is
 * the debugger, and PATH it is. */
static void find_recorder(char ret[PATH_MAX])
{
    char self[PATH_MAX];
    char *slash = own_path(self, sizeof(self)) ? strrchr(self, '/') : NULL;
    if (slash)
        *slash = '\0';
    if (!slash || snprintf(ret, PATH_MAX, "%s/argus-recorder", self) >= PATH_MAX ||
        access(ret, X_OK) < 0)
        snprintf(ret, PATH_MAX, "argus-recorder");
}

static int redirect(posix_spawn_file_actions_t *actions, int input_fd, int output_fd)
{
    int failed = posix_spawn_file_actions_init(actions);
    if (!failed && input_fd >= 0)
        failed = posix_spawn_file_actions_adddup2(actions, input_fd, STDIN_FILENO);
    return failed ? failed : posix_spawn_file_actions_adddup2(actions, output_fd, STDOUT_FILENO);
}

struct argus_error *launch_recorder_verb(const char *verb, int input_fd, int output_fd,
                                         bool with_sudo, pid_t *ret_pid)
{
    char recorder[PATH_MAX];
    find_recorder(recorder);
    const char *plain[] = {recorder, verb, NULL};
    const char *through_sudo[] = {"sudo", "--", recorder, verb, NULL};
    const char **arguments = with_sudo ? through_sudo : plain;
    posix_spawn_file_actions_t actions;
    int failed = redirect(&actions, input_fd, output_fd);
    if (!failed)
        failed =
            posix_spawnp(ret_pid, arguments[0], &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed && with_sudo)
        return argus_error_create(
            ARGUS_ERROR_PERMISSION,
            "this needs root, and sudo cannot be started (%s): run it as root", strerror(failed));
    if (failed)
        return argus_error_os(failed, "cannot start %s", recorder);
    return NULL;
}

/* "ready", "error CODE SENTENCE", or nothing at all, when sudo refused or the program is not there. */
static struct argus_error *judge_line(const char *line, bool with_sudo)
{
    int code, sentence = 0;
    if (strcmp(line, "ready") == 0)
        return NULL;
    if (sscanf(line, "error %d %n", &code, &sentence) == 1 && sentence > 0 && code >= 0 &&
        code <= ARGUS_ERROR_QUESTION)
        return argus_error_create((enum argus_error_code)code, "%s", line + sentence);
    if (with_sudo)
        return argus_error_create(
            ARGUS_ERROR_PERMISSION,
            "recording needs root, and sudo did not start argus-recorder: run "
            "argus as root, or at a terminal where sudo can ask");
    return argus_error_create(ARGUS_ERROR_IO, "argus-recorder ended before it was ready");
}

struct argus_error *launch_recorder(void)
{
    char line[2048];
    int output[2], status;
    pid_t pid = -1;
    bool with_sudo = geteuid() != 0;
    if (pipe2(output, O_CLOEXEC) < 0)
        return argus_error_os(errno, "cannot make a pipe");
    struct argus_error *error = launch_recorder_verb("serve", -1, output[1], with_sudo, &pid);
    close(output[1]);
    if (!error) {
        background_hear(output[0], line, sizeof(line));
        line[strcspn(line, "\n")] = '\0';
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        error = judge_line(line, with_sudo);
    }
    close(output[0]);
    return error;
}
