/* A library that is either linked (layer_linked) or opened at run time (layer_opened): the test
 * tells these two apart. */
__attribute__((visibility("default"))) int layer_part(void);
int layer_part(void)
{
    return 1;
}
