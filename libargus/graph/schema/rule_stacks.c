#include "graph/schema/rule_stacks.h"

#include <string.h>

/* What each kind of rule applies to. */
static const struct {
    bool by_stack;
    enum stack_class class;
} classes[ARGUS_RULE_KINDS] = {
    [ARGUS_RULE_ENQUEUE] = {true, STACK_WAKER},
    [ARGUS_RULE_EXECUTE] = {true, STACK_UNIT},
    [ARGUS_RULE_BEGIN] = {true, STACK_UNIT},
    [ARGUS_RULE_IGNORE_WAKEUPS] = {true, STACK_WAKER},
    [ARGUS_RULE_WEAK_WAKEUPS] = {true, STACK_WAKER},
    [ARGUS_RULE_STRONG_WAKEUPS] = {true, STACK_WAKER},
};

static const struct stack_match nothing = {.rule = {ARGUS_NONE, ARGUS_NONE}};

struct argus_error *rule_stacks_init(struct rule_stacks *stacks, const struct argus_graph *graph,
                                     const struct argus_user_rule *rules, size_t count)
{
    *stacks = (struct rule_stacks){.graph = graph, .rules = rules, .count = count};
    return argus_symbols_create(graph, &stacks->symbols);
}

void rule_stacks_deinit(struct rule_stacks *stacks)
{
    argus_symbols_destroy(stacks->symbols);
    vec_deinit(&stacks->entries);
    idmap_deinit(&stacks->frame_by_key);
    idmap_deinit(&stacks->stack_by_key);
}

/* --- cache of matches --- */

static uint64_t key_of(uint64_t id, uint32_t process)
{
    return (id ^ (uint64_t)process << 40) * 0x9e3779b97f4a7c15u + process;
}

static const struct match_entry *find_entry(const struct rule_stacks *stacks,
                                            const struct idmap *by_key, uint64_t id,
                                            uint32_t process)
{
    uint32_t at = idmap_get(by_key, key_of(id, process));
    for (at = at == IDMAP_NONE ? 0 : at; at; at = stacks->entries.data[at - 1].next) {
        const struct match_entry *entry = &stacks->entries.data[at - 1];
        if (entry->id == id && entry->process == process)
            return entry;
    }
    return NULL;
}

static void add_entry(struct rule_stacks *stacks, struct idmap *by_key, uint64_t id,
                      uint32_t process, const struct stack_match *match)
{
    uint64_t key = key_of(id, process);
    uint32_t head = idmap_get(by_key, key);
    struct match_entry entry = {
        .id = id, .process = process, .next = head == IDMAP_NONE ? 0 : head, .match = *match};
    if (stacks->entries.length >= ARGUS_NONE - 1 || !vec_push(&stacks->entries, entry) ||
        !idmap_put(by_key, key, (uint32_t)stacks->entries.length))
        stacks->no_memory = true;
}

/* --- matching --- */

/* Functions in which threads begin, of Linux's C libraries and Darwin's system libraries. */
static bool is_outermost(const char *function)
{
    static const char *const names[] = {"_start",       "start_thread",   "clone",         "clone3",
                                        "__clone",      "__clone3",       "main",          "start",
                                        "thread_start", "_pthread_start", "start_wqthread"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(function, names[i]))
            return true;
    return false;
}

/* A function in a stack. */
struct framed {
    const char *function; /* NULL: not known */
    uint32_t process;
    uint64_t address, time_ns; /* to find its image */
    bool is_return;
};

static bool fits(struct rule_stacks *stacks, const struct argus_user_rule *rule,
                 const struct framed *framed)
{
    if (!framed->function || !argus_function_matches(rule->function, framed->function))
        return false;
    if (!rule->library)
        return true;
    struct argus_symbol symbol = argus_symbols_find(
        stacks->symbols, framed->process, framed->time_ns, framed->address, framed->is_return);
    return symbol.image && argus_library_matches(rule->library, symbol.image);
}

static struct stack_match match_function(struct rule_stacks *stacks, const struct framed *framed)
{
    struct stack_match match = nothing;
    match.complete = framed->function && is_outermost(framed->function);
    for (uint32_t i = 0; i < stacks->count; i++) {
        const struct argus_user_rule *rule = &stacks->rules[i];
        uint32_t *best = &match.rule[classes[rule->kind].class];
        if (classes[rule->kind].by_stack && *best == ARGUS_NONE && fits(stacks, rule, framed))
            *best = i;
    }
    return match;
}

static void merge(struct stack_match *into, const struct stack_match *frame)
{
    for (int i = 0; i < STACK_CLASSES; i++)
        if (frame->rule[i] < into->rule[i])
            into->rule[i] = frame->rule[i];
    into->complete |= frame->complete;
    into->gap |= frame->gap;
}

/* The caller of the innermost function may be missing in the stack (argus_symbols_called()). If the
 * call at `framed` names it, it counts as part of the stack; if not, the stack may have a gap.
 * Kernel stacks have none. */
static void match_called(struct rule_stacks *stacks, const struct framed *framed,
                         struct stack_match *match)
{
    struct framed called = *framed;
    called.function =
        argus_symbols_called(stacks->symbols, framed->process, framed->time_ns, framed->address);
    struct stack_match found = match_function(stacks, &called);
    found.complete = false;
    found.gap = !called.function && !(framed->address >> 63);
    merge(match, &found);
}

static struct stack_match match_frame(struct rule_stacks *stacks, uint32_t process,
                                      const struct argus_stack *stack, uint32_t at,
                                      uint64_t time_ns)
{
    struct framed framed = {
        .process = process, .address = stack->frames[at], .time_ns = time_ns, .is_return = at > 0};
    /* an address has different meanings as the innermost frame, as the next one, and farther out */
    uint64_t id = framed.address << 2 | (at < 2 ? at : 2);
    const struct match_entry *known = find_entry(stacks, &stacks->frame_by_key, id, process);
    if (known)
        return known->match;
    framed.function =
        argus_symbols_function(stacks->symbols, process, time_ns, framed.address, framed.is_return);
    struct stack_match match = match_function(stacks, &framed);
    if (at == 1)
        match_called(stacks, &framed, &match);
    add_entry(stacks, &stacks->frame_by_key, id, process, &match);
    return match;
}

struct stack_match rule_stacks_find(struct rule_stacks *stacks, uint32_t process, uint32_t stack,
                                    uint64_t time_ns)
{
    const struct match_entry *known = find_entry(stacks, &stacks->stack_by_key, stack, process);
    if (known)
        return known->match;
    struct stack_match match = nothing;
    struct argus_stack frames = argus_graph_stack(stacks->graph, stack);
    for (uint32_t i = 0; i < frames.count; i++) {
        struct stack_match frame = match_frame(stacks, process, &frames, i, time_ns);
        merge(&match, &frame);
    }
    match.complete = match.complete && !match.gap;
    add_entry(stacks, &stacks->stack_by_key, stack, process, &match);
    return match;
}

uint32_t rule_stacks_unit(struct rule_stacks *stacks, uint32_t process, uint64_t address,
                          uint64_t time_ns)
{
    struct argus_stack stack = {.frames = &address, .count = 1};
    return match_frame(stacks, process, &stack, 0, time_ns).rule[STACK_UNIT];
}
