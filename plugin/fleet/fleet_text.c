#include "plugin/fleet/fleet_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "argus/report.h"
#include "plugin/analysis.h"
#include "plugin/fleet/row_values.h"
#include "report/lines.h"

static const char *duration_of(const json_t *row, const char *member, char buffer[32])
{
    return argus_duration_text((uint64_t)number_of(row, member), buffer, 32);
}

const char *fleet_text_command(const char *file, int64_t number, char *buffer, size_t bytes)
{
    size_t length = (size_t)snprintf(buffer, bytes, "argus diagnose '");
    for (const char *at = file; *at && length + 8 < bytes; at++) {
        if (*at == '\'')
            length += (size_t)snprintf(buffer + length, bytes - length, "'\\''");
        else
            buffer[length++] = *at;
    }
    buffer[length] = '\0';
    snprintf(buffer + length, bytes - length, number ? "' %" PRId64 : "'", number);
    bool is_plain = strspn(file, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "/._-+:@%") == strlen(file);
    if (is_plain && number)
        snprintf(buffer, bytes, "argus diagnose %s %" PRId64, file, number);
    else if (is_plain)
        snprintf(buffer, bytes, "argus diagnose %s", file);
    return buffer;
}

/* --- one function for each view --- */

static void kind_text(const struct argus_sink *sink, const json_t *row)
{
    char worst[32], last[24], line[2400], command[1200];
    const char *version = text_of(row, "since_version");
    const char *file = text_of(row, "example_file");
    argus_sink_printf(sink, "%7" PRId64 "  %8" PRId64 "  %9s  %s  %.8s%s\n",
                      number_of(row, "hangs"), number_of(row, "machines"),
                      duration_of(row, "worst_ns", worst), minute_of(row, "last_time", last),
                      text_of(row, "signature"),
                      json_is_true(json_object_get(row, "is_new")) ? "  NEW" : "");
    snprintf(line, sizeof(line), "%s%s%s", text_of(row, "what"), *version ? ", since version " : "",
             version);
    argus_sink_printf(sink, "         ");
    report_wrapped(sink, 9, line);
    if (file[0] == '/')
        argus_sink_printf(
            sink, "         %s\n",
            fleet_text_command(file, number_of(row, "example_number"), command, sizeof(command)));
}

static void regression_text(const struct argus_sink *sink, const json_t *row)
{
    char line[2400];
    argus_sink_printf(
        sink, "%10.2g  %10.2g  %5" PRId64 "/%-5" PRId64 "  %5" PRId64 "/%-5" PRId64 "  %.8s%s\n",
        json_number_value(json_object_get(row, "p")),
        json_number_value(json_object_get(row, "p_corrected")), number_of(row, "with_before"),
        number_of(row, "machines_before"), number_of(row, "with_after"),
        number_of(row, "machines_after"), text_of(row, "signature"),
        json_is_true(json_object_get(row, "is_significant")) ? "" : "  by chance?");
    snprintf(line, sizeof(line), "%s %s: %s", text_of(row, "program"), text_of(row, "version"),
             text_of(row, "what"));
    argus_sink_printf(sink, "            ");
    report_wrapped(sink, 12, line);
}

static void package_text(const struct argus_sink *sink, const json_t *row)
{
    char total[32], worst[32];
    argus_sink_printf(sink, "%7" PRId64 "  %8" PRId64 "  %5" PRId64 "  %10s  %9s  %s\n",
                      number_of(row, "hangs"), number_of(row, "machines"), number_of(row, "kinds"),
                      duration_of(row, "total_ns", total), duration_of(row, "worst_ns", worst),
                      text_of(row, "package"));
}

static void reason_text(const struct argus_sink *sink, const json_t *row)
{
    char total[32];
    argus_sink_printf(sink, "%5.1f %%  %10s  %7" PRId64 "  %s\n",
                      100 * json_number_value(json_object_get(row, "share")),
                      duration_of(row, "ns", total), number_of(row, "hangs"),
                      text_of(row, "reason"));
}

static void version_text(const struct argus_sink *sink, const json_t *row)
{
    char first[24], last[24];
    argus_sink_printf(sink, "%7" PRId64 "  %8" PRId64 "  %-16s  %-16s  %s %s\n",
                      number_of(row, "hangs"), number_of(row, "machines"),
                      minute_of(row, "first_time", first), minute_of(row, "last_time", last),
                      text_of(row, "program"), text_of(row, "version"));
}

