/* The memory that processes share now by mapping one file with MAP_SHARED (also of shm_open(),
 * memfd_create(), shmget(), and memory without a name that a child inherited). A program that polls
 * there waits for another process, of which the kernel has no other trace. */
#ifndef ARGUS_RECORDER_LINUX_SHARED_MAPPINGS_H
#define ARGUS_RECORDER_LINUX_SHARED_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/backend.h"

/* A line of /proc/PID/maps; the record (ARGUS_ID_SHARED_MEMORY) lacks thread and time. False: the
 * mapping is private, or of no file. */
bool shared_mappings_parse(const char *line, struct argus_record *ret);
/* Drops what is of no use from the records behind the first `kept`: files that only one process
 * maps, and files that none may write. */
void shared_mappings_select(record_list *records, size_t kept);
/* By file, process and address; 0 only for the same ones. */
int shared_mappings_compare(const struct argus_record *a, const struct argus_record *b);
bool shared_mappings_same_file(const struct argus_record *a, const struct argus_record *b);
/* Appends records at `time_ns` for one process, until the list has `most`; false without memory. */
bool shared_mappings_of(uint64_t pid, uint64_t time_ns, size_t most, record_list *ret);
/* Appends records at `time_ns` for all processes but the recorder, and selects; leaves out all
 * after the first few thousand. False without memory. */
bool shared_mappings_read(uint64_t time_ns, record_list *ret);

#endif
