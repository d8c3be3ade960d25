#include "plugin/fleet/fleet_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "page/html.h"
#include "plugin/fleet/fleet_kind.h"
#include "plugin/fleet/fleet_text.h"
#include "plugin/fleet/row_values.h"

/* --- cells: one function for each kind of value --- */

static void text_cell(const struct argus_sink *sink, const json_t *row, const char *member)
{
    argus_sink_printf(sink, "<td>");
    html_text(sink, text_of(row, member));
    argus_sink_printf(sink, "</td>");
}

static void number_cell(const struct argus_sink *sink, const json_t *row, const char *member)
{
    argus_sink_printf(sink, "<td class=\"r\">%" PRId64 "</td>", number_of(row, member));
}

static void duration_cell(const struct argus_sink *sink, const json_t *row, const char *member)
{
    char text[32];
    argus_sink_printf(sink, "<td class=\"r\">%s</td>",
                      argus_duration_text((uint64_t)number_of(row, member), text, sizeof(text)));
}

static void share_cell(const struct argus_sink *sink, const json_t *row, const char *member)
{
    argus_sink_printf(sink, "<td class=\"r\">%.1f %%</td>",
                      100 * json_number_value(json_object_get(row, member)));
}

static void time_cell(const struct argus_sink *sink, const json_t *row, const char *member)
{
    char minute[ROW_MINUTE_BYTES];
    argus_sink_printf(sink, "<td class=\"nowrap\">");
    html_text(sink, minute_of(row, member, minute));
    argus_sink_printf(sink, "</td>");
}

/* A path as part of a URL (RFC 3986), which needs no escapes of HTML any more. */
static void write_url_path(const struct argus_sink *sink, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789/-._~";
    for (; *path; path++)
        argus_sink_printf(sink, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
}

/* The command that explains an example, and a page of `argus report` beside its file. */
static void example_cell(const struct argus_sink *sink, const json_t *row, const char *member)
{
    char command[1200], page[4096];
    const char *file = text_of(row, member);
    argus_sink_printf(sink, "<td class=\"f\">");
    if (file[0] == '/')
        html_text(sink,
                  fleet_text_command(file, number_of(row, "number"), command, sizeof(command)));
    snprintf(page, sizeof(page), "%s.html", file);
    if (file[0] == '/' && access(page, R_OK) == 0) {
        argus_sink_printf(sink, " <a href=\"file://");
        write_url_path(sink, page);
        argus_sink_printf(sink, "\">its page</a>");
    }
    argus_sink_printf(sink, "</td>");
}

/* --- tables --- */

enum { MOST_COLUMNS = 7 };

struct column {
    const char *heading; /* NULL: no more */
    const char *member;
    void (*write)(const struct argus_sink *sink, const json_t *row, const char *member);
};

static const struct table {
    enum fleet_view view;
    const char *heading;
    struct column columns[MOST_COLUMNS];
} tables[] = {
    {FLEET_VIEW_EXAMPLES,
     "Examples, the best one first",
     {{"began (UTC)", "time", time_cell},
      {"lasted", "duration_ns", duration_cell},
      {"machine", "machine", text_cell},
      {"version", "version", text_cell},
      {"cause", "cause", text_cell},
      {"explained by", "file", example_cell}}},
    {FLEET_VIEW_VERSIONS,
     "Versions",
     {{"program", "program", text_cell},
      {"version", "version", text_cell},
      {"hangs", "hangs", number_cell},
      {"machines", "machines", number_cell},
      {"first (UTC)", "first_time", time_cell},
      {"last (UTC)", "last_time", time_cell}}},
    {FLEET_VIEW_DAYS,
     "Days",
     {{"day (UTC)", "day", text_cell},
      {"hangs", "hangs", number_cell},
      {"machines", "machines", number_cell}}},
    {FLEET_VIEW_REASONS,
     "How the time was spent",
     {{"share", "share", share_cell},
      {"time", "ns", duration_cell},
      {"hangs", "hangs", number_cell},
      {"spent", "reason", text_cell}}},
    {FLEET_VIEW_PACKAGES,
     "Root cause in",
     {{"package or file", "package", text_cell},
      {"hangs", "hangs", number_cell},
      {"machines", "machines", number_cell},
      {"worst", "worst_ns", duration_cell}}},
    {FLEET_VIEW_MACHINES,
     "Machines",
     {{"machine", "machine", text_cell},
      {"hangs", "hangs", number_cell},
      {"last (UTC)", "last_time", time_cell}}},
};

static void write_row(const struct argus_sink *sink, const struct table *table, const json_t *row)
{
    argus_sink_printf(sink, "<tr>");
    for (size_t i = 0; i < MOST_COLUMNS && table->columns[i].heading; i++)
        table->columns[i].write(sink, row, table->columns[i].member);
    argus_sink_printf(sink, "</tr>\n");
}

/* `limit`: at most this many rows; 0: all. */
static void write_table(const struct argus_sink *sink, const struct table *table,
                        const json_t *rows, uint64_t limit)
{
    size_t count = json_array_size(rows);
    bool is_cut = limit && count > limit;
    count = is_cut ? (size_t)limit : count;
    argus_sink_printf(sink, "<div><h4>%s</h4><div class=\"scroll tall\"><table><thead><tr>",
                      table->heading);
    for (size_t i = 0; i < MOST_COLUMNS && table->columns[i].heading; i++)
        argus_sink_printf(sink, "<th>%s</th>", table->columns[i].heading);
    argus_sink_printf(sink, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++)
        write_row(sink, table, json_array_get(rows, i));
    argus_sink_printf(sink, "</tbody></table></div>");
    if (is_cut)
        argus_sink_printf(sink, "<p class=\"note\">The others are left out (--limit=0).</p>");
    argus_sink_printf(sink, "</div>\n");
}

/* --- kinds --- */

static void write_counts(const struct argus_sink *sink, const json_t *kind)
{
    char worst[32], total[32];
    const char *version = text_of(kind, "since_version");
    int64_t hangs = number_of(kind, "hangs"), machines = number_of(kind, "machines");
    html_textf(sink,
               "%" PRId64 " hang%s of %" PRId64
               " machine%s, the worst of %s, %s in all, %.10s to %.10s%s%s%s",
               hangs, hangs == 1 ? "" : "s", machines, machines == 1 ? "" : "s",
               argus_duration_text((uint64_t)number_of(kind, "worst_ns"), worst, sizeof(worst)),
               argus_duration_text((uint64_t)number_of(kind, "total_ns"), total, sizeof(total)),
               text_of(kind, "first_time"), text_of(kind, "last_time"),
               *version ? ", since version " : "", version,
               json_is_true(json_object_get(kind, "is_new")) ? ", new" : "");
}

static void write_kind(const struct argus_sink *sink, const json_t *group, uint64_t limit)
{
    const json_t *kind = json_array_get(json_object_get(group, "kinds"), 0);
    argus_sink_printf(sink, "<article id=\"");
    html_text(sink, text_of(kind, "signature"));
    argus_sink_printf(sink, "\"><h3>");
    html_text(sink, text_of(kind, "what"));
    argus_sink_printf(sink, "</h3><p class=\"summary\">");
    write_counts(sink, kind);
    argus_sink_printf(sink, "</p><p class=\"rest\">Signature ");
    html_textf(sink, "%s: %s", text_of(kind, "signature"), text_of(kind, "parts"));
    argus_sink_printf(sink, "</p>\n");
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (i == 1) /* the first one has the whole width */
            argus_sink_printf(sink, "<div class=\"columns\">\n");
        write_table(sink, &tables[i], json_object_get(group, fleet_view_name(tables[i].view)),
                    limit);
    }
    argus_sink_printf(sink, "</div></article>\n");
}

