#include <stddef.h>
#include <stdint.h>

#include "linux/pollers.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "linux/shared.h"

struct argus_error *pollers_read(int map_fd, struct backend_poller *ret, size_t room,
                                 size_t *ret_count)
{
    uint32_t count = BPF_POLLERS + 1024, position; /* more than it holds: one call tells all */
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
            .polling = pollers[i].polling != 0,
        };
    free(tids);
    free(pollers);
    return error;
}
