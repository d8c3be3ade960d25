/* A library that is linked (layer_linked) or opened (layer_opened): the test is about that
 * difference. */
__attribute__((visibility("default"))) int layer_part(void);
int layer_part(void)
{
    return 1;
}
