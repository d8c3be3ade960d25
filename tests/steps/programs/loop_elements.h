/* A loop that looks at one of several in an array; part of loop_shapes.c. */
static struct {
    long number;
    volatile int done;
} elements[4];

APART void wait_element(int at)
{
    while (!elements[at].done)
        usleep(1000);
}

APART void set_element(int at)
{
    elements[at].done = 1;
}

APART void set_beside_element(int at)
{
    elements[at].number = 1;
}
