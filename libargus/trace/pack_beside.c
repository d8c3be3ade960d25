#include "trace/pack_beside.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/parallel.h"

enum { JOBS = 4 };

struct pack_beside {
    struct pack_job jobs[JOBS]; /* number n is at n % JOBS */
    struct packer packer;       /* the thread's */
    pthread_t thread;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    uint64_t given, packed, taken; /* jobs, ever; `taken` is the owner's alone */
    bool over;
};

static struct pack_job *job_at(struct pack_beside *beside, uint64_t number)
{
    return &beside->jobs[number % JOBS];
}

/* Waits for a job; NULL: there will be no more. */
static struct pack_job *await_job(struct pack_beside *beside)
{
    while (!beside->over && beside->packed == beside->given)
        pthread_cond_wait(&beside->changed, &beside->mutex);
    return beside->over ? NULL : job_at(beside, beside->packed);
}

static void *pack_jobs(void *context)
{
    struct pack_beside *beside = context;
    struct pack_job *job;
    pthread_mutex_lock(&beside->mutex);
    while ((job = await_job(beside))) {
        pthread_mutex_unlock(&beside->mutex);
        beside->packer.codec = job->codec;
        job->packed = chunk_image_pack(&beside->packer, &job->head, &job->payload, &job->image);
        pthread_mutex_lock(&beside->mutex);
        beside->packed++;
        pthread_cond_signal(&beside->changed);
    }
    pthread_mutex_unlock(&beside->mutex);
    return NULL;
}

static void destroy(struct pack_beside *beside)
{
    for (int i = 0; i < JOBS; i++) {
        bytes_deinit(&beside->jobs[i].payload);
        bytes_deinit(&beside->jobs[i].image);
    }
    packer_deinit(&beside->packer);
    pthread_cond_destroy(&beside->changed);
    pthread_mutex_destroy(&beside->mutex);
    free(beside);
}

struct pack_beside *pack_beside_start(bool fast)
{
    struct pack_beside *beside = calloc(1, sizeof(*beside));
    if (!beside)
        return NULL;
    beside->packer.fast = fast;
    pthread_mutex_init(&beside->mutex, NULL);
    pthread_cond_init(&beside->changed, NULL);
    if (parallel_start(&beside->thread, pack_jobs, beside))
        return beside;
    destroy(beside);
    return NULL;
}

void pack_beside_stop(struct pack_beside *beside)
{
    if (!beside)
        return;
    pthread_mutex_lock(&beside->mutex);
    beside->over = true;
    pthread_cond_signal(&beside->changed);
    pthread_mutex_unlock(&beside->mutex);
    pthread_join(beside->thread, NULL);
    destroy(beside);
}

struct pack_job *pack_beside_free(struct pack_beside *beside)
{
    /* only the owner changes these two */
    return beside->given - beside->taken < JOBS ? job_at(beside, beside->given) : NULL;
}

void pack_beside_give(struct pack_beside *beside)
{
    pthread_mutex_lock(&beside->mutex);
    beside->given++;
    pthread_cond_signal(&beside->changed);
    pthread_mutex_unlock(&beside->mutex);
}

struct pack_job *pack_beside_oldest(struct pack_beside *beside)
{
    if (beside->taken == beside->given)
        return NULL;
    pthread_mutex_lock(&beside->mutex);
    while (beside->packed == beside->taken)
        pthread_cond_wait(&beside->changed, &beside->mutex);
    pthread_mutex_unlock(&beside->mutex);
    return job_at(beside, beside->taken);
}

void pack_beside_take(struct pack_beside *beside)
{
    beside->taken++;
}
