#include "steps/loops/code_paths.h"

#include <string.h>

#include "event/binary/elf_words.h"
#include "steps/loops/code_calls.h"
#include "steps/loops/code_pointer.h"
#include "steps/loops/code_slice.h"

#define MOST_DEPTH 24
#define MOST_CALLS 8 /* unoptimized `job->x` of a std::unique_ptr makes six */

static void find_path(struct finder *finder, const struct code_scope *scope, uint32_t node,
                      unsigned operand, struct code_path *ret);

static bool same_pointer(const struct pointer *a, const struct pointer *b)
{
    if (a->kind != b->kind || a->value != b->value || a->image != b->image || a->reg != b->reg ||
        a->function != b->function || a->node != b->node || a->is_element != b->is_element)
        return false;
    if (a->kind == POINTER_FOREIGN)
        return strcmp(a->name, b->name) == 0;
    return a->kind != POINTER_LOADED ||
           (a->path.elements == b->path.elements && code_path_is_same(&a->path, &b->path));
}

/* --- from a pointer to what it points at --- */

static void append_link(struct code_path *path, int64_t offset)
{
    if (path->root == CODE_UNKNOWN || path->root == CODE_ERRNO)
        return;
    if (path->links == CODE_PATH_LINKS)
        path->root = CODE_UNKNOWN;
    else
        path->offsets[path->links++] = offset;
}

/* The same of a word without a symbol, which nobody changes later. */
static bool resolve_word(const struct code_path *path, struct code_path *ret)
{
    uint64_t address;
    if (path->elements || !elf_word_is_constant(path->image->file, path->address) ||
        !elf_word_pointer(path->image->file, path->address, &address))
        return false;
    *ret = (struct code_path){.root = CODE_ADDRESS, .image = path->image, .address = address};
    return true;
}

/* A word that the dynamic linker fills is no variable: it has the address of one. */
static bool resolve_slot(const struct pointer *pointer, struct code_path *ret)
{
    const struct code_path *path = &pointer->path;
    bool is_word = path->root == CODE_ADDRESS && path->links == 0;
    const struct elf_slot *slot =
        is_word ? elf_slots_find(&path->image->slots, path->address) : NULL;
    if (!slot)
        return is_word && resolve_word(path, ret);
    if (slot->is_thread_local)
        return false;
    *ret = (struct code_path){.root = slot->is_defined ? CODE_ADDRESS : CODE_FOREIGN,
                              .image = path->image,
                              .name = slot->name,
                              .address = slot->is_defined ? slot->value : 0};
    return true;
}

/* x86-64: the first word behind fs_base is fs_base itself. */
static bool is_thread_pointer(const struct code_path *path)
{
    return path->root == CODE_THREAD && path->links == 0 && path->address == 0;
}

static void follow_pointer(const struct pointer *pointer, int64_t displacement,
                           struct code_path *ret)
{
    int64_t offset = (int64_t)((uint64_t)pointer->value + (uint64_t)displacement);
    *ret = (struct code_path){.image = pointer->image};
    switch (pointer->kind) {
    case POINTER_ADDRESS:
        ret->root = CODE_ADDRESS;
        ret->address = (uint64_t)offset;
        break;
    case POINTER_FOREIGN:
        ret->root = CODE_FOREIGN;
        ret->name = pointer->name;
        ret->address = (uint64_t)offset;
        break;
    case POINTER_STACK:
        ret->root = CODE_STACK;
        ret->slot = (struct code_slot){pointer->reg, offset};
        ret->function = pointer->function;
        ret->code = pointer->code;
        break;
    case POINTER_OBJECT:
        *ret = pointer->path;
        ret->image = pointer->image;
        ret->root = CODE_OBJECT;
        ret->function = pointer->function;
        ret->slot = (struct code_slot){pointer->reg, pointer->node};
        append_link(ret, offset);
        break;
    case POINTER_LOADED:
        if (is_thread_pointer(&pointer->path)) {
            *ret = pointer->path;
            ret->address = (uint64_t)offset;
        } else if (resolve_slot(pointer, ret)) {
            ret->address += (uint64_t)offset;
        } else {
            *ret = pointer->path;
            append_link(ret, offset);
        }
        break;
    case POINTER_THREAD:
        ret->root = CODE_THREAD;
        ret->address = (uint64_t)offset;
        break;
    case POINTER_MAPPED:
        ret->root = CODE_MAPPED;
        ret->address = (uint64_t)offset;
        break;
    case POINTER_ERRNO:
        ret->root = CODE_ERRNO;
        break;
    default:
        break;
    }
    ret->elements |= pointer->is_element ? UINT32_C(1) << ret->links : 0;
    ret->elements |= pointer->is_distant ? CODE_DISTANT : 0;
}

