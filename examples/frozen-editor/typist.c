/* frozen-editor [BUSY_MS]: an editor that freezes, and the person who types into it.
 *
 *     typist ──keys──▶ editor (main thread) ──mutex, condition──▶ editor (spell-check thread)
 *                                                    │ unix socket
 *                              dict-server ◀──unix socket── spell-server            bystander
 *
 * The editor's main thread waits at the end of each word for its spell-check thread, which asks the spell server,
 * which asks the dictionary server. Ten words go well. After the tenth the dictionary server rebuilds its index,
 * for BUSY_MS (3500), while the eleventh word is on its way: the editor stands still and shows no reason.
 * The bystander is busy all the time and has nothing to do with it.
 */
#include "message.h"

#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT                                                                                       \
    "the editor reads every key and asks about each word it "                                      \
    "sees because spelling matters to people "
#define KEY_PAUSE_MS 20

static char folder[PATH_MAX];

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void find_folder(void)
{
    ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    if (length < 0)
        fail("/proc/self/exe");
    folder[length] = '\0';
    dirname(folder);
}

/* A connected pair which no program inherits unless start() hands it over. */
static void connect_pair(int ret[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret) != 0)
        fail("socketpair");
}

/* Starts a program of this folder with two file descriptors (-1: none) and a number as its arguments. */
static pid_t start(const char *program, int fd_a, int fd_b, const char *number)
{
    char path[PATH_MAX + NAME_MAX], a[16], b[16];
    snprintf(path, sizeof(path), "%s/%s", folder, program);
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* dup() leaves the close-on-exec flag behind. */
    snprintf(a, sizeof(a), "%d", fd_a < 0 ? -1 : dup(fd_a));
    snprintf(b, sizeof(b), "%d", fd_b < 0 ? -1 : dup(fd_b));
    execl(path, program, a, b, number, (char *)NULL);
    fail(path);
}

static void type_text(int keys)
{
    const struct timespec pause = {.tv_nsec = KEY_PAUSE_MS * 1000000L};
    for (const char *key = TEXT; *key != '\0'; key++) {
        nanosleep(&pause, NULL);
        if (!message_send(keys, key, 1))
            break;
    }
}

int main(int argc, char **argv)
{
    const char *busy_ms = argc > 1 ? argv[1] : "3500";
    int keys[2], spell[2], dict[2];
    find_folder();
    connect_pair(keys);
    connect_pair(spell);
    connect_pair(dict);
    pid_t children[] = {
        start("dict-server", dict[1], -1, busy_ms),
        start("spell-server", spell[1], dict[0], ""),
        start("editor", keys[1], spell[0], ""),
        start("bystander", -1, -1, ""),
    };
    const int inherited[] = {keys[1], spell[0], spell[1], dict[0], dict[1]};
    for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++)
        close(inherited[i]);

    type_text(keys[0]);
    close(keys[0]);
    /* The editor ends when all keys are handled, and the servers when nobody can ask them any more. */
    int status = 0;
    for (int i = 2; i >= 0; i--)
        waitpid(children[i], &status, 0);
    kill(children[3], SIGKILL);
    waitpid(children[3], &status, 0);
    return 0;
}