/* The list at the top, with a link to each kind. */
static void write_list(const struct argus_sink *sink, const json_t *kinds)
{
    size_t count = json_array_size(kinds);
    argus_sink_printf(sink, "<h2>Kinds of hangs</h2><ol>\n");
    for (size_t i = 0; i < count; i++) {
        const json_t *kind = json_array_get(json_object_get(json_array_get(kinds, i), "kinds"), 0);
        argus_sink_printf(sink, "<li><a href=\"#");
        html_text(sink, text_of(kind, "signature"));
        argus_sink_printf(sink, "\">");
        html_text(sink, text_of(kind, "what"));
        argus_sink_printf(sink, "</a> <small>");
        write_counts(sink, kind);
        argus_sink_printf(sink, "</small></li>\n");
    }
    argus_sink_printf(sink, "</ol>\n");
}

static void write_totals(const struct argus_sink *sink, const json_t *totals)
{
    html_textf(sink, "Hangs: %" PRId64 ", machines: %" PRId64 ", kinds: %" PRId64,
               number_of(totals, "hangs"), number_of(totals, "machines"),
               number_of(totals, "kinds"));
    if (number_of(totals, "hangs"))
        html_textf(sink, ", %.10s to %.10s", text_of(totals, "first_time"),
                   text_of(totals, "last_time"));
}

void fleet_page_write(const struct argus_sink *sink, const json_t *totals, const json_t *kinds,
                      size_t all, uint64_t limit)
{
    size_t count = json_array_size(kinds);
    html_begin(sink, "Hangs of a fleet");
    argus_sink_printf(sink, "<header><h1>Hangs of a fleet</h1><p>");
    write_totals(sink, totals);
    argus_sink_printf(sink, "</p></header>\n<main>\n");
    if (count > 1)
        write_list(sink, kinds);
    if (all > count)
        argus_sink_printf(sink, "<p class=\"note\">%zu more %s left out.</p>\n", all - count,
                          all - count == 1 ? "kind is" : "kinds are");
    for (size_t i = 0; i < count; i++)
        write_kind(sink, json_array_get(kinds, i), limit);
    html_end(sink);
}
