#include "context/write_json.h"

#include <math.h>

#include "context/budget.h"
#include "context/builds.h"
#include "context/charges.h"
#include "context/function_sums.h"
#include "context/rank.h"
#include "context/route.h"
#include "context/wakers.h"
#include "context/write_scope.h"
#include "report/json.h"
#include "report/programs_32_bit.h"
#include "report/report_limits.h"
#include "report/report_unnamed.h"

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* A cost in whole ns. */
static json_t *cost(double ns)
{
    return json_integer((json_int_t)llround(ns));
}

static json_t *both(const uint64_t *ns)
{
    json_t *json = json_object();
    json_put(json, "conservative", number(ns[ARGUS_CONSERVATIVE]));
    json_put(json, "aggressive", number(ns[ARGUS_AGGRESSIVE]));
    return json;
}

static json_t *means(const struct argus_context_node *node)
{
    json_t *json = json_object();
    json_put(json, "conservative", json_real(node_mean_ns(node, ARGUS_CONSERVATIVE)));
    json_put(json, "aggressive", json_real(node_mean_ns(node, ARGUS_AGGRESSIVE)));
    return json;
}

static json_t *node_json(const struct argus_contexts_report *report, uint32_t at)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    const struct argus_context_node *node = &nodes[at];
    const struct argus_context_function *function = &functions[node->function];
    json_t *json = json_object(), *waited = json_object();
    json_put(json, "node", number(at));
    json_put(json, "function", json_text(function->name));
    json_put(json, "image", json_text(function->image[0] ? function->image : NULL));
    json_put(json, "layer", json_text(argus_layer_name(function->layer)));
    json_put(json, "inlined", json_boolean(node->is_inlined));
    json_put(json, "count", number(node->count));
    json_put(json, "mean_ns", means(node));
    json_put(json, "total_ns", both(node->total_ns));
    json_put(json, "own_ns", both(node->own_ns));
    json_put(json, "inferred_ns", both(node->inferred_ns));
    json_put(json, "sampled_ns", json_integer(node->sampled_ns));
    static const char *const kinds[ARGUS_WAITED_KINDS] = {
        [ARGUS_WAITED_OTHERS] = "others", [ARGUS_WAITED_IDLE] = "idle",
        [ARGUS_WAITED_SLEPT] = "slept",   [ARGUS_WAITED_CPU] = "cpu",
        [ARGUS_WAITED_DEVICE] = "device", [ARGUS_WAITED_SCHEDULER] = "scheduler",
    };
    for (int i = 0; i < ARGUS_WAITED_KINDS; i++)
        json_put(waited, kinds[i], number(node->waited_ns[report->options.estimate][i]));
    json_put(json, "waited_ns", waited);
    json_put(json, "cost_ns", cost(report->ranking->costs[at]));
    return json;
}

/* The functions of a path, each with its distance from the bottleneck, as in the paper's heat
 * map. */
static json_t *frames_json(const struct argus_contexts_report *report, const struct route *route,
                           uint32_t bottleneck)
{
    json_t *frames = json_array();
    int place = 0;
    for (uint32_t i = 0; i < route->count; i++)
        place = route->nodes[i] == bottleneck ? (int)i : place;
    for (uint32_t i = 0; i < route->count; i++) {
        json_t *frame = node_json(report, route->nodes[i]);
        json_put(frame, "rank", number(route->ranks[i] + 1));
        json_put(frame, "distance", json_integer(abs((int)i - place)));
        json_add(frames, frame);
    }
    return frames;
}

static json_t *waits_json(const struct argus_contexts_report *report, const struct route *route)
{
    const struct argus_context_wait *waits;
    const struct argus_process *processes;
    json_t *array = json_array();
    size_t count = argus_contexts_waits(report->contexts, &waits);
    argus_graph_processes(argus_contexts_graph(report->contexts), &processes);
    for (uint32_t i = 0; i < route->count; i++)
        for (size_t k = 0; k < count; k++) {
            if (waits[k].node != route->nodes[i])
                continue;
            json_t *wait = json_object();
            json_put(wait, "node", number(waits[k].node));
            json_put(wait, "process", json_text(processes[waits[k].process].name));
            json_put(wait, "pid", number(processes[waits[k].process].pid));
            json_put(wait, "wait_ns", number(waits[k].ns));
            json_put(wait, "ended_ns", number(waits[k].ended_ns));
            json_put(wait, "count", number(waits[k].count));
            json_add(array, wait);
        }
    return array;
}

