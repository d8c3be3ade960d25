/* Two guests of one batching host: in one turn of its loop it reads what both have asked for, and
 * then answers both. A guest waits for the host, and the host acts for that guest, never for the
 * other one.
 *
 * The guests take turns in asking first, and the host in reading first, so that the request read
 * first is not always that of the guest that woke the host. */
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

enum { GUESTS = 2, ROUNDS = 12, ROUND_MS = 50, LATER_MS = 3, GATHER_MS = 12 };

static void fail_unless(bool done)
{
    if (!done)
        _exit(1);
}

static void guest(int fd, int own, const volatile int *tids, uint64_t start_ns)
{
    char word = 'x';
    for (int round = 0; round < ROUNDS; round++) {
        bool second = round % 2 != own;
        truth_sleep_until_ns(start_ns + (uint64_t)(round * ROUND_MS + second * LATER_MS) * 1000000);
        struct truth_wait wait = truth_begin();
        fail_unless(write(fd, &word, 1) == 1 && read(fd, &word, 1) == 1);
        wait.direct = getppid();
        wait.through[0] = wait.thread;
        wait.never[0] = tids[!own];
        truth_say(&wait);
    }
}

static void host(const int *fds)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct pollfd ready[GUESTS] = {{.fd = fds[0], .events = POLLIN},
                                       {.fd = fds[1], .events = POLLIN}};
        char words[GUESTS];
        int first = round / 2 % 2;
        fail_unless(poll(ready, GUESTS, -1) > 0);
        truth_spin_ms(GATHER_MS); /* the other guest asks meanwhile */
        for (int i = 0; i < GUESTS; i++)
            fail_unless(read(fds[i ^ first], &words[i ^ first], 1) == 1);
        truth_spin_ms(1);
        for (int i = 0; i < GUESTS; i++)
            fail_unless(write(fds[i ^ first], &words[i ^ first], 1) == 1);
    }
}

int main(void)
{
    int *tids =
        mmap(NULL, sizeof(int) * GUESTS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t start_ns = truth_now_ns() + 100000000;
    int fds[GUESTS];
    fail_unless(tids != MAP_FAILED);
    for (int i = 0; i < GUESTS; i++) {
        int pair[2];
        fail_unless(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        pid_t pid = fork();
        fail_unless(pid >= 0);
        if (pid == 0) {
            close(pair[0]);
            tids[i] = getpid();
            guest(pair[1], i, tids, start_ns);
            _exit(0);
        }
        close(pair[1]);
        fds[i] = pair[0];
    }
    host(fds);
    for (int i = 0; i < GUESTS; i++)
        wait(NULL);
    return 0;
}
