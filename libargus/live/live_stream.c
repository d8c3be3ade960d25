#include "live/live_stream.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "live/live_data.h"

bool live_stream_wait(int fd, short events, uint64_t end_ns)
{
    struct pollfd polled = {fd, events, 0};
    int ready;
    do {
        uint64_t now = live_now_ns();
        ready = now < end_ns ? poll(&polled, 1, (int)((end_ns - now) / 1000000) + 1) : 0;
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

bool live_stream_send(int fd, const void *bytes, size_t length, uint64_t end_ns)
{
    for (size_t at = 0; at < length;) {
        ssize_t sent = send(fd, (const char *)bytes + at, length - at, MSG_NOSIGNAL);
        if (sent > 0)
            at += (size_t)sent;
        else if (errno != EAGAIN || !live_stream_wait(fd, POLLOUT, end_ns))
            return false;
    }
    return true;
}
