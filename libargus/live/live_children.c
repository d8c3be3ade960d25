/* A poll of which all descriptors lead to processes that the poller has started: it reads the
 * output of its child, as shells, build tools and the subprocess functions of all languages do. It
 * is no event loop, though it looks like one. One descriptor that leads elsewhere (a display, a
 * terminal, a listening socket) makes the set an ordinary one. */
#include <string.h>

#include "live/live_set.h"

/* Adds the holders of one object's other end. False: one of them is no child, or none is known. */
static bool add_holders(struct argus_live *live, uint32_t process, enum live_file_type type,
                        uint64_t key, struct live_candidates *ret)
{
    const struct live_fd *fds;
    size_t count = live_fds_of(live, type, key, &fds);
    if (count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (fds[i].process == process ||
            (type == LIVE_FILE_PIPE && !live_fd_is_open_for(live, &fds[i], true)))
            continue;
        if (!live_descends_from(live, fds[i].process, process))
            return false;
        if (live_load(live, fds[i].process))
            live_candidate(ret, fds[i].process, ARGUS_LIVE_NONE);
    }
    return true;
}

/* False: something that is no child can cause the event. */
static bool add_one(struct argus_live *live, uint32_t process, const struct live_polled *polled,
                    struct live_candidates *ret)
{
    struct live_fd fd;
    if (polled->is_write || !live_fd(live, process, polled->fd, &fd))
        return false;
    if (fd.type == LIVE_FILE_PIPE)
        return add_holders(live, process, fd.type, fd.key, ret);
    if (fd.type == LIVE_FILE_EVENTFD || fd.type == LIVE_FILE_TIMERFD)
        return true;
    const struct live_socket *own = fd.type == LIVE_FILE_SOCKET ? live_socket(live, fd.key) : NULL;
    if (own && !own->is_listening && own->peer && !own->path)
        return add_holders(live, process, fd.type, own->peer, ret);
    const char *path = fd.type == LIVE_FILE_OTHER ? strtab_get(live->texts, fd.path) : "";
    return strstr(path, "[signalfd]") || strstr(path, "inotify");
}

void live_polled_children(struct argus_live *live, uint32_t thread,
                          const struct live_polled *polled, uint32_t count,
                          struct live_candidates *ret)
{
    uint32_t process = live->threads.data[thread].process;
    ret->link = ARGUS_LIVE_LINK_CAUSES;
    for (uint32_t i = 0; i < count; i++)
        if (!add_one(live, process, &polled[i], ret)) {
            ret->count = 0;
            return;
        }
}
