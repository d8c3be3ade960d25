/* The value that an arm64 instruction gives a watched variable (recorder/linux/bpf/flag_arm64.h).
 * The codes are an assembler's output for the text next to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#if !defined(__always_inline)
#define __always_inline inline __attribute__((always_inline))
#endif

static uint64_t flag_register(const void *registers, uint32_t number)
{
    return ((const uint64_t *)registers)[number];
}

#include "recorder/linux/bpf/flag_arm64.h"

#define BASE 0x10000ull

static const uint64_t registers[32] = {
    [1] = 0x1111222233334444, [2] = BASE,           [3] = 0x80000005fffffffe,
    [4] = 0x5555666677778888, [31] = BASE + 0x1000,
};

struct expectation {
    uint32_t code;
    uint64_t address;
    uint32_t bytes;
    uint64_t before, after;
};

static const struct expectation stores[] = {
    {0xf9000041, BASE, 8, 7, 0x1111222233334444},          /* str x1, [x2] */
    {0xf9000041, BASE, 4, 7, 0x33334444},                  /* a part of what is stored */
    {0xf9000041, BASE + 4, 4, 7, 0x11112222},              /* the upper part */
    {0xf9000041, BASE + 8, 8, 7, 7},                       /* beside it */
    {0xf9000041, BASE - 4, 8, 7, 0x3333444400000007},      /* across */
    {0xb9001041, BASE + 16, 4, 7, 0x33334444},             /* str w1, [x2, #16] */
    {0xb9001041, BASE + 16, 8, 7ull << 32, 0x733334444},   /* a part of the flag */
    {0x381fd041, BASE - 3, 1, 7, 0x44},                    /* sturb w1, [x2, #-3] */
    {0x381fd041, BASE - 4, 4, 7, 0x4407},                  /* one byte of four */
    {0x78002441, BASE, 2, 7, 0x4444},                      /* strh w1, [x2], #2 */
    {0xf8008c41, BASE + 8, 8, 7, 0x1111222233334444},      /* str x1, [x2, #8]! */
    {0xb823d841, BASE - 8, 4, 7, 0x33334444},              /* str w1, [x2, w3, sxtw #2] */
    {0xb823485f, BASE + 0xfffffffe, 4, 7, 0},              /* str wzr, [x2, w3, uxtw] */
    {0xf9000fe1, BASE + 0x1018, 8, 7, 0x1111222233334444}, /* str x1, [sp, #24] */
    {0xa9011041, BASE + 16, 8, 7, 0x1111222233334444},     /* stp x1, x4, [x2, #16] */
    {0xa9011041, BASE + 24, 8, 7, 0x5555666677778888},     /* the second one */
    {0x28bf1041, BASE + 4, 4, 7, 0x77778888},              /* stp w1, w4, [x2], #-8 */
    {0xa9bf1041, BASE - 16, 8, 7, 0x1111222233334444},     /* stp x1, x4, [x2, #-16]! */
    {0x28001041, BASE, 4, 7, 0x33334444},                  /* stnp w1, w4, [x2] */
    {0x889ffc41, BASE, 4, 7, 0x33334444},                  /* stlr w1, [x2] */
    {0x089ffc41, BASE, 1, 7, 0x44},                        /* stlrb w1, [x2] */
    {0xd91f8041, BASE - 8, 8, 7, 0x1111222233334444},      /* stlur x1, [x2, #-8] */
};

