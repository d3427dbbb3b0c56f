// Rows taken at indices. Open: T (a type of the size of the elements), X (of the indices), I (of positions), OUTSIDE (the bits of
// what stands for rows that are not there), perhaps TABLE (fixed indices).

#ifdef TABLE
__device__ const long long table[] = { TABLE };
#define INDEX(k) table[k]
#else
#define INDEX(k) ((const X *)index)[k]
#endif

// y[a, k, c] = x[a, index[k], c], OUTSIDE where there is no such row; rows: all (a, k).
extern "C" __global__ void take(const void *__restrict__ x, const void *__restrict__ index, void *__restrict__ y, const I rows,
                                const I count, const I n, const I inner) {
    for (I r = blockIdx.x * (I)blockDim.y + threadIdx.y; r < rows; r += (I)gridDim.x * blockDim.y) {
        const I a = r / count;
        const long long at = (long long)INDEX(r - a * count);
        const bool inside = at >= 0 && at < n;
        const T *from = (const T *)x + (inside ? (a * n + (I)at) * inner : 0);
        for (I c = blockIdx.y * (I)blockDim.x + threadIdx.x; c < inner; c += (I)gridDim.y * blockDim.x)
            ((T *)y)[r * inner + c] = inside ? from[c] : (T)OUTSIDE;
    }
}
