/* Two flags for LLDB to watch: a thread sets them five times, the main thread finds them set and clears them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TIMES = 5 };

struct window {
    long before[3];
    volatile int need_display;
};

struct window *window;
volatile int did_reconfigure;
static volatile int finished, sleeps;

/* The thread sets the flags just after the main thread has gone to sleep, so a debugger that stops
 * both threads reads the written value. */
static void *set_flags(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        int before = sleeps;
        while (sleeps == before)
            usleep(1000);
        window->need_display = 1;
        did_reconfigure = 1;
    }
    int last = sleeps;
    while (sleeps == last)
        usleep(1000);
    finished = 1;
    return unused;
}

static void draw(struct window *obj)
{
    if (obj->need_display)
        obj->need_display = 0;
}

int main(void)
{
    pthread_t setter;
    int seen = 0;
    window = calloc(1, sizeof(*window));
    draw(window);
    if (pthread_create(&setter, NULL, set_flags, NULL))
        return 1;
    while (!finished) {
        draw(window);
        if (did_reconfigure) {
            seen++;
            did_reconfigure = 0;
        }
        sleeps++;
        usleep(100000);
    }
    pthread_join(setter, NULL);
    printf("seen %d\n", seen);
    return 0;
}
