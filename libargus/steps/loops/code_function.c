#include "steps/loops/code_function.h"

#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "steps/loops/code_calls.h"
#include "steps/loops/code_ends.h"
#include "steps/loops/code_tables.h"

#define MOST_BYTES 65536u /* of a function */

/* --- where instructions go on --- */

uint32_t code_function_node(const struct code_function *function, uint64_t address)
{
    size_t behind;
    const struct instruction *nodes = function->nodes.data;
    LOWER_BOUND(behind, function->nodes.length, nodes[behind].address <= address);
    if (!behind || address - nodes[behind - 1].address >= nodes[behind - 1].length)
        return CODE_NONE;
    return (uint32_t)(behind - 1);
}

/* A jump into the middle of an instruction leads to none. */
static uint32_t node_at(const struct code_function *function, uint64_t address)
{
    uint32_t node = code_function_node(function, address);
    return node != CODE_NONE && function->nodes.data[node].address == address ? node : CODE_NONE;
}

/* The first way of the jump at `node`, or where it would be. */
static size_t first_way(const struct code_function *function, uint32_t node)
{
    size_t behind;
    const struct code_way *ways = function->ways.data;
    LOWER_BOUND(behind, function->ways.length, ways[behind].from < node);
    return behind;
}

bool code_function_way(const struct code_function *function, uint32_t node, uint32_t k,
                       struct code_way *ret)
{
    const struct instruction *at = &function->nodes.data[node];
    if (at->flow == FLOW_JUMP_INDIRECT && function->ways.length) {
        size_t way = first_way(function, node) + k;
        if (way >= function->ways.length || function->ways.data[way].from != node)
            return false;
        *ret = function->ways.data[way];
        return true;
    }
    bool is_branch = at->flow == FLOW_BRANCH;
    if (k > (is_branch ? 1u : 0u) || (!is_branch && function->next[node][0] == CODE_NONE))
        return false;
    bool jumps = k == 1 || at->flow == FLOW_JUMP;
    *ret = (struct code_way){.from = node,
                             .to = function->next[node][k],
                             .address = jumps ? at->target : at->address + at->length};
    return true;
}

bool code_function_is_open(const struct code_function *function, uint32_t node)
{
    struct code_way way;
    return function->nodes.data[node].flow == FLOW_JUMP_INDIRECT &&
           !code_function_way(function, node, 0, &way);
}

static void set_next(struct code_function *function, uint32_t node)
{
    const struct instruction *at = &function->nodes.data[node];
    uint32_t *next = function->next[node];
    uint32_t behind = node + 1 < function->nodes.length ? node + 1 : CODE_NONE;
    next[0] = next[1] = CODE_NONE;
    switch (at->flow) {
    case FLOW_BRANCH:
        next[0] = behind;
        next[1] = node_at(function, at->target);
        break;
    case FLOW_JUMP:
        next[0] = node_at(function, at->target);
        /* Go: the stack has grown, and the function begins again */
        if (function->is_go && next[0] == 0)
            next[0] = CODE_NONE;
        break;
    case FLOW_JUMP_INDIRECT:
    case FLOW_RETURN:
    case FLOW_TRAP:
        break;
    case FLOW_CALL:
    case FLOW_CALL_INDIRECT:
        next[0] = code_fails(function, at) ? CODE_NONE : behind;
        break;
    default:
        next[0] = behind;
        break;
    }
}

/* The nodes to which branches and jumps lead; NULL without memory. The caller frees it. */
static bool *find_targets(const struct code_function *function)
{
    bool *is_target = calloc(function->nodes.length, sizeof(*is_target));
    for (size_t i = 0; is_target && i < function->nodes.length; i++) {
        uint8_t flow = function->nodes.data[i].flow;
        uint32_t to = function->next[i][flow == FLOW_BRANCH];
        if ((flow == FLOW_BRANCH || flow == FLOW_JUMP) && to != CODE_NONE)
            is_target[to] = true;
    }
    return is_target;
}

/* Calls from which the program does not come back. To find that out takes a look at the function
 * that is called, and matters only where something else leads to the code behind the call. */
static void stop_at_ends(struct code_function *function, const bool *is_target)
{
    bool has_jumps = code_tables_has_jumps(function);
    for (size_t i = 0; i < function->nodes.length; i++) {
        uint32_t *next = function->next[i];
        if (code_is_call(&function->nodes.data[i]) && next[0] != CODE_NONE &&
            code_ends(function, &function->nodes.data[i], has_jumps || is_target[next[0]]))
            next[0] = CODE_NONE;
    }
}

/* --- what is never executed: padding between a jump and a loop would seem to be a way into the
 * loop --- */

/* nop in its forms, among them xchg ax, ax. */
static bool is_padding(const struct instruction *at)
{
    uint64_t rax = REGISTER_BIT(REGISTER_RAX);
    bool exchanges = at->reads == rax && at->writes == rax && !at->is_move && at->length == 2;
    return at->flow == FLOW_NEXT && !at->memory_count && ((!at->reads && !at->writes) || exchanges);
}

