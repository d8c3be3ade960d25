/* Programs that do not go on, each for a known reason: `stuck CASE`.
 *
 * Prints "main PID", then for each process or thread that the answer has to name "NAME ID", then
 * "ready", and stays as it is until it is killed; its children end with it. A case is a function and
 * a row in stuck_cases.def; cases.py has the answer that is expected. */
#include "stuck.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

sem_t locked;

void say(const char *name, int id)
{
    printf("%s %d\n", name, id);
    fflush(stdout);
}

__attribute__((noinline)) void work_slowly(void)
{
    sleep(LONG_S);
    __asm__ volatile("");
}

int is_asleep(int tid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    FILE *file = fopen(path, "r");
    char *end = file && fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
    if (file)
        fclose(file);
    return end && end[2] == 'S';
}

/* Everything that may go on in the background has been done. */
void ready(void)
{
    usleep(SETTLE_US);
    printf("ready\n");
    fflush(stdout);
}

pid_t child_of(void (*run)(void *), void *data)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(data);
        _exit(0);
    }
    return pid;
}

void sleep_long(void *data)
{
    (void)data;
    work_slowly();
}

void *sleep_thread(void *data)
{
    (void)data;
    say("worker", gettid());
    sem_post(&locked);
    work_slowly();
    return NULL;
}

pthread_t begin(void *(*run)(void *), void *data)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, data);
    sem_wait(&locked);
    return thread;
}

static void *say_ready_later(void *data)
{
    (void)data;
    ready();
    return NULL;
}

void soon_ready(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, say_ready_later, NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define STUCK_CASE(name) {#name, name},
#include "stuck_cases.def"
#undef STUCK_CASE
};

int main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sem_init(&locked, 0, 0);
    say("main", getpid());
    for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
        if (strcmp(cases[i].name, argv[1]) == 0)
            cases[i].run();
    return 1;
}
