#include "linux/load/switched_off.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "argus/record.h"
#include "category.h"
#include "linux/epoll_sets.h"
#include "linux/shared.h"

#define PLACE ".data.switched_off"

/* A program that keeps something between two system calls of a thread, or between two messages of
 * a channel: its map belongs here. */
static const char *const call_maps[] = {
    "waits",      "slots",         "claims", "pipe_lasts",  "udp_heads",  "udp_last",
    "yield_runs", "probe_threads", "queued", "names_asked", "epoll_sets", "terminals",
};

struct argus_error *switched_off_set(struct bpf_object *object, uint32_t categories)
{
    uint32_t key = 0, bits = 0;
    if (categories & CATEGORY_BIT(CATEGORY_STACKS))
        bits |= BPF_LEFT_OUT_STACKS;
    if (categories & ARGUS_LEFT_OUT_CALLS)
        bits |= BPF_LEFT_OUT_CALLS;
    int map = bpf_object__find_map_fd_by_name(object, PLACE);
    if (map >= 0 && bpf_map_update_elem(map, &key, &bits, BPF_ANY) == 0)
        return NULL;
    return argus_error_os(map < 0 ? -map : errno, "cannot tell the BPF programs what to leave out");
}

static void zero_array(const struct bpf_map *map, uint32_t copies)
{
    size_t bytes = (bpf_map__value_size(map) + 7u) / 8 * 8;
    void *zero = calloc(copies, bytes);
    for (uint32_t key = 0; zero && key < bpf_map__max_entries(map); key++)
        bpf_map_update_elem(bpf_map__fd(map), &key, zero, BPF_ANY);
    free(zero);
}

static void empty_table(const struct bpf_map *map)
{
    void *key = malloc(bpf_map__key_size(map));
    uint32_t most = bpf_map__max_entries(map);
    while (key && most-- > 0 && bpf_map_get_next_key(bpf_map__fd(map), NULL, key) == 0)
        bpf_map_delete_elem(bpf_map__fd(map), key);
    free(key);
}

static void forget(const struct bpf_map *map)
{
    switch (bpf_map__type(map)) {
    case BPF_MAP_TYPE_ARRAY:
        zero_array(map, 1);
        break;
    case BPF_MAP_TYPE_PERCPU_ARRAY:
        zero_array(map, (uint32_t)libbpf_num_possible_cpus());
        break;
    default:
        empty_table(map);
    }
}

void call_state_forget(struct bpf_object *object)
{
    for (size_t i = 0; i < sizeof(call_maps) / sizeof(call_maps[0]); i++) {
        const struct bpf_map *map = bpf_object__find_map_by_name(object, call_maps[i]);
        if (map && bpf_map__fd(map) >= 0)
            forget(map);
    }
    epoll_sets_fill(bpf_object__find_map_fd_by_name(object, "epoll_sets"));
}
