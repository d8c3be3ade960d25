/* What macOS tells about living processes, as plain structures.
 *
 * mac_libproc.c and mac_tasks.c fill them by calls of libproc and Mach, which only a Mac has. All
 * else in this folder works on these structures, and is tested on Linux with a simulated kernel
 * (tests/macos/simulated_mac.c). The numbers in this file are Apple's (<sys/proc_info.h>,
 * <mach/port.h>, <sys/proc.h>); the two files compare them with Apple's headers when they are
 * compiled.
 *
 * Every array that is returned is the caller's to free(); NULL with 0: none, or not allowed. */
#ifndef ARGUS_MAC_KERNEL_H
#define ARGUS_MAC_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/live.h"

enum {
    MAC_NAME_BYTES = 64,
    MAC_PATH_BYTES = 1024,
    MAC_ARGUMENTS = 8,
};

/* --- processes (any user's) --- */

enum mac_process_status { MAC_STOPPED = 4, MAC_ZOMBIE = 5 }; /* SSTOP, SZOMB */
enum mac_process_flags { MAC_TRACED = 2, MAC_IN_VFORK = 8 }; /* PROC_FLAG_TRACED, …_PPWAIT */

struct mac_process {
    uint32_t parent; /* of a traced process: its tracer */
    uint32_t uid, status, flags;
    char name[MAC_NAME_BYTES];
};

size_t mac_pids(uint32_t **ret);
/* False: it has ended. */
bool mac_process(uint32_t pid, struct mac_process *ret);
/* Signals for which the process has handlers, as bits from signal 1 on. False: not known. */
bool mac_caught_signals(uint32_t pid, uint32_t *ret);

/* --- threads (one's own processes; root: all) --- */

/* TH_STATE_… */
enum mac_run_state {
    MAC_RUNNING = 1,
    MAC_THREAD_STOPPED,
    MAC_WAITING,
    MAC_UNINTERRUPTIBLE,
    MAC_HALTED,
};

struct mac_thread {
    uint64_t handle; /* where its thread-specific data begin (its pthread_self() and some bytes) */
    uint32_t run_state;
    uint64_t ran_ns; /* in user and kernel mode */
    char name[MAC_NAME_BYTES];
    /* with a right to the task only (mac_access()) */
    uint64_t id;       /* 0: unknown */
    uint32_t suspends; /* how often it was suspended by thread_suspend() */
    bool has_registers;
    bool is_arm64; /* else x86-64 */
    /* the register in which the number of a system call is (x16, rax), and its arguments */
    uint64_t number;
    uint64_t arg[MAC_ARGUMENTS];
    uint64_t pc, sp, fp, lr; /* lr: 0 on x86-64 */
};

/* The main thread is the first one. */
size_t mac_threads(uint32_t pid, struct mac_thread **ret);

/* --- descriptors (one's own processes; root: all) --- */

/* PROX_FDTYPE_… */
enum mac_fd_type {
    MAC_FD_FILE = 1,
    MAC_FD_SOCKET = 2,
    MAC_FD_SHARED_MEMORY = 3,
    MAC_FD_SEMAPHORE = 4,
    MAC_FD_KQUEUE = 5,
    MAC_FD_PIPE = 6,
};

enum mac_open_flags { MAC_OPEN_READ = 1, MAC_OPEN_WRITE = 2 }; /* FREAD, FWRITE */

enum mac_socket_kind { MAC_SOCKET_OTHER, MAC_SOCKET_UNIX, MAC_SOCKET_TCP, MAC_SOCKET_UDP };

struct mac_socket {
    enum mac_socket_kind kind;
    bool is_listening, is_connected;
    uint64_t id, peer;              /* the kernel's handles; peer: of unix sockets, 0: none */
    uint32_t unread;                /* bytes */
    uint32_t waiting;               /* of a listening one: connections that nobody has accepted */
    char name[108], peer_name[108]; /* of unix sockets; "": none */
    bool is_ip6;
    uint32_t local[4], remote[4]; /* network order; IPv4: only the first one is used */
    uint16_t local_port, remote_port;
};

struct mac_fd {
    uint32_t fd;
    uint32_t type;         /* enum mac_fd_type, or another */
    uint32_t flags;        /* enum mac_open_flags */
    uint64_t handle, peer; /* of a pipe: of both ends; 0: closed */
    uint32_t unread;       /* of a pipe: bytes */
    bool is_fifo, is_device;
    char path[MAC_PATH_BYTES]; /* of files; the names of semaphores; "": none */
    struct mac_socket socket;
};

size_t mac_fds(uint32_t pid, struct mac_fd **ret);
bool mac_fd(uint32_t pid, uint32_t fd, struct mac_fd *ret);

/* The process that has a fcntl() lock of this range (of struct flock), which conflicts with one of
 * this type (F_GETLK). 0: none that is known. Does not wait, and takes no lock. */
uint32_t mac_lock_holder(const char *path, int64_t start, int64_t length, int16_t type);

/* --- tasks: what task_for_pid() gives, a right to which the kernel gives only to root and to
 * programs with the debugger's entitlement --- */

enum argus_live_denied mac_access(uint32_t pid);
/* Gives back the rights to all tasks. The next snapshot opens them anew: in a debugger, which
 * stays, a process can have executed another program, or its ID can be another process's. */
void mac_close_tasks(void);
/* How often the task was suspended by task_suspend(): by a debugger, say. */
uint32_t mac_task_suspends(uint32_t pid);
/* Copies memory; false: not all of it is readable. */
bool mac_memory(uint32_t pid, uint64_t address, void *ret, size_t bytes);
/* Where dyld keeps the list of images (struct dyld_all_image_infos); 0: not known. */
uint64_t mac_images_address(uint32_t pid);

/* Suspends a task so that it goes on if argus ends (task_suspend2()). False: not allowed. */
bool mac_hold(uint32_t pid, uint32_t *ret_token);
void mac_release(uint32_t token);
/* Reads one thread; `tid`: the lower half of its ID. False: it has ended. */
bool mac_thread(uint32_t pid, uint32_t tid, struct mac_thread *ret);
bool mac_is_running(uint32_t pid, uint32_t tid);

/* MACH_PORT_TYPE_… */
enum mac_port_type {
    MAC_PORT_SEND = 0x10000,
    MAC_PORT_RECEIVE = 0x20000,
    MAC_PORT_SEND_ONCE = 0x40000,
    MAC_PORT_SET = 0x80000,
};

/* A right of a task. `object` is equal for all rights to one port, in whatever task
 * (xnu osfmk/ipc/mach_debug.c, mach_port_space_info: a hash of the port's address). */
struct mac_port {
    uint32_t name, type, object;
};

size_t mac_ports(uint32_t pid, struct mac_port **ret);
/* The messages in the queue of a port to which the task has the receive right. */
bool mac_port_queue(uint32_t pid, uint32_t name, uint32_t *ret_messages);
/* Whether messages to the port go to the kernel itself. */
bool mac_port_is_kernels(uint32_t pid, uint32_t name);

#endif
