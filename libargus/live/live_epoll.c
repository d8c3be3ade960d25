/* The descriptors of an epoll set, as the kernel lists them in fdinfo. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "live/live_set.h"

enum { INFO_BYTES = 65536, LINE_TFD = 4 };

/* "tfd: 5 events: 19 data: …" in fdinfo, a line for each descriptor. */
uint32_t live_set_of_epoll(struct argus_live *live, uint32_t thread, struct live_polled *ret)
{
    const struct argus_live_thread of = live->threads.data[thread];
    uint32_t count = 0;
    char *info = malloc(INFO_BYTES);
    bool is_read = info && live_fd_info(live, of.process, (uint32_t)of.arg[0], info, INFO_BYTES);
    for (const char *at = info; is_read && (at = strstr(at, "tfd:")); at += LINE_TFD) {
        const char *events = strstr(at, "events:");
        uint64_t mask = events ? strtoull(events + strlen("events:"), NULL, 16) : 0;
        uint32_t fd = (uint32_t)strtoul(at + LINE_TFD, NULL, 10);
        count = live_polled_add(ret, count, fd, mask & POLLIN, mask & POLLOUT);
        if (ret[count - 1].fd != fd) /* there is no room for more */
            break;
        ret[count - 1].is_once |= (mask & EPOLLONESHOT) != 0;
        /* such sets tell only of changes */
        ret[count - 1].is_full &= !(mask & (EPOLLONESHOT | EPOLLET));
    }
    free(info);
    return count;
}
