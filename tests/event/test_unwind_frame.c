/* Frame pointers: which steps are possible, and which bytes are a call instruction. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "event/unwind/unwind_frame.h"

#define BOTTOM 0x7ffd00001000ull

enum { X86_FP = 6, X86_SP = 7, X86_PC = 16 };

static uint64_t stack[64];

static bool read_stack(void *context, uint64_t address, uint64_t *ret)
{
    (void)context;
    if (address < BOTTOM || address >= BOTTOM + sizeof(stack))
        return false;
    *ret = stack[(address - BOTTOM) / 8];
    return true;
}

static struct cfi_machine machine_at(uint64_t frame)
{
    struct cfi_machine machine = {.read = read_stack};
    machine.registers[X86_SP] = BOTTOM + 16;
    machine.registers[X86_FP] = frame;
    machine.known = 1ull << X86_SP | 1ull << X86_FP | 1ull << X86_PC;
    return machine;
}

static void test_a_step(void **state)
{
    (void)state;
    memset(stack, 0, sizeof(stack));
    stack[4] = BOTTOM + 96;
    stack[5] = 0x401234;
    struct cfi_machine machine = machine_at(BOTTOM + 32);
    assert_int_equal(frame_step(&machine, unwind_processor_of(EM_X86_64)), FRAME_STEPPED);
    assert_int_equal(machine.registers[X86_PC], 0x401234);
    assert_int_equal(machine.registers[X86_FP], BOTTOM + 96);
    assert_int_equal(machine.registers[X86_SP], BOTTOM + 48);
    assert_int_equal(machine.return_slot, BOTTOM + 40);
    assert_int_equal(machine.known, 1ull << X86_SP | 1ull << X86_FP | 1ull << X86_PC);
}

static void test_what_is_no_frame_pointer(void **state)
{
    (void)state;
    memset(stack, 0, sizeof(stack));
    static const uint64_t none[] = {0, 1, BOTTOM, BOTTOM + 36, BOTTOM + 40, BOTTOM + (1ull << 40)};
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        struct cfi_machine machine = machine_at(none[i]);
        assert_int_equal(frame_step(&machine, unwind_processor_of(EM_X86_64)), FRAME_NONE);
    }
    struct cfi_machine machine = machine_at(BOTTOM + 32); /* a return address of 0 */
    assert_int_equal(frame_step(&machine, unwind_processor_of(EM_X86_64)), FRAME_NONE);
    machine = machine_at(BOTTOM + 32);
    machine.known = 1ull << X86_SP;
    assert_int_equal(frame_step(&machine, unwind_processor_of(EM_X86_64)), FRAME_NONE);
    machine = machine_at(BOTTOM + sizeof(stack));
    assert_int_equal(frame_step(&machine, unwind_processor_of(EM_X86_64)), FRAME_NO_MEMORY);
}

static void test_calls_of_x86(void **state)
{
    (void)state;
    static const struct {
        uint8_t code[7];
        bool call;
    } rows[] = {
        {{0x90, 0x90, 0xe8, 1, 2, 3, 4}, true},              /* call rel32 */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}, true},  /* call *%rax */
        {{0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd4}, true},  /* call *%r12 */
        {{0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18}, true},  /* call *0x18(%rax) */
        {{0x90, 0xff, 0x15, 1, 2, 3, 4}, true},              /* call *0x4030201(%rip) */
        {{0x90, 0xff, 0x90, 1, 2, 3, 4}, true},              /* call *0x4030201(%rax) */
        {{0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0xc7}, true},  /* call *(%rdi,%rax,8) */
        {{0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 0x08}, true},  /* call *8(%rsp) */
        {{0xff, 0x14, 0xc5, 1, 2, 3, 4}, true},              /* call *0x4030201(,%rax,8) */
        {{0x90, 0x90, 0xe9, 1, 2, 3, 4}, false},             /* jmp */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}, false}, /* jmp *%rax */
        {{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3}, false}, /* ret */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_int_equal(frame_is_call(rows[i].code, 7, EM_X86_64), rows[i].call);
    assert_false(frame_is_call(rows[0].code, 0, EM_X86_64));
}

static void test_calls_of_arm64(void **state)
{
    (void)state;
    static const struct {
        uint8_t code[4];
        bool call;
    } rows[] = {
        {{0x01, 0x00, 0x00, 0x94}, true},  /* bl */
        {{0x20, 0x00, 0x3f, 0xd6}, true},  /* blr x1 */
        {{0x3f, 0x08, 0x3f, 0xd6}, true},  /* blraaz x1 */
        {{0x22, 0x08, 0x3f, 0xd7}, true},  /* blraa x1, x2 */
        {{0x01, 0x00, 0x00, 0x14}, false}, /* b */
        {{0xc0, 0x03, 0x5f, 0xd6}, false}, /* ret */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_int_equal(frame_is_call(rows[i].code, 4, EM_AARCH64), rows[i].call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step),
        cmocka_unit_test(test_what_is_no_frame_pointer),
        cmocka_unit_test(test_calls_of_x86),
        cmocka_unit_test(test_calls_of_arm64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
