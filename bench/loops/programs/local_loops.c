/* Loops in C that look at an object to which only the stack leads, or at one of several in an array
 * or a list: one shape for each SHAPE_…, a program of its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 4, WORKERS = 3 };

struct job {
    struct job *next;
    int requests[2];
    long frames;
    atomic_int is_done;
};

static pthread_mutex_t shelf = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void finish_work(struct job *job)
{
    job->frames++;
    job->is_done = 1;
}

static void *be_worker(void *argument)
{
    struct job *job = argument;
    char request;
    while (read(job->requests[0], &request, 1) == 1) {
        usleep(5000);
        pthread_mutex_lock(&shelf);
        pthread_mutex_unlock(&shelf);
        finish_work(job);
    }
    return NULL;
}

static void *be_holder(void *unused)
{
    pthread_mutex_lock(&shelf);
    usleep(2500000);
    pthread_mutex_unlock(&shelf);
    return unused;
}

static void begin_worker(struct job *job)
{
    pthread_t thread;
    if (pipe(job->requests) == 0 && pthread_create(&thread, NULL, be_worker, job) == 0)
        pthread_setname_np(thread, "worker");
}

static void ask(struct job *job, int round)
{
    pthread_t thread;
    job->is_done = 0;
    if (round == ROUNDS - 1 && pthread_create(&thread, NULL, be_holder, NULL) == 0)
        usleep(3000);
    if (write(job->requests[1], "x", 1) != 1)
        exit(1);
}

#if defined(SHAPE_OWN_STACK)
int main(void)
{
    struct job job = {.frames = 0};
    begin_worker(&job);
    for (int round = 0; round < ROUNDS; round++) {
        ask(&job, round);
        while (!job.is_done)
            usleep(2000);
        usleep(60000);
    }
}
#elif defined(SHAPE_OWN_HEAP)
int main(void)
{
    struct job *job = calloc(1, sizeof(*job));
    begin_worker(job);
    for (int round = 0; round < ROUNDS; round++) {
        ask(job, round);
        while (!job->is_done)
            usleep(2000);
        usleep(60000);
    }
}
#elif defined(SHAPE_OWN_ARGUMENT)
__attribute__((noinline)) static void wait_for(struct job *job)
{
    while (!job->is_done)
        usleep(2000);
}

int main(void)
{
    struct job *job = calloc(1, sizeof(*job));
    begin_worker(job);
    for (int round = 0; round < ROUNDS; round++) {
        ask(job, round);
        wait_for(job);
        usleep(60000);
    }
}
#elif defined(SHAPE_ARRAY)
static struct job jobs[WORKERS];

__attribute__((noinline)) static void wait_for(int at)
{
    while (!jobs[at].is_done)
        usleep(2000);
}

int main(void)
{
    for (int i = 0; i < WORKERS; i++)
        begin_worker(&jobs[i]);
    for (int round = 0; round < ROUNDS; round++) {
        ask(&jobs[round % WORKERS], round);
        wait_for(round % WORKERS);
        usleep(60000);
    }
}
#elif defined(SHAPE_ALL_OF_ARRAY)
static struct job jobs[WORKERS];

__attribute__((noinline)) static bool are_done(void)
{
    for (int i = 0; i < WORKERS; i++)
        if (!jobs[i].is_done)
            return false;
    return true;
}

int main(void)
{
    for (int i = 0; i < WORKERS; i++)
        begin_worker(&jobs[i]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORKERS; i++)
            ask(&jobs[i], i ? 0 : round);
        while (!are_done())
            usleep(2000);
        usleep(60000);
    }
}
#elif defined(SHAPE_LIST)
static struct job *first;

__attribute__((noinline)) static bool are_done(void)
{
    for (struct job *job = first; job; job = job->next)
        if (!job->is_done)
            return false;
    return true;
}

int main(void)
{
    for (int i = 0; i < WORKERS; i++) {
        struct job *job = calloc(1, sizeof(*job));
        job->next = first;
        first = job;
        begin_worker(job);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (struct job *job = first; job; job = job->next)
            ask(job, job == first ? round : 0);
        while (!are_done())
            usleep(2000);
        usleep(60000);
    }
}
#endif
