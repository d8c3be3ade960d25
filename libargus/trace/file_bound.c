#include "trace/file_bound.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_use.h"

/* For a file of 1 MB: 384 MB and 4.4 million records. */
#define LEAST_MEMORY_BYTES   (256ull << 20)
#define MEMORY_PER_FILE_BYTE 128u
#define LEAST_RECORDS        (256ull << 10)
#define RECORDS_PER_BYTE     4u

#define HOW_TO_LIFT "set ARGUS_MEMORY (such as 8G) if you trust this file"

/* A number of bytes, perhaps with K, M, G or T behind it; 0: it is none. */
static uint64_t parse_bytes(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    uint64_t bytes = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == text || *text == '-' || (*end && (!unit || end[1])) || bytes > UINT64_MAX >> shift)
        return 0;
    return bytes << shift;
}

void file_bound_init(struct file_bound *bound, uint64_t file_bytes)
{
    const char *text = getenv("ARGUS_MEMORY");
    uint64_t wanted = text ? parse_bytes(text) : 0, left = memory_available_bytes();
    uint64_t most = LEAST_MEMORY_BYTES + MEMORY_PER_FILE_BYTE * file_bytes;
    *bound = (struct file_bound){
        .before_bytes = memory_used_bytes(),
        .most_bytes = wanted        ? wanted
                      : most < left ? most
                                    : left,
        .most_records = wanted ? UINT64_MAX : LEAST_RECORDS + RECORDS_PER_BYTE * file_bytes,
        .is_wanted = wanted != 0,
    };
}

/* "39 KB", "1.2 GB". */
static const char *bytes_text(uint64_t bytes, char *buffer, size_t buffer_bytes)
{
    if (bytes < 10000)
        snprintf(buffer, buffer_bytes, "%" PRIu64 " bytes", bytes);
    else if (bytes < 10000000)
        snprintf(buffer, buffer_bytes, "%" PRIu64 " KB", bytes / 1000);
    else
        snprintf(buffer, buffer_bytes, "%" PRIu64 " MB", bytes / 1000000);
    return buffer;
}

struct argus_error *file_bound_check_memory(const struct file_bound *bound, const char *path,
                                            uint64_t file_bytes, uint64_t offset_bytes)
{
    char most[32], size[32];
    uint64_t used = bound->is_shared ? 0 : memory_used_bytes();
    if (used <= bound->before_bytes || used - bound->before_bytes <= bound->most_bytes)
        return NULL;
    bytes_text(bound->most_bytes, most, sizeof(most));
    if (bound->is_wanted)
        return argus_error_create(ARGUS_ERROR_MEMORY,
                                  "%s: offset %" PRIu64
                                  ": this file needs more memory than the %s of ARGUS_MEMORY",
                                  path, offset_bytes, most);
    return argus_error_create(ARGUS_ERROR_MEMORY,
                              "%s: offset %" PRIu64
                              ": this file of %s needs more than %s of memory; " HOW_TO_LIFT,
                              path, offset_bytes, bytes_text(file_bytes, size, sizeof(size)), most);
}

struct argus_error *file_bound_check_records(const struct file_bound *bound, const char *path,
                                             uint64_t file_bytes, uint64_t offset_bytes,
                                             uint64_t records)
{
    char size[32];
    if (records <= bound->most_records)
        return NULL;
    return argus_error_create(ARGUS_ERROR_FORMAT,
                              "%s: offset %" PRIu64 ": this file of %s claims more than %" PRIu64
                              " records, which no recording of its size has; " HOW_TO_LIFT,
                              path, offset_bytes, bytes_text(file_bytes, size, sizeof(size)),
                              bound->most_records);
}
