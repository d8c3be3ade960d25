/* The table of `argus hangs FOLDER`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "argus/report.h"
#include "plugin/analysis.h"
#include "plugin/commands/hang_list.h"
#include "plugin/json_output.h"
#include "report/lines.h"

static bool same_kind(const struct hang_list_row *a, const struct hang_list_row *b)
{
    return a->hang.diagnosed && b->hang.diagnosed && a->hang.signature == b->hang.signature &&
           strcmp(a->hang.process, b->hang.process) == 0;
}

/* --- text --- */

static int process_width(const struct hang_list *list)
{
    int width = (int)strlen("PROGRAM");
    for (size_t i = 0; i < list->row_count; i++) {
        int length = snprintf(NULL, 0, "%s [%" PRIu64 "]", list->rows[i].hang.process,
                              list->rows[i].hang.pid);
        width = length > width ? length : width;
    }
    return width;
}

/* Prints one row, with the number of other files of the same kind after the newest of them. */
static void row_text(const struct argus_sink *sink, const struct hang_list *list, size_t at,
                     int width)
{
    const struct hang_list_row *row = &list->rows[at];
    char when[WALL_TIME_BYTES], lasted[32], process[128], cause[768];
    size_t same = 0, newer = 0;
    for (size_t i = 0; i < list->row_count; i++) {
        same += same_kind(row, &list->rows[i]);
        newer += i < at && same_kind(row, &list->rows[i]);
    }
    snprintf(process, sizeof(process), "%s [%" PRIu64 "]", row->hang.process, row->hang.pid);
    argus_sink_printf(sink, "%s  %9s  %-13s  %-*s  %s\n",
                      wall_moment_text(row->wall_ns, when, sizeof(when)),
                      argus_duration_text(row->hang.duration_ns, lasted, sizeof(lasted)),
                      row->hang.diagnosed ? row->hang.type : "-", width, process, row->file);
    int length = snprintf(cause, sizeof(cause), "%s",
                          row->hang.diagnosed ? row->hang.cause : "its records do not show why");
    size_t room = sizeof(cause) - (size_t)length;
    if (row->hang_count > 1)
        snprintf(cause + length, room, " (and %" PRIu64 " more in this trace)",
                 row->hang_count - 1);
    else if (same > 1 && !newer)
        snprintf(cause + length, room, " (in %zu of these files)", same);
    argus_sink_printf(sink, "       ");
    report_wrapped(sink, 7, cause);
}

static void rest_text(const struct argus_sink *sink, const struct hang_list *list)
{
    if (list->rest_count)
        argus_sink_printf(sink, "%sNot listed:\n", list->row_count ? "\n" : "");
    for (size_t i = 0; i < list->rest_count; i++) {
        argus_sink_printf(sink, "  %s: ", list->rest[i].file);
        report_wrapped(sink, 4, list->rest[i].why);
    }
    if (list->other_count)
        argus_sink_printf(sink, "%s%" PRIu64 " other %s in the folder %s not called .argus.\n",
                          list->row_count || list->rest_count ? "\n" : "", list->other_count,
                          list->other_count == 1 ? "file" : "files",
                          list->other_count == 1 ? "is" : "are");
}

static void list_text(struct session *session, const struct hang_list *list)
{
    struct argus_sink sink = session_sink(session);
    int width = process_width(list);
    if (list->row_count)
        argus_sink_printf(&sink, "%-29s  %9s  %-13s  %-*s  %s\n", "TIME", "LASTED", "TYPE", width,
                          "PROGRAM", "FILE");
    else
        argus_sink_printf(&sink, "No hang in the traces of %s.\n", list->folder);
    for (size_t i = 0; i < list->row_count; i++)
        row_text(&sink, list, i, width);
    rest_text(&sink, list);
}

/* --- JSON --- */

static json_t *row_json(const struct hang_list_row *row)
{
    const struct argus_kept_hang *hang = &row->hang;
    char time[WALL_TIME_BYTES], signature[32];
    json_t *json = json_object();
    snprintf(signature, sizeof(signature), "%016" PRIx64, hang->signature);
    json_put(json, "file", json_text(row->file));
    json_put(json, "process", json_text(hang->process));
    json_put(json, "pid", json_ns(hang->pid));
    json_put(json, "tid", json_ns(hang->tid));
    json_put(json, "time", json_text(wall_utc_text(row->wall_ns, time, sizeof(time))));
    json_put(json, "start_ns", json_ns(hang->start_ns));
    json_put(json, "duration_ns", json_ns(hang->duration_ns));
    json_put(json, "ongoing", json_boolean(!hang->over));
    json_put(json, "type", json_text(hang->diagnosed ? hang->type : NULL));
    json_put(json, "cause", json_text(hang->diagnosed ? hang->cause : NULL));
    json_put(json, "signature", json_text(hang->diagnosed ? signature : NULL));
    json_put(json, "hangs", json_ns(row->hang_count ? row->hang_count : 1));
    return json;
}

static struct argus_error *list_json(struct session *session, const struct hang_list *list)
{
    json_t *whole = json_object(), *rows = json_array(), *rest = json_array();
    for (size_t i = 0; i < list->row_count; i++)
        json_add(rows, row_json(&list->rows[i]));
    for (size_t i = 0; i < list->rest_count; i++) {
        json_t *json = json_object();
        json_put(json, "file", json_text(list->rest[i].file));
        json_put(json, "why", json_text(list->rest[i].why));
        json_add(rest, json);
    }
    json_put(whole, "folder", json_text(list->folder));
    json_put(whole, "hangs", rows);
    json_put(whole, "not_listed", rest);
    json_put(whole, "other_files", json_ns(list->other_count));
    return json_output(session, "argus-hangs-folder 1", whole);
}

struct argus_error *hang_list_print(struct session *session, const struct hang_list *list,
                                    bool json)
{
    if (json)
        return list_json(session, list);
    list_text(session, list);
    return NULL;
}
