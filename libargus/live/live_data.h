/* The snapshot of the living system. Each part is read when it is first needed, because a walk
 * touches few of the processes: threads of a process by live_load(), descriptors of all processes
 * by live_fds(), sockets by live_read_sockets().
 *
 * Files whose functions ask the kernel are Linux's; macos/ has its own for the same functions. */
#ifndef ARGUS_LIVE_DATA_H
#define ARGUS_LIVE_DATA_H

#include <sys/types.h>

#include "argus/live.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "live/live_frames.h"

enum live_file_type {
    LIVE_FILE_PATH, /* of a file, device or FIFO */
    LIVE_FILE_PIPE,
    LIVE_FILE_SOCKET,
    LIVE_FILE_EVENTFD,
    LIVE_FILE_EPOLL,
    LIVE_FILE_TIMERFD,
    LIVE_FILE_OTHER, /* another object without a name */
};

/* A descriptor of some process. */
struct live_fd {
    uint32_t process; /* index */
    uint32_t fd;
    enum live_file_type type;
    uint64_t key;       /* inode of a pipe or socket; hash of a path; 0 for all others */
    uint32_t path;      /* string; 0: none */
    bool reads, writes; /* macOS's; on Linux live_fd_is_open_for() looks */
};

struct live_socket {
    uint64_t inode;
    uint64_t peer;   /* inode of the other end; 0: unknown or none */
    uint64_t unread; /* bytes in its receive queue; of a listening socket: connections */
    uint32_t path;   /* its name; string; 0: none */
    uint8_t family;
    bool is_listening;
    bool is_remote;    /* connected with another machine, or not connected */
    bool is_connected; /* of TCP and UDP: with that remote address */
    bool is_datagram;  /* UDP */
    bool sent_last;    /* of a TCP connection: it has sent data, and received none since */
    uint64_t sent_ns;  /* when that was, by the monotonic clock; 0: never, or not known */
    /* of TCP and UDP; ports in host order, addresses as in the kernel's message */
    uint32_t local[4], remote[4];
    uint16_t local_port, remote_port;
};

struct live_system;

struct argus_live {
    VEC(struct argus_live_process) processes;
    VEC(struct argus_live_thread) threads;
    struct idmap by_pid; /* process index */
    struct strtab *texts;
    VEC(struct live_fd) fds; /* sorted by type, key, process and descriptor */
    VEC(struct live_socket) sockets;
    struct idmap by_inode; /* socket index */
    bool has_fds, has_sockets;
    struct live_system *system; /* what only the code for this system keeps; owned */
    uint32_t debugged_pid;      /* whose stops by its tracer are looked through; 0: none */
    bool no_memory;             /* sticky */
};

/* --- live_state.c --- */

/* Interns; 0 without memory. */
uint32_t live_text(struct argus_live *live, const char *text);
/* The process of `pid`, loaded; ARGUS_LIVE_NONE: there is none. */
uint32_t live_process(struct argus_live *live, uint32_t pid);
/* The thread `tid`, if it belongs to `process`; ARGUS_LIVE_NONE: it does not. */
uint32_t live_thread_in(struct argus_live *live, uint32_t process, uint32_t tid);
/* Whether `ancestor` has started `process`, directly or through other processes. */
bool live_descends_from(struct argus_live *live, uint32_t process, uint32_t ancestor);
uint32_t live_pid_of(const struct argus_live *live, uint32_t thread);
/* The monotonic clock. */
uint64_t live_now_ns(void);

/* --- live_collect.c; macos/mac_collect.c --- */

/* Adds all processes but argus itself. */
struct argus_error *live_read_processes(struct argus_live *live);
/* Frees what only the code for this system keeps. */
void live_system_close(struct argus_live *live);
/* Whether the process has this name, as far as the kernel keeps names. */
bool live_has_name(const struct argus_live *live, uint32_t process, const char *name);
/* Whether the kernel itself is the process's program. */
bool live_is_kernels(struct argus_live *live, uint32_t process);
/* A number that grows when the thread, which waits, has run meanwhile. */
uint64_t live_moves(const struct argus_live *live, uint32_t thread);
/* Reads the threads of `process`. False: it has ended. */
bool live_load(struct argus_live *live, uint32_t process);
/* The thread `tid` of any process; ARGUS_LIVE_NONE: there is none. */
uint32_t live_thread_of_tid(struct argus_live *live, uint32_t tid);
/* Whether the thread is in the same call as when it was read. */
bool live_is_still_there(const struct argus_live *live, uint32_t thread);
/* Nanoseconds on a CPU, and in which it wanted one, since the thread began. 0: unknown. */
void live_run_time(const struct argus_live *live, uint32_t thread, uint64_t *ret_ran,
                   uint64_t *ret_wanted);
/* A thread that ran when it was read, but waits most of the time (with a short time-out, say):
 * reads it again until it waits. */
void live_settle(struct argus_live *live, uint32_t thread);
/* The ID of its parent process, without reading its threads; 0: none. */
uint32_t live_parent_of(struct argus_live *live, uint32_t process);
/* Whether two processes execute the same file; false: not, or not known. The file system is not
 * asked, which may not answer. */
bool live_has_same_program(const struct argus_live *live, uint32_t process, uint32_t other);
/* Reads the thread again; it stays as it was if it has ended. */
void live_read_again(struct argus_live *live, uint32_t thread);

/* --- live_last_ran.c --- */

/* When the thread, which waits, ran last, by the monotonic clock; it may have been somewhat
 * earlier. 0: not known. */
uint64_t live_last_ran_ns(struct argus_live *live, uint32_t thread);

