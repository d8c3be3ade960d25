#include "diagnose/finder.h"

bool indicator_stack(struct finder *finder)
{
    return finder != NULL;
}
