/* Writes a variable as often as requested, and prints how long that took.
 *
 * flag_writer: prints its pid and the variable's address; then for each input line "THREADS TIMES"
 * starts that many threads, each of which writes that often, and prints the nanoseconds from the
 * first write to the last.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

volatile uint64_t watched_flag;
static uint64_t times;

static void *write_all(void *unused)
{
    for (uint64_t i = 1; i <= times; i++)
        watched_flag = i;
    return unused;
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void run_threads(unsigned count)
{
    pthread_t threads[MOST_THREADS];
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, write_all, NULL))
            exit(1);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    unsigned threads;
    printf("%d %p\n", (int)getpid(), (void *)&watched_flag);
    fflush(stdout);
    while (scanf("%u %" SCNu64, &threads, &times) == 2 && threads <= MOST_THREADS) {
        uint64_t start_ns = now_ns();
        if (threads)
            run_threads(threads);
        else
            write_all(NULL);
        printf("%" PRIu64 "\n", now_ns() - start_ns);
        fflush(stdout);
    }
    return 0;
}
