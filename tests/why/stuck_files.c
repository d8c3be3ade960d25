/* File locks, children, tracers, and waits of its own. */
#include "stuck.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void lock_and_sleep(void *data)
{
    int fd = open(data, O_RDWR);
    flock(fd, LOCK_EX);
    work_slowly();
}

static sem_t *shared;

static char *lock_file(void)
{
    static char path[] = "/tmp/argus-why-XXXXXX";
    close(mkstemp(path));
    printf("file %s\n", path);
    return path;
}

static void lease_and_sleep(void *path)
{
    int fd = open(path, O_RDWR);
    signal(SIGIO, SIG_IGN);
    if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0)
        say("holder", getpid());
    sem_post(shared);
    work_slowly();
}

/* Not all file systems have leases. */
void lease(void)
{
    char *path = lock_file();
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(shared, 1, 0);
    child_of(lease_and_sleep, path);
    sem_wait(shared);
    soon_ready();
    open(path, O_RDONLY);
}

void file_lock(void)
{
    char *path = lock_file();
    say("holder", child_of(lock_and_sleep, path));
    usleep(SETTLE_US);
    int fd = open(path, O_RDWR);
    soon_ready();
    flock(fd, LOCK_EX);
}

static void record_lock_and_sleep(void *data)
{
    struct flock lock = {.l_type = F_WRLCK};
    int fd = open(data, O_RDWR);
    fcntl(fd, F_SETLKW, &lock);
    work_slowly();
}

/* Opens a file on which a child has a record lock. */
static int open_locked(void)
{
    char *path = lock_file();
    say("holder", child_of(record_lock_and_sleep, path));
    usleep(SETTLE_US);
    int fd = open(path, O_RDWR);
    soon_ready();
    return fd;
}

void record_lock(void)
{
    struct flock lock = {.l_type = F_WRLCK};
    int fd = open_locked();
    fcntl(fd, F_SETLKW, &lock);
}

/* Tries again and again, as databases do. */
void polled_lock(void)
{
    struct flock lock = {.l_type = F_WRLCK};
    int fd = open_locked();
    while (fcntl(fd, F_SETLK, &lock) != 0)
        usleep(SETTLE_US);
}

static volatile int gives_up;

/* The lock is that of the open file, which was inherited: the process has it, and does not want it. */
void sleeps_with_lock(void)
{
    int fd = open(lock_file(), O_RDWR);
    flock(fd, LOCK_EX);
    pid_t child = fork();
    if (child > 0) {
        waitpid(child, NULL, 0);
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    say("sleeper", getpid());
    ready();
    while (!gives_up)
        usleep(SETTLE_US);
}

/* Unless another thread wants to give up: what the loop tests is not why it goes on. */
void polled_lock_until_told(void)
{
    struct flock lock = {.l_type = F_WRLCK};
    int fd = open_locked();
    while (!gives_up && fcntl(fd, F_SETLK, &lock) != 0)
        usleep(SETTLE_US);
}

/* Opens the file for each try, as package managers do. */
static void poll_path(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK};
    for (;;) {
        int fd = open(path, O_RDWR);
        if (fd < 0 || fcntl(fd, F_SETLK, &lock) == 0)
            return;
        close(fd);
        usleep(SETTLE_US);
    }
}

void polled_path(void)
{
    char *path = lock_file();
    say("holder", child_of(record_lock_and_sleep, path));
    usleep(SETTLE_US);
    soon_ready();
    poll_path(path);
}

/* The path can lead to another file, because the holder is in another mount namespace. If none can be made, the case
 * ends. */
void polled_elsewhere(void)
{
    char *path = lock_file();
    pid_t holder = child_of(record_lock_and_sleep, path);
    if (unshare(CLONE_NEWNS) != 0)
        return;
    say("holder", holder);
    usleep(SETTLE_US);
    soon_ready();
    poll_path(path);
}

static void keep_pipe(void *data)
{
    (void)data;
    work_slowly();
}

/* A pipe with tokens, like that of make's job server: whoever has it may put one back. */
void pipe_of_tokens(void)
{
    int ends[2];
    char token;
    if (pipe(ends) != 0)
        return;
    say("holder", child_of(keep_pipe, NULL));
    soon_ready();
    (void)!read(ends[0], &token, 1);
}

void wait_child(void)
{
    pid_t pid = child_of(sleep_long, NULL);
    say("child", pid);
    soon_ready();
    waitpid(pid, NULL, 0);
}

void stopped_child(void)
{
    pid_t pid = child_of(sleep_long, NULL);
    say("child", pid);
    kill(pid, SIGSTOP);
    soon_ready();
    waitpid(-1, NULL, 0);
}

static void trace_and_sleep(void *data)
{
    (void)data;
    pid_t pid = getppid();
    int status;
    say("tracer", getpid()); /* the parent may be stopped before it knows */
    ptrace(PTRACE_SEIZE, pid, 0, 0);
    ptrace(PTRACE_INTERRUPT, pid, 0, 0);
    waitpid(pid, &status, __WALL);
    printf("ready\n");
    fflush(stdout);
    work_slowly();
}

void traced(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    child_of(trace_and_sleep, NULL);
    sleep(LONG_S);
}

void sleeps(void)
{
    soon_ready();
    work_slowly();
}

void loops(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0);
    for (int i = 0; i < 3; i++)
        epoll_ctl(set, EPOLL_CTL_ADD, eventfd(0, 0), &event);
    soon_ready();
    epoll_wait(set, &event, 1, -1);
}

void runs(void)
{
    ready();
    for (volatile unsigned long i = 0;; i++)
        continue;
}

/* Nobody sets it. */
static volatile int go_on;

void spins(void)
{
    ready();
    while (!go_on)
        continue;
}

void polls_flag(void)
{
    soon_ready();
    while (!go_on)
        usleep(SETTLE_US);
}

/* The loop is one of work; the sleep is no part of its waiting. */
void sleeps_in_a_loop(void)
{
    soon_ready();
    while (!go_on)
        work_slowly();
}

/* Only a debugger with privileges may look at it. */
void undumpable(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    ready();
    work_slowly();
}

/* A page of memory that another thread has to provide. If userfaultfd is not allowed, the case ends. */
void userfault(void)
{
    enum { PAGE = 4096 };
    volatile char *memory =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {(uintptr_t)memory, PAGE},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 || ioctl(fd, UFFDIO_REGISTER, &range) != 0)
        return;
    begin(sleep_thread, NULL);
    ready();
    (void)memory[0];
}
