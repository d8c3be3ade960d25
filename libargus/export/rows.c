#include "export/rows.h"

#include <stdio.h>
#include <string.h>

#include "argus/hangs.h"
#include "base/utf8.h"
#include "export/export_edges.h"
#include "export/export_names.h"
#include "report/diagnosis_words.h"
#include "slice/timeline.h"

enum table_number {
#define ROW(name, about) TABLE_##name,
#define COLUMN(name, type, about)
#define ROW_END
#include "export/rows.def"
#undef ROW
#undef COLUMN
#undef ROW_END
    TABLES
};

/* clang-format off: the pieces of an initializer are no statements */
static const struct row_table tables[] = {
#define ROW(name, about)                                                                           \
    {                                                                                              \
#name,                                                                                     \
        {
#define COLUMN(name, type, about) {#name, ROW_##type},
#define ROW_END                                                                                    \
    {                                                                                              \
        NULL, ROW_NULL                                                                             \
    }                                                                                              \
    }                                                                                              \
    }                                                                                              \
    ,
#include "export/rows.def"
#undef ROW
#undef COLUMN
#undef ROW_END
};
/* clang-format on */

struct rows {
    const struct argus_report_context *context;
    const struct argus_export *part;
    const struct row_taker *taker;
    struct view view;
    struct row_cell cells[ROW_MOST_COLUMNS];
    size_t count;
    bool ended; /* the taker wants no more */
};

size_t rows_tables(const struct row_table **ret)
{
    *ret = tables;
    return TABLES;
}

size_t row_table_columns(const struct row_table *table)
{
    size_t count = 0;
    while (table->columns[count].name)
        count++;
    return count;
}

/* --- cells, in the order of the columns --- */

static void add(struct rows *rows, struct row_cell cell)
{
    if (rows->count < ROW_MOST_COLUMNS)
        rows->cells[rows->count++] = cell;
}

static void add_number(struct rows *rows, uint64_t number)
{
    add(rows, (struct row_cell){.type = ROW_NUMBER, .number = number});
}

/* Null if `number` is `none`. */
static void add_unless(struct rows *rows, uint64_t number, uint64_t none)
{
    add(rows, (struct row_cell){.type = number == none ? ROW_NULL : ROW_NUMBER, .number = number});
}

static void add_flag(struct rows *rows, bool flag)
{
    add(rows, (struct row_cell){.type = ROW_FLAG, .number = flag});
}

static void add_text(struct rows *rows, const char *text)
{
    add(rows, (struct row_cell){.type = text ? ROW_TEXT : ROW_NULL, .text = text});
}

/* Ends the row. Columns without a cell are null. */
static void put(struct rows *rows, enum table_number table)
{
    while (rows->count < ROW_MOST_COLUMNS)
        rows->cells[rows->count++] = (struct row_cell){.type = ROW_NULL};
    rows->count = 0;
    if (!rows->ended && !rows->taker->put(rows->taker->context, &tables[table], rows->cells))
        rows->ended = true;
}

/* --- tables --- */

static void put_trace(struct rows *rows)
{
    const struct argus_trace *trace = argus_graph_trace(rows->context->graph);
    const struct argus_trace_header *header = argus_trace_header(trace);
    uint64_t start_ns = argus_graph_start_ns(rows->context->graph);
    add_text(rows, ROWS_FORMAT);
    add_number(rows, ROWS_VERSION);
    add_text(rows, argus_trace_name(trace));
    add_text(rows, header->os == ARGUS_OS_LINUX ? "linux" : "darwin");
    add_text(rows, header->host);
    add_number(rows, header->cpu_count);
    add_number(rows, start_ns);
    add_number(rows, argus_graph_end_ns(rows->context->graph));
    add_number(rows, argus_trace_ns_to_wall_ns(trace, start_ns));
    add_number(rows, argus_trace_record_count(trace));
    add_number(rows, argus_trace_lost_count(trace));
    put(rows, TABLE_trace);
}

