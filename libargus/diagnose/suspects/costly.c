/* Finds the costly functions of a busy stretch, from its CPU samples. A frame counts for each
 * function that answers name for its address (argus_symbols_named()): for inlined ones, too. */
#include <stdio.h>
#include <string.h>

#include "base/idmap.h"
#include "base/strtab.h"
#include "diagnose/diagnoser.h"
#include "diagnose/words.h"

#define MAX_FUNCTIONS 12
/* so many of the program's own functions are kept, also if they are further down the list */
#define MAX_OWN     3
#define KEY_PERCENT 95u
#define MIN_PERCENT 5u

struct count {
    uint32_t self, inclusive;
    /* the number, from 1, of the last sample that had it: recursion counts once */
    uint32_t seen_in;
    uint32_t image;   /* file name of the image, id in `names`; 0: unknown */
    uint64_t address; /* the first address at which it was seen */
    bool is_return;
    bool script; /* the image is a script's file */
    bool called; /* not inlined, in at least one sample */
};

/* The functions of an address: a range of `tally.lists`, innermost first. */
struct names {
    const uint32_t *all; /* borrowed until the next address */
    uint32_t count;
};

struct stack_count {
    uint32_t stack, count;
};

struct tally {
    struct diagnoser *d;
    uint32_t process, samples;
    struct strtab *names;
    struct idmap by_address;  /* address * 2 + is_return → index in `lists` */
    VEC(uint32_t) lists;      /* of each address: the number of names, names */
    struct idmap stacks;      /* user stack → index into stack_counts */
    VEC(struct count) counts; /* by name */
    VEC(struct stack_count) stack_counts;
};

/* The counts of a name; NULL without memory. */
static struct count *counts_of(struct tally *tally, uint32_t name)
{
    while (tally->counts.length <= name)
        if (!vec_push(&tally->counts, (struct count){0}))
            return NULL;
    return tally->counts.data ? &tally->counts.data[name] : NULL;
}

/* Interns a function's name, and the image that it was first seen in. */
static struct argus_error *intern_function(struct tally *tally, const char *text, const char *image,
                                           uint32_t *ret)
{
    uint32_t image_name = 0;
    struct argus_error *error = strtab_intern(tally->names, text, strlen(text), ret);
    if (!error && image)
        error = strtab_intern(tally->names, image, strlen(image), &image_name);
    if (error)
        return error;
    struct count *count = counts_of(tally, *ret);
    if (!count)
        return argus_error_memory();
    if (!count->image)
        count->image = image_name;
    return NULL;
}

/* Adds the name of a function of `address` to `lists`. */
static struct argus_error *add_name(struct tally *tally, const struct argus_symbol *symbol,
                                    uint64_t time_ns, uint64_t address, bool is_return)
{
    char text[256];
    uint32_t name;
    bool is_script = argus_symbol_is_script(symbol);
    if (is_script) /* "<module>" occurs in every file */
        snprintf(text, sizeof(text), "%s (%s)", symbol->function, text_image(symbol->file));
    else
        argus_symbols_function_text(tally->d->symbols, tally->process, time_ns, address, is_return,
                                    symbol, text, sizeof(text));
    struct argus_error *error =
        intern_function(tally, text, text_image(is_script ? symbol->file : symbol->image), &name);
    if (error)
        return error;
    struct count *count = &tally->counts.data[name];
    count->script |= is_script;
    count->called |= !symbol->is_inlined;
    if (!count->address) {
        count->address = address;
        count->is_return = is_return;
    }
    return vec_push(&tally->lists, name) ? NULL : argus_error_memory();
}

static struct argus_error *add_names(struct tally *tally, uint64_t time_ns, uint64_t address,
                                     bool is_return)
{
    struct argus_functions functions = {.count = 1};
    if (tally->d->symbols)
        argus_symbols_named(tally->d->symbols, tally->process, time_ns, address, is_return,
                            &functions);
    if (!vec_push(&tally->lists, functions.count))
        return argus_error_memory();
    struct argus_error *error = NULL;
    for (uint32_t i = 0; i < functions.count && !error; i++)
        error = add_name(tally, &functions.symbols[i], time_ns, address, is_return);
    return error;
}

