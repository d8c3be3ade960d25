/* argus-recorder serve: continues in the background, and serves the control socket until its
 * recording has ended.
 *
 * The foreground process stays until the background one is ready or has failed, and prints the
 * outcome in one line: "ready" or "error CODE SENTENCE" (CODE: enum argus_error_code). The front
 * end reads it, through sudo where needed.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "background.h"
#include "base/compat.h"
#include "linux/step/step_main.h"
#include "platform.h"
#include "server/server.h"

static const char usage[] =
    "usage: argus-recorder serve | step | --version\n"
    "Records the system for argus(1), which starts it. See argus-recorder(8).\n";

/* The user to serve besides root: the caller of sudo or pkexec, else the user of this process. */
static uid_t starter_uid(void)
{
    const char *sudo = getenv("SUDO_UID"), *text = sudo ? sudo : getenv("PKEXEC_UID");
    char *end = NULL;
    unsigned long uid = text ? strtoul(text, &end, 10) : 0;
    bool valid = text && end != text && *end == '\0' && uid < (uid_t)-1;
    return geteuid() == 0 && valid ? (uid_t)uid : getuid();
}

static void say_error(int fd, const struct argus_error *error)
{
    dprintf(fd, "error %d %s\n", error->code, error->message);
}

static struct argus_error *check_privilege(void)
{
    if (platform_may_record())
        return NULL;
    return argus_error_create(ARGUS_ERROR_PERMISSION,
                              "argus-recorder needs root (or CAP_BPF and CAP_PERFMON) to record "
                              "the system");
}

static int serve_in_background(int ready_fd)
{
    struct server *server;
    setsid();
    umask(S_IWGRP | S_IWOTH); /* the caller's could make a folder that locks other users out */
    platform_raise_limits();
    platform_shed_rights();
    struct argus_error *error = check_privilege();
    if (!error)
        error = server_create(starter_uid(), &server);
    if (error) {
        say_error(ready_fd, error);
        argus_error_destroy(error);
        return 1;
    }
    dprintf(ready_fd, "ready\n");
    close(ready_fd);
    background_leave_terminal();
    bool free_mount = chdir("/") == 0;
    (void)free_mount; /* the root directory always exists; at worst a mount stays busy */
    error = server_run(server);
    server_destroy(server);
    argus_error_destroy(error);
    return error ? 1 : 0;
}

/* Copies the background process's line to standard output. */
static int pass_on_line(int ready_fd)
{
    char line[2048];
    size_t length = background_hear(ready_fd, line, sizeof(line));
    fputs(length > 0 ? line : "error 1 argus-recorder ended before it was ready\n", stdout);
    fflush(stdout);
    return strcmp(line, "ready\n") == 0 ? 0 : 1;
}

static int serve(void)
{
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) < 0) {
        perror("argus-recorder: pipe");
        return 1;
    }
    pid_t child = fork();
    if (child < 0) {
        perror("argus-recorder: fork");
        return 1;
    }
    if (child == 0) {
        close(ready[0]);
        return serve_in_background(ready[1]);
    }
    close(ready[1]);
    return pass_on_line(ready[0]);
}

/* What the caller had open is not the recorder's: a lock on it would be held until the recording
 * ends. */
int main(int argc, char **argv)
{
    platform_close_from(STDERR_FILENO + 1);
    if (!background_fill_standard_files()) {
        perror("argus-recorder: cannot open /dev/null in the place of a closed standard file");
        return 1;
    }
    if (argc == 2 && strcmp(argv[1], "serve") == 0)
        return serve();
    platform_forget_capabilities(); /* they are for recording: a step needs the user's own rights */
    if (argc == 2 && strcmp(argv[1], "step") == 0)
        return step_main(argv, starter_uid());
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("argus-recorder " ARGUS_VERSION "\ncompiler: " ARGUS_BUILT_COMPILER
             "\nrecorder: " ARGUS_BUILT_RECORDER);
        return 0;
    }
    bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
    fputs(usage, help ? stdout : stderr);
    return help ? 0 : 2;
}
