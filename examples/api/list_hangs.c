/* Lists the hangs of a trace with their causes:
 *
 *     cc list_hangs.c $(pkg-config --cflags --libs argus) -o list_hangs
 *     ./list_hangs freeze.argus
 */
#include <argus.h>
#include <stdio.h>

static int fail(struct argus_error *error)
{
    fprintf(stderr, "list_hangs: %s\n", argus_error_text(error));
    argus_error_free(error);
    return 1;
}

static struct argus_error *print_hangs(struct argus_file *file)
{
    struct argus_hang_list *hangs = NULL;
    struct argus_error *error = argus_hang_list_create(file, NULL, &hangs);
    for (size_t i = 0; !error && i < argus_hang_list_count(hangs); i++) {
        const struct argus_hang_info *hang = argus_hang_list_get(hangs, i);
        struct argus_answer *answer;
        printf("%s (%.2f s)\n", hang->process, (double)(hang->end_ns - hang->start_ns) / 1e9);
        error = argus_answer_create(hangs, i, &answer);
        if (error)
            break;
        printf("  %s\n", argus_answer_summary(answer));
        const struct argus_answer_step *step;
        for (size_t k = 0; (step = argus_answer_step_get(answer, k)); k++)
            printf("  %s [%llu]: %s\n", step->thread, (unsigned long long)step->tid, step->text);
        argus_answer_free(answer);
    }
    argus_hang_list_free(hangs);
    return error;
}

int main(int argc, char **argv)
{
    struct argus_file *file;
    struct argus_error *error = argus_file_open(argc > 1 ? argv[1] : "", NULL, &file);
    if (!error) {
        error = print_hangs(file);
        argus_file_close(file);
    }
    return error ? fail(error) : 0;
}
