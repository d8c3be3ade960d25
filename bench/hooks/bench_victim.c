/* The function that gets hooks and probes: just long enough for a jump. */
unsigned long bench_victim(unsigned long x);

unsigned long bench_victim(unsigned long x)
{
    __asm__ volatile("" ::: "memory");
    return x * 0x123456789 + 1;
}
