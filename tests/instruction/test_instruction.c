/* Instructions, one per row: the bytes that an assembler makes of the second text, and their
 * meaning.
 *
 * To add one: objcopy -O binary -j .text of the output of `as`, at address 0x1000. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "steps/instruction.h"

enum { ADDRESS = 0x1000 };

struct row {
    const char *code;
    size_t bytes;
    const char *assembly, *meaning;
};

static const struct row x86_64[] = {
    {"\x8b\x05\xe4\x2e\x00\x00", 6, "mov eax, [rip+0x2ee4]", "writes rax; reads 4 at 0x3eea"},
    {"\xc7\x45\xfc\x07\x00\x00\x00", 7, "mov dword ptr [rbp-4], 7", "writes 4 at rbp-4"},
    {"\x80\x7f\x18\x00", 4, "cmp byte ptr [rdi+0x18], 0",
     "compare; writes flags; reads 1 at rdi+24"},
    {"\x0f\xb6\x44\x88\x10", 5, "movzx eax, byte ptr [rax+rcx*4+0x10]",
     "writes rax; reads 1 at rax+rcx*4+16"},
    {"\x48\x8d\x04\xf7", 4, "lea rax, [rdi+rsi*8]", "reads rsi rdi; writes rax"},
    {"\x53", 1, "push rbx", "reads rbx rsp; writes rsp; writes 8 at rsp-8 implicitly"},
    {"\xff\x30", 2, "push qword ptr [rax]",
     "reads rsp; writes rsp; reads 8 at rax; writes 8 at rsp-8 implicitly"},
    {"\x5d", 1, "pop rbp", "reads rsp; writes rsp rbp; reads 8 at rsp implicitly"},
    {"\xff\x50\x08", 3, "call qword ptr [rax+8]",
     "calls indirectly; reads rsp; writes rsp; reads 8 at rax+8; writes 8 at rsp-8 implicitly"},
    {"\xc3", 1, "ret", "returns; reads rsp; writes rsp; reads 8 at rsp implicitly"},
    {"\xc9", 1, "leave", "reads rsp rbp; writes rsp rbp; reads 8 at rbp implicitly"},
    {"\xf0\x0f\xb1\x37", 4, "lock cmpxchg [rdi], esi",
     "reads rax rsi; writes rax flags; reads and writes 4 at rdi"},
    {"\xf0\x83\x07\x01", 4, "lock add dword ptr [rdi], 1",
     "writes flags; reads and writes 4 at rdi"},
    {"\x86\x07", 2, "xchg [rdi], al", "reads rax; writes rax; reads and writes 1 at rdi"},
    {"\xf0\x48\x0f\xc1\x07", 5, "lock xadd [rdi], rax",
     "reads rax; writes rax flags; reads and writes 8 at rdi"},
    {"\xf3\xa4", 2, "rep movsb",
     "reads rcx rsi rdi flags; writes rcx rsi rdi; writes 1 at rdi repeated; reads 1 at rsi "
     "repeated"},
    {"\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9, "mov rax, fs:[0x28]",
     "writes rax; reads 8 at fs:40"},
    {"\x65\x8b\x43\xf8", 4, "mov eax, gs:[rbx-8]", "writes rax; reads 4 at gs:rbx-8"},
    {"\x0f\x95\x44\x24\x01", 5, "setne byte ptr [rsp+1]", "reads flags; writes 1 at rsp+1"},
    {"\x0f\x94\xc0", 3, "sete al", "reads flags; writes rax"},
    {"\x48\x0f\x45\x02", 4, "cmovne rax, [rdx]", "reads rax flags; writes rax; reads 8 at rdx"},
    {"\x85\xc0", 2, "test eax, eax", "compare; reads rax; writes flags"},
    {"\x31\xc0", 2, "xor eax, eax", "writes rax flags"},
    {"\x19\xc0", 2, "sbb eax, eax", "reads flags; writes rax flags"},
    {"\xff\x04\x24", 3, "inc dword ptr [rsp]", "writes flags; reads and writes 4 at rsp"},
    {"\xc5\xfe\x7f\x0f", 4, "vmovdqu ymmword ptr [rdi], ymm1", "reads v1; writes 32 at rdi"},
    {"\x0f\x28\x06", 3, "movaps xmm0, [rsi]", "writes v0; reads 16 at rsi"},
    {"\x66\x0f\x2e\x07", 4, "ucomisd xmm0, [rdi]",
     "compare; reads v0; writes flags; reads 8 at rdi"},
    {"\xdd\x1c\x24", 3, "fstp qword ptr [rsp]", "writes flags; writes 8 at rsp"},
    {"\xc1\x00\x03", 3, "rol dword ptr [rax], 3", "writes flags; reads and writes 4 at rax"},
    {"\x0f\x1f\x00", 3, "nop dword ptr [rax]", ""},
    {"\x0f\x18\x0e", 3, "prefetcht0 [rsi]", ""},
    {"\x0f\x05", 2, "syscall", "system call; writes rax rcx r11"},
    {"\x75\x0e", 2, "jne .+0x10", "branches to 0x1010; reads flags"},
    {"\xeb\x0e", 2, "jmp .+0x10", "jumps to 0x1010"},
    {"\xff\xe0", 2, "jmp rax", "jumps indirectly; reads rax"},
    {"\xe8\x1b\x00\x00\x00", 5, "call .+0x20",
     "calls 0x1020; reads rsp; writes rsp; writes 8 at rsp-8 implicitly"},
    {"\x0f\x0b", 2, "ud2", "traps"},
};

static const struct row arm64[] = {
    {"\x20\x08\x40\xb9", 4, "ldr w0, [x1, #8]", "writes x0; reads 4 at x1+8"},
    {"\x20\x68\x62\x38", 4, "ldrb w0, [x1, x2]", "writes x0; reads 1 at x1+x2*1"},
    {"\x20\x58\x62\xb8", 4, "ldr w0, [x1, w2, uxtw #2]", "writes x0; reads 4 at x1+uxtw(x2)*4"},
    {"\x20\xd8\x62\xf8", 4, "ldr x0, [x1, w2, sxtw #3]", "writes x0; reads 8 at x1+sxtw(x2)*8"},
    {"\xfd\x7b\xc2\xa8", 4, "ldp x29, x30, [sp], #32", "writes x29 x30 sp; reads 16 at sp"},
    {"\xfd\x7b\xbe\xa9", 4, "stp x29, x30, [sp, #-32]!",
     "reads x29 x30; writes sp; writes 16 at sp-32"},
    {"\x03\x01\x00\x58", 4, "ldr x3, .+0x20", "writes x3; reads 8 at 0x1020"},
    {"\x61\x08\x40\x69", 4, "ldpsw x1, x2, [x3]", "writes x1 x2; reads 8 at x3"},
    {"\x20\xfc\x5f\x08", 4, "ldaxrb w0, [x1]", "writes x0; reads 1 at x1"},
    {"\x41\xfc\x00\x88", 4, "stlxr w0, w1, [x2]", "reads x1; writes x0; writes 4 at x2"},
    {"\x40\x00\xe1\xb8", 4, "ldaddal w1, w0, [x2]",
     "reads x1; writes x0; reads and writes 4 at x2"},
    {"\x40\x80\xa1\x38", 4, "swpab w1, w0, [x2]", "reads x1; writes x0; reads and writes 1 at x2"},
    {"\xe0\xff\xe1\xc8", 4, "casal x1, x0, [sp]",
     "reads x0 x1; writes x1; reads and writes 8 at sp"},
    {"\xc4\x7c\x22\x48", 4, "casp x2, x3, x4, x5, [x6]",
     "reads x2 x3 x4 x5; writes x2 x3; reads and writes 16 at x6"},
    {"\x5f\x00\x21\xb8", 4, "stadd w1, [x2]", "reads x1; reads and writes 4 at x2"},
    {"\x20\xc0\xbf\xb8", 4, "ldapr w0, [x1]", "writes x0; reads 4 at x1"},
    {"\x01\x04\x80\x3d", 4, "str q1, [x0, #16]", "reads v1; writes 16 at x0+16"},
    {"\x1f\x04\x00\x71", 4, "cmp w0, #1", "compare; reads x0; writes flags"},
    {"\x00\x04\x00\x71", 4, "subs w0, w0, #1", "reads x0; writes x0 flags"},
    {"\x41\x00\x83\x1a", 4, "csel w1, w2, w3, eq", "reads x2 x3 flags; writes x1"},
    {"\xe6\x17\x9f\x1a", 4, "cset w6, eq", "reads flags; writes x6"},
    {"\x20\x00\x02\x9a", 4, "adc x0, x1, x2", "reads x1 x2 flags; writes x0"},
    {"\x21\x00\xa0\x72", 4, "movk w1, #1, lsl #16", "reads x1; writes x1"},
    {"\x00\x02\x00\x34", 4, "cbz w0, .+0x40", "branches to 0x1040; reads x0"},
    {"\x40\x00\x18\x37", 4, "tbnz w0, #3, .+8", "branches to 0x1008; reads x0"},
    {"\x61\x00\x00\x54", 4, "b.ne .+12", "branches to 0x100c; reads flags"},
    {"\x04\x00\x00\x14", 4, "b .+16", "jumps to 0x1010"},
    {"\x04\x00\x00\x94", 4, "bl .+16", "calls 0x1010; writes x30"},
    {"\x00\x01\x3f\xd6", 4, "blr x8", "calls indirectly; reads x8; writes x30"},
    {"\x20\x02\x1f\xd6", 4, "br x17", "jumps indirectly; reads x17"},
    {"\xc0\x03\x5f\xd6", 4, "ret", "returns; reads x30"},
    {"\xff\x0b\x5f\xd6", 4, "retaa", "returns; reads x30"},
    {"\x7f\x08\x3f\xd6", 4, "blraaz x3", "calls indirectly; reads x3; writes x30"},
    {"\x20\x00\x80\xf9", 4, "prfm pldl1keep, [x1]", ""},
    {"\x01\x00\x00\xd4", 4, "svc #0", "system call; writes x0"},
};

struct text {
    enum instruction_machine machine;
    char data[256];
};

static void say(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct text *text, const char *format, ...)
{
    size_t length = strlen(text->data);
    va_list values;
    va_start(values, format);
    vsnprintf(text->data + length, sizeof(text->data) - length, format, values);
    va_end(values);
}

static void say_register(struct text *text, unsigned number)
{
    static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"};
    if (number == REGISTER_FLAGS)
        say(text, "flags");
    else if (number >= REGISTER_VECTOR)
        say(text, "v%u", number - REGISTER_VECTOR);
    else if (text->machine == INSTRUCTION_ARM64 && number == REGISTER_X31)
        say(text, "sp");
    else if (text->machine == INSTRUCTION_ARM64 || number >= 8)
        say(text, "%c%u", text->machine == INSTRUCTION_ARM64 ? 'x' : 'r', number);
    else
        say(text, "%s", names[number]);
}

static void say_set(struct text *text, const char *what, uint64_t set)
{
    if (!set)
        return;
    say(text, "%s%s", text->data[0] ? "; " : "", what);
    for (unsigned i = 0; i < 64; i++)
        if (set >> i & 1) {
            say(text, " ");
            say_register(text, i);
        }
}

static void say_flow(struct text *text, const struct instruction *instruction)
{
    static const char *const words[] = {
        [FLOW_NEXT] = "",          [FLOW_BRANCH] = "branches to",
        [FLOW_JUMP] = "jumps to",  [FLOW_JUMP_INDIRECT] = "jumps indirectly",
        [FLOW_CALL] = "calls",     [FLOW_CALL_INDIRECT] = "calls indirectly",
        [FLOW_RETURN] = "returns", [FLOW_SYSCALL] = "system call",
        [FLOW_TRAP] = "traps",
    };
    say(text, "%s", words[instruction->flow]);
    if (instruction->target)
        say(text, " 0x%llx", (unsigned long long)instruction->target);
}

static void say_place(struct text *text, const struct instruction_memory *memory)
{
    static const char *const segments[] = {"", "fs:", "gs:"}, *const extends[] = {"", "uxtw(",
                                                                                  "sxtw("};
    say(text, "%s", segments[memory->segment]);
    if (memory->base != REGISTER_NONE)
        say_register(text, memory->base);
    if (memory->index != REGISTER_NONE) {
        say(text, "+%s", extends[memory->extend]);
        say_register(text, memory->index);
        say(text, "%s*%u", memory->extend ? ")" : "", memory->scale);
    }
    if (memory->is_relative)
        say(text, "0x%llx", (unsigned long long)memory->displacement);
    else if (memory->base == REGISTER_NONE)
        say(text, "%lld", (long long)memory->displacement);
    else if (memory->displacement)
        say(text, "%+lld", (long long)memory->displacement);
}

static void say_memory(struct text *text, const struct instruction_memory *memory)
{
    say(text, "%s%s%s%s %u at ", text->data[0] ? "; " : "", memory->reads ? "reads" : "",
        memory->reads && memory->writes ? " and " : "", memory->writes ? "writes" : "",
        memory->size_bytes);
    say_place(text, memory);
    say(text, "%s%s", memory->is_repeated ? " repeated" : "",
        memory->is_implicit ? " implicitly" : "");
}

static void check_rows(enum instruction_machine machine, const struct row *rows, size_t count)
{
    struct instruction_decoder *decoder;
    assert_null(instruction_decoder_create(machine, &decoder));
    for (size_t i = 0; i < count; i++) {
        struct instruction instruction;
        struct text text = {.machine = machine};
        assert_true(instruction_decode(decoder, (const uint8_t *)rows[i].code, rows[i].bytes,
                                       ADDRESS, &instruction));
        say_flow(&text, &instruction);
        if (instruction.is_compare)
            say(&text, "compare");
        say_set(&text, "reads", instruction.reads);
        say_set(&text, "writes", instruction.writes);
        for (unsigned j = 0; j < instruction.memory_count; j++)
            say_memory(&text, &instruction.memory[j]);
        if (strcmp(text.data, rows[i].meaning) != 0)
            fail_msg("%s: \"%s\", and not \"%s\"", rows[i].assembly, text.data, rows[i].meaning);
        assert_int_equal(instruction.length, rows[i].bytes);
    }
    instruction_decoder_destroy(decoder);
}

static void test_x86_64(void **state)
{
    (void)state;
    check_rows(INSTRUCTION_X86_64, x86_64, sizeof(x86_64) / sizeof(x86_64[0]));
}

static void test_arm64(void **state)
{
    (void)state;
    check_rows(INSTRUCTION_ARM64, arm64, sizeof(arm64) / sizeof(arm64[0]));
}

static void test_addresses(void **state)
{
    (void)state;
    const uint64_t registers[32] = {[1] = 0x1000, [2] = 0xfffffffffffffffe, [3] = 0x5fffffffe};
    const uint64_t bases[2] = {0x70000, 0x90000};
    struct instruction_memory memory = {
        .base = 1, .index = 2, .scale = 4, .displacement = 0x20, .size_bytes = 4};
    assert_int_equal(instruction_address(&memory, registers, bases), 0x1018);
    memory.index = 3;
    memory.extend = EXTEND_SXTW;
    assert_int_equal(instruction_address(&memory, registers, bases), 0x1018);
    memory.extend = EXTEND_UXTW;
    assert_int_equal(instruction_address(&memory, registers, bases), 0x1020 + 4 * 0xfffffffeull);
    memory.index = REGISTER_NONE;
    memory.segment = SEGMENT_GS;
    assert_int_equal(instruction_address(&memory, registers, bases), 0x91020);
}

/* mov eax, [rdi]; test eax, eax; ret: for a pc the instruction that ends there is found, and none
 * for a pc inside an instruction. */