static json_t *path_json(const struct argus_contexts_report *report,
                         const struct argus_ranked_path *path)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    struct route route;
    json_t *json = json_object();
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    route_fill(report, path->node, &route);
    uint32_t charged = charged_of_path(report->contexts, path);
    uint32_t script = charged_script(report->contexts, charged);
    json_put(json, "cost_ns", cost(path->cost_ns));
    json_put(json, "process", json_text(functions[nodes[route.program].function].name));
    json_put(json, "new", json_boolean(report->base && path->is_new));
    json_put(json, "by_function", json_boolean(report->base && path->by_function));
    json_put(json, "bottleneck", number(path->bottleneck));
    json_put(json, "charged", number(charged));
    json_put(json, "charged_function", json_text(functions[nodes[charged].function].name));
    json_put(json, "script_function",
             script == ARGUS_NONE ? json_null()
                                  : json_text(functions[nodes[script].function].name));
    json_put(json, "elsewhere_ns", cost(path->elsewhere_ns));
    json_put(json, "more_paths", number(path->others));
    json_put(json, "ways", number(path->ways));
    json_put(json, "spread", number(path->spread));
    json_put(json, "chance_ns", cost(path->chance_ns));
    json_put(json, "by_chance", json_boolean(path->by_chance));
    json_put(json, "functions", frames_json(report, &route, path->bottleneck));
    json_put(json, "waits", waits_json(report, &route));
    return json;
}

static json_t *counts_json(const struct argus_contexts_report *report)
{
    const struct argus_context_counts *counts = argus_contexts_counts(report->contexts);
    static const char *const keys[ARGUS_MOMENTS] = {
        "returns", "waits", "wakeups", "data_flags", "system_calls", "preemptions", "cpu_samples"};
    json_t *json = json_object(), *moments = json_object();
    for (int i = 0; i < ARGUS_MOMENTS; i++)
        json_put(moments, keys[i], number(counts->moments[i]));
    json_put(json, "moments", moments);
    json_put(json, "threads", number(counts->threads));
    json_put(json, "paths", number(counts->paths));
    json_put(json, "functions", number(counts->functions));
    json_put(json, "images", number(counts->images));
    json_put(json, "mean_length", json_real(counts->mean_frames));
    json_put(json, "longest", number(counts->longest));
    json_put(json, "instances", number(counts->instances));
    json_put(json, "cut", number(counts->cut));
    json_put(json, "grafted", number(counts->grafted));
    static const char *const reasons[ARGUS_FRAME_ENDS] = {
        [ARGUS_FRAME_CUT] = "copy",        [ARGUS_FRAME_MISSING] = "memory",
        [ARGUS_FRAME_UNKNOWN] = "code",    [ARGUS_FRAME_DEEP] = "depth",
        [ARGUS_FRAME_ASTRAY] = "pointers",
    };
    json_t *by = json_object();
    for (int i = 1; i < ARGUS_FRAME_ENDS; i++)
        json_put(by, reasons[i], number(counts->cut_by[i]));
    json_put(json, "cut_by", by);
    json_put(json, "rootless", number(counts->rootless));
    json_put(json, "missing", number(counts->missing));
    json_put(json, "open_wait_ns", number(counts->open_ns));
    return json;
}

#define MOST_BUILDS 256

/* The files of which the base has another build, or under another name. */
static void put_builds(const struct argus_contexts_report *report, json_t *json)
{
    build_pair_vec pairs = {0};
    json_t *builds = json_array(), *renamed = json_array();
    builds_pair(report->contexts, report->base, &pairs); /* without memory: those found */
    for (size_t i = 0; i < pairs.length && json_array_size(builds) < MOST_BUILDS; i++) {
        const struct build_pair *pair = &pairs.data[i];
        if (pair->is_other && !pair->is_program)
            json_add(builds, json_text(pair->here));
        if (!pair->is_renamed)
            continue;
        json_t *names = json_object();
        json_put(names, "name", json_text(pair->here));
        json_put(names, "base_name", json_text(pair->there));
        json_add(renamed, names);
    }
    vec_deinit(&pairs);
    json_put(json, "other_builds", builds);
    json_put(json, "renamed", renamed);
}

