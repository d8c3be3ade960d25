/* The descriptors of all processes, sorted: those of one object are neighbours, so the other end of
 * a pipe is found by a binary search. */
#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"
#include "live/live_data.h"

uint64_t live_path_key(const char *path)
{
    return hash64(0, path, strlen(path));
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_fds(const void *left, const void *right)
{
    const struct live_fd *a = left, *b = right;
    int order = compare_numbers(a->type, b->type);
    order = order ? order : compare_numbers(a->key, b->key);
    order = order ? order : compare_numbers(a->process, b->process);
    return order ? order : compare_numbers(a->fd, b->fd);
}

void live_fds(struct argus_live *live)
{
    if (live->has_fds)
        return;
    live->has_fds = true;
    for (uint32_t i = 0; i < live->processes.length; i++)
        live_read_fds(live, i);
    if (live->fds.length)
        qsort(live->fds.data, live->fds.length, sizeof(*live->fds.data), compare_fds);
}

size_t live_fds_of(struct argus_live *live, enum live_file_type type, uint64_t key,
                   const struct live_fd **ret)
{
    live_fds(live);
    size_t low = 0, high = live->fds.length;
    const struct live_fd wanted = {.type = type, .key = key};
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_fds(&live->fds.data[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < live->fds.length && live->fds.data[end].type == type &&
           live->fds.data[end].key == key)
        end++;
    *ret = live->fds.data + low;
    return end - low;
}
