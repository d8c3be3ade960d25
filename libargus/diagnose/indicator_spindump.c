#include "diagnose/finder.h"

bool indicator_spindump(struct finder *finder)
{
    return finder != NULL;
}
