#include "steps/loops/code_similar.h"

#include <stdlib.h>
#include <string.h>

#include "base/ends_in.h"
#include "base/idmap.h"
#include "steps/loops/code_calls.h"
#include "steps/loops/code_constants.h"
#include "steps/loops/code_slice.h"
#include "steps/loops/loop_local_text.h"

enum {
    MOST_WORK = 6000000, /* instructions that are looked at, over all searches: some 50 ms */
    MOST_NAMES = 64,     /* stores whose member debug information is asked for */
    DECODED = 16,        /* what an instruction of a function that is looked into counts */
    LOOKED_UP = 64,      /* what a call counts, */
    NOT_DECODED = 4096,  /* and one of a function that cannot be decoded */
    MOST_CALLS = 3,      /* that are followed, one inside the other */
    MOST_VISITS = 8,     /* of one function, by different calls */
};

struct search {
    struct code_library *library;
    struct code_budget budget;
    const struct code_image *image;
    const struct loop_flag *flag;
    struct elf_member member; /* of the flag; without text: not known */
    struct idmap visits; /* functions by where they begin → how often, from the outer function */
    struct idmap starts; /* those that are looked at by themselves */
    const struct code_function *outer;
    struct code_writers *found;
    /* by writer: debug information names the member, or it is a closure of the waiter's */
    bool is_likely[CODE_WRITERS_MAX];
    unsigned names_left;
    char *closures; /* owned: how their names begin; NULL: not known */
};

/* --- is it such a variable? --- */

/* "is_done" of "app->job->is_done", and of "job.is_done"; "" of "job->0x8". */
static const char *last_member(const char *text)
{
    const char *last = NULL;
    for (const char *at = strstr(text, "->"); at; at = strstr(at + 2, "->"))
        last = at + 2;
    if (!last && (last = strchr(text, '.')))
        last++;
    return last && *last != '-' && !(*last >= '0' && *last <= '9') ? last : "";
}

static bool ends_with_member(const char *text, const char *member)
{
    return ends_in(text, member) && text[strlen(text) - strlen(member) - 1] == '.';
}

/* A wrapper around the member adds names before it or leaves them out. */
static bool is_member_alike(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || ends_with_member(a, b) || ends_with_member(b, a);
}

/* How far behind a pointer the flag lies; also behind a pointer into the object. */
static bool is_offset(const struct loop_flag *flag, int64_t offset)
{
    const struct loop_local *local = &flag->local;
    if (!flag->links)
        return local->is_local && offset == local->inside;
    int64_t last = flag->offsets[flag->links - 1];
    bool is_it = offset == last;
    for (uint32_t i = 0; flag->links == 1 && local->is_object && i < local->seen_count; i++)
        is_it |= offset == last - local->seen[i].value;
    return is_it;
}

/* `*ret`: the member that is stored, in `member`. */
static bool is_named(struct search *search, const struct code_path *path, struct elf_member *member,
                     const char **ret)
{
    struct loop_local local = {.is_object = path->root == CODE_OBJECT,
                               .slot = path->slot,
                               .code = path->code,
                               .seen_count = path->seen_count};
    struct elf_reach reach = {
        .links = path->links, .offsets = path->offsets, .size_bytes = path->size_bytes};
    memcpy(local.seen, path->seen, sizeof(local.seen));
    if (!code_path_is_local(path))
        return false;
    if (search->names_left == 0) {
        search->found->is_cut = true;
        return false;
    }
    search->names_left--;
    if (!loop_local_member(search->image->file, &local, &reach, member))
        return false;
    *ret = last_member(member->text);
    return **ret != '\0';
}

/* A function inside of the one that has the variable, from which it may get it: in Rust
 * "wait::{{closure}}", in C++ "wait()::{lambda()#1}", in Go "main.wait.func1". */
static bool is_closure(const struct search *search, const struct code_function *function)
{
    char *name = search->closures ? loop_function_name(search->image->file, function->start) : NULL;
    size_t length = search->closures ? strlen(search->closures) : 0;
    bool is_inside =
        name && strncmp(name, search->closures, length) == 0 &&
        (strncmp(name + length, "::{", 3) == 0 || strncmp(name + length, ".func", 5) == 0);
    free(name);
    return is_inside;
}

