/* Loops that look at one of several in an array; part of loop_shapes.c. */
struct element {
    long number;
    volatile int done;
};

static struct element elements[4];
static volatile char done_bytes[8];
static struct {
    long unused;
    struct element rows[4];
} * table;

APART void wait_element(int at)
{
    while (!elements[at].done)
        usleep(1000);
}

/* The sum begins anew in each turn, so it counts nothing. */
APART void wait_summed(void)
{
    for (;;) {
        int left = 0;
        for (int i = 0; i < 4; i++)
            if (!elements[i].done)
                left++;
        if (!left)
            return;
        usleep(1000);
    }
}

APART void set_element(int at)
{
    elements[at].done = 1;
}

APART void set_first_element(void)
{
    elements[0].done = 2;
}

APART void set_beside_element(int at)
{
    elements[at].number = 1;
}

/* By the index alone, without a multiplication. */
APART void wait_byte(long at)
{
    while (!done_bytes[at])
        usleep(1000);
}

APART void set_byte(long at)
{
    done_bytes[at] = 1;
}

APART void wait_row(int at)
{
    while (!table->rows[at].done)
        usleep(1000);
}

APART void make_table(void)
{
    table = calloc(1, sizeof(*table));
}

/* What the first pointer of several leads to is not what the loop looks at. */
APART void wait_one_pointer(int at)
{
    struct window *volatile all[] = {&main_window, window};
    while (!all[at]->is_shown)
        usleep(1000);
}

APART bool is_first_set(void)
{
    return is_first;
}

APART bool is_second_set(void)
{
    return is_second;
}

static bool (*const checks[])(void) = {is_first_set, is_second_set};

APART void wait_checks(int at)
{
    while (!checks[at]())
        usleep(1000);
}

/* Which functions are called is not known, but they end the loop as well as the variable. */
APART void wait_checks_and_global(int at)
{
    while (!did_reconfigure && !checks[at]())
        usleep(1000);
}
