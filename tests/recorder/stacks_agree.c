/* stacks_agree OBJECT: waits in many ways and at many depths while the programs of OBJECT compare
 * the recorder's way of taking stacks (recorder/linux/bpf/kernel_stack.h, user_stack.h) with the
 * kernel's. Exit code 77: not permitted on this kernel. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "linux/shared.h"
#include "stacks_agree.h"

#define ROUNDS 400
#define DEPTHS 40 /* also deeper than one window, and than what is kept of a stack */

static int ping[2], pong[2];

static void *answer(void *argument)
{
    char byte;
    while (read(ping[0], &byte, 1) == 1 && write(pong[1], &byte, 1) == 1)
        ;
    return argument;
}

static void wait_by_read(void)
{
    char byte = 0;
    if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
        perror("pipe");
}

static void wait_by_poll(void)
{
    struct pollfd polled = {.fd = pong[0], .events = POLLIN};
    char byte = 0;
    if (write(ping[1], &byte, 1) != 1 || poll(&polled, 1, -1) != 1 || read(pong[0], &byte, 1) != 1)
        perror("poll");
}

static void wait_by_sleep(void)
{
    struct timespec moment = {0, 1000};
    nanosleep(&moment, NULL);
}

static void wait_by_futex(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &until);
    until.tv_nsec = (until.tv_nsec + 200000) % 1000000000;
    pthread_cond_timedwait(&condition, &mutex, &until);
    pthread_mutex_unlock(&mutex);
}

static void wait_for_child(void)
{
    static unsigned calls;
    if (calls++ % 16)
        return;
    pid_t child = fork();
    if (child == 0) {
        wait_by_sleep();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void (*const waits[])(void) = {wait_by_read, wait_by_poll, wait_by_sleep, wait_by_futex,
                                      wait_for_child};

/* Waits below `depth` frames of different sizes. */
__attribute__((noinline)) static int wait_below(unsigned depth, unsigned which)
{
    volatile char room[64 * (1 + depth % 5)];
    room[0] = (char)depth;
    if (depth == 0)
        waits[which]();
    else
        wait_below(depth - 1, which);
    return room[0]; /* no tail call */
}

static void wait_often(void)
{
    size_t count = sizeof(waits) / sizeof(waits[0]);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned which = 0; which < count; which++)
            wait_below(round * 7 % (2 * DEPTHS), which);
    }
}

static int say_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
    return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

static struct bpf_object *load(const char *path)
{
    struct bpf_settings settings = {.own_tgid = (uint32_t)getpid(), .slot_count = 4096};
    libbpf_set_print(say_libbpf);
    struct bpf_object *object = bpf_object__open_file(path, NULL);
    if (!object)
        return NULL;
    int cpus = libbpf_num_possible_cpus();
    bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata.settings"), &settings,
                               sizeof(settings));
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "cpus"), (uint32_t)cpus);
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "ring"), (uint32_t)cpus * 4096);
    if (bpf_object__load(object) == 0)
        return object;
    bpf_object__close(object);
    return NULL;
}

static int judge(const struct agreement *found)
{
    printf("kernel stacks: %llu compared, %llu of them recognised, %llu differ\n"
           "user stacks: %llu compared, %.1f frames each, %llu differ\n",
           (unsigned long long)found->kernel, (unsigned long long)found->kernel_recognised,
           (unsigned long long)found->kernel_differs, (unsigned long long)found->user,
           (double)found->user_frames / (double)(found->user ? found->user : 1),
           (unsigned long long)found->user_differs);
    bool enough = found->user > ROUNDS && found->user_frames > 10 * found->user;
#if defined(__x86_64__)
    enough = enough && found->kernel > ROUNDS && found->kernel_recognised > found->kernel / 2;
#endif
    if (!enough)
        fprintf(stderr, "stacks_agree: too little was compared or recognised to tell\n");
    return enough && !found->kernel_differs && !found->user_differs ? 0 : 1;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    struct agreement found = {0};
    uint32_t zero = 0;
    if (argc != 2)
        return 2;
    if (geteuid() != 0) {
        printf("skipped: needs root\n");
        return 77;
    }
    struct bpf_object *object = load(argv[1]);
    struct bpf_link *link =
        object ? bpf_program__attach(bpf_object__find_program_by_name(object, "on_switch")) : NULL;
    if (!link) {
        printf("skipped: this kernel does not let us attach a BPF program (%s)\n", strerror(errno));
        return 77;
    }
    if (pipe(ping) < 0 || pipe(pong) < 0 || pthread_create(&thread, NULL, answer, NULL) != 0)
        return 1;
    wait_often();
    bpf_link__destroy(link);
    close(ping[1]);
    pthread_join(thread, NULL);
    struct bpf_map *map = bpf_object__find_map_by_name(object, ".bss");
    if (!map || bpf_map_lookup_elem(bpf_map__fd(map), &zero, &found) < 0)
        return 1;
    bpf_object__close(object);
    return judge(&found);
}
