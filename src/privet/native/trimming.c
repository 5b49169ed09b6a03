/* Records dropped one by one until every class lies near the table; see relational/trimming.py. */
#include "loops.h"

#include <stdlib.h>

typedef struct {
    const int64_t *over, *rise; /* codes x edges: 1 where a code's share crosses the edge; how long it is */
    int64_t codes, edges;
    int64_t *table, records; /* what crosses each edge in the whole table, and all its records */
} Table;

/* The distance of a class, times its size, times the table's; with one record of a code gone from both. */
static int64_t far_without(const Table *t, const int64_t *crossing, int64_t size, const int64_t *over) {
    int64_t sum = 0, all = t->records - (over != NULL), n = size - (over != NULL);
    for (int64_t e = 0; e < t->edges; e++) {
        int64_t gone = over ? over[e] : 0;
        int64_t gap = all * (crossing[e] - gone) - n * (t->table[e] - gone);
        sum += t->rise[e] * (gap < 0 ? -gap : gap);
    }
    return sum;
}

static void drop(Table *t, int64_t *counts, int64_t *crossing, int64_t *size, int64_t code, int64_t times) {
    counts[code] -= times;
    *size -= times;
    t->records -= times;
    for (int64_t e = 0; e < t->edges; e++) {
        crossing[e] -= times * t->over[code * t->edges + e];
        t->table[e] -= times * t->over[code * t->edges + e];
    }
}

/* `counts` becomes what stays. Returns how many records went, or -1 where more than `most` would have to. */
int64_t privet_trim_classes(int64_t *counts, int64_t classes, int64_t codes, const int64_t *over,
                          const int64_t *rise, int64_t edges, int64_t top, int64_t bottom, int64_t smallest,
                          int64_t most) {
    int64_t *table = calloc(edges + 1, sizeof *table), *crossing = calloc(edges + 1, sizeof *crossing);
    Table t = {over, rise, codes, edges, table, 0};
    int64_t gone = 0;
    int moved = table && crossing;
    if (!moved) gone = -1;
    for (int64_t i = 0; moved && i < classes * codes; i++) {
        t.records += counts[i];
        for (int64_t e = 0; e < edges; e++) table[e] += counts[i] * over[i % codes * edges + e];
    }
    while (moved) {
        moved = 0;
        for (int64_t c = 0; c < classes; c++) {
            int64_t *here = counts + c * codes, size = 0;
            for (int64_t e = 0; e < edges; e++) crossing[e] = 0;
            for (int64_t v = 0; v < codes; v++) {
                size += here[v];
                for (int64_t e = 0; e < edges; e++) crossing[e] += here[v] * over[v * edges + e];
            }
            while (size && (size < smallest || (__int128)far_without(&t, crossing, size, NULL) * bottom
                                                   > (__int128)top * size * t.records)) {
                int64_t code = -1, times = 1, least = 0;
                if (size <= smallest) { /* too few would be left: all of it goes */
                    for (code = 0; !here[code]; code++) {}
                    times = here[code];
                } else {
                    for (int64_t v = 0; v < codes; v++) {
                        if (!here[v]) continue;
                        int64_t far = far_without(&t, crossing, size, over + v * edges);
                        if (code < 0 || far < least) { least = far; code = v; }
                    }
                }
                gone += times;
                if (gone > most) { gone = -1; goto out; }
                drop(&t, here, crossing, &size, code, times);
                moved = 1;
            }
        }
    }
out:
    free(table);
    free(crossing);
    return gone;
}