static const struct expectation atomics[] = {
    {0xb8e38045, BASE, 4, 7, 0xfffffffe},          /* swpal w3, w5, [x2] */
    {0xf8230045, BASE, 8, 7, 0x8000000600000005},  /* ldadd x3, x5, [x2] */
    {0xb8e31045, BASE, 4, 7, 1},                   /* ldclral w3, w5, [x2] */
    {0xb823205f, BASE, 4, 7, 0xfffffff9},          /* steor w3, [x2] */
    {0xb8233045, BASE, 4, 7, 0xffffffff},          /* ldset w3, w5, [x2] */
    {0xb8234045, BASE, 4, 7, 7},                   /* ldsmax w3, w5, [x2]: -2 and 7 */
    {0xb8235045, BASE, 4, 7, 0xfffffffe},          /* ldsmin */
    {0xb8236045, BASE, 4, 7, 0xfffffffe},          /* ldumax */
    {0xb8237045, BASE, 4, 7, 7},                   /* ldumin */
    {0x88a37c41, BASE, 4, 0xfffffffe, 0x33334444}, /* cas w3, w1, [x2] */
    {0x88a37c41, BASE, 4, 7, 7},                   /* it has another value */
    {0x08e3fc41, BASE, 1, 0xfe, 0x44},             /* casalb w3, w1, [x2] */
    {0xf8230045, BASE, 4, 7, 7},                   /* of more than the flag: not known */
};

/* Loads, and stores of unsupported kinds. */
static const uint32_t others[] = {
    0xb8bfc041, /* ldapr w1, [x2] */
    0xf9400041, /* ldr x1, [x2] */
    0xb9800041, /* ldrsw x1, [x2] */
    0xa9401041, /* ldp x1, x4, [x2] */
    0x88dffc41, /* ldar w1, [x2] */
    0x3d800040, /* str q0, [x2] */
    0xad000440, /* stp q0, q1, [x2] */
    0xd50b7422, /* dc zva, x2 */
    0x4864fc46, /* caspal x4, x5, x6, x7, [x2] */
    0x14000000, /* b */
    0x8b030041, /* add x1, x2, x3 */
    0,
};

static const uint32_t exclusive_stores[] = {
    0xc8057c41, /* stxr w5, x1, [x2] */
    0x8805fc41, /* stlxr w5, w1, [x2] */
    0xc8251041, /* stxp w5, x1, x4, [x2] */
};

static const uint32_t exclusive_loads[] = {
    0x885ffc41, /* ldaxr w1, [x2] */
    0xc87f1041, /* ldxp x1, x4, [x2] */
};

static void check(const struct expectation *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct arm64_flag flag = {table[i].address, table[i].before, table[i].bytes};
        uint64_t after = arm64_value_after(table[i].code, registers, &flag);
        if (after != table[i].after)
            fail_msg("0x%x makes 0x%llx of 0x%llx, not 0x%llx", table[i].code,
                     (unsigned long long)after, (unsigned long long)flag.value,
                     (unsigned long long)table[i].after);
    }
}

static void a_store_leaves_what_is_in_its_register(void **state)
{
    (void)state;
    check(stores, COUNT(stores));
}

static void an_atomic_instruction_is_calculated(void **state)
{
    (void)state;
    check(atomics, COUNT(atomics));
}

static void what_is_not_known_leaves_the_value(void **state)
{
    (void)state;
    const struct arm64_flag flag = {BASE, 7, 8};
    for (size_t i = 0; i < COUNT(others); i++)
        assert_int_equal(arm64_value_after(others[i], registers, &flag), 7);
}

static void exclusive_sequences_are_recognised(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(exclusive_stores); i++)
        assert_true(arm64_is_exclusive(exclusive_stores[i]) && !arm64_is_load(exclusive_stores[i]));
    for (size_t i = 0; i < COUNT(exclusive_loads); i++)
        assert_true(arm64_is_exclusive(exclusive_loads[i]) && arm64_is_load(exclusive_loads[i]));
    for (size_t i = 0; i < COUNT(stores); i++)
        assert_false(arm64_is_exclusive(stores[i].code));
    for (size_t i = 0; i < COUNT(atomics); i++)
        assert_false(arm64_is_exclusive(atomics[i].code));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(arm64_is_exclusive(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_leaves_what_is_in_its_register),
        cmocka_unit_test(an_atomic_instruction_is_calculated),
        cmocka_unit_test(what_is_not_known_leaves_the_value),
        cmocka_unit_test(exclusive_sequences_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