static void put_processes(struct rows *rows)
{
    for (size_t i = 0; i < rows->view.process_count && !rows->ended; i++) {
        const struct argus_process *process = &rows->view.processes[i];
        add_number(rows, i);
        add_number(rows, process->pid);
        add_unless(rows, process->parent_pid, 0);
        add_text(rows, process->name);
        add_flag(rows, process->kernel);
        add_unless(rows, process->start_ns, 0);
        add_unless(rows, process->end_ns, UINT64_MAX);
        put(rows, TABLE_process);
    }
}

static void put_threads(struct rows *rows)
{
    for (size_t i = 0; i < rows->view.thread_count && !rows->ended; i++) {
        const struct argus_thread *thread = &rows->view.threads[i];
        add_number(rows, i);
        add_number(rows, thread->process);
        add_number(rows, thread->tid);
        add_text(rows, thread->name);
        add_unless(rows, thread->start_ns, 0);
        add_unless(rows, thread->end_ns, UINT64_MAX);
        put(rows, TABLE_thread);
    }
}

static void add_wait(struct rows *rows, uint32_t vertex, char *buffer, size_t bytes)
{
    const struct argus_wait *wait = &rows->view.vertices[vertex].wait;
    if (wait->kind == ARGUS_WAIT_NONE)
        return;
    add_text(rows, argus_wait_kind_name((enum argus_wait_kind)wait->kind));
    add_text(rows, argus_wait_text(rows->context->graph, vertex, buffer, bytes));
    add_number(rows, wait->end_ns);
    add_text(rows, argus_outcome_name((enum argus_outcome)wait->outcome));
}

static void put_vertices(struct rows *rows)
{
    char name[EXPORT_NAME_BYTES], wait[EXPORT_NAME_BYTES];
    for (size_t i = 0; i < rows->part->count && !rows->ended; i++) {
        uint32_t vertex = rows->part->vertices[i];
        const struct argus_vertex *v = &rows->view.vertices[vertex];
        add_number(rows, vertex);
        add_number(rows, v->thread);
        add_text(rows, export_segment_name(rows->context, vertex, name, sizeof(name)));
        add_text(rows, argus_vertex_type_name(argus_vertex_type(v, ARGUS_HANG_THRESHOLD_NS)));
        add_number(rows, v->start_ns);
        add_number(rows, v->end_ns);
        add_number(rows, v->run_ns);
        add_number(rows, v->runnable_ns);
        add_number(rows, v->repeat);
        add_flag(rows, v->flags & ARGUS_VERTEX_GAP);
        add_wait(rows, vertex, wait, sizeof(wait));
        put(rows, TABLE_vertex);
    }
}

static void put_edge(struct rows *rows, const struct argus_edge *edge)
{
    const struct argus_rule *rules;
    size_t count = argus_graph_rules(rows->context->graph, &rules);
    add_number(rows, (uint64_t)(edge - rows->view.edges));
    add_number(rows, edge->from);
    add_number(rows, edge->to);
    add_number(rows, edge->from_ns);
    add_number(rows, edge->to_ns);
    add_text(rows, argus_edge_name(edge));
    add_flag(rows, edge->strong);
    add_text(rows, edge->rule < count ? rules[edge->rule].name : NULL);
    put(rows, TABLE_edge);
}

static void put_edges(struct rows *rows)
{
    for (size_t i = 0; i < rows->part->count; i++) {
        const struct argus_edge *in;
        size_t count = argus_graph_in_edges(rows->context->graph, rows->part->vertices[i], &in);
        for (size_t k = 0; k < count && !rows->ended; k++)
            if (export_draws(rows->part, &in[k]))
                put_edge(rows, &in[k]);
    }
}

static void put_hang(struct rows *rows, size_t number, const struct argus_export_hang *item)
{
    const struct argus_hang *hang = item->hang;
    char words[DIAGNOSIS_SUMMARY_BYTES];
    const char *summary =
        item->diagnosis
            ? diagnosis_summary_text(rows->context->graph, item->diagnosis, words, sizeof(words))
            : NULL;
    add_number(rows, number);
    add_number(rows, hang->thread);
    add_unless(rows, hang->vertex, ARGUS_NONE);
    add_number(rows, hang->start_ns);
    add_number(rows, hang->end_ns);
    add_text(rows, argus_vertex_type_name((enum argus_vertex_type)hang->type));
    add_text(rows, argus_nature_name((enum argus_hang_nature)hang->nature));
    add_text(rows, argus_indicator_name((enum argus_indicator)hang->indicator));
    add_flag(rows, hang->ongoing);
    add_flag(rows, hang->urgency != ARGUS_URGENCY_NOBODY);
    add_number(rows, hang->run_ns);
    add_number(rows, hang->runnable_ns);
    add_number(rows, hang->wait_ns);
    add_number(rows, hang->yield_ns);
    add_text(rows, summary);
    put(rows, TABLE_hang);
}

