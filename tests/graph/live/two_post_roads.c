/* A broker between processes: messages from each of two senders are passed on to its own receiver,
 * both in one turn of the broker's loop. A receiver waits for its own sender, through the broker,
 * and is unrelated to the other pair. */
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

enum { ROADS = 2, ROUNDS = 10, ROUND_MS = 50, LATER_MS = 3, GATHER_MS = 12 };

struct road {
    int in[2], out[2];
};

struct shared {
    volatile int senders[ROADS], receivers[ROADS];
};

static void fail_unless(bool done)
{
    if (!done)
        _exit(1);
}

static void send_all(int fd, int own, struct shared *shared, uint64_t start_ns)
{
    shared->senders[own] = getpid();
    for (int round = 0; round < ROUNDS; round++) {
        bool second = round % 2 != own;
        truth_sleep_until_ns(start_ns + (uint64_t)(round * ROUND_MS + second * LATER_MS) * 1000000);
        fail_unless(write(fd, "x", 1) == 1);
    }
}

static void receive_all(int fd, int own, struct shared *shared)
{
    char word;
    shared->receivers[own] = getpid();
    for (int round = 0; round < ROUNDS; round++) {
        struct truth_wait wait = truth_begin();
        fail_unless(read(fd, &word, 1) == 1);
        wait.direct = getppid();
        wait.through[0] = shared->senders[own];
        wait.never[0] = shared->senders[!own];
        wait.never[1] = shared->receivers[!own];
        truth_say(&wait);
    }
}

static void broker(struct road *roads)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct pollfd ready[ROADS] = {{.fd = roads[0].in[0], .events = POLLIN},
                                      {.fd = roads[1].in[0], .events = POLLIN}};
        char word;
        fail_unless(poll(ready, ROADS, -1) > 0);
        truth_spin_ms(GATHER_MS);
        for (int i = 0; i < ROADS; i++) {
            int road = i ^ (round / 2 % 2);
            fail_unless(read(roads[road].in[0], &word, 1) == 1);
            truth_spin_ms(1);
            fail_unless(write(roads[road].out[0], &word, 1) == 1);
        }
    }
}

static void begin(bool sender, struct road *roads, int own, struct shared *shared,
                  uint64_t start_ns)
{
    pid_t pid = fork();
    fail_unless(pid >= 0);
    if (pid)
        return;
    if (sender)
        send_all(roads[own].in[1], own, shared, start_ns);
    else
        receive_all(roads[own].out[1], own, shared);
    _exit(0);
}

int main(void)
{
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct road roads[ROADS];
    uint64_t start_ns = truth_now_ns() + 100000000;
    fail_unless(shared != MAP_FAILED);
    for (int i = 0; i < ROADS; i++)
        fail_unless(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, roads[i].in) == 0 &&
                    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, roads[i].out) == 0);
    for (int i = 0; i < ROADS; i++) {
        begin(true, roads, i, shared, start_ns);
        begin(false, roads, i, shared, start_ns);
    }
    broker(roads);
    while (wait(NULL) > 0)
        continue;
    return 0;
}