static void machine_text(const struct argus_sink *sink, const json_t *row)
{
    char last[24];
    argus_sink_printf(sink, "%7" PRId64 "  %5" PRId64 "  %-16s  %s\n", number_of(row, "hangs"),
                      number_of(row, "kinds"), minute_of(row, "last_time", last),
                      text_of(row, "machine"));
}

static void day_text(const struct argus_sink *sink, const json_t *row)
{
    argus_sink_printf(sink, "%s  %7" PRId64 "  %8" PRId64 "\n", text_of(row, "day"),
                      number_of(row, "hangs"), number_of(row, "machines"));
}

static void example_text(const struct argus_sink *sink, const json_t *row)
{
    char lasted[32], when[24], command[1200];
    argus_sink_printf(sink, "%-16s  %9s  %s\n", minute_of(row, "time", when),
                      duration_of(row, "duration_ns", lasted), text_of(row, "machine"));
    if (*text_of(row, "cause")) {
        argus_sink_printf(sink, "         ");
        report_wrapped(sink, 9, text_of(row, "cause"));
    }
    if (text_of(row, "file")[0] == '/')
        argus_sink_printf(sink, "         %s\n",
                          fleet_text_command(text_of(row, "file"), number_of(row, "number"),
                                             command, sizeof(command)));
}

static const struct {
    const char *heading, *none;
    void (*print)(const struct argus_sink *sink, const json_t *row);
} texts[FLEET_VIEWS] = {
    [FLEET_VIEW_KINDS] = {"  HANGS  MACHINES      WORST  LAST (UTC)        SIGNATURE",
                          "No kind of hang is to be listed.", kind_text},
    [FLEET_VIEW_REGRESSIONS] =
        {"         P   CORRECTED  BEFORE       AFTER        SIGNATURE\n"
         "(machines with this kind of all machines on which the program hung)",
         "No kind of hang became more frequent with a version of its program.", regression_text},
    [FLEET_VIEW_PACKAGES] = {"  HANGS  MACHINES  KINDS       TOTAL      WORST  ROOT CAUSE IN",
                             "No hang is to be listed.", package_text},
    [FLEET_VIEW_REASONS] = {"  SHARE       TOTAL    HANGS  THE TIME WAS SPENT",
                            "No hang is to be listed.", reason_text},
    [FLEET_VIEW_VERSIONS] = {"  HANGS  MACHINES  FIRST (UTC)       LAST (UTC)        PROGRAM",
                             "No hang is to be listed.", version_text},
    [FLEET_VIEW_MACHINES] = {"  HANGS  KINDS  LAST (UTC)        MACHINE",
                             "No hang is to be listed.", machine_text},
    [FLEET_VIEW_DAYS] = {"DAY (UTC)     HANGS  MACHINES", "No hang is to be listed.", day_text},
    [FLEET_VIEW_EXAMPLES] = {"BEGAN (UTC)          LASTED  MACHINE", "No hang is to be listed.",
                             example_text},
};

void fleet_text_rows(struct session *session, enum fleet_view view, const json_t *rows)
{
    struct argus_sink sink = session_sink(session);
    size_t count = json_array_size(rows);
    argus_sink_printf(&sink, "%s\n", count ? texts[view].heading : texts[view].none);
    for (size_t i = 0; i < count; i++)
        texts[view].print(&sink, json_array_get(rows, i));
}

void fleet_text_view(struct session *session, enum fleet_view view, const json_t *totals,
                     const json_t *rows, size_t all)
{
    struct argus_sink sink = session_sink(session);
    char total[32];
    int64_t hangs = number_of(totals, "hangs"), machines = number_of(totals, "machines");
    int64_t kinds = number_of(totals, "kinds");
    argus_sink_printf(&sink, "%" PRId64 " hang%s of %" PRId64 " machine%s", hangs,
                      hangs == 1 ? "" : "s", machines, machines == 1 ? "" : "s");
    if (hangs)
        argus_sink_printf(&sink, ", %" PRId64 " kind%s, %s in all, %.10s to %.10s", kinds,
                          kinds == 1 ? "" : "s", duration_of(totals, "total_ns", total),
                          text_of(totals, "first_time"), text_of(totals, "last_time"));
    argus_sink_printf(&sink, "\n\n");
    fleet_text_rows(session, view, rows);
    if (all > json_array_size(rows))
        argus_sink_printf(&sink, "… and %zu more (--limit=0 lists all)\n",
                          all - json_array_size(rows));
}
