/* Where the operating systems differ, beside recording itself (backend.h): one implementation in linux/, one in macos/. */
#ifndef ARGUS_RECORDER_PLATFORM_H
#define ARGUS_RECORDER_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Who is at the other end of a connection. */
struct peer {
    pid_t pid;
    uid_t uid;
};

/* A local socket for messages, closed on exec; -1 with errno. What is sent by platform_send() arrives as a whole or not at all. */
int platform_socket(void);
/* The next connection, which never blocks, and who it is; -1: none. */
int platform_accept(int listen_fd, struct peer *ret);
/* The process that accepts the connections of which `fd` is one; 0: not known. */
pid_t platform_acceptor(int fd);
/* As sendmsg() and recvmsg(), for one message; descriptors that came are closed on exec. */
ssize_t platform_send(int socket, const struct msghdr *message);
ssize_t platform_receive(int socket, struct msghdr *message);

/* A descriptor that can be read when the process was sent SIGINT, SIGTERM or SIGHUP, which then do nothing else; -1 with errno. */
int platform_watch_signals(void);
/* The signal; 0: none. */
uint32_t platform_next_signal(int signal_fd);

/* A descriptor that poll() finds readable when the child `pid` has ended; -1 with errno. */
int platform_watch_process(pid_t pid);

/* Whether the file system of `fd` keeps what is written; in some a write is a command to the kernel. */
bool platform_keeps_files(int fd);

/* The calling thread before all ordinary ones, or as it was. */
void platform_real_time(bool on);

#endif
