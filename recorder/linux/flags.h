/* Watching data flags: those of processes that are there (flag_threads.c), and plans for those that map an image later. */
#ifndef ARGUS_RECORDER_LINUX_FLAGS_H
#define ARGUS_RECORDER_LINUX_FLAGS_H

#include <stdbool.h>
#include <sys/types.h>

#include "argus/error.h"
#include "argus/trace.h"
#include "protocol.h"

struct backend;
struct bpf_object;
struct flags;

/* `object`: loaded, borrowed. `notes`: what happens to flags is noted there; borrowed. */
struct argus_error *flags_create(struct bpf_object *object, struct backend *notes,
                                 struct flags **ret);
/* Ends all watching; the names stay for flags_write(). */
void flags_detach(struct flags *flags);
/* NULL is fine. */
void flags_destroy(struct flags *flags);

/* Watches from now on, or plans to (wanted->pid 0). `owner`: whose processes. USAGE: no register is left, the address is not
 * mapped or not aligned to its size, a pointer on the way is null; NOT_FOUND: there is no such process; PERMISSION: it is somebody
 * else's; BUSY: it is watched already. `*ret_number`: for flags_remove(). */
struct argus_error *flags_add(struct flags *flags, const struct request_flag *wanted, uid_t owner,
                              uint32_t *ret_number);
/* Of a plan also what was watched by it. NOT_FOUND: no such number. */
struct argus_error *flags_remove(struct flags *flags, uint32_t number);

/* The flag or plan `number`, 1 … FLAG_NUMBERS, and how often it was touched; false: there is none. */
bool flags_get(const struct flags *flags, uint32_t number, struct reply_flag *ret);

/* A process has mapped an image: watches what was planned. `path`: of the image. */
void flags_on_image(struct flags *flags, const struct argus_image_entry *image, const char *path);
/* A process has begun another program: what was watched before `time_ns` is there no longer. */
void flags_on_exec(struct flags *flags, uint32_t pid, uint64_t time_ns);
/* Looks after processes that have ended, and pointers that were null. To be called often. */
void flags_look(struct flags *flags);
/* flags_look() has to be called every few milliseconds: something is awaited. */
bool flags_awaited(const struct flags *flags);

/* The names of all that were ever watched. */
struct argus_error *flags_write(const struct flags *flags, struct argus_writer *writer);

#endif
