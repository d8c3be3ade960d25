/* A Mac's processes, threads, descriptors and ports, made up: it answers for the functions of
 * libargus/live/macos/mac_kernel.h. */
#ifndef ARGUS_TESTS_SIMULATED_MAC_H
#define ARGUS_TESTS_SIMULATED_MAC_H

#include "live/macos/mac_kernel.h"

/* Ends what was before. */
void mac_begin(void);

/* Adds a process that may be looked at; its threads come next, the main one first. */
struct mac_process *mac_add(uint32_t pid, uint32_t parent, const char *name);
/* Whether its task may not be opened, and how often it was suspended. */
void mac_set_denied(uint32_t pid, enum argus_live_denied denied);
void mac_set_suspended(uint32_t pid, uint32_t count);

/* Adds a thread of the process that was added last: arm64, and it runs. Its port has the name
 * `self`. The result is valid until the next one is added. */
struct mac_thread *mac_add_thread(uint64_t id, uint32_t self);
/* The thread waits in this system call (as in event/syscalls_darwin.def or _mach.def). */
void mac_wait_in(struct mac_thread *thread, const char *call, const uint64_t *arg, size_t count);
#define MAC_WAIT(thread, call, ...)                                                                \
    mac_wait_in(thread, call, (const uint64_t[]){__VA_ARGS__},                                     \
                sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Memory of the process `pid`. */
void mac_write(uint32_t pid, uint64_t address, const void *bytes, size_t count);
void mac_write_32(uint32_t pid, uint64_t address, uint32_t value);
void mac_write_64(uint32_t pid, uint64_t address, uint64_t value);

void mac_add_port(uint32_t pid, uint32_t name, uint32_t type, uint32_t object);
/* Of a receive right: the messages that are unread. */
void mac_set_queue(uint32_t pid, uint32_t name, uint32_t messages);
/* A send right to a port of the kernel. */
void mac_set_kernels(uint32_t pid, uint32_t name);

void mac_add_fd(uint32_t pid, const struct mac_fd *fd);
/* Both ends of a pipe. */
void mac_add_pipe(uint32_t reader, uint32_t read_fd, uint32_t writer, uint32_t write_fd,
                  uint64_t handle, uint32_t unread);
/* F_GETLK says so for every path. */
void mac_set_lock_holder(uint32_t pid);
void mac_set_images(uint32_t pid, uint64_t address);
/* How often a task was asked for since mac_close_tasks(). */
uint32_t mac_opened_tasks(void);

#endif
