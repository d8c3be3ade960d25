/* Callbacks and UI events, as the probes in libraries report them (docs/man/argus-trace.5.md, section CALLBACKS).
 *
 * An event loop does many people's work in one thread, one callback after the other; without a boundary between
 * them each would seem to be caused by whatever woke the loop first. So a callback begins a vertex. What it was queued by
 * causes it (rules/callback.c); a callback without a key, and a UI event, was found ready by the loop itself, in the
 * segment that read it: that one causes it. When the callback has ended, the loop's next segment begins.
 *
 * Few ends have a record of their own. Instead, the stack pointer tells: what began at or below that of a later record, or of a turn of
 * the loop (a probe tells that, or the recorder by where the thread polls), has returned. A callback inside of another one belongs to it, but for two cases: the outer one runs an event loop of its
 * own (a modal dialog), which shows by a turn of that loop; and a UI event below a callback that is none, which only means that the
 * path to it is longer: the callback had ended, as loops do not hand out events while something else runs.
 */
#include "graph/build/on_callback.h"

#include "graph/build/handlers.h"
#include "graph/build/looked_up.h"
#include "graph/build/talk.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/rules/callback.h"
#include "graph/rules/voucher.h"
#include "graph/schema/rule_binding.h"

static void pop(struct open_callbacks *open)
{
    open->depth--;
}

/* Takes away what has returned; true if there was any. */
static bool pop_returned(struct open_callbacks *open, uint64_t sp)
{
    bool popped = false;
    while (open->depth && open->entries[open->depth - 1].sp <= sp) {
        pop(open);
        popped = true;
    }
    return popped;
}

static void push(struct open_callbacks *open, uint64_t sp, bool is_ui, uint32_t unit)
{
    if (open->depth == MOST_OPEN_CALLBACKS) /* the outermost one is forgotten */
        for (uint32_t i = 1; i < open->depth--; i++)
            open->entries[i - 1] = open->entries[i];
    open->entries[open->depth++] = (struct open_callback){.sp = sp, .unit = unit, .is_ui = is_ui};
}

/* Inside of a callback, and not in an event loop that this one runs. */
static bool is_open(const struct open_callbacks *open)
{
    const struct open_callback *top = open->depth ? &open->entries[open->depth - 1] : NULL;
    return top && !top->has_loop && !top->doubtful;
}

/* The innermost unit of a user's rule, from 1; 0: none. */
static uint8_t innermost_unit(const struct open_callbacks *open)
{
    uint8_t depth = open->depth;
    while (depth && open->entries[depth - 1].unit == ARGUS_NONE)
        depth--;
    return depth;
}

/* The thread polled. Where its turns are not reported, it was the loop that did; but a user's unit may poll or sleep, and whether
 * it does shows in the stack of the wait. */
static void forget_polled(struct open_callbacks *open)
{
    open->depth = innermost_unit(open);
    if (open->depth)
        open->entries[open->depth - 1].doubtful |=
            open->entries[open->depth - 1].sp != UNTIL_ITS_END;
}

/* For rule_apply_stacks(): the wait that has just ended may be inside of a unit. */
static void note_unit_wait(struct builder *builder, const struct thread_state *state)
{
    const struct open_callbacks *open = &state->open;
    if (!open->depth)
        return;
    const struct open_callback *top = &open->entries[open->depth - 1];
    struct unit_wait noted = {
        .since_ns = slot_at(builder, state->slot)->end_ns, .slot = state->slot, .rule = top->unit};
    if (top->unit != ARGUS_NONE && top->sp != UNTIL_ITS_END &&
        !vec_push(&builder->binding->unit_waits, noted))
        builder->no_memory = true;
}

/* An event loop begins anew behind its poll; but what it waits for in between (a lock, a reply) is the same turn. */
uint32_t callback_goes_on(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    uint8_t wait = slot_at(builder, state->slot)->wait.kind;
    bool polled = wait == ARGUS_WAIT_POLL || wait == ARGUS_WAIT_SLEEP;
    if (polled && !state->open.has_turns)
        forget_polled(&state->open);
    note_unit_wait(builder, state);
    bool in_turn = state->open.has_turns && !polled;
    return is_open(&state->open) || in_turn ? ARGUS_VERTEX_CONTINUES : 0;
}

