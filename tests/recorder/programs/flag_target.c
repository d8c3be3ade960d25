/* Variables to watch, and threads that write and read them as often as requested.
 *
 * flag_target TIMES: prints "PID"; for each line of its input a round of TIMES writes by each of
 * two threads that it makes then, each with values of its own, and TIMES reads by the main thread;
 * prints "done". Ends at the end of its input.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

volatile uint64_t written_flag;
volatile uint32_t quiet_flag = 7;
volatile uint8_t bytes_flag[8];
_Thread_local volatile int own_flag;
static volatile uint32_t hidden_flag;
static struct box {
    long number;
    volatile uint32_t state;
} box;
struct {
    long number;
    struct box *box;
} holder = {0, &box};

void write_library_flag(void);

static uint64_t times;

static void *write_all(void *context)
{
    uint64_t base = (uint64_t)(uintptr_t)context << 32;
    for (uint64_t i = 1; i <= times; i++)
        written_flag = base | i;
    return NULL;
}

static uint64_t read_all(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < times; i++)
        sum += quiet_flag;
    return sum;
}

int main(int argc, char **argv)
{
    char line[64];
    times = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        pthread_t threads[2];
        for (uintptr_t i = 0; i < 2; i++)
            if (pthread_create(&threads[i], NULL, write_all, (void *)(i + 1)))
                return 1;
        bool right = read_all() == 7 * times;
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        bytes_flag[3]++;
        hidden_flag++;
        holder.box->state++;
        own_flag++;
        write_library_flag();
        puts(right ? "done" : "wrong");
        fflush(stdout);
    }
    return 0;
}
