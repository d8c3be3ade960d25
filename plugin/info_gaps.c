#include "plugin/info_gaps.h"

#include "argus/gaps.h"
#include "plugin/json_output.h"

static void print_names(struct session *session, const struct argus_gaps *gaps, bool partly)
{
    size_t printed = 0;
    for (size_t i = 0; i < gaps->count; i++) {
        const struct argus_gap *gap = &gaps->items[i];
        if (gap->partly != partly || (i > 0 && gap->kind == gap[-1].kind))
            continue;
        session_printf(session, "%s%s",
                       printed++ ? ", "
                       : partly  ? "missing    some records of: "
                                 : "missing    ",
                       gap->lack);
    }
    if (printed)
        session_printf(session, "\n");
}

void info_gaps_print(struct session *session, const struct argus_trace *trace)
{
    struct argus_gaps gaps;
    struct argus_error *error = argus_gaps_read(trace, &gaps);
    if (!error) {
        print_names(session, &gaps, false);
        print_names(session, &gaps, true);
        argus_gaps_deinit(&gaps);
    }
    argus_error_destroy(error); /* the notes that follow say the same */
}

static json_t *gap_json(const struct argus_gap *gap)
{
    return json_pack("{s:s, s:b, s:o, s:o}", "what", gap->name, "partly", gap->partly, "loss",
                     gap->loss ? json_text(gap->loss) : json_null(), "reason",
                     json_text(gap->reason));
}

json_t *info_gaps_json(const struct argus_trace *trace)
{
    struct argus_gaps gaps;
    struct argus_error *error = argus_gaps_read(trace, &gaps);
    if (error) {
        argus_error_destroy(error);
        return NULL;
    }
    json_t *json = json_array();
    for (size_t i = 0; i < gaps.count; i++)
        json_array_append_new(json, gap_json(&gaps.items[i]));
    argus_gaps_deinit(&gaps);
    return json;
}
