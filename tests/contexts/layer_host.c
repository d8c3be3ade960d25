/* A program that is linked with a library of its own folder (layers.h). */
int layer_part(void);
int main(void)
{
    return layer_part();
}