/* The names of the functions at `address`. */
static struct argus_error *name_address(struct tally *tally, uint64_t time_ns, uint64_t address,
                                        bool is_return, struct names *ret)
{
    uint64_t key = address << 1 | is_return;
    uint32_t list = idmap_get(&tally->by_address, key);
    if (list == IDMAP_NONE) {
        list = (uint32_t)tally->lists.length;
        struct argus_error *error = add_names(tally, time_ns, address, is_return);
        if (!error && !idmap_put(&tally->by_address, key, list))
            error = argus_error_memory();
        if (error)
            return error;
    }
    *ret = (struct names){&tally->lists.data[list + 1], tally->lists.data[list]};
    return NULL;
}

/* Counts a frame of the current sample. `is_self`: it is the one that ran. */
static struct argus_error *count_frame(struct tally *tally, uint64_t time_ns, uint64_t address,
                                       bool is_return, bool is_self)
{
    struct names names;
    struct argus_error *error = name_address(tally, time_ns, address, is_return, &names);
    for (uint32_t i = 0; !error && i < names.count; i++) {
        struct count *count = &tally->counts.data[names.all[i]];
        count->inclusive += count->seen_in != tally->samples;
        count->seen_in = tally->samples;
        count->self += is_self && i == 0;
    }
    return error;
}

static struct argus_error *count_stack(struct tally *tally, const struct argus_sample *sample,
                                       uint32_t stack, bool has_self)
{
    struct argus_stack frames = argus_graph_stack(tally->d->view.graph, stack);
    struct argus_error *error = NULL;
    for (uint32_t i = 0; i < frames.count && !error; i++) {
        if (frames.frames[i] < ARGUS_FRAME_ENDS) /* a mark that says why the stack ends here */
            break;
        error = count_frame(tally, sample->time_ns, frames.frames[i], i > 0, has_self && i == 0);
    }
    return error;
}

static bool count_whole_stack(struct tally *tally, uint32_t stack)
{
    uint32_t at = idmap_get(&tally->stacks, stack);
    if (at == IDMAP_NONE) {
        at = (uint32_t)tally->stack_counts.length;
        if (!vec_push(&tally->stack_counts, (struct stack_count){.stack = stack}) ||
            !idmap_put(&tally->stacks, stack, at))
            return false;
    }
    tally->stack_counts.data[at].count++;
    return true;
}

/* Counts a sample. The program's own function counts as the one that ran, even while the kernel
 * worked on its behalf. */
static struct argus_error *count_sample(struct tally *tally, const struct argus_sample *sample)
{
    bool user = sample->user_stack != ARGUS_NONE, kernel = sample->kernel_stack != ARGUS_NONE;
    tally->samples++;
    struct argus_error *error = user ? count_stack(tally, sample, sample->user_stack, true) : NULL;
    if (!error && user && !count_whole_stack(tally, sample->user_stack))
        error = argus_error_memory();
    if (!error && kernel)
        error = count_stack(tally, sample, sample->kernel_stack, !user);
    if (error || user || kernel)
        return error;
    return count_frame(tally, sample->time_ns, sample->pc, false, true);
}

static struct argus_error *count_samples(struct tally *tally, uint32_t thread, struct window window)
{
    const struct view *view = &tally->d->view;
    const struct argus_thread *t = &view->threads[thread];
    const struct argus_sample *samples;
    argus_graph_samples(view->graph, &samples);
    uint32_t v = timeline_before(view, thread, window.start_ns + 1);
    struct argus_error *error = NULL;
    for (v = v == ARGUS_NONE ? t->first_vertex : v;
         v < t->first_vertex + t->vertex_count && view->vertices[v].start_ns < window.end_ns; v++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        for (uint32_t i = 0; !error && i < vertex->sample_count; i++) {
            const struct argus_sample *sample = &samples[vertex->first_sample + i];
            if (sample->time_ns >= window.start_ns && sample->time_ns < window.end_ns)
                error = count_sample(tally, sample);
        }
    }
    return error;
}

