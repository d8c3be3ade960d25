/* The main thread polls is_ready at once, and for ever: late_flag sleep|spin|twice|stack. The worker sets
 * it when a line comes on stdin; before that, it says so on stdout. With `twice` the loop looks at a
 * variable behind a pointer, with `stack` at two on its own stack, of which the second is set. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct state {
    int unused[3];
    int is_done, is_cancelled;
};

static volatile int is_ready;
static struct state states[2];
static struct state *volatile state;

static void finish_work(void)
{
    is_ready = 1;
    ((volatile struct state *)state)->is_done = 1;
}

static void *be_worker(void *job)
{
    char line[16];
    if (fgets(line, sizeof(line), stdin)) {
        finish_work();
        ((volatile struct state *)job)->is_cancelled = 1;
    }
    return NULL;
}

static void wait_sleeping(void)
{
    while (!is_ready)
        usleep(2000);
}

static void wait_spinning(void)
{
    while (!is_ready)
        ;
}

static void wait_for_state(void)
{
    while (!((volatile struct state *)state)->is_done)
        usleep(2000);
}

static void wait_for_job(const volatile struct state *job)
{
    while (!job->is_done && !job->is_cancelled)
        usleep(2000);
}

int main(int argc, char **argv)
{
    pthread_t worker;
    struct state job = {.is_done = 0};
    state = &states[1];
    pthread_create(&worker, NULL, be_worker, &job);
    pthread_setname_np(worker, "worker");
    puts("polling");
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "spin") == 0)
        wait_spinning();
    else if (argc > 1 && strcmp(argv[1], "twice") == 0)
        wait_for_state();
    else if (argc > 1 && strcmp(argv[1], "stack") == 0)
        wait_for_job(&job);
    else
        wait_sleeping();
    puts("ready");
    fflush(stdout);
    pause();
}