static void put_steps(struct rows *rows, size_t hang, const struct argus_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->path_count && !rows->ended; i++) {
        const struct argus_path_step *step = &diagnosis->path[i];
        add_number(rows, hang);
        add_number(rows, i + 1);
        add_number(rows, step->vertex);
        add_unless(rows, step->edge, ARGUS_NONE);
        add_flag(rows, step->expected);
        add_flag(rows, step->vague);
        put(rows, TABLE_step);
    }
}

static void put_culprits(struct rows *rows, size_t hang, const struct argus_diagnosis *diagnosis)
{
    char why[DIAGNOSIS_SUMMARY_BYTES];
    for (size_t i = 0; i < diagnosis->culprit_count && !rows->ended; i++) {
        const struct argus_culprit *culprit = &diagnosis->culprits[i];
        const struct argus_costly_function *function =
            culprit->function_count ? &culprit->functions[0] : NULL;
        add_number(rows, hang);
        add_number(rows, i + 1);
        add_number(rows, culprit->vertex);
        add_text(rows, argus_vertex_type_name((enum argus_vertex_type)culprit->type));
        add_number(rows, culprit->start_ns);
        add_number(rows, culprit->end_ns);
        add(rows, (struct row_cell){.type = ROW_REAL, .real = culprit->share});
        add_text(rows, function ? function->name : NULL);
        add_text(rows, function && function->image[0] ? function->image : NULL);
        argus_culprit_why(rows->context, culprit, why, sizeof(why));
        utf8_repair(why, strlen(why));
        add_text(rows, why);
        put(rows, TABLE_culprit);
    }
}

static void put_hangs(struct rows *rows)
{
    for (size_t i = 0; i < rows->part->hang_count && !rows->ended; i++)
        put_hang(rows, i + 1, &rows->part->hangs[i]);
    for (size_t i = 0; i < rows->part->hang_count && !rows->ended; i++)
        if (rows->part->hangs[i].diagnosis)
            put_steps(rows, i + 1, rows->part->hangs[i].diagnosis);
    for (size_t i = 0; i < rows->part->hang_count && !rows->ended; i++)
        if (rows->part->hangs[i].diagnosis)
            put_culprits(rows, i + 1, rows->part->hangs[i].diagnosis);
}

static void put_contexts(struct rows *rows)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    size_t count = rows->part->contexts ? argus_contexts_nodes(rows->part->contexts, &nodes) : 0;
    if (count)
        argus_contexts_functions(rows->part->contexts, &functions);
    for (size_t i = 1; i < count && !rows->ended; i++) { /* node 0 is the root */
        const struct argus_context_function *function = &functions[nodes[i].function];
        add_number(rows, i);
        add_unless(rows, nodes[i].parent, 0);
        add_number(rows, nodes[i].depth);
        add_text(rows, function->name);
        add_text(rows, function->image[0] ? function->image : NULL);
        add_number(rows, nodes[i].count);
        add_number(rows, nodes[i].own_ns[ARGUS_CONSERVATIVE]);
        add_number(rows, nodes[i].total_ns[ARGUS_CONSERVATIVE]);
        put(rows, TABLE_context);
    }
}

void rows_put(const struct argus_report_context *context, const struct argus_export *part,
              const struct row_taker *taker)
{
    struct rows rows = {
        .context = context, .part = part, .taker = taker, .view = view_of(context->graph)};
    put_trace(&rows);
    put_processes(&rows);
    put_threads(&rows);
    put_vertices(&rows);
    put_edges(&rows);
    put_hangs(&rows);
    put_contexts(&rows);
}
