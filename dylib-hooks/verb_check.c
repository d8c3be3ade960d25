/* Shows what would be replaced, and where a hook is possible: for authors of tables. */
#include "hook_command.h"

#include <stdio.h>
#include <string.h>

#include "image_path.h"

static void print_hook(const struct planned_hook *hook)
{
    const struct window *window = &hook->window;
    printf("%s: 0x%llx, %u bytes for a jump:\n", hook->row->place,
           (unsigned long long)hook->address, window->bytes);
    for (uint32_t i = 0; i < window->count; i++)
        printf("    +0x%-6llx %s\n",
               (unsigned long long)(window->insns[i].address - window->function_first),
               window->insns[i].text);
}

static void print_image(const struct image *image)
{
    printf("%s", image->path);
    for (uint32_t i = 0; i < image->id_bytes; i++)
        printf("%s%02x", i ? "" : ", build id ", image->id[i]);
    printf("%s\n", image->id_bytes ? "" : ", no build id: its code is hashed");
}

struct argus_error *verb_check(const struct hook_options *options)
{
    bool more = true;
    struct argus_error *error = NULL;
    for (size_t i = 0; more && !error; i++) {
        struct prepared prepared;
        error = prepare(options, options->words[0], i, &prepared, &more);
        if (error)
            break;
        print_image(prepared.image);
        for (size_t k = 0; k < prepared.hooks.hooks.length; k++)
            print_hook(&prepared.hooks.hooks.data[k]);
        prepared_deinit(&prepared);
    }
    return error;
}

/* One line for an instruction: its offset, its text, and why no hook can be there. */
static struct argus_error *print_insn(const struct function_code *code, const struct insn *insn)
{
    struct window window;
    struct trampoline_plan trampoline;
    struct argus_error *error = window_move(code, insn->address, false, &window, &trampoline);
    if (error && error->code == ARGUS_ERROR_MEMORY)
        return error;
    printf("+0x%-6llx %-50s %s%s\n", (unsigned long long)(insn->address - code->first), insn->text,
           error ? "no: " : "ok", error ? error->message : "");
    argus_error_destroy(error);
    return NULL;
}

static struct argus_error *print_insns(const struct function_code *code)
{
    struct argus_error *error = NULL;
    uint64_t behind = code->first;
    for (size_t i = 0; i <= code->starts.length && !error; i++) {
        struct insn insn;
        uint64_t at = i < code->starts.length ? code->starts.data[i] : code->end;
        if (at > behind)
            printf("+0x%-6llx cannot be decoded\n", (unsigned long long)(behind - code->first));
        if (function_code_insn(code, at, &insn)) {
            error = print_insn(code, &insn);
            behind = at + insn.length;
        }
    }
    return error;
}

static struct argus_error *show(const struct image *image, struct decoder *decoder,
                                const struct hook_row *place)
{
    uint64_t address;
    struct function_code code = {0};
    struct argus_error *error = find_place(image, decoder, place, &address);
    if (!error)
        error = function_code_create(image, decoder, address, &code);
    if (!error)
        error = print_insns(&code);
    function_code_deinit(&code);
    return error;
}

struct argus_error *verb_show(const struct hook_options *options)
{
    struct hook_row place = {0};
    struct image *image = NULL;
    struct decoder *decoder = NULL;
    char *path = NULL;
    if (!hook_word_place(options->words[1], &place) || place.anywhere)
        return argus_error_create(ARGUS_ERROR_USAGE, "not a function or an address: %s",
                                  options->words[1]);
    struct argus_error *error = image_path_find(options->words[0], &path);
    if (!error)
        error = image_open(path, options->arch, &image);
    if (!error)
        error = decoder_create(image->arch, &decoder);
    if (!error) {
        print_image(image);
        error = show(image, decoder, &place);
    }
    decoder_destroy(decoder);
    image_close(image);
    free(path);
    free(place.function);
    return error;
}
