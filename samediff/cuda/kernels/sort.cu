// A stable sort of small numbers with their positions: eight bits in a pass, from the lowest. A block takes CHUNK numbers.

#define CHUNK 1024
#define DIGITS 256      // and threads in a block

__device__ __forceinline__ int digit_of(int key, int shift) { return (key >> shift) & (DIGITS - 1); }

// totals[d, block] = how many numbers of the block have the digit d
extern "C" __global__ void count_digits(const int *__restrict__ key, int *__restrict__ totals, const int count, const int shift) {
    __shared__ int found[DIGITS];
    const int t = threadIdx.x;
    found[t] = 0;
    __syncthreads();
    for (int p = blockIdx.x * CHUNK + t; p < count && p < (int)(blockIdx.x + 1) * CHUNK; p += DIGITS)
        atomicAdd(&found[digit_of(key[p], shift)], 1);
    __syncthreads();
    totals[t * gridDim.x + blockIdx.x] = found[t];
}

// totals = sums of all totals before; one block
extern "C" __global__ void __launch_bounds__(1024) add_up(int *__restrict__ totals, const int size) {
    __shared__ int sums[1024];
    const int t = threadIdx.x, each = (size + 1023) / 1024, low = t * each < size ? t * each : size;
    const int high = low + each < size ? low + each : size;
    int sum = 0;
    for (int i = low; i < high; i++) sum += totals[i];
    sums[t] = sum;
    __syncthreads();
    for (int s = 1; s < 1024; s *= 2) {
        const int before = t >= s ? sums[t - s] : 0;
        __syncthreads();
        sums[t] += before;
        __syncthreads();
    }
    int next = sums[t] - sum;
    for (int i = low; i < high; i++) {
        const int one = totals[i];
        totals[i] = next;
        next += one;
    }
}

// Numbers and positions to their places; in the first pass positions are those of now.
extern "C" __global__ void move(const int *__restrict__ key, const int *__restrict__ order, const int *__restrict__ totals,
                                int *__restrict__ new_key, int *__restrict__ new_order, const int count, const int shift,
                                const int first) {
    __shared__ int next[DIGITS];
    __shared__ short digits[DIGITS];
    const int t = threadIdx.x;
    next[t] = totals[t * gridDim.x + blockIdx.x];
    for (int begin = blockIdx.x * CHUNK; begin < (int)(blockIdx.x + 1) * CHUNK; begin += DIGITS) {
        const int p = begin + t, value = p < count ? key[p] : 0;
        const short mine = p < count ? digit_of(value, shift) : DIGITS;
        digits[t] = mine;
        __syncthreads();
        int rank = 0;
        for (int s = 0; s < t; s++) rank += digits[s] == mine;
        if (p < count) {
            const int to = next[mine] + rank;
            new_key[to] = value;
            new_order[to] = first ? p : order[p];
        }
        __syncthreads();
        if (p < count) atomicAdd(&next[mine], 1);
        __syncthreads();
    }
}
