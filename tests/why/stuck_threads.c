/* Threads that wait for threads, and processes for a shared lock. */
#include "stuck.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *hold_and_sleep(void *mutex)
{
    pthread_mutex_lock(mutex);
    say("holder", gettid());
    sem_post(&locked);
    work_slowly();
    return NULL;
}

void mutex(void)
{
    begin(hold_and_sleep, &first);
    soon_ready();
    pthread_mutex_lock(&first);
}

static void mutex_of_kind(int type, int protocol, int robust)
{
    static pthread_mutex_t kind;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutex_init(&kind, &attributes);
    begin(hold_and_sleep, &kind);
    soon_ready();
    pthread_mutex_lock(&kind);
}

void recursive(void)
{
    mutex_of_kind(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
}

void inheriting(void)
{
    mutex_of_kind(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
}

void robust(void)
{
    mutex_of_kind(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
}

static void *second_then_first(void *data)
{
    (void)data;
    pthread_mutex_lock(&second);
    say("other", gettid());
    sem_post(&locked);
    usleep(SETTLE_US / 2);
    pthread_mutex_lock(&first);
    return NULL;
}

void circle(void)
{
    pthread_mutex_lock(&first);
    begin(second_then_first, NULL);
    soon_ready();
    pthread_mutex_lock(&second);
}

static void *write_lock(void *lock)
{
    pthread_rwlock_wrlock(lock);
    say("holder", gettid());
    sem_post(&locked);
    work_slowly();
    return NULL;
}

void rwlock(void)
{
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    begin(write_lock, &lock);
    soon_ready();
    pthread_rwlock_rdlock(&lock);
}

void join(void)
{
    pthread_t thread = begin(sleep_thread, NULL);
    soon_ready();
    pthread_join(thread, NULL);
}

static void wait_for_change(void)
{
    pthread_mutex_lock(&second);
    pthread_cond_wait(&changed, &second);
}

/* The thread that signals waits for a mutex, which a third one holds. */
static void *signal_after_lock(void *data)
{
    (void)data;
    say("signaller", gettid());
    sem_post(&locked);
    pthread_mutex_lock(&first);
    pthread_cond_signal(&changed);
    return NULL;
}

static void hold_shared(void *data)
{
    pthread_mutex_lock(data);
    work_slowly();
}

void condition(void)
{
    begin(hold_and_sleep, &first);
    begin(signal_after_lock, NULL);
    soon_ready();
    wait_for_change();
}

static void *wait_for_change_too(void *data)
{
    (void)data;
    sem_post(&locked);
    wait_for_change();
    return NULL;
}

/* Only idle threads: nobody is to blame. */
void nobody_signals(void)
{
    begin(wait_for_change_too, NULL);
    begin(wait_for_change_too, NULL);
    soon_ready();
    wait_for_change();
}

/* Two that are busy with something else: no bystander is blamed. */
void several_could_signal(void)
{
    begin(sleep_thread, NULL);
    begin(sleep_thread, NULL);
    soon_ready();
    wait_for_change();
}

static void ignore(int number)
{
    (void)number;
}

/* A handler could signal the condition. */
void handles_signals(void)
{
    signal(SIGUSR1, ignore);
    nobody_signals();
}

/* As Rust's: a word, and then the data that it protects. */
struct lock_with_data {
    uint32_t word, unused;
    uint32_t data;
};

void lock_with_data(struct lock_with_data *lock) __asm__("_ZN5Mutex4lockEv");

__attribute__((noinline)) void lock_with_data(struct lock_with_data *lock)
{
    syscall(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    __asm__ volatile("");
}

static void *sleep_with_id(void *ret_id)
{
    *(uint32_t *)ret_id = (uint32_t)gettid();
    return sleep_thread(NULL);
}

/* A thread's ID among the data does not make it the holder. */
void mutex_without_owner(void)
{
    static struct lock_with_data lock = {.word = 2};
    begin(sleep_with_id, &lock.data);
    begin(sleep_thread, NULL);
    soon_ready();
    lock_with_data(&lock);
}

void shared_mutex(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(shared, &attributes);
    say("holder", child_of(hold_shared, shared));
    usleep(SETTLE_US);
    soon_ready();
    pthread_mutex_lock(shared);
}

static void *wait_for_signal(void *data)
{
    (void)data;
    say("worker", gettid());
    pthread_mutex_lock(&second);
    sem_post(&locked);
    pthread_cond_wait(&changed, &second);
    return NULL;
}

/* As a Java program's main thread: nobody signals, and the one that waits for the end is no culprit. */
void joined_waits(void)
{
    pthread_t thread = begin(wait_for_signal, NULL);
    soon_ready();
    pthread_join(thread, NULL);
}
