/* The place of a probe: the first instruction that the kernel emulates, but never one at which the probe would read other values,
 * or that some calls of the function do not execute, or execute twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/probes/probe_place.h"

#define PUSH_RBX     0x53
#define PUSH_R12     0x41, 0x54
#define RET          0xc3
#define TEST_RDI_RDI 0x48, 0x85, 0xff
#define JE_FAR(far)  0x0f, 0x84, far, 0x00, 0x00, 0x00
#define JE(distance) 0x74, distance
#define JMP(near)    0xeb, near
#define ENDBR64      0xf3, 0x0f, 0x1e, 0xfa
#define SUB_RSP_24   0x48, 0x83, 0xec, 0x18
#define MOV_RAX_RDI  0x48, 0x89, 0xf8
#define MOV_RSI_RDX  0x48, 0x89, 0xd6
#define MOV_EAX_24   0x8b, 0x47, 0x18       /* mov eax, [rdi + 24] */
#define STORE        0x48, 0x89, 0x77, 0x08 /* mov [rdi + 8], rsi */
#define SYSCALL      0x0f, 0x05

struct row {
    const char *name;
    uint8_t code[24];
    uint32_t flags;
    uint8_t key;                  /* base */
    uint8_t other;                /* base of `function` */
    uint32_t offset, stack_bytes; /* expected */
};

static const struct row rows[] = {
    {"already there", {PUSH_RBX, RET}, 0, 1, 0, 0, 0},
    {"behind a test", {TEST_RDI_RDI, JE(4), RET}, 0, 1, 0, 3, 0},
    {"far jump", {TEST_RDI_RDI, JE_FAR(4), RET}, 0, 1, 0, 3, 0},
    {"behind the mark of an entry", {ENDBR64, PUSH_R12, RET}, 0, 1, 0, 4, 0},
    {"stack is allocated", {SUB_RSP_24, TEST_RDI_RDI, JE(4), RET}, 0, 1, 0, 7, 24},
    {"copies and loads", {MOV_RAX_RDI, MOV_EAX_24, PUSH_RBX, RET}, 0, 1, 0, 6, 0},
    {"another argument changes", {MOV_RSI_RDX, PUSH_RBX, RET}, 0, 1, 0, 3, 0},
    {"the key changes", {MOV_RSI_RDX, PUSH_RBX, RET}, 0, 2, 0, 0, 0},
    {"the function changes", {MOV_RSI_RDX, PUSH_RBX, RET}, 0, 1, 2, 0, 0},
    {"memory changes", {STORE, PUSH_RBX, RET}, 0, 1, 0, 0, 0},
    {"a system call", {SYSCALL, PUSH_RBX, RET}, 0, 1, 0, 0, 0},
    {"the function ends", {TEST_RDI_RDI, RET, PUSH_RBX}, 0, 1, 0, 0, 0},
    {"its return is wanted", {TEST_RDI_RDI, JE(4), RET}, PROBE_RETURN, 1, 0, 0, 0},
    {"a loop to the place", {MOV_RAX_RDI, PUSH_RBX, JMP(0xfd), RET}, 0, 1, 0, 0, 0},
    {"a loop to skipped code", {MOV_RAX_RDI, MOV_EAX_24, PUSH_RBX, JMP(0xfa)}, 0, 1, 0, 0, 0},
    {"a loop to the beginning", {MOV_RAX_RDI, PUSH_RBX, JMP(0xfa), RET}, 0, 1, 0, 3, 0},
    {"a loop behind the place", {MOV_RAX_RDI, PUSH_RBX, JMP(0xfe), RET}, 0, 1, 0, 3, 0},
    {"a far loop", {MOV_RAX_RDI, PUSH_RBX, 0xe9, 0xfa, 0xff, 0xff, 0xff}, 0, 1, 0, 0, 0},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct probe_spec spec = {.flags = rows[i].flags,
                                  .key = {.base = rows[i].key},
                                  .function = {.base = rows[i].other}};
        struct probe_place place = probe_place_find(rows[i].code, sizeof(rows[i].code), &spec);
#if !defined(__x86_64__)
        if (place.offset || place.stack_bytes)
#else
        if (place.offset != rows[i].offset || place.stack_bytes != rows[i].stack_bytes)
#endif
            fail_msg("%s: %u, %u", rows[i].name, place.offset, place.stack_bytes);
    }
}

/* Nothing to read, or the code is cut off before there is a place. */
static void test_too_short(void **state)
{
    (void)state;
    const uint8_t code[] = {TEST_RDI_RDI, JE(4)};
    const struct probe_spec spec = {.key = {.base = 1}};
    for (size_t bytes = 0; bytes < sizeof(code); bytes++)
        assert_int_equal(probe_place_find(code, bytes, &spec).offset, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_too_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
