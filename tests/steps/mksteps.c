/* mksteps TEXT FILE: makes a step file from a text that a person can read (TEXT - is standard input). A line each; numbers are
 * as in C; # begins a comment. The header lines, in any order:
 *
 *   arch x86_64|aarch64                  engine ptrace|lldb|other           begin place|anywhere ADDRESS NAME
 *   process PID TID COMM EXE             vertex N IDENTITY TRACE
 *
 * and then:
 *
 *   image START END OFFSET PATH FLAGS [BUILD-ID]   FLAGS: some of x w s (stepped), or - ; PATH - : no file
 *   code ADDRESS HEX…                              "4889e5 c3"
 *   frame RETURN-ADDRESS FUNCTION CALLER|none      numbered from 0
 *   first-frame N
 *   step PC [NAME=VALUE…]                          a register keeps its value until it is named again; none were named: none
 *   call FRAME FUNCTION [ARGUMENT…]                after the last step, like the next three
 *   return FRAME TO VALUE
 *   skip FRAME|none FUNCTION VALUE|never [ARGUMENT…]
 *   signal FRAME|none NUMBER
 *   end most|return|wait|time|exit|exec|user|error SENTENCE
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argus/steps.h"

enum { MOST_WORDS = 600 };

struct maker {
    const char *file;
    unsigned line;
    char *words[MOST_WORDS];
    size_t count;
    int fd;
    struct argus_steps_about about;
    struct argus_steps_writer *writer;
    uint64_t registers[ARGUS_STEP_REGISTERS];
    bool has_registers, ended;
};

__attribute__((format(printf, 2, 3), noreturn)) static void fail(const struct maker *maker,
                                                                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "mksteps: %s:%u: ", maker->file, maker->line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void check(const struct maker *maker, struct argus_error *error)
{
    if (error)
        fail(maker, "%s", error->message);
}

static const char *word(const struct maker *maker, size_t index)
{
    if (index >= maker->count)
        fail(maker, "%s needs more words", maker->words[0]);
    return maker->words[index];
}

static uint64_t number_of(const struct maker *maker, const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 0);
    if (end == text || *end)
        fail(maker, "'%s' is not a number", text);
    return value;
}

static uint64_t number(const struct maker *maker, size_t index)
{
    return number_of(maker, word(maker, index));
}

static uint32_t frame_id(const struct maker *maker, size_t index)
{
    return strcmp(word(maker, index), "none") == 0 ? ARGUS_NONE : (uint32_t)number(maker, index);
}

static unsigned choice(const struct maker *maker, size_t index, const char *const *names)
{
    for (unsigned i = 0; names[i]; i++)
        if (strcmp(names[i], word(maker, index)) == 0)
            return i;
    fail(maker, "'%s' is not possible here", word(maker, index));
}

static char *text(const struct maker *maker, size_t index)
{
    char *copy = strdup(word(maker, index));
    if (!copy)
        fail(maker, "out of memory");
    return copy;
}

static struct argus_steps_writer *writer(struct maker *maker)
{
    if (!maker->writer)
        check(maker, argus_steps_writer_create(maker->fd, &maker->about, &maker->writer));
    return maker->writer;
}

/* --- the header lines --- */

static void do_arch(struct maker *maker)
{
    static const char *const names[] = {"none", "x86_64", "aarch64", NULL};
    maker->about.arch = (enum argus_arch)choice(maker, 1, names);
}

static void do_engine(struct maker *maker)
{
    static const char *const names[] = {"other", "ptrace", "lldb", NULL};
    maker->about.engine = (enum argus_step_engine)choice(maker, 1, names);
}

static void do_begin(struct maker *maker)
{
    static const char *const names[] = {"place", "anywhere", NULL};
    maker->about.begin = (enum argus_step_begin)choice(maker, 1, names);
    maker->about.begin_address = number(maker, 2);
    maker->about.begin_text = text(maker, 3);
}