/* --- where a pointer comes from --- */

/* The function that the call executes, if its result can be followed; NULL. */
static const struct code_function *called_function(const struct finder *finder,
                                                   const struct code_scope *scope,
                                                   const struct code_target *target)
{
    struct code_library *library = finder->budget->library;
    const struct code_function *function =
        library && target->is_here && scope->depth < MOST_CALLS
            ? code_library_function(library, scope->function->image, target->address)
            : NULL;
    for (const struct code_scope *at = scope; function && at; at = at->caller)
        if (at->function == function) /* recursion */
            return NULL;
    return function && function->start == target->address ? function : NULL;
}

static void take_result(struct finder *finder, const struct code_scope *scope, uint32_t node,
                        struct pointer *ret);

/* Whether the pointer leads to the stack of `function`, or counts from a word there, or from what
 * one of its calls returned. That says nothing when the function has ended. */
static bool is_of_function(const struct pointer *pointer, const struct code_function *function)
{
    bool is_local = pointer->kind == POINTER_STACK || pointer->kind == POINTER_OBJECT;
    if (pointer->kind == POINTER_LOADED)
        return code_path_is_local(&pointer->path) && pointer->path.function == function;
    return is_local && pointer->function == function;
}

/* The pointer that all ways through a function return. */
static void find_returned(struct finder *finder, const struct code_scope *called,
                          struct pointer *ret)
{
    bool is_first = true;
    for (uint32_t i = 0; i < called->function->nodes.length; i++) {
        struct pointer pointer = {0};
        const struct instruction *at = &called->function->nodes.data[i];
        bool jumps =
            code_function_is_open(called->function, i) || /* to another function, which returns */
            (at->flow == FLOW_JUMP && called->function->next[i][0] == CODE_NONE);
        if (at->flow != FLOW_RETURN && !jumps)
            continue;
        if (jumps)
            take_result(finder, called, i, &pointer);
        else
            code_pointer_find(finder, called, i, 0, &pointer);
        bool is_own = is_of_function(&pointer, called->function);
        if (pointer.kind == POINTER_UNKNOWN || is_own ||
            (!is_first && !same_pointer(ret, &pointer))) {
            *ret = (struct pointer){0};
            return;
        }
        *ret = pointer;
        is_first = false;
    }
}

/* Memory that the call maps, unless the code says that it is the process's own (MAP_PRIVATE). */
static void take_mapping(struct finder *finder, const struct code_scope *scope, uint32_t node,
                         const struct code_target *target, struct pointer *ret)
{
    enum { KIND = 3, PRIVATE = 2, ARM64_FLAGS = 3 };
    struct pointer flags = {0};
    bool has_flags = strncmp(target->name, "mmap", 4) == 0;
    if (has_flags)
        code_pointer_find(finder, scope, node,
                          scope->function->is_arm64 ? ARM64_FLAGS : REGISTER_RCX, &flags);
    if (flags.kind != POINTER_ADDRESS || (flags.value & KIND) != PRIVATE)
        *ret = (struct pointer){.kind = POINTER_MAPPED, .image = scope->function->image};
}

/* A variable of the thread, which a library asks the dynamic linker for ("ELF Handling For
 * Thread-Local Storage", general and local dynamic model, x86-64). The argument points to two
 * words; the second one is the offset in the file's block, in the file itself if the variable has
 * no symbol. */
