/* argus-hook: makes libraries that put hooks into other libraries. It is a separate program because
 * it needs no trace, and the debugger plugin needs no code generator. */
#include "hook_command.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: argus-hook check [OPTION...] TABLE\n"
    "       argus-hook show [OPTION...] IMAGE FUNCTION\n"
    "       argus-hook make [OPTION...] TABLE -o FILE\n"
    "       argus-hook run TABLE... -- CMD [ARG...]\n"
    "\n"
    "Makes a library that, when it is loaded, replaces instructions of another one by\n"
    "jumps to a function that leaves a record in the trace.\n"
    "\n"
    "  check   say what the hooks of a table would replace, or why they cannot\n"
    "  show    list the instructions of a function, and where a hook can be\n"
    "  make    write the library\n"
    "  run     run a program with the hooks of the tables, by LD_PRELOAD\n"
    "\n"
    "  -o, --output=FILE    make: the library to write\n"
    "      --replace=DIR    make: write it, and the renamed original, into DIR, under\n"
    "                       the original's name, for LD_LIBRARY_PATH\n"
    "      --image=FILE     the image is FILE, whatever the table calls it\n"
    "      --arch=ARCH      of a universal Mach-O file: x86_64 or arm64\n"
    "  -h, --help           print this\n"
    "      --version        print the version\n"
    "\n"
    "Example: argus-hook run hooks.conf -- gedit\n";

/* To add a verb: a row, its function, and paragraphs above and in docs/man/argus-hook.1.md. */
static const struct {
    const char *name;
    int least, most; /* words after it; -1: any number */
    struct argus_error *(*run)(const struct hook_options *options);
} verbs[] = {
    {"check", 1, 1, verb_check},
    {"show", 2, 2, verb_show},
    {"make", 1, 1, verb_make},
    {"run", 2, -1, verb_run},
};

enum { OPTION_REPLACE = 256, OPTION_IMAGE, OPTION_ARCH };

static const struct option options_known[] = {
    {"output", required_argument, NULL, 'o'},
    {"replace", required_argument, NULL, OPTION_REPLACE},
    {"image", required_argument, NULL, OPTION_IMAGE},
    {"arch", required_argument, NULL, OPTION_ARCH},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static struct argus_error *set_arch(const char *name, enum hook_arch *ret)
{
    *ret = strcmp(name, "arm64") == 0    ? HOOK_ARCH_ARM64
           : strcmp(name, "x86_64") == 0 ? HOOK_ARCH_X86_64
                                         : 0;
    return *ret ? NULL
                : argus_error_create(ARGUS_ERROR_USAGE,
                                     "there is no architecture \"%s\": x86_64 or "
                                     "arm64",
                                     name);
}

static struct argus_error *read_options(int argc, char **argv, struct hook_options *ret,
                                        bool *ret_help)
{
    struct argus_error *error = NULL;
    int option;
    while (!error && (option = getopt_long(argc, argv, "+o:h", options_known, NULL)) != -1) {
        if (option == 'o')
            ret->output = optarg;
        else if (option == OPTION_REPLACE)
            ret->replace = optarg;
        else if (option == OPTION_IMAGE)
            ret->image = optarg;
        else if (option == OPTION_ARCH)
            error = set_arch(optarg, &ret->arch);
        else if (option == 'h')
            *ret_help = true;
        else
            error = argus_error_create(ARGUS_ERROR_USAGE, "try argus-hook --help");
    }
    return error;
}

/* Options may precede the words or follow the first of them: argus-hook make TABLE -o FILE. */
static struct argus_error *read_words(int argc, char **argv, struct hook_options *ret,
                                      bool *ret_help)
{
    bool is_run = argc > 1 && strcmp(argv[1], "run") == 0;
    char **words = calloc((size_t)argc + 1, sizeof(*words));
    struct argus_error *error = words ? NULL : argus_error_memory();
    optind = 2;
    while (!error) {
        error = read_options(argc, argv, ret, ret_help);
        if (error || optind >= argc)
            break;
        bool is_end = is_run || strcmp(argv[optind - 1], "--") == 0;
        do
            words[ret->count++] = argv[optind++];
        while (is_end && optind < argc);
    }
    ret->words = words;
    return error;
}

static struct argus_error *run(int argc, char **argv, struct hook_options *options, bool *ret_help)
{
    const char *name = argc > 1 ? argv[1] : "--help";
    *ret_help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs) && !*ret_help; i++) {
        if (strcmp(verbs[i].name, name) != 0)
            continue;
        struct argus_error *error = read_words(argc, argv, options, ret_help);
        if (error || *ret_help)
            return error;
        if (options->count < verbs[i].least ||
            (verbs[i].most >= 0 && options->count > verbs[i].most))
            return argus_error_create(ARGUS_ERROR_USAGE,
                                      "argus-hook %s: wrong number of arguments; try argus-hook "
                                      "--help",
                                      name);
        return verbs[i].run(options);
    }
    return *ret_help ? NULL
                     : argus_error_create(ARGUS_ERROR_USAGE,
                                          "there is no verb \"%s\"; try argus-hook --help", name);
}

static const char version[] = "argus-hook " ARGUS_VERSION "\ncompiler: " ARGUS_BUILT_COMPILER
                              "\nlibraries: " ARGUS_BUILT_LIBRARIES "\n";

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        fputs(version, stdout);
        return 0;
    }
    struct hook_options options = {0};
    bool wants_help = false;
    struct argus_error *error = run(argc, argv, &options, &wants_help);
    int code = 0;
    if (wants_help && !error)
        fputs(help, stdout);
    if (error) {
        fprintf(stderr, "argus-hook: %s\n", error->message);
        code = error->code == ARGUS_ERROR_USAGE ? 2 : 1;
    }
    argus_error_destroy(error);
    free(options.words);
    return code;
}
