/* What a range of codes loses, times its attribute's weight; see relational/geometry.py. */
#ifndef PRIVET_GEOMETRY_H
#define PRIVET_GEOMETRY_H

#include <stdint.h>
#include <stdlib.h>

typedef struct {
    const int64_t *kinds, *widths; /* 1: along a hierarchy, 0: from one end to the other; and how many codes */
    const int64_t *const *begin, *const *end, *const *own, *const *stretch;
} Geometry;

enum { NARROW = 256 }; /* codes of an attribute whose every range has a place in a table that stays in the cache */

static inline int64_t lost(const Geometry *g, int64_t a, int32_t lo, int32_t hi)
{
    if (lo == hi)
        return g->own[a][lo];
    if (!g->kinds[a])
        return g->end[a][hi] - g->begin[a][lo];
    int power = 31 - __builtin_clz((unsigned)(hi - lo));
    const int64_t *row = g->stretch[a] + power * g->widths[a];
    int64_t left = row[lo + 1], right = row[hi + 1 - (1 << power)];
    return left > right ? left : right;
}

/* By attribute and both ends what a range loses (a record loses 2^30 in all, at the most), for those that are narrow;
 * NULL where there is no memory. Freed as one. */
static inline int32_t **ranges_of(const Geometry *g, int64_t d)
{
    int64_t cells = 0;
    for (int64_t a = 0; a < d; a++)
        cells += g->widths[a] <= NARROW ? g->widths[a] * g->widths[a] : 0;
    int32_t **table = malloc((d + 1) * sizeof *table + cells * sizeof **table);
    int32_t *next = table ? (int32_t *)(table + d + 1) : NULL;
    for (int64_t a = 0; table && a < d; a++) {
        int64_t wide = g->widths[a];
        table[a] = wide <= NARROW ? next : NULL;
        for (int64_t lo = 0; table[a] && lo < wide; lo++)
            for (int64_t hi = lo; hi < wide; hi++)
                table[a][lo * wide + hi] = (int32_t)lost(g, a, (int32_t)lo, (int32_t)hi);
        next += table[a] ? wide * wide : 0;
    }
    return table;
}

static inline int32_t lesser(int32_t x, int32_t y) { return x < y ? x : y; }
static inline int32_t larger(int32_t x, int32_t y) { return x > y ? x : y; }

#endif
