// The LSTM of ops/lstm_sequence.py: one step of all rows, or (UNITS) all steps of few rows in one block, which keeps weights and states.
// Blocks of a row of gates: a, f, o, g, at multiples of `units` given by their numbers.
// Open: T, M (of the mask), BIAS, PEEPHOLE, MASK, HOLD, CLIP, SUMS (0 or 1), perhaps UNITS and ROWS. Before it stand activation(x), gate(x),
// output(x) and their slopes. Without SUMS these are tanh, sigmoid and tanh, whose slopes follow from the values.

typedef typename work_of<T>::type W;

struct Blocks { int a, f, o, g; };

__device__ __forceinline__ Blocks blocks_of(int order, int units) {
    const Blocks b = {(order & 3) * units, (order >> 2 & 3) * units, (order >> 4 & 3) * units, (order >> 6 & 3) * units};
    return b;
}

struct Cell { W a, f, o, g, squashed, c, h; };

// One unit: sums a, f, o, g become gates; c and h are those of the step before, then those of this one.
__device__ __forceinline__ void step(Cell &cell, const T *bias, const T *peephole, W m, Blocks b, int u, int units, W clip,
                                     W forget_bias) {
    const W c_before = cell.c;
#if MASK && HOLD
    const W h_before = cell.h;
#endif
#if BIAS
    cell.a += load(bias[b.a + u]);
    cell.f += load(bias[b.f + u]);
    cell.o += load(bias[b.o + u]);
    cell.g += load(bias[b.g + u]);
#endif
    cell.f += forget_bias;
#if PEEPHOLE
    cell.g += c_before * load(peephole[u]);
    cell.f += c_before * load(peephole[units + u]);
#endif
    cell.a = activation(cell.a);
    cell.f = gate(cell.f);
    cell.g = gate(cell.g);
    W c = cell.f * c_before + cell.g * cell.a;
#if CLIP
    c = vmin(vmax(c, -clip), clip);
#endif
#if PEEPHOLE
    cell.o += c * load(peephole[2 * units + u]);
#endif
    cell.o = gate(cell.o);
    cell.squashed = output(c);
    W h = cell.o * cell.squashed;
#if MASK
    c *= m;
    h *= m;
#if HOLD
    c += ((W)1 - m) * c_before;
    h += ((W)1 - m) * h_before;
#endif
#endif
    cell.c = c;
    cell.h = h;
}

#if SUMS
#define GATE_SLOPE(k) gate_slope(z.k)
#define ACTIVATION_SLOPE(k) activation_slope(z.k)
#define OUTPUT_SLOPE output_slope(c)
#else
#define GATE_SLOPE(k) (cell.k * ((W)1 - cell.k))
#define ACTIVATION_SLOPE(k) ((W)1 - cell.k * cell.k)
#define OUTPUT_SLOPE ((W)1 - cell.squashed * cell.squashed)
#endif

// Back: dh and dc are all that comes from above, then what the step before gets besides dz; z: sums without biases (SUMS).
__device__ __forceinline__ void step_back(const Cell &cell, Cell &z, const T *bias, const T *peephole, W c_before, W m, Blocks b, int u,
                                          int units, W clip, W forget_bias, W &dh, W &dc, Cell &dz) {
#if SUMS || CLIP
    const W raw = cell.f * c_before + cell.g * cell.a;
#endif
#if SUMS
#if CLIP
    const W c = vmin(vmax(raw, -clip), clip);
#else
    const W c = raw;
#endif
#if BIAS
    z.a += load(bias[b.a + u]);
    z.f += load(bias[b.f + u]);
    z.o += load(bias[b.o + u]);
    z.g += load(bias[b.g + u]);
#endif
    z.f += forget_bias;
#if PEEPHOLE
    z.g += c_before * load(peephole[u]);
    z.f += c_before * load(peephole[units + u]);
    z.o += c * load(peephole[2 * units + u]);
#endif
#endif
#if MASK && HOLD
    const W kept_h = ((W)1 - m) * dh, kept_c = ((W)1 - m) * dc;
#endif
#if MASK
    dh *= m;
    dc *= m;
#endif
    dz.o = dh * cell.squashed * GATE_SLOPE(o);
    dc += dh * cell.o * OUTPUT_SLOPE;
#if PEEPHOLE
    dc += dz.o * load(peephole[2 * units + u]);
#endif
#if CLIP
    if (!(fabs(raw) <= clip)) dc = 0;
#endif
    dz.a = dc * cell.g * ACTIVATION_SLOPE(a);
    dz.g = dc * cell.a * GATE_SLOPE(g);
    dz.f = dc * c_before * GATE_SLOPE(f);
    dc *= cell.f;
#if PEEPHOLE
    dc += dz.g * load(peephole[u]) + dz.f * load(peephole[units + u]);
#endif
    dh = 0;
#if MASK && HOLD
    dh = kept_h;
    dc += kept_c;
#endif
}

__device__ __forceinline__ Cell sums_of(const T *z, Blocks b) {
    const Cell sums = {load(z[b.a]), load(z[b.f]), load(z[b.o]), load(z[b.g]), 0, 0, 0};
    return sums;
}

#ifndef UNITS

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

#else
#define COLUMNS (4 * UNITS)