static void do_process(struct maker *maker)
{
    maker->about.pid = number(maker, 1);
    maker->about.tid = number(maker, 2);
    maker->about.comm = text(maker, 3);
    maker->about.exe = text(maker, 4);
}

static void do_vertex(struct maker *maker)
{
    maker->about.vertex = (uint32_t)number(maker, 1);
    maker->about.trace_identity = number(maker, 2);
    maker->about.trace = text(maker, 3);
}

/* --- the rest --- */

static size_t hex(const struct maker *maker, size_t first, uint8_t *ret, size_t room)
{
    size_t bytes = 0;
    for (size_t i = first; i < maker->count; i++)
        for (const char *at = maker->words[i]; *at; at += 2) {
            unsigned byte;
            if (bytes == room || !at[1] || sscanf(at, "%2x", &byte) != 1)
                fail(maker, "'%s' is not bytes in hexadecimal", maker->words[i]);
            ret[bytes++] = (uint8_t)byte;
        }
    return bytes;
}

static void do_image(struct maker *maker)
{
    const char *path = word(maker, 4), *flags = word(maker, 5);
    struct argus_step_image image = {.start = number(maker, 1),
                                     .end = number(maker, 2),
                                     .file_offset = number(maker, 3),
                                     .path = strcmp(path, "-") == 0 ? "" : path,
                                     .executable = strchr(flags, 'x'),
                                     .writable = strchr(flags, 'w'),
                                     .stepped = strchr(flags, 's')};
    if (maker->count > 6)
        image.build_id_bytes = (uint32_t)hex(maker, 6, image.build_id, sizeof(image.build_id));
    check(maker, argus_steps_writer_image(writer(maker), &image));
}

static void do_code(struct maker *maker)
{
    uint8_t code[4096];
    size_t bytes = hex(maker, 2, code, sizeof(code));
    check(maker, argus_steps_writer_code(writer(maker), number(maker, 1), code, bytes));
}

static void do_frame(struct maker *maker)
{
    struct argus_step_frame frame = {.return_address = number(maker, 1),
                                     .function = number(maker, 2),
                                     .caller = frame_id(maker, 3)};
    uint32_t id;
    check(maker, argus_steps_writer_frame(writer(maker), &frame, &id));
}

static void do_first_frame(struct maker *maker)
{
    argus_steps_writer_first_frame(writer(maker), frame_id(maker, 1));
}

static uint32_t register_number(const struct maker *maker, const char *name)
{
    enum argus_arch arch = maker->about.arch;
    for (uint32_t i = 0; i < argus_step_register_count(arch); i++)
        if (strcmp(argus_step_register_name(arch, i), name) == 0)
            return i;
    fail(maker, "there is no register '%s'", name);
}

static void do_step(struct maker *maker)
{
    uint64_t pc = number(maker, 1);
    for (size_t i = 2; i < maker->count; i++) {
        char *equals = strchr(maker->words[i], '=');
        if (!equals)
            fail(maker, "'%s' is not REGISTER=VALUE", maker->words[i]);
        *equals = '\0';
        maker->registers[register_number(maker, maker->words[i])] = number_of(maker, equals + 1);
        maker->has_registers = true;
    }
    maker->registers[maker->about.arch == ARGUS_ARCH_X86_64 ? ARGUS_X86_RIP : ARGUS_ARM64_PC] = pc;
    check(maker, argus_steps_writer_step(writer(maker), pc,
                                         maker->has_registers ? maker->registers : NULL));
}

static void put_event(struct maker *maker, struct argus_step_event *event, size_t first_argument)
{
    uint32_t steps = argus_steps_writer_count(writer(maker));
    if (steps == 0)
        fail(maker, "there is no step before it");
    event->step = steps - 1;
    for (size_t i = 0; first_argument && i < 6 && first_argument + i < maker->count; i++)
        event->arguments[i] = number(maker, first_argument + i);
    check(maker, argus_steps_writer_event(writer(maker), event));
}

