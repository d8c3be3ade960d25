#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool background_fill_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++) /* open() takes the lowest free number */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return false;
    return true;
}

void background_leave_terminal(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
}

size_t background_hear(int fd, char *ret, size_t room)
{
    size_t length = 0;
    ssize_t got;
    while (length < room - 1 && (got = read(fd, ret + length, room - 1 - length)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        length += got > 0 ? (size_t)got : 0;
    }
    ret[length] = '\0';
    return length;
}
