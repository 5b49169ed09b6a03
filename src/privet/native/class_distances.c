/* How far the sensitive values of many classes are from those of a table; see relational/closeness.py. */
#include "loops.h"

#include <stdlib.h>

/* Values of class c stand from start[c] to start[c + 1]. `over` says for each code which edges its share
   crosses, `table` what share of the table crosses each. 0, or -1 where there is no memory. */
int64_t privet_class_distances(const int64_t *start, int64_t classes, const int64_t *value, const int64_t *count,
                         const int64_t *over, const double *length, int64_t edges, const double *table,
                         double *far) {
    int64_t *crossing = malloc((edges + 1) * sizeof *crossing);
    if (!crossing) return -1;
    for (int64_t c = 0; c < classes; c++) {
        int64_t size = 0;
        for (int64_t e = 0; e < edges; e++) crossing[e] = 0;
        for (int64_t i = start[c]; i < start[c + 1]; i++) {
            const int64_t *here = over + value[i] * edges;
            size += count[i];
            for (int64_t e = 0; e < edges; e++) crossing[e] += here[e] * count[i];
        }
        double sum = 0, n = size ? (double)size : 1;
        for (int64_t e = 0; e < edges; e++) {
            double gap = crossing[e] / n - table[e];
            sum += length[e] * (gap < 0 ? -gap : gap);
        }
        far[c] = sum;
    }
    free(crossing);
    return 0;
}
