/* Maps a file, and reads and writes a word of it: flag_shared FILE OFFSET. For each letter of its
 * input: r reads, w writes the next number. Prints "PID" at first, then the value after each.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 65536 };

int main(int argc, char **argv)
{
    int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
    char *memory =
        fd < 0 ? MAP_FAILED : mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return 1;
    volatile uint32_t *word = (volatile uint32_t *)(memory + strtoul(argv[2], NULL, 0));
    printf("%d\n", (int)getpid());
    fflush(stdout);
    for (int letter; (letter = getchar()) != EOF;) {
        uint32_t value;
        if (letter == 'w')
            *word = value = 7;
        else
            value = *word;
        printf("%u\n", value);
        fflush(stdout);
    }
    return 0;
}
