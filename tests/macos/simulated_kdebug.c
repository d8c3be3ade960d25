#include "simulated_kdebug.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macos/kdebug_backend.h"

/* The list of this recorder (recorder/backends.c has Linux's). */
const struct backend_ops *const backend_table[] = {&kdebug_backend_ops, NULL};

struct simulated_kdebug *simulated_kdebug_create(void)
{
    struct simulated_kdebug *kernel = calloc(1, sizeof(*kernel));
    kernel->ring = calloc(SIM_RECORDS, sizeof(*kernel->ring));
    kernel->numer = kernel->denom = 1;
    kernel->refuse_operation = -1;
    kernel->now_ticks = 1000;
    kernel->arg2 = 2;
    return kernel;
}

void simulated_kdebug_destroy(struct simulated_kdebug *kernel)
{
    free(kernel->ring);
    free(kernel);
}

static bool wants(const struct simulated_kdebug *kernel, uint32_t debugid)
{
    uint32_t bit = debugid >> 16;
    return !kernel->has_filter || ARGUS_DEBUGID_CLASS(debugid) == 0x07 ||
           kernel->filter[bit / 8] & 1u << (bit % 8);
}

void simulated_kdebug_emit(struct simulated_kdebug *kernel, uint32_t debugid, uint64_t tid,
                           uint32_t cpu, uint64_t arg1)
{
    kernel->now_ticks++;
    if (!kernel->enabled || kernel->stopped || !wants(kernel, debugid))
        return;
    kernel->ring[kernel->head++ % SIM_RECORDS] = (struct argus_record){
        .timestamp = kernel->now_ticks,
        .arg = {arg1, kernel->arg2, 3, 4},
        .tid = tid,
        .debugid = debugid,
        .cpu = cpu,
    };
    if (kernel->head - kernel->tail > kernel->capacity) {
        kernel->tail = kernel->head - kernel->capacity;
        kernel->lost = true;
    }
}

/* --- the operations --- */

static int expect(struct simulated_kdebug *kernel, bool legal)
{
    kernel->illegal += !legal;
    return legal ? 0 : EINVAL;
}

/* The record of a loss comes first, and counts as one of those read. */
static int read_records(struct simulated_kdebug *kernel, struct argus_record *data, size_t *bytes)
{
    size_t room = *bytes / sizeof(*data), count = 0;
    if (!kernel->set_up)
        return EINVAL;
    if (kernel->most_at_once && room > kernel->most_at_once)
        room = kernel->most_at_once;
    if (kernel->lost && room) {
        data[count++] = (struct argus_record){
            .timestamp = kernel->ring[kernel->tail % SIM_RECORDS].timestamp,
            .debugid = KDEBUG_ID_LOST,
        };
        kernel->lost = false;
    }
    while (count < room && kernel->tail < kernel->head)
        data[count++] = kernel->ring[kernel->tail++ % SIM_RECORDS];
    *bytes = count;
    return 0;
}

static int read_threads(const struct simulated_kdebug *kernel, void *data, size_t *bytes)
{
    size_t wanted = kernel->thread_count * sizeof(kernel->threads[0]);
    if (*bytes < wanted)
        return ENOMEM;
    memcpy(data, kernel->threads, wanted);
    *bytes = wanted;
    return 0;
}

static int take_filter(struct simulated_kdebug *kernel, const void *data, size_t bytes)
{
    if (bytes != KDEBUG_FILTER_BYTES)
        return EINVAL;
    memcpy(kernel->filter, data, bytes);
    kernel->has_filter = true;
    return 0;
}

static int get_info(const struct simulated_kdebug *kernel, void *data, size_t bytes)
{
    struct kdebug_info info = {
        .records = (int32_t)kernel->capacity,
        .stopped = !kernel->enabled || kernel->stopped,
        .owner = kernel->foreign_owner ? (int32_t)kernel->foreign_owner
                 : kernel->owner       ? (int32_t)kernel->owner
                                       : -1,
    };
    memcpy(data, &info, bytes < sizeof(info) ? bytes : sizeof(info));
    return 0;
}

static void reset(struct simulated_kdebug *kernel)
{
    kernel->set_up = kernel->enabled = kernel->has_filter = kernel->sampling = false;
    kernel->owner = 0;
    kernel->head = kernel->tail = 0;
}

