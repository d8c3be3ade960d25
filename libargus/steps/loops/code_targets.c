#include "steps/loops/code_targets.h"

#include <string.h>

#include "event/binary/elf_words.h"
#include "steps/loops/code_writers.h"

/* --- the word that has the address --- */

static uint8_t called_register(const struct code_scope *scope, const struct instruction *at)
{
    uint64_t registers = at->reads & (REGISTER_BIT(REGISTER_FLAGS) - 1) &
                         ~REGISTER_BIT(code_stack_pointer(scope->function->is_arm64));
    return registers && !(registers & (registers - 1)) ? (uint8_t)__builtin_ctzll(registers)
                                                       : REGISTER_NONE;
}

/* The word that a pointer was loaded from, by what it points to. */
static bool word_of(const struct code_path *pointed, struct code_path *ret)
{
    *ret = *pointed;
    if (pointed->links == 0 || pointed->offsets[pointed->links - 1] != 0)
        return false;
    ret->links--;
    return true;
}

/* `*ret_function`: where the pointer leads, if the code says so itself; its root is else
 * CODE_UNKNOWN. False: the code does not tell, or only that it is one word of an array. */
static bool find_word(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                      struct code_path *ret, struct code_path *ret_function)
{
    struct code_path pointed;
    const struct instruction *at = &scope->function->nodes.data[node];
    *ret_function = (struct code_path){.root = CODE_UNKNOWN};
    if (at->memory_count && at->memory[0].reads) {
        code_path_find(budget, scope, node, 0, ret);
        return ret->root != CODE_UNKNOWN && !ret->elements;
    }
    uint8_t reg = called_register(scope, at);
    if (reg == REGISTER_NONE)
        return false;
    code_path_find_pointed(budget, scope, node, reg, &pointed);
    if (pointed.elements)
        return false;
    if (pointed.root == CODE_ADDRESS && pointed.links == 0)
        *ret_function = pointed;
    return ret_function->root == CODE_ADDRESS || word_of(&pointed, ret);
}

/* --- the pointers in a word --- */

static void add_target(struct code_targets *ret, const struct code_image *image, uint64_t address)
{
    for (uint32_t i = 0; i < ret->count; i++)
        if (ret->all[i].image == image && ret->all[i].address == address)
            return;
    if (ret->count == CODE_TARGETS_MAX) {
        ret->is_whole = false;
        return;
    }
    ret->all[ret->count].image = image;
    ret->all[ret->count++].address = address;
}

static bool is_variable(const struct code_path *word)
{
    return word->root == CODE_ADDRESS && word->links == 0;
}

/* What the word begins with, and what code stores there. */
static void find_values(struct code_budget *budget, const struct code_path *word,
                        struct code_targets *ret)
{
    struct code_pointers stored;
    uint64_t address;
    if (is_variable(word) && elf_word_pointer(word->image->file, word->address, &address))
        add_target(ret, word->image, address);
    if (is_variable(word) && elf_word_is_constant(word->image->file, word->address))
        return;
    code_writers_find_pointers(budget, word, &stored);
    ret->is_whole &= !stored.is_cut;
    for (uint32_t i = 0; i < stored.count; i++)
        add_target(ret, stored.all[i].image, stored.all[i].address);
}

/* The word is behind a pointer: of each table that this may point to, the function there. */
static void find_in_tables(struct code_budget *budget, const struct code_path *word,
                           struct code_targets *ret)
{
    struct code_targets tables = {.is_whole = true};
    struct code_path pointer = *word;
    uint64_t function;
    pointer.links--;
    find_values(budget, &pointer, &tables);
    ret->is_whole &= tables.is_whole;
    for (uint32_t i = 0; i < tables.count; i++) {
        const struct elf_file *file = tables.all[i].image->file;
        uint64_t place = tables.all[i].address + (uint64_t)word->offsets[word->links - 1];
        if (elf_word_is_constant(file, place) && elf_word_pointer(file, place, &function))
            add_target(ret, tables.all[i].image, function);
        else
            ret->is_whole = false;
    }
}

void code_targets_find(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                       struct code_targets *ret)
{
    struct code_path word, function;
    *ret = (struct code_targets){.is_whole = true};
    if (!find_word(budget, scope, node, &word, &function))
        return;
    if (function.root == CODE_ADDRESS) {
        add_target(ret, function.image, function.address);
        return;
    }
    if (word.links)
        find_in_tables(budget, &word, ret);
    if (!ret->count)
        find_values(budget, &word, ret);
}

bool code_call_find(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                    struct code_target *ret)
{
    struct code_path pointed;
    const struct instruction *at = &scope->function->nodes.data[node];
    uint8_t reg = called_register(scope, at);
    if (code_call_target(scope->function, node, ret))
        return true;
    if (at->flow != FLOW_CALL_INDIRECT || at->memory_count > 1 || reg == REGISTER_NONE)
        return false;
    code_path_find_pointed(budget, scope, node, reg, &pointed);
    if (pointed.elements || pointed.links ||
        (pointed.root != CODE_ADDRESS && pointed.root != CODE_FOREIGN))
        return false;
    if (pointed.root == CODE_FOREIGN)
        *ret = (struct code_target){pointed.name, pointed.address, false};
    else if (pointed.image == scope->function->image) /* else code_targets_find() tells it */
        *ret = code_target_at(scope->function, pointed.address);
    else
        return false;
    return true;
}

bool code_call_is_futex(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                        const struct code_target *target)
{
    enum { X86_64 = 202, ARM64 = 98 }; /* the kernel's asm/unistd.h */
    struct code_path number;
    const struct code_function *function = scope->function;
    if (!target->name || strcmp(target->name, "syscall") != 0)
        return false;
    code_path_find_pointed(budget, scope, node, code_argument(function, 0), &number);
    return number.root == CODE_ADDRESS && !number.links &&
           number.address == (function->is_arm64 ? ARM64 : X86_64);
}

/* A function of the file begins there. */
static bool is_function(struct elf_file *file, uint64_t address)
{
    uint64_t start, bytes;
    return elf_file_function_range(file, address, &start, &bytes) && start == address;
}

bool code_compares_function(struct code_budget *budget, const struct code_scope *scope,
                            uint32_t node)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    struct elf_file *file = scope->function->image->file;
    uint64_t values = at->reads & (REGISTER_BIT(REGISTER_FLAGS) - 1);
    if (!at->is_compare || at->tests_bits)
        return false;
    if (at->has_immediate)
        return elf_words_are_final(file) && is_function(file, (uint64_t)at->immediate);
    for (; values; values &= values - 1) {
        struct code_path path;
        code_path_find_pointed(budget, scope, node, (uint8_t)__builtin_ctzll(values), &path);
        if (path.root == CODE_ADDRESS && !path.links && !path.elements &&
            is_function(path.image->file, path.address))
            return true;
    }
    return false;
}