// All steps of ROWS rows; a thread keeps the weights of one column of gates, which hold the products of the inputs.
extern "C" __global__ void __launch_bounds__(COLUMNS)
lstm_rows(const T *__restrict__ rw, T *__restrict__ gates, const void *bias, const void *peephole, const void *h0, const void *c0,
          const void *mask, T *__restrict__ cells, T *__restrict__ squashed, T *__restrict__ states, const int steps, const int batch,
          const int order, const int has_h, const int has_c, const int reverse, const double clip, const double forget_bias) {
    __shared__ W h[ROWS][UNITS], z[ROWS][COLUMNS];
    const Blocks b = blocks_of(order, UNITS);
    const int column = threadIdx.x, first = blockIdx.x * ROWS, r = column / UNITS, u = column % UNITS, n = first + r;
    const bool mine = r < ROWS && n < batch;
    W weights[UNITS];
#pragma unroll
    for (int j = 0; j < UNITS; j++) weights[j] = load(rw[j * COLUMNS + column]);
    Cell cell;
    cell.c = mine && has_c ? load(((const T *)c0)[n * UNITS + u]) : (W)0;
    cell.h = mine && has_h ? load(((const T *)h0)[n * UNITS + u]) : (W)0;
    if (r < ROWS) h[r][u] = cell.h;
    for (int s = 0; s < steps; s++) {
        const int t = reverse ? steps - 1 - s : s;
        W sum[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            sum[k] = first + k < batch ? load(gates[(t * batch + first + k) * COLUMNS + column]) : (W)0;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < UNITS; j++)
#pragma unroll
            for (int k = 0; k < ROWS; k++) sum[k] += h[k][j] * weights[j];
#pragma unroll
        for (int k = 0; k < ROWS; k++) z[k][column] = sum[k];
        __syncthreads();
        if (!mine) continue;
        cell.a = z[r][b.a + u], cell.f = z[r][b.f + u], cell.o = z[r][b.o + u], cell.g = z[r][b.g + u];
        step(cell, (const T *)bias, (const T *)peephole, MASK ? (W)load(((const M *)mask)[t * batch + n]) : (W)1, b, u, UNITS,
             (W)clip, (W)forget_bias);
        h[r][u] = cell.h;
        const int i = (t * batch + n) * UNITS + u;
        T *row = gates + (t * batch + n) * COLUMNS + u;
        store(row[b.a], cell.a);
        store(row[b.f], cell.f);
        store(row[b.o], cell.o);
        store(row[b.g], cell.g);
        store(squashed[i], cell.squashed);
        store(cells[i], cell.c);
        store(states[i], cell.h);
    }
}

// All steps back of ROWS rows; a thread keeps a quarter of the weights of one unit.
extern "C" __global__ void __launch_bounds__(COLUMNS)
lstm_rows_back(const T *__restrict__ rw, const T *__restrict__ gates, const void *sums, const void *bias, const void *peephole, const void *c0,
               const void *mask, const T *__restrict__ cells, const T *__restrict__ squashed, const T *__restrict__ gh, const void *gc,
               T *__restrict__ dz, T *__restrict__ dh0, T *__restrict__ dc0, const int steps, const int batch, const int order,
               const int has_c, const int has_gc, const int reverse, const double clip, const double forget_bias) {
    __shared__ W d[ROWS][COLUMNS], shares[ROWS][COLUMNS];
    const Blocks b = blocks_of(order, UNITS);
    const int column = threadIdx.x, first = blockIdx.x * ROWS, r = column / UNITS, u = column % UNITS, n = first + r;
    const bool mine = r < ROWS && n < batch;
    W weights[UNITS];
#pragma unroll
    for (int j = 0; j < UNITS; j++) weights[j] = load(rw[u * COLUMNS + r * UNITS + j]);
    W dh = 0, dc = 0;
    for (int k = 0; k < ROWS; k++)
        if (first + k >= batch) d[k][column] = 0;
    for (int s = steps - 1; s >= 0; s--) {
        const int t = reverse ? steps - 1 - s : s;
        if (mine) {
            const int i = (t * batch + n) * UNITS + u, last = reverse ? i + batch * UNITS : i - batch * UNITS;
            const T *row = gates + (t * batch + n) * COLUMNS + u;
            const Cell cell = {load(row[b.a]), load(row[b.f]), load(row[b.o]), load(row[b.g]), load(squashed[i]), 0, 0};
            const W before = s > 0 ? load(cells[last]) : has_c ? load(((const T *)c0)[n * UNITS + u]) : (W)0;
            dh += load(gh[i]);
            if (has_gc) dc += load(((const T *)gc)[i]);
            Cell back, z_of = sums_of(SUMS ? (const T *)sums + (row - gates) : row, b);
            step_back(cell, z_of, (const T *)bias, (const T *)peephole, before, MASK ? (W)load(((const M *)mask)[t * batch + n]) : (W)1,
                      b, u, UNITS, (W)clip, (W)forget_bias, dh, dc, back);
            T *to = dz + (t * batch + n) * COLUMNS + u;
            store(to[b.a], d[r][b.a + u] = back.a);
            store(to[b.f], d[r][b.f + u] = back.f);
            store(to[b.o], d[r][b.o + u] = back.o);
            store(to[b.g], d[r][b.g + u] = back.g);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            W sum = 0;
#pragma unroll
            for (int j = 0; j < UNITS; j++) sum += d[k][r * UNITS + j] * weights[j];
            shares[k][column] = sum;
        }
        __syncthreads();
        if (mine)
            for (int k = 0; k < 4; k++) dh += shares[r][k * UNITS + u];
    }
    if (mine) {
        store(dh0[n * UNITS + u], dh);
        store(dc0[n * UNITS + u], dc);
    }
}
#endif
