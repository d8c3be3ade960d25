/* Waits of every kind, each in a separate process with the name of the scene. Prints "scene
 * key=value …" for each, which is what causes.py compares the recorded waits with.
 *
 *     causes SCENE…        in a folder that can be written to
 *
 * A scene is a function that waits once for at least WAIT_MS, for something that a helper process
 * does.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS     100
#define EPOLL_DATA  0xfeedc0de1234ull
#define FILE_BYTES  (1 << 20)
#define BLOCK_BYTES 4096
#define FUTEX_PLACE 4160 /* in the second page of the file */

static void check(bool right, const char *what)
{
    if (right)
        return;
    perror(what);
    exit(1);
}

static void sleep_ms(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&time, &time) < 0 && errno == EINTR) {
    }
}

/* Computes until the process has used this much CPU time, whatever the load of the machine. */
static void run_ms(long ms)
{
    struct timespec start, now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    do {
        for (volatile int i = 0; i < 10000; i++) {
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

/* Prints the facts of a scene in one write, before it waits. */
static __attribute__((format(printf, 1, 2))) void say(const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    check(write(STDOUT_FILENO, text, (size_t)length) == length, "write");
}

static unsigned long inode_of(int fd)
{
    struct stat status;
    check(fstat(fd, &status) == 0, "fstat");
    return status.st_ino;
}

/* Runs the rest in a child: true there. */
static bool in_helper(void)
{
    pid_t pid = fork();
    check(pid >= 0, "fork");
    if (pid == 0)
        prctl(PR_SET_NAME, "causes-helper");
    return pid == 0;
}

static void write_later(int fd)
{
    if (!in_helper())
        return;
    sleep_ms(WAIT_MS);
    check(write(fd, "x", 1) == 1, "write");
    _exit(0);
}

static void scene_poll(void)
{
    int pair[2], other[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && pipe(other) == 0, "socketpair");
    struct pollfd fds[] = {{.fd = other[0], .events = POLLIN}, {.fd = pair[0], .events = POLLIN}};
    say("poll fd=%d inode=%lu peer=%lu\n", pair[0], inode_of(pair[0]), inode_of(pair[1]));
    write_later(pair[1]);
    check(poll(fds, 2, -1) == 1, "poll");
}

static void scene_select(void)
{
    int ends[2];
    fd_set set;
    check(pipe(ends) == 0 && dup2(ends[0], 200) == 200, "pipe");
    FD_ZERO(&set);
    FD_SET(200, &set);
    say("select fd=200 inode=%lu\n", inode_of(200));
    write_later(ends[1]);
    check(select(201, &set, NULL, NULL, NULL) == 1, "select");
}

/* Waits in epoll for a pipe; `ready` is called between making the set and waiting. */
static void wait_in_epoll(void (*ready)(void))
{
    int ends[2], set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = EPOLL_DATA};
    check(pipe(ends) == 0 && epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) == 0, "epoll_ctl");
    say("epoll fd=%d inode=%lu\n", ends[0], inode_of(ends[0]));
    if (ready)
        ready();
    write_later(ends[1]);
    check(epoll_wait(set, &event, 1, -1) == 1, "epoll_wait");
}

static void scene_epoll(void)
{
    wait_in_epoll(NULL);
}

/* The set is older than the recording, which begins before a line can be read. */
static void wait_for_line(void)
{
    char byte;
    check(read(STDIN_FILENO, &byte, 1) == 1, "read");
}

static void scene_oldepoll(void)
{
    wait_in_epoll(wait_for_line);
}

static void scene_futex(void)
{
    int fd = memfd_create("causes", 0);
    check(ftruncate(fd, 8192) == 0, "ftruncate");
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check(memory != MAP_FAILED, "mmap");
    uint32_t *word = (uint32_t *)(memory + FUTEX_PLACE);
    say("futex inode=%lu offset=%d\n", inode_of(fd), FUTEX_PLACE);
    if (in_helper()) {
        sleep_ms(WAIT_MS);
        *word = 1;
        syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
        _exit(0);
    }
    syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void scene_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        sleep_ms(WAIT_MS);
        _exit(0);
    }
    say("child pid=%d\n", pid);
    check(wait4(-1, NULL, 0, NULL) == pid, "wait4");
}

static void scene_waitid(void)
{
    siginfo_t info;
    pid_t pid = fork();
    if (pid == 0) {
        sleep_ms(WAIT_MS);
        _exit(0);
    }
    say("waitid pid=%d\n", pid);
    check(waitid(P_PID, (id_t)pid, &info, WEXITED) == 0, "waitid");
}

static void scene_sleep(void)
{
    say("sleep ms=%d\n", WAIT_MS);
    sleep_ms(WAIT_MS);
}

