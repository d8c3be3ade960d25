#include "loop_scaffold.h"

#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 4 };

static pthread_mutex_t shelf = PTHREAD_MUTEX_INITIALIZER;
static int requests[2], thefts[2];

static void *be_worker(void *unused)
{
    char request;
    while (read(requests[0], &request, 1) == 1) {
        usleep(5000);
        pthread_mutex_lock(&shelf);
        pthread_mutex_unlock(&shelf);
        finish_work();
    }
    return unused;
}

static void *be_holder(void *unused)
{
    char request;
    while (read(thefts[0], &request, 1) == 1) {
        pthread_mutex_lock(&shelf);
        usleep(2500000);
        pthread_mutex_unlock(&shelf);
    }
    return unused;
}

static void play(int round)
{
    ask();
    if (round == ROUNDS - 1 && write(thefts[1], "x", 1) == 1)
        usleep(3000);
    if (write(requests[1], "x", 1) == 1)
        wait_until_done();
    usleep(60000);
}

int main(void)
{
    pthread_t worker, holder;
    if (pipe(requests) || pipe(thefts))
        return 1;
    prepare();
    pthread_create(&worker, NULL, be_worker, NULL);
    pthread_create(&holder, NULL, be_holder, NULL);
    pthread_setname_np(worker, "worker");
    pthread_setname_np(holder, "holder");
    for (int round = 0; round < ROUNDS; round++)
        play(round);
}
