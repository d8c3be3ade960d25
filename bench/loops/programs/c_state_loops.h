/* Loops that look at a state, or at what a signal's handler has set. Included by c_loops.c. */
#include <signal.h>
#include <stdio.h>

#ifdef SHAPE_SWITCH
enum { IDLE, ASKED, DONE, FAILED, REFUSED, CLOSED };
static volatile int phase;

void prepare(void)
{
}

void ask(void)
{
    phase = ASKED;
}

void finish_work(void)
{
    phase = DONE;
}

void wait_until_done(void)
{
    for (;;) {
        switch (phase) {
        case DONE:
            return;
        case FAILED:
            exit(1);
        case IDLE:
            puts("idle");
            break;
        case REFUSED:
            puts("refused");
            return;
        case CLOSED:
            sched_yield();
            break;
        default:
            break;
        }
        SLEEP();
    }
}
#else
static volatile sig_atomic_t is_called;

static void on_call(int number)
{
    (void)number;
    is_called = 1;
}

void prepare(void)
{
    struct sigaction action = {.sa_handler = on_call, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
}

void ask(void)
{
    is_called = 0;
}

void finish_work(void)
{
    kill(getpid(), SIGUSR1);
}

void wait_until_done(void)
{
    while (!is_called)
        SLEEP();
}
#endif
