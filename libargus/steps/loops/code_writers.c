#include "steps/loops/code_writers.h"

#include <string.h>

#include "event/binary/elf_words.h"
#include "steps/loops/code_calls.h"
#include "steps/loops/code_constants.h"
#include "steps/loops/code_halves.h"
#include "steps/loops/code_references.h"
#include "steps/loops/code_signals.h"
#include "steps/loops/code_slice.h"
#include "steps/loops/code_targets.h"

enum {
    MOST_WORK = 32000000, /* instructions that are looked at, over all searches: some 200 ms */
    MOST_FUNCTIONS = 512, /* with references to the variable */
    MOST_CALLS = 5,       /* that are followed, one inside the other */
    UNNAMED_BEFORE = 64,  /* bytes: a variable without a symbol may begin so far before the flag */
    LARGEST_OBJECT = 65536, /* bytes: a pointer to an object leads to what is less far in it */
};

struct search {
    struct code_library *library;
    struct code_budget budget;
    const struct code_image *image;
    struct code_path flag;
    uint64_t variable; /* where the variable begins at which the path does; 0: in another file */
    struct code_writers *found;
    struct code_pointers *pointers;    /* NULL; else only what is stored is looked for */
    const struct code_function *outer; /* the one with the reference, and … */
    uint32_t outer_node;               /* … its call that is followed; CODE_NONE: none */
    bool is_guess;                     /* which argument the outer function gets is a guess */
    uint64_t *handed;                  /* NULL; else only what is stored beside pointers to … */
    uint32_t handed_count;             /* … the flag is looked for */
};

/* --- paths --- */

static bool overlaps(const struct code_path *stored, const struct code_path *flag, int64_t *ret)
{
    return code_path_is_beside(stored, flag, ret) && *ret < (int64_t)flag->size_bytes &&
           -*ret < (int64_t)stored->size_bytes;
}

/* Whether a function that gets `pointed` can reach the flag by it. */
static bool leads_on(const struct search *search, const struct code_path *pointed)
{
    bool is_of_file = !pointed->links && !code_path_is_local(pointed);
    return code_path_leads_to(pointed, &search->flag, LARGEST_OBJECT) &&
           (!is_of_file || pointed->address >= search->variable);
}

/* --- writers --- */

static bool is_same(const struct code_writer *a, const struct code_writer *b)
{
    return a->start == b->start && a->has_value == b->has_value &&
           (!a->has_value || a->value == b->value) && a->is_possible == b->is_possible;
}

static void add_writer(struct search *search, const struct code_writer *writer)
{
    struct code_writers *found = search->found;
    for (uint32_t i = 0; i < found->count; i++)
        if (is_same(&found->all[i], writer))
            return;
    if (found->count == CODE_WRITERS_MAX)
        found->is_cut = true;
    else
        found->all[found->count++] = *writer;
}

/* Of the function with the reference: `node` is in it, or in a function that it calls. */
static struct code_writer writer_at(const struct search *search, const struct code_scope *scope,
                                    uint32_t node)
{
    struct code_writer writer = code_writer_at(scope, node, search->outer);
    writer.is_possible = search->is_guess;
    return writer;
}

/* Of two words that are stored at once, the one that the variable gets. */
static bool find_half(struct search *search, const struct code_scope *scope, uint32_t node,
                      int64_t distance, struct code_path *ret)
{
    struct code_half half;
    const struct elf_file *file = scope->function->image->file;
    if ((distance != 0 && distance != -8) ||
        !code_half_find(&search->budget, scope, node, distance != 0, &half))
        return false;
    if (half.reg != REGISTER_NONE) {
        code_path_find_pointed(&search->budget, scope, half.node, half.reg, ret);
        return ret->root != CODE_UNKNOWN;
    }
    *ret = (struct code_path){.root = CODE_ADDRESS, .image = scope->function->image};
    return elf_word_is_constant(file, half.address) &&
           elf_word_pointer(file, half.address, &ret->address);
}

/* The instruction at `node` stores a pointer in the variable. `distance`: how far it begins behind
 * that. */