static void scene_flock(void)
{
    int fd = open("lock", O_RDWR | O_CREAT, 0600);
    if (in_helper()) {
        int own = open("lock", O_RDWR);
        check(flock(own, LOCK_EX) == 0, "flock");
        sleep_ms(2 * WAIT_MS);
        _exit(0);
    }
    sleep_ms(WAIT_MS / 2);
    say("flock fd=%d inode=%lu\n", fd, inode_of(fd));
    check(flock(fd, LOCK_EX) == 0, "flock");
}

static void scene_msgrcv(void)
{
    struct {
        long type;
        char text[8];
    } message = {.type = 1};
    int queue = msgget(IPC_PRIVATE, 0600);
    check(queue >= 0, "msgget");
    say("msgrcv id=%d\n", queue);
    if (in_helper()) {
        sleep_ms(WAIT_MS);
        msgsnd(queue, &message, 8, 0);
        _exit(0);
    }
    check(msgrcv(queue, &message, 8, 0, 0) == 8, "msgrcv");
    msgctl(queue, IPC_RMID, NULL);
}

static void scene_semop(void)
{
    int set = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf take = {.sem_op = -1}, give = {.sem_op = 1};
    check(set >= 0, "semget");
    say("semop id=%d\n", set);
    if (in_helper()) {
        sleep_ms(WAIT_MS);
        semop(set, &give, 1);
        _exit(0);
    }
    check(semop(set, &take, 1) == 0, "semop");
    semctl(set, 0, IPC_RMID);
}

/* A file on the disk that is not in the page cache. */
static int cold_file(int flags)
{
    char *bytes = calloc(1, FILE_BYTES);
    int fd = open("data", O_RDWR | O_CREAT, 0600);
    check(bytes && fd >= 0 && write(fd, bytes, FILE_BYTES) == FILE_BYTES, "data");
    check(fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "fsync");
    close(fd);
    free(bytes);
    return open("data", O_RDWR | flags);
}

static void scene_fault(void)
{
    int fd = cold_file(0);
    volatile char *memory = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    check(memory != MAP_FAILED, "mmap");
    madvise((void *)memory, FILE_BYTES, MADV_RANDOM);
    say("fault inode=%lu\n", inode_of(fd));
    (void)memory[7 * BLOCK_BYTES + 1];
}

static void scene_direct(void)
{
    void *buffer = NULL;
    int fd = cold_file(O_DIRECT);
    struct stat status;
    check(posix_memalign(&buffer, BLOCK_BYTES, BLOCK_BYTES) == 0 && fstat(fd, &status) == 0,
          "direct");
    say("direct fd=%d inode=%lu device=%u:%u bytes=%d\n", fd, status.st_ino, major(status.st_dev),
        minor(status.st_dev), BLOCK_BYTES);
    check(pread(fd, buffer, BLOCK_BYTES, BLOCK_BYTES) == BLOCK_BYTES, "pread");
    free(buffer);
}

/* A loop device reads its file in a kernel thread. CAUSES_LOOP names one. */
static void scene_loop(void)
{
    void *buffer = NULL;
    const char *device = getenv("CAUSES_LOOP");
    int fd = device ? open(device, O_RDONLY | O_DIRECT) : -1;
    check(fd >= 0 && posix_memalign(&buffer, BLOCK_BYTES, BLOCK_BYTES) == 0, "loop");
    say("loop fd=%d\n", fd);
    check(pread(fd, buffer, BLOCK_BYTES, 16 * BLOCK_BYTES) == BLOCK_BYTES, "pread");
    free(buffer);
}

static void on_signal(int number)
{
    (void)number;
}

static void kill_later(int number)
{
    pid_t target = getpid();
    struct sigaction action = {.sa_handler = on_signal};
    if (number != SIGSTOP)
        sigaction(number, &action, NULL);
    if (!in_helper())
        return;
    sleep_ms(WAIT_MS);
    kill(target, number);
    if (number == SIGSTOP) {
        sleep_ms(WAIT_MS);
        kill(target, SIGCONT);
    }
    _exit(0);
}

static void scene_signal(void)
{
    say("signal name=SIGUSR1\n");
    kill_later(SIGUSR1);
    pause();
}

static void scene_interrupted(void)
{
    struct timespec time = {.tv_sec = 5};
    say("interrupted name=SIGUSR2\n");
    kill_later(SIGUSR2);
    nanosleep(&time, NULL);
}

