/* Loops around waits that are parts of a longer wait, and loops that call and compare. */

#include <linux/futex.h>
#include <strings.h>
#include <sys/syscall.h>
#include <threads.h>

/* --- the inner loop of a condition: the time-out leaves it --- */

static pthread_mutex_t part_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t part_condition = PTHREAD_COND_INITIALIZER;
static volatile int wake_ups;

APART bool wait_timed_part(const struct timespec *until)
{
    int result;
    do
        result = pthread_cond_timedwait(&part_condition, &part_mutex, until);
    while (result == 0 && wake_ups == 0);
    return result == 0;
}

APART void go_timed_part(const struct timespec *until)
{
    while (!did_reconfigure)
        wait_timed_part(until);
    puts("");
}

/* --- the same of C11, whose result has another value --- */

static mtx_t c11_mutex;
static cnd_t c11_condition;

APART bool wait_c11_part(const struct timespec *until)
{
    int result;
    do
        result = cnd_timedwait(&c11_condition, &c11_mutex, until);
    while (result != thrd_timedout && wake_ups == 0);
    return result != thrd_timedout;
}

APART void go_c11_part(const struct timespec *until)
{
    while (!did_reconfigure)
        wait_c11_part(until);
    puts("");
}

/* --- sleeping on after a signal --- */

APART void wait_pause(long milliseconds)
{
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

APART void go_pause(void)
{
    while (!did_reconfigure)
        wait_pause(2);
    puts("");
}

/* --- a text --- */

OWN char status_text[16];

APART void wait_text(void)
{
    while (strcasecmp(status_text, "idle") != 0)
        usleep(1500);
}

/* --- an offset that is in a variable, as GObject has it --- */

struct private_part {
    long number;
    volatile int is_loaded;
};
static volatile int private_distance = 32;
OWN void *loader;

static inline struct private_part *private_of(void *object)
{
    return (struct private_part *)((char *)object + private_distance);
}

APART void wait_private(void)
{
    struct private_part *part = private_of(loader);
    while (!part->is_loaded)
        usleep(1500);
}

APART void set_private(void)
{
    private_of(loader)->is_loaded = 1;
}

/* --- a lock beside the flag, taken by futex(2) --- */

struct guarded {
    long number;
    atomic_int lock;
    volatile int is_done;
};

APART void wait_for_word(atomic_int *word)
{
    while (atomic_exchange(word, 2) != 0)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, NULL);
}

APART void wait_guarded(struct guarded *guarded)
{
    for (;;) {
        int free = 0;
        if (!atomic_compare_exchange_strong(&guarded->lock, &free, 1))
            wait_for_word(&guarded->lock);
        bool is_done = guarded->is_done;
        guarded->lock = 0;
        if (is_done)
            break;
        usleep(1500);
    }
}

/* --- a loop with two beginnings --- */

APART void wait_knot(int is_slow)
{
    if (is_slow)
        goto slow;
fast:
    puts("");
    goto test;
slow:
    poll_device();
test:
    if (did_reconfigure)
        return;
    usleep(1500);
    if (getpid() & 1)
        goto slow;
    goto fast;
}

/* --- a function that is probably called, compared first --- */

struct task {
    long number;
    volatile int is_done;
    bool (*is_ready)(struct task *task);
};
OWN struct task *task;

APART bool task_is_ready(struct task *one)
{
    return one->is_done;
}

APART void wait_speculative(void)
{
    while (!(task->is_ready == task_is_ready ? task->is_done : task->is_ready(task)))
        usleep(1500);
}

APART void make_task(void)
{
    task = calloc(1, sizeof(*task));
    task->is_ready = task_is_ready;
    loader = task;
}

/* It gives a variable its first value. */
__attribute__((constructor)) static void begin_reconfigured(void)
{
    did_reconfigure = getpid() == 0;
}

/* Each value hangs on the one before it by six ways, so that to follow every way takes millions of
 * steps. */
APART void wait_mixed(void)
{
#define MIX(x) ((x) ^ (x) >> 1 ^ (x) << 3 ^ (x) >> 5 ^ (x) << 7 ^ (x) >> 11)
    for (;;) {
        unsigned a = (unsigned)did_reconfigure, b = MIX(a), c = MIX(b), d = MIX(c), e = MIX(d);
        unsigned f = MIX(e), g = MIX(f);
        if (g == 12345)
            return;
        usleep(1000);
    }
}

/* The counter decides by itself: it bounds the number of turns, and nothing else. */
APART void wait_joined(void)
{
    for (unsigned turn = 0; !(turn >> 20 | (unsigned)did_reconfigure); turn++)
        usleep(1000);
}

/* An exit that looks at too many variables, and one that looks at a single one. */
OWN volatile int first_sum, second_sum, third_sum, fourth_sum;
OWN volatile int is_told;

APART void wait_told(void)
{
    for (;;) {
        usleep(1000);
        if (first_sum + second_sum + third_sum == fourth_sum)
            break;
        if (is_told)
            break;
    }
}