/* Frames that every program has: correct, but no help. */
static bool is_entry(const char *name)
{
    static const char *const entries[] = {"main",         "_start",  "__libc_start_main",
                                          "start_thread", "clone",   "__clone3",
                                          "clone3",       "__clone", "__libc_start_call_main"};
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        if (strcmp(name, entries[i]) == 0)
            return true;
    return strncmp(name, "__libc_start", 12) == 0;
}

static void costly_functions_free(struct argus_costly_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(functions[i].name);
        free(functions[i].image);
        functions[i].name = functions[i].image = NULL;
    }
}

void culprit_deinit_functions(struct argus_culprit *culprit)
{
    costly_functions_free(culprit->functions, culprit->function_count);
    free(culprit->functions);
    free(culprit->code_function);
    culprit->functions = NULL;
    culprit->function_count = 0;
    culprit->code_function = NULL;
}

static int compare_functions(const void *a, const void *b)
{
    const struct argus_costly_function *x = a, *y = b;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    if (x->inclusive != y->inclusive)
        return x->inclusive > y->inclusive ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* What find_key() chooses among. */
enum choice { CHOICE_SCRIPTS, CHOICE_ALL, CHOICE_CALLED };

static bool is_key(const struct tally *tally, uint32_t name, enum choice choice)
{
    const struct count *count = &tally->counts.data[name];
    if ((choice == CHOICE_SCRIPTS && !count->script) || (choice == CHOICE_CALLED && !count->called))
        return false;
    return count->inclusive * 100ull >= tally->samples * KEY_PERCENT &&
           !is_entry(strtab_get(tally->names, name));
}

/* Finds the function to look at first: the innermost one that is in nearly all samples (the paper's
 * hint), on the most frequent stack; ARGUS_NONE if there is none. */
static struct argus_error *find_key(struct tally *tally, uint32_t stack, uint64_t time_ns,
                                    enum choice choice, uint32_t *ret)
{
    struct argus_stack frames = {.count = 0};
    if (stack != ARGUS_NONE)
        frames = argus_graph_stack(tally->d->view.graph, stack);
    *ret = ARGUS_NONE;
    for (uint32_t i = 0; i < frames.count && *ret == ARGUS_NONE; i++) {
        struct names names;
        struct argus_error *error = name_address(tally, time_ns, frames.frames[i], i > 0, &names);
        if (error)
            return error;
        for (uint32_t k = names.count; k-- > 0;) /* the innermost one is kept */
            if (is_key(tally, names.all[k], choice))
                *ret = names.all[k];
    }
    return NULL;
}

/* Whether a function is worth listing: it was innermost in samples, or on the stack for a
 * noteworthy time. Functions that every program has are not. */
static bool is_noteworthy(const struct tally *tally, uint32_t name)
{
    const struct count *count = &tally->counts.data[name];
    if (count->self > 0)
        return true;
    return count->inclusive * 100ull >= tally->samples * MIN_PERCENT && count->inclusive > 0 &&
           !is_entry(strtab_get(tally->names, name));
}

/* Moves the function called `name` to the front. */
static void put_first(struct argus_costly_function *functions, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(functions[i].name, name) != 0)
            continue;
        struct argus_costly_function key = functions[i];
        memmove(functions + 1, functions, i * sizeof(*functions));
        functions[0] = key;
        return;
    }
}

/* A function in the form of the answer; without memory its name is NULL. */
static struct argus_costly_function describe(const struct tally *tally, uint32_t name)
{
    const struct count *count = &tally->counts.data[name];
    const char *image = strtab_get(tally->names, count->image);
    struct argus_costly_function function = {
        .name = strdup(strtab_get(tally->names, name)),
        .image = strdup(image),
        .script = count->script,
        .inlined = !count->called,
        .base = !count->script && is_base_library(*image ? image : NULL),
        .self = count->self,
        .inclusive = count->inclusive,
        .samples = tally->samples,
        .address = count->address,
        .is_return = count->is_return,
    };
    if (!function.name || !function.image)
        costly_functions_free(&function, 1);
    return function;
}

