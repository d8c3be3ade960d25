/* The function that gets hooks and probes: long enough for a jump, and not much else. */
unsigned long bench_victim(unsigned long x);

unsigned long bench_victim(unsigned long x)
{
    __asm__ volatile("" ::: "memory");
    return x * 0x123456789 + 1;
}
