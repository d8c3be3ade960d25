#include "linux/shared_watch.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "linux/pid_namespace.h"
#include "server/clocks.h"

enum {
    MOST_DUE = 1024,
    PAUSE_NS = 200000000, /* between two looks */
    PAUSE_SHARE = 20,     /* and so often the cpu time of the last one */
};

enum { LOOKING, DONE, ABANDONED };

/* Who comes second frees it: the thread that has done a look, or the owner that is gone. */
struct shared_job {
    struct shared_look look;
    uint64_t took_ns; /* cpu time */
    bool good;
    atomic_int state;
};

static void destroy_job(struct shared_job *job)
{
    shared_look_deinit(&job->look);
    free(job);
}

void shared_watch_deinit(struct shared_watch *watch)
{
    vec_deinit(&watch->due);
    idmap_deinit(&watch->due_set);
    idmap_deinit(&watch->looking_set);
    idmap_deinit(&watch->writers);
    if (watch->job &&
        (!watch->is_looking || atomic_exchange(&watch->job->state, ABANDONED) == DONE))
        destroy_job(watch->job);
    watch->job = NULL;
}

/* --- what is due --- */

static void add_due(struct shared_watch *watch, uint64_t tid)
{
    if (idmap_get(&watch->due_set, tid) != IDMAP_NONE)
        return;
    if (watch->due.length == MOST_DUE || !idmap_put(&watch->due_set, tid, 0) ||
        !vec_push(&watch->due, tid))
        watch->missed++;
}

/* Whether a child of the thread or process may have inherited memory that can be written. */
static bool may_share(const struct shared_watch *watch, uint64_t id)
{
    return idmap_get(&watch->writers, id) != IDMAP_NONE ||
           idmap_get(&watch->due_set, id) != IDMAP_NONE ||
           idmap_get(&watch->looking_set, id) != IDMAP_NONE;
}

void shared_watch_see(struct shared_watch *watch, const struct argus_record *records, size_t count)
{
    const uint32_t mapped = ARGUS_ID_SYSCALL(SYS_mmap) | ARGUS_FUNC_START,
                   attached = ARGUS_ID_SYSCALL(SYS_shmat) | ARGUS_FUNC_START;
    watch->is_reading = true;
    for (size_t i = 0; i < count; i++) {
        const struct argus_record *record = &records[i];
        if ((record->debugid == mapped && record->arg[3] & MAP_SHARED) ||
            record->debugid == attached)
            add_due(watch, record->tid);
        else if (record->debugid == ARGUS_ID_NEW_THREAD && record->arg[2] &&
                 (may_share(watch, record->tid) || may_share(watch, record->arg[3])))
            add_due(watch, record->arg[1]);
    }
}

/* --- the thread --- */

/* The reader that has made it may be a real-time thread. */
static void *look(void *context)
{
    struct shared_job *job = context;
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){.sched_priority = 0});
    job->good = shared_look_do(&job->look);
    job->took_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (atomic_exchange(&job->state, DONE) == ABANDONED)
        destroy_job(job);
    return NULL;
}

static bool begin_thread(struct shared_job *job)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool done = pthread_create(&thread, &attributes, look, job) == 0;
    pthread_attr_destroy(&attributes);
    return done;
}

/* Without a thread, those that are due are missed. */
static bool begin_look(struct shared_watch *watch)
{
    if (!watch->job) {
        watch->job = calloc(1, sizeof(*watch->job));
        if (!watch->job)
            return false;
        watch->job->look.of_all = true;
    }
    const tid_list looked_at = watch->job->look.due;
    const struct idmap looked_set = watch->looking_set;
    watch->job->look.due = watch->due;
    watch->due = looked_at;
    watch->looking_set = watch->due_set;
    watch->due_set = looked_set;
    watch->due.length = 0;
    idmap_clear(&watch->due_set);
    atomic_store(&watch->job->state, LOOKING);
    watch->is_looking = begin_thread(watch->job);
    watch->missed += watch->is_looking ? 0 : watch->job->look.due.length;
    return true;
}

/* Takes the result of a look that is over. */
static bool end_look(struct shared_watch *watch, uint64_t time_ns, record_list *ret)
{
    struct shared_job *job = watch->job;
    const struct idmap before = watch->writers;
    bool good = job->good;
    watch->is_looking = false;
    watch->writers = job->look.writers;
    job->look.writers = before;
    watch->missed += job->look.missed;
    job->look.missed = 0;
    idmap_clear(&watch->looking_set);
    watch->next_ns =
        time_ns + (job->took_ns * PAUSE_SHARE > PAUSE_NS ? job->took_ns * PAUSE_SHARE : PAUSE_NS);
    for (size_t i = 0; good && i < job->look.found.length; i++)
        good = vec_push(ret, job->look.found.data[i]);
    return good;
}

bool shared_watch_take(struct shared_watch *watch, uint64_t time_ns, record_list *ret)
{
    if (watch->is_looking && atomic_load(&watch->job->state) == DONE &&
        !end_look(watch, time_ns, ret))
        return false;
    if (!watch->is_reading || watch->is_looking || time_ns < watch->next_ns)
        return true;
    bool is_due = !watch->job || watch->job->look.of_all || watch->due.length;
    if (!is_due || !pid_namespace_fits_proc())
        return true;
    watch->next_ns = time_ns + PAUSE_NS;
    return begin_look(watch);
}

uint64_t shared_watch_missed(const struct shared_watch *watch)
{
    return watch->missed;
}
