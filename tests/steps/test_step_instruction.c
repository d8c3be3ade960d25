/* Classification of instructions for the stepper: bytes as assemblers produce them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "linux/step/step_instruction.h"

struct example {
    const char *text;
    uint8_t code[20];
    size_t bytes;
    enum step_instruction_kind kind;
    uint8_t length;
};

static const struct example x86_64[] = {
    {"nop", {0x90}, 1, STEP_PLAIN, 0},
    {"syscall", {0x0f, 0x05}, 2, STEP_IS_CALL_OF_KERNEL, 0},
    {"int $0x80", {0xcd, 0x80}, 2, STEP_IS_CALL_OF_KERNEL, 0},
    {"int $0x29", {0xcd, 0x29}, 2, STEP_PLAIN, 0},
    {"movaps", {0x0f, 0x28, 0xc1}, 3, STEP_PLAIN, 0},
    {"call rel32", {0xe8, 1, 2, 3, 4}, 5, STEP_IS_CALL, 0},
    {"call *%rax", {0xff, 0xd0}, 2, STEP_IS_CALL, 0},
    {"call *%r11", {0x41, 0xff, 0xd3}, 3, STEP_IS_CALL, 0},
    {"call *8(%rip)", {0xff, 0x15, 8, 0, 0, 0}, 6, STEP_IS_CALL, 0},
    {"bnd call", {0xf2, 0xe8, 1, 2, 3, 4}, 6, STEP_IS_CALL, 0},
    {"addr32 call (padding)", {0x67, 0xe8, 1, 2, 3, 4}, 6, STEP_IS_CALL, 0},
    {"jmp *%rax", {0xff, 0xe0}, 2, STEP_PLAIN, 0},
    {"inc %eax", {0xff, 0xc0}, 2, STEP_PLAIN, 0},
    {"push (%rax)", {0xff, 0x30}, 2, STEP_PLAIN, 0},
    {"ret", {0xc3}, 1, STEP_IS_RETURN, 0},
    {"rep ret", {0xf3, 0xc3}, 2, STEP_IS_RETURN, 0},
    {"ret $16", {0xc2, 16, 0}, 3, STEP_IS_RETURN, 0},
    {"pushfq", {0x9c}, 1, STEP_IS_PUSHF, 0},
    {"pushfw", {0x66, 0x9c}, 2, STEP_IS_PUSHF, 0},
    {"popfq", {0x9d}, 1, STEP_IS_POPF, 1},
    {"popfw", {0x66, 0x9d}, 2, STEP_IS_POPF, 2},
    {"iretq", {0x48, 0xcf}, 2, STEP_IS_IRET, 0},
    {"int3", {0xcc}, 1, STEP_IS_TRAP, 0},
    {"rep movsb", {0xf3, 0xa4}, 2, STEP_IS_REPEATED, 2},
    {"rep stosq", {0xf3, 0x48, 0xab}, 3, STEP_IS_REPEATED, 3},
    {"repne scasb", {0xf2, 0xae}, 2, STEP_IS_REPEATED, 2},
    {"movsb", {0xa4}, 1, STEP_PLAIN, 0},
    {"movss", {0xf3, 0x0f, 0x10, 0x00}, 4, STEP_PLAIN, 0},
    {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, 4, STEP_PLAIN, 0},
    {"mov $0xe8, %eax", {0xb8, 0xe8, 0, 0, 0}, 5, STEP_PLAIN, 0},
    {"lock prefix cut off", {0xf0}, 1, STEP_PLAIN, 0},
};

static const struct example aarch64[] = {
    {"nop", {0x1f, 0x20, 0x03, 0xd5}, 4, STEP_PLAIN, 0},
    {"bl", {0x01, 0x00, 0x00, 0x94}, 4, STEP_IS_CALL, 0},
    {"b", {0x01, 0x00, 0x00, 0x14}, 4, STEP_PLAIN, 0},
    {"blr x8", {0x00, 0x01, 0x3f, 0xd6}, 4, STEP_IS_CALL, 0},
    {"blraaz x8", {0x1f, 0x09, 0x3f, 0xd6}, 4, STEP_IS_CALL, 0},
    {"blraa x8, x9", {0x09, 0x09, 0x3f, 0xd7}, 4, STEP_IS_CALL, 0},
    {"br x16", {0x00, 0x02, 0x1f, 0xd6}, 4, STEP_PLAIN, 0},
    {"ret", {0xc0, 0x03, 0x5f, 0xd6}, 4, STEP_IS_RETURN, 0},
    {"retaa", {0xff, 0x0b, 0x5f, 0xd6}, 4, STEP_IS_RETURN, 0},
    {"svc", {0x01, 0x00, 0x00, 0xd4}, 4, STEP_IS_CALL_OF_KERNEL, 0},
    {"retab", {0xff, 0x0f, 0x5f, 0xd6}, 4, STEP_IS_RETURN, 0},
    {"brk #0", {0x00, 0x00, 0x20, 0xd4}, 4, STEP_IS_TRAP, 0},
    {"ldxr w0, [x1]; add w0, w0, #1; stxr w2, w0, [x1]; cbnz",
     {0x20, 0x7c, 0x5f, 0x88, 0x00, 0x04, 0x00, 0x11, 0x20, 0x7c, 0x02, 0x88, 0xa2, 0xff, 0xff,
      0x35},
     16,
     STEP_IS_EXCLUSIVE,
     12},
    {"ldaxr x0, [x1]; stlxr w2, x3, [x1]",
     {0x20, 0xfc, 0x5f, 0xc8, 0x23, 0xfc, 0x02, 0xc8},
     8,
     STEP_IS_EXCLUSIVE,
     8},
    {"ldxp x0, x1, [x2]; stxp w3, x0, x1, [x2]",
     {0x40, 0x04, 0x7f, 0xc8, 0x40, 0x04, 0x23, 0xc8},
     8,
     STEP_IS_EXCLUSIVE,
     8},
    {"ldxr without a store", {0x20, 0x7c, 0x5f, 0x88, 0x1f, 0x20, 0x03, 0xd5}, 8, STEP_PLAIN, 0},
    {"ldar x0, [x1]", {0x20, 0xfc, 0xdf, 0xc8}, 4, STEP_PLAIN, 0},
    {"cas w0, w1, [x2]", {0x41, 0x7c, 0xa0, 0x88}, 4, STEP_PLAIN, 0},
    {"cut off", {0xc0, 0x03}, 2, STEP_PLAIN, 0},
};

static void check(const struct example *examples, size_t count,
                  struct step_instruction (*look)(const uint8_t *code, size_t bytes))
{
    for (size_t i = 0; i < count; i++) {
        struct step_instruction found = look(examples[i].code, examples[i].bytes);
        if (found.kind != examples[i].kind || found.length != examples[i].length)
            fail_msg("%s: kind %d length %d", examples[i].text, found.kind, found.length);
    }
}

static void test_x86_64(void **state)
{
    (void)state;
    check(x86_64, sizeof(x86_64) / sizeof(x86_64[0]), step_instruction_x86_64);
}

static void test_aarch64(void **state)
{
    (void)state;
    check(aarch64, sizeof(aarch64) / sizeof(aarch64[0]), step_instruction_aarch64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_x86_64),
                                       cmocka_unit_test(test_aarch64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
