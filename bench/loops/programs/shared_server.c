/* shared_server FILE: the other program of shared_client.c, which has other names for the same memory. Each byte of its input is a
 * request; for 's' another thread holds the lock for 2.5 s. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared_board.h"

static struct board *slate;
static pthread_mutex_t shelf = PTHREAD_MUTEX_INITIALIZER;
static int jobs[2], thefts[2];

static void *be_holder(void *unused)
{
    char theft;
    while (read(thefts[0], &theft, 1) == 1) {
        pthread_mutex_lock(&shelf);
        usleep(2500000);
        pthread_mutex_unlock(&shelf);
    }
    return unused;
}

__attribute__((noinline)) static void publish_answer(void)
{
    slate->is_done = 1;
}

static void *be_worker(void *unused)
{
    char job;
    while (read(jobs[0], &job, 1) == 1) {
        usleep(5000);
        pthread_mutex_lock(&shelf);
        pthread_mutex_unlock(&shelf);
        publish_answer();
    }
    return unused;
}

static int open_slate(int file)
{
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    slate = (struct board *)(memory + 4096);
    return memory == MAP_FAILED;
}

int main(int argc, char **argv)
{
    char request;
    pthread_t worker, holder;
    if (argc < 2 || open_slate(atoi(argv[1])) || pipe(jobs) || pipe(thefts))
        return 1;
    pthread_create(&worker, NULL, be_worker, NULL);
    pthread_create(&holder, NULL, be_holder, NULL);
    pthread_setname_np(worker, "worker");
    pthread_setname_np(holder, "holder");
    while (read(STDIN_FILENO, &request, 1) == 1) {
        if (request == 's' && write(thefts[1], &request, 1) == 1)
            usleep(3000);
        if (write(jobs[1], &request, 1) != 1)
            return 1;
    }
}