static void take_thread_local(struct finder *finder, const struct code_scope *scope, uint32_t node,
                              struct pointer *ret)
{
    struct pointer words = {0};
    uint64_t offset, value;
    const struct code_image *image = scope->function->image;
    struct elf_file *file = image->file;
    if (!scope->function->is_arm64)
        code_pointer_find(finder, scope, node, REGISTER_RDI, &words);
    if (words.kind != POINTER_ADDRESS)
        return;
    const struct elf_slot *slot = elf_slots_find(&image->slots, (uint64_t)words.value);
    if (slot && slot->is_thread_local && slot->is_defined)
        value = slot->value;
    else if (slot || !elf_file_offset(file, (uint64_t)words.value + sizeof(value), &offset) ||
             !elf_file_read(file, offset, sizeof(value), &value))
        return;
    *ret = (struct pointer){.kind = POINTER_THREAD,
                            .value = (int64_t)(value - elf_file_thread_block(file)),
                            .image = image};
}

/* Whether `reg` has at `node` what the call at `call` returned. `*ret`: plus how much. */
static bool is_result_of(struct finder *finder, const struct code_scope *scope, uint32_t node,
                         uint8_t reg, uint32_t call, int64_t *ret)
{
    enum { MOST_COPIES = 4 };
    struct code_reach reach;
    *ret = 0;
    for (unsigned i = 0; i < MOST_COPIES && reg != REGISTER_NONE; i++) {
        code_reach_register(finder->budget, scope, true, node, reg, &reach);
        if (reach.count != 1 || reach.enters || reach.is_cut)
            return false;
        node = reach.found[0];
        if (node == call)
            return reg == 0;
        const struct instruction *at = &scope->function->nodes.data[node];
        if (!at->is_sum && (!at->is_move || at->memory_count))
            return false;
        *ret += at->is_sum ? at->addend : 0;
        reg = register_lone_general(at->reads);
    }
    return false;
}

/* A function of another file made an object, and the pointer to it is then stored in a variable:
 * `device = malloc(…); device->is_ready = 0`. Both name the same. */
static void take_new_object(struct finder *finder, const struct code_scope *scope, uint32_t call,
                            struct pointer *ret)
{
    const struct code_function *function = scope->function;
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        const struct instruction *at = &function->nodes.data[i];
        const struct instruction_memory *memory = &at->memory[0];
        struct code_path path;
        int64_t added;
        /* A library finds its variable by a pointer from the dynamic linker's table. */
        bool names_variable =
            memory->is_relative || memory->displacement == 0 || function->is_arm64;
        if (!at->is_move || at->memory_count != 1 || !memory->writes || memory->is_implicit ||
            memory->size_bytes != 8 || !names_variable ||
            !is_result_of(finder, scope, i, register_lone_general(at->reads), call, &added))
            continue;
        find_path(finder, scope, i, 0, &path);
        if ((path.root == CODE_ADDRESS || path.root == CODE_FOREIGN) && path.links == 0 &&
            !path.elements) {
            *ret = (struct pointer){
                .kind = POINTER_LOADED, .value = -added, .image = function->image, .path = path};
            return;
        }
    }
}

/* What a called function returned. */
static void take_result(struct finder *finder, const struct code_scope *scope, uint32_t node,
                        struct pointer *ret)
{
    struct code_target target;
    if (!code_call_target(scope->function, node, &target))
        return;
    if (target.name && strcmp(target.name, "__errno_location") == 0) {
        ret->kind = POINTER_ERRNO;
        return;
    }
    if (target.name && strcmp(target.name, "__tls_get_addr") == 0) {
        take_thread_local(finder, scope, node, ret);
        return;
    }
    bool is_mapping = code_is_mapping(target.name);
    if (is_mapping)
        take_mapping(finder, scope, node, &target, ret);
    const struct code_function *function = called_function(finder, scope, &target);
    struct code_scope called = code_scope_of_call(scope, node, function);
    bool is_call = code_is_call(&scope->function->nodes.data[node]);
    if (function && !is_mapping)
        find_returned(finder, &called, ret);
    else if (!target.is_here && is_call && !is_mapping)
        take_new_object(finder, scope, node, ret);
    if (ret->kind == POINTER_UNKNOWN && is_call)
        *ret = (struct pointer){.kind = POINTER_OBJECT,
                                .reg = REGISTER_NONE,
                                .node = node,
                                .image = scope->function->image,
                                .function = scope->function};
}

