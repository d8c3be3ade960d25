/* Code made at run time has names only if the runtime writes them out. */
#include "context/made_code.h"

#include <ctype.h>
#include <string.h>

#include "context/contexts_data.h"

/* By the beginning of a file's name, which no letter continues. To add a runtime that writes
 * perf-PID.map or jit-PID.dump: a row. Sources: the runtimes' own documentation ("perf" in
 * node --help and ruby --help, DumpPerfMapAtExit in Java's os/linux/globals_linux.hpp, which is a
 * diagnostic option (JDK-8254723), "Collect with perf" of .NET, opcache.jit_debug of PHP). */
static const struct {
    const char *file, *how;
} runtimes[] = {
    {"libjvm.so", "Java 17 and later: java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"},
    {"libnode.so", "Node: node --perf-basic-prof"},
    {"node", "Node: node --perf-basic-prof"},
    {"libv8.so", "V8: --perf-basic-prof"},
    {"libcoreclr.so", ".NET: the environment variable DOTNET_PerfMapEnabled=1 (before .NET 6: "
                      "COMPlus_PerfMapEnabled=1)"},
    {"libruby", "Ruby 3.3 and later: ruby --yjit --yjit-perf"},
    {"mono", "Mono: mono --jitmap"},
    {"opcache.so", "PHP: php -d opcache.jit_debug=0x10"},
};

static bool is_file(const char *name, const char *beginning)
{
    size_t length = strlen(beginning);
    return strncmp(name, beginning, length) == 0 && !isalpha((unsigned char)name[length]) &&
           name[length] != '_'; /* node_exporter */
}

static bool has_file(const struct argus_contexts *contexts, const char *file)
{
    const struct argus_context_function *functions;
    size_t count = argus_contexts_functions(contexts, &functions);
    for (size_t i = 0; i < count; i++)
        if (is_file(contexts_base_name(functions[i].image), file))
            return true;
    return false;
}

void made_code_write(const struct argus_sink *sink, const struct argus_contexts *contexts)
{
    uint32_t made = contexts->paths.frames.made_addresses;
    if (!made)
        return;
    argus_sink_printf(sink,
                      "%u addresses are in code made at run time, without names, or where a walk "
                      "lost its way in code without frame pointers: they count as one function\n",
                      made);
    const char *last = "";
    for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
        if (strcmp(last, runtimes[i].how) != 0 && has_file(contexts, runtimes[i].file)) {
            last = runtimes[i].how;
            argus_sink_printf(sink, "  to record their names, run %s\n", last);
        }
}