/* A function is told once; with a value, if it stores no other one. */
static void add(struct search *search, const struct code_scope *scope, uint32_t node,
                bool names_member, bool has_value, int64_t value)
{
    const struct code_function *function = search->outer;
    struct code_writers *found = search->found;
    for (uint32_t i = 0; i < found->count; i++)
        if (found->all[i].start == function->start) {
            search->is_likely[i] |= names_member;
            found->all[i].has_value &= has_value && found->all[i].value == value;
            return;
        }
    if (found->count == CODE_WRITERS_MAX) {
        found->is_cut = true;
        return;
    }
    search->is_likely[found->count] = names_member || is_closure(search, function);
    struct code_writer *writer = &found->all[found->count++];
    *writer = code_writer_at(scope, node, function);
    writer->value = value;
    writer->has_value = has_value;
    writer->is_possible = true;
}

/* Words of the stack are reached by nobody else. */
static bool is_candidate(const struct search *search, const struct code_function *function,
                         const struct instruction_memory *memory)
{
    return memory->writes && !memory->is_implicit &&
           memory->size_bytes == search->flag->size_bytes &&
           memory->base != code_stack_pointer(function->is_arm64);
}

static bool is_alike(const struct search *search, const struct code_path *path)
{
    return path->root != CODE_UNKNOWN && path->root != CODE_ERRNO && path->links &&
           !path->elements && is_offset(search->flag, path->offsets[path->links - 1]);
}

static void look_at_store(struct search *search, const struct code_scope *scope, uint32_t node,
                          unsigned operand)
{
    struct code_path path;
    struct elf_member member;
    const char *name = "", *wanted = last_member(search->member.text);
    int64_t value;
    if (!is_candidate(search, scope->function, &scope->function->nodes.data[node].memory[operand]))
        return;
    code_path_find(&search->budget, scope, node, operand, &path);
    if (!is_alike(search, &path))
        return;
    bool has_value =
        code_constant_stored(&search->budget, scope, node, search->flag->size_bytes, &value);
    if (has_value && loop_tests_decide(&search->flag->tests, value) == LOOP_CONTINUES)
        return;
    bool is_known = is_named(search, &path, &member, &name);
    if (is_known && *wanted && !is_member_alike(name, wanted))
        return;
    add(search, scope, node, is_known && *wanted, has_value, has_value ? value : 0);
}

/* A call that frees a lock is a store into it. */
static void look_at_free(struct search *search, const struct code_scope *scope, uint32_t node)
{
    struct code_target target;
    struct code_path path;
    struct elf_member member;
    const char *name = "", *wanted = last_member(search->member.text);
    if (!search->flag->is_lock || !code_call_target(scope->function, node, &target) ||
        target.is_here || !code_frees(target.name))
        return;
    code_path_find_pointed(&search->budget, scope, node, code_argument(scope->function, 0), &path);
    path.size_bytes = search->flag->size_bytes;
    if (!is_alike(search, &path))
        return;
    bool is_known = is_named(search, &path, &member, &name);
    if (!is_known || !*wanted || is_member_alike(name, wanted))
        add(search, scope, node, is_known && *wanted, false, 0);
}

/* --- functions --- */

static void charge(struct search *search, uint64_t cost)
{
    search->budget.left -= search->budget.left > cost ? cost : search->budget.left;
}

/* Without memory also true. */
static bool is_visited(struct search *search, const struct code_function *function)
{
    uint32_t known = idmap_get(&search->visits, function->start);
    uint32_t count = known == IDMAP_NONE ? 0 : known;
    return count >= MOST_VISITS || !idmap_put(&search->visits, function->start, count + 1);
}

/* The function that the call leads to, if it is to be looked into; NULL. */
static const struct code_function *called_function(struct search *search,
                                                   const struct code_scope *scope, uint32_t node)
{
    struct code_target target;
    charge(search, LOOKED_UP);
    if (scope->depth == MOST_CALLS || !code_call_target(scope->function, node, &target) ||
        !target.is_here)
        return NULL;
    const struct code_function *called =
        code_library_function(search->library, search->image, target.address);
    if (!called)
        charge(search, NOT_DECODED);
    for (const struct code_scope *at = scope; called && at; at = at->caller)
        if (at->function == called)
            return NULL;
    bool is_start = called && idmap_get(&search->starts, called->start) != IDMAP_NONE;
    return called && !is_start && !is_visited(search, called) ? called : NULL;
}

