/* Part of loop_shapes.c: a flag of one bit, as a member. */

OWN struct {
    volatile unsigned is_read : 1, is_drawn : 1, is_seen : 1;
} picture;

APART void wait_bit_field(void)
{
    while (!picture.is_drawn)
        usleep(100);
}

APART void set_bit_field(void)
{
    picture.is_drawn = 1;
}
