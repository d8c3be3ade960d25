#include "scene.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define EVENT_PAUSE_MS      60
#define HINT_AHEAD_MS       2
#define EVENTS_WHILE_HUNG   5
#define EVENTS_AFTER_SCRIPT 3

static int input_write_fd, hint_write_fd;

void scene_fail(const char *what)
{
    perror(what);
    _exit(1);
}

static unsigned number_option(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value > 60000) {
        fprintf(stderr, "not a number up to 60000: '%s'\n", text);
        exit(2);
    }
    return (unsigned)value;
}

static void read_options(struct scene *scene, int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"hang-ms", required_argument, NULL, 'm'},
        {"rounds", required_argument, NULL, 'r'},
        {"variant", required_argument, NULL, 'v'},
        {0},
    };
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 's':
            scene->seed = number_option(optarg);
            break;
        case 'm':
            scene->hang_ms = number_option(optarg);
            break;
        case 'r':
            scene->rounds = number_option(optarg);
            break;
        case 'v':
            scene->variant = optarg;
            break;
        default:
            exit(2);
        }
    }
}

void scene_begin(struct scene *scene, int argc, char **argv, const char *default_variant)
{
    int input[2], hint[2];
    *scene = (struct scene){.seed = 1, .hang_ms = 2800, .rounds = 12, .variant = default_variant};
    read_options(scene, argc, argv);
    prctl(PR_SET_NAME, "victim");
    if (pipe(input) != 0 || pipe(hint) != 0)
        scene_fail("pipe");
    scene->input_fd = input[0];
    scene->hint_fd = hint[0];
    input_write_fd = input[1];
    hint_write_fd = hint[1];
}

bool scene_variant(const struct scene *scene, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = scene->variant; (at = strstr(at, word)) != NULL; at += length)
        if ((at == scene->variant || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

pid_t scene_process(const char *name, void (*body)(void *), void *context)
{
    pid_t pid = fork();
    if (pid < 0)
        scene_fail("fork");
    if (pid == 0) {
        prctl(PR_SET_NAME, name);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        body(context);
        _exit(0);
    }
    return pid;
}

struct thread_start {
    char name[16];
    void *(*body)(void *);
    void *context;
};

static void *thread_main(void *arg)
{
    struct thread_start start = *(struct thread_start *)arg;
    free(arg);
    prctl(PR_SET_NAME, start.name);
    return start.body(start.context);
}

void scene_thread(pthread_t *ret, const char *name, void *(*body)(void *), void *context)
{
    struct thread_start *start = calloc(1, sizeof(*start));
    if (start == NULL)
        scene_fail("calloc");
    snprintf(start->name, sizeof(start->name), "%s", name);
    start->body = body;
    start->context = context;
    errno = pthread_create(ret, NULL, thread_main, start);
    if (errno != 0)
        scene_fail("pthread_create");
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static volatile unsigned sum; /* so that the loop is not optimised away */

void scene_burn(unsigned ms)
{
    uint64_t end_us = now_us() + ms * 1000ull;
    while (now_us() < end_us)
        for (unsigned i = 0; i < 5000; i++)
            sum += i;
}

void scene_sleep(unsigned ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

void scene_work(const struct work *work, unsigned ms)
{
    if (work->sleeping)
        scene_sleep(ms);
    else
        scene_burn(ms);
}

unsigned scene_jitter(struct scene *scene, unsigned ms)
{
    scene->seed = scene->seed * 1664525u + 1013904223u;
    unsigned quarter = ms / 4;
    return ms - quarter + (scene->seed >> 8) % (2 * quarter + 1);
}

/* --- the user and the bystanders --- */

static void send_event(char event)
{
    if (write(hint_write_fd, &event, 1) != 1)
        scene_fail("hint");
    scene_sleep(HINT_AHEAD_MS);
    if (write(input_write_fd, &event, 1) != 1)
        scene_fail("input");
}

static void be_user(void *context)
{
    struct scene *scene = context;
    for (unsigned i = 0; i < scene->rounds; i++) {
        scene_sleep(scene_jitter(scene, EVENT_PAUSE_MS));
        send_event('n');
    }
    scene_sleep(EVENT_PAUSE_MS);
    send_event('h');
    for (unsigned i = 0; i < EVENTS_WHILE_HUNG; i++) {
        scene_sleep(scene_jitter(scene, 3 * EVENT_PAUSE_MS));
        send_event('n');
    }
    send_event('q');
}

struct bystander {
    struct line line;
    bool first;
};

/* Two processes that compute and wake each other from beginning to end. */
static void be_bystander(void *context)
{
    struct bystander *self = context;
    char ball = 0;
    if (self->first)
        line_send(self->line, &ball, 1);
    while (line_receive(self->line, &ball, 1)) {
        scene_burn(3);
        scene_sleep(1);
        if (!line_send(self->line, &ball, 1))
            return;
    }
}

static void start_bystanders(void)
{
    const struct scene unix_sockets = {.variant = ""};
    struct line ends[2];
    scene_connect(&unix_sockets, ends);
    for (int i = 0; i < 2; i++) {
        struct bystander self = {.line = ends[i], .first = i == 0};
        scene_process("bystander", be_bystander, &self);
    }
}

/* --- the victim --- */

static void wait_by_poll(int fd)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};
    poll(&input, 1, -1);
}

/* A victim without an event loop: it works sequentially, as a script or a batch job does. */
static _Noreturn void run_as_script(struct scene *scene, void (*handle)(void *context, bool hang),
                                    void *context)
{
    for (unsigned i = 0; i < scene->rounds + EVENTS_AFTER_SCRIPT; i++) {
        char event = i == scene->rounds ? 'h' : 'n';
        scene_sleep(scene_jitter(scene, EVENT_PAUSE_MS));
        if (write(hint_write_fd, &event, 1) != 1)
            scene_fail("hint");
        handle(context, event == 'h');
    }
    exit(0);
}

_Noreturn void scene_run_with(struct scene *scene, void (*wait_input)(int fd),
                              void (*handle)(void *context, bool hang), void *context)
{
    char event = 0;
    start_bystanders();
    if (scene_variant(scene, "script"))
        run_as_script(scene, handle, context);
    scene_process("user", be_user, scene);
    for (;;) {
        wait_input(scene->input_fd);
        if (read(scene->input_fd, &event, 1) != 1 || event == 'q')
            break;
        handle(context, event == 'h');
    }
    exit(0); /* the children end with us: PR_SET_PDEATHSIG */
}

_Noreturn void scene_run(struct scene *scene, void (*handle)(void *context, bool hang),
                         void *context)
{
    scene_run_with(scene, wait_by_poll, handle, context);
}