static void scene_taken(void)
{
    say("taken name=SIGUSR1\n");
    kill_later(SIGUSR1);
    run_ms(2 * WAIT_MS);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Runs until it was stopped for a while, however slow the machine is; for 20 s at most. */
static void run_until_stopped(void)
{
    uint64_t begin = now_ms(), last = begin;
    for (;;) {
        uint64_t now = now_ms();
        if (now - last >= WAIT_MS * 9 / 10 || now - begin > 20000)
            return;
        last = now;
    }
}

static void scene_stopped(void)
{
    say("stopped name=SIGSTOP\n");
    kill_later(SIGSTOP);
    run_until_stopped();
    run_ms(WAIT_MS);
}

static void scene_pty(void)
{
    int master, slave;
    char byte;
    struct termios raw;
    check(openpty(&master, &slave, NULL, NULL, NULL) == 0 && tcgetattr(slave, &raw) == 0,
          "openpty");
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);
    say("pty fd=%d\n", master);
    write_later(slave);
    check(read(master, &byte, 1) == 1, "read");
}

static void *arm(void *context)
{
    struct itimerspec time = {.it_value = {.tv_nsec = WAIT_MS * 1000000}};
    prctl(PR_SET_NAME, "armer");
    timerfd_settime(*(int *)context, 0, &time, NULL);
    sleep_ms(3 * WAIT_MS);
    return NULL;
}

static void scene_timerfd(void)
{
    pthread_t thread;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct pollfd fds = {.fd = fd, .events = POLLIN};
    say("timerfd fd=%d\n", fd);
    check(pthread_create(&thread, NULL, arm, &fd) == 0, "pthread_create");
    check(poll(&fds, 1, -1) == 1, "poll");
    pthread_join(thread, NULL);
}

/* schedule_timeout() waits by a timer of the wheel. */
static void scene_wheel(void)
{
    int pair[2];
    char byte;
    struct timeval time = {.tv_usec = WAIT_MS * 1000};
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    say("wheel fd=%d\n", pair[0]);
    check(recv(pair[0], &byte, 1, 0) < 0, "recv");
}

static void scene_alarm(void)
{
    struct itimerval time = {.it_value = {.tv_usec = WAIT_MS * 1000}};
    signal(SIGALRM, on_signal);
    say("alarm name=SIGALRM\n");
    setitimer(ITIMER_REAL, &time, NULL);
    pause();
}

/* The timer counts this thread's cpu time; its signal goes to a thread of the process that does not
 * block it. */
#define PROF_TURNS                                                                                 \
    100 /* where the kernel counts cpu time by ticks, and ticks are lost, the signal comes late */

static volatile sig_atomic_t prof_taken;

static void *take_prof(void *context)
{
    (void)context;
    prctl(PR_SET_NAME, "taker");
    pause();
    prof_taken = 1;
    return NULL;
}

static void scene_prof(void)
{
    pthread_t thread;
    sigset_t set;
    struct itimerval time = {.it_value = {.tv_usec = WAIT_MS * 1000}};
    signal(SIGPROF, on_signal);
    check(pthread_create(&thread, NULL, take_prof, NULL) == 0, "pthread_create");
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    say("prof name=SIGPROF\n");
    setitimer(ITIMER_PROF, &time, NULL);
    for (int i = 0; i < PROF_TURNS && !prof_taken; i++)
        run_ms(WAIT_MS);
}

/* To add a scene: a row, and what causes.py expects of it. */
static const struct {
    const char *name;
    void (*play)(void);
} scenes[] = {
    {"poll", scene_poll},     {"select", scene_select},
    {"epoll", scene_epoll},   {"oldepoll", scene_oldepoll},
    {"futex", scene_futex},   {"child", scene_child},
    {"waitid", scene_waitid}, {"sleep", scene_sleep},
    {"flock", scene_flock},   {"msgrcv", scene_msgrcv},
    {"semop", scene_semop},   {"fault", scene_fault},
    {"direct", scene_direct}, {"loop", scene_loop},
    {"signal", scene_signal}, {"interrupted", scene_interrupted},
    {"taken", scene_taken},   {"stopped", scene_stopped},
    {"pty", scene_pty},       {"timerfd", scene_timerfd},
    {"wheel", scene_wheel},   {"alarm", scene_alarm},
    {"prof", scene_prof},
};

static bool play(const char *name)
{
    for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
        if (strcmp(scenes[i].name, name) != 0)
            continue;
        char comm[16];
        snprintf(comm, sizeof(comm), "c-%s", name);
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_NAME, comm);
            scenes[i].play();
            exit(0);
        }
        int status;
        return waitpid(pid, &status, 0) == pid && status == 0;
    }
    fprintf(stderr, "causes: there is no scene %s\n", name);
    return false;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!play(argv[i])) {
            fprintf(stderr, "causes: %s failed\n", argv[i]);
            return 1;
        }
    }
    return 0;
}
