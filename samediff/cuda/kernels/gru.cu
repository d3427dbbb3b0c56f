// The gated recurrent unit of ops/gru_sequence.py: one step of all rows, or (UNITS) all steps of few rows in one block, which keeps
// weights and states. Blocks of sums and products: r, u, c; of what is saved: r, u, c and the product of c.
// Open: T, perhaps UNITS and ROWS.

typedef typename work_of<T>::type W;

__device__ __forceinline__ W sigmoid(W x) { return (W)1 / ((W)1 + exp(-x)); }

struct Cell { W r, u, c, kept; };

// Sums of the inputs become gates; `r` and `u` are the products of the state for these; the result is the new state.
__device__ __forceinline__ W step(Cell &cell, W r, W u, const T *bias, int j, int units, W h) {
    cell.r = sigmoid(cell.r + load(bias[j]) + r);
    cell.u = sigmoid(cell.u + load(bias[units + j]) + u);
    cell.c = tanh(cell.c + load(bias[2 * units + j]) + cell.r * cell.kept);
    return cell.u * h + ((W)1 - cell.u) * cell.c;
}

// Back: sums of r, u, c, and in `kept` what the product of c gets; the result is what the state before gets besides products.
__device__ __forceinline__ W step_back(const Cell &cell, W h, W total, Cell &d) {
    d.c = total * ((W)1 - cell.u) * ((W)1 - cell.c * cell.c);
    d.r = d.c * cell.kept * cell.r * ((W)1 - cell.r);
    d.u = total * (h - cell.c) * cell.u * ((W)1 - cell.u);
    d.kept = d.c * cell.r;
    return total * cell.u;
}

#ifndef UNITS

// Arrays of one step: sums and product (rows, 3 units), saved (rows, 4 units), the others (rows, units).
extern "C" __global__ void gru_step(const T *__restrict__ sums, const T *__restrict__ product, const T *__restrict__ bias,
                                    const T *__restrict__ before, T *__restrict__ saved, T *__restrict__ states, const int rows,
                                    const int units) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * units; i += gridDim.x * blockDim.x) {
        const int n = i / units, j = i - n * units;
        const T *z = sums + n * 3 * units + j, *p = product + n * 3 * units + j;
        T *to = saved + n * 4 * units + j;
        Cell cell = {load(z[0]), load(z[units]), load(z[2 * units]), load(p[2 * units])};
        store(states[i], step(cell, load(p[0]), load(p[units]), bias, j, units, load(before[i])));
        store(to[0], cell.r);
        store(to[units], cell.u);
        store(to[2 * units], cell.c);
        store(to[3 * units], cell.kept);
    }
}

// carried: what comes from the step behind, where there is one, then what the step before gets besides dr wh^T.
extern "C" __global__ void gru_step_back(const T *__restrict__ saved, const T *__restrict__ before, const T *__restrict__ gh,
                                         T *__restrict__ dz, T *__restrict__ dr, T *__restrict__ carried, const int rows,
                                         const int units, const int has_carried) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * units; i += gridDim.x * blockDim.x) {
        const int n = i / units, j = i - n * units;
        const T *from = saved + n * 4 * units + j;
        T *z = dz + n * 3 * units + j, *r = dr + n * 3 * units + j;
        const Cell cell = {load(from[0]), load(from[units]), load(from[2 * units]), load(from[3 * units])};
        Cell d;
        const W total = load(gh[i]) + (has_carried ? load(carried[i]) : (W)0);
        store(carried[i], step_back(cell, load(before[i]), total, d));
        store(z[0], d.r);
        store(r[0], d.r);
        store(z[units], d.u);
        store(r[units], d.u);
        store(z[2 * units], d.c);
        store(r[2 * units], d.kept);
    }
}

#else
#define COLUMNS (3 * UNITS)