static int sim_kdebug(void *context, int operation, int value, void *data, size_t *bytes)
{
    struct simulated_kdebug *kernel = context;
    if (kernel->ordered < 64)
        kernel->order[kernel->ordered++] = operation;
    if (operation == kernel->refuse_operation && kernel->calls[operation]++ >= kernel->refuse_after)
        return kernel->refuse_with;
    if (operation != kernel->refuse_operation)
        kernel->calls[operation]++;
    if (kernel->foreign_owner && operation != KDEBUG_GET_BUFFER)
        return EBUSY;
    switch (operation) {
    case KDEBUG_REMOVE:
        reset(kernel);
        if (kernel->calls[operation] == 1)
            kernel->owner = SIM_PID;
        return 0;
    case KDEBUG_SET_BUFFER:
        kernel->capacity = (size_t)value;
        return expect(kernel,
                      value >= (int)(SIM_CPUS * 4 * KDEBUG_CHUNK_RECORDS) && value <= SIM_RECORDS);
    case KDEBUG_SET_UP:
        kernel->set_up = true;
        return expect(kernel, kernel->capacity > 0 && !kernel->enabled);
    case KDEBUG_SET_FLAGS:
        kernel->flags |= value;
        return expect(kernel, kernel->set_up);
    case KDEBUG_SET_FILTER:
        return take_filter(kernel, data, *bytes);
    case KDEBUG_EXCLUDE_PID:
        kernel->excluded_pid = ((struct kdebug_pid *)data)->value1;
        return expect(kernel, *bytes == sizeof(struct kdebug_pid));
    case KDEBUG_ENABLE:
        kernel->enabled = value;
        return expect(kernel, kernel->set_up);
    case KDEBUG_GET_BUFFER:
        return get_info(kernel, data, *bytes);
    case KDEBUG_READ:
        return read_records(kernel, data, bytes);
    case KDEBUG_READ_THREADS:
        return read_threads(kernel, data, bytes);
    default:
        return expect(kernel, false);
    }
}

/* --- settings --- */

static int give_number(int32_t number, void *data, size_t *bytes)
{
    if (!data || *bytes < sizeof(number))
        return ENOMEM;
    memcpy(data, &number, sizeof(number));
    *bytes = sizeof(number);
    return 0;
}

static int sim_control(void *context, const char *name, void *old_data, size_t *old_bytes,
                       const void *new_data, size_t new_bytes)
{
    struct simulated_kdebug *kernel = context;
    uint64_t words[2] = {0};
    if (new_bytes <= sizeof(words) && new_data)
        memcpy(words, new_data, new_bytes);
    if (kernel->refuse_control && strcmp(name, kernel->refuse_control) == 0)
        return EINVAL;
    if (strcmp(name, "hw.ncpu") == 0)
        return give_number(SIM_CPUS, old_data, old_bytes);
    if (strcmp(name, "ktrace.owning_pid") == 0)
        return give_number((int32_t)(kernel->foreign_owner ? kernel->foreign_owner : kernel->owner),
                           old_data, old_bytes);
    if (strcmp(name, "kern.ipc_voucher_trace_contents") == 0) {
        if (new_data)
            kernel->voucher_contents = (uint32_t)words[0];
        return old_data ? give_number((int32_t)kernel->voucher_contents, old_data, old_bytes) : 0;
    }
    if (strcmp(name, "kperf.sampling") == 0)
        kernel->sampling = words[0];
    if (strcmp(name, "kperf.reset") == 0 && words[0])
        kernel->sampling = false;
    if (strcmp(name, "kperf.lazy.wait_time_threshold") == 0)
        kernel->wait_threshold = words[0];
    if (strcmp(name, "kperf.timer.period") == 0)
        kernel->timer_period = words[1];
    return 0;
}

/* --- the rest --- */

static void sim_timebase(void *context, uint32_t *ret_numer, uint32_t *ret_denom)
{
    const struct simulated_kdebug *kernel = context;
    *ret_numer = kernel->numer;
    *ret_denom = kernel->denom;
}

static uint64_t sim_now_ticks(void *context)
{
    return ((struct simulated_kdebug *)context)->now_ticks;
}

static uint64_t sim_wall_ns(void *context)
{
    (void)context;
    return 1700000000000000000u;
}

static uint32_t sim_own_pid(void *context)
{
    (void)context;
    return SIM_PID;
}

static bool sim_process_name(void *context, uint32_t pid, char *ret, size_t room)
{
    (void)context;
    snprintf(ret, room, "tool%u", pid);
    return true;
}

static bool sim_next_region(void *context, uint32_t pid, uint64_t from, struct kdebug_region *ret)
{
    const struct simulated_kdebug *kernel = context;
    (void)pid;
    for (size_t i = 0; i < kernel->region_count; i++) {
        if (kernel->regions[i].start >= from) {
            *ret = kernel->regions[i];
            return true;
        }
    }
    return false;
}

static bool sim_shared_cache(void *context, struct kdebug_cache *ret)
{
    const struct simulated_kdebug *kernel = context;
    *ret = kernel->cache;
    return kernel->cache.bytes != 0;
}

static void sim_cached_images(void *context, const struct kdebug_cache *cache,
                              kdebug_visit_cached visit, void *visitor)
{
    const struct simulated_kdebug *kernel = context;
    (void)cache;
    for (size_t i = 0; i < kernel->cached_count && visit(visitor, &kernel->cached[i]); i++)
        ;
}

static int sim_host(void *context, char *ret, size_t room)
{
    (void)context;
    snprintf(ret, room, "Darwin 24.5.0 arm64");
    return 0;
}

struct kdebug_os simulated_kdebug_os(struct simulated_kdebug *kernel)
{
    return (struct kdebug_os){
        .context = kernel,
        .kdebug = sim_kdebug,
        .control = sim_control,
        .timebase = sim_timebase,
        .now_ticks = sim_now_ticks,
        .wall_ns = sim_wall_ns,
        .own_pid = sim_own_pid,
        .process_name = sim_process_name,
        .next_region = sim_next_region,
        .shared_cache = sim_shared_cache,
        .cached_images = sim_cached_images,
        .host = sim_host,
    };
}
