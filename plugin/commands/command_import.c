/* Converts files of other formats into .argus files: smaller, with an index, and in time order. */
#include "plugin/command.h"

#include <inttypes.h>

#include "base/scan.h"
#include "event/import.h"
#include "plugin/foreign_trace.h"
#include "plugin/session_trace.h"
#include "recorder/client/output.h"

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write the trace to FILE"},
    {"timebase", 0, "N/D", "a tick is N/D ns: 1/1 on Intel, 125/3 on Apple silicon"},
    COMMAND_OPTIONS_END,
};

static bool show_progress(void *context, const char *what, double share)
{
    struct session *session = context;
    session_progress(session, what, (uint64_t)(share * 100), 100);
    return !session_interrupted(session);
}

/* Parses "125/3"; both stay 0 if the option was not given. */
static struct argus_error *read_timebase(const struct arguments *arguments, uint64_t *ret_numer,
                                         uint64_t *ret_denom)
{
    const char *word = arguments_option(arguments, "timebase");
    const char *at = word;
    if (!word)
        return NULL;
    if (scan_number(&at, UINT32_MAX, ret_numer) && scan_text(&at, "/") &&
        scan_number(&at, UINT32_MAX, ret_denom) && !*at && *ret_numer && *ret_denom)
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "--timebase=%s: two numbers are wanted, e.g. 125/3", word);
}

static struct argus_error *write_file(struct session *session, const struct argus_trace *trace,
                                      const char *path, uint64_t numer, uint64_t denom)
{
    struct output output;
    struct argus_error *error = output_create(path, &output);
    if (error)
        return error;
    error =
        import_write(trace, output.fd, (uint32_t)numer, (uint32_t)denom, show_progress, session);
    session_end_progress(session);
    if (!error)
        error = output_commit(&output);
    if (!error)
        session_printf(session, "%s: %" PRIu64 " records, %" PRIu64 " lost\n", output.path,
                       argus_trace_record_count(trace), argus_trace_lost_count(trace));
    output_deinit(&output);
    return error;
}

/* A trace of another tool, of which the session has already imported a copy without the names of
 * this command's choice. */
static struct argus_error *write_foreign(struct session *session, const char *from,
                                         const char *path)
{
    struct output output;
    bool known = false;
    struct argus_error *error = output_create(path, &output);
    if (error)
        return error;
    session_progress(session, "importing", 0, 0);
    error = foreign_trace_import(session, from, output.fd, &known);
    if (!error && !known)
        error = argus_error_create(ARGUS_ERROR_UNSUPPORTED, "argus-import does not know %s", from);
    if (!error)
        error = output_commit(&output);
    if (!error)
        foreign_trace_finish(session, output.path);
    session_end_progress(session);
    if (!error)
        session_printf(session, "%s: imported from %s\n", output.path, from);
    output_deinit(&output);
    return error;
}

static struct argus_error *write_kdebug(struct session *session, const struct session_trace *trace,
                                        const char *path, uint64_t numer, uint64_t denom)
{
    if (argus_trace_is_kdebug(trace->trace))
        return write_file(session, trace->trace, path, numer, denom);
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "%s is an .argus file already: nothing is to be imported",
                              trace->path);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    size_t next = 0;
    struct session_trace *trace = NULL;
    uint64_t numer = 0, denom = 0;
    const char *path = arguments_option(arguments, "output");
    struct argus_error *error = read_timebase(arguments, &numer, &denom);
    if (!error && !path)
        error = argus_error_create(ARGUS_ERROR_USAGE,
                                   "import: -o FILE is missing: where to write the trace");
    if (!error)
        error = session_trace_get(session, arguments, &next, &trace);
    if (error && error->code == ARGUS_ERROR_FORMAT)
        error = argus_error_context(error, "cannot import this");
    if (!error)
        error = arguments_expect(arguments, next, next);
    if (error)
        return error;
    return session_trace_is_imported(trace) ? write_foreign(session, trace->path, path)
                                            : write_kdebug(session, trace, path, numer, denom);
}

const struct command command_import = {
    .name = "import",
    .arguments = "-o FILE",
    .summary = "write a trace of another tool as an .argus file",
    .details = "Every command takes these files in place of an .argus file:\n"
               "- perf.data of perf record, trace.dat of trace-cmd, text of ftrace (also in\n"
               "  pages of Android's systrace, of atrace -z, in Chrome's JSON), folders of CTF\n"
               "  (LTTng), traces of Perfetto. They are imported into the user's cache on\n"
               "  first use. 'argus info FILE' says what such a trace lacks.\n"
               "- kdebug files of macOS and iOS, versions 1, 2 and 3: the files that trace,\n"
               "  ktrace, Instruments and the kernel write. Imported, they take a tenth of the\n"
               "  space, their records are in order, and opening them does not read all\n"
               "  records. Only chunks that are neither records nor thread maps are left out.\n"
               "\n"
               "kdebug files of version 1 do not contain the length of a tick. It is guessed\n"
               "from the addresses in the file, with a remark; --timebase sets it.",
    .example = "argus import perf.data -o freeze.argus\n"
               "argus import freeze.trace -o freeze.argus\n"
               "argus import --timebase=125/3 old.raw -o old.argus",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_TRACE_NAMED,
    .run = run,
};
