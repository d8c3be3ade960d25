/* Is linked (layer_linked) or opened (layer_opened): what counts is how. */
__attribute__((visibility("default"))) int layer_part(void);
int layer_part(void)
{
    return 1;
}