// All steps of ROWS rows; a thread keeps the weights of one column.
extern "C" __global__ void __launch_bounds__(COLUMNS)
gru_rows(const T *__restrict__ wh, const T *__restrict__ sums, const T *__restrict__ bias, const T *__restrict__ h0,
         T *__restrict__ saved, T *__restrict__ states, const int steps, const int batch) {
    __shared__ W h[ROWS][UNITS], z[ROWS][COLUMNS];
    const int column = threadIdx.x, first = blockIdx.x * ROWS, r = column / UNITS, j = column % UNITS, n = first + r;
    const bool mine = r < ROWS && n < batch;
    W weights[UNITS];
#pragma unroll
    for (int k = 0; k < UNITS; k++) weights[k] = load(wh[k * COLUMNS + column]);
    W before = mine ? load(h0[n * UNITS + j]) : (W)0;
    if (r < ROWS) h[r][j] = before;
    for (int t = 0; t < steps; t++) {
        Cell cell;
        const T *from = sums + (t * batch + n) * COLUMNS + j;
        if (mine) cell.r = load(from[0]), cell.u = load(from[UNITS]), cell.c = load(from[2 * UNITS]);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            W sum = 0;
#pragma unroll
            for (int k = 0; k < UNITS; k++) sum += h[i][k] * weights[k];
            z[i][column] = sum;
        }
        __syncthreads();
        if (!mine) continue;
        cell.kept = z[r][2 * UNITS + j];
        before = step(cell, z[r][j], z[r][UNITS + j], bias, j, UNITS, before);
        h[r][j] = before;
        T *to = saved + (t * batch + n) * 4 * UNITS + j;
        store(states[(t * batch + n) * UNITS + j], before);
        store(to[0], cell.r);
        store(to[UNITS], cell.u);
        store(to[2 * UNITS], cell.c);
        store(to[3 * UNITS], cell.kept);
    }
}

// All steps back of ROWS rows; a thread keeps a third of the weights of one unit.
extern "C" __global__ void __launch_bounds__(COLUMNS)
gru_rows_back(const T *__restrict__ wh, const T *__restrict__ saved, const T *__restrict__ h0, const T *__restrict__ states,
              const T *__restrict__ gh, T *__restrict__ dz, T *__restrict__ dr, T *__restrict__ dh0, const int steps, const int batch) {
    __shared__ W back[ROWS][COLUMNS], shares[ROWS][COLUMNS];
    const int column = threadIdx.x, first = blockIdx.x * ROWS, r = column / UNITS, j = column % UNITS, n = first + r;
    const bool mine = r < ROWS && n < batch;
    W weights[UNITS];
#pragma unroll
    for (int k = 0; k < UNITS; k++) weights[k] = load(wh[j * COLUMNS + r * UNITS + k]);
    W carried = 0;
    for (int i = 0; i < ROWS; i++)
        if (first + i >= batch) back[i][column] = 0;
    for (int t = steps - 1; t >= 0; t--) {
        if (mine) {
            const int i = (t * batch + n) * UNITS + j;
            const T *from = saved + (t * batch + n) * 4 * UNITS + j;
            const Cell cell = {load(from[0]), load(from[UNITS]), load(from[2 * UNITS]), load(from[3 * UNITS])};
            Cell d;
            carried = step_back(cell, t ? load(states[i - batch * UNITS]) : load(h0[n * UNITS + j]), load(gh[i]) + carried, d);
            T *to = dz + (t * batch + n) * COLUMNS + j, *also = dr + (t * batch + n) * COLUMNS + j;
            store(to[0], d.r);
            store(to[UNITS], d.u);
            store(to[2 * UNITS], d.c);
            store(also[0], back[r][j] = d.r);
            store(also[UNITS], back[r][UNITS + j] = d.u);
            store(also[2 * UNITS], back[r][2 * UNITS + j] = d.kept);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            W sum = 0;
#pragma unroll
            for (int k = 0; k < UNITS; k++) sum += back[i][r * UNITS + k] * weights[k];
            shares[i][column] = sum;
        }
        __syncthreads();
        if (mine)
            for (int i = 0; i < 3; i++) carried += shares[r][i * UNITS + j];
    }
    if (mine) store(dh0[n * UNITS + j], carried);
}
#endif