/* What was stored last in a word of the stack: always the same. */
static void find_stored(struct finder *finder, const struct code_scope *scope, uint32_t node,
                        struct code_slot slot, struct pointer *ret)
{
    struct code_reach stores;
    code_reach_slot(finder->budget, scope, true, node, slot, &stores);
    for (uint32_t i = 0; i < stores.count && !stores.is_cut; i++) {
        const struct instruction *at = &scope->function->nodes.data[stores.found[i]];
        struct pointer pointer = {0};
        uint8_t reg = register_lone_general(at->reads);
        if (at->is_move && reg != REGISTER_NONE)
            code_pointer_find(finder, scope, stores.found[i], reg, &pointer);
        if (pointer.kind == POINTER_UNKNOWN || (i && !same_pointer(ret, &pointer))) {
            *ret = (struct pointer){0};
            return;
        }
        *ret = pointer;
    }
}

static struct pointer stack_pointer(const struct code_scope *scope, uint32_t node, uint8_t reg)
{
    return (struct pointer){.kind = POINTER_STACK,
                            .reg = reg,
                            .code = scope->function->nodes.data[node].address,
                            .image = scope->function->image,
                            .function = scope->function};
}

static void note_sighting(struct pointer *pointer, const struct code_scope *scope, uint32_t node,
                          const struct code_slot *slot, bool is_slot)
{
    struct code_path *path = &pointer->path;
    if (pointer->kind == POINTER_OBJECT && path->seen_count < CODE_SIGHTINGS)
        path->seen[path->seen_count++] = (struct code_sighting){
            scope->function->nodes.data[node].address, pointer->value, *slot, is_slot};
}

/* What is in a word of the stack; if it is not always the same, or one of several words, it is a
 * variable itself. */
static void find_in_slot(struct finder *finder, const struct code_scope *scope, uint32_t node,
                         const struct code_path *path, struct pointer *ret)
{
    for (; scope && scope->function != path->function; scope = scope->caller)
        node = scope->call;
    if (scope && !path->elements)
        find_stored(finder, scope, node, path->slot, ret);
    if (scope)
        note_sighting(ret, scope, node, &path->slot, true);
    if (scope && ret->kind == POINTER_UNKNOWN)
        *ret = (struct pointer){
            .kind = POINTER_LOADED, .image = scope->function->image, .path = *path};
}

static void find_loaded(struct finder *finder, const struct code_scope *scope, uint32_t node,
                        struct pointer *ret)
{
    struct code_path path;
    find_path(finder, scope, node, 0, &path);
    if (path.root == CODE_STACK && path.links == 0)
        find_in_slot(finder, scope, node, &path, ret);
    else if (path.root != CODE_UNKNOWN)
        *ret = (struct pointer){.kind = POINTER_LOADED, .image = path.image, .path = path};
}

/* arm64: mrs xN, tpidr_el0 (Arm ARM, C6.2 and D23). */
static bool reads_thread_pointer(const struct code_scope *scope, const struct instruction *at)
{
    enum { BYTES = 4, REGISTER = 0x1f };
    uint8_t code[BYTES];
    uint64_t offset;
    const struct elf_file *file = scope->function->image->file;
    if (!scope->function->is_arm64 || at->memory_count ||
        !elf_file_offset(file, at->address, &offset) || !elf_file_read(file, offset, BYTES, code))
        return false;
    uint32_t word =
        code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
    return (word & ~(uint32_t)REGISTER) == 0xd53bd040;
}

