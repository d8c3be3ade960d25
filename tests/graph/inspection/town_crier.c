/* A crier wakes two listeners, each in a separate process, directly one after the other, by
 * semaphores in shared memory. No message shows whether the two are related, so argus graph check
 * takes it for a batch. Each wake-up is a call of ring_bell(), by walk_round(). */
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* With shorter pauses the rounds would count as turns of one polling loop
 * (libargus/graph/rules/yield.c). */
enum { ROUNDS = 15, REST_NS = 60000000 };

__attribute__((noinline)) static void ring_bell(sem_t *bell)
{
    if (sem_post(bell) != 0)
        _exit(1);
    __asm__ volatile(""); /* prevents a tail call, so that the frame exists */
}

__attribute__((noinline)) static void walk_round(sem_t *bells)
{
    const struct timespec rest = {.tv_nsec = REST_NS};
    nanosleep(&rest, NULL);
    ring_bell(&bells[0]);
    ring_bell(&bells[1]);
    __asm__ volatile("");
}

static void begin_listener(sem_t *bell, const char *name)
{
    if (sem_init(bell, 1, 0) != 0)
        _exit(1);
    if (fork() != 0)
        return;
    prctl(PR_SET_NAME, name);
    for (int i = 0; i < ROUNDS; i++)
        if (sem_wait(bell) != 0)
            _exit(1);
    _exit(0);
}

int main(void)
{
    sem_t *bells =
        mmap(NULL, 2 * sizeof(*bells), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (bells == MAP_FAILED)
        return 1;
    begin_listener(&bells[0], "crier_left");
    begin_listener(&bells[1], "crier_right");
    for (int i = 0; i < ROUNDS; i++)
        walk_round(bells);
    while (wait(NULL) > 0)
        continue;
    return 0;
}
