#include <stddef.h>
#include <stdint.h>

#include "linux/pollers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>

#include "linux/shared.h"

static enum poll_set_kind kind_of(const struct bpf_poll_set *set)
{
    static const struct {
        uint16_t number;
        enum poll_set_kind kind;
    } kinds[] = {
        {SYS_ppoll, POLL_SET_ARRAY},        {SYS_pselect6, POLL_SET_BITS},
        {SYS_epoll_pwait, POLL_SET_EPOLL},
#ifdef SYS_poll
        {SYS_poll, POLL_SET_ARRAY},
#endif
#ifdef SYS_select
        {SYS_select, POLL_SET_BITS},
#endif
#ifdef SYS_epoll_wait
        {SYS_epoll_wait, POLL_SET_EPOLL},
#endif
#ifdef SYS_epoll_pwait2
        {SYS_epoll_pwait2, POLL_SET_EPOLL},
#endif
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (set->number == kinds[i].number)
            return kinds[i].kind;
    return POLL_SET_UNKNOWN;
}

/* A set that could not be read is not known. */
static struct poll_set set_of(const struct bpf_poll_set *set)
{
    struct poll_set made = {.object = set->object, .kind = kind_of(set)};
    made.count = set->count < POLL_SET_MOST ? (uint32_t)set->count : POLL_SET_MOST;
    if (!made.count && made.kind != POLL_SET_EPOLL)
        made.kind = POLL_SET_UNKNOWN;
    memcpy(made.words, set->words, sizeof(made.words));
    return made;
}

/* Whether keys were typed in the terminal from which it read, and no program has read since. */
static bool has_typed(int terminals_fd, uint64_t terminal)
{
    struct bpf_terminal times;
    return terminal && bpf_map_lookup_elem(terminals_fd, &terminal, &times) == 0 && times.read_ns &&
           times.typed_ns > times.read_ns;
}

static uint64_t usual_ns(const struct bpf_poller *poller)
{
    bool is_known = poller->usual >= BPF_POLLER_SURE;
    return is_known && poller->elsewhere ? poller->usual_ns : 0;
}

struct argus_error *pollers_read(int map_fd, int terminals_fd, struct backend_poller *ret,
                                 size_t room, size_t *ret_count)
{
    uint32_t count = BPF_POLLERS + 1024, position; /* more than the map holds: one call reads all */
    uint32_t *tids = malloc(count * sizeof(*tids));
    struct bpf_poller *pollers = malloc(count * sizeof(*pollers));
    struct argus_error *error = tids && pollers ? NULL : argus_error_memory();
    if (!error && bpf_map_lookup_batch(map_fd, NULL, &position, tids, pollers, &count, NULL) < 0 &&
        errno != ENOENT) /* which means: that was all */
        error = argus_error_os(errno, "cannot read which threads poll");
    *ret_count = 0;
    for (uint32_t i = 0; i < count && *ret_count < room && !error; i++)
        ret[(*ret_count)++] = (struct backend_poller){
            .tid = tids[i],
            .pid = pollers[i].pid,
            .returned_ns = pollers[i].returned_ns,
            .returns = pollers[i].returns,
            .rested_ns = pollers[i].rested_ns,
            .seen_ns = pollers[i].seen_ns,
            .inner = pollers[i].inner,
            .served = pollers[i].served,
            .first_ns = pollers[i].first_ns,
            .woken_ns = pollers[i].woken_ns,
            .usual_ns = usual_ns(&pollers[i]),
            .elsewhere = pollers[i].elsewhere,
            .asked_ns = pollers[i].asks >= BPF_POLLER_ASKS ? pollers[i].asked_ns : 0,
            .typed = has_typed(terminals_fd, pollers[i].terminal),
            .polling = pollers[i].place == BPF_POLLER_IN_LOOP,
            .polling_in_handler = pollers[i].place == BPF_POLLER_IN_HANDLER,
            .loop_set = set_of(&pollers[i].loop_set),
            .handler_set = set_of(&pollers[i].handler_set),
        };
    free(tids);
    free(pollers);
    return error;
}
