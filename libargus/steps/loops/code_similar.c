#include "steps/loops/code_similar.h"

#include <stdlib.h>
#include <string.h>

#include "event/names/demangle.h"
#include "steps/loops/code_calls.h"
#include "steps/loops/code_slice.h"
#include "steps/loops/loop_local_text.h"

enum {
    MOST_WORK = 6000000, /* instructions that are looked at, over all searches: some 50 ms */
    MOST_NAMES = 64,     /* stores whose member debug information is asked for */
    DECODED = 16,        /* what an instruction of a function that is looked into counts */
    MOST_CALLS = 3,      /* that are followed, one inside the other */
    MOST_VISITS = 8,     /* of one function, by different calls */
};

struct visited {
    const struct code_function *function;
    uint32_t count;
};

struct search {
    struct code_library *library;
    struct code_budget budget;
    const struct code_image *image;
    const struct loop_flag *flag;
    struct elf_member member;   /* of the flag; without text: not known */
    VEC(struct visited) visits; /* from the outer function */
    const uint64_t *starts;
    uint32_t start_count;
    const struct code_function *outer;
    uint32_t outer_node; /* the call of `outer` that is followed; CODE_NONE: none */
    struct code_writers *found;
    /* by writer: debug information names the member, or the function is a closure of the waiter's */
    bool is_sure[CODE_WRITERS_MAX];
    unsigned names_left;
    char *closures; /* owned: how their names begin; NULL: not known */
};

/* --- is it such a variable? --- */

/* "is_done" of "app->job->is_done", and of "job.is_done". */
static const char *last_member(const char *text)
{
    const char *last = NULL;
    for (const char *at = strstr(text, "->"); at; at = strstr(at + 2, "->"))
        last = at + 2;
    if (!last && (last = strchr(text, '.')))
        last++;
    return last ? last : "";
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), most = strlen(end);
    return length > most && text[length - most - 1] == '.' &&
           strcmp(text + length - most, end) == 0;
}

/* A wrapper around the member adds names before it or leaves them out. */
static bool is_member_alike(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || ends_with(a, b) || ends_with(b, a);
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
    if (!code_path_is_local(path) || search->names_left == 0)
        return false;
    search->names_left--;
    if (!loop_local_member(search->image->file, &local, &reach, member))
        return false;
    *ret = last_member(member->text);
    return **ret != '\0';
}

static char *name_of(struct elf_file *file, uint64_t start)
{
    uint64_t offset;
    const char *symbol = elf_file_function(file, start, &offset);
    char *readable = symbol && offset == 0 ? demangle(symbol) : NULL;
    return readable || !symbol || offset ? readable : strdup(symbol);
}

/* A function inside of the one that has the variable, from which it gets it: in Rust "wait::{{closure}}", in C++ "wait()::{lambda()#1}",
 * in Go "main.wait.func1". */
static bool is_closure(const struct search *search, const struct code_function *function)
{
    char *name = search->closures ? name_of(search->image->file, function->start) : NULL;
    size_t length = search->closures ? strlen(search->closures) : 0;
    bool is_inside =
        name && strncmp(name, search->closures, length) == 0 &&
        (strncmp(name + length, "::{", 3) == 0 || strncmp(name + length, ".func", 5) == 0);
    free(name);
    return is_inside;
}

static void add(struct search *search, uint32_t node, bool names_member)
{
    const struct code_function *function = search->outer;
    struct code_writers *found = search->found;
    uint32_t at = search->outer_node != CODE_NONE ? search->outer_node : node;
    for (uint32_t i = 0; i < found->count; i++)
        if (found->all[i].start == function->start) {
            search->is_sure[i] |= names_member;
            return;
        }
    search->is_sure[found->count % CODE_WRITERS_MAX] = names_member || is_closure(search, function);
    if (found->count == CODE_WRITERS_MAX)
        found->is_cut = true;
    else
        found->all[found->count++] =
            (struct code_writer){.address = function->nodes.data[at].address,
                                 .start = function->start,
                                 .bytes = function->bytes,
                                 .is_possible = true};
}

/* mov byte ptr [x], 0: the loop goes on. */
static bool continues(const struct search *search, const struct instruction *at)
{
    bool is_constant = at->is_move && at->has_immediate && !at->reads;
    return is_constant && loop_tests_decide(&search->flag->tests, at->immediate) == LOOP_CONTINUES;
}

