/* Waits for a flag in one of several ways. waits KIND good|early|bad: after a line of input the main
 * thread begins to wait; another thread sets the flag soon (good), before that (early), or never
 * (bad). A loop gives up after some seconds.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 30000, POLL_US = 100, READY = 3, BIT = 8 };

static sem_t asked;
static bool is_good, is_early;

/* --- behind two pointers, tested by a function that returns a bool --- */

struct document {
    char name[24];
    volatile int state;
};
struct window {
    long number;
    struct document *document;
};
static struct window *window;

static void set_document(void)
{
    window->document->state = READY;
}

static bool is_ready(const struct document *document)
{
    if (document->state == READY)
        return true;
    return false;
}

__attribute__((noinline)) static void wait_document(void)
{
    for (int i = 0; i < TURNS && !is_ready(window->document); i++)
        usleep(POLL_US);
}

/* --- behind a parameter that no variable of the file leads to --- */

__attribute__((noinline)) static void wait_for_document(struct document *document)
{
    for (int i = 0; i < TURNS && document->state != READY; i++)
        usleep(POLL_US);
}

__attribute__((noinline)) static void wait_parameter(void)
{
    wait_for_document(window->document);
}

/* --- behind an object on the stack of a caller --- */

__attribute__((noinline)) static void wait_for_member(struct window *own)
{
    for (int i = 0; i < TURNS && own->document->state != READY; i++)
        usleep(POLL_US);
}

__attribute__((noinline)) static void wait_member(void)
{
    struct window own = {.document = window->document};
    wait_for_member(&own);
}

/* --- a variable of the waiting function, whose address another thread has --- */

static struct document *volatile of_waiter;
static sem_t has_waiter;

static void set_local(void)
{
    sem_wait(&has_waiter);
    of_waiter->state = READY;
}

__attribute__((noinline)) static void wait_local(void)
{
    struct document own = {.state = 0};
    of_waiter = &own;
    sem_post(&has_waiter);
    for (int i = 0; i < TURNS && own.state != READY; i++)
        usleep(POLL_US);
}

/* --- a bit-field --- */

static volatile struct {
    unsigned open : 1, kind : 3, closing : 1;
} fields = {1, 5, 0};

static void set_field(void)
{
    fields.closing = 1;
}

__attribute__((noinline)) static void wait_field(void)
{
    for (int i = 0; i < TURNS && !fields.closing; i++)
        usleep(POLL_US);
}

/* --- a bit of a word, after a condition that holds --- */

static volatile int is_open = 1;
static struct {
    int unused;
    volatile unsigned bits;
} flags = {0, 1};

static void set_bit(void)
{
    __atomic_fetch_or(&flags.bits, BIT, __ATOMIC_SEQ_CST);
}

__attribute__((noinline)) static void wait_bit(void)
{
    for (int i = 0; i < TURNS && !(is_open && (flags.bits & BIT)); i++)
        usleep(POLL_US);
}

/* --- a variable of the main thread's own --- */

static __thread volatile char arrived;
static volatile char *main_arrived;

static void set_arrived(void)
{
    *main_arrived = 1;
}

__attribute__((noinline)) static void wait_arrived(void)
{
    for (int i = 0; i < TURNS && !arrived; i++)
        usleep(POLL_US);
}

/* --- a step of a state machine, whose state the thread itself changes --- */

enum state { ASKED, ANSWERED, SHOWN };
static volatile int answer;
static volatile int state;

static void set_answer(void)
{
    answer = 42;
}

__attribute__((noinline)) static int advance(int from)
{
    switch (from) {
    case ASKED:
        return answer == 42 ? ANSWERED : ASKED;
    default:
        return SHOWN;
    }
}

__attribute__((noinline)) static void wait_state(void)
{
    for (int i = 0; i < TURNS && state != SHOWN; i++) {
        state = advance(state);
        usleep(POLL_US);
    }
}

/* --- a flag that the thread itself resets, and that is set before the first look at it --- */

static sem_t was_asked;
static volatile int done = 1, kinds_wanted = 1;

static void set_done(void)
{
    sem_wait(&was_asked);
    done = 1;
}

__attribute__((noinline)) static void wait_done(void)
{
    done = 0;
    sem_post(&was_asked);
    usleep(30000);
    for (int i = 0; i < TURNS && !(kinds_wanted & done); i++)
        usleep(POLL_US);
}

/* --- the number of the latest answer, compared with that of the request: the bad run reads the
 * same number as the good one --- */

static volatile int decoded, wanted;

static void set_decoded(void)
{
    sem_wait(&was_asked);
    decoded = wanted;
}

__attribute__((noinline)) static void wait_decoded(void)
{
    wanted = wanted + 1;
    sem_post(&was_asked);
    usleep(30000);
    for (int i = 0; i < TURNS && decoded != wanted; i++)
        usleep(POLL_US);
}

/* --- a counter, compared with a variable that nobody changes --- */

static volatile long enough = 3, handled;

static void set_handled(void)
{
    handled = 3;
}

__attribute__((noinline)) static void wait_handled(void)
{
    for (int i = 0; i < TURNS && handled < enough; i++)
        usleep(POLL_US);
}

/* --- a bit in the third byte of a word of 8 bytes --- */

static volatile uint64_t word = 1;

static void set_word(void)
{
    __atomic_fetch_or(&word, 1 << 20, __ATOMIC_SEQ_CST);
}

__attribute__((noinline)) static void wait_word(void)
{
    for (int i = 0; i < TURNS && !((word >> 4) & (1 << 16)); i++)
        usleep(POLL_US);
}

static const struct kind {
    const char *name;
    void (*set)(void);
    void (*wait)(void);
} kinds[] = {
    {"document", set_document, wait_document},
    {"parameter", set_document, wait_parameter},
    {"member", set_document, wait_member},
    {"local", set_local, wait_local},
    {"field", set_field, wait_field},
    {"bit", set_bit, wait_bit},
    {"arrived", set_arrived, wait_arrived},
    {"state", set_answer, wait_state},
    {"done", set_done, wait_done},
    {"decoded", set_decoded, wait_decoded},
    {"handled", set_handled, wait_handled},
    {"word", set_word, wait_word},
};

static void *run_setter(void *kind)
{
    sem_wait(&asked);
    usleep(3000);
    if (is_good)
        ((const struct kind *)kind)->set();
    return NULL;
}

static void run(const struct kind *kind)
{
    pthread_t setter;
    char line[16];
    if (pthread_create(&setter, NULL, run_setter, (void *)(uintptr_t)kind))
        return;
    puts("ready");
    fflush(stdout);
    if (fgets(line, sizeof(line), stdin)) {
        sem_post(&asked);
        if (is_early)
            pthread_join(setter, NULL);
        kind->wait();
    }
    if (!is_early)
        pthread_join(setter, NULL);
}

int main(int argc, char **argv)
{
    window = calloc(1, sizeof(*window));
    window->document = calloc(1, sizeof(*window->document));
    main_arrived = &arrived;
    sem_init(&asked, 0, 0);
    sem_init(&has_waiter, 0, 0);
    sem_init(&was_asked, 0, 0);
    is_early = argc > 2 && strcmp(argv[2], "early") == 0;
    is_good = is_early || (argc > 2 && strcmp(argv[2], "good") == 0);
    decoded = wanted = !is_good;
    for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, argv[1]) == 0)
            run(&kinds[i]);
    return 0;
}