static json_t *base_json(const struct argus_contexts_report *report)
{
    if (!report->base)
        return json_null();
    json_t *json = json_object();
    json_put(json, "file", json_text(report->base_path));
    json_put(json, "paths", number(report->ranking->paths_of_base));
    json_put(json, "equal_paths", number(report->ranking->paths_equal));
    json_put(json, "programs_missing", number(report->ranking->programs_missing));
    put_builds(report, json);
    json_put(json, "by_function_ns", cost(rank_moved_ns(report)));
    return json;
}

/* What the total leaves out of the difference of both traces. */
static struct argus_error *put_gone(const struct argus_contexts_report *report, json_t *json)
{
    double gone_ns;
    struct argus_error *error = rank_gone_ns(report, &gone_ns);
    json_put(json, "only_in_base_ns", cost(gone_ns));
    return error;
}

static struct argus_error *put_charges(const struct argus_contexts_report *report, json_t *json)
{
    struct charges charges;
    json_t *layers = json_array(), *files = json_array();
    struct argus_error *error = charges_create(report, &charges);
    for (int i = 0; !error && i < ARGUS_LAYERS; i++) {
        json_t *layer = json_object();
        json_put(layer, "layer", json_text(argus_layer_name((enum argus_layer)i)));
        json_put(layer, "cost_ns", cost(charges.layers[i]));
        json_put(layer, "charged_ns", cost(charges.charged_layers[i]));
        json_add(layers, layer);
    }
    for (size_t i = 0; !error && i < charges.file_count; i++) {
        json_t *file = json_object();
        const char *image = charges.files[i].image;
        json_put(file, "image", json_text(image[0] ? image : NULL));
        json_put(file, "layer", json_text(argus_layer_name(charges.files[i].layer)));
        json_put(file, "charged_ns", cost(charges.files[i].cost_ns));
        json_add(files, file);
    }
    json_put(json, "layers", layers);
    json_put(json, "files", files);
    if (!error)
        charges_deinit(&charges);
    return error;
}

static struct argus_error *put_functions(const struct argus_contexts_report *report, json_t *json)
{
    const struct argus_context_function *functions;
    struct function_sums sums;
    json_t *array = json_array();
    struct argus_error *error = function_sums_create(report, &sums);
    size_t count = error ? 0 : sums.count;
    argus_contexts_functions(report->contexts, &functions);
    for (size_t i = 0; i < count && (report->tree || i < report->top); i++) {
        const struct function_sum *sum = &sums.items[i];
        const struct argus_context_function *function = &functions[sum->function];
        json_t *item = json_object();
        json_put(item, "function", json_text(function->name));
        json_put(item, "image", json_text(function->image[0] ? function->image : NULL));
        json_put(item, "layer", json_text(argus_layer_name(function->layer)));
        json_put(item, "cost_ns", cost(sum->cost_ns));
        json_put(item, "inclusive_cost_ns", cost(sum->inclusive_cost_ns));
        json_put(item, "own_ns", number(sum->own_ns));
        json_put(item, "total_ns", number(sum->total_ns));
        json_put(item, "waited_ns", number(sum->waited_ns));
        json_put(item, "calls", number(sum->calls));
        json_put(item, "contexts", number(sum->contexts));
        json_add(array, item);
    }
    json_put(json, "functions", array);
    if (!error)
        function_sums_deinit(&sums);
    return error;
}

#define MOST_PEERS  16
#define MOST_WAKERS 16

static struct argus_error *put_wakers(const struct argus_contexts_report *report, uint32_t program,
                                      json_t *json)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    struct waker_row rows[MOST_WAKERS];
    size_t count = 0;
    struct argus_error *error =
        program ? wakers_longest(report, program, rows, MOST_WAKERS, &count) : NULL;
    json_t *array = json_array();
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_object();
        uint32_t node = charged_node(report->contexts, rows[i].node);
        uint32_t waker = charged_node(report->contexts, rows[i].waker);
        uint32_t other = program_of_node(nodes, waker);
        json_put(item, "node", number(rows[i].node));
        json_put(item, "function", json_text(functions[nodes[node].function].name));
        json_put(item, "waker", number(rows[i].waker));
        json_put(item, "waker_function", json_text(functions[nodes[waker].function].name));
        json_put(item, "waker_process", json_text(functions[nodes[other].function].name));
        json_put(item, "wait_ns", cost(rows[i].ns));
        json_put(item, "count", number(rows[i].count));
        json_add(array, item);
    }
    json_put(json, "wakers", array);
    return error;
}