static void look_into(struct search *search, const struct code_scope *scope);

static void look_at_call(struct search *search, const struct code_scope *scope, uint32_t node)
{
    const struct code_function *called = called_function(search, scope, node);
    if (!called)
        return;
    struct code_scope inner = code_scope_of_call(scope, node, called);
    look_into(search, &inner);
}

static void look_into(struct search *search, const struct code_scope *scope)
{
    const struct code_function *function = scope->function;
    uint32_t count = (uint32_t)function->nodes.length;
    charge(search, (uint64_t)count * DECODED);
    for (uint32_t node = 0; node < count && search->budget.left > count; node++) {
        const struct instruction *at = &function->nodes.data[node];
        for (unsigned i = 0; i < at->memory_count; i++)
            look_at_store(search, scope, node, i);
        if ((!code_is_call(at) && at->flow != FLOW_JUMP) || code_fails(function, at))
            continue;
        look_at_free(search, scope, node);
        look_at_call(search, scope, node);
    }
    search->found->is_cut |= search->budget.left <= count; /* not all was looked at */
}

/* Go's scheduler and collector, which every thread of a program in Go executes. */
static bool is_of_runtime(const struct search *search, const struct code_function *function)
{
    static const char runtime[] = "runtime.";
    uint64_t offset;
    const char *name =
        function->is_go ? elf_file_function(search->image->file, function->start, &offset) : NULL;
    return name && strncmp(name, runtime, sizeof(runtime) - 1) == 0;
}

static void look_at_function(struct search *search, uint64_t start)
{
    const struct code_function *function =
        code_library_function(search->library, search->image, start);
    struct code_scope scope = {.function = function, .head = CODE_NONE};
    search->outer = function;
    idmap_clear(&search->visits);
    if (function && !is_of_runtime(search, function))
        look_into(search, &scope);
}

/* If some are likely, the others are not believed. */
static void keep_likely(struct search *search)
{
    struct code_writers *found = search->found;
    uint32_t likely = 0;
    for (uint32_t i = 0; i < found->count; i++)
        if (search->is_likely[i])
            found->all[likely++] = found->all[i];
    if (likely)
        found->count = likely;
}

static void find(struct search *search, const uint64_t *starts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        search->found->is_cut |= !idmap_put(&search->starts, starts[i], 1);
    for (uint32_t i = 0; search->budget.left && i < count; i++)
        look_at_function(search, starts[i]);
    search->found->is_cut |= !search->budget.left;
    keep_likely(search);
    if (search->found->count > CODE_SIMILAR_MAX)
        search->found->count = 0;
    code_writers_sort(search->found);
}

bool code_similar_find(const struct loop_flag *flag, uint64_t code, const uint64_t *starts,
                       uint32_t count, bool is_arm64, struct code_writers *ret)
{
    struct instruction_decoder *decoder;
    *ret = (struct code_writers){0};
    if (flag->elements || flag->is_mapped || (!flag->links && !flag->local.is_local))
        return false;
    struct argus_error *error =
        instruction_decoder_create(is_arm64 ? INSTRUCTION_ARM64 : INSTRUCTION_X86_64, &decoder);
    if (error) {
        argus_error_destroy(error);
        return false;
    }
    struct search search = {.library = code_library_create(decoder),
                            .budget = {.left = MOST_WORK},
                            .flag = flag,
                            .names_left = MOST_NAMES,
                            .found = ret};
    search.budget.library = search.library;
    search.image = search.library ? code_library_image(search.library, flag->file) : NULL;
    if (!loop_flag_member(flag, code, &search.member))
        search.member.text[0] = '\0';
    if (flag->local.is_local)
        search.closures = loop_function_name(flag->file, flag->local.function);
    if (search.image)
        find(&search, starts, count);
    idmap_deinit(&search.visits);
    idmap_deinit(&search.starts);
    free(search.closures);
    code_library_destroy(search.library);
    instruction_decoder_destroy(decoder);
    return ret->count > 0;
}
