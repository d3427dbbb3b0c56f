// The simple recurrent network of ops/rnn_sequence.py: one step of all rows, or (UNITS) all steps of few rows in one block, which keeps
// weights and states. Open: T, M (of the mask), MASK, BIAS, perhaps UNITS and ROWS. Before it stand
// activation(x) and activation_slope(x).

typedef typename work_of<T>::type W;

__device__ __forceinline__ W mask_of(const void *mask, int n) { return MASK ? (W)load(((const M *)mask)[n]) : (W)1; }

#ifndef UNITS

// Sums of one step (rows, units) get the bias; states are their activations.
extern "C" __global__ void rnn_step(T *__restrict__ sums, const void *bias, const void *mask, T *__restrict__ states, const int rows,
                                    const int units) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * units; i += gridDim.x * blockDim.x) {
        const int n = i / units;
        W sum = load(sums[i]);
#if BIAS
        sum += load(((const T *)bias)[i - n * units]);
        store(sums[i], sum);
#endif
        store(states[i], activation(sum) * mask_of(mask, n));
    }
}

extern "C" __global__ void rnn_step_back(const T *__restrict__ sums, const void *mask, const T *__restrict__ gh,
                                         const T *__restrict__ carried, T *__restrict__ dz, const int rows, const int units,
                                         const int has_carried) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * units; i += gridDim.x * blockDim.x)
        store(dz[i], (load(gh[i]) + (has_carried ? load(carried[i]) : (W)0)) * activation_slope(load(sums[i])) * mask_of(mask, i / units));
}

#else

// All steps of ROWS rows; a thread keeps the weights of one unit.
extern "C" __global__ void __launch_bounds__(UNITS)
rnn_rows(const T *__restrict__ rw, T *__restrict__ sums, const void *bias, const void *h0, const void *mask, T *__restrict__ states,
         const int steps, const int batch, const int has_h) {
    __shared__ W h[2][ROWS][UNITS];
    const int u = threadIdx.x, first = blockIdx.x * ROWS;
    W weights[UNITS];
#pragma unroll
    for (int k = 0; k < UNITS; k++) weights[k] = load(rw[k * UNITS + u]);
    const W b = BIAS ? (W)load(((const T *)bias)[u]) : (W)0;
    for (int i = 0; i < ROWS; i++)
        h[0][i][u] = has_h && first + i < batch ? load(((const T *)h0)[(first + i) * UNITS + u]) : (W)0;
    for (int t = 0; t < steps; t++) {
        __syncthreads();
        for (int i = 0; i < ROWS; i++) {
            const int n = t * batch + first + i;
            if (first + i >= batch) break;
            W sum = load(sums[n * UNITS + u]) + b;
#pragma unroll
            for (int k = 0; k < UNITS; k++) sum += h[t & 1][i][k] * weights[k];
            const W state = activation(sum) * mask_of(mask, n);
            h[(t + 1) & 1][i][u] = state;
            store(sums[n * UNITS + u], sum);
            store(states[n * UNITS + u], state);
        }
    }
}

extern "C" __global__ void __launch_bounds__(UNITS)
rnn_rows_back(const T *__restrict__ rw, const T *__restrict__ sums, const void *mask, const T *__restrict__ gh, T *__restrict__ dz,
              T *__restrict__ dh0, const int steps, const int batch) {
    __shared__ W d[2][ROWS][UNITS];
    const int u = threadIdx.x, first = blockIdx.x * ROWS;
    W weights[UNITS], carried[ROWS];
#pragma unroll
    for (int k = 0; k < UNITS; k++) weights[k] = load(rw[u * UNITS + k]);
#pragma unroll
    for (int i = 0; i < ROWS; i++) carried[i] = 0;
    for (int t = steps - 1; t >= 0; t--) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int n = t * batch + first + i;
            const bool mine = first + i < batch;
            const W back = mine ? (load(gh[n * UNITS + u]) + carried[i]) * activation_slope(load(sums[n * UNITS + u])) * mask_of(mask, n) : (W)0;
            d[t & 1][i][u] = back;
            if (mine) store(dz[n * UNITS + u], back);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            W sum = 0;
#pragma unroll
            for (int k = 0; k < UNITS; k++) sum += d[t & 1][i][k] * weights[k];
            carried[i] = sum;
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        if (first + i < batch) store(dh0[(first + i) * UNITS + u], carried[i]);
}
#endif
