/* Loops whose end hangs on calls: of clocks, of semaphores, and through pointers. Included by loop_shapes.c. */
#include <semaphore.h>
#include <signal.h>

struct device;
struct operations {
    bool (*is_ready)(struct device *device);
};
struct device {
    const struct operations *operations;
    volatile bool has_data;
};
static __thread struct {
    long number;
    volatile int done;
} record;
OWN sem_t places_left;
OWN pthread_mutex_t catalogue = PTHREAD_MUTEX_INITIALIZER;
OWN struct device *device;

/* The variable lies in memory that the thread's pointer and a register name. */
APART void wait_record_of_thread(void)
{
    record.done = 0;
    while (!record.done) {
        usleep(1000);
        record.number++;
    }
}

/* A deadline: words of the stack that a clock's function fills. */
APART bool wait_deadline(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        if (did_reconfigure)
            return true;
        usleep(1000);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < begin.tv_sec + 5);
    return false;
}

APART double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* … and numbers of floating point, one of which is a constant in memory. */
APART bool wait_seconds(void)
{
    while (!did_reconfigure && now_s() < 1e6)
        usleep(1000);
    return did_reconfigure;
}

/* 0: without a limit. */
APART bool wait_until_limit(void)
{
    while (!did_reconfigure) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (seconds_most > 0 && now.tv_sec >= seconds_most)
            return false;
        usleep(1000);
    }
    return true;
}

/* Three options of the program decide whether the second look is reached. */
APART void wait_with_options(void)
{
    for (;;) {
        usleep(1000);
        if (did_reconfigure)
            return;
        if (!is_first && !is_second && !is_ready_flag) {
            poll_device();
            if (did_reconfigure)
                return;
        }
    }
}

/* Three of the looks are in few turns. */
APART void wait_with_rare_looks(void)
{
    for (;;) {
        usleep(1000);
        if (did_reconfigure)
            return;
        if (poll_device() && (is_first || is_second || is_ready_flag))
            return;
    }
}

/* The loop gathers what it waits for, which something else may set as well. */
APART void wait_gathering(void)
{
    while (!gathered) {
        gathered |= poll_device();
        usleep(1000);
    }
}

/* The inner loop and the one around it begin with the same instruction. */
APART void wait_dispatching(void)
{
    while (!did_reconfigure) {
        while (poll_device())
            poll_device();
        usleep(1000);
    }
}

APART void wait_semaphore(void)
{
    while (sem_trywait(&places_left) != 0)
        usleep(1000);
}

APART void wait_mutex(void)
{
    while (pthread_mutex_trylock(&catalogue) != 0)
        usleep(1000);
}

APART bool is_job_done(void *context)
{
    const struct {
        long number;
        volatile int is_done;
    } *own = context;
    return own->is_done;
}

/* A jump through a table. */
OWN volatile int phase;

APART void wait_phase(void)
{
    for (;;) {
        switch (phase) {
        case 2:
            return;
        case 3:
            puts("loading");
            break;
        case 4:
            poll_device();
            break;
        case 5:
            exit(1);
        case 6:
            puts("late");
            return;
        case 7:
            sched_yield();
            break;
        default:
            break;
        }
        usleep(1000);
    }
}

/* Two pointers that a compiler may store at once. */
static struct {
    bool (*is_ready)(void);
    void (*end)(void);
} hooks;

static __attribute__((noinline, used)) bool is_hook_ready(void)
{
    return is_ready_flag;
}

static __attribute__((noinline, used)) void end_hook(void)
{
    puts("");
}

APART void open_hooks(void)
{
    hooks.is_ready = is_hook_ready;
    hooks.end = end_hook;
}

APART void wait_hooks(void)
{
    while (!hooks.is_ready())
        usleep(1000);
    hooks.end();
}

/* What signals do. */
OWN volatile int got_signal;

static void on_signal(int number)
{
    got_signal = number;
}

static void on_interrupt(int number)
{
    (void)number;
    got_signal = 1;
}

