// What several blocks have summed, put together, and biases. `run`: how many cells in a row share a channel. Open: T, I (offsets).

typedef work_of<T>::type Work;

// Blocks: 32 elements (x), several threads for each (y) that take turns with the parts; always summed in the same order.
#define MOST 8

extern "C" __global__ void __launch_bounds__(32 * MOST) sum_parts(const Work *from, T *out, const T *bias, const int has_bias,
        const int parts, const long long size, const int run, const int channels) {
    __shared__ Work sums[MOST][32];
    for (I first = blockIdx.x * (I)32; first < size; first += (I)gridDim.x * 32) {
        const I i = first + threadIdx.x;
        Work sum = 0;
        if (i < size)
#pragma unroll 4
            for (int k = threadIdx.y; k < parts; k += blockDim.y) sum += from[k * size + i];
        sums[threadIdx.y][threadIdx.x] = sum;
        __syncthreads();
        if (threadIdx.y == 0 && i < size) {
            for (int k = 1; k < blockDim.y; k++) sum += sums[k][threadIdx.x];
            store(out[i], has_bias ? sum + load(bias[i / run % channels]) : sum);
        }
        __syncthreads();
    }
}

extern "C" __global__ void spread_bias(const T *bias, T *out, const long long size, const int run, const int channels) {
    for (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < size; i += (I)gridDim.x * blockDim.x) out[i] = bias[i / run % channels];
}
