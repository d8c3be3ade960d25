#include "fleet/fleet_views.h"

#include <math.h>
#include <string.h>

#include "base/compat.h"
#include "fleet/fleet_views_sql.h"
#include "report/json.h"

struct view_row {
    const char *name;
    const char *sql; /* without the part that selects the hangs */
    const char *sort;
};

static const struct view_row views[FLEET_VIEWS] = {
    [FLEET_VIEW_KINDS] = {"kinds", SQL_KINDS, "hangs"},
    [FLEET_VIEW_REGRESSIONS] = {"regressions", SQL_REGRESSIONS, "-p"},
    [FLEET_VIEW_PACKAGES] = {"packages", SQL_PACKAGES, "hangs"},
    [FLEET_VIEW_REASONS] = {"reasons", SQL_REASONS, "ns"},
    [FLEET_VIEW_VERSIONS] = {"versions", SQL_VERSIONS, "first_ns"},
    [FLEET_VIEW_MACHINES] = {"machines", SQL_MACHINES, "hangs"},
    [FLEET_VIEW_DAYS] = {"days", SQL_DAYS, "day"},
    [FLEET_VIEW_EXAMPLES] = {"examples", SQL_EXAMPLES, "-place"},
    [FLEET_VIEW_TOTALS] = {"totals", SQL_TOTALS, "hangs"},
};

const char *fleet_view_name(enum fleet_view view)
{
    return (unsigned)view < FLEET_VIEWS ? views[view].name : NULL;
}

bool fleet_view_find(const char *name, enum fleet_view *ret)
{
    for (int i = 0; i < FLEET_VIEWS; i++)
        if (strcmp(views[i].name, name) == 0) {
            *ret = (enum fleet_view)i;
            return true;
        }
    return false;
}

/* --- Fisher's exact test --- */

static double log_choose(int64_t n, int64_t k)
{
    int sign;
    return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
           lgamma_r((double)(n - k) + 1, &sign);
}

double fleet_fisher(int64_t with_before, int64_t before, int64_t with_after, int64_t after)
{
    int64_t all = before + after, with = with_before + with_after;
    int64_t most = with < after ? with : after;
    double p = 0;
    for (int64_t k = with_after; k <= most; k++)
        if (with - k <= before)
            p += exp(log_choose(with, k) + log_choose(all - with, after - k) -
                     log_choose(all, after));
    return p < 1 ? p : 1;
}

static void call_fisher(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    sqlite3_result_double(
        context, fleet_fisher(sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1]),
                              sqlite3_value_int64(values[2]), sqlite3_value_int64(values[3])));
}

/* --- sums --- */

/* Durations come from traces, which may be damaged: the sum ends at the largest number. */
static void add_to_sum(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    int64_t *sum = sqlite3_aggregate_context(context, sizeof(*sum));
    if (sum && __builtin_add_overflow(*sum, sqlite3_value_int64(values[0]), sum))
        *sum = INT64_MAX;
}

/* Null for no rows, as sum(). */
static void end_sum(sqlite3_context *context)
{
    const int64_t *sum = sqlite3_aggregate_context(context, 0);
    if (sum)
        sqlite3_result_int64(context, *sum);
}

static void add_functions(sqlite3 *handle)
{
    sqlite3_create_function(handle, "fisher", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                            call_fisher, NULL, NULL);
    sqlite3_create_function(handle, "sum_ns", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, NULL,
                            add_to_sum, end_sum);
}

/* --- running a query --- */

static json_t *value_json(sqlite3_stmt *statement, int at)
{
    const char *name = sqlite3_column_name(statement, at);
    switch (sqlite3_column_type(statement, at)) {
    case SQLITE_NULL:
        return json_null();
    case SQLITE_INTEGER:
        return strncmp(name, "is_", 3) == 0 ? json_boolean(sqlite3_column_int64(statement, at))
                                            : json_integer(sqlite3_column_int64(statement, at));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(statement, at));
    default:
        return json_text((const char *)sqlite3_column_text(statement, at));
    }
}

static struct argus_error *take_all(const struct fleet_database *database, sqlite3_stmt *statement,
                                    json_t *list)
{
    int status;
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        json_t *object = json_object();
        for (int i = 0; i < sqlite3_column_count(statement); i++)
            json_put(object, sqlite3_column_name(statement, i), value_json(statement, i));
        bool is_whole = json_is_whole(object);
        if (!json_add(list, object) || !is_whole)
            return argus_error_memory();
    }
    return status == SQLITE_DONE ? NULL : fleet_database_error(database, "cannot read");
}

static void bind(sqlite3_stmt *statement, const char *name, const char *text, int64_t number)
{
    int at = sqlite3_bind_parameter_index(statement, name);
    if (at && text)
        sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
    else if (at)
        sqlite3_bind_int64(statement, at, number);
}

static void bind_filter(sqlite3_stmt *statement, const struct fleet_filter *filter, uint64_t limit)
{
    bind(statement, ":program", filter->program ? filter->program : "", 0);
    bind(statement, ":signature", filter->signature ? filter->signature : "", 0);
    bind(statement, ":is_exact", NULL, filter->is_exact);
    bind(statement, ":since", NULL, filter->since_ns);
    bind(statement, ":new_since", NULL, filter->new_since_ns);
    bind(statement, ":limit", NULL, limit ? (int64_t)limit : -1);
}

/* `sort` is one of the names that the caller has in a table: it is no text of a user. */
static char *whole_sql(const struct view_row *view, const char *sort)
{
    bool ascends = sort[0] == '-';
    return sqlite3_mprintf(SQL_SELECTED "%s ORDER BY \"%w\" %s, 1 LIMIT :limit", view->sql,
                           sort + ascends, ascends ? "ASC" : "DESC");
}

struct argus_error *fleet_view_get(const struct fleet_database *database, enum fleet_view view,
                                   const struct fleet_filter *filter, const char *sort,
                                   uint64_t limit, json_t **ret)
{
    sqlite3 *handle = fleet_database_handle(database);
    sqlite3_stmt *statement = NULL;
    json_t *list = json_array();
    char *sql = whole_sql(&views[view], sort ? sort : views[view].sort);
    struct argus_error *error = NULL;
    add_functions(handle);
    if (!sql || !list)
        error = argus_error_memory();
    else if (sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) != SQLITE_OK)
        error = fleet_database_error(database, "cannot read");
    if (!error) {
        bind_filter(statement, filter, limit);
        error = take_all(database, statement, list);
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    if (error)
        json_decref(list);
    else
        *ret = list;
    return error;
}