APART void handle_signals(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    signal(SIGUSR1, on_signal);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* One structure for two signals: only one of them gets the handler. */
APART void ignore_signals(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGHUP, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    puts("");
}

/* … the same with a variable, which is stored once, after a call. */
APART void keep_signals(void)
{
    static struct sigaction kept;
    sigaction(SIGALRM, &kept, NULL);
    kept.sa_handler = on_signal;
    sigaction(SIGUSR2, &kept, NULL);
    puts("");
}

#ifdef __x86_64__
/* Jumps through tables of four cases: after a comparison of the index, of another number, and with a way past the comparison. */
#define TABLE_JUMP(name, compared, entry)                                                          \
    __asm__(".text\n.type " #name ",@function\n" #name ":\n.cfi_startproc\n" entry                 \
            "cmpl $3, %" compared "\nja 9f\n5: leaq " #name "_ways(%rip), %rdx\n"                  \
            "movslq (%rdx,%rdi,4), %rax\naddq %rdx, %rax\njmp *%rax\n"                             \
            "1: movl $1, %eax\nret\n2: movl $2, %eax\nret\n3: movl $3, %eax\nret\n"                \
            "4: movl $4, %eax\nret\n9: xorl %eax, %eax\nret\n.cfi_endproc\n"                       \
            ".size " #name ",.-" #name "\n.section .rodata\n.balign 4\n" #name "_ways:\n"          \
            ".long 1b-" #name "_ways, 2b-" #name "_ways, 3b-" #name "_ways, 4b-" #name "_ways\n"   \
            ".text\n")
TABLE_JUMP(jump_checked, "edi", "");
TABLE_JUMP(jump_unchecked, "esi", "");
TABLE_JUMP(jump_past_check, "edi", "testl %esi, %esi\njne 5f\n");

/* The table's address is loaded before a loop; behind the loop the register gets another one. */
__asm__(".text\n.type jump_in_loop,@function\njump_in_loop:\n.cfi_startproc\npushq %rbx\n"
        "leaq jump_in_loop_ways(%rip), %rbx\n"
        "7: cmpl $3, %edi\nja 9f\nmovslq (%rbx,%rdi,4), %rax\naddq %rbx, %rax\njmp *%rax\n"
        "1: incl %edi\njmp 7b\n2: decl %edi\njmp 7b\n3: xorl %edi, %edi\njmp 7b\n"
        "4: testl %esi, %esi\njne 7b\n9: leaq jump_checked_ways(%rip), %rbx\nmovl (%rbx), %eax\n"
        "popq %rbx\nret\n.cfi_endproc\n.size jump_in_loop,.-jump_in_loop\n"
        ".section .rodata\n.balign 4\njump_in_loop_ways:\n.long 1b-jump_in_loop_ways, "
        "2b-jump_in_loop_ways, 3b-jump_in_loop_ways, 4b-jump_in_loop_ways\n.text\n");

/* A call, and code behind it to which something else leads, too. */
#define CALL_BEFORE(name, called)                                                                  \
    __asm__(".text\n.type " #name ",@function\n" #name ":\n.cfi_startproc\ntestl %edi, %edi\n"     \
            "jne 1f\ncall " #called "\n1: movl $1, %eax\nret\n.cfi_endproc\n.size " #name          \
            ",.-" #name "\n")

__attribute__((used, noinline)) static void dies(const char *text, int code)
{
    if (code > 1)
        fputs(text, stderr);
    else
        puts(text);
    exit(code);
}

__attribute__((used, noinline)) static void dies_inside(const char *text)
{
    puts("");
    dies(text, 2);
}

__attribute__((used, noinline)) static void may_die(const char *text, int code)
{
    if (code)
        dies(text, code);
    puts(text);
}

CALL_BEFORE(call_dies, dies);
CALL_BEFORE(call_dies_inside, dies_inside);
CALL_BEFORE(call_may_die, may_die);
#endif

APART void wait_signal(void)
{
    while (!got_signal)
        usleep(1000);
}

/* A function gets what it checks, and with what. */
APART void wait_predicate(bool (*is_done)(void *), void *context)
{
    while (!is_done(context))
        usleep(1000);
}

APART void go_predicate(void)
{
    wait_predicate(is_job_done, &job);
    puts("");
}

APART bool has_device_data(struct device *own)
{
    return own->has_data;
}

static const struct operations plain = {has_device_data};

APART void open_device(void)
{
    device = malloc(sizeof(*device));
    device->operations = &plain;
    device->has_data = false;
}

/* The object has a table of functions, as virtual functions are. */
APART void wait_operations(void)
{
    while (!device->operations->is_ready(device))
        usleep(1000);
}

/* Its table may be any. */
APART void wait_chosen_operations(struct device *own)
{
    while (!own->operations->is_ready(own))
        usleep(1000);
}

APART void set_semaphore(void)
{
    sem_post(&places_left);
    puts("");
}

APART void set_mutex(void)
{
    pthread_mutex_lock(&catalogue);
    puts("");
    pthread_mutex_unlock(&catalogue);
}

/* It waits for the lock itself. */
APART void lock_mutex(void)
{
    pthread_mutex_lock(&catalogue);
}

APART void set_operations(void)
{
    device->has_data = true;
}
