/* Differences between operating systems other than recording itself (backend.h): one implementation
 * in linux/, one in macos/. */
#ifndef ARGUS_RECORDER_PLATFORM_H
#define ARGUS_RECORDER_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* The process at the other end of a connection. */
struct peer {
    pid_t pid;
    uid_t uid;
};

/* A local socket for messages, closed on exec; -1 with errno. A message of platform_send() arrives
 * whole or not at all. */
int platform_socket(void);
/* Accepts the next connection, as a non-blocking socket, and tells the peer; -1: none. */
int platform_accept(int listen_fd, struct peer *ret);
/* The process that accepted the connection `fd`; 0: unknown. */
pid_t platform_acceptor(int fd);
/* As sendmsg() and recvmsg(), for one message; received descriptors are closed on exec. */
ssize_t platform_send(int socket, const struct msghdr *message);
ssize_t platform_receive(int socket, struct msghdr *message);

/* Reads the next message and leaves it there. `*ret_with_fd`: descriptors come with it. -1 with
 * ENOTSUP: this system cannot. */
ssize_t platform_peek(int socket, void *bytes, size_t room, bool *ret_with_fd);
/* Drops the next message. The kernel closes its descriptors without the work of close(), so no file
 * system can make this wait. */
void platform_drop(int socket);

/* A descriptor that becomes readable when the process is sent SIGINT, SIGTERM or SIGHUP, which then
 * have no other effect; -1 with errno. */
int platform_watch_signals(void);
/* The signal; 0: none. */
uint32_t platform_next_signal(int signal_fd);

/* A descriptor that becomes readable when the child `pid` has ended; -1 with errno. */
int platform_watch_process(pid_t pid);

/* Whether the file system of `fd` stores data; in some a write is a command to the kernel. */
bool platform_keeps_files(int fd);

void platform_close_on_exec(int fd);
/* Closes all descriptors from this number on. */
void platform_close_from(int first);
/* Names this process in lists of processes. */
void platform_name_process(const char *name);
/* Raises the soft limits of descriptors, CPU time and files as far as the hard ones allow, and
 * ignores the signals of such limits: who started this process has limits for something else. */
void platform_raise_limits(void);
/* Whether this process may record: as root, or by capabilities that its file, or who started it,
 * has given it. */
bool platform_may_record(void);
/* Whether it may look for the windows of other processes. */
bool platform_may_see_windows(void);
/* Gives up, for good, the rights of root that no recording uses; of Linux only. What it keeps it
 * can need at any time: a probe or a flag is added while a recording runs. */
void platform_shed_rights(void);
/* Gives up, for good, what an ordinary user has by capabilities of the program's file. */
void platform_forget_capabilities(void);
/* What the calling process has yet to do. */
enum platform_stage {
    PLATFORM_STARTING,  /* serve clients, and begin a recording */
    PLATFORM_RECORDING, /* everything is attached */
    PLATFORM_WRITING,   /* only write an open file (argus-writer) */
};
/* Gives up, for good, what no later stage needs: rights, and system calls. Does what the system
 * can; `argus status` says what is left. */
void platform_confine(enum platform_stage stage);
/* Becomes `uid` if this is root, and gives up all capabilities for good; no other process of that
 * user may trace this one. */
void platform_drop_rights(uid_t uid);

/* Gives the calling thread real-time priority, or resets it. */
void platform_real_time(bool on);

#endif
