/* A program that is hard to step: frequent signals, threads, forks, string instructions, flags,
 * recursion, longjmp() and callbacks from a library. step_target MODE; it prints the same whether
 * it is stepped or not.
 *
 *   rounds   three rounds of work(), in the main thread, in another one and in a child
 *   spin     polls a flag until SIGUSR2 sets it (prints "spinning" before, "over" after)
 *   nap      the same, and sleeps 1 ms between
 *   exec     becomes /bin/echo
 *   quit     its main thread's worker thread ends inside of quitter()
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile sig_atomic_t ticks, flag;
static jmp_buf environment;
static volatile int depth;
static volatile long spins;

static void on_signal(int signal)
{
    if (signal == SIGUSR2)
        flag = 1;
    else
        ticks++;
}

/* Detects a leaked trap flag. */
static NOINLINE int has_trap_flag(void)
{
#if defined(__x86_64__)
    unsigned long flags;
    __asm__ volatile("pushfq; popq %0" : "=r"(flags));
    return flags >> 8 & 1;
#else
    return 0;
#endif
}

/* Loads the flags that it has saved, by popf and by iret: kernels leave a trap flag behind. */
static NOINLINE int restores_flags(void)
{
#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %%rax\n\t"
                     "subq $256, %%rsp\n\t" /* the compiler may have data below the stack pointer */
                     "pushfq; popfq\n\t"
                     "pushq %%rax\n\t"
                     "movq %%rsp, %%rdx\n\t"
                     "movl %%ss, %%ecx; pushq %%rcx\n\t"
                     "pushq %%rdx\n\t"
                     "pushfq\n\t"
                     "movl %%cs, %%ecx; pushq %%rcx\n\t"
                     "leaq 1f(%%rip), %%rcx; pushq %%rcx\n\t"
                     "iretq\n"
                     "1: popq %%rsp"
                     :
                     :
                     : "rax", "rcx", "rdx", "memory", "cc");
#endif
    return has_trap_flag();
}

static NOINLINE void copy(char *to, const char *from, size_t count)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
#else
    memcpy(to, from, count);
#endif
}

static NOINLINE int factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

static NOINLINE void jump_out(int levels)
{
    depth++;
    if (levels <= 0)
        longjmp(environment, 7);
    if (depth < 100)
        jump_out(levels - 1);
    depth--;
}

static int compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static NOINLINE int plain_work(int round)
{
    char from[3000], to[3000];
    int values[8] = {5, 3, 8, 1, 9, 2, 7, round}, sum = 0;
    memset(from, round, sizeof(from));
    copy(to, from, sizeof(to));
    qsort(values, 8, sizeof(values[0]), compare);
    raise(SIGUSR1);
    for (size_t i = 0; i < sizeof(to); i += 10)
        sum += to[i];
    return sum + factorial(6) + values[0] + 1000000 * restores_flags();
}

static NOINLINE int jumping_work(int round)
{
    if (setjmp(environment) == 0)
        jump_out(round);
    return depth;
}

static int work(int round)
{
    return plain_work(round) + jumping_work(round);
}

static void *work_in_thread(void *round)
{
    return (void *)(long)work((int)(long)round);
}

static void run_rounds(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *result;
        int status;
        printf("main %d\n", work(i));
        pthread_create(&thread, NULL, work_in_thread, (void *)(long)i);
        pthread_join(thread, &result);
        printf("thread %ld\n", (long)result);
        fflush(stdout);
        if (fork() == 0)
            _exit(plain_work(i) & 63);
        wait(&status);
        printf("child %d\n", WEXITSTATUS(status));
    }
}

static NOINLINE int is_over(long turn)
{
    spins = turn;
    return flag;
}

static NOINLINE void leap(void)
{
    longjmp(environment, 1);
}

/* Stays in the function when a call is left. */
static NOINLINE int hopping_work(void)
{
    volatile int turns = 0;
    while (turns < 40) {
        if (setjmp(environment) == 0)
            leap();
        turns++;
        usleep(20000);
        is_over(turns);
    }
    return turns;
}

static void spin(int nap_us)
{
    puts("spinning");
    fflush(stdout);
    for (long turn = 0; !is_over(turn); turn++)
        if (nap_us)
            usleep((unsigned)nap_us);
    puts("over");
}

static NOINLINE void quitter(void)
{
    pthread_exit(NULL);
}

static void *quit_thread(void *unused)
{
    (void)unused;
    quitter();
    return NULL;
}

static void run_quit(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, quit_thread, NULL);
    pthread_join(thread, NULL);
    puts("joined");
}

static NOINLINE void become_echo(void)
{
    const struct itimerval never = {0};
    setitimer(ITIMER_REAL, &never,
              NULL); /* the timer would survive the exec, and its handler would not */
    execl("/bin/echo", "echo", "echoed", (char *)NULL);
}

static volatile int born;

static void *be_born(void *unused)
{
    usleep(2000);
    born = 1;
    return unused;
}

static __attribute__((noinline)) int await_birth(void)
{
    int turns = 0;
    while (!born && turns < 400) {
        usleep(1000);
        turns++;
    }
    return turns < 400;
}

/* A function is reached directly after the creation of the thread for which it waits. */
static void run_births(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, be_born, NULL))
        _exit(1);
    printf("born: %d\n", await_birth());
    pthread_join(thread, NULL);
}

static void set_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 5000}, {0, 5000}};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "rounds";
    set_signals();
    if (strcmp(mode, "spin") == 0)
        spin(0);
    else if (strcmp(mode, "nap") == 0)
        spin(1000);
    else if (strcmp(mode, "exec") == 0)
        become_echo();
    else if (strcmp(mode, "birth") == 0)
        run_births();
    else if (strcmp(mode, "hop") == 0)
        printf("hops: %d\n", hopping_work());
    else if (strcmp(mode, "quit") == 0)
        run_quit();
    else
        run_rounds();
    return 5;
}