static void mark_live(const struct code_function *function, bool *live, uint32_t *open,
                      uint32_t node)
{
    uint32_t count = 0;
    open[count++] = node;
    live[node] = true;
    while (count) {
        struct code_way way;
        uint32_t at = open[--count];
        for (uint32_t k = 0; code_function_way(function, at, k, &way); k++) {
            if (way.to == CODE_NONE || live[way.to])
                continue;
            live[way.to] = true;
            open[count++] = way.to;
        }
    }
}

static void drop_ways(struct code_function *function, const bool *live)
{
    size_t kept = 0;
    for (size_t i = 0; i < function->ways.length; i++)
        if (live[function->ways.data[i].from])
            function->ways.data[kept++] = function->ways.data[i];
    function->ways.length = kept;
}

/* Where a jump goes through a table that is not known, what follows a jump may be one of its
 * targets. */
static bool cut_dead(struct code_function *function)
{
    size_t count = function->nodes.length;
    bool has_table = false, *live = calloc(count, sizeof(*live));
    uint32_t *open = calloc(count, sizeof(*open));
    bool good = live && open;
    for (size_t i = 0; i < count; i++)
        has_table |= code_function_is_open(function, (uint32_t)i);
    for (uint32_t i = 0; good && i < count; i++)
        if (i == 0 || (has_table && !live[i] && !is_padding(&function->nodes.data[i])))
            mark_live(function, live, open, i);
    for (size_t i = 0; good && i < count; i++)
        if (!live[i])
            function->next[i][0] = function->next[i][1] = CODE_NONE;
    if (good)
        drop_ways(function, live);
    free(live);
    free(open);
    return good;
}

static void set_before(struct code_function *function)
{
    uint32_t count = (uint32_t)function->nodes.length;
    struct code_way way;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; code_function_way(function, i, k, &way); k++)
            if (way.to != CODE_NONE)
                function->first_before[way.to + 1]++;
    for (uint32_t i = 0; i < count; i++)
        function->first_before[i + 1] += function->first_before[i];
    /* From the last one on: each place is filled from its end to its beginning. */
    for (uint32_t i = count; i-- > 0;)
        for (uint32_t k = 0; code_function_way(function, i, k, &way); k++)
            if (way.to != CODE_NONE)
                function->before[--function->first_before[way.to + 1]] = i;
    /* Now each place's end is its beginning: shifted by one. */
    for (uint32_t i = 0; i < count; i++)
        function->first_before[i] = function->first_before[i + 1];
}

static bool connect(struct code_function *function)
{
    size_t count = function->nodes.length, edges = 0;
    function->next = calloc(count, sizeof(*function->next));
    function->first_before = calloc(count + 1, sizeof(*function->first_before));
    if (!function->next || !function->first_before)
        return false;
    for (uint32_t i = 0; i < count; i++)
        set_next(function, i);
    bool *is_target = find_targets(function);
    if (!is_target)
        return false;
    stop_at_ends(function, is_target);
    code_tables_find(function, is_target);
    free(is_target);
    if (!cut_dead(function))
        return false;
    for (uint32_t i = 0; i < count; i++)
        edges += (function->next[i][0] != CODE_NONE) + (function->next[i][1] != CODE_NONE);
    for (size_t i = 0; i < function->ways.length; i++)
        edges += function->ways.data[i].to != CODE_NONE;
    function->before = calloc(edges + 1, sizeof(*function->before));
    if (!function->before)
        return false;
    set_before(function);
    function->first_before[count] = (uint32_t)edges;
    return true;
}

/* --- its bytes --- */

static bool decode(struct code_function *function, const uint8_t *code)
{
    for (uint64_t at = 0; at < function->bytes;) {
        struct instruction instruction;
        if (!instruction_decode(function->decoder, code + at, function->bytes - at,
                                function->start + at, &instruction) ||
            !vec_push(&function->nodes, instruction))
            return false;
        at += instruction.length;
    }
    return function->nodes.length > 0;
}

static bool read_and_decode(struct code_function *function)
{
    uint64_t offset;
    uint8_t *code = malloc(function->bytes + 1);
    bool good = code && elf_file_offset(function->image->file, function->start, &offset) &&
                elf_file_read(function->image->file, offset, function->bytes, code) &&
                decode(function, code);
    free(code);
    return good;
}

/* False: how it gets arguments is not known. */
static bool find_convention(struct code_function *function)
{
    enum elf_go_code code =
        function->is_arm64 ? ELF_NOT_GO : elf_file_go_code(function->image->file, function->start);
    function->is_go = code == ELF_GO_REGISTERS;
    return code != ELF_GO_UNKNOWN;
}

bool code_function_init(struct code_function *function, const struct code_image *image,
                        struct instruction_decoder *decoder, uint64_t address)
{
    *function = (struct code_function){
        .image = image,
        .decoder = decoder,
        .is_arm64 = instruction_decoder_machine(decoder) == INSTRUCTION_ARM64,
    };
    unsigned machine = function->is_arm64 ? ELF_MACHINE_AARCH64 : ELF_MACHINE_X86_64;
    bool good = elf_file_machine(image->file) == machine &&
                elf_file_function_range(image->file, address, &function->start, &function->bytes) &&
                function->bytes <= MOST_BYTES && find_convention(function) &&
                read_and_decode(function) && connect(function);
    if (!good)
        code_function_deinit(function);
    return good;
}