/* By the instruction that gave the register its value. */
static void take_given(struct finder *finder, const struct code_scope *scope, uint32_t node,
                       uint8_t given, struct pointer *ret)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    uint8_t reg = register_lone_general(at->reads);
    bool copies = at->is_sum || (at->is_move && at->memory_count == 0);
    *ret = (struct pointer){0};
    if (code_is_call(at) && given != 0) { /* not the result: rax, x0 */
        return;
    } else if (reads_thread_pointer(scope, at)) {
        *ret = (struct pointer){.kind = POINTER_THREAD, .image = scope->function->image};
    } else if (code_is_call(at)) {
        take_result(finder, scope, node, ret);
    } else if (at->is_move && at->memory_count == 1 && at->memory[0].reads &&
               at->memory[0].size_bytes == 8 && !at->memory[0].is_implicit) {
        find_loaded(finder, scope, node, ret);
    } else if (copies && reg != REGISTER_NONE) {
        code_pointer_find(finder, scope, node, reg, ret);
        ret->value += ret->kind != POINTER_UNKNOWN && at->is_sum ? at->addend : 0;
        if (at->is_sum)
            code_pointer_take_array(scope->function->image, at->addend, ret);
    } else if (code_adds_memory(scope->function, at)) {
        struct pointer loaded = {0};
        find_loaded(finder, scope, node, &loaded);
        code_pointer_find_added(finder, scope, node, &loaded, ret);
    } else if (code_adds(scope->function, at)) {
        code_pointer_find_element(finder, scope, node, at->reads, ret);
    } else if (copies && !at->reads && (at->is_sum || at->has_immediate)) {
        *ret = (struct pointer){.kind = POINTER_ADDRESS,
                                .value = at->is_sum ? at->addend : at->immediate,
                                .image = scope->function->image};
    }
}

/* A register as it was when the function began: the caller gave it. */
static void take_from_caller(struct finder *finder, const struct code_scope *scope, uint8_t reg,
                             struct pointer *ret)
{
    const struct code_function *function = scope->function;
    if (scope->caller && scope->is_handed_on) {
        if (reg == scope->handed_as)
            code_pointer_find(finder, scope->caller, scope->call, scope->handed_on, ret);
    } else if (scope->caller && (code_is_argument(function, reg) || code_is_kept(function, reg))) {
        code_pointer_find(finder, scope->caller, scope->call, reg, ret);
    } else if (code_is_argument(function, reg)) {
        *ret = (struct pointer){
            .kind = POINTER_OBJECT, .reg = reg, .image = function->image, .function = function};
    }
}

/* mov rbp, rsp; add x29, sp, 16 */
static bool makes_frame(const struct code_scope *scope, uint32_t node, uint8_t reg)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    bool is_arm64 = scope->function->is_arm64;
    return reg == code_frame_pointer(is_arm64) && (is_arm64 || at->is_move) && !at->memory_count &&
           at->reads == REGISTER_BIT(code_stack_pointer(is_arm64));
}

/* add rbx, 40: from one element of an array to the next one. */
static bool steps_on(const struct code_scope *scope, uint32_t node, uint8_t reg)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    return at->is_sum && at->reads == REGISTER_BIT(reg) && (at->writes & REGISTER_BIT(reg));
}

