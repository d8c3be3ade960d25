#include "live/live_calls.h"

#include "live/live_set.h"

void live_in_read(const struct live_call *call)
{
    call->wait->fd = (uint32_t)call->of->arg[0];
    live_wait_for_fd(call->live, call->thread, call->wait);
}

void live_in_write(const struct live_call *call)
{
    call->wait->is_write = true;
    live_in_read(call);
}

void live_in_poll(const struct live_call *call)
{
    call->wait->has_timeout = (int32_t)call->of->arg[2] >= 0;
    live_wait_for_set(call->live, call->thread, call->wait);
}

void live_in_select(const struct live_call *call)
{
    call->wait->has_timeout = call->of->arg[4] != 0;
    live_wait_for_set(call->live, call->thread, call->wait);
}

void live_in_sleep(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_SLEEP;
    call->wait->has_timeout = true;
}

void live_in_signal(const struct live_call *call)
{
    call->wait->kind = ARGUS_LIVE_SIGNAL;
}

void live_in_wait4(const struct live_call *call)
{
    int32_t pid = (int32_t)call->of->arg[0];
    call->wait->kind = ARGUS_LIVE_CHILD;
    call->wait->object = pid > 0 ? (uint64_t)pid : 0;
}

void live_in_flock(const struct live_call *call)
{
    struct live_fd fd;
    call->wait->kind = ARGUS_LIVE_FILE_LOCK;
    call->wait->fd = (uint32_t)call->of->arg[0];
    if (live_fd(call->live, call->of->process, call->wait->fd, &fd))
        call->wait->text = fd.path;
}
