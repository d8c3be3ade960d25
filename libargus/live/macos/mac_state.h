/* What only the code for macOS keeps of the snapshot. */
#ifndef ARGUS_MAC_STATE_H
#define ARGUS_MAC_STATE_H

#include "live/live_wait.h"
#include "live/macos/mac_kernel.h"

enum { MAC_MORE_ARGUMENTS = 2 /* behind the six of struct argus_live_thread */ };

/* Of the thread with the same index in the snapshot. */
struct mac_known {
    uint64_t id, handle, fp, lr, ran_ns;
    uint32_t self; /* the name of its port in its own task; 0: not read yet, or not known */
    uint32_t suspends;
    bool is_arm64;
    uint64_t more[MAC_MORE_ARGUMENTS];
};

/* A right of some task. */
struct mac_right {
    uint32_t object, type, process, name;
};

struct elf_file;

/* A file with code that a process has loaded. */
struct mac_image {
    uint32_t process;
    uint64_t start, end; /* of its code, in the process */
    uint32_t path;       /* string */
    uint8_t uuid[16];
    bool has_uuid, is_opened;
    struct elf_file *file; /* owned; NULL: not opened, or not possible */
};

struct live_system {
    VEC(struct mac_known) threads;
    VEC(struct mac_right) rights;         /* sorted by object, process and name */
    VEC(struct mac_right) rights_by_name; /* the same, sorted by process and name */
    bool has_rights;
    bool lacks_rights;             /* those of some tasks could not be read */
    VEC(struct mac_image) images;  /* those of a process are neighbours, by address */
    VEC(uint32_t) image_processes; /* whose images were read */
};

/* --- mac_collect.c --- */

struct mac_known *mac_known(const struct argus_live *live, uint32_t thread);
/* The number of the thread's system call, as event/syscalls.h has it: Mach traps from DARWIN_TRAP
 * on. `code`: the instruction before the pc. False: it is in none. */
bool mac_call_number(const struct mac_thread *thread, const uint8_t code[4], uint32_t *ret);
/* The thread with this ID, in `process`; ARGUS_LIVE_NONE as the process: in any.
 * ARGUS_LIVE_NONE: none that may be seen. */
uint32_t mac_thread_of_id(struct argus_live *live, uint32_t process, uint64_t id);

/* --- mac_locks.c --- */

/* The thread of the process whose port has this name in the process's own task; the lowest two bits
 * do not count. ARGUS_LIVE_NONE: none. */
uint32_t mac_thread_of_port(struct argus_live *live, uint32_t process, uint32_t name);
/* Sets the kind and the lock of the wait in ulock_wait() or for a dispatch queue. */
void mac_wait_in_ulock(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait);
void mac_wait_in_kevent(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait);

/* --- mac_messages.c --- */

/* Sets the kind, port and queue of the wait in mach_msg(). */
void mac_wait_in_message(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait);

/* --- mac_images.c --- */

void mac_images_deinit(struct live_system *system);
/* The loaded file that has code at `address`; NULL: none is known. Borrowed until the next call. */
struct mac_image *mac_image(struct argus_live *live, uint32_t process, uint64_t address);

/* The rules (mac_rules.c). */
live_rule mac_by_reply, mac_by_queue, mac_by_lock, mac_by_file_lock, mac_by_terminal;

#endif
