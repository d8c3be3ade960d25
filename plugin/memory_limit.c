#include "plugin/memory_limit.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "argus/trace.h"
#include "base/hash64.h"
#include "base/idmap.h"
#include "base/memory_use.h"
#include "base/parallel.h"

/* Stacks and heaps of threads, and symbols of files that a trace names. */
#define BESIDES_BYTES    (64ull << 20)
#define PER_THREAD_BYTES (8ull << 20)
/* A program's file, its debug information in a second file, and both uncompressed. */
#define PER_IMAGE_BYTE 8u

struct argus_error *memory_limit_open(const struct session *session, const char *path,
                                      struct argus_trace **ret)
{
    return session->in_lldb ? argus_trace_open_shared(path, ret) : argus_trace_open(path, ret);
}

void memory_limit_for(const struct session *session, const char *path)
{
    struct rlimit limit;
    struct stat status;
    uint64_t used = memory_writable_bytes();
    if (session->in_lldb || !used || stat(path, &status) || !S_ISREG(status.st_mode) ||
        getrlimit(RLIMIT_DATA, &limit))
        return;
    uint64_t most = used + argus_trace_most_memory((uint64_t)status.st_size) + BESIDES_BYTES +
                    PER_THREAD_BYTES * parallel_threads(64);
    if (most > limit.rlim_max)
        return;
    limit.rlim_cur = most;
    setrlimit(RLIMIT_DATA, &limit);
}

static void widen(const struct session *session, uint64_t bytes)
{
    struct rlimit limit;
    if (session->in_lldb || getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return;
    limit.rlim_cur =
        bytes < limit.rlim_max - limit.rlim_cur ? limit.rlim_cur + bytes : limit.rlim_max;
    setrlimit(RLIMIT_DATA, &limit);
}

void memory_limit_for_images(const struct session *session, const struct argus_trace *trace)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(trace, &images);
    struct idmap seen = {0};
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        uint64_t id = hash64(0, images[i].path, strlen(images[i].path));
        if (idmap_get(&seen, id) != IDMAP_NONE || !idmap_put(&seen, id, 0))
            continue;
        if (images[i].path[0] == '/' && stat(images[i].path, &status) == 0 &&
            S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_size;
    }
    idmap_deinit(&seen);
    widen(session, PER_IMAGE_BYTE * bytes);
}

void memory_limit_for_programs(const struct session *session)
{
    widen(session, memory_available_bytes() / 2);
}

const char *memory_limit_hint(const struct argus_error *error)
{
    struct rlimit limit;
    bool limited = error->code == ARGUS_ERROR_MEMORY && !getrlimit(RLIMIT_DATA, &limit) &&
                   limit.rlim_cur != limit.rlim_max;
    return limited && !strstr(error->message, "ARGUS_MEMORY")
               ? ": the file needs more than a file of its size may take; set ARGUS_MEMORY (such "
                 "as "
                 "8G) if you trust it"
               : "";
}

void memory_limit_lift(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_DATA, &limit);
}