static void look_at_store(struct search *search, const struct code_scope *scope, uint32_t node,
                          unsigned operand)
{
    struct code_path path;
    struct elf_member member;
    const char *name = "", *wanted = last_member(search->member.text);
    const struct instruction *at = &scope->function->nodes.data[node];
    const struct instruction_memory *memory = &at->memory[operand];
    if (!memory->writes || memory->is_implicit || memory->size_bytes != search->flag->size_bytes ||
        memory->base == code_stack_pointer(scope->function->is_arm64) ||
        (!scope->function->is_arm64 && continues(search, at)))
        return;
    code_path_find(&search->budget, scope, node, operand, &path);
    if (path.root == CODE_UNKNOWN || path.root == CODE_ERRNO || !path.links ||
        !is_offset(search->flag, path.offsets[path.links - 1]))
        return;
    bool is_known = is_named(search, &path, &member, &name);
    if (is_known && *wanted && !is_member_alike(name, wanted))
        return;
    add(search, node, is_known && *wanted);
}

/* --- functions --- */

static bool is_visited(struct search *search, const struct code_function *function)
{
    for (size_t i = 0; i < search->visits.length; i++)
        if (search->visits.data[i].function == function)
            return search->visits.data[i].count++ >= MOST_VISITS;
    return !vec_push(&search->visits, ((struct visited){function, 1}));
}

/* It is looked at by itself. */
static bool is_start(const struct search *search, const struct code_function *function)
{
    for (uint32_t i = 0; i < search->start_count; i++)
        if (search->starts[i] == function->start)
            return true;
    return false;
}

static void look_into(struct search *search, const struct code_scope *scope);

static void look_at_call(struct search *search, const struct code_scope *scope, uint32_t node)
{
    struct code_target target;
    bool is_outer = search->outer_node == CODE_NONE;
    const struct code_function *called = NULL;
    if (scope->depth < MOST_CALLS && code_call_target(scope->function, node, &target) &&
        target.is_here)
        called = code_library_function(search->library, search->image, target.address);
    for (const struct code_scope *at = scope; called && at; at = at->caller)
        if (at->function == called)
            return;
    if (!called || is_start(search, called) || is_visited(search, called))
        return;
    struct code_scope inner = {.function = called,
                               .head = CODE_NONE,
                               .caller = scope,
                               .call = node,
                               .depth = scope->depth + 1};
    if (is_outer)
        search->outer_node = node;
    look_into(search, &inner);
    if (is_outer)
        search->outer_node = CODE_NONE;
}

static void look_into(struct search *search, const struct code_scope *scope)
{
    const struct code_function *function = scope->function;
    uint32_t count = (uint32_t)function->nodes.length;
    uint64_t cost = (uint64_t)count * DECODED;
    search->budget.left -= search->budget.left > cost ? cost : search->budget.left;
    for (uint32_t node = 0; node < count && search->budget.left > count; node++) {
        const struct instruction *at = &function->nodes.data[node];
        for (unsigned i = 0; i < at->memory_count; i++)
            look_at_store(search, scope, node, i);
        if ((code_is_call(at) || at->flow == FLOW_JUMP) && !code_fails(function, at))
            look_at_call(search, scope, node);
    }
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
    search->outer_node = CODE_NONE;
    search->visits.length = 0;
    if (function && !is_of_runtime(search, function))
        look_into(search, &scope);
}

/* If some are sure, the others are not believed. */
static void keep_sure(struct search *search)
{
    struct code_writers *found = search->found;
    uint32_t named = 0;
    for (uint32_t i = 0; i < found->count; i++)
        if (search->is_sure[i])
            found->all[named++] = found->all[i];
    if (named)
        found->count = named;
    if (named == 1)
        found->all[0].is_possible = false;
}

static void find(struct search *search)
{
    for (uint32_t i = 0; search->image && search->budget.left && i < search->start_count; i++)
        look_at_function(search, search->starts[i]);
    keep_sure(search);
    if (search->found->count > CODE_SIMILAR_MAX)
        search->found->count = 0;
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
                            .starts = starts,
                            .start_count = count,
                            .found = ret};
    search.budget.library = search.library;
    search.image = search.library ? code_library_image(search.library, flag->file) : NULL;
    if (!loop_flag_member(flag, code, &search.member))
        search.member.text[0] = '\0';
    if (flag->local.is_local)
        search.closures = name_of(flag->file, flag->local.function);
    find(&search);
    vec_deinit(&search.visits);
    free(search.closures);
    code_library_destroy(search.library);
    instruction_decoder_destroy(decoder);
    return ret->count > 0;
}
