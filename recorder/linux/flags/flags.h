/* Watches data flags in existing processes (flag_threads.c), and by plans in processes that map an
 * image later. */
#ifndef ARGUS_RECORDER_LINUX_FLAGS_H
#define ARGUS_RECORDER_LINUX_FLAGS_H

#include <stdbool.h>
#include <sys/types.h>

#include "argus/error.h"
#include "argus/trace.h"
#include "protocol.h"
#include "server/backend.h"

struct bpf_object;
struct flags;

/* `object`: loaded, borrowed. `notes`: receives notes about flags; borrowed. */
struct argus_error *flags_create(struct bpf_object *object, struct backend *notes,
                                 struct flags **ret);
/* Ends all watching; the names stay for flags_write(). */
void flags_detach(struct flags *flags);
/* NULL is fine. */
void flags_destroy(struct flags *flags);

/* Watches a flag from now on, or adds a plan (wanted->pid 0). `owner`: the user whose processes may
 * be watched. USAGE: no debug register is free, the address is not mapped or not aligned to the
 * flag's size, or a pointer to it is null; NOT_FOUND: no such process; PERMISSION: the process
 * belongs to another user; BUSY: the flag is watched already. `*ret_number`: for flags_remove(). */
struct argus_error *flags_add(struct flags *flags, const struct request_flag *wanted, uid_t owner,
                              uint32_t *ret_number);
/* Stops watching a flag. For a plan, also the flags watched by it. NOT_FOUND: no such number. */
struct argus_error *flags_remove(struct flags *flags, uint32_t number);

/* The flag or plan `number`, 1 … FLAG_NUMBERS, and the number of its hits; false: none has this
 * number. */
bool flags_get(const struct flags *flags, uint32_t number, struct reply_flag *ret);

/* A process has mapped an image: watches the flags of matching plans. `path`: of the image. */
void flags_on_image(struct flags *flags, const struct argus_image_entry *image, const char *path);
/* A process has executed another program: the flags watched before `time_ns` no longer exist. */
void flags_on_exec(struct flags *flags, uint32_t pid, uint64_t time_ns);
/* Handles processes that have ended and pointers that were null. Call it often. */
void flags_look(struct flags *flags);
/* Whether flags_look() must be called every few milliseconds, because a plan or a null pointer is
 * pending. */
bool flags_awaited(const struct flags *flags);

/* Appends a record (ARGUS_ID_FLAG_SHARED) for each flag in shared memory that is watched since the
 * last call; false without memory. */
bool flags_take_shared(struct flags *flags, record_list *ret);

/* Writes the names of all flags ever watched. */
struct argus_error *flags_write(const struct flags *flags, struct argus_writer *writer);

#endif