/* Shortens the list to the most important functions: the first ones, and the first of the program's
 * own. */
static size_t keep_first(struct argus_costly_function *all, size_t count)
{
    size_t kept = 0, own = 0;
    for (size_t i = 0; i < count; i++) {
        bool keep = kept < MAX_FUNCTIONS || (!all[i].base && own < MAX_OWN);
        own += keep && !all[i].base;
        if (keep)
            all[kept++] = all[i];
        else
            costly_functions_free(&all[i], 1);
    }
    return kept;
}

static struct argus_error *rank(struct tally *tally, uint32_t key, struct argus_culprit *culprit)
{
    size_t count = 0;
    struct argus_costly_function *all = calloc(tally->counts.length + 1, sizeof(*all));
    if (!all)
        return argus_error_memory();
    for (uint32_t i = 0; i < tally->counts.length; i++) {
        if (!is_noteworthy(tally, i))
            continue;
        all[count] = describe(tally, i);
        if (!all[count++].name) {
            costly_functions_free(all, count);
            free(all);
            return argus_error_memory();
        }
    }
    if (count > 0)
        qsort(all, count, sizeof(*all), compare_functions);
    if (key != ARGUS_NONE)
        put_first(all, count, strtab_get(tally->names, key));
    culprit->functions = all;
    culprit->function_count = keep_first(all, count);
    return NULL;
}

/* Sets the most frequent stack; among equals, the one seen first. */
static void set_stack(const struct tally *tally, struct argus_culprit *culprit)
{
    uint32_t most = 0;
    for (size_t i = 0; i < tally->stack_counts.length; i++) {
        if (tally->stack_counts.data[i].count > most) {
            most = tally->stack_counts.data[i].count;
            culprit->stack = tally->stack_counts.data[i].stack;
        }
    }
}

/* Sets the function that identifies the hang: not an inlined one, since another file may have the
 * same hang without debug information. */
static struct argus_error *set_code(struct tally *tally, struct window window,
                                    struct argus_culprit *culprit)
{
    uint32_t key = ARGUS_NONE;
    if (!culprit->function_count || !culprit->functions[0].inlined)
        return NULL;
    struct argus_error *error =
        find_key(tally, culprit->stack, window.start_ns, CHOICE_CALLED, &key);
    if (!error && key != ARGUS_NONE) {
        culprit->code_function = strdup(strtab_get(tally->names, key));
        error = culprit->code_function ? NULL : argus_error_memory();
    }
    return error;
}

struct argus_error *costly_functions_find(struct diagnoser *d, uint32_t thread,
                                          struct window window, struct argus_culprit *culprit)
{
    struct tally tally = {.d = d, .process = d->view.threads[thread].process};
    tally.names = strtab_create();
    struct argus_error *error =
        tally.names ? count_samples(&tally, thread, window) : argus_error_memory();
    if (!error)
        set_stack(&tally, culprit);
    uint32_t key = ARGUS_NONE;
    for (enum choice choice = CHOICE_SCRIPTS; choice <= CHOICE_ALL && key == ARGUS_NONE && !error;
         choice++)
        if (tally.stack_counts.length > 0)
            error = find_key(&tally, culprit->stack, window.start_ns, choice, &key);
    if (!error)
        error = rank(&tally, key, culprit);
    if (!error)
        error = set_code(&tally, window, culprit);
    strtab_destroy(tally.names);
    idmap_deinit(&tally.by_address);
    vec_deinit(&tally.lists);
    idmap_deinit(&tally.stacks);
    vec_deinit(&tally.counts);
    vec_deinit(&tally.stack_counts);
    return error;
}
