/* The costly functions of a busy stretch, from its cpu samples. */
#include <stdio.h>
#include <string.h>

#include "base/idmap.h"
#include "base/strtab.h"
#include "diagnose/diagnoser.h"
#include "diagnose/words.h"

#define MAX_FUNCTIONS 12
#define MAX_OWN       3 /* of the program's own are kept also behind these */
#define KEY_PERCENT   95u
#define MIN_PERCENT   5u

struct count {
    uint32_t self, inclusive;
    uint32_t seen_in; /* number of the last sample that had it, from 1: recursion counts once */
    uint32_t image;   /* file name of the image, id in `names`; 0: unknown */
    uint64_t address; /* where it was seen first */
    bool is_return;
    bool script; /* the image is a script's file */
};

struct stack_count {
    uint32_t stack, count;
};

struct tally {
    struct diagnoser *d;
    uint32_t process, samples;
    struct strtab *names;
    struct idmap by_address;  /* address * 2 + is_return → name */
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

/* The name of the function at `address`. */
static struct argus_error *name_address(struct tally *tally, uint64_t time_ns, uint64_t address,
                                        bool is_return, uint32_t *ret)
{
    uint64_t key = address << 1 | is_return;
    struct argus_symbol symbol = {.function = NULL};
    char text[256];
    *ret = idmap_get(&tally->by_address, key);
    if (*ret != IDMAP_NONE)
        return NULL;
    if (tally->d->symbols)
        symbol = argus_symbols_show(tally->d->symbols, tally->process, time_ns, address, is_return);
    bool is_script = argus_symbol_is_script(&symbol);
    if (is_script) /* "<module>" is in every file */
        snprintf(text, sizeof(text), "%s (%s)", symbol.function, text_image(symbol.file));
    else
        argus_symbol_text(&symbol, address, text, sizeof(text));
    struct argus_error *error =
        intern_function(tally, text, text_image(is_script ? symbol.file : symbol.image), ret);
    if (!error)
        tally->counts.data[*ret].script |= is_script;
    if (!error && !idmap_put(&tally->by_address, key, *ret))
        error = argus_error_memory();
    if (error)
        return error;
    struct count *count = &tally->counts.data[*ret];
    if (!count->address) {
        count->address = address;
        count->is_return = is_return;
    }
    return NULL;
}

static struct argus_error *count_stack(struct tally *tally, const struct argus_sample *sample,
                                       uint32_t stack, bool has_self)
{
    struct argus_stack frames = argus_graph_stack(tally->d->view.graph, stack);
    for (uint32_t i = 0; i < frames.count; i++) {
        uint32_t name;
        if (frames.frames[i] < ARGUS_FRAME_ENDS) /* why the stack ends here */
            break;
        struct argus_error *error =
            name_address(tally, sample->time_ns, frames.frames[i], i > 0, &name);
        if (error)
            return error;
        struct count *count = counts_of(tally, name);
        if (!count)
            return argus_error_memory();
        count->inclusive += count->seen_in != tally->samples;
        count->seen_in = tally->samples;
        count->self += has_self && i == 0;
    }
    return NULL;
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

/* The program's own function counts as the one that ran, also while the kernel worked for it. */
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
    uint32_t name;
    error = name_address(tally, sample->time_ns, sample->pc, false, &name);
    if (error)
        return error;
    struct count *count = counts_of(tally, name);
    if (!count)
        return argus_error_memory();
    count->self++;
    count->inclusive++;
    return NULL;
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

/* Frames that every program has: true, but no help. */
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

void costly_functions_free(struct argus_costly_function *functions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(functions[i].name);
        free(functions[i].image);
        functions[i].name = functions[i].image = NULL;
    }
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

/* The function to look at first: the innermost that is in nearly all samples (the paper's hint). Found on the most
 * frequent stack; ARGUS_NONE if there is none. `script`: only among functions of scripts. */
static struct argus_error *find_key(struct tally *tally, uint32_t stack, uint64_t time_ns,
                                    bool script, uint32_t *ret)
{
    struct argus_stack frames = {.count = 0};
    if (stack != ARGUS_NONE)
        frames = argus_graph_stack(tally->d->view.graph, stack);
    *ret = ARGUS_NONE;
    for (uint32_t i = 0; i < frames.count && *ret == ARGUS_NONE; i++) {
        uint32_t name;
        struct argus_error *error = name_address(tally, time_ns, frames.frames[i], i > 0, &name);
        if (error)
            return error;
        const struct count *count = counts_of(tally, name);
        if (!count)
            return argus_error_memory();
        if (count->inclusive * 100ull >= tally->samples * KEY_PERCENT && count->script >= script &&
            !is_entry(strtab_get(tally->names, name)))
            *ret = name;
    }
    return NULL;
}

/* Where the samples were, and what was on the way for a noteworthy time; what every program has says nothing. */
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

/* A function as the answer has it; without memory its name is NULL. */
static struct argus_costly_function describe(const struct tally *tally, uint32_t name)
{
    const struct count *count = &tally->counts.data[name];
    const char *image = strtab_get(tally->names, count->image);
    struct argus_costly_function function = {
        .name = strdup(strtab_get(tally->names, name)),
        .image = strdup(image),
        .script = count->script,
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

/* Cuts the list to its most important: the first ones, and the first of the program's own. */
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

/* The most frequent stack; the first seen among equals. */
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
    if (!error && tally.stack_counts.length > 0)
        error = find_key(&tally, culprit->stack, window.start_ns, true, &key);
    if (!error && tally.stack_counts.length > 0 && key == ARGUS_NONE)
        error = find_key(&tally, culprit->stack, window.start_ns, false, &key);
    if (!error)
        error = rank(&tally, key, culprit);
    strtab_destroy(tally.names);
    idmap_deinit(&tally.by_address);
    idmap_deinit(&tally.stacks);
    vec_deinit(&tally.counts);
    vec_deinit(&tally.stack_counts);
    return error;
}