/* The state of the thread on the cpu, if its vertex can be cut. */
static struct thread_state *running(struct builder *builder, const struct cpu_state *cpu)
{
    if (cpu->thread == ARGUS_NONE)
        return NULL;
    struct thread_state *state = thread_at(builder, cpu->thread);
    return state->slot != ARGUS_NONE && state->activity == THREAD_RUNNING ? state : NULL;
}

/* Adds what a record says about the vertex of `thread`. */
static void add_note(struct builder *builder, uint32_t thread, const struct argus_callback *note)
{
    struct argus_graph *graph = builder->graph;
    struct argus_callback added = *note;
    added.time_ns = builder->now_ns;
    added.vertex = thread_at(builder, thread)->slot;
    if (graph->callbacks.length >= ARGUS_NONE - 1)
        builder->full = true;
    else if (!vec_push(&graph->callbacks, added))
        builder->no_memory = true;
}

/* Where the loop is, before something begins: the segment that is now, or, when one callback follows the other, the last
 * one that was the loop's. */
static void remember_loop(struct builder *builder, uint32_t thread, bool follows)
{
    struct thread_state *state = thread_at(builder, thread);
    bool known = state->open.loop.slot != ARGUS_NONE;
    if (!(follows && state->open.has_turns && known))
        state->open.loop =
            (struct actor){.since_ns = builder->now_ns, .thread = thread, .slot = state->slot};
}

/* Begins a vertex, unless the callback belongs to the one that is open. */
static bool begin(struct builder *builder, uint32_t thread, const struct argus_record *record,
                  bool is_ui)
{
    struct open_callbacks *open = &thread_at(builder, thread)->open;
    uint32_t unit = rule_binding_find(builder->binding, record->arg[2], RULE_KINDS_OF_UNITS);
    bool is_unit = unit != ARGUS_NONE && !is_ui;
    bool follows = pop_returned(open, record->arg[3]);
    if (open->depth && is_ui && !open->entries[open->depth - 1].is_ui &&
        !open->entries[open->depth - 1].has_loop) {
        pop(open);
        follows = true;
    }
    if (is_open(open) && !is_unit)
        return false;
    remember_loop(builder, thread, follows);
    struct actor loop = open->loop;
    bool until_end = is_unit && rule_binding_has_end(builder->binding, unit);
    push(open, until_end ? UNTIL_ITS_END : record->arg[3], is_ui, is_unit ? unit : ARGUS_NONE);
    if (!vertex_cut(builder, thread, is_unit ? rule_of_user(unit) : RULE_BOUNDARY_CALLBACK))
        return false;
    struct cause cause;
    rule_dispatch(builder, thread, record, is_ui, &loop, &cause);
    cause.edge.to_ns = builder->now_ns;
    thread_at(builder, thread)->cause = cause;
    return true;
}

/* The end of one unit need not have a key, but is no turn of a loop. */
static bool is_end_probe(const struct builder *builder, uint64_t number)
{
    const struct argus_probe_entry *probe =
        number > UINT32_MAX ? NULL : argus_graph_probe(builder->graph, (uint32_t)number);
    return probe && probe->shape == ARGUS_PROBE_END;
}

/* A user's rule ends the innermost unit of its space, and with it what is open inside. */
static void end_unit(struct builder *builder, uint32_t thread, uint32_t rule)
{
    struct open_callbacks *open = &thread_at(builder, thread)->open;
    uint8_t depth = open->depth;
    while (depth && !rule_binding_ends(builder->binding, rule, open->entries[depth - 1].unit))
        depth--;
    if (!depth)
        return;
    open->depth = (uint8_t)(depth - 1);
    vertex_cut(builder, thread, rule_of_user(rule));
}

/* A turn of the loop, or the end of a function: what was open above it has ended. */
static void end(struct builder *builder, uint32_t thread, const struct argus_record *record)
{
    uint32_t rule =
        rule_binding_find(builder->binding, record->arg[2], RULE_KIND_BIT(ARGUS_RULE_END));
    if (rule != ARGUS_NONE) {
        end_unit(builder, thread, rule);
        return;
    }
    struct open_callbacks *open = &thread_at(builder, thread)->open;
    bool is_turn = record->arg[0] == 0 && !is_end_probe(builder, record->arg[2]);
    bool cuts = pop_returned(open, record->arg[3]);
    open->has_turns |= is_turn;
    if (is_turn && open->depth && !open->entries[open->depth - 1].has_loop) {
        open->entries[open->depth - 1].has_loop = true;
        cuts = true;
    }
    if (cuts && vertex_cut(builder, thread, RULE_BOUNDARY_LOOP) && is_turn)
        slot_at(builder, thread_at(builder, thread)->slot)->flags |= ARGUS_VERTEX_LOOP;
}

