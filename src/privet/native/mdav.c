/* MDAV microaggregation: groups of k records that lie near each other; see relational/mdav.py. */
#include "loops.h"

#include <stdlib.h>

static double apart(const double *a, const double *b, int64_t d) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) {
        double gap = a[j] - b[j];
        sum += gap * gap;
    }
    return sum;
}

/* The place among the rows left of the one farthest from `from`; the first of equals. */
static int64_t farthest(const double *points, const int64_t *left, int64_t n, int64_t d, const double *from) {
    int64_t best = 0;
    double most = -1;
    for (int64_t i = 0; i < n; i++) {
        double gap = apart(points + left[i] * d, from, d);
        if (gap > most) { most = gap; best = i; }
    }
    return best;
}

/* Give the k rows nearest to `from` the number `group`; returns how many rows are left. Of equals the
   first: `near` holds the nearest so far in order, so a later equal one does not displace an earlier. */
static int64_t gather(const double *points, int64_t *left, int64_t n, int64_t d, int64_t k, const double *from,
                      int64_t *near, double *gaps, int64_t *group_of, int64_t group, double *sum) {
    int64_t held = 0;
    for (int64_t i = 0; i < n; i++) {
        double gap = apart(points + left[i] * d, from, d);
        if (held == k && gap >= gaps[k - 1]) continue;
        int64_t at = held < k ? held++ : k - 1;
        while (at > 0 && gaps[at - 1] > gap) { gaps[at] = gaps[at - 1]; near[at] = near[at - 1]; at--; }
        gaps[at] = gap;
        near[at] = left[i];
    }
    for (int64_t i = 0; i < held; i++) {
        group_of[near[i]] = group;
        for (int64_t j = 0; j < d; j++) sum[j] -= points[near[i] * d + j];
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) if (group_of[left[i]] < 0) left[kept++] = left[i];
    return kept;
}

int64_t privet_mdav_groups(const double *points, int64_t n, int64_t d, int64_t k, int64_t *group_of) {
    int64_t *left = malloc(n * sizeof *left), *near = malloc(k * sizeof *near);
    double *gaps = malloc(k * sizeof *gaps), *sum = calloc(d, sizeof *sum), *from = malloc(d * sizeof *from);
    int64_t groups = -1;
    if (left && near && gaps && sum && from) {
        groups = 0;
        for (int64_t i = 0; i < n; i++) {
            left[i] = i;
            group_of[i] = -1;
            for (int64_t j = 0; j < d; j++) sum[j] += points[i * d + j];
        }
        int64_t rest = n;
        while (rest >= 2 * k) {
            for (int64_t j = 0; j < d; j++) from[j] = sum[j] / rest;
            const double *first = points + left[farthest(points, left, rest, d, from)] * d;
            int many = rest >= 3 * k;
            rest = gather(points, left, rest, d, k, first, near, gaps, group_of, groups++, sum);
            if (many) {
                const double *second = points + left[farthest(points, left, rest, d, first)] * d;
                rest = gather(points, left, rest, d, k, second, near, gaps, group_of, groups++, sum);
            }
        }
        if (rest > 0) {
            for (int64_t i = 0; i < rest; i++) group_of[left[i]] = groups;
            groups++;
        }
    }
    free(left); free(near); free(gaps); free(sum); free(from);
    return groups;
}
