/* Checks whether descriptors of another process have pending input: each is polled without waiting,
 * which reads nothing. */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "linux/process_fds.h"

/* An interactive program sets its terminal to another mode. */
static bool takes_lines(int fd)
{
    struct termios mode;
    return tcgetattr(fd, &mode) == 0 && mode.c_lflag & ICANON;
}

static bool is_readable(int fd)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    return poll(&readable, 1, 0) > 0 && readable.revents & POLLIN && !takes_lines(fd);
}

bool poll_set_is_ready(const struct poll_set *set, uint32_t pid)
{
    return process_fd_any_is(set, pid, is_readable);
}

/* Only the master of a pseudo-terminal has that number: what it reads is a program's output. */
static bool is_master(int fd)
{
    int number;
    return ioctl(fd, TIOCGPTN, &number) == 0;
}

static bool takes_keys(int fd)
{
    return isatty(fd) && !takes_lines(fd) && !is_master(fd);
}

bool poll_set_has_terminal(const struct poll_set *set, uint32_t pid)
{
    return process_fd_any_is(set, pid, takes_keys);
}

static bool has_keys(int fd)
{
    return isatty(fd) && is_readable(fd);
}

bool process_has_typed(uint32_t pid)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    bool has = process >= 0 && process_fd_is(process, STDIN_FILENO, has_keys);
    if (process >= 0)
        close(process);
    return has;
}

bool poll_set_is_untaken(const struct poll_set *set, uint32_t pid)
{
    return process_fd_any_is(set, pid, fd_is_untaken);
}