static void add_pointer(struct search *search, const struct code_scope *scope, uint32_t node,
                        int64_t distance)
{
    struct code_path path = {.root = CODE_ADDRESS, .image = scope->function->image};
    const struct instruction *at = &scope->function->nodes.data[node];
    struct code_pointers *found = search->pointers;
    bool is_constant = at->is_move && !at->reads && at->has_immediate;
    path.address = (uint64_t)at->immediate; /* of a program that is not relocated; 0: none */
    if (is_constant && !at->immediate)
        return;
    if (!is_constant && ((!code_path_find_stored(&search->budget, scope, node, &path) &&
                          !find_half(search, scope, node, distance, &path)) ||
                         path.root != CODE_ADDRESS || path.links || path.elements)) {
        found->is_cut = true;
        return;
    }
    for (uint32_t i = 0; i < found->count; i++)
        if (code_path_is_same(&found->all[i], &path))
            return;
    if (found->count == CODE_POINTERS_MAX)
        found->is_cut = true;
    else
        found->all[found->count++] = path;
}

static void look_at_store(struct search *search, const struct code_scope *scope, uint32_t node,
                          unsigned operand)
{
    struct code_path stored;
    int64_t distance;
    code_path_find(&search->budget, scope, node, operand, &stored);
    if (!overlaps(&stored, &search->flag, &distance))
        return;
    if (search->pointers) {
        search->pointers->is_cut |= stored.elements != 0;
        add_pointer(search, scope, node, distance);
        return;
    }
    struct code_writer writer = writer_at(search, scope, node);
    writer.is_possible |= stored.elements || search->flag.elements;
    bool is_whole = distance == 0 && stored.size_bytes >= search->flag.size_bytes;
    writer.has_value = is_whole && code_constant_stored(&search->budget, scope, node,
                                                        search->flag.size_bytes, &writer.value);
    add_writer(search, &writer);
}

static void look_into(struct search *search, const struct code_scope *scope);

/* An argument that leads to the flag: of a function of this file, which is read, or of another
 * one. */
static void look_at_call(struct search *search, const struct code_scope *scope, uint32_t node,
                         const struct code_target *target)
{
    const struct code_function *called =
        target->is_here ? code_library_function(search->library, search->image, target->address)
                        : NULL;
    bool is_outer = search->outer_node == CODE_NONE;
    search->found->is_cut |= target->is_here && !called;
    if (!called || called == scope->function || scope->depth == MOST_CALLS)
        return;
    struct code_scope inner = code_scope_of_call(scope, node, called);
    if (is_outer)
        search->outer_node = node;
    look_into(search, &inner);
    if (is_outer)
        search->outer_node = CODE_NONE;
}

/* Functions that begin a thread: what it executes gets one argument. To add one: a row. */
static bool begins_thread(const struct code_target *target)
{
    static const char *const names[] = {"pthread_create", "thrd_create", "g_thread_new",
                                        "g_thread_try_new"};
    for (size_t i = 0; target->name && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(target->name, names[i]) == 0)
            return true;
    return false;
}

static bool is_writer_known(const struct search *search, uint64_t start)
{
    for (uint32_t i = 0; i < search->found->count; i++)
        if (search->found->all[i].start == start)
            return true;
    return false;
}

/* A call that hands `function` on together with the variable, and the registers of both. */
struct handing {
    const struct code_scope *scope;
    uint32_t node;
    unsigned variable, as; /* arguments: of the call, and of the function */
    bool is_thread;        /* the function is what a new thread executes */
};

static void look_at_handed_on(struct search *search, const struct handing *handing,
                              const struct code_function *function)
{
    const struct code_function *outer = search->outer;
    uint32_t outer_node = search->outer_node;
    struct code_scope inner = code_scope_of_call(handing->scope, handing->node, function);
    inner.is_handed_on = true;
    inner.handed_on = code_argument(handing->scope->function, handing->variable);
    inner.handed_as = code_argument(handing->scope->function, handing->as);
    search->outer = function;
    search->outer_node = CODE_NONE;
    search->is_guess = handing->as != 0;
    look_into(search, &inner);
    search->outer = outer;
    search->outer_node = outer_node;
    search->is_guess = false;
}

/* The function at `address`, which may be handed on; NULL: there is none. */
static const struct code_function *handed_function(const struct search *search, uint64_t address)
{
    uint64_t start, bytes;
    if (!elf_file_function_range(search->image->file, address, &start, &bytes) || start != address)
        return NULL;
    return code_library_function(search->library, search->image, address);
}

/* A function that the call hands on together with the variable. It runs in its own time, and is
 * looked at as if it named the variable itself. Usually it gets the variable as its first argument:
 * pthread_create(&thread, NULL, be_loader, &loader). Callbacks also get it as a later one:
 * g_signal_connect(button, "clicked", on_clicked, &state). That is only a guess. */
