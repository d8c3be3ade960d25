/* Which parts of the graph a trace of Darwin allows: text and JSON. */
#include "report/report_abilities.h"

#include "report/json.h"
#include "report/lines.h"

static json_t *source_json(const struct argus_source *source)
{
    json_t *json = json_object();
    json_put(json, "records", json_ns(source->count));
    json_put(json, "of", json_text(source->text));
    return json;
}

static json_t *ability_json(const struct argus_ability *ability)
{
    json_t *json = json_object();
    json_put(json, "rules", json_text(ability->rules));
    json_put(json, "works", json_boolean(ability->how));
    json_put(json, "how", json_text(ability->how));
    json_put(json, "missing", json_text(ability->missing));
    return json;
}

json_t *json_abilities(const struct argus_abilities *abilities)
{
    json_t *json = json_object(), *sources = json_array(), *rules = json_array();
    for (size_t i = 0; i < abilities->source_count; i++)
        json_add(sources, source_json(&abilities->sources[i]));
    for (size_t i = 0; i < abilities->count; i++)
        json_add(rules, ability_json(&abilities->entries[i]));
    json_put(json, "sources", sources);
    json_put(json, "rules", rules);
    return json;
}

void report_abilities(const struct argus_sink *sink, const struct argus_abilities *abilities)
{
    if (!abilities->count)
        return;
    report_heading(sink, "What the rules can do on this trace");
    for (size_t i = 0; i < abilities->count; i++) {
        const struct argus_ability *ability = &abilities->entries[i];
        argus_sink_printf(
            sink, "  %-42s %s%s%s\n", ability->rules, ability->how ? ability->how : "NO",
            ability->missing ? "; no records of " : "", ability->missing ? ability->missing : "");
    }
}