static void do_call(struct maker *maker)
{
    struct argus_step_event event = {
        .kind = ARGUS_STEP_CALL, .frame = frame_id(maker, 1), .address = number(maker, 2)};
    put_event(maker, &event, 3);
}

static void do_return(struct maker *maker)
{
    struct argus_step_event event = {.kind = ARGUS_STEP_RETURN,
                                     .frame = frame_id(maker, 1),
                                     .address = number(maker, 2),
                                     .value = number(maker, 3)};
    put_event(maker, &event, 0);
}

static void do_skip(struct maker *maker)
{
    bool never = strcmp(word(maker, 3), "never") == 0;
    struct argus_step_event event = {.kind = ARGUS_STEP_SKIP,
                                     .frame = frame_id(maker, 1),
                                     .address = number(maker, 2),
                                     .returned = !never,
                                     .value = never ? 0 : number(maker, 3)};
    put_event(maker, &event, 4);
}

static void do_signal(struct maker *maker)
{
    struct argus_step_event event = {
        .kind = ARGUS_STEP_SIGNAL, .frame = frame_id(maker, 1), .address = number(maker, 2)};
    put_event(maker, &event, 0);
}

static void do_end(struct maker *maker)
{
    static const char *const names[] = {"none", "most", "return", "wait",  "time",
                                        "exit", "exec", "user",   "error", NULL};
    char sentence[1024] = "";
    for (size_t i = 2; i < maker->count; i++)
        snprintf(sentence + strlen(sentence), sizeof(sentence) - strlen(sentence), "%s%s",
                 i > 2 ? " " : "", maker->words[i]);
    check(maker, argus_steps_writer_end(writer(maker), (enum argus_step_end)choice(maker, 1, names),
                                        sentence, 1000000));
    maker->ended = true;
}

static const struct {
    const char *name;
    void (*run)(struct maker *maker);
} directives[] = {
    {"arch", do_arch},       {"engine", do_engine}, {"begin", do_begin},
    {"process", do_process}, {"vertex", do_vertex}, {"image", do_image},
    {"code", do_code},       {"frame", do_frame},   {"first-frame", do_first_frame},
    {"step", do_step},       {"call", do_call},     {"return", do_return},
    {"skip", do_skip},       {"signal", do_signal}, {"end", do_end},
};

static void run_line(struct maker *maker)
{
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
        if (strcmp(directives[i].name, maker->words[0]) == 0) {
            directives[i].run(maker);
            return;
        }
    }
    fail(maker, "there is no directive '%s'", maker->words[0]);
}

static void split(struct maker *maker, char *line)
{
    char *rest = line, *at;
    line[strcspn(line, "#")] = '\0';
    maker->count = 0;
    while ((at = strsep(&rest, " \t\n"))) {
        if (!*at)
            continue;
        if (maker->count == MOST_WORDS)
            fail(maker, "too many words");
        maker->words[maker->count++] = at;
    }
}

int main(int argc, char **argv)
{
    static struct maker maker = {.about = {.arch = ARGUS_ARCH_X86_64, .vertex = ARGUS_NONE}};
    char *line = NULL;
    size_t room = 0;
    if (argc != 3) {
        fputs("usage: mksteps TEXT FILE\n", stderr);
        return 2;
    }
    maker.file = argv[1];
    FILE *input = strcmp(argv[1], "-") == 0 ? stdin : fopen(argv[1], "r");
    maker.fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (!input || maker.fd < 0) {
        perror(input ? argv[2] : argv[1]);
        return 1;
    }
    while (getline(&line, &room, input) >= 0) {
        maker.line++;
        split(&maker, line);
        if (maker.count)
            run_line(&maker);
    }
    if (!maker.ended)
        fail(&maker, "no line says how it ended");
    free(line);
    fclose(input);
    argus_steps_writer_destroy(maker.writer);
    return close(maker.fd) ? 1 : 0;
}
