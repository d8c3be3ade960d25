/* For test_elf_symbols.c: an exported function, and a static one whose address only exported data has. */
struct functions {
    void *unused;
    int (*run)(int);
};

extern const struct functions probed_functions;
extern int probed_number;
int probed_function(int number);

int probed_number = 3;

static int run_hidden(int number)
{
    return number * 7 + probed_number;
}

int probed_function(int number)
{
    return number * 5 + probed_number;
}

const struct functions probed_functions = {0, run_hidden};