void code_function_deinit(struct code_function *function)
{
    vec_deinit(&function->nodes);
    vec_deinit(&function->ways);
    free(function->next);
    free(function->first_before);
    free(function->before);
    *function = (struct code_function){0};
}

/* --- how functions are called --- */

static const uint8_t system_v[CODE_ARGUMENTS] = {REGISTER_RDI, REGISTER_RSI, REGISTER_RDX,
                                                 REGISTER_RCX, REGISTER_R8,  REGISTER_R9};
static const uint8_t go[CODE_ARGUMENTS] = {REGISTER_RAX, REGISTER_RBX, REGISTER_RCX,
                                           REGISTER_RDI, REGISTER_RSI, REGISTER_R8};

uint64_t code_clobbered(const struct code_function *function)
{
    enum { GO_CONTEXT = 14 }; /* r14: the goroutine */
    uint64_t vectors = ~(REGISTER_BIT(REGISTER_VECTOR) - 1), flags = REGISTER_BIT(REGISTER_FLAGS);
    if (function->is_arm64)
        return 0x3ffff | REGISTER_BIT(REGISTER_X30) | flags | vectors;
    if (function->is_go)
        return (0xffff & ~(REGISTER_BIT(REGISTER_RSP) | REGISTER_BIT(REGISTER_RBP) |
                           REGISTER_BIT(GO_CONTEXT))) |
               flags | vectors;
    return REGISTER_BIT(REGISTER_RAX) | REGISTER_BIT(REGISTER_RCX) | REGISTER_BIT(REGISTER_RDX) |
           REGISTER_BIT(REGISTER_RSI) | REGISTER_BIT(REGISTER_RDI) |
           (0xfull << REGISTER_R8) /* r8 … r11 */ | flags | vectors;
}

uint8_t code_argument(const struct code_function *function, unsigned argument)
{
    if (function->is_arm64)
        return (uint8_t)argument;
    return function->is_go ? go[argument] : system_v[argument];
}

bool code_is_argument(const struct code_function *function, uint8_t reg)
{
    if (function->is_arm64)
        return reg < 8;
    for (unsigned i = 0; i < CODE_ARGUMENTS; i++)
        if (reg == code_argument(function, i))
            return true;
    return false;
}

bool code_is_kept(const struct code_function *function, uint8_t reg)
{
    return reg < REGISTER_FLAGS && reg != code_stack_pointer(function->is_arm64) &&
           !(code_clobbered(function) & REGISTER_BIT(reg));
}

uint8_t code_stack_pointer(bool is_arm64)
{
    return is_arm64 ? REGISTER_X31 : REGISTER_RSP;
}

uint8_t code_frame_pointer(bool is_arm64)
{
    return is_arm64 ? 29 : REGISTER_RBP;
}

/* The first byte of the operation, behind the prefixes: operand size, and REX. */
static uint8_t operation_of(const uint8_t *code, unsigned length)
{
    enum { OPERAND_SIZE = 0x66, REX = 0x40, REX_MASK = 0xf0 };
    unsigned at = 0;
    while (at + 1 < length && (code[at] == OPERAND_SIZE || (code[at] & REX_MASK) == REX))
        at++;
    return code[at];
}

enum { ADD_TO = 0x01, ADD = 0x03, LEA = 0x8d, LONGEST = 16 }; /* operations of x86-64 */

/* False: the file does not have the instruction's bytes. `code` has room for the longest one. */
static bool read_code(const struct code_function *function, const struct instruction *at,
                      uint8_t *code)
{
    uint64_t offset;
    const struct elf_file *file = function->image->file;
    return at->length && at->length <= LONGEST && elf_file_offset(file, at->address, &offset) &&
           elf_file_read(file, offset, at->length, code);
}

bool code_adds(const struct code_function *function, const struct instruction *at)
{
    enum { ARM64_ADD = 0x0b, ARM64_MASK = 0x7f };
    uint8_t code[LONGEST];
    uint64_t general = at->reads & (REGISTER_BIT(REGISTER_FLAGS) - 1);
    if (at->memory_count || at->flow != FLOW_NEXT || !(general & (general - 1)) ||
        !read_code(function, at, code))
        return false;
    if (function->is_arm64)
        return (code[3] & ARM64_MASK) == ARM64_ADD;
    uint8_t operation = operation_of(code, at->length);
    return operation == ADD_TO || operation == ADD || operation == LEA;
}

bool code_adds_memory(const struct code_function *function, const struct instruction *at)
{
    uint8_t code[LONGEST];
    const struct instruction_memory *memory = &at->memory[0];
    return !function->is_arm64 && at->memory_count == 1 && memory->reads && !memory->writes &&
           !memory->is_implicit && memory->size_bytes == 8 && at->flow == FLOW_NEXT &&
           register_lone_general(at->writes) == register_lone_general(at->reads) &&
           read_code(function, at, code) && operation_of(code, at->length) == ADD;
}
