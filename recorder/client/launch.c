#include "client/launch.h"

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

/* The recorder in the folder of the running program (build/bin, or the folder of an installation),
 * else the one in PATH. Inside LLDB the running program is the debugger, so PATH decides. */
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

/* Arguments to put before the recorder's command line, up to the first NULL. */
static const char *const launchers[][3] = {
    [LAUNCH_PLAIN] = {NULL},
    [LAUNCH_SUDO] = {"sudo", "--"},
    [LAUNCH_SUDO_SILENT] = {"sudo", "-n", "--"},
    [LAUNCH_PKEXEC] = {"pkexec"},
};

/* The stepper steps processes of all users for root, but not for a user whom sudo made root for
 * this one program. `sudo argus` hands down the variables by which it tells them apart, so they are
 * left out. The caller frees the array; NULL: no memory. */
static char **environment_of_root(void)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **ret = malloc((count + 1) * sizeof(*ret));
    for (size_t i = 0; ret && i < count; i++)
        if (strncmp(environ[i], "SUDO_UID=", 9) != 0 && strncmp(environ[i], "PKEXEC_UID=", 11) != 0)
            ret[kept++] = environ[i];
    if (ret)
        ret[kept] = NULL;
    return ret;
}

struct argus_error *launch_recorder_verb(const char *verb, int input_fd, int output_fd,
                                         enum launch_by by, pid_t *ret_pid)
{
    char recorder[PATH_MAX];
    const char *arguments[6];
    size_t count = 0;
    find_recorder(recorder);
    for (; count < 3 && launchers[by][count]; count++)
        arguments[count] = launchers[by][count];
    arguments[count] = recorder;
    arguments[count + 1] = verb;
    arguments[count + 2] = NULL;
    posix_spawn_file_actions_t actions;
    bool of_root = geteuid() == 0 && strcmp(verb, "step") == 0;
    char **environment = of_root ? environment_of_root() : environ;
    int failed = redirect(&actions, input_fd, output_fd);
    if (!failed)
        failed = environment ? posix_spawnp(ret_pid, arguments[0], &actions, NULL,
                                            (char *const *)arguments, environment)
                             : ENOMEM;
    posix_spawn_file_actions_destroy(&actions);
    if (of_root)
        free(environment);
    if (failed && by != LAUNCH_PLAIN)
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "this needs root, and %s cannot be started (%s): run it as root",
                                  arguments[0], strerror(failed));
    if (failed)
        return argus_error_os(failed, "cannot start %s", recorder);
    return NULL;
}

static struct argus_error *refused(enum launch_by by)
{
    if (by == LAUNCH_PKEXEC)
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "recording needs root: without a terminal neither sudo nor "
                                  "polkit (pkexec) allowed it; argus-recorder(8) shows a rule");
    return argus_error_create(ARGUS_ERROR_PERMISSION,
                              "recording needs root, and sudo did not start argus-recorder: run "
                              "argus as root, or at a terminal where sudo can ask");
}

/* Which program has answered. */
enum launch_answer {
    ANSWER_OF_RECORDER,
    ANSWER_OF_LAUNCHER, /* sudo or pkexec refused */
    ANSWER_OF_NONE,     /* there is no sudo, or no pkexec */
};

/* Parses "ready", "error CODE SENTENCE", or an empty answer (sudo refused, or the program does not
 * exist). */
static struct argus_error *judge_line(const char *line, enum launch_by by,
                                      enum launch_answer *ret_answer)
{
    int code, sentence = 0;
    *ret_answer = ANSWER_OF_RECORDER;
    if (strcmp(line, "ready") == 0)
        return NULL;
    if (sscanf(line, "error %d %n", &code, &sentence) == 1 && sentence > 0 && code >= 0 &&
        code <= ARGUS_ERROR_QUESTION)
        return argus_error_create((enum argus_error_code)code, "%s", line + sentence);
    *ret_answer = ANSWER_OF_LAUNCHER;
    if (by != LAUNCH_PLAIN)
        return refused(by);
    return argus_error_create(ARGUS_ERROR_IO, "argus-recorder ended before it was ready");
}

static struct argus_error *launch_by(enum launch_by by, enum launch_answer *ret_answer)
{
    char line[2048];
    int output[2], status;
    pid_t pid = -1;
    *ret_answer = ANSWER_OF_NONE;
    if (pipe2(output, O_CLOEXEC) < 0)
        return argus_error_os(errno, "cannot make a pipe");
    struct argus_error *error = launch_recorder_verb("serve", -1, output[1], by, &pid);
    close(output[1]);
    if (!error) {
        background_hear(output[0], line, sizeof(line));
        line[strcspn(line, "\n")] = '\0';
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        error = judge_line(line, by, ret_answer);
    }
    close(output[0]);
    return error;
}

static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static struct argus_error *launch_by_others(void)
{
    enum launch_answer answer;
    if (has_terminal())
        return launch_by(LAUNCH_SUDO, &answer);
    struct argus_error *by_sudo = launch_by(LAUNCH_SUDO_SILENT, &answer);
    if (!by_sudo || answer == ANSWER_OF_RECORDER)
        return by_sudo;
    struct argus_error *by_polkit = launch_by(LAUNCH_PKEXEC, &answer);
    if (!by_polkit || answer != ANSWER_OF_NONE) {
        argus_error_destroy(by_sudo);
        return by_polkit;
    }
    argus_error_destroy(by_polkit);
    return by_sudo;
}

/* As itself first: its file can have capabilities. */
struct argus_error *launch_recorder(void)
{
    enum launch_answer answer;
    struct argus_error *error = launch_by(LAUNCH_PLAIN, &answer);
    if (!error || geteuid() == 0)
        return error;
    if (answer == ANSWER_OF_RECORDER && error->code != ARGUS_ERROR_PERMISSION)
        return error;
    argus_error_destroy(error);
    return launch_by_others();
}
