#include "linux/thread_map.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>

/* More than the map holds. */
#define MAP_ROOM (65536u + 4096u)

/* Reads all at once: iterating by key could restart for ever while keys come and go. */
static struct argus_error *read_map(const struct thread_source *source, struct thread_list *list)
{
    uint32_t count = MAP_ROOM, position;
    uint32_t *tids = malloc(MAP_ROOM * sizeof(*tids));
    struct bpf_thread *are = malloc(MAP_ROOM * sizeof(*are));
    struct argus_error *error = tids && are ? NULL : argus_error_memory();
    if (!error &&
        bpf_map_lookup_batch(source->map_fd, NULL, &position, tids, are, &count, NULL) < 0 &&
        errno != ENOENT) /* which means: that was all */
        error = argus_error_os(errno, "cannot read the names of threads");
    for (uint32_t i = 0; i < count && !error; i++) {
        if (!thread_list_add(list, tids[i], &are[i]))
            error = argus_error_memory();
    }
    free(tids);
    free(are);
    return error;
}

static void drop(const struct thread_source *source, uint32_t tid)
{
    bpf_map_delete_elem(source->map_fd, &tid);
}

struct thread_source thread_map_source(int map_fd)
{
    return (struct thread_source){.read = read_map, .drop = drop, .map_fd = map_fd};
}
