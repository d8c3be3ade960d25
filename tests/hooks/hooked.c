/* Calls the functions of victims.S from several threads, and reports wrong results.
 *
 *     hooked once                 each function once, in one thread
 *     hooked threads LIBRARY N    four threads call them all the time, while the hooks of LIBRARY are installed and removed N times
 *
 * The last line is "hits N": how often the shell function was called.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION(name) uint64_t name(uint64_t x);
FUNCTION(victim_short)
FUNCTION(victim_rip)
FUNCTION(victim_red_zone)
FUNCTION(victim_loop)
FUNCTION(victim_call)
FUNCTION(victim_call_register)
FUNCTION(victim_tail)
FUNCTION(victim_switch)
FUNCTION(victim_jrcxz)
FUNCTION(victim_entered)
FUNCTION(enters)
FUNCTION(victim_computed)
FUNCTION(victim_with_data)
FUNCTION(victim_taken)
FUNCTION(victim_switch_inside)
FUNCTION(enters_over)
FUNCTION(victim_entered_over)
FUNCTION(victim_vector)
FUNCTION(victim_registers)

#define THREADS 4

struct check {
    const char *name;
    uint64_t (*function)(uint64_t);
    uint64_t x, wanted;
};

static const struct check checks[] = {
    {"short", victim_short, 5, 15},
    {"rip", victim_rip, 5, 12},
    {"red_zone", victim_red_zone, 5, 11},
    {"red_zone", victim_red_zone, 6, 12},
    {"loop", victim_loop, 10, 55},
    {"call", victim_call, 5, 10},
    {"call_register", victim_call_register, 5, 7},
    {"tail", victim_tail, 5, 7},
    {"switch", victim_switch, 0, 100},
    {"switch", victim_switch, 2, 102},
    {"switch", victim_switch, 3, 103},
    {"jrcxz", victim_jrcxz, 0, 1},
    {"jrcxz", victim_jrcxz, 5, 6},
    {"entered", victim_entered, 5, 8},
    {"enters", enters, 5, 8},
    {"computed", victim_computed, 5, 9},
    {"with_data", victim_with_data, 5, 11},
    {"taken", victim_taken, 5, 13},
    {"switch_inside", victim_switch_inside, 0, 200},
    {"switch_inside", victim_switch_inside, 1, 201},
    {"enters_over", enters_over, 5, 8},
    {"entered_over", victim_entered_over, 5, 8},
    {"vector", victim_vector, 5, 6},
    {"registers", victim_registers, 5, 10},
};

static atomic_bool stop;
static atomic_int wrong;
static atomic_ulong rounds;

static void check_all(void)
{
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
        uint64_t got = checks[i].function(checks[i].x);
        if (got == checks[i].wanted || wrong++ > 10)
            continue;
        printf("%s(%lu) is %lu, not %lu\n", checks[i].name, (unsigned long)checks[i].x,
               (unsigned long)got, (unsigned long)checks[i].wanted);
    }
    rounds++;
}

static pthread_barrier_t all_run; /* a thread that begins blocks all signals */

static void *call_all(void *unused)
{
    pthread_barrier_wait(&all_run);
    while (!stop)
        check_all();
    return unused;
}

extern atomic_ulong counting_shell_hits; /* of counting_shell.c */

static bool come_and_go(const char *library, int times)
{
    for (int i = 0; i < times; i++) {
        void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
        unsigned long before = rounds;
        if (!handle) {
            printf("%s\n", dlerror());
            return false;
        }
        unsigned (*count)(const void *) =
            (unsigned (*)(const void *))dlsym(handle, "argus_hook_count");
        if (i == 0)
            printf("installed %u\n", count(dlsym(handle, "argus_hook_plan")));
        while (rounds < before + 2 * THREADS)
            sched_yield();
        dlclose(handle);
    }
    return true;
}

static int with_threads(const char *library, int times)
{
    pthread_t threads[THREADS];
    if (pthread_barrier_init(&all_run, NULL, THREADS + 1) != 0)
        return 1;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, call_all, NULL) != 0)
            return 1;
    pthread_barrier_wait(&all_run);
    bool good = come_and_go(library, times);
    stop = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return !good;
}

int main(int argc, char **argv)
{
    int failed = 0;
    if (argc == 4 && strcmp(argv[1], "threads") == 0)
        failed = with_threads(argv[2], atoi(argv[3]));
    else
        check_all();
    printf("wrong %d\nhits %lu\n", (int)wrong, (unsigned long)counting_shell_hits);
    return failed || wrong;
}