static void find_given(struct finder *finder, const struct code_scope *scope, uint32_t node,
                       uint8_t reg, struct pointer *ret)
{
    struct code_reach reach;
    code_reach_register(finder->budget, scope, true, node, reg, &reach);
    if (reach.is_cut)
        return;
    if (reach.enters || !reach.count)
        take_from_caller(finder, scope, reg, ret);
    if (reach.enters && ret->kind == POINTER_UNKNOWN)
        return;
    bool is_element = false, is_first = !reach.enters;
    for (uint32_t i = 0; i < reach.count; i++) {
        struct pointer given;
        if (reach.count > 1 && steps_on(scope, reach.found[i], reg)) {
            is_element = true;
            continue;
        }
        take_given(finder, scope, reach.found[i], reg, &given);
        /* Words of the stack are told by the frame pointer itself where code has one. */
        if (given.kind == POINTER_STACK && makes_frame(scope, reach.found[i], reg))
            given = stack_pointer(scope, node, reg);
        if (given.kind == POINTER_UNKNOWN || (!is_first && !same_pointer(ret, &given))) {
            *ret = (struct pointer){0};
            return;
        }
        *ret = given;
        is_first = false;
    }
    if (is_element && ret->kind != POINTER_ADDRESS && ret->kind != POINTER_FOREIGN)
        *ret = (struct pointer){0}; /* a list, or what a loop searches */
    ret->is_element |= is_element;
}

void code_pointer_find(struct finder *finder, const struct code_scope *scope, uint32_t node,
                       uint8_t reg, struct pointer *ret)
{
    *ret = (struct pointer){0};
    if (finder->depth == MOST_DEPTH || reg >= REGISTER_FLAGS)
        return;
    finder->depth++;
    if (reg == code_stack_pointer(scope->function->is_arm64))
        *ret = stack_pointer(scope, node, reg);
    else
        find_given(finder, scope, node, reg, ret);
    note_sighting(ret, scope, node, &(struct code_slot){reg, 0}, false);
    finder->depth--;
}

/* --- paths --- */

static void find_path(struct finder *finder, const struct code_scope *scope, uint32_t node,
                      unsigned operand, struct code_path *ret)
{
    const struct instruction_memory *memory = &scope->function->nodes.data[node].memory[operand];
    struct pointer pointer = {0};
    *ret = (struct code_path){0};
    if (memory->is_repeated)
        return;
    if (memory->index != REGISTER_NONE && memory->base != REGISTER_NONE) {
        code_pointer_find_element(finder, scope, node,
                                  REGISTER_BIT(memory->base) |
                                      (memory->scale == 1 ? REGISTER_BIT(memory->index) : 0),
                                  &pointer);
    } else if (memory->index != REGISTER_NONE) {
        pointer = (struct pointer){
            .kind = POINTER_ADDRESS, .image = scope->function->image, .is_element = true};
    } else if (memory->base != REGISTER_NONE)
        code_pointer_find(finder, scope, node, memory->base, &pointer);
    else
        pointer = (struct pointer){.kind = POINTER_ADDRESS, .image = scope->function->image};
    if (memory->base != REGISTER_NONE && memory->segment == SEGMENT_NONE &&
        code_pointer_take_array(scope->function->image, memory->displacement, &pointer))
        pointer.value = 0;
    follow_pointer(&pointer, memory->displacement, ret);
    if (memory->segment != SEGMENT_NONE)
        ret->root = memory->segment == SEGMENT_FS && ret->root == CODE_ADDRESS && !ret->links
                        ? CODE_THREAD
                        : CODE_UNKNOWN;
    ret->size_bytes = memory->size_bytes;
}

void code_path_find(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                    unsigned operand, struct code_path *ret)
{
    struct finder finder = {.budget = budget};
    find_path(&finder, scope, node, operand, ret);
}

bool code_path_find_stored(struct code_budget *budget, const struct code_scope *scope,
                           uint32_t node, struct code_path *ret)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    uint64_t values = at->reads;
    if (!at->is_move || at->memory_count != 1 || !at->memory[0].writes ||
        at->memory[0].size_bytes != 8)
        return false;
    uint8_t reg = register_lone_general(values);
    if (reg == REGISTER_NONE)
        return false;
    code_path_find_pointed(budget, scope, node, reg, ret);
    return ret->root != CODE_UNKNOWN;
}

void code_path_find_pointed(struct code_budget *budget, const struct code_scope *scope,
                            uint32_t node, uint8_t reg, struct code_path *ret)
{
    struct finder finder = {.budget = budget};
    struct pointer pointer;
    code_pointer_find(&finder, scope, node, reg, &pointer);
    follow_pointer(&pointer, 0, ret);
}