static void look_at_function_argument(struct search *search, struct handing handing,
                                      uint64_t address, unsigned most)
{
    const struct code_function *function = handed_function(search, address);
    if ((search->outer_node != CODE_NONE && !handing.is_thread) || !function ||
        function == handing.scope->function || handing.scope->depth == MOST_CALLS)
        return;
    for (unsigned i = 0; i < most && !(i && is_writer_known(search, address)); i++) {
        handing.as = i;
        look_at_handed_on(search, &handing, function);
    }
}

/* `leading`: the argument that leads to the flag. */
static void look_at_functions(struct search *search, const struct code_scope *scope, uint32_t node,
                              const struct code_path *pointed, unsigned leading,
                              const struct code_target *target)
{
    struct handing handing = {
        .scope = scope, .node = node, .variable = leading, .is_thread = begins_thread(target)};
    unsigned most = handing.is_thread || target->is_here ? 1 : CODE_ARGUMENTS;
    for (unsigned i = 0; i < CODE_ARGUMENTS; i++)
        if (i != leading && pointed[i].root == CODE_ADDRESS && pointed[i].links == 0 &&
            !pointed[i].elements)
            look_at_function_argument(search, handing, pointed[i].address, most);
}

/* A call through a pointer, which is followed to each function that it may execute. */
static void look_at_pointer_call(struct search *search, const struct code_scope *scope,
                                 uint32_t node)
{
    struct code_targets targets;
    if (search->pointers)
        return;
    code_targets_find(&search->budget, scope, node, &targets);
    for (uint32_t i = 0; i < targets.count; i++)
        if (targets.all[i].image == search->image)
            look_at_call(search, scope, node,
                         &(struct code_target){
                             .address = targets.all[i].address,
                             .is_here = true,
                         });
}

static void look_at_arguments(struct search *search, const struct code_scope *scope, uint32_t node)
{
    struct code_target target;
    struct code_path pointed[CODE_ARGUMENTS];
    unsigned leading = CODE_ARGUMENTS;
    bool points = false;
    for (unsigned i = 0; i < CODE_ARGUMENTS; i++) {
        int64_t distance;
        code_path_find_pointed(&search->budget, scope, node, code_argument(scope->function, i),
                               &pointed[i]);
        if (leads_on(search, &pointed[i]))
            leading = i;
        points |= code_path_is_beside(&pointed[i], &search->flag, &distance) && distance == 0;
    }
    if (leading == CODE_ARGUMENTS)
        return;
    if (!code_call_target(scope->function, node, &target)) {
        look_at_pointer_call(search, scope, node);
        return;
    }
    look_at_functions(search, scope, node, pointed, leading, &target);
    if (target.is_here) {
        look_at_call(search, scope, node, &target);
    } else if (!search->pointers && points &&
               !code_is_sleep(target.name) && /* it has no such argument */
               !code_takes_lock(target.name) && !code_waits_for_lock(target.name) &&
               !code_tries(target.name)) {
        struct code_writer writer = writer_at(search, scope, node);
        writer.is_possible = !code_frees(target.name);
        add_writer(search, &writer);
    }
}

static bool is_call(const struct code_function *function, uint32_t node)
{
    const struct instruction *at = &function->nodes.data[node];
    return code_is_call(at) || code_function_is_open(function, node) ||
           (at->flow == FLOW_JUMP && function->next[node][0] == CODE_NONE);
}

/* False: there are too many. */
static bool add_handed(struct search *search, uint64_t address)
{
    for (uint32_t i = 0; i < search->handed_count; i++)
        if (search->handed[i] == address)
            return true;
    if (search->handed_count == CODE_HANDED_MAX)
        return false;
    search->handed[search->handed_count++] = address;
    return true;
}

/* Of 16 bytes, half 0 or 1; else half 0 is all that is stored. */
static bool find_stored(struct search *search, const struct code_scope *scope, uint32_t node,
                        unsigned half, struct code_path *ret)
{
    if (half == 0 && code_path_find_stored(&search->budget, scope, node, ret))
        return true;
    return find_half(search, scope, node, half ? -8 : 0, ret);
}

