// One step of all rows of a batch; lstm_cell.cu stands before it.

// Arrays of one step, (rows, units) or (rows, 4 units); h0 and c0 are read where has_h and has_c say so.
extern "C" __global__ void lstm_step(T *__restrict__ gates, const void *bias, const void *peephole, const void *h0, const void *c0,
                                     const void *mask, T *__restrict__ cells, T *__restrict__ squashed, T *__restrict__ states,
                                     const int rows, const int units, const int order, const int has_h, const int has_c,
                                     const double clip, const double forget_bias) {
    const Blocks b = blocks_of(order, units);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * units; i += gridDim.x * blockDim.x) {
        const int n = i / units, u = i - n * units;
        T *z = gates + n * 4 * units + u;
        Cell cell = {load(z[b.a]), load(z[b.f]), load(z[b.o]), load(z[b.g]), 0, has_c ? load(((const T *)c0)[i]) : 0,
                     has_h ? load(((const T *)h0)[i]) : 0};
        step(cell, (const T *)bias, (const T *)peephole, MASK ? (W)load(((const M *)mask)[n]) : (W)1, b, u, units, (W)clip, (W)forget_bias);
        store(z[b.a], cell.a);
        store(z[b.f], cell.f);
        store(z[b.o], cell.o);
        store(z[b.g], cell.g);
        store(squashed[i], cell.squashed);
        store(cells[i], cell.c);
        store(states[i], cell.h);
    }
}

// dh and dc are carried from step to step; has_carried: whether there is a step behind this one.
extern "C" __global__ void lstm_step_back(const T *__restrict__ gates, const void *sums, const void *bias, const void *peephole, const void *c0, const void *mask,
                                          const T *__restrict__ squashed, const T *__restrict__ gh, const void *gc,
                                          T *__restrict__ dz, T *__restrict__ carried_h, T *__restrict__ carried_c, const int rows,
                                          const int units, const int order, const int has_c, const int has_gc, const int has_carried,
                                          const double clip, const double forget_bias) {
    const Blocks b = blocks_of(order, units);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * units; i += gridDim.x * blockDim.x) {
        const int n = i / units, u = i - n * units;
        const T *z = gates + n * 4 * units + u;
        T *d = dz + n * 4 * units + u;
        const Cell cell = {load(z[b.a]), load(z[b.f]), load(z[b.o]), load(z[b.g]), load(squashed[i]), 0, 0};
        W dh = load(gh[i]), dc = has_gc ? load(((const T *)gc)[i]) : 0;
        if (has_carried) {
            dh += load(carried_h[i]);
            dc += load(carried_c[i]);
        }
        Cell back, z_of = sums_of(SUMS ? (const T *)sums + n * 4 * units + u : z, b);
        step_back(cell, z_of, (const T *)bias, (const T *)peephole, has_c ? load(((const T *)c0)[i]) : 0,
                  MASK ? (W)load(((const M *)mask)[n]) : (W)1, b, u, units, (W)clip, (W)forget_bias, dh, dc, back);
        store(d[b.a], back.a);
        store(d[b.f], back.f);
        store(d[b.o], back.o);
        store(d[b.g], back.g);
        store(carried_h[i], dh);
        store(carried_c[i], dc);
    }
}

// Shares of the gradients of peepholes, (parts, 3, units) for g, f, o: sums over the rows of all steps. Blocks of 32 x 8 threads.
extern "C" __global__ void lstm_peepholes(const T *__restrict__ gates, const T *__restrict__ dz, const T *__restrict__ cells,
                                          const void *c0, W *__restrict__ shares, const int steps, const int rows, const int units,
                                          const int order, const int has_c, const int reverse, const double clip) {
    __shared__ W sums[3][8][32];
    const Blocks b = blocks_of(order, units);
    const int u = blockIdx.x * 32 + threadIdx.x, all = steps * rows;
    W g = 0, f = 0, o = 0;
    for (int r = blockIdx.y * 8 + threadIdx.y; r < all && u < units; r += gridDim.y * 8) {
        const int t = r / rows;
        const bool first = t == (reverse ? steps - 1 : 0);
        W before = 0;
        if (!first)
            before = load(cells[(reverse ? r + rows : r - rows) * units + u]);
        else if (has_c)
            before = load(((const T *)c0)[(r - t * rows) * units + u]);
        const T *z = gates + r * 4 * units + u, *d = dz + r * 4 * units + u;
        W c = load(z[b.f]) * before + load(z[b.g]) * load(z[b.a]);
#if CLIP
        c = vmin(vmax(c, -(W)clip), (W)clip);
#endif
        g += load(d[b.g]) * before;
        f += load(d[b.f]) * before;
        o += load(d[b.o]) * c;
    }
    sums[0][threadIdx.y][threadIdx.x] = g;
    sums[1][threadIdx.y][threadIdx.x] = f;
    sums[2][threadIdx.y][threadIdx.x] = o;
    __syncthreads();
    if (threadIdx.y < 3 && u < units) {
        W sum = 0;
        for (int k = 0; k < 8; k++) sum += sums[threadIdx.y][k][threadIdx.x];
        shares[(blockIdx.y * 3 + threadIdx.y) * units + u] = sum;
    }
}
