/* An event loop whose functions a user's table of probes names (test_own_loop.py). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct task {
    long padding;
    uint16_t type;
    int (*run)(struct task *);
};

void queue_task(struct task *task);
void cancel_task(struct task *task);
int call_task(struct task *task, int unused);
void loop_turn(void);
void give_event(const uint32_t *event);
uint32_t *next_event(void);
int first_task(struct task *task);
int second_task(struct task *task);
int nested_task(struct task *task);

static volatile int sink;

void queue_task(struct task *task)
{
    sink = task->type;
}

void cancel_task(struct task *task)
{
    sink = -task->type;
}

void loop_turn(void)
{
    sink = 0;
}

void give_event(const uint32_t *event)
{
    sink = (int)event[1];
}

uint32_t *next_event(void)
{
    static uint32_t event[] = {0, 44};
    sink = 1;
    return event;
}

int call_task(struct task *task, int unused)
{
    sink = unused;
    int result = task->run(task);
    sink = result;
    return result + sink;
}

static struct task second = {.type = 2, .run = second_task};
static struct task nested = {.type = 3, .run = nested_task};
static struct task cancelled = {.type = 2, .run = second_task};
static struct task first = {.type = 1, .run = first_task};

/* Queues some callbacks for later, and calls some at once. */
int first_task(struct task *task)
{
    queue_task(&second);
    queue_task(&cancelled);
    cancel_task(&cancelled);
    return call_task(&nested, 0) + task->type;
}

int second_task(struct task *task)
{
    return task->type * 3;
}

int nested_task(struct task *task)
{
    return task->type * 5;
}

/* One turn after the other, so that each kind of callback comes once. */
static void run_loop(void)
{
    loop_turn();
    give_event(next_event());
    loop_turn();
    queue_task(&first);
    call_task(&first, 0);
    loop_turn();
    call_task(&second, 0);
    loop_turn();
}

/* With "hold": runs until it is ended; a wrong byte in its code would crash it. */
int main(int argc, char **argv)
{
    int hold = argc > 1 && strcmp(argv[1], "hold") == 0;
    printf("%p\n", (void *)(uintptr_t)loop_turn);
    fflush(stdout);
    do
        run_loop();
    while (hold && usleep(1000) == 0);
    return 0;
}