/* The functions count only if a pointer to the flag is stored, too. */
static void look_at_handed(struct search *search, const struct code_scope *scope)
{
    uint32_t before = search->handed_count;
    bool leads = false, is_cut = false;
    for (uint32_t node = 0; node < scope->function->nodes.length; node++) {
        const struct instruction *at = &scope->function->nodes.data[node];
        bool stores = at->memory_count == 1 && at->memory[0].writes && !at->memory[0].reads &&
                      !at->memory[0].is_implicit && at->memory[0].size_bytes >= 8;
        for (unsigned half = 0; stores && half < at->memory[0].size_bytes / 8u && half < 2;
             half++) {
            struct code_path path;
            if (!find_stored(search, scope, node, half, &path))
                continue;
            leads |= leads_on(search, &path);
            if (path.root == CODE_ADDRESS && !path.links && !path.elements &&
                handed_function(search, path.address))
                is_cut |= !add_handed(search, path.address);
        }
    }
    if (leads)
        search->found->is_cut |= is_cut;
    else
        search->handed_count = before;
}

static void look_into(struct search *search, const struct code_scope *scope)
{
    const struct code_function *function = scope->function;
    if (search->handed) {
        look_at_handed(search, scope);
        return;
    }
    for (uint32_t node = 0; node < function->nodes.length; node++) {
        const struct instruction *at = &function->nodes.data[node];
        for (unsigned i = 0; i < at->memory_count; i++)
            if (at->memory[i].writes && !at->memory[i].is_implicit)
                look_at_store(search, scope, node, i);
        if (is_call(function, node) && !code_fails(function, at))
            look_at_arguments(search, scope, node);
    }
    if (search->budget.left < function->nodes.length) /* not all was looked at */
        search->found->is_cut = true;
}

/* --- references --- */

/* The bytes of the variable where the path begins. A path through a pointer begins at the pointer
 * itself. */
static void add_variable(struct search *search, struct code_references *references)
{
    struct elf_variable variable;
    struct elf_file *file = search->image->file;
    uint64_t first = search->flag.address, bytes = search->flag.links ? 8 : search->flag.size_bytes;
    uint64_t before = first < UNNAMED_BEFORE ? first : UNNAMED_BEFORE;
    if (elf_file_variable_at(file, first, false, &variable) && variable.size_bytes) {
        first -= variable.offset;
        bytes = variable.size_bytes;
    } else {
        first -= before;
        bytes += before;
    }
    search->variable = first;
    code_references_add(references, file, first, bytes);
    for (size_t i = 0; i < search->image->slots.all.length; i++) {
        const struct elf_slot *slot = &search->image->slots.all.data[i];
        if (slot->is_defined && slot->value - first < bytes)
            code_references_add(references, file, slot->place, 8);
    }
}

/* A variable of another file is reached only through the table. */
static void add_foreign(const struct search *search, struct code_references *references)
{
    for (size_t i = 0; i < search->image->slots.all.length; i++) {
        const struct elf_slot *slot = &search->image->slots.all.data[i];
        if (!slot->is_defined && strcmp(slot->name, search->flag.name) == 0)
            code_references_add(references, search->image->file, slot->place, 8);
    }
}

static void look_at_function(struct search *search, uint64_t place)
{
    const struct code_function *function =
        code_library_function(search->library, search->image, place);
    if (!function) {
        search->found->is_cut = true;
        return;
    }
    struct code_scope scope = {.function = function, .head = CODE_NONE};
    search->outer = function;
    search->outer_node = CODE_NONE;
    look_into(search, &scope);
}

static void look_at_references(struct search *search, const struct code_references *references)
{
    uint64_t start = 0, bytes = 0; /* of the last function */
    uint32_t functions = 0;
    for (size_t i = 0; i < references->places.length; i++) {
        uint64_t place = references->places.data[i];
        if (place - start < bytes)
            continue;
        bool has_range = elf_file_function_range(search->image->file, place, &start, &bytes);
        if (!has_range || ++functions > MOST_FUNCTIONS) {
            /* Code without a range is that with which the compiler begins each program, unless it
             * is written by hand. */
            search->found->is_cut |= has_range;
            bytes = 0;
            continue;
        }
        look_at_function(search, place);
    }
}

/* Memory that the program maps is reached by functions that call one which maps it, and by those
 * that get a pointer to it. */
static void look_at_mapping(struct search *search)
{
    struct code_caller callers[CODE_CALLERS_MAX];
    uint32_t count = code_callers_of_mapping(search->image->file, callers);
    for (uint32_t i = 0; i < count; i++)
        look_at_function(search, callers[i].start);
}

