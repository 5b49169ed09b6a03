/* What a range of codes loses, times its attribute's weight; see relational/geometry.py. */
#ifndef PRIVET_GEOMETRY_H
#define PRIVET_GEOMETRY_H

#include <stdint.h>

typedef struct {
    const int64_t *kinds, *widths; /* 1: along a hierarchy, 0: from one end to the other; and how many codes */
    const int64_t *const *begin, *const *end, *const *own, *const *stretch;
} Geometry;

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

static inline int32_t lesser(int32_t x, int32_t y) { return x < y ? x : y; }
static inline int32_t larger(int32_t x, int32_t y) { return x > y ? x : y; }

#endif