/* --- live_read.c --- */

/* Reads a small file of /proc below /proc/PID/, NUL-terminated; its length, or -1 with errno. */
ssize_t live_read(uint32_t pid, const char *name, char *buffer, size_t bytes);
/* Field `number`, from 3 on, of /proc/PID/stat, or of the thread's file of that name (proc(5)).
 * `tid` 0: of the process. `buffer` gets the file, up to that field at least. NULL: not known. */
const char *live_stat_field(uint32_t pid, uint32_t tid, unsigned number, char *buffer,
                            size_t bytes);
/* Where a symbolic link leads. */
bool live_link(const char *path, char *ret, size_t bytes);
/* The number behind `field` ("pos:") at the start of a line. False: there is none. */
bool live_field(const char *text, const char *field, int base, uint64_t *ret);
/* Copies memory of a process; false: not all of it is readable. */
bool live_memory(uint32_t pid, uint64_t address, void *ret, size_t bytes);
/* Words of it, up to memory that is not readable; how many. */
size_t live_words(uint32_t pid, uint64_t address, uint64_t *ret, size_t count);
/* A NUL-terminated string in it. */
bool live_memory_text(uint32_t pid, uint64_t address, char *ret, size_t bytes);

/* Memory that processes can share: a file, or memory without a name, which has an inode too. */
struct live_memory_id {
    char device[16]; /* as in /proc/PID/maps */
    uint64_t inode;
};

/* What is mapped at `address`. False: memory that is not shared. */
bool live_shared_memory(uint32_t pid, uint64_t address, struct live_memory_id *ret);
/* The first memory that is mapped shared and writable. False: there is none. */
bool live_written_memory(uint32_t pid, struct live_memory_id *ret);
/* Whether the process maps it. */
bool live_maps(uint32_t pid, const struct live_memory_id *id);

/* --- live_reach.c --- */

/* Whether a reader of this file of the process may wait without end: its file system is another
 * machine's, or its server does not take requests. */
bool live_device_may_hang(struct argus_live *live, uint32_t pid, unsigned major, unsigned minor,
                          const char *path);

/* --- live_namespace.c --- */

enum live_presence { LIVE_ABSENT, LIVE_PRESENT, LIVE_NOT_KNOWN };

/* Whether the process is in a PID namespace below argus's, in which its threads have other IDs. */
bool live_has_own_ids(uint32_t pid);
/* What a thread of the process calls itself: its ID in its own PID namespace. */
uint32_t live_own_id(uint32_t pid, uint32_t tid);
/* Looks now for the thread of a process whose ID in the process's own PID namespace is `own_id`,
 * and sets its ID in argus's if it is there. NOT_KNOWN: not all IDs could be read. */
enum live_presence live_find_own_id(uint32_t pid, uint32_t own_id, uint32_t *ret_tid);
/* That thread; ARGUS_LIVE_NONE: it is not there, or not known. */
uint32_t live_thread_of_own_id(struct argus_live *live, uint32_t process, uint32_t own_id);

/* Whether the same path leads both processes to the same file: they are in one mount namespace, in
 * which `pid`'s root folder is that of argus or of the namespace. False if that is not known. */
bool live_has_same_paths(uint32_t pid, uint32_t other);

/* --- live_freezer.c --- */

/* The path of the control group that is frozen, with this process in it; string; 0: none. */
uint32_t live_frozen_group(struct argus_live *live, uint32_t pid);

/* --- live_fd_index.c --- */

/* Reads those of all processes that this user may see. */
void live_fds(struct argus_live *live);
uint64_t live_path_key(const char *path);
/* The range of descriptors with this type and key. */
size_t live_fds_of(struct argus_live *live, enum live_file_type type, uint64_t key,
                   const struct live_fd **ret);

/* --- live_fds.c; macos/mac_fds.c --- */

/* Adds the descriptors of a process. */
void live_read_fds(struct argus_live *live, uint32_t process);
/* The descriptor `fd` of a process; false: it is not open. */
bool live_fd(struct argus_live *live, uint32_t process, uint32_t fd, struct live_fd *ret);
/* Whether the descriptor is open for writing, or for reading. */
bool live_fd_is_open_for(const struct argus_live *live, const struct live_fd *fd, bool writing);
/* Reads /proc/PID/fdinfo/FD. */
bool live_fd_info(const struct argus_live *live, uint32_t process, uint32_t fd, char *buffer,
                  size_t bytes);

/* --- live_sock_diag.c; macos/mac_sockets.c --- */

/* Adds all sockets that the system tells. */
void live_read_sockets(struct argus_live *live);

/* --- live_sockets.c --- */

/* Adds one; without an inode, it only stands for an end that nobody has accepted: a unix socket
 * (family 0) has its listening socket's inode in `unread`. */
void live_add_socket(struct argus_live *live, const struct live_socket *socket);
/* IPv4 addresses as IPv6 has them, so that both ends compare. */
void live_copy_address(uint32_t ret[4], const uint32_t address[4], uint8_t family);

/* The socket of `inode`; NULL: the kernel did not list it. Borrowed. */
const struct live_socket *live_socket(struct argus_live *live, uint64_t inode);
/* Whether a TCP socket listens at the port. */
bool live_port_listens(struct argus_live *live, uint16_t port);
/* Whether the process of this socket has accepted the connection, so that it is the server of it.
 */
bool live_is_accepted(struct argus_live *live, const struct live_socket *socket);
/* "127.0.0.1:80", the address to which a TCP or UDP socket is connected; string; 0: to none. */
uint32_t live_remote_address(struct argus_live *live, const struct live_socket *socket);

#endif