static void find(struct search *search)
{
    struct code_references references = {0};
    if (search->flag.root == CODE_MAPPED) {
        look_at_mapping(search);
        return;
    }
    if (code_path_is_local(&search->flag)) {
        if (search->flag.function)
            look_at_function(search, search->flag.function->start);
        return;
    }
    if (search->flag.root == CODE_FOREIGN)
        add_foreign(search, &references);
    else
        add_variable(search, &references);
    search->found->is_cut |= references.is_cut;
    look_at_references(search, &references);
    code_references_deinit(&references);
}

static struct code_path path_of(const struct loop_flag *flag, struct code_library *library,
                                const struct code_image *image)
{
    struct code_path path = {
        .root = flag->is_mapped ? CODE_MAPPED
                : flag->foreign ? CODE_FOREIGN
                                : CODE_ADDRESS,
        .image = image,
        .address = flag->address,
        .name = flag->foreign,
        .links = flag->links,
        .size_bytes = flag->size_bytes,
    };
    memcpy(path.offsets, flag->offsets, sizeof(path.offsets));
    path.elements = flag->elements;
    if (flag->local.is_local) {
        path.root = flag->local.is_object ? CODE_OBJECT : CODE_STACK;
        path.slot = flag->local.slot;
        path.function = code_library_function(library, image, flag->local.function);
    }
    return path;
}

void code_writers_find_pointers(struct code_budget *budget, const struct code_path *word,
                                struct code_pointers *ret)
{
    struct code_writers writers = {.count = 0};
    struct search search = {.library = budget->library,
                            .budget = *budget,
                            .image = word->image,
                            .flag = *word,
                            .found = &writers,
                            .pointers = ret};
    *ret = (struct code_pointers){.count = 0};
    search.flag.size_bytes = 8;
    bool is_found = word->root == CODE_ADDRESS || word->root == CODE_FOREIGN ||
                    (word->root == CODE_STACK && !word->links);
    if (is_found && budget->library)
        find(&search);
    ret->is_cut |= !is_found || writers.is_cut;
    budget->left = search.budget.left;
}

static void find_signals(struct search *search, struct code_writers *writers)
{
    uint64_t starts[CODE_WRITERS_MAX], signals[CODE_WRITERS_MAX];
    for (uint32_t i = 0; i < writers->count; i++)
        starts[i] = writers->all[i].start;
    code_signals_find(&search->budget, search->image, starts, writers->count, signals);
    for (uint32_t i = 0; i < writers->count; i++)
        writers->all[i].signals = signals[i];
}

/* What gives the variable its first value has done so when a thread waits for another one. */
static void drop_constructors(const struct elf_file *file, struct code_writers *writers)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < writers->count; i++)
        if (!elf_function_is_constructor(file, writers->all[i].start))
            writers->all[kept++] = writers->all[i];
    writers->count = kept;
}

/* `search` has what is looked for. */
static void find_in_file(struct search *search, const struct loop_flag *flag, bool is_arm64)
{
    struct instruction_decoder *decoder;
    struct argus_error *error =
        instruction_decoder_create(is_arm64 ? INSTRUCTION_ARM64 : INSTRUCTION_X86_64, &decoder);
    if (error) {
        argus_error_destroy(error);
        return;
    }
    search->library = code_library_create(decoder);
    search->budget = (struct code_budget){.left = MOST_WORK, .library = search->library};
    search->image = search->library ? code_library_image(search->library, flag->file) : NULL;
    if (search->image) {
        search->flag = path_of(flag, search->library, search->image);
        find(search);
        drop_constructors(flag->file, search->found);
        if (!search->handed)
            find_signals(search, search->found);
    }
    code_library_destroy(search->library);
    instruction_decoder_destroy(decoder);
}

bool code_writers_find(const struct loop_flag *flag, bool is_arm64, struct code_writers *ret)
{
    struct search search = {.found = ret};
    *ret = (struct code_writers){0};
    if (flag->is_thread_local)
        return false;
    find_in_file(&search, flag, is_arm64);
    code_writers_sort(ret);
    return ret->count > 0;
}

uint32_t code_handed_find(const struct loop_flag *flag, bool is_arm64,
                          uint64_t ret[CODE_HANDED_MAX], bool *ret_is_cut)
{
    struct code_writers writers = {0};
    struct search search = {.found = &writers, .handed = ret};
    if (!flag->is_thread_local)
        find_in_file(&search, flag, is_arm64);
    *ret_is_cut = writers.is_cut;
    return search.handed_count;
}
