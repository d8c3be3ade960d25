/* The expected and the actual path side by side.
 *
 * Both are accounts, of the hang and of the baseline's wait (or run), and each adds up to the whole
 * of its stretch. Time of the same role, which is a process and a thread by their names, is added
 * up. The actual path parts from the expected one at the role with the largest difference. A role
 * on the expected path that has no part in the actual one was not reached.
 */
#include <string.h>

#include "diagnose/baseline/paths_compared.h"
#include "diagnose/diagnoser.h"

#define MAX_ROWS 8
/* What differs by less than this part of the hang is left out. */
#define MIN_PART 100

/* The owner of some time in an account. */
struct side {
    const struct view *view;
    const struct argus_account *account;
};

static bool same_role(const struct view *a, uint32_t x, const struct view *b, uint32_t y)
{
    const struct argus_thread *p = &a->threads[x], *q = &b->threads[y];
    bool p_main = a->processes[p->process].main_thread == x;
    bool q_main = b->processes[q->process].main_thread == y;
    return strcmp(a->processes[p->process].name, b->processes[q->process].name) == 0 &&
           p_main == q_main && (p_main || strcmp(p->name, q->name) == 0);
}

typedef VEC(struct argus_path_part) comparison_list;

/* The row for the role of `vertex`, which is of `view`; NULL: none yet. */
static struct argus_path_part *find_row(comparison_list *rows, const struct view *actual,
                                        const struct view *normal, const struct view *view,
                                        uint32_t vertex)
{
    uint32_t thread = view->vertices[vertex].thread;
    for (size_t i = 0; i < rows->length; i++) {
        struct argus_path_part *row = &rows->data[i];
        bool has_actual = row->actual != ARGUS_NONE;
        const struct view *of = has_actual ? actual : normal;
        uint32_t known = of->vertices[has_actual ? row->actual : row->normal].thread;
        if (same_role(of, known, view, thread))
            return row;
    }
    return NULL;
}

/* Adds the stretches of one side; a row's vertex is the one with the longest stretch. */
static bool add_side(comparison_list *rows, const struct view *actual, const struct view *normal,
                     struct side side, bool is_actual)
{
    uint64_t longest[64] = {0};
    for (size_t i = 0; i < side.account->count; i++) {
        const struct argus_stretch *stretch = &side.account->stretches[i];
        uint64_t ns = stretch->end_ns - stretch->start_ns;
        if (stretch->vertex == ARGUS_NONE || stretch->state == ARGUS_STRETCH_UNKNOWN)
            continue;
        struct argus_path_part *row = find_row(rows, actual, normal, side.view, stretch->vertex);
        if (!row) {
            struct argus_path_part made = {.actual = is_actual ? stretch->vertex : ARGUS_NONE,
                                           .normal = is_actual ? ARGUS_NONE : stretch->vertex};
            if (!vec_push(rows, made))
                return false;
            row = &rows->data[rows->length - 1];
        }
        size_t at = (size_t)(row - rows->data);
        uint32_t *vertex = is_actual ? &row->actual : &row->normal;
        *(is_actual ? &row->actual_ns : &row->normal_ns) += ns;
        if (*vertex == ARGUS_NONE || (at < 64 && ns > longest[at])) {
            *vertex = stretch->vertex;
            if (at < 64)
                longest[at] = ns;
        }
    }
    return true;
}

static uint64_t difference(const struct argus_path_part *row)
{
    return row->actual_ns > row->normal_ns ? row->actual_ns - row->normal_ns
                                           : row->normal_ns - row->actual_ns;
}

bool path_part_differs(const struct argus_path_part *part, uint64_t hang_ns)
{
    return difference(part) >= hang_ns / MIN_PART;
}

static int compare_rows(const void *a, const void *b)
{
    const struct argus_path_part *x = a, *y = b;
    if (difference(x) != difference(y))
        return difference(x) > difference(y) ? -1 : 1;
    if (x->actual != y->actual)
        return x->actual < y->actual ? -1 : 1;
    return x->normal < y->normal ? -1 : x->normal > y->normal;
}

/* Keeps the rows that are worth showing: those on both paths or with a noteworthy difference. */
static size_t keep_noteworthy(struct argus_path_part *rows, size_t count, uint64_t hang_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < MAX_ROWS; i++)
        if (rows[i].normal != ARGUS_NONE || path_part_differs(&rows[i], hang_ns))
            rows[kept++] = rows[i];
    return kept;
}

/* The part of the baseline that is compared: its wait, or its run if the hang was one. */
static struct window normal_window(const struct diagnoser *d, const struct view *normal)
{
    const struct argus_vertex *v = &normal->vertices[d->baseline];
    if (d->hang.type == ARGUS_TYPE_LONG_RUNNING)
        return (struct window){v->start_ns, v->end_ns};
    return (struct window){v->end_ns, timeline_wait_end(normal, d->baseline)};
}

struct argus_error *diagnoser_compare_paths(struct diagnoser *d)
{
    struct argus_account account;
    if (d->baseline == ARGUS_NONE)
        return NULL;
    struct view normal = view_of(d->baseline_graph);
    struct window window = normal_window(d, &normal);
    struct argus_error *error =
        argus_account(d->baseline_graph, normal.vertices[d->baseline].thread, window.start_ns,
                      window.end_ns, &account);
    if (error)
        return error;
    comparison_list rows = {0};
    struct side actual_side = {&d->view, &d->accounting}, normal_side = {&normal, &account};
    bool good = add_side(&rows, &d->view, &normal, actual_side, true) &&
                add_side(&rows, &d->view, &normal, normal_side, false);
    if (good && rows.length > 0)
        qsort(rows.data, rows.length, sizeof(*rows.data), compare_rows);
    argus_account_deinit(&account);
    d->comparison = rows.data;
    d->comparison_count =
        good ? keep_noteworthy(rows.data, rows.length, d->hang.end_ns - d->hang.start_ns) : 0;
    return good ? NULL : argus_error_memory();
}