static void test_before(void **state)
{
    static const uint8_t code[] = {0x8b, 0x07, 0x85, 0xc0, 0xc3};
    struct instruction_decoder *decoder;
    struct instruction found;
    (void)state;
    assert_null(instruction_decoder_create(INSTRUCTION_X86_64, &decoder));
    assert_true(instruction_before(decoder, code, sizeof(code), ADDRESS, ADDRESS + 2, &found));
    assert_int_equal(found.address, ADDRESS);
    assert_true(found.memory[0].reads);
    assert_true(instruction_before(decoder, code, sizeof(code), ADDRESS, ADDRESS + 5, &found));
    assert_int_equal(found.flow, FLOW_RETURN);
    assert_false(instruction_before(decoder, code, sizeof(code), ADDRESS, ADDRESS + 3, &found));
    assert_false(instruction_before(decoder, code, sizeof(code), ADDRESS, ADDRESS, &found));
    assert_false(instruction_before(decoder, code, sizeof(code), ADDRESS, ADDRESS + 6, &found));
    instruction_decoder_destroy(decoder);
}

static void test_bad_bytes(void **state)
{
    static const uint8_t bad[] = {0x06}, half[] = {0x8b};
    struct instruction_decoder *decoder;
    struct instruction found;
    char text[64];
    (void)state;
    assert_null(instruction_decoder_create(INSTRUCTION_X86_64, &decoder));
    assert_false(instruction_decode(decoder, bad, 1, ADDRESS, &found));
    assert_false(instruction_decode(decoder, half, 1, ADDRESS, &found));
    assert_false(instruction_decode(decoder, half, 0, ADDRESS, &found));
    assert_string_equal(instruction_text(decoder, bad, 1, ADDRESS, text, sizeof(text)), "(bad)");
    instruction_decoder_destroy(decoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86_64),    cmocka_unit_test(test_arm64),
        cmocka_unit_test(test_addresses), cmocka_unit_test(test_before),
        cmocka_unit_test(test_bad_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