static struct argus_error *add_budget(const struct argus_contexts_report *report,
                                      const struct budget *budget, json_t *array)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    struct budget_peer peers[MOST_PEERS];
    json_t *json = json_object(), *parts = json_object(), *whom = json_array();
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    json_put(json, "process",
             json_text(budget->node ? functions[nodes[budget->node].function].name : NULL));
    json_put(json, "threads", json_integer(budget->threads));
    json_put(json, "wall_ns", cost(budget->wall_ns));
    json_put(json, "thread_ns", cost(budget->thread_ns));
    json_put(json, "cpu_ns", cost(budget->cpu_ns));
    for (int i = 0; i < BUDGET_PARTS; i++)
        json_put(parts, budget_part_key((enum budget_part)i), cost(budget->parts[i]));
    json_put(json, "parts_ns", parts);
    json_put(json, "cpu_wait_without_stack_ns", cost(budget->wanted_unseen_ns));
    size_t count = budget_peers(report, budget, peers, MOST_PEERS);
    for (size_t i = 0; i < count; i++) {
        json_t *peer = json_object();
        json_put(peer, "process", json_text(peers[i].name));
        json_put(peer, "wait_ns", cost(peers[i].ns));
        json_add(whom, peer);
    }
    json_put(json, "others", whom);
    struct argus_error *error = put_wakers(report, budget->node, json);
    json_add(array, json);
    return error;
}

static struct argus_error *put_budgets(const struct argus_contexts_report *report, json_t *json)
{
    struct budgets budgets;
    json_t *array = json_array();
    struct argus_error *error = budgets_create(report, &budgets);
    bool is_made = error == NULL;
    for (size_t i = 0; !error && i < budgets.count; i++)
        error = add_budget(report, &budgets.items[i], array);
    json_put(json, "programs", array);
    if (is_made)
        budgets_deinit(&budgets);
    return error;
}

static json_t *tree_json(const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    json_t *tree = json_array();
    for (size_t i = 1; i < count; i++) {
        json_t *node = node_json(report, (uint32_t)i);
        json_put(node, "parent", number(nodes[i].parent));
        json_add(tree, node);
    }
    return tree;
}

struct argus_error *contexts_write_json(const struct argus_sink *sink,
                                        const struct argus_contexts_report *report)
{
    static const char *const estimates[] = {"conservative", "aggressive"};
    static const char *const ranks[] = {"blame", "total", "mean"};
    const struct argus_trace *trace = argus_graph_trace(argus_contexts_graph(report->contexts));
    json_t *json = json_object(), *paths = json_array();
    json_put(json, "trace", json_text(argus_trace_name(trace)));
    json_put(json, "scope", scope_json(report->contexts));
    json_put(json, "base", base_json(report));
    json_put(json, "estimate", json_text(estimates[report->options.estimate]));
    json_put(json, "rank", json_text(ranks[report->options.rank]));
    json_put(json, "counts", counts_json(report));
    for (size_t i = 0; i < report->ranking->count && i < report->top; i++)
        json_add(paths, path_json(report, &report->ranking->paths[i]));
    json_put(json, "contexts", paths);
    json_put(json, "total_cost_ns", cost(rank_total(report)));
    struct argus_error *error = put_gone(report, json);
    if (!error)
        error = put_charges(report, json);
    if (!error)
        error = put_budgets(report, json);
    if (!error)
        error = put_functions(report, json);
    if (report->tree)
        json_put(json, "tree", tree_json(report));
    json_put(json, "unnamed_frames", json_unnamed(report->contexts->paths.frames.symbols));
    json_put(json, "limits", json_limits(trace, ARGUS_GAP_CONTEXTS, ARGUS_GAP_ANY));
    struct programs_32_bit programs;
    contexts_touch(report->contexts, &programs);
    json_put(json, "programs_32_bit", programs_32_bit_json(&programs));
    programs_32_bit_deinit(&programs);
    if (error)
        json_decref(json);
    return error ? error : json_write(sink, "argus-contexts 1", json);
}