/* A function of the program is called. `begins`: a vertex begins with it already. */
static void note_call(struct builder *builder, uint32_t thread, uint64_t function, bool begins)
{
    struct unit_call call = {
        .function = function, .time_ns = builder->now_ns, .talk = ARGUS_NONE, .thread = thread};
    if (!builder->binding->has_units || !function)
        return;
    if (!begins)
        call.talk = talk_note(builder, thread);
    if ((begins || call.talk != ARGUS_NONE) && !vec_push(&builder->binding->unit_calls, call))
        builder->no_memory = true;
}

void graph_on_callback(struct builder *builder, struct cpu_state *cpu,
                       const struct argus_record *record)
{
    if (!running(builder, cpu))
        return;
    if (ARGUS_DEBUGID_FUNC(record->debugid) != ARGUS_FUNC_START) {
        end(builder, cpu->thread, record);
        return;
    }
    struct argus_callback note = {
        .function = record->arg[1], .probe = (uint32_t)record->arg[2], .what = ARGUS_CALLBACK_RUN};
    note.nested = !begin(builder, cpu->thread, record, false);
    note_call(builder, cpu->thread, note.function, !note.nested);
    add_note(builder, cpu->thread, &note);
    vertex_op(builder, cpu->thread, ARGUS_OP_CALLBACK << 24 | (note.probe & 0xffff));
}

/* Moving the mouse asks for nothing yet. */
static bool is_on_purpose(uint64_t kind)
{
    return kind == ARGUS_UI_KEY_PRESS || kind == ARGUS_UI_KEY_RELEASE ||
           kind == ARGUS_UI_BUTTON_PRESS || kind == ARGUS_UI_BUTTON_RELEASE ||
           kind == ARGUS_UI_SCROLL || kind == ARGUS_UI_TOUCH || kind == ARGUS_UI_CLOSE;
}

void graph_on_ui_event(struct builder *builder, struct cpu_state *cpu,
                       const struct argus_record *record)
{
    if (!running(builder, cpu))
        return;
    bool read_only = record->arg[3] == 0;
    uint64_t kind = record->arg[0] < ARGUS_UI_EVENTS ? record->arg[0] : ARGUS_UI_OTHER;
    struct argus_callback note = {
        .probe = (uint32_t)record->arg[2],
        .what = read_only ? ARGUS_CALLBACK_UI_READ : ARGUS_CALLBACK_UI_EVENT,
        .ui_event = (uint8_t)kind,
        .on_purpose = is_on_purpose(kind),
    };
    if (read_only)
        rule_ui_read(builder, cpu->thread, kind);
    else
        note.nested = !begin(builder, cpu->thread, record, true);
    add_note(builder, cpu->thread, &note);
    if (!read_only && !note.nested)
        vertex_op(builder, cpu->thread, ARGUS_OP_UI_EVENT << 24 | (uint32_t)kind);
}

/* What the label says is for people, for rules of theirs (argus schema), and for finding hangs; it causes nothing. */
void graph_on_hook(struct builder *builder, struct cpu_state *cpu,
                   const struct argus_record *record)
{
    if (record->arg[2] == ARGUS_PROBE_VOUCHER) {
        rule_voucher(builder, record);
    } else if (record->arg[2] == ARGUS_PROBE_PATH) {
        looked_up_note(builder, cpu, record);
    } else if (running(builder, cpu)) {
        vertex_op(builder, cpu->thread, ARGUS_OP_CALLBACK << 24 | (record->arg[2] & 0xffff));
        rule_note_hook(builder, cpu->thread, record);
    }
}

void graph_on_handler(struct builder *builder, struct cpu_state *cpu,
                      const struct argus_record *record)
{
    if (!running(builder, cpu))
        return;
    struct argus_callback note = {
        .function = record->arg[0],
        .other = record->arg[1],
        .probe = (uint32_t)record->arg[2],
        .what = ARGUS_CALLBACK_HANDLER,
    };
    note_call(builder, cpu->thread, note.function, false);
    add_note(builder, cpu->thread, &note);
}
